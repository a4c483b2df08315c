"""The lines of a block that grows at its front, without a simulation: a floor of their bytes.

The floor is found step by step from the block's end: what a step has to see at once depends on the steps
behind it alone.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Var
from codegen.kernels.base.window import nhwc
from codegen.kernels.fused import delivery, stage_of
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rows import Axis, Stage, joined

_Span = tuple[int, int]
_Integers = NDArray[np.int64]
_Spans = tuple[_Integers, _Integers]
"""First and end of the columns in each stripe; empty where both are equal."""


_NONE: _Integers = np.zeros(0, np.int64)


class _Wanted:
    """What the steps so far read of one value: rows, columns by stripe, rows that one of them sees at once.

    `done`: by join, how many rows are there before it computes each of its rows. `lows`: of joins that read
    the value themselves, the first row that they still need then. The rows between wait for the other side.
    """

    __slots__ = ("columns", "done", "kept", "lows", "rows")

    def __init__(self, columns: _Spans) -> None:
        self.rows: _Span = (0, 0)
        self.columns = columns
        self.kept = 1
        self.done: dict[str, _Integers] = {}
        self.lows: dict[str, _Integers] = {}

    @property
    def least_rows(self) -> int:
        """Rows that are kept at least."""
        waiting = [int((self.done[join] - low).max()) for join, low in self.lows.items()]
        return max(self.kept, *waiting, 0)

    def read(self, join: str, done: _Integers) -> None:
        """So many rows are there before `join` computes each of its rows, if not more."""
        known = self.done.get(join)
        self.done[join] = done if known is None else np.maximum(known, done)


class LineFloor:
    """The lines of a block that grows at its front, in each of several numbers of stripes."""

    def __init__(self, streamed: str | None = None, stripe_counts: Sequence[int] = (1,)) -> None:
        """`streamed`: the argument that is delivered row by row, whose lines count where a step reads it."""
        self._streamed = streamed
        self._counts = tuple(stripe_counts)
        self._firsts = np.cumsum([0, *self._counts[:-1]])
        """Of the stripes of each number of them, where the first one is among all."""
        self._arguments: dict[str, tuple[Var, _Wanted]] = {}
        self._open: dict[str, set[str]] = {}
        """Joins, and what of their arguments no step so far computes."""
        self._inner_bytes = np.zeros(len(self._counts), np.int64)
        self._is_empty = True
        self._last_stripes: list[tuple[int, int]] = []
        """By number of stripes: of the last one its place among all, and the column where it begins."""

    @property
    def arguments(self) -> tuple[Var, ...]:
        """Values that the steps so far read but do not compute."""
        return tuple(var for var, _ in self._arguments.values())

    @property
    def bytes(self) -> tuple[int, ...]:
        """By number of stripes a floor of the bytes of lines: of rows that a reader of a stage sees at once,
        or that wait for the other side of a join."""
        delivered = self._arguments.get(self._streamed) if self._streamed is not None else None
        lines = self._inner_bytes
        if delivered is not None:
            lines = lines + self._line_bytes(delivery(delivered[0]), delivered[1])
        return tuple(lines.tolist())

    def overlap_bytes(self, argument: Var) -> tuple[int, ...]:
        """By number of stripes: the most bytes that the result may have in common with an argument.

        Before the last stripe, of the last image, all rows of the result are written, and of the argument the
        first row that is read at all is still to be read, in the columns of that stripe.
        """
        _, read = self._arguments[argument.name]
        images, height, width, channels = nhwc(argument.type.shape)
        pixel_bytes, result = channels * argument.type.dtype.size_bytes, self._result
        row_bytes = result.columns.count * result.pixel_bytes
        result_bytes = images * result.rows.count * row_bytes
        first_row = (images - 1) * height + read.rows[0]
        most, found = min(argument.type.size_bytes, result_bytes), list[int]()
        starts, stops = read.columns
        for last, start in self._last_stripes:
            common = most
            if start > 0 and starts[last] < stops[last]:
                written = result_bytes - row_bytes + start * result.pixel_bytes
                unread = (first_row * width + int(stops[last]) - 1) * pixel_bytes
                common = min(most, max(result_bytes - (written - unread), 0))
            found.append(common)
        return tuple(found)

    def grow(self, prim: PrimFunc) -> None:
        """Put `prim`, which has a row kernel, in front of the steps so far, which read its result."""
        sources = {arg.name: arg for arg in prim.let.call.args if isinstance(arg, Var)}
        stage = stage_of(prim, dict.fromkeys(sources, -1))
        wanted = self._wanted(prim, stage)
        stop = wanted.rows[1]
        columns, span = _covered(stage.columns, wanted.columns), _rows_read(stage.rows, *wanted.rows)
        is_join = len(sources) > 1
        if is_join:
            self._open[prim.name] = set(sources)
        seen = _rows_seen(stage.rows) if is_join or wanted.done else _NONE
        for name, var in sources.items():
            known = self._arguments.get(name)
            read = _Wanted(columns) if known is None else known[1]
            self._arguments[name] = var, read
            read.rows = joined(read.rows, span[0])
            read.kept = max(read.kept, span[1])
            if known is not None:
                read.columns = _together(read.columns, columns)
            for join, done in wanted.done.items():
                read.read(join, seen[done])
            if is_join:
                read.read(prim.name, seen[1 : stop + 1])
                read.lows[prim.name] = _integers(stage.rows)[1][:stop]

    def _wanted(self, prim: PrimFunc, stage: Stage) -> _Wanted:
        """What is read of the result of `prim`, whose lines now count; all of it if nothing stands behind."""
        if self._is_empty:
            wanted = _Wanted(self._stripes(stage.columns.count))
            self._is_empty, self._result = False, stage
            starts = [column.tolist() for column in np.split(wanted.columns[0], self._firsts[1:])]
            lasts = [each.index(max(each)) for each in starts]
            firsts = self._firsts.tolist()
            self._last_stripes = [
                (first + last, each[last]) for first, last, each in zip(firsts, lasts, starts, strict=True)
            ]
            wanted.rows = (0, stage.rows.count)
            return wanted
        name = prim.let.var.name
        _, wanted = self._arguments.pop(name)
        self._inner_bytes = self._inner_bytes + self._line_bytes(stage, wanted)
        for join in wanted.lows:
            self._open[join].discard(name)
            if not self._open[join]:
                for other in (wanted, *(each for _, each in self._arguments.values())):
                    other.done.pop(join, None)
        return wanted

    def _stripes(self, width: int) -> _Spans:
        """The result's columns, as `fused.layout` divides them: fewer stripes if it is narrow."""
        starts, stops = self._nothing()
        for first, count in zip(self._firsts.tolist(), self._counts, strict=True):
            step = -(-width // count)
            for stripe, start in enumerate(range(0, width, step)):
                starts[first + stripe], stops[first + stripe] = start, min(start + step, width)
        return starts, stops

    def _nothing(self) -> _Spans:
        size = sum(self._counts)
        return np.zeros(size, np.int64), np.zeros(size, np.int64)

    def _line_bytes(self, stage: Stage, wanted: _Wanted) -> _Integers:
        starts, stops = wanted.columns
        widths = np.maximum.reduceat(stops - starts, self._firsts)
        return widths * (wanted.least_rows * stage.pixel_bytes)


@lru_cache(maxsize=1 << 12)
def _rows_read(axis: Axis, start: int, stop: int) -> tuple[_Span, int]:
    """Rows that results [start, stop) read, and the most that one of them sees at once."""
    return axis.span(start, stop), axis.most_at_once(start, stop)


@lru_cache(maxsize=1 << 10)
def _integers(axis: Axis) -> tuple[_Integers, _Integers]:
    """`lasts` and `lows` of an axis."""
    return np.array(axis.lasts, np.int64), np.array(axis.lows, np.int64)


@lru_cache(maxsize=1 << 10)
def _rows_seen(axis: Axis) -> _Integers:
    """By rows computed: rows of the argument that are there. None for none, nor for rows that meet nothing
    but padding."""
    return np.maximum(np.concatenate(([0], _integers(axis)[0] + 1)), 0)


def _covered(axis: Axis, spans: _Spans) -> _Spans:
    """`Axis.cover` of each stripe."""
    if axis.window == axis.stride == 1 and axis.pad == 0 and axis.count == axis.extent:
        return spans
    starts, stops = spans
    firsts = np.clip(starts * axis.stride - axis.pad, 0, axis.extent)
    ends = np.maximum(firsts, _integers(axis)[0][np.maximum(stops, 1) - 1] + 1)
    is_there = starts < stops
    return np.where(is_there, firsts, 0), np.where(is_there, ends, 0)


def _together(one: _Spans, other: _Spans) -> _Spans:
    """`joined` of each stripe."""
    no_one, no_other = one[0] == one[1], other[0] == other[1]
    starts, stops = np.minimum(one[0], other[0]), np.maximum(one[1], other[1])
    return (
        np.where(no_one, other[0], np.where(no_other, one[0], starts)),
        np.where(no_one, other[1], np.where(no_other, one[1], stops)),
    )
