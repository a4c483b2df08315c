"""What blocks need and cost: found once for the same run of steps, and a floor without a simulation.

Functions that share steps ask again for the same runs. The floor of a block's lines is found step by step
from its end: what a step has to see at once depends on the steps behind it alone. So a block that grows at
its front keeps what is known of the rest, and all blocks that end with one step cost as much as the longest.

A block that grows at its front keeps more lines and never fewer. So where these and the result alone are
more than a limit, no longer block that ends there is within it, and none is looked at: a chain takes time in
proportion to its length and to that of the longest block of use, not to the number of its runs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Var
from codegen.kernels import fused
from codegen.kernels.base.window import nhwc
from codegen.kernels.contract import Sharing
from codegen.kernels.fused import delivery, stage_of
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rows import Axis, Stage, joined
from codegen.search.blocks.row_blocks import BlockRuns
from codegen.search.steps.schedule import Lifetimes

_Key = tuple[tuple[tuple[str, ...], ...], int, str | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockCost:
    """What a block takes."""

    own_bytes: int
    """Its lines, and what its row kernels work in."""
    sharing: tuple[Sharing, ...]
    """How far the result may lie over the arguments."""
    extra_macs: int
    """Multiply-accumulates beyond those of the steps alone."""


class BlockCosts:
    """Remembers by the names of steps and values: in a function and its variants a name stands for one thing,
    bound to one row kernel."""

    def __init__(self) -> None:
        self._costs: dict[_Key, BlockCost] = {}

    def cost(self, inner: Sequence[PrimFunc], stripes: int, streamed: str | None) -> BlockCost:
        """What the block of these steps costs in so many stripes, by simulating it."""
        key = _key(inner, stripes, streamed)
        if key not in self._costs:
            planned = fused.layout(inner, stripes, streamed)
            shared = fused.workspace(inner)
            self._costs[key] = BlockCost(
                own_bytes=sum(planned.line_bytes) + (shared.size_bytes if shared else 0),
                sharing=fused.sharing(inner, planned),
                extra_macs=max(0, fused.macs(inner, planned) - sum(prim.macs for prim in inner)),
            )
        return self._costs[key]


def _key(inner: Sequence[PrimFunc], stripes: int, streamed: str | None) -> _Key:
    names = tuple(
        (prim.name, *(arg.name for arg in prim.let.call.args if isinstance(arg, Var))) for prim in inner
    )
    return names, stripes, streamed


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


STRIPES = (1, 2, 3, 4, 6, 8)
"""Numbers of stripes that are tried; more than one where recomputation is allowed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Floor:
    """A block of steps [start, stop) that may be: in each of `STRIPES` bytes of its lines, and of all."""

    start: int
    lines_bytes: tuple[int, ...]
    needs_bytes: tuple[int, ...]
    longer_bytes: int
    """What a longer block that ends with the same step needs besides lines, which are no fewer."""

    def need_bytes(self, stripes: int) -> int:
        """What the block needs at least in so many stripes."""
        return self.needs_bytes[STRIPES.index(stripes)]


class BlockFloors:
    """The blocks of one function; `streamed` is the input that `readers` read row by row."""

    def __init__(
        self,
        runs: BlockRuns,
        steps: Sequence[PrimFunc | None],
        lives: Lifetimes,
        streamed: str | None,
        readers: frozenset[int],
    ) -> None:
        self._runs, self._steps, self._lives = runs, steps, lives
        self._streamed, self._readers = streamed, readers
        self._found: dict[int, list[Floor]] = {}
        self._more: dict[int, Iterator[Floor]] = {}

    def within(
        self, stop: int, most_bytes: int, stripe_counts: Sequence[int]
    ) -> Iterator[tuple[Floor, list[int]]]:
        """Blocks that end in front of step `stop`, and in which of these numbers of stripes they may need no
        more than the limit; the longest first."""
        if stop not in self._more:
            self._found[stop], self._more[stop] = [], self._grown(stop)
        found, places = self._found[stop], [STRIPES.index(count) for count in stripe_counts]
        while (
            not found or found[-1].longer_bytes + min(found[-1].lines_bytes[i] for i in places) <= most_bytes
        ):
            longer = next(self._more[stop], None)
            if longer is None:
                break
            found.append(longer)
        for floor in reversed(found):
            counts = [STRIPES[i] for i in places if floor.needs_bytes[i] <= most_bytes]
            if counts and self._serves(floor.start, stop):
                yield floor, counts

    def shortest_delivered(self) -> tuple[int, int] | None:
        """Start and stop of the shortest block in which all readers of the streamed input run."""
        found = [
            (start, stop)
            for stop in range(max(self._readers) + 1, len(self._runs) + 1)
            for start in self._runs.starts(stop)
            if start <= min(self._readers)
        ]
        return min(found, key=lambda pair: pair[1] - pair[0], default=None)

    def _serves(self, start: int, stop: int) -> bool:
        """Whether the input can be streamed with this block: all of its readers are in it, or none."""
        if not self._readers:
            return True
        inside = sum(start <= reader < stop for reader in self._readers)
        return inside == len(self._readers) if inside or stop - start == 1 else True

    def _grown(self, stop: int) -> Iterator[Floor]:
        lines = LineFloor(self._streamed, STRIPES)
        crossing = self._lives.crossing(stop)
        last = self._steps[stop - 1]
        result_bytes = 0 if last is None else self._lives.size_bytes(last.let.var)
        shared_bytes = 0
        for start in self._runs.starts(stop):
            prim = self._steps[start]
            assert prim is not None and prim.rows is not None
            lines.grow(prim)
            if prim.rows.workspace is not None:
                shared_bytes = max(shared_bytes, prim.rows.workspace.size_bytes)
            arguments = lines.arguments
            dying = self._lives.dying(arguments, start, stop)
            crossing -= self._lives.born_bytes(start, stop)
            alone = crossing + sum(dying.values()) + result_bytes + shared_bytes
            # The result may lie over one of what is not needed any more.
            shared = [lines.overlap_bytes(arg) for arg in arguments if self._lives.roots[arg.name] in dying]
            lines_bytes = lines.bytes
            yield Floor(
                start=start,
                lines_bytes=lines_bytes,
                needs_bytes=tuple(
                    alone + bytes_ - max((most[index] for most in shared), default=0)
                    for index, bytes_ in enumerate(lines_bytes)
                ),
                longer_bytes=result_bytes + shared_bytes,
            )
