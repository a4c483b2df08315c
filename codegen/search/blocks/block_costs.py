"""Needs and costs of blocks: simulated once a run of steps, with floors that need no simulation.

Functions that share steps ask again for the same runs. A block that grows at its front keeps what is known
of the rest (`line_floor`), so all blocks that end with one step cost as much as the longest.

A block that grows at its front keeps more lines and never fewer. So where these and the result alone are
more than a limit, no longer block that ends there is within it, and none is looked at: a chain takes time in
proportion to its length and to that of the longest block of use, not to the number of its runs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from codegen.ir import Var
from codegen.kernels import fused
from codegen.kernels.base.portable_work import estimated_work
from codegen.kernels.block_layout import macs, work
from codegen.kernels.contract import Sharing
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rows import WHOLE, Grid
from codegen.search.blocks.line_floor import LineFloor
from codegen.search.blocks.row_blocks import BlockRuns
from codegen.search.steps.schedule import Lifetimes

_Step = tuple[str, ...]
"""A step's name, its row kernel, the names of its arguments."""
_Key = tuple[tuple[_Step, ...], Grid, str | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockCost:
    """Bytes and work of a block."""

    own_bytes: int
    """Its lines, and what its row kernels work in."""
    sharing: tuple[Sharing, ...]
    """How far the result may lie over the arguments."""
    extra_macs: int
    """Multiply-accumulates beyond those of the steps alone."""
    instructions: int
    """Predicted, or assumed for row kernels without a prediction."""


class BlockCosts:
    """Costs, and floors of lines. Remembers by the names of steps, row kernels and values: in a function and
    its variants a name stands for one thing, whatever kernels are chosen."""

    def __init__(self) -> None:
        self._costs: dict[_Key, BlockCost] = {}
        self._floors: dict[str | None, dict[_Step, _Grown]] = {}

    def growing(self, streamed: str | None) -> "_Growing":
        """A block without any step, to grow at its front."""
        return _Growing(self._floors.setdefault(streamed, {}), streamed)

    def cost(self, inner: Sequence[PrimFunc], grid: Grid, streamed: str | None) -> BlockCost:
        """Simulate the block of these steps in these patches, and return its cost."""
        key = _key(inner, grid, streamed)
        if key not in self._costs:
            planned = fused.layout(inner, grid, streamed)
            shared = fused.workspace(inner)
            self._costs[key] = BlockCost(
                own_bytes=sum(planned.line_bytes) + (shared.size_bytes if shared else 0),
                sharing=fused.sharing(inner, planned),
                extra_macs=max(0, macs(inner, planned) - sum(prim.macs for prim in inner)),
                instructions=work(inner, [estimated_work(prim) for prim in inner], planned),
            )
        return self._costs[key]


def _key(inner: Sequence[PrimFunc], grid: Grid, streamed: str | None) -> _Key:
    return tuple(_named(prim) for prim in inner), grid, streamed


def _named(prim: PrimFunc) -> _Step:
    assert prim.rows is not None
    return (
        prim.name,
        prim.kernel,
        prim.rows.symbol,
        *(arg.name for arg in prim.let.call.args if isinstance(arg, Var)),
    )


STRIPES = (1, 2, 3, 4, 6, 8)
"""Numbers of stripes as high as the result that are tried; more than one where recomputation is allowed."""
_PATCHES = (
    Grid(stripes=4, band_rows=4),
    Grid(stripes=4, band_rows=2),
    Grid(stripes=8, band_rows=2),
    Grid(stripes=8, band_rows=1),
    Grid(stripes=16, band_rows=1),
)
"""Patches that are tried where rows are delivered."""
_INNER_PATCHES = (Grid(stripes=8, band_rows=1),)
"""Patches of other blocks, in which bands only let the result lie over more of an argument."""
_STRIPED = tuple(Grid(stripes=stripes) for stripes in STRIPES)
GRIDS = (*_STRIPED, *_PATCHES)
"""Grids that are tried."""
DELIVERED_GRIDS = frozenset({WHOLE, *_PATCHES})
"""Grids that are tried for blocks to which rows are delivered."""
INNER_GRIDS = frozenset({*_STRIPED, *_INNER_PATCHES})
"""Grids that are tried for all other blocks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Grown:
    """Floors that the steps of a block alone decide, by grid."""

    arguments: tuple[Var, ...]
    lines_bytes: tuple[int, ...]
    instructions: tuple[int, ...]
    macs: tuple[int, ...]
    overlap_bytes: Mapping[str, tuple[int, ...]]
    """By argument."""
    longer: dict[_Step, "_Grown"] = field(default_factory=lambda: dict[_Step, _Grown]())
    """By the next step in front, as far as anybody asked."""


class _Growing:
    """A block that grows at its front: what is known of such steps is not found again."""

    def __init__(self, known: dict[_Step, _Grown], streamed: str | None) -> None:
        self._known = known
        self._lines = LineFloor(streamed, GRIDS)
        self._behind: list[PrimFunc] = []
        """Steps that the lines have not seen yet."""

    def grow(self, prim: PrimFunc) -> _Grown:
        """Put `prim` in front of the steps so far."""
        step = _named(prim)
        self._behind.append(prim)
        if step not in self._known:
            self._known[step] = self._simulated()
        grown = self._known[step]
        self._known = grown.longer
        return grown

    def _simulated(self) -> _Grown:
        for prim in self._behind:
            self._lines.grow(prim)
        self._behind.clear()
        arguments = self._lines.arguments
        return _Grown(
            arguments=arguments,
            lines_bytes=self._lines.bytes,
            instructions=self._lines.instructions,
            macs=self._lines.macs,
            overlap_bytes={argument.name: self._lines.overlap_bytes(argument) for argument in arguments},
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Floor:
    """A block of steps [start, stop) that may be: by grid of `GRIDS` what it needs and costs at least."""

    start: int
    lines_bytes: tuple[int, ...]
    needs_bytes: tuple[int, ...]
    instructions: tuple[int, ...]
    extra_macs: tuple[int, ...]
    longer_bytes: int
    """A longer block that ends with the same step needs so much besides lines, which are no fewer."""


class BlockFloors:
    """The blocks of one function; `streamed` is the input that `readers` read row by row."""

    def __init__(
        self,
        runs: BlockRuns,
        steps: Sequence[PrimFunc | None],
        lives: Lifetimes,
        streamed: str | None,
        readers: frozenset[int],
        costs: BlockCosts,
    ) -> None:
        self._runs, self._steps, self._lives = runs, steps, lives
        self._streamed, self._readers, self._costs = streamed, readers, costs
        self._floors: dict[int, list[Floor]] = {}
        self._more: dict[int, Iterator[Floor]] = {}

    def within(self, stop: int, most_bytes: int, places: Sequence[int]) -> Iterator[tuple[Floor, list[int]]]:
        """Blocks that end in front of step `stop`, and in which of these places of `GRIDS` they may need no
        more than the limit; the longest first."""
        if stop not in self._more:
            self._floors[stop], self._more[stop] = [], self._grown(stop)
        floors = self._floors[stop]
        while (
            not floors
            or floors[-1].longer_bytes + min(floors[-1].lines_bytes[i] for i in places) <= most_bytes
        ):
            longer = next(self._more[stop], None)
            if longer is None:
                break
            floors.append(longer)
        for floor in reversed(floors):
            needs = floor.needs_bytes
            within = [place for place in places if needs[place] <= most_bytes]
            if within and self._serves(floor.start, stop):
                yield floor, within

    def shortest_delivered(self) -> tuple[int, int] | None:
        """Start and stop of the shortest block in which all readers of the streamed input run."""
        runs = [
            (start, stop)
            for stop in range(max(self._readers) + 1, len(self._runs) + 1)
            for start in self._runs.starts(stop)
            if start <= min(self._readers)
        ]
        return min(runs, key=lambda pair: pair[1] - pair[0], default=None)

    def _serves(self, start: int, stop: int) -> bool:
        """True if the input can be streamed with this block: all of its readers are in it, or none."""
        if not self._readers:
            return True
        inside = sum(start <= reader < stop for reader in self._readers)
        return inside == len(self._readers) if inside or stop - start == 1 else True

    def _grown(self, stop: int) -> Iterator[Floor]:
        block = self._costs.growing(self._streamed)
        crossing = self._lives.crossing(stop)
        last = self._steps[stop - 1]
        result_bytes = 0 if last is None else self._lives.size_bytes(last.let.var)
        shared_bytes = macs_alone = 0
        for start in self._runs.starts(stop):
            prim = self._steps[start]
            assert prim is not None and prim.rows is not None
            grown = block.grow(prim)
            macs_alone += prim.macs
            if prim.rows.workspace is not None:
                shared_bytes = max(shared_bytes, prim.rows.workspace.size_bytes)
            dying = self._lives.dying(grown.arguments, start, stop)
            crossing -= self._lives.born_bytes(start, stop)
            alone = crossing + sum(dying.values()) + result_bytes + shared_bytes
            # The result may lie over one of what is not needed any more.
            names = [name for name in grown.overlap_bytes if self._lives.roots[name] in dying]
            by_grid = zip(*(grown.overlap_bytes[name] for name in names), strict=True)
            common = [max(overlaps) for overlaps in by_grid] or [0] * len(GRIDS)
            yield Floor(
                start=start,
                lines_bytes=grown.lines_bytes,
                needs_bytes=tuple(
                    alone + lines - most for lines, most in zip(grown.lines_bytes, common, strict=True)
                ),
                instructions=grown.instructions,
                extra_macs=tuple(max(0, with_halo - macs_alone) for with_halo in grown.macs),
                longer_bytes=result_bytes + shared_bytes,
            )
