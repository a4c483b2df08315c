"""Time x address of a pool: a rectangle a buffer, hatched where one is written over another's bytes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from codegen.api import LevelLine, byte_ticks, short_bytes
from codegen.report_file import Buffer, Pool, Step
from codegen.tools.page.words import name_of

LEFT, RIGHT, TOP, HEIGHT = 70, 16, 14, 300
"""Pixels around the field of a chart; HEIGHT of the field."""
_NUMBERS = 30
"""Pixels below the field, for numbers; names of steps take what the longest needs."""
_MOST_LETTERS = 18
"""Letters of a step's name on the axis, at most."""
_NARROWEST, _WIDEST = 1060, 6000
_A_STEP = 22
_FONT, _LETTER = 11, 0.58


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """A rectangle; `index`: of the buffer in the document, `label`: what is written inside, and how."""

    x: str
    y: str
    width: str
    height: str
    kind: str
    index: int
    label: str = ""
    label_at: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepColumn:
    """A step on the time axis."""

    step: int
    x: float
    width: float
    label: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ChartSize:
    """Pixels of a chart."""

    width: int
    height: int
    bottom: int
    """Bottom of the boxes; names of steps and numbers are below."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryChart:
    """All that is drawn of a pool."""

    pool: Pool
    index: int
    """Number of the pool in the document."""
    measured: int | None
    """Index of what was measured, in the document."""
    size: ChartSize
    boxes: tuple[Box, ...]
    shared: tuple[Box, ...]
    """Rectangles where a buffer is written over another one."""
    ticks: tuple[LevelLine, ...]
    columns: tuple[StepColumn, ...]
    is_named: bool
    """Steps have room for their names."""
    times: tuple[LevelLine, ...]
    """Numbers on the axis, where there are no steps."""
    peak_y: float
    bound_y: float


@dataclass(frozen=True, kw_only=True, slots=True)
class _ChartFrame:
    first: int
    pixels: float
    """A unit of time."""
    extent: int
    width: int
    """Pixels of all units."""

    def x(self, time: int) -> float:
        return LEFT + (time - self.first) * self.pixels

    def y(self, offset: int) -> float:
        return TOP + HEIGHT * (1 - offset / self.extent)

    def box(self, start: int, stop: int, low: int, high: int) -> dict[str, str]:
        return {
            "x": f"{self.x(start):.1f}",
            "y": f"{self.y(high):.1f}",
            "width": f"{max((stop - start) * self.pixels, 0.6):.1f}",
            "height": f"{max(self.y(low) - self.y(high), 0.6):.1f}",
        }


def memory_charts(
    pools: Sequence[Pool], buffers: Sequence[Buffer], steps: Sequence[Step], measured: Mapping[str, int]
) -> tuple[MemoryChart, ...]:
    """A chart for each pool that buffers lie in, all with one axis of time. `measured`: pool -> index."""
    if not buffers:
        return ()
    first = min([b.start for b in buffers] + [s.start for s in steps if s.start is not None])
    last = max([b.stop for b in buffers] + [s.stop for s in steps if s.stop is not None])
    columns = len(steps) or (last - first)
    width = max(_NARROWEST, min(_WIDEST, LEFT + RIGHT + _A_STEP * columns)) - LEFT - RIGHT
    charts: list[MemoryChart] = []
    for index, pool in enumerate(pools):
        here = [(i, b) for i, b in enumerate(buffers) if b.pool == pool.name]
        if here:
            frame = _ChartFrame(
                first=first, pixels=width / max(last - first, 1), extent=pool.peak_bytes, width=width
            )
            chart = _chart(frame, pool, index, here, steps, measured.get(pool.name))
            charts.append(chart)
    return tuple(charts)


def _chart(
    frame: _ChartFrame,
    pool: Pool,
    index: int,
    here: Sequence[tuple[int, Buffer]],
    steps: Sequence[Step],
    measured: int | None,
) -> MemoryChart:
    # The late born are drawn over the early ones, whose bytes they overwrite; of those born at once the
    # smaller ones last.
    ordered = sorted(here, key=lambda item: (item[1].start, -item[1].size_bytes))
    above = _above([buffer for _, buffer in ordered])
    columns = tuple(_columns(frame, steps))
    is_named = bool(columns) and min(column.width for column in columns) >= _FONT + 1
    first, last = frame.first, frame.first + round(frame.width / frame.pixels)
    numbers = () if steps else byte_ticks(last - first)
    return MemoryChart(
        pool=pool,
        index=index,
        measured=measured,
        size=ChartSize(
            width=LEFT + frame.width + RIGHT,
            height=TOP + HEIGHT + (_below(columns) if is_named else _NUMBERS),
            bottom=TOP + HEIGHT,
        ),
        boxes=tuple(_box(frame, i, buffer, above.get(buffer.id, ())) for i, buffer in ordered),
        shared=tuple(_shared(frame, here)),
        ticks=tuple(LevelLine(at=frame.y(at), text=short_bytes(at)) for at in byte_ticks(frame.extent)),
        columns=columns,
        is_named=is_named,
        times=tuple(LevelLine(at=frame.x(first + time), text=str(first + time)) for time in numbers),
        peak_y=frame.y(pool.peak_bytes),
        bound_y=frame.y(min(pool.lower_bound_bytes, pool.peak_bytes)),
    )


def _below(columns: Sequence[StepColumn]) -> int:
    """Pixels for the longest name, turned."""
    return 16 + round(max(len(column.label) for column in columns) * _FONT * _LETTER)


def _above(ordered: Sequence[Buffer]) -> dict[str, list[Buffer]]:
    """Buffer -> those that are drawn over some of its bytes; `ordered` as they are drawn."""
    by_id = {buffer.id: (number, buffer) for number, buffer in enumerate(ordered)}
    drawn_over: dict[str, list[Buffer]] = {}
    for buffer in ordered:
        for shared in buffer.over:
            pair = sorted((by_id[buffer.id], by_id[shared.id]), key=lambda item: item[0])
            drawn_over.setdefault(pair[0][1].id, []).append(pair[1][1])
    return drawn_over


_Room = tuple[int, int, int, int]
"""A part of a buffer's rectangle: from when to when, from which byte to which."""


