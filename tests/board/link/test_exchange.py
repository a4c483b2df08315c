"""Frames: nothing damaged is ever taken for data. The numbers of both ends of the link agree.
The host's end of the link on ports that lose, damage and delay frames.
"""

import enum
import random
import re
import socket
import zlib
from collections.abc import Callable

import pytest
from cobs import cobs
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen import resources
from codegen.board.link import exchange
from codegen.board.link.protocol import Kind, RunFlags, RunState, Status, Table, words
from codegen.board.machines.ports import SerialPort, SocketPort
from codegen.errors import CodegenError, ExitCode
from tests.sampling import examples

FRAMES = st.builds(
    exchange.Frame,
    sequence=st.integers(0, 0xFFFF),
    kind=st.integers(0, 255),
    status=st.integers(0, 255),
    payload=st.binary(max_size=600) | st.integers(0, 600).map(bytes),
    session=st.integers(0, 0xFFFF_FFFF),
)


@given(FRAMES)
def test_a_frame_comes_back(frame: exchange.Frame) -> None:
    encoded = exchange.encode(frame)
    assert encoded[0] == encoded[-1] == 0 and 0 not in encoded[1:-1]
    assert exchange.decode(encoded[1:-1]) == frame


def test_the_bytes_on_the_wire() -> None:
    """By hand: header 34 12 01 00, session 04 03 02 01, zlib's CRC; COBS replaces each zero by the way on."""
    body = bytes([0x34, 0x12, 0x01, 0x00, 0x04, 0x03, 0x02, 0x01])
    checksum = zlib.crc32(body).to_bytes(4, "little")
    assert 0 not in checksum
    frame = exchange.Frame(sequence=0x1234, kind=1, session=0x01020304)
    assert exchange.encode(frame) == b"\0\x04\x34\x12\x01\x09\x04\x03\x02\x01" + checksum + b"\0"


@given(FRAMES, st.data())
def test_a_damaged_frame_is_not_taken_for_data(frame: exchange.Frame, data: st.DataObject) -> None:
    """Up to three bytes changed, lost or added: CRC-32 misses one in four thousand million of them."""
    encoded = bytearray(exchange.encode(frame))
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
    found = [exchange.decode(piece) for piece in exchange.Splitter().feed(bytes(encoded) + b"\0")]
    intact = before.strip(b"\0") in bytes(encoded).split(b"\0")
    assert [each for each in found if each is not None] == ([frame] if intact else [])


@given(st.lists(FRAMES, max_size=5), st.lists(st.integers(1, 50), max_size=200))
def test_frames_may_arrive_in_any_pieces(frames: list[exchange.Frame], cuts: list[int]) -> None:
    stream = b"".join(map(exchange.encode, frames))
    splitter = exchange.Splitter()
    found: list[bytes] = []
    for cut in [*cuts, len(stream)]:
        found += splitter.feed(stream[:cut])
        stream = stream[cut:]
    assert [exchange.decode(piece) for piece in found] == frames


def test_noise_without_a_zero_is_not_kept_for_ever() -> None:
    """A device that is no target once filled the memory of this machine."""
    splitter, found = exchange.Splitter(), list[bytes]()
    for _ in range(100):
        found += splitter.feed(b"\xaa" * (1 << 14))
    assert len(found) > 5 and all(exchange.decode(piece) is None for piece in found)
    assert max(map(len, found)) <= exchange.MAX_ENCODED_BYTES + (1 << 14)


def test_frames_of_versions_without_a_session() -> None:
    """They are told apart by what IDENTIFY answers, so they have to be read."""
    body = bytes([0x34, 0x12, 0xFF, 0xFF])
    encoded = cobs.encode(body + zlib.crc32(body).to_bytes(4, "little"))
    assert exchange.decode(encoded) == exchange.Frame(sequence=0x1234, kind=0xFF, status=0xFF)


def test_short_frames_are_damaged() -> None:
    assert exchange.decode(b"") is None
    assert exchange.decode(b"\x02a") is None
    assert exchange.decode(b"\x05a") is None


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


