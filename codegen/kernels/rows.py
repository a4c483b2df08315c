"""Blocks run row by row: in which order rows are computed, how many of each are kept, what may overlap.

A block is a chain or graph of stages. The runtime's `cg_next_stage` decides which stage computes its next
row; `schedule` here makes the same decisions, so everything below is exact for the code that runs. In patches
that happens for each band of rows anew, from the first row that the band reads. Source of the idea: line
buffers of image pipelines; overlap as in `overlap.py` (arXiv 2010.01668).
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, product

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Axis:
    """How a stage reads its arguments along rows or columns: `count` results from an extent of `extent`.

    Result o has taps at o * stride - pad + t * dilation, 0 <= t < window; those outside are padding.
    """

    count: int
    extent: int
    window: int = 1
    stride: int = 1
    dilation: int = 1
    pad: int = 0

    @property
    def reach(self) -> int:
        """The last tap of result o is at o * stride + reach."""
        return (self.window - 1) * self.dilation - self.pad

    @cached_property
    def firsts(self) -> tuple[int, ...]:
        """First position that each result reads, `extent` if it reads none."""
        return tuple(self._firsts().tolist())

    @cached_property
    def all_read(self) -> bool:
        """True if every result reads some position."""
        return bool((self._firsts() < self.extent).all())

    def _firsts(self) -> NDArray[np.int64]:
        origins = self._origins()
        taps = np.maximum(0, -(origins // self.dilation))
        met = origins + taps * self.dilation
        return np.where((taps < self.window) & (met < self.extent), met, self.extent)

    def _origins(self) -> NDArray[np.int64]:
        """Position of each result's first tap."""
        return np.arange(self.count, dtype=np.int64) * self.stride - self.pad

    @cached_property
    def lows(self) -> tuple[int, ...]:
        """Lowest position that each result or a later one reads; `extent` behind the last one."""
        lows = np.minimum.accumulate(np.array([self.extent, *reversed(self.firsts)], np.int64))
        return tuple(lows[::-1].tolist())

    @cached_property
    def inner(self) -> tuple[int, ...]:
        """Taps of each result inside the extent."""
        origins = self._origins()
        first = np.maximum(0, -(origins // self.dilation))
        stop = np.minimum(self.window, -((origins - self.extent) // self.dilation))
        return tuple(np.maximum(stop - first, 0).tolist())

    @property
    def taps(self) -> int:
        """Taps inside the extent, of all results together."""
        return sum(self.inner)

    @cached_property
    def is_inside(self) -> tuple[bool, ...]:
        """True for each result without a tap in the padding."""
        span = (self.window - 1) * self.dilation
        return tuple(origin >= 0 and origin + span < self.extent for origin in self._origins().tolist())

    def most_at_once(self, start: int, stop: int) -> int:
        """The most positions from the first to the last one that one of the results [start, stop) reads."""
        return max((self.lasts[result] - self.firsts[result] + 1 for result in range(start, stop)), default=0)

    @cached_property
    def lasts(self) -> tuple[int, ...]:
        """Last position that must be there for each result (as C counts: taps in holes included)."""
        return tuple(np.minimum(self._origins() + self.pad + self.reach, self.extent - 1).tolist())

    def span(self, start: int, stop: int) -> tuple[int, int]:
        """Positions [first, end) that results [start, stop) read."""
        if start >= stop:
            return (0, 0)
        first = min(self.firsts[start:stop])
        return (first, max(first, self.lasts[stop - 1] + 1))

    def cover(self, start: int, stop: int) -> tuple[int, int]:
        """Positions [first, end) that the windows of results [start, stop) cover: those between the taps of
        a dilated window too, which kernels that copy what a window covers read and do not use."""
        if start >= stop:
            return (0, 0)
        first = min(max(start * self.stride - self.pad, 0), self.extent)
        return (first, max(first, self.lasts[stop - 1] + 1))


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One layer of a block. `sources` are what it reads, in order of demand: stages from 0 on (all before
    this one), arguments of the block from -1 downwards."""

    rows: Axis
    columns: Axis
    pixel_bytes: int
    """Bytes of a pixel of the result."""
    sources: tuple[int, ...]
    is_elementwise: bool = False
    """The stage reads element i before it writes element i, and nothing below i from then on."""
    reads_row_last: bool = False
    """All of a turn's rows may be written before the last read for them."""
    is_delivered: bool = False
    """Its rows come from outside, each once and in order."""
    turn_rows: int = 1
    """Rows that it computes together, from a multiple of so many on; fewer at the end."""

    def turn(self, row: int) -> range:
        """The rows that are computed together with `row`."""
        first = row - row % self.turn_rows
        return range(first, min(first + self.turn_rows, self.rows.count))

    @property
    def asks(self) -> tuple[int, ...]:
        """Last row of the arguments that must be there for the turn of each row (as C counts)."""
        if self.turn_rows == 1:
            return self.rows.lasts
        reach = (self.turn_rows - 1) * self.rows.stride
        lasts = np.arange(self.rows.count, dtype=np.int64) * self.rows.stride + self.rows.reach + reach
        return tuple(np.minimum(lasts, self.rows.extent - 1).tolist())


@dataclass(frozen=True, kw_only=True, slots=True)
class Grid:
    """Patches into which a block's result is cut: one after the other is computed, its halo again each time.

    A stripe of columns alone is as high as the result: its rows follow each other and have no halo.
    """

    stripes: int = 1
    band_rows: int | None = None
    """Rows of a patch, the last ones aside; None: all."""


WHOLE = Grid()


def demanded(stages: Sequence[Stage], start: int, stop: int, *, columns: bool) -> list[tuple[int, int]]:
    """Columns (or rows, in whole turns) of each stage that columns [start, stop) of the last stage need."""
    spans: list[tuple[int, int]] = [(0, 0)] * len(stages)
    spans[-1] = (start, stop)
    for index in range(len(stages) - 1, -1, -1):
        stage = stages[index]
        if not columns and spans[index][0] < spans[index][1]:
            spans[index] = stage.turn(spans[index][0]).start, stage.turn(spans[index][1] - 1).stop
        span = stage.columns.cover(*spans[index]) if columns else stage.rows.span(*spans[index])
        for source in stage.sources:
            if source >= 0:
                spans[source] = joined(spans[source], span)
    return spans


def joined(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """The least span that holds both; an empty one adds nothing."""
    if one[0] == one[1]:
        return other
    return one if other[0] == other[1] else (min(one[0], other[0]), max(one[1], other[1]))


def schedule(
    stages: Sequence[Stage], starts: Sequence[int] | None = None, stop: int | None = None
) -> Iterator[tuple[int, int]]:
    """(stage, row) in the order in which a block computes rows, up to row `stop` of the last stage. `starts`:
    of each stage the first one.

    C walks from the last stage down to one that can run, for every row. Here the way down is kept: a row only
    ever serves the stage that asked for it, and what that one asked for before is still there.
    """
    done = [0] * len(stages) if starts is None else list(starts)
    last = len(stages) - 1
    end = stages[last].rows.count if stop is None else stop
    needs = [[(source, stage.asks) for source in stage.sources if source >= 0] for stage in stages]
    while done[last] < end:
        waiting = [last]
        while waiting:
            stage = waiting[-1]
            row = done[stage]
            for source, lasts in needs[stage]:
                if done[source] <= lasts[row]:
                    waiting.append(source)
                    break
            else:
                waiting.pop()
                for computed in stages[stage].turn(row):
                    yield stage, computed
                    done[stage] = computed + 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Band:
    """Rows [first, stop) of a block's result, which are there before any row behind them."""

    starts: tuple[int, ...]
    """Per stage the first row that it computes for them."""
    stop: int
    steps: bytes
    """`order` as 32-bit integers: thousands of runs are remembered."""

    @property
    def order(self) -> Iterator[tuple[int, int]]:
        """(stage, row), first to last."""
        numbers = array("i", self.steps)
        return zip(numbers[::2], numbers[1::2], strict=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockRun:
    """A block's schedule, and per stage: how many rows it computes, how many must be kept at a time."""

    bands: tuple[Band, ...]
    counts: tuple[int, ...]
    kept: tuple[int, ...]

    @property
    def order(self) -> Iterator[tuple[int, int]]:
        """(stage, row) in a stripe, first to last."""
        return chain.from_iterable(band.order for band in self.bands)


def simulate(stages: Sequence[Stage], band_rows: int | None = None) -> BlockRun:
    """Run the schedule and find the least ring heights with which no row is lost before its last read."""
    # Columns and channels do not matter to it: one run serves every number of stripes.
    rows = [replace(stage, columns=stage.rows, pixel_bytes=1, is_elementwise=False) for stage in stages]
    return _simulate(tuple(rows), band_rows)


@lru_cache(maxsize=4096)
def _simulate(stages: tuple[Stage, ...], band_rows: int | None) -> BlockRun:
    last = stages[-1]
    height = last.rows.count if band_rows is None else -(-band_rows // last.turn_rows) * last.turn_rows
    bands: list[Band] = []
    counts, kept = [0] * len(stages), [len(stage.turn(0)) for stage in stages]
    for first in range(0, last.rows.count, height):
        stop = min(first + height, last.rows.count)
        spans = [(0, 0)] * len(stages)
        if band_rows is not None:
            spans = demanded(stages, first, stop, columns=False)
        starts = tuple(start for start, _ in spans)
        order = tuple(schedule(stages, starts, stop))
        _count(stages, order, starts, counts, kept)
        for index, stage in enumerate(stages):
            if stage.is_delivered and band_rows is not None:  # Its rows come once for all patches.
                counts[index] = spans[index][1]
                kept[index] = max(kept[index], spans[index][1] - spans[index][0])
        steps = array("i", chain.from_iterable(order)).tobytes()
        bands.append(Band(starts=starts, stop=stop, steps=steps))
    return BlockRun(bands=tuple(bands), counts=tuple(counts), kept=tuple(kept))


def _count(
    stages: Sequence[Stage],
    order: Sequence[tuple[int, int]],
    starts: Sequence[int],
    counts: list[int],
    kept: list[int],
) -> None:
    """Add the rows of a band to `counts`; raise `kept` to what they need. The rows of a turn are apart, even
    those that nobody reads."""
    stops = list(starts)
    for stage, row in order:
        stops[stage] = row + 1
        counts[stage] += 1
    readers: list[list[int]] = [[] for _ in stages]
    for index, stage in enumerate(stages):
        for source in stage.sources:
            if source >= 0:
                readers[source].append(index)
    done = list(starts)
    asked = [[(reader, stages[reader].rows.lows) for reader in row] for row in readers]
    for stage, row in order:
        for reader, lows in asked[stage]:
            if done[reader] < stops[reader]:
                height = row - lows[done[reader]] + 1
                if height > kept[stage]:
                    kept[stage] = height
        done[stage] += 1


NOTHING = np.iinfo(np.int64).max
"""Position that stands for "reads nothing"."""


def safe_distance(ends: NDArray[np.int64], lows: NDArray[np.int64]) -> int | None:
    """Least D in bytes such that a result D bytes below an argument never overwrites what is still read.

    Event by event in time: the result is written up to byte `ends` (0: nothing written), the argument read
    from byte `lows` on (`NOTHING`: not read); within an event reads may follow writes. None: any D is safe.
    """
    future = np.minimum.accumulate(lows[::-1])[::-1]
    bound = (ends > 0) & (future != NOTHING)
    return int((ends[bound] - future[bound]).max()) if bound.any() else None


def of_images(
    ends: NDArray[np.int64], lows: NDArray[np.int64], images: int, argument_bytes: int, result_bytes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Events of a block over `images` images, which lie one after the other: `ends` and `lows` of the first,
    moved on by the bytes of an image.

    An event's demand changes by as much from each image to the next, so the first two and the last two
    stand for all.
    """
    if images == 1:
        return ends, lows
    every = sorted({0, 1, images - 2, images - 1})
    return (
        np.concatenate([np.where(ends > 0, ends + image * result_bytes, 0) for image in every]),
        np.concatenate(
            [np.where(lows != NOTHING, lows + image * argument_bytes, NOTHING) for image in every]
        ),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class RowImage:
    """Extents of an argument or result of the block."""

    columns: int
    pixel_bytes: int

    def offset(self, row: int, column: int) -> int:
        """Offset of a pixel in bytes."""
        return (row * self.columns + column) * self.pixel_bytes


def accesses(
    stages: Sequence[Stage],
    run: BlockRun,
    stripes: Sequence[Sequence[tuple[int, int]]],
    argument: int,
    image: RowImage,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Reads of argument `argument` (-1, -2, ...) and writes of the result in order, for `safe_distance`.

    `stripes`: per stripe the columns of each stage (`demanded`); a band goes through all of them.
    """
    last = len(stages) - 1
    result = RowImage(columns=stages[last].columns.count, pixel_bytes=stages[last].pixel_bytes)
    events: list[NDArray[np.int64]] = [np.zeros((0, 2), np.int64)]
    readers = {index for index, stage in enumerate(stages) if argument in stage.sources}
    for band, spans in product(run.bands, stripes):
        columns = {index: stages[index].columns.span(*spans[index]) for index in readers}
        firsts = np.array(stages[last].columns.firsts[slice(*spans[last])], np.int64)
        for index, row in band.order:
            if index != last and index not in readers:
                continue
            stage = stages[index]
            reads = index in readers and stage.rows.firsts[row] < stage.rows.extent
            if index == last and reads:
                events.append(_last_stage(stage, row, spans[index], firsts, image, result))
            elif index == last:
                events.append(np.array([(result.offset(row, spans[index][1]), NOTHING)]))
            elif reads and columns[index][0] < columns[index][1]:
                events.append(np.array([(0, image.offset(stage.rows.firsts[row], columns[index][0]))]))
    table = np.concatenate(events)
    return table[:, 0], table[:, 1]


def _last_stage(
    stage: Stage,
    row: int,
    span: tuple[int, int],
    firsts: NDArray[np.int64],
    image: RowImage,
    result: RowImage,
) -> NDArray[np.int64]:
    """The last stage reads the argument itself: pixel by pixel, all but the last element in place, or all of
    a turn's windows until its rows are written. `firsts`: of the columns in `span`, the first each reads."""
    start, stop = span
    top = stage.rows.firsts[stage.turn(row).start]
    end = result.offset(row, stop)
    if stage.reads_row_last:
        first, after = stage.columns.span(start, stop)
        return np.array([(end, image.offset(top, first) if first < after else NOTHING)])
    if stage.is_elementwise:
        return np.array(
            [(0, image.offset(top, start)), (end - 1, image.offset(top, stop) - 1), (end, NOTHING)]
        )
    ends = result.offset(row, 0) + np.arange(start + 1, stop + 1) * result.pixel_bytes
    lows = image.offset(top, 0) + firsts * image.pixel_bytes
    return np.stack([ends, np.where(firsts < stage.columns.extent, lows, NOTHING)], axis=1)
