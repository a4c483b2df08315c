"""Tables of C: every element as a constant, in rows of aligned columns."""

from collections.abc import Sequence

import numpy as np

from codegen.emit.c.c_text import COLUMNS
from codegen.emit.c.spelling import float32s, float64s, integer

_INDENT = "    "
_ROW_COUNTS = (32, 16, 12, 8, 6, 4, 3, 2, 1)
"""Values a row of a table: powers of two where they fit, else what comes close."""


def numbers(data: np.ndarray) -> list[str]:
    """Every element as a C constant."""
    if data.dtype.kind == "f":
        return float64s(data) if data.dtype == np.float64 else float32s(data)
    if data.dtype.kind == "b":
        return ["1" if value else "0" for value in data]
    # Most values fit an int and need no suffix: formatting them one by one is the slow part.
    if data.dtype.itemsize == 1:
        return list(map(_TEXTS.__getitem__, data.tolist()))
    plain = data.dtype.itemsize < 4
    return list(map(str, data.tolist())) if plain else [integer(value) for value in data.tolist()]


_TEXTS = {value: str(value) for value in range(-128, 256)}
"""Texts of every byte, signed or not: weights are millions of them."""


def bits(data: np.ndarray) -> list[str]:
    """Bits of every integer of at most 32 bits in hexadecimal, as a constant of its unsigned type."""
    values = data.view(f"u{data.itemsize}").tolist()
    if data.itemsize == 1:
        return list(map(_BITS.__getitem__, values))
    return [f"0x{value:04x}" if data.itemsize == 2 else f"0x{value:08x}u" for value in values]


_BITS = [f"0x{value:02x}" for value in range(256)]


def byte_rows(data: bytes) -> tuple[str, ...]:
    """Rows of a table of bytes."""
    return tuple(bit_rows(np.frombuffer(data, np.uint8)))


def bit_rows(data: np.ndarray) -> list[str]:
    """Bits of integers in rows of 16 bytes, as tools print memory."""
    return table_rows(bits(data), 16 // data.itemsize)


def table_rows(cells: Sequence[str], most: int = _ROW_COUNTS[0]) -> list[str]:
    """Cells right-aligned in columns, as many a row as fit into COLUMNS, at most `most`."""
    width = max(map(len, cells))
    count = next(n for n in _ROW_COUNTS if len(_INDENT) + n * (width + 2) - 1 <= COLUMNS or n == 1)
    count = min(count, most, len(cells))
    different = set(cells)
    # Bytes are few different texts, in millions of cells.
    repeated = len(different) * 2 < len(cells)
    known = {cell: cell.rjust(width) for cell in different} if repeated else {}
    padded = list(map(known.__getitem__, cells)) if repeated else [cell.rjust(width) for cell in cells]
    deeper = len(_INDENT) + len(_INDENT) + count * (width + 2) - 1 <= COLUMNS
    indent = _INDENT + _INDENT if deeper else _INDENT
    return [f"{indent}{', '.join(padded[i : i + count])}," for i in range(0, len(padded), count)]