@pytest.mark.parametrize("numbers", [Kind, Table, Status, RunState], ids=lambda numbers: numbers.__name__)
def test_both_ends_count_alike(numbers: type[enum.IntEnum]) -> None:
    theirs = c_numbers()
    assert {each.name: each.value for each in numbers} == {
        each.name: theirs[f"CG_LINK_{each.name}"] for each in numbers
    }
    assert all(theirs[f"CG_LINK_{flag.name}"] == flag for flag in RunFlags)


GARBLED = exchange.Frame(sequence=0xFFFF, kind=Kind.GARBLED, status=0xFF)


class FakeTarget:
    """Behaves as cg_link.h says: every request answered once, RUN executed once a sequence number."""

    def __init__(self, answer: Callable[[exchange.Frame], exchange.Frame]) -> None:
        self.executed: list[exchange.Frame] = []
        self._answer = answer
        self._splitter = exchange.Splitter()
        self._cached: tuple[int, int, exchange.Frame] | None = None

    def feed(self, data: bytes) -> list[exchange.Frame]:
        replies: list[exchange.Frame] = []
        for piece in self._splitter.feed(data):
            request = exchange.decode(piece)
            if request is None:
                replies.append(GARBLED)
            elif self._cached and self._cached[:2] == (request.sequence, request.kind):
                replies.append(self._cached[2])
            else:
                self.executed.append(request)
                reply = self._answer(request)
                self._cached = (request.sequence, request.kind, reply) if request.kind == Kind.RUN else None
                replies.append(reply)
        return replies


def echo(request: exchange.Frame) -> exchange.Frame:
    return exchange.Frame(sequence=request.sequence, kind=request.kind, payload=request.payload[::-1])


class FakePort:
    """Joins Link and FakeTarget; `spoil` may change or drop what passes. Time is its own."""

    def __init__(self, target: FakeTarget, spoil: Callable[[bytes], bytes] = lambda data: data) -> None:
        self.now = 0.0
        self.written = 0
        self._target = target
        self._spoil = spoil
        self._waiting = b""

    def clock(self) -> float:
        return self.now

    def write(self, data: bytes) -> None:
        self.written += 1
        for reply in self._target.feed(self._spoil(data)):
            self._waiting += self._spoil(exchange.encode(reply))

    def read(self, timeout_seconds: float) -> bytes:
        data, self._waiting = self._waiting, b""
        self.now += 0.001 if data else timeout_seconds
        return data


def linked(
    answer: Callable[[exchange.Frame], exchange.Frame] = echo,
    spoil: Callable[[bytes], bytes] = lambda data: data,
) -> tuple[exchange.Link, FakePort, FakeTarget]:
    target = FakeTarget(answer)
    port = FakePort(target, spoil)
    return exchange.Link(port, clock=port.clock), port, target


def error_of(action: Callable[[], object]) -> str:
    with pytest.raises(CodegenError) as raised:
        action()
    assert raised.value.exit_code is ExitCode.TARGET
    return str(raised.value)


def test_arguments_and_data_travel() -> None:
    link, port, target = linked()
    assert link.request(Kind.WRITE, 1, 2, data=b"xy") == (words(1, 2) + b"xy")[::-1]
    assert port.written == 1 and len(target.executed) == 1


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 1 << 30), mean=st.integers(60, 2000))
def test_noise_never_becomes_data(seed: int, mean: int) -> None:
    """Bytes changed, lost and added, one in `mean`: replies are right, or it ends as E602 or E603."""
    dice = random.Random(seed)

    def spoil(data: bytes) -> bytes:
        spoiled = bytearray()
        for byte in data:
            kind = dice.randrange(3 * mean)
            if kind == 0:
                continue
            spoiled.append(byte ^ dice.randrange(1, 256) if kind == 1 else byte)
            if kind == 2:
                spoiled.append(dice.randrange(256))
        return bytes(spoiled)

    link, _, target = linked(spoil=spoil)
    for number in range(30):
        data = dice.randbytes(40)
        try:
            assert link.request(Kind.RUN, number, data=data) == (words(number) + data)[::-1]
        except CodegenError as error:
            assert error.messages[0].code in ("E602", "E603")
    runs = [request.payload for request in target.executed]
    assert len(runs) == len(set(runs)), "a repeated request was executed twice"


def test_a_lost_request_and_a_lost_reply_are_repeated() -> None:
    passed: list[bytes] = []

    def spoil(data: bytes) -> bytes:
        passed.append(data)
        return b"" if len(passed) in (1, 3) else data

    link, port, target = linked(spoil=spoil)
    assert link.request(Kind.RUN, 7) == words(7)[::-1]
    assert port.written == 3 and len(target.executed) == 1


