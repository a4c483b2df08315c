"""Frames of the test link: COBS between zero bytes, header, CRC-32. Pure functions; see cg_link.h."""

import struct
import zlib
from dataclasses import dataclass

from cobs import cobs

HEADER = struct.Struct("<HBB")
CRC = struct.Struct("<I")


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """One request or reply."""

    sequence: int
    kind: int
    status: int = 0
    payload: bytes = b""


def encode(frame: Frame) -> bytes:
    """Bytes on the wire, with a zero before and behind: the first one ends whatever noise came before."""
    body = HEADER.pack(frame.sequence, frame.kind, frame.status) + frame.payload
    return b"\0" + cobs.encode(body + CRC.pack(zlib.crc32(body))) + b"\0"


def decode(encoded: bytes) -> Frame | None:
    """The frame between two zero bytes; None if it is damaged."""
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
    return Frame(sequence=sequence, kind=kind, status=status, payload=body[HEADER.size :])


class Splitter:
    """Cuts a stream of bytes at its zeros."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Encoded frames completed by `data`, the empty ones between two zeros left out."""
        *complete, self._rest = (self._rest + data).split(b"\0")
        return [piece for piece in complete if piece]
