"""Lines and work of a block that grows at its front, without a simulation: floors in each of several grids.

The floors are found step by step from the block's end: the rows and columns of a patch that a step computes
depend on the steps behind it alone.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Var
from codegen.kernels.base.portable_work import estimated_work
from codegen.kernels.base.window import nhwc
from codegen.kernels.block_layout import pixels_of, stage_work
from codegen.kernels.fused import MOST_ROWS, delivery, stage_of
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rows import WHOLE, Axis, Grid, Stage, joined

_Span = tuple[int, int]
_Integers = NDArray[np.int64]
_Spans = tuple[_Integers, _Integers]
"""First and end of the columns in each stripe, or of the rows in each band; empty where both are equal."""


_NONE: _Integers = np.zeros(0, np.int64)


class _Wanted:
    """Parts of a value that the steps so far read: rows at all and by band, columns by stripe, rows that one
    step sees at once.

    `done`: by join, how many rows are there before it computes each of its rows. `lows`: of joins that read
    the value themselves, the first row that they still need then. The rows between wait for the other side.
    """

    __slots__ = ("bands", "columns", "done", "kept", "lows", "rows")

    def __init__(self, columns: _Spans, bands: _Spans) -> None:
        self.rows: _Span = (0, 0)
        self.columns, self.bands = columns, bands
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
    """The lines and the work of a block that grows at its front, by grid."""

    def __init__(self, streamed: str | None = None, grids: Sequence[Grid] = (WHOLE,)) -> None:
        """`streamed`: the argument that is delivered row by row, whose lines count where a step reads it."""
        self._streamed = streamed
        self._counts = sorted({grid.stripes for grid in grids})
        self._heights = sorted({grid.band_rows or MOST_ROWS for grid in grids})
        self._by_stripes = np.array([self._counts.index(grid.stripes) for grid in grids])
        self._by_height = np.array([self._heights.index(grid.band_rows or MOST_ROWS) for grid in grids])
        self._is_banded = np.array([grid.band_rows is not None for grid in grids])
        self._arguments: dict[str, tuple[Var, _Wanted]] = {}
        self._open: dict[str, set[str]] = {}
        """Joins, and what of their arguments no step so far computes."""
        self._inner_bytes = self._instructions = self._macs = np.zeros(len(grids), np.int64)
        self._is_empty = True
        self._stripes = self._bands = _Pieces(0, ())

    @property
    def arguments(self) -> tuple[Var, ...]:
        """Values that the steps so far read but do not compute."""
        return tuple(var for var, _ in self._arguments.values())

    @property
    def bytes(self) -> tuple[int, ...]:
        """By grid a floor of the bytes of lines: of rows that a reader of a stage sees at once, or that wait
        for the other side of a join. Of rows that are delivered all that a band reads."""
        delivered = self._arguments.get(self._streamed) if self._streamed is not None else None
        lines = self._inner_bytes
        if delivered is not None:
            stage, reading = delivery(delivered[0]), delivered[1]
            rows = np.where(self._is_banded, self._bands.most(reading.bands)[self._by_height], 0)
            row_bytes = stage.columns.count * stage.pixel_bytes
            lines = lines + np.maximum(reading.least_rows, rows) * row_bytes
        return tuple(lines.tolist())

    @property
    def instructions(self) -> tuple[int, ...]:
        """By grid a floor of the instructions, as `work` counts them; of kernels that have a price of
        their own without what is computed again."""
        return tuple(self._instructions.tolist())

    @property
    def macs(self) -> tuple[int, ...]:
        """By grid a floor of the multiply-accumulates."""
        return tuple(self._macs.tolist())

    def overlap_bytes(self, argument: Var) -> tuple[int, ...]:
        """By grid: the most bytes that the result may have in common with an argument.

        Before the last stripe of a band, of the last image, the rows of that band are written but for that
        stripe. Of the argument the first row that the band reads is still to be read, in the columns of the
        stripe. The last band and the one before it tell most.
        """
        _, read = self._arguments[argument.name]
        images, height, width, channels = nhwc(argument.type.shape)
        pixel_bytes, result = channels * argument.type.dtype.size_bytes, self._result
        row_bytes = result.columns.count * result.pixel_bytes
        image_bytes = result.rows.count * row_bytes
        most = min(argument.type.size_bytes, images * image_bytes)
        last, first_rows = self._stripes.lasts, read.bands[0]
        starts, is_read = self._stripes.spans[0][last], read.columns[0][last] < read.columns[1][last]
        ends = read.columns[1][last] - 1
        common = np.full((len(self._heights), len(self._counts)), most)
        for band in (self._bands.firsts, self._bands.lasts):
            stops = (self._bands.spans[1][band] - 1) * row_bytes + (images - 1) * image_bytes
            rows = (images - 1) * height + first_rows[band]
            written = stops[:, None] + starts * result.pixel_bytes
            unread = (rows[:, None] * width + ends) * pixel_bytes
            known = np.maximum(images * image_bytes - (written - unread), 0)
            common = np.where((starts > 0) & is_read, np.minimum(common, known), common)
        return tuple(common[self._by_height, self._by_stripes].tolist())

    def grow(self, prim: PrimFunc) -> None:
        """Put `prim`, which has a row kernel, in front of the steps so far, which read its result."""
        sources = {arg.name: arg for arg in prim.let.call.args if isinstance(arg, Var)}
        stage = stage_of(prim, dict.fromkeys(sources, -1))
        reading = self._wanted(prim, stage)
        stop = reading.rows[1]
        columns, span = _covered(stage.columns, reading.columns), _rows_read(stage.rows, *reading.rows)
        bands = _banded(stage.rows, reading.bands)
        is_join = len(sources) > 1
        if is_join:
            self._open[prim.name] = set(sources)
        seen = _rows_seen(stage.rows) if is_join or reading.done else _NONE
        for name, var in sources.items():
            known = self._arguments.get(name)
            read = _Wanted(columns, bands) if known is None else known[1]
            self._arguments[name] = var, read
            read.rows = joined(read.rows, span[0])
            read.kept = max(read.kept, span[1])
            if known is not None:
                read.columns = _together(read.columns, columns)
                read.bands = _together(read.bands, bands)
            for join, done in reading.done.items():
                read.read(join, seen[done])
            if is_join:
                read.read(prim.name, seen[1 : stop + 1])
                read.lows[prim.name] = _integers(stage.rows)[1][:stop]

    def _wanted(self, prim: PrimFunc, stage: Stage) -> _Wanted:
        """Return the rows and columns that are read of the result of `prim`, whose lines now count: all
        where no step stands behind it."""
        if self._is_empty:
            self._is_empty, self._result = False, stage
            width, turn = stage.columns.count, stage.turn_rows
            self._stripes = _Pieces(width, [-(-width // count) for count in self._counts])
            self._bands = _Pieces(stage.rows.count, [-(-rows // turn) * turn for rows in self._heights])
            reading = _Wanted(self._stripes.spans, self._bands.spans)
            reading.rows = (0, stage.rows.count)
        else:
            name = prim.let.var.name
            _, reading = self._arguments.pop(name)
            reading.bands = _in_turns(stage, reading.bands)
            widths = self._stripes.most(reading.columns)[self._by_stripes]
            self._inner_bytes = self._inner_bytes + widths * (reading.least_rows * stage.pixel_bytes)
            for join in reading.lows:
                self._open[join].discard(name)
                if not self._open[join]:
                    for other in (reading, *(argument for _, argument in self._arguments.values())):
                        other.done.pop(join, None)
        self._add_work(prim, reading)
        return reading

    def _add_work(self, prim: PrimFunc, reading: _Wanted) -> None:
        """Add the work of a step, of which this is read."""
        rows = self._bands.sums(reading.bands)[self._by_height]
        pixels = rows * self._stripes.sums(reading.columns)[self._by_stripes]
        calls = rows * self._stripes.counts[self._by_stripes]
        self._macs = self._macs + prim.macs * pixels // pixels_of(prim)
        cost, price = estimated_work(prim), prim.rows.price if prim.rows else None
        images, height, _, _ = nhwc(prim.let.var.type.shape)
        if price is None or not prim.instructions:
            work = stage_work(prim, cost, pixels, np.maximum(calls - height, 0))
        elif prim.rows is not None and prim.rows.turn_rows == 1:
            spans = zip(*(ends.tolist() for ends in reading.columns), strict=True)
            row = np.array([price(1, span) if span[0] < span[1] else 0.0 for span in spans])
            priced = rows * self._stripes.added(row)[self._by_stripes]
            work = (cost * images * priced / prim.instructions).astype(np.int64)
        else:
            work = stage_work(prim, cost, np.minimum(pixels, pixels_of(prim)), np.zeros_like(calls))
        self._instructions = self._instructions + work


class _Pieces:
    """An extent cut into pieces, in several ways one behind the other: by the columns of a stripe or the
    rows of a band."""

    def __init__(self, extent: int, steps: Sequence[int]) -> None:
        starts = [np.arange(0, extent, step, dtype=np.int64) for step in steps]
        stops = [np.minimum(start + step, extent) for start, step in zip(starts, steps, strict=True)]
        self.spans: _Spans = (np.concatenate([_NONE, *starts]), np.concatenate([_NONE, *stops]))
        self.counts: _Integers = np.array([len(start) for start in starts], np.int64)
        self.lasts: _Integers = np.cumsum(self.counts) - 1
        """By way, where its last piece is among all."""
        self.firsts: _Integers = self.lasts + 1 - self.counts

    def sums(self, spans: _Spans) -> _Integers:
        """By way, how much these spans of the pieces hold together."""
        return np.add.reduceat(spans[1] - spans[0], self.firsts)

    def added(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """By way, the sum of the values of its pieces."""
        return np.add.reduceat(values, self.firsts)

    def most(self, spans: _Spans) -> _Integers:
        """By way, how much the largest of these spans of the pieces holds."""
        return np.maximum.reduceat(spans[1] - spans[0], self.firsts)


@lru_cache(maxsize=1 << 12)
def _rows_read(axis: Axis, start: int, stop: int) -> tuple[_Span, int]:
    """Rows that results [start, stop) read, and the most that one of them sees at once."""
    return axis.span(start, stop), axis.most_at_once(start, stop)


@lru_cache(maxsize=1 << 10)
def _integers(axis: Axis) -> tuple[_Integers, _Integers]:
    """`lasts` and `lows` of an axis."""
    return np.array(axis.lasts, np.int64), np.array(axis.lows, np.int64)


@lru_cache(maxsize=1 << 10)
def _firsts(axis: Axis) -> _Integers:
    """`firsts` of an axis."""
    return np.array(axis.firsts, np.int64)


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


def _banded(axis: Axis, spans: _Spans) -> _Spans:
    """`Axis.span` of each band."""
    starts, stops = spans
    firsts, lasts = _firsts(axis)[np.minimum(starts, axis.count - 1)], _integers(axis)[0]
    ends = np.maximum(firsts, lasts[np.maximum(stops, 1) - 1] + 1)
    is_there = starts < stops
    return np.where(is_there, firsts, 0), np.where(is_there, ends, 0)


def _in_turns(stage: Stage, spans: _Spans) -> _Spans:
    """Each band of rows in whole turns."""
    turn, (starts, stops) = stage.turn_rows, spans
    if turn == 1:
        return spans
    return starts - starts % turn, np.minimum(-(-stops // turn) * turn, stage.rows.count)


def _together(one: _Spans, other: _Spans) -> _Spans:
    """`joined` of each stripe."""
    no_one, no_other = one[0] == one[1], other[0] == other[1]
    starts, stops = np.minimum(one[0], other[0]), np.maximum(one[1], other[1])
    return (
        np.where(no_one, other[0], np.where(no_other, one[0], starts)),
        np.where(no_one, other[1], np.where(no_other, one[1], stops)),
    )