def _seen(buffer: Buffer, above: Sequence[Buffer]) -> Iterator[_Room]:
    """Parts of a buffer's rectangle that nothing is drawn over."""
    times = {buffer.start, buffer.stop, *(time for cover in above for time in (cover.start, cover.stop))}
    inside = sorted(time for time in times if buffer.start <= time <= buffer.stop)
    for start, stop in pairwise(inside):
        free = [(buffer.offset, buffer.offset + buffer.size_bytes)]
        for cover in above:
            if cover.start < stop and start < cover.stop:
                end = cover.offset + cover.size_bytes
                free = [
                    part
                    for low, high in free
                    for part in ((low, min(high, cover.offset)), (max(low, end), high))
                ]
                free = [(low, high) for low, high in free if low < high]
        yield from ((start, stop, low, high) for low, high in free)


def _area(room: _Room) -> int:
    start, stop, low, high = room
    return (stop - start) * (high - low)


def _box(frame: _ChartFrame, index: int, buffer: Buffer, above: Sequence[Buffer]) -> Box:
    place = frame.box(buffer.start, buffer.stop, buffer.offset, buffer.offset + buffer.size_bytes)
    rooms = [(buffer.start, buffer.stop, buffer.offset, buffer.offset + buffer.size_bytes)]
    rooms = list(_seen(buffer, above)) if above else rooms
    start, stop, low, high = max(rooms, key=_area, default=(0, 0, 0, 0))
    width, height = (stop - start) * frame.pixels, frame.y(low) - frame.y(high)
    label, turned = _label(name_of(buffer), width, height)
    at = f"translate({frame.x(start) + width / 2:.1f} {frame.y(high) + height / 2:.1f})"
    at += " rotate(-90)" if turned else ""
    return Box(**place, kind=buffer.kind, index=index, label=label, label_at=at if label else "")


def _label(name: str, width: float, height: float) -> tuple[str, bool]:
    """Part of a buffer's name that fits inside its rectangle, and whether it is turned."""
    for text in (name, name.partition(",")[0]):
        for turned, along, across in ((False, width, height), (True, height, width)):
            if len(text) * _FONT * _LETTER <= along - 6 and across >= _FONT + 3:
                return text, turned
    return "", False


def _shared(frame: _ChartFrame, here: Sequence[tuple[int, Buffer]]) -> Iterator[Box]:
    by_id = {buffer.id: buffer for _, buffer in here}
    for index, buffer in here:
        for shared in buffer.over:
            other = by_id[shared.id]
            low = max(buffer.offset, other.offset)
            stop = min(buffer.stop, other.stop)
            place = frame.box(max(buffer.start, other.start), stop, low, low + shared.bytes)
            yield Box(**place, kind="shared", index=index)


def _columns(frame: _ChartFrame, steps: Sequence[Step]) -> Iterator[StepColumn]:
    """Every step; a name or number where there is room for it."""
    free = float("-inf")
    for step in steps:
        if step.start is None or step.stop is None:
            continue
        x, width = frame.x(step.start), (step.stop - step.start) * frame.pixels
        middle = x + width / 2
        named = middle - free >= 4 * _FONT or width >= _FONT + 1
        free = middle if named else free
        label = f"{step.step} {step.name}"[:_MOST_LETTERS] if named else ""
        yield StepColumn(step=step.step, x=x, width=width, label=label)
