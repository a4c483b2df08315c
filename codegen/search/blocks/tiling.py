"""Chooses blocks: which runs of steps go row by row, cut into which patches; and kernels of the other steps.

A step (or block) needs the values that live through it, its arguments, its result and its own bytes. None of
that depends on how other steps are grouped, so the grouping with the least largest need is found exactly by
dynamic programming over the steps. Overlap chains across steps are left to the planner: needs count the
overlap of one result with one argument.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from codegen.ir import Function, Var
from codegen.kernels import fused
from codegen.kernels.base.portable_work import estimated_work
from codegen.kernels.contract import Sharing
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rows import WHOLE, Grid
from codegen.plan.clock import Clock
from codegen.search.blocks.block_costs import (
    DELIVERED_GRIDS,
    GRIDS,
    INNER_GRIDS,
    BlockCosts,
    BlockFloors,
    Floor,
)
from codegen.search.blocks.covers import Covers, Price, Unit
from codegen.search.blocks.row_blocks import BlockRuns, Segment
from codegen.search.steps.recompute import Need
from codegen.search.steps.schedule import Lifetimes


@dataclass(frozen=True, kw_only=True, slots=True)
class Tiling:
    """Disjoint segments in order; the largest need in bytes of any step, the extra multiply-accumulates."""

    segments: tuple[Segment, ...]
    need_bytes: int
    extra_macs: int
    instructions: int
    kernels: Mapping[int, PrimFunc]
    """By step those of steps outside of blocks, where they are not the function's own."""


