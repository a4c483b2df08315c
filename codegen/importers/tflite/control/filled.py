"""Lists that a loop fills, row by row: Keras's recurrent layers with `return_sequences=True`.

An iteration writes its row into a tensor by cutting it in front of the row and behind it (SLICE) and joining
the three again (CONCATENATION): as many copies of the whole list as it has rows. Where the index is known
nothing is copied: which rows come from where is followed here, and the list is joined once, when an operator
reads it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.importers.tflite.file.reader import FileOperator, FileTensor
from codegen.importers.tflite.operators.stored_options import options_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """`count` rows of the first axis of a tensor, from row `start` on."""

    tensor: int
    start: int
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Filled:
    """A list: rows, in order, and the operator that joins them."""

    pieces: tuple[Rows, ...]
    joint: FileOperator | None
    """None: there is one piece."""

    @property
    def count(self) -> int:
        """Rows in all."""
        return sum(piece.count for piece in self.pieces)


def cut(pieces: Sequence[Rows], start: int, count: int) -> tuple[Rows, ...]:
    """`count` rows from row `start` on."""
    rows: list[Rows] = []
    at = 0
    for piece in pieces:
        first, end = max(start, at), min(start + count, at + piece.count)
        if first < end:
            rows.append(Rows(tensor=piece.tensor, start=piece.start + first - at, count=end - first))
        at += piece.count
    return tuple(rows)


def joined(pieces: Sequence[Rows]) -> tuple[Rows, ...]:
    """Join rows that follow each other in one tensor to one piece."""
    rows: list[Rows] = []
    for piece in pieces:
        last = rows[-1] if rows else None
        if last and last.tensor == piece.tensor and last.start + last.count == piece.start:
            rows[-1] = Rows(tensor=last.tensor, start=last.start, count=last.count + piece.count)
        else:
            rows.append(piece)
    return tuple(rows)


def cut_of(
    operator: FileOperator, result: FileTensor, source: FileTensor, begin: np.ndarray, size: np.ndarray
) -> tuple[int, int] | None:
    """(first row, rows) of a SLICE whose extent the file leaves open; None if it is no cut of rows."""
    extents = source.shape
    if operator.name != "SLICE" or -1 not in result.signature or not extents or min(extents) < 0:
        return None
    starts, counts = begin.reshape(-1).tolist(), size.reshape(-1).tolist()
    if len(starts) != len(extents) or len(counts) != len(extents):
        return None
    counts = [
        extent - at if count == -1 else count
        for at, count, extent in zip(starts, counts, extents, strict=True)
    ]
    is_inside = all(
        0 <= at <= at + count <= extent for at, count, extent in zip(starts, counts, extents, strict=True)
    )
    return (starts[0], counts[0]) if is_inside and list(extents[1:]) == counts[1:] else None


def joins_rows(operator: FileOperator, rank: int) -> bool:
    """True if an operator joins along the first axis and does nothing else."""
    if operator.name != "CONCATENATION" or not rank:
        return False
    options = options_of(operator)
    return options.integer("axis") in (0, -rank) and options.integer("activation") == 0


def is_whole(piece: Rows, tensor: FileTensor) -> bool:
    """True if a piece is all of its tensor."""
    return piece.start == 0 and piece.count == tensor.shape[0]
