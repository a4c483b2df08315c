"""Instructions of a row kernel in a stripe of columns, from those of a call for each row by itself."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from codegen.ir.ops import Padding2D
from codegen.kernels.base.window import WindowShape
from codegen.kernels.block import Span
from codegen.kernels.rows import Axis

BLOCK_INSTRUCTIONS = 340
"""Instructions of a block around each call of a row kernel: which stage is next, addresses of its rows."""

Predict = Callable[[WindowShape], int]
"""Instructions of one call for a window of this geometry."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RowPrice:
    """Instructions of rows of an image (`RowKernel.price`): of the rows of a window the average."""

    window: WindowShape
    predict: Predict
    known: dict[Span, float] = field(default_factory=dict[Span, float])
    """A row in each stripe that was asked for."""

    def __call__(self, rows: int, span: Span) -> float:
        """Instructions of `rows` rows in the columns of `span`."""
        row = self.known.get(span)
        if row is None:
            row = self.known[span] = self._row(span)
        return rows * (row + BLOCK_INSTRUCTIONS)

    def _row(self, span: Span) -> float:
        down, across = self.window.axes
        image_columns, left = _part(across, *span)
        rows = Counter(_part(down, row, row + 1) for row in range(down.count))
        total = 0
        for (image_rows, top), alike in rows.items():
            part = WindowShape(
                image=(1, image_rows, image_columns, self.window.image[3]),
                result=(1, 1, span[1] - span[0], self.window.result[3]),
                window=self.window.window,
                stride=self.window.stride,
                dilation=self.window.dilation,
                padding=Padding2D(top=top, left=left),
            )
            total += alike * self.predict(part)
        return total / down.count


def _part(axis: Axis, start: int, stop: int) -> tuple[int, int]:
    """Positions that results [start, stop) cover, and the padding in front of them."""
    first, end = axis.cover(start, stop)
    return end - first, first - (start * axis.stride - axis.pad)