_FINE = 16
"""The last tilings from fast to small are made for needs in equal ratios, so that they reach the least."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepKernels:
    """Kernels that may run each step of a function."""

    chosen: Sequence[PrimFunc]
    as_rows: Sequence[PrimFunc | None]
    """The steps as a block would run them (`row_steps`)."""
    others: Mapping[int, Sequence[PrimFunc]] = field(default_factory=dict[int, Sequence[PrimFunc]])
    """Step -> further kernels that may run it outside of blocks."""
    in_patches: bool = True
    """Blocks may be cut into bands of rows, too."""


class Tiler:
    """Finds tilings of one function."""

    def __init__(
        self,
        function: Function,
        kernels: StepKernels,
        lifetimes: Lifetimes,
        *,
        costs: BlockCosts | None = None,
        overlap: bool = True,
        clock: Clock | None = None,
    ) -> None:
        """`overlap`: the result of a block may lie over its arguments. `clock`: once it is late, blocks that
        nobody has simulated yet are left out."""
        prim_funcs, steps = kernels.chosen, kernels.as_rows
        self._streamed = streamed = lifetimes.streamed
        self._patches = kernels.in_patches
        self._clock = clock or Clock()
        self._costs, self._overlap = costs or BlockCosts(), overlap
        self._prims = prim_funcs
        self._steps = steps
        self._lives = lifetimes
        self._plain = [self._plain_unit(step, prim) for step, prim in enumerate(prim_funcs)]
        self._others = [
            self._plain_unit(step, prim) for step, prims in kernels.others.items() for prim in prims
        ]
        readers = function.uses().get(streamed, []) if streamed else []
        images = [param.type.shape[:1] for param in function.params if param.name == streamed]
        self._is_one_image = images == [(1,)]
        self._readers = frozenset(readers)
        runs = BlockRuns(function, steps)
        self._floors = BlockFloors(runs, steps, lifetimes, streamed, self._readers, self._costs)
        self._blocks: dict[tuple[int, int, Grid], Unit] = {}
        """By start, stop and patches: simulated, or as far as it is known."""
        self._leasts: dict[bool, Tiling] = {}

    @property
    def plain_bytes(self) -> int:
        """The largest need without any block."""
        return max((unit.need_bytes for unit in self._plain), default=0)

    @cached_property
    def least_bytes(self) -> int:
        """A floor of the bytes of every tiling, those of variants too whose steps are these, some twice."""
        alone = [prim for prim, row in zip(self._prims, self._steps, strict=True) if row is None]
        return self._lives.least_bytes(alone)

    @cached_property
    def can_stream(self) -> bool:
        """True if the streamed input is one image, whose readers can all run in one block."""
        is_read = bool(self._readers) and self._is_one_image
        return is_read and self._floors.shortest_delivered() is not None

    @cached_property
    def _reached_bytes(self) -> int:
        """A largest need that some tiling without stripes has."""
        if not self._readers:
            return self.plain_bytes
        shortest = self._floors.shortest_delivered()
        if shortest is None:
            raise ValueError("no block can stream the input")
        start, stop = shortest
        needs = [unit.need_bytes for unit in self._plain if not start <= unit.start < stop]
        return max([*needs, self._exact(start, stop, WHOLE).need_bytes])

    def smallest(self, *, recompute: bool) -> Tiling:
        """The tiling with the least largest need; among equals the one with least extra work."""
        if recompute not in self._leasts:
            self._leasts[recompute] = self._smallest_tiling(recompute=recompute)
        return self._leasts[recompute]

    def _smallest_tiling(self, *, recompute: bool) -> Tiling:
        chosen = self._smallest_cover(recompute=recompute)
        need = max((unit.need_bytes for unit in chosen), default=0)
        tiling = self.within(need, recompute=recompute)
        assert tiling is not None, "the least need is reached by a tiling"
        return tiling

    def _smallest_cover(self, *, recompute: bool, below_bytes: int | None = None) -> list[Unit]:
        """The cover with the least largest need; with `below_bytes` none if that is not lower."""
        most_bytes = self._reached_bytes
        if recompute and below_bytes is None:
            # What does without stripes is a limit for what may have them, and mostly known.
            most_bytes = self.smallest(recompute=False).need_bytes
        if below_bytes is not None:
            most_bytes = min(most_bytes, below_bytes - 1)
        return self._assigned_units(most_bytes, recompute=recompute, price=None)

    def capped(self, most_macs: int) -> Tiling:
        """The tiling with the least largest need (to one part in 256) for at most so much extra work."""
        best, smallest = self.smallest(recompute=False), self.smallest(recompute=True)
        if smallest.extra_macs <= most_macs:
            return smallest
        low = smallest.need_bytes
        while best.need_bytes - low > max(best.need_bytes // 256, 1):
            middle = (low + best.need_bytes) // 2
            tiling = self.within(middle, recompute=True)
            if tiling is not None and tiling.extra_macs <= most_macs:
                best = tiling
            else:
                low = middle
        return best

    def needs(self, *, recompute: bool, below_bytes: int | None = None) -> tuple[Need, ...]:
        """Needs of steps and blocks, in order, in a tiling with the least largest need. With `below_bytes`,
        one need of so many bytes stands for all as soon as that need is known not to be lower."""
        chosen = self._smallest_cover(recompute=recompute, below_bytes=below_bytes)
        if below_bytes is not None and self._prims and not chosen:
            return (Need(start=0, stop=len(self._prims), bytes=below_bytes),)
        return tuple(Need(start=unit.start, stop=unit.stop, bytes=unit.need_bytes) for unit in chosen)

    def within(self, most_bytes: int, *, recompute: bool) -> Tiling | None:
        """The tiling of least extra work in which no step needs more; None if there is none."""
        return self._cheapest(most_bytes, recompute, lambda unit: unit.extra_macs)

    def from_fast_to_small(self, most_steps: int) -> Iterator[Tiling]:
        """Tilings of fewest instructions, each with a lower largest need than the one before it. At the end
        one whose steps need least: chains of overlaps may then be lower.

        `most_steps`: how many steps all of them may have together. Beyond, needs are left out.
        """
        most_bytes = self._most_bytes
        smallest = self._assigned_units(most_bytes, recompute=True, price=None)
        least_bytes = max((unit.need_bytes for unit in smallest), default=0)
        left = max(most_steps // max(len(self._prims), 1), 1)
        covers = self._covers(most_bytes, recompute=True, price=lambda unit: unit.instructions)
        while tiling := self._tiling(self._exact_cover(covers)):
            yield tiling
            if tiling.need_bytes <= least_bytes:
                break
            # What is left of the way down, in as many equal ratios as may be tried.
            left = max(left - 1, 1)
            ratio = (least_bytes / tiling.need_bytes) ** (1 / left) if left <= _FINE else 1.0
            covers.limit(max(min(tiling.need_bytes - 1, int(tiling.need_bytes * ratio)), least_bytes))
        needs = self._covers(
            least_bytes, recompute=True, price=lambda unit: unit.need_bytes * (unit.stop - unit.start)
        )
        needs.leave_out_guesses()
        if leanest := self._tiling(needs.best()):
            yield leanest

    @property
    def _most_bytes(self) -> int:
        """The largest need of any unit that may have to be taken."""
        others = max((unit.need_bytes for unit in self._others), default=0)
        return max(self._reached_bytes, self.plain_bytes, others)

    def _cheapest(self, most_bytes: int, recompute: bool, price: Price) -> Tiling | None:
        return self._tiling(self._assigned_units(most_bytes, recompute=recompute, price=price))

    def _tiling(self, chosen: Sequence[Unit]) -> Tiling | None:
        """These units as a tiling; None if they cover nothing though there are steps."""
        if not chosen and self._prims:
            return None
        return Tiling(
            instructions=sum(unit.instructions for unit in chosen),
            kernels={
                unit.start: unit.kernel
                for unit in chosen
                if unit.kernel is not None and unit.kernel is not self._prims[unit.start]
            },
            segments=tuple(unit.segment for unit in chosen if unit.segment),
            need_bytes=max((unit.need_bytes for unit in chosen), default=0),
            extra_macs=sum(unit.extra_macs for unit in chosen),
        )

    def _assigned_units(self, most_bytes: int, *, recompute: bool, price: Price | None) -> list[Unit]:
        """The best cover within the limit."""
        return self._exact_cover(self._covers(most_bytes, recompute=recompute, price=price))

    def _covers(self, most_bytes: int, *, recompute: bool, price: Price | None) -> Covers:
        return Covers(self._units(most_bytes, recompute=recompute), len(self._prims), most_bytes, price)

    def _exact_cover(self, covers: Covers) -> list[Unit]:
        """The best of `covers`, blocks simulated as it asks for them.

        Floors only ever rise: once a cover is exact throughout it is the best.
        """
        while True:
            chosen = covers.best()
            guessed = [unit for unit in chosen if not unit.is_exact]
            if not guessed:
                return chosen
            if self._clock.late():
                covers.leave_out_guesses()
                return covers.best()
            for unit in guessed:
                covers.put(unit, self._simulated(unit))

    def _simulated(self, unit: Unit) -> Unit:
        assert unit.segment is not None, "a plain step is no guess"
        return self._exact(unit.start, unit.stop, unit.segment.grid)

    def _units(self, most_bytes: int, *, recompute: bool) -> list[Unit]:
        """Plain steps, and with what is known of them all blocks that may need no more than the limit."""
        plain = (unit for known in (self._plain, self._others) for unit in known)
        units = [unit for unit in plain if unit.start not in self._readers]
        for stop in range(1, len(self._prims) + 1):
            places = self._places(self._prims[stop - 1].let.var) if recompute else (0,)
            for floor, within in self._floors.within(stop, most_bytes, places):
                able = INNER_GRIDS if self._delivered(floor.start, stop) is None else DELIVERED_GRIDS
                for place in within:
                    grid = GRIDS[place]
                    if grid in able:
                        unit = self._blocks.get((floor.start, stop, grid))
                        units.append(self._guess(floor, stop, place) if unit is None else unit)
        return units

    def _places(self, result: Var) -> list[int]:
        """Places in `GRIDS` of those into which this result may be cut."""
        columns = max(result.type.shape[2:3], default=1)
        able = [grid.stripes <= columns and (self._patches or grid.band_rows is None) for grid in GRIDS]
        return [place for place, is_able in enumerate(able) if is_able]

    def _guess(self, floor: Floor, stop: int, place: int) -> Unit:
        """A unit of the floors of a block in one of `GRIDS`."""
        grid = GRIDS[place]
        unit = Unit(
            start=floor.start,
            stop=stop,
            need_bytes=floor.needs_bytes[place],
            instructions=floor.instructions[place],
            extra_macs=floor.extra_macs[place],
            segment=self._segment(floor.start, stop, grid),
            is_exact=False,
        )
        self._blocks[floor.start, stop, grid] = unit
        return unit

    def _exact(self, start: int, stop: int, grid: Grid) -> Unit:
        """The block with its exact need, simulated once."""
        known = self._blocks.get((start, stop, grid))
        if known is None or not known.is_exact:
            known = self._blocks[start, stop, grid] = self._block_unit(start, stop, grid)
        return known

    def _delivered(self, start: int, stop: int) -> str | None:
        """The streamed input if steps [start, stop) read it."""
        return self._streamed if not self._readers.isdisjoint(range(start, stop)) else None

    def _segment(self, start: int, stop: int, grid: Grid) -> Segment:
        return Segment(start=start, stop=stop, grid=grid, streamed=self._delivered(start, stop))

    def _inner(self, start: int, stop: int) -> list[PrimFunc]:
        return [step for step in self._steps[start:stop] if step is not None]

    def _block_unit(self, start: int, stop: int, grid: Grid) -> Unit:
        inner = self._inner(start, stop)
        cost = self._costs.cost(inner, grid, self._delivered(start, stop))
        args = fused.outside(inner)
        rules = cost.sharing if self._overlap else ()
        need = cost.own_bytes + self._together(args, self._prims[stop - 1].let.var, rules, start, stop)
        return Unit(
            start=start,
            stop=stop,
            need_bytes=self._lives.through(start, stop) + need,
            extra_macs=cost.extra_macs,
            instructions=cost.instructions,
            segment=self._segment(start, stop, grid),
        )

    def _plain_unit(self, step: int, prim: PrimFunc) -> Unit:
        need = self._lives.through(step, step + 1)
        if prim.view is None:
            args = [arg for arg in prim.let.call.args if isinstance(arg, Var)]
            need += sum(space.size_bytes for space in prim.workspaces)
            if prim.in_place is not None and self._lives.roots[prim.let.var.name] == prim.let.var.name:
                # Another kernel than those whose lifetimes these are: the result lies in a dying argument.
                need += sum(self._lives.dying(args, step, step + 1).values())
            elif max(prim.argument_stops, default=0) <= prim.result_start:
                dying = self._lives.dying(args, step, step + 1)
                need += max(sum(dying.values()), self._lives.size_bytes(prim.let.var))
            else:
                need += self._together(args, prim.let.var, prim.sharing, step, step + 1)
        instructions = estimated_work(prim) if prim.is_call else 0
        return Unit(start=step, stop=step + 1, need_bytes=need, instructions=instructions, kernel=prim)

    def _together(
        self, args: Sequence[Var], result: Var, rules: Sequence[Sharing], start: int, stop: int
    ) -> int:
        """Bytes of dying arguments and result, the result over the argument where that gains most."""
        dying, result_bytes = self._lives.dying(args, start, stop), self._lives.size_bytes(result)
        saved = 0
        by_argument = {rule.argument: rule for rule in rules}
        for root, size in dying.items():
            readers = [index for index, arg in enumerate(args) if self._lives.roots[arg.name] == root]
            shared = [by_argument[i] for i in readers if i in by_argument]
            if len(shared) == len(readers):
                saved = max(saved, size + result_bytes - _extent(shared, size, result_bytes))
        return sum(dying.values()) + result_bytes - saved


def _extent(rules: Sequence[Sharing], argument_bytes: int, result_bytes: int) -> int:
    """Bytes that an argument and the result cover together, on the better side that all rules permit."""
    extents = [argument_bytes + result_bytes]
    below = [rule.below for rule in rules if rule.below is not None]
    if len(below) == len(rules):
        extents.append(max(result_bytes, max((0, *below)) + argument_bytes))
    above = [rule.above for rule in rules if rule.above is not None]
    if len(above) == len(rules):
        extents.append(max(argument_bytes, max((0, *above)) + result_bytes))
    return min(extents)
