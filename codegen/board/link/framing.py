"""Frames of the test link: COBS between zero bytes, header, CRC-32. Pure functions; see cg_link.h."""

import struct
import zlib
from dataclasses import dataclass

from cobs import cobs

HEADER = struct.Struct("<HBB")
SESSION = struct.Struct("<I")
CRC = struct.Struct("<I")
MAX_ENCODED_BYTES = 1 << 17
"""Of a frame: more without a zero byte are noise, or a device that is no target."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """One request or reply."""

    sequence: int
    kind: int
    status: int = 0
    payload: bytes = b""
    session: int = 0


def encode(frame: Frame) -> bytes:
    """Bytes on the wire, with a zero before and behind: the first one ends whatever noise came before."""
    head = HEADER.pack(frame.sequence, frame.kind, frame.status)
    body = head + frame.payload + SESSION.pack(frame.session)
    return b"\0" + cobs.encode(body + CRC.pack(zlib.crc32(body))) + b"\0"


def decode(encoded: bytes) -> Frame | None:
    """The frame between two zero bytes; None if it is damaged.

    Frames too short for a session, as versions before 4 send them, have session 0.
    """
    try:
        body = cobs.decode(encoded)
    except cobs.DecodeError:
        return None
    if len(body) < HEADER.size + CRC.size:
        return None
    body, checksum = body[: -CRC.size], body[-CRC.size :]
    if CRC.pack(zlib.crc32(body)) != checksum:
        return None
    sequence, kind, status = HEADER.unpack_from(body)
    payload, session = body[HEADER.size :], 0
    if len(payload) >= SESSION.size:
        [session] = SESSION.unpack_from(payload, len(payload) - SESSION.size)
        payload = payload[: -SESSION.size]
    return Frame(sequence=sequence, kind=kind, status=status, payload=payload, session=session)


class Splitter:
    """Cuts a stream of bytes at its zeros."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Encoded frames completed by `data`, the empty ones between two zeros left out.

        What grows longer than any frame is handed out as one, a damaged one.
        """
        *complete, self._rest = (self._rest + data).split(b"\0")
        if len(self._rest) > MAX_ENCODED_BYTES:
            complete.append(self._rest)
            self._rest = b""
        return [piece for piece in complete if piece]
