"""Chooses blocks: which runs of steps go row by row, and in how many stripes of columns.

A step (or block) needs the values that live through it, its arguments, its result and its own bytes. None of
that depends on how other steps are grouped, so the grouping with the least largest need is found exactly by
dynamic programming over the steps. Overlap chains across steps are left to the planner: needs count the
overlap of one result with one argument.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from codegen.ir import Function, Var
from codegen.kernels import fused
from codegen.kernels.contract import Sharing
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.clock import Clock
from codegen.search.blocks.block_costs import BlockCosts
from codegen.search.blocks.block_floors import BlockFloors, Floor
from codegen.search.blocks.row_blocks import Runs, Segment
from codegen.search.steps.lifetimes import Lifetimes
from codegen.search.steps.recompute import Need

STRIPES = (2, 3, 4, 6, 8)
"""Numbers of stripes that are tried where recomputation is allowed."""

_Key = tuple[int, int, int]
"""Start, stop, stripes (0: a plain step)."""
_Price = tuple[int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Tiling:
    """Disjoint segments in order; the largest need in bytes of any step, the extra multiply-accumulates."""

    segments: tuple[Segment, ...]
    need_bytes: int
    extra_macs: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Unit:
    """Steps [start, stop) as they may run. `segment` is None for a plain step.

    While `is_exact` is not set, need and extra work are floors: nobody has simulated the block yet.
    """

    start: int
    stop: int
    need_bytes: int
    extra_macs: int = 0
    segment: Segment | None = None
    is_exact: bool = True

    @property
    def cost(self) -> tuple[int, int]:
        """What a tiling within a budget pays: extra MACs, then steps that run in blocks."""
        return (self.extra_macs, self.stop - self.start if self.segment else 0)


class Tiler:
    """Finds tilings of one function. `steps` are its steps as a block would run them (`row_steps`)."""

    def __init__(
        self,
        function: Function,
        prim_funcs: Sequence[PrimFunc],
        steps: Sequence[PrimFunc | None],
        lifetimes: Lifetimes,
        streamed: str | None = None,
        *,
        costs: BlockCosts | None = None,
        overlap: bool = True,
        clock: Clock | None = None,
    ) -> None:
        """`streamed`: the graph input that is delivered row by row. `overlap`: the result of a block may lie
        over its arguments. `clock`: once it is late, blocks that nobody has simulated yet are left out."""
        self._streamed = streamed
        self._clock = clock or Clock()
        self._costs, self._overlap = costs or BlockCosts(), overlap
        self._prims = prim_funcs
        self._steps = steps
        self._lives = lifetimes
        self._plain = [self._plain_unit(step) for step in range(len(prim_funcs))]
        readers = function.uses().get(streamed, []) if streamed else []
        self._readers = frozenset(readers)
        self._floors = BlockFloors(Runs(function, steps), steps, lifetimes, streamed, self._readers)
        self._simulated: dict[_Key, _Unit] = {}
        self._leasts: dict[bool, Tiling] = {}

    @property
    def plain_bytes(self) -> int:
        """The largest need without any block."""
        return max((unit.need_bytes for unit in self._plain), default=0)

    @cached_property
    def can_stream(self) -> bool:
        """Whether the streamed input's readers can all run in one block."""
        return bool(self._readers) and self._floors.shortest_delivered() is not None

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
        return max(*needs, self._exact(start, stop, 1).need_bytes)

    def smallest(self, *, recompute: bool) -> Tiling:
        """The tiling with the least largest need; among equals the one with least extra work."""
        if recompute not in self._leasts:
            self._leasts[recompute] = self._smallest_tiling(recompute=recompute)
        return self._leasts[recompute]

    def _smallest_tiling(self, *, recompute: bool) -> Tiling:
        chosen = self._assigned_units(_smallest_units, self._units(self._reached_bytes, recompute=recompute))
        need = max((unit.need_bytes for unit in chosen), default=0)
        found = self.within(need, recompute=recompute)
        assert found is not None, "the least need is reached by a tiling"
        return found

    def capped(self, most_macs: int) -> Tiling:
        """The tiling with the least largest need (to one part in 256) for at most so much extra work."""
        best, smallest = self.smallest(recompute=False), self.smallest(recompute=True)
        if smallest.extra_macs <= most_macs:
            return smallest
        low = smallest.need_bytes
        while best.need_bytes - low > max(best.need_bytes // 256, 1):
            middle = (low + best.need_bytes) // 2
            found = self.within(middle, recompute=True)
            if found is not None and found.extra_macs <= most_macs:
                best = found
            else:
                low = middle
        return best

    def needs(self, *, recompute: bool, below_bytes: int | None = None) -> tuple[Need, ...]:
        """Of every step or block, in order, in a tiling with the least largest need; `below_bytes`: floors
        of them will do as soon as that need is known not to be lower."""
        chosen = self._assigned_units(
            _smallest_units, self._units(self._reached_bytes, recompute=recompute), below_bytes
        )
        return tuple(Need(start=unit.start, stop=unit.stop, bytes=unit.need_bytes) for unit in chosen)

    def within(self, limit_bytes: int, *, recompute: bool) -> Tiling | None:
        """The tiling of least extra work in which no step needs more; None if there is none."""

        def cheapest(units: Iterable[_Unit], count: int) -> list[_Unit]:
            return _cheapest([unit for unit in units if unit.need_bytes <= limit_bytes], count)

        chosen = self._assigned_units(cheapest, self._units(limit_bytes, recompute=recompute))
        if not chosen and self._prims:
            return None
        return Tiling(
            segments=tuple(unit.segment for unit in chosen if unit.segment),
            need_bytes=max((unit.need_bytes for unit in chosen), default=0),
            extra_macs=sum(unit.extra_macs for unit in chosen),
        )

    def _assigned_units(
        self,
        solve: Callable[[Iterable[_Unit], int], list[_Unit]],
        units: dict[_Key, _Unit],
        below_bytes: int | None = None,
    ) -> list[_Unit]:
        """`solve`'s cover, blocks simulated as it asks for them: floors only ever rise, so once a cover is
        exact throughout it is the best. With `below_bytes`, a cover that needs as much will do."""
        while True:
            chosen = solve(units.values(), len(self._prims))
            guessed = [unit.segment for unit in chosen if unit.segment and not unit.is_exact]
            most = max((unit.need_bytes for unit in chosen), default=0)
            if not guessed or (below_bytes is not None and most >= below_bytes):
                return chosen
            if self._clock.late():
                return solve([unit for unit in units.values() if unit.is_exact], len(self._prims))
            for segment in guessed:
                key = (segment.start, segment.stop, segment.stripes)
                units[key] = self._exact(*key)

    def _units(self, limit_bytes: int, *, recompute: bool) -> dict[_Key, _Unit]:
        """Plain steps, and with what is known of them all blocks that may need no more than the limit."""
        found = {(u.start, u.stop, 0): u for u in self._plain if u.start not in self._readers}
        for stop in range(1, len(self._prims) + 1):
            columns = self._prims[stop - 1].let.var.type.shape[2:3]
            stripe_counts = [n for n in (1, *STRIPES) if recompute and n <= max(columns, default=0)] or [1]
            for floor in self._floors.within(stop, limit_bytes, stripe_counts[-1]):
                for stripes in stripe_counts if self._delivered(floor.start, stop) is None else (1,):
                    key = (floor.start, stop, stripes)
                    unit = self._simulated.get(key) or self._guess(floor, stop, stripes)
                    if unit.need_bytes <= limit_bytes:
                        found[key] = unit
        return found

    def _guess(self, floor: Floor, stop: int, stripes: int) -> _Unit:
        """What a block needs at least: every stage's reader has all rows of its window there at once."""
        return _Unit(
            start=floor.start,
            stop=stop,
            need_bytes=floor.need_bytes(stripes),
            segment=self._segment(floor.start, stop, stripes),
            is_exact=False,
        )

    def _exact(self, start: int, stop: int, stripes: int) -> _Unit:
        """What a block needs, simulated once."""
        key = (start, stop, stripes)
        if key not in self._simulated:
            self._simulated[key] = self._block_unit(*key)
        return self._simulated[key]

    def _delivered(self, start: int, stop: int) -> str | None:
        """The streamed input if steps [start, stop) read it."""
        return self._streamed if not self._readers.isdisjoint(range(start, stop)) else None

    def _segment(self, start: int, stop: int, stripes: int) -> Segment:
        return Segment(start=start, stop=stop, stripes=stripes, streamed=self._delivered(start, stop))

    def _inner(self, start: int, stop: int) -> list[PrimFunc]:
        return [step for step in self._steps[start:stop] if step is not None]

    def _block_unit(self, start: int, stop: int, stripes: int) -> _Unit:
        inner = self._inner(start, stop)
        cost = self._costs.cost(inner, stripes, self._delivered(start, stop))
        args = fused.outside(inner)
        rules = cost.sharing if self._overlap else ()
        need = cost.own_bytes + self._together(args, self._prims[stop - 1].let.var, rules, start, stop)
        return _Unit(
            start=start,
            stop=stop,
            need_bytes=self._lives.through(start, stop) + need,
            extra_macs=cost.extra_macs,
            segment=self._segment(start, stop, stripes),
        )

    def _plain_unit(self, step: int) -> _Unit:
        prim = self._prims[step]
        need = self._lives.through(step, step + 1)
        if prim.view is None:
            args = [arg for arg in prim.let.call.args if isinstance(arg, Var)]
            need += sum(space.size_bytes for space in prim.workspaces)
            if max(prim.argument_stops, default=0) <= prim.result_start:
                dying = self._lives.dying(args, step, step + 1)
                need += max(sum(dying.values()), self._lives.size_bytes(prim.let.var))
            else:
                need += self._together(args, prim.let.var, prim.sharing, step, step + 1)
        return _Unit(start=step, stop=step + 1, need_bytes=need)

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


def _by_stop(units: Iterable[_Unit]) -> Mapping[int, list[_Unit]]:
    found: dict[int, list[_Unit]] = {}
    for unit in units:
        found.setdefault(unit.stop, []).append(unit)
    return found


def _smallest_units(units: Iterable[_Unit], count: int) -> list[_Unit]:
    """The cover of steps [0, count) whose largest need is least."""
    return _cover(_by_stop(units), count, lambda unit: (unit.need_bytes, 0), _larger)


def _cheapest(units: Iterable[_Unit], count: int) -> list[_Unit]:
    """The cover of steps [0, count) whose units cost least in sum; empty if there is none."""
    return _cover(_by_stop(units), count, lambda unit: unit.cost, _plus)


def _cover(
    by_stop: Mapping[int, list[_Unit]],
    count: int,
    price: Callable[[_Unit], _Price],
    join: Callable[[_Price, _Price], _Price],
) -> list[_Unit]:
    best: list[tuple[_Price, _Unit | None] | None] = [((0, 0), None)]
    for stop in range(1, count + 1):
        step: tuple[_Price, _Unit | None] | None = None
        for unit in by_stop.get(stop, ()):
            before = best[unit.start]
            if before is not None:
                total = join(before[0], price(unit))
                if step is None or total < step[0]:
                    step = (total, unit)
        best.append(step)
    chosen: list[_Unit] = []
    at = count
    while at:
        end = best[at]
        if end is None or end[1] is None:
            return []
        chosen.append(end[1])
        at = end[1].start
    return chosen[::-1]


def _larger(one: _Price, other: _Price) -> _Price:
    return max(one, other)


def _plus(one: _Price, other: _Price) -> _Price:
    return (one[0] + other[0], one[1] + other[1])
