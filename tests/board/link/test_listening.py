"""What a board says on its port, as `codegen monitor` prints it."""

import pytest

from codegen.board.link.exchange import MAX_ENCODED_BYTES, Frame, encode
from codegen.board.link.listening import Listener

GREETING = encode(Frame(sequence=0xFFFF, kind=0xFF, status=0xFF))
REPLY = encode(Frame(sequence=3, kind=8, payload=bytes(12)))
TOLD = [
    "[test link] a reset: the test firmware has started (or a request arrived damaged)",
    "[test link] reply CONTINUE, status 0, 12 bytes",
]


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_text_and_frames_in_pieces_of_any_size(step: int) -> None:
    said = b"boot 1\r\nboot 2\n" + GREETING + REPLY + b"m-ready\r\n" + b"bad \x1b[31m \xff\n"
    listener, lines = Listener(), list[str]()
    for start in range(0, len(said), step):
        lines += listener.feed(said[start : start + step])
    lines += listener.rest()
    assert lines == ["boot 1", "boot 2", *TOLD, "m-ready", "bad \\x1b[31m \\xff"]


def test_words_without_an_end_are_shown_when_it_is_quiet() -> None:
    listener = Listener()
    assert listener.feed(b"name: ") == [] and listener.rest() == ["name: "] and listener.rest() == []
    assert listener.feed(GREETING[:5]) == [], "half a frame waits for the rest"
    assert listener.feed(GREETING[5:]) == TOLD[:1]


@pytest.mark.parametrize("before", [b"", b"boot\r\n", b"boot\n", b"boot\r"])
def test_a_frame_whose_length_is_an_end_of_line(before: bytes) -> None:
    """On a busy machine the first byte of a greeting came alone: it was taken for an end of line, and what
    followed for noise."""
    said = before + encode(Frame(sequence=0xFFFF, kind=0xFF, status=0xFF, session=0x30081C71))
    assert said[len(before) + 1] == ord("\r")
    for step in (1, 2, 1000):
        listener, lines = Listener(), list[str]()
        for start in range(0, len(said), step):
            lines += listener.feed(said[start : start + step])
            # A pause behind the first byte, too.
            lines += listener.rest() if said[start : start + step] == b"\r" else []
        assert lines == [*(["boot"] if before else []), *TOLD[:1]]


def test_noise_without_end_is_let_go() -> None:
    listener = Listener()
    lines = [line for _ in range(40) for line in listener.feed(b"\xaa" * 8192)]
    assert lines and all(len(line) >= MAX_ENCODED_BYTES for line in lines)
