"""A code for bytes that is cheap to decode: a class in a few bits, then an index in that class.

Symbols are ranked by frequency, and class after class takes the next 2^W of them, so a code has P + W bits; P
and the Ws are those with the fewest bits for the data (dynamic programming over ranks). A decoder needs no
tree and no table over codes: one look-up of the class, one of the symbol. `cg_unpack.h` states the format.

Instructions of `cg_unpack` (kernels/portable/unpack.c), fitted to constants on QEMU, gcc 12 and 14.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Target
from codegen.program.constants import Packing
from codegen.targets.families import architecture_of

PREFIXES = (1, 2, 3, 4)
"""Bits of a class that are tried."""

_WIDTHS = range(9)
_TAKEN_BITS = 16
"""Bits that the decoder takes from the stream at a time."""

_OCTETS = 1 << 14
"""Bytes of a stream that `unpack` decodes together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """A code. `widths`: bits of the index in each of the 2^prefix classes; `symbols`: class 0's first."""

    prefix: int
    widths: tuple[int, ...]
    symbols: tuple[int, ...]

    @property
    def table(self) -> bytes:
        """Table that the decoder reads in front of the stream."""
        return bytes((self.prefix, *self.widths, *self.symbols))

    def words(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Per byte value its code and the bits of that; 0 bits where it has none."""
        codes, lengths = np.zeros(256, np.int64), np.zeros(256, np.int64)
        place = 0
        for index, width in enumerate(self.widths):
            for rank, symbol in enumerate(self.symbols[place : place + (1 << width)]):
                codes[symbol], lengths[symbol] = index << width | rank, self.prefix + width
            place += 1 << width
        return codes, lengths


@lru_cache(maxsize=1024)
def best_code(data: bytes) -> Code:
    """The code with the fewest bits for `data` and its table; `data` is not empty. Kept, since a search for
    a limit of flash asks for the same constants again and again."""
    counts = np.bincount(np.frombuffer(data, np.uint8), minlength=256)
    symbols = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    below = np.concatenate([[0], np.cumsum(counts[symbols])])
    _, widths = min((_widths(below, prefix) for prefix in PREFIXES), key=lambda coded: coded[0])
    return Code(
        prefix=(len(widths) - 1).bit_length(), widths=widths, symbols=tuple(int(symbol) for symbol in symbols)
    )


def _widths(below: NDArray[np.int64], prefix: int) -> tuple[int, tuple[int, ...]]:
    """(bits of codes and widths, width of each class); `below[i]` bytes of the data have a rank below i."""
    count, classes = len(below) - 1, 1 << prefix
    ranks = np.arange(count + 1)
    stops = np.stack([np.minimum(ranks + (1 << width), count) for width in _WIDTHS])
    costs = (below[stops] - below) * (prefix + np.arange(len(_WIDTHS))[:, None])
    # Bits of the symbols from each rank on, with no class left: there must be no symbols left either.
    bits = np.where(ranks == count, 0, int(below[-1]) * 32)
    choices: list[NDArray[np.int64]] = []
    for _ in range(classes):
        totals = costs + bits[stops]
        choices.append(totals.argmin(axis=0))
        bits = totals.min(axis=0)
    widths: list[int] = []
    rank = 0
    for chosen in reversed(choices):
        widths.append(int(chosen[rank]))
        rank = int(stops[widths[-1], rank])
    return int(bits[0]) + 8 * classes, tuple(widths)


class Coder:
    """Data with their best code, `code`."""

    def __init__(self, data: bytes) -> None:
        """`data`: not empty."""
        self._data = data
        self.code = best_code(data)

    def packing(self, piece_bytes: Sequence[int] = ()) -> Packing:
        """Sizes of the stored data if it comes in pieces of `piece_bytes` (none: in one).

        Raises ValueError for pieces that are empty or do not make up the data.
        """
        return _packing(self._data, tuple(piece_bytes) or (len(self._data),))

    def beginning(self, size_bytes: int) -> Packing:
        """How the first bytes are decoded of what is stored in one piece. Raises ValueError for none, or for
        more than there are."""
        return _beginning(self._data, size_bytes)

    def packed(self, packing: Packing) -> bytes:
        """The stored bytes. Raises ValueError if decoding them does not give the data again."""
        return _packed(self._data, packing)


@lru_cache(maxsize=2048)
def _packing(data: bytes, piece_bytes: tuple[int, ...]) -> Packing:
    """Kept as codes are."""
    pieces = np.array(piece_bytes)
    if pieces.sum() != len(data) or pieces.min() <= 0:
        raise ValueError(f"pieces of {pieces.tolist()} bytes do not make {len(data)} bytes")
    code, ends = best_code(data), _ends(data)
    stops = np.cumsum(pieces)
    bits = ends[stops] - ends[stops - pieces]
    stream_bytes, times = -(-bits // 8), -(-bits // _TAKEN_BITS)
    # Bits are taken at the start of a piece, then whenever fewer are left than a code may need.
    behind = _TAKEN_BITS // 8 * (times[-1] + 1) - stream_bytes[-1]
    table_bytes = len(code.table)
    return Packing(
        stored_bytes=int(table_bytes + stream_bytes.sum() + behind),
        table_bytes=table_bytes,
        classes=len(code.widths),
        piece_bytes=tuple(pieces.tolist()),
        taken=int(times.sum()),
    )


@lru_cache(maxsize=2048)
def _beginning(data: bytes, size_bytes: int) -> Packing:
    """Kept as codes are."""
    if not 0 < size_bytes <= len(data):
        raise ValueError(f"the first {size_bytes} bytes of {len(data)}")
    taken = -(-int(_ends(data)[size_bytes]) // _TAKEN_BITS)
    return replace(_packing(data, (len(data),)), piece_bytes=(size_bytes,), taken=taken)


@lru_cache(maxsize=2)
def _ends(data: bytes) -> NDArray[np.int64]:
    """Bits of so many first bytes: eight times the data, so only the last ones asked for are kept."""
    lengths = best_code(data).words()[1]
    return np.concatenate([[0], np.cumsum(lengths[np.frombuffer(data, np.uint8)])])


@lru_cache(maxsize=512)
def _packed(data: bytes, packing: Packing) -> bytes:
    """Kept as codes are: decoding in Python, to be sure, takes longer than everything else here."""
    code, values = best_code(data), np.frombuffer(data, np.uint8)
    codes, lengths = code.words()
    streams: list[bytes] = []
    start = 0
    for size in packing.piece_bytes:
        part = values[start : start + size]
        streams.append(_stream(codes[part], lengths[part]))
        start += size
    stored = b"".join((code.table, *streams)).ljust(packing.stored_bytes, b"\0")
    if (
        len(stored) != packing.stored_bytes
        or unpack(stored, packing.table_bytes, packing.piece_bytes) != data
    ):
        raise ValueError("a packed constant is not what was packed")
    return stored


def _stream(codes: NDArray[np.int64], lengths: NDArray[np.int64]) -> bytes:
    """The bits of `codes`, highest first, up to a whole byte."""
    most = int(lengths.max())
    columns = np.arange(most)
    # Left-aligned, so that a code's bits are the first ones of its row.
    aligned = codes << (most - lengths)
    bits = (aligned[:, None] >> (most - 1 - columns)) & 1
    return np.packbits(bits[columns < lengths[:, None]].astype(np.uint8)).tobytes()


def unpack(packed: bytes, table_bytes: int, piece_bytes: Sequence[int]) -> bytes:
    """Decode `packed` as the C decoder does, written from the format alone.

    Raises ValueError where a code has no symbol, or where a decoder that takes 16 bits at a time would read
    behind the end.
    """
    pieces: list[NDArray[np.uint8]] = []
    begin = table_bytes
    for size in piece_bytes:
        position = decoded = 0
        while decoded < size:
            first = begin + position // 8
            symbols, lengths = _every_code(packed, first)
            places = _one_after_another(lengths, position % 8, size - decoded)
            read = symbols[places]
            if (lost := np.flatnonzero(read >= table_bytes)).size:
                at = sum(map(len, pieces)) + int(lost[0])
                raise ValueError(f"byte {at} has a code without a symbol")
            pieces.append(np.frombuffer(packed, np.uint8)[read])
            position = 8 * (first - begin) + places[-1] + lengths[places[-1]]
            decoded += len(places)
        if begin + 2 * (-(-position // 16) + 1) > len(packed):
            raise ValueError("the decoder would read behind the end")
        begin += -(-position // 8)
    return b"".join(piece.tobytes() for piece in pieces)


def _every_code(packed: bytes, first: int) -> tuple[NDArray[np.int64], bytes]:
    """Were there a code at each bit from byte `first` on, where its symbol is, and how long it is."""
    prefix = packed[0]
    widths = np.frombuffer(packed, np.uint8, 1 << prefix, 1).astype(np.int64)
    begins = 1 + len(widths) + np.cumsum(1 << widths) - (1 << widths)
    octets = np.frombuffer(packed[first : first + _OCTETS + 2].ljust(_OCTETS + 2, b"\0"), np.uint8)
    three = octets[:-2].astype(np.int64) << 16 | octets[1:-1].astype(np.int64) << 8 | octets[2:]
    behind = 24 - np.arange(8)
    index = (three[:, None] >> behind - prefix) & (1 << prefix) - 1
    width = widths[index]
    rank = (three[:, None] >> behind - prefix - width) & (1 << width) - 1
    return (begins[index] + rank).ravel(), (prefix + width).astype(np.uint8).tobytes()


def _one_after_another(lengths: bytes, place: int, most: int) -> list[int]:
    """First bits of the codes that follow each other from bit `place` on: those of `lengths`, up to
    `most`."""
    places: list[int] = []
    while place < len(lengths) and len(places) < most:
        places.append(place)
        place += lengths[place]
    return places


def decode_instructions(packing: Packing, target: Target, optimize: str) -> int:
    """Predicted for decoding all pieces once, with their calls."""
    cost, calls = architecture_of(target.cpu).decode_costs[optimize], len(packing.piece_bytes)
    fixed = calls * (cost.call + packing.classes * cost.group)
    return fixed + sum(packing.piece_bytes) * cost.byte + packing.taken * cost.taking
