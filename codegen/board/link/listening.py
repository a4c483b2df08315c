"""Lines for people from a board's port: text as it comes, frames of the test link by kind."""

import re

from codegen.board.link.exchange import MAX_ENCODED_BYTES, decode
from codegen.board.link.protocol import Kind

_GREETING = "a reset: the test firmware has started (or a request arrived damaged)"
_NEWLINE = re.compile(rb"\r\n|\r|\n")


class Listener:
    """Takes bytes, hands out whole lines; what is no line yet is handed out by `rest`."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> list[str]:
        """Lines that `data` completes: a zero byte ends a frame, an end of line ends a line of text."""
        *pieces, last = (self._held + data).split(b"\0")
        lines = [line for piece in pieces for line in _told(piece)]
        *complete, self._held = _NEWLINE.split(last) if _is_text(last) and not _is_open(last) else [last]
        if len(self._held) > MAX_ENCODED_BYTES:
            complete.append(self._held)
            self._held = b""
        return [*lines, *(_shown(line) for line in complete if line)]

    def rest(self) -> list[str]:
        """Lines of the bytes since the last line, for when nothing more came for a while."""
        if _is_open(self._held):
            return []
        held, self._held = self._held, b""
        return _told(held)


def _told(piece: bytes) -> list[str]:
    if not piece:
        return []
    frame = decode(piece)
    if frame is None:
        return [_shown(line) for line in _NEWLINE.split(piece) if line]
    if frame.kind == Kind.GARBLED:
        return [f"[test link] {_GREETING}"]
    names = {kind.value: kind.name for kind in Kind}
    kind = names.get(frame.kind, f"kind {frame.kind}")
    return [f"[test link] reply {kind}, status {frame.status}, {len(frame.payload):,} bytes"]


def _is_text(data: bytes) -> bool:
    return all(32 <= byte < 127 or byte in b"\t\r\n\x1b" for byte in data)


def _is_open(data: bytes) -> bool:
    """True if there are only ends of lines. A frame may begin so: its length may be 10 or 13."""
    return not data.strip(b"\r\n")


def _shown(data: bytes) -> str:
    """Nothing of it reaches a terminal but printable ASCII and tabs."""
    return "".join(chr(byte) if 32 <= byte < 127 or byte == 9 else f"\\x{byte:02x}" for byte in data)
