"""Frames: nothing damaged is ever taken for data. The numbers of both ends of the link agree."""

import enum
import re
import zlib

import pytest
from cobs import cobs
from hypothesis import given
from hypothesis import strategies as st

from codegen import resources
from codegen.board.link.exchange import MAX_ENCODED_BYTES, Frame, Splitter, decode, encode
from codegen.board.link.protocol import Kind, RunFlags, State, Status, Table

FRAMES = st.builds(
    Frame,
    sequence=st.integers(0, 0xFFFF),
    kind=st.integers(0, 255),
    status=st.integers(0, 255),
    payload=st.binary(max_size=600) | st.integers(0, 600).map(bytes),
    session=st.integers(0, 0xFFFF_FFFF),
)


@given(FRAMES)
def test_a_frame_comes_back(frame: Frame) -> None:
    encoded = encode(frame)
    assert encoded[0] == encoded[-1] == 0 and 0 not in encoded[1:-1]
    assert decode(encoded[1:-1]) == frame


def test_the_bytes_on_the_wire() -> None:
    """By hand: header 34 12 01 00, session 04 03 02 01, zlib's CRC; COBS replaces each zero by the way on."""
    body = bytes([0x34, 0x12, 0x01, 0x00, 0x04, 0x03, 0x02, 0x01])
    checksum = zlib.crc32(body).to_bytes(4, "little")
    assert 0 not in checksum
    frame = Frame(sequence=0x1234, kind=1, session=0x01020304)
    assert encode(frame) == b"\0\x04\x34\x12\x01\x09\x04\x03\x02\x01" + checksum + b"\0"


@given(FRAMES, st.data())
def test_a_damaged_frame_is_not_taken_for_data(frame: Frame, data: st.DataObject) -> None:
    """Up to three bytes changed, lost or added: CRC-32 misses one in four thousand million of them."""
    encoded = bytearray(encode(frame))
    before = bytes(encoded)
    for _ in range(data.draw(st.integers(1, 3))):
        index = data.draw(st.integers(0, len(encoded) - 1))
        change = data.draw(st.sampled_from(["change", "lose", "add"]))
        if change == "change":
            encoded[index] ^= data.draw(st.integers(1, 255))
        elif change == "lose":
            del encoded[index]
        else:
            encoded.insert(index, data.draw(st.integers(0, 255)))
    found = [decode(piece) for piece in Splitter().feed(bytes(encoded) + b"\0")]
    intact = before.strip(b"\0") in bytes(encoded).split(b"\0")
    assert [each for each in found if each is not None] == ([frame] if intact else [])


@given(st.lists(FRAMES, max_size=5), st.lists(st.integers(1, 50), max_size=200))
def test_frames_may_arrive_in_any_pieces(frames: list[Frame], cuts: list[int]) -> None:
    stream = b"".join(map(encode, frames))
    splitter = Splitter()
    found: list[bytes] = []
    for cut in [*cuts, len(stream)]:
        found += splitter.feed(stream[:cut])
        stream = stream[cut:]
    assert [decode(piece) for piece in found] == frames


def test_noise_without_a_zero_is_not_kept_for_ever() -> None:
    """A device that is no target once filled the memory of this machine."""
    splitter, found = Splitter(), list[bytes]()
    for _ in range(100):
        found += splitter.feed(b"\xaa" * (1 << 14))
    assert len(found) > 5 and all(decode(piece) is None for piece in found)
    assert max(map(len, found)) <= MAX_ENCODED_BYTES + (1 << 14)


def test_frames_of_versions_without_a_session() -> None:
    """They are told apart by what IDENTIFY answers, so they have to be read."""
    body = bytes([0x34, 0x12, 0xFF, 0xFF])
    encoded = cobs.encode(body + zlib.crc32(body).to_bytes(4, "little"))
    assert decode(encoded) == Frame(sequence=0x1234, kind=0xFF, status=0xFF)


def test_short_frames_are_damaged() -> None:
    assert decode(b"") is None
    assert decode(b"\x02a") is None
    assert decode(b"\x05a") is None


HEADER = (resources.folder("runtime_c") / "include" / "cg_link.h").read_text()


def c_numbers() -> dict[str, int]:
    """Enumerators of cg_link.h; those without a value count up."""
    found: dict[str, int] = {}
    text = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.DOTALL)
    for body in re.findall(r"enum \{(.*?)\}", text, re.DOTALL):
        following = 0
        for item in filter(None, (part.strip() for part in body.split(","))):
            name, _, value = item.partition("=")
            following = int(value, 0) if value else following
            found[name.strip()] = following
            following += 1
    return found


@pytest.mark.parametrize("numbers", [Kind, Table, Status, State], ids=lambda numbers: numbers.__name__)
def test_both_ends_count_alike(numbers: type[enum.IntEnum]) -> None:
    theirs = c_numbers()
    assert {each.name: each.value for each in numbers} == {
        each.name: theirs[f"CG_LINK_{each.name}"] for each in numbers
    }
    assert all(theirs[f"CG_LINK_{flag.name}"] == flag for flag in RunFlags)