def test_late_replies_are_dropped_by_their_number() -> None:
    late: list[exchange.Frame] = []

    def answer(request: exchange.Frame) -> exchange.Frame:
        late.append(echo(request))
        return late[0] if len(late) == 2 else late[-1]

    link, _, target = linked(answer)
    assert link.request(Kind.READ, 1) == words(1)[::-1]
    assert link.request(Kind.READ, 2) == words(2)[::-1]
    assert len(target.executed) == 3


def test_a_silent_target() -> None:
    link, port, _ = linked(spoil=lambda data: b"")
    text = error_of(link.identify)
    assert text.startswith(
        "error[E602] the target does not answer (waited 4 s)\nhelp: is the test firmware on the board"
    )
    assert port.now < 5
    assert "E602] the target stopped answering (PAINT, waited 49 s)" in error_of(
        lambda: link.request(Kind.PAINT)
    )


def test_an_inference_without_end() -> None:
    target = FakeTarget(echo)
    port = FakePort(target, lambda data: b"")
    told: list[tuple[str, int, int | None]] = []

    def hear(stage: str, done: int = 0, total: int | None = None) -> None:
        told.append((stage, done, total))

    patience = exchange.Patience(run_seconds=20.0)
    link = exchange.Link(port, patience=patience, clock=port.clock, progress=hear)
    text = error_of(lambda: link.request(Kind.RUN))
    assert text == (
        "error[E602] the inference did not end within 20 s\n"
        "help: a loop without end, or a target that is too slow: --run-timeout SECONDS waits longer"
    )
    assert port.now == pytest.approx(20.0)
    assert told[0] == ("wait for the inference", 1, 20) and told[-1][1] == 13


def test_a_link_that_damages_everything() -> None:
    link, port, target = linked(spoil=lambda data: data.replace(data[3:4], bytes([data[3] ^ 0x55])))
    assert "error[E603] the link to the target does not work: 9 damaged frames in one PAINT" in error_of(
        lambda: link.request(Kind.PAINT)
    )
    assert not target.executed and port.written < 20


def test_a_refused_request() -> None:
    def answer(request: exchange.Frame) -> exchange.Frame:
        return exchange.Frame(sequence=request.sequence, kind=request.kind, status=Status.ARGUMENT)

    link, _, _ = linked(answer)
    assert "error[E604] the target refused MARKS: ARGUMENT" in error_of(lambda: link.request(Kind.MARKS))


def test_a_fault_of_the_link_itself() -> None:
    def answer(request: exchange.Frame) -> exchange.Frame:
        payload = words(3, 0x800_0100, 0, 0, 0, 0x400, 0, 0, 0)
        return exchange.Frame(
            sequence=request.sequence, kind=request.kind, status=Status.FAULT, payload=payload
        )

    link, _, _ = linked(answer)
    with pytest.raises(exchange.Broken) as raised:
        link.identify()
    assert raised.value.fault[1] == 0x800_0100 and raised.value.fault[5] == 0x400


@pytest.mark.parametrize("url", ["/dev/no-such-port", "socket://127.0.0.1:1", "nonsense://x"])
def test_a_port_that_cannot_be_opened(url: str) -> None:
    text = error_of(lambda: SerialPort(url, 115200))
    assert "Errno" not in text and text.count(url) == 1
    assert (
        text.startswith(f"error[E601] {url}: the port cannot be opened:") and "--port takes a device" in text
    )


def test_the_port_of_an_emulator() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        port = SocketPort(*address, name="QEMU (a)")
        peer, _ = listener.accept()
        with peer:
            assert port.read(0.0) == b"" and port.read(0.01) == b""
            peer.sendall(b"answer")
            assert port.read(10.0) == b"answer"
            port.write(b"request")
            assert peer.recv(100) == b"request"
        text = error_of(lambda: port.read(10.0))
        assert text.startswith("error[E601] QEMU (a): the port failed: socket disconnected")
        port.close()
    text = error_of(lambda: SocketPort(*address, name="QEMU (b)"))
    assert text.startswith("error[E601] QEMU (b): the port cannot be opened:")
