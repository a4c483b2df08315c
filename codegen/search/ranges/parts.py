"""Parts of a range: each has an order of buffers of its own, and widths of kernels, where that pays."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.errors import CodegenError
from codegen.ir import Module
from codegen.ir.formulas import Sum, evaluate
from codegen.ir.ranged import Unlike
from codegen.plan.place.orientation import Orientation
from codegen.plan.place.planners import Planner
from codegen.program.problem import MemoryPlan
from codegen.program.program import Program
from codegen.search.kernels.binding import Binder
from codegen.search.ranges.buffer_order import (
    BEYOND,
    LargestPools,
    at_the_end,
    largest_pools,
    orders,
    pairs_of,
    peak,
)
from codegen.search.ranges.members import Member, Members, check_alike, lasting
from codegen.search.ranges.siblings import (
    kernels_of,
    with_copies_of,
    with_functions_of,
    with_kernels_of,
    with_layers_of,
)
from codegen.search.ranges.sizes import LookedAt, Sizes

PAYS = 0.02
"""A further part is taken where the mean of all peaks, each over the lowest there is, falls by so much."""

_MOST = 3
"""Parts at most."""

_WEIGHED = 24
"""Sizes at which parts are compared."""

_ASKED = (0, 1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4)
"""Which of these are planned by themselves, for kernels to compare, if the first one needs fewer bytes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RangeCut:
    """Where parts of a range begin, and the program with the kernels of each."""

    quantity: Sum
    """Of the symbols: decides in which part sizes are."""
    starts: tuple[int, ...]
    """Where each part but the first begins."""
    programs: tuple[Program, ...]
    """At the largest sizes; the last one is what the search found for these."""

    def of(self, combinations: Sequence[Mapping[str, int]]) -> list[int]:
        """In which part each combination of sizes is."""
        names = {name for _, product in self.quantity.terms for name in product}
        values = {name: np.array([each[name] for each in combinations], np.int64) for name in names}
        own = np.broadcast_to(evaluate(self.quantity, values), (len(combinations),))
        return np.searchsorted(self.starts, own, side="right").tolist()


def whole(program: Program) -> RangeCut:
    """One part: the whole range."""
    return RangeCut(quantity=Sum(), starts=(), programs=(program,))


def chosen(
    program: Program,
    sizes: Sizes,
    looked: LookedAt,
    members: Members,
    planner: Planner,
    alone: Callable[[Module], Program],
) -> RangeCut:
    """The parts of the range; `alone` plans a module at its sizes. Few where each further one gains little.

    Raises Unlike where the program is another one at some of the sizes.
    """
    count = len(looked.combinations)
    at = [*range(0, count - 1, max(1, count // _WEIGHED)), count - 1]
    weighed = LookedAt(
        combinations=[looked.combinations[i] for i in at], modules=[looked.modules[i] for i in at]
    )
    found = _Candidates(planner)

    pairs = [*zip(weighed.modules, weighed.combinations, strict=True)]
    own = [members.at(program, module, values) for module, values in pairs]
    found.first(program, own)
    lowest = int(found.peaks[:, 0].min())
    is_all = count == len(at)
    binder = members.binder(program, weighed.modules[-1])
    variants = _variants(program, weighed, lowest, binder, alone, planner, is_all=is_all) if count > 1 else ()
    for other, asked in variants:
        there = [_member_like(own[-1], members, other, *each) for each in pairs]
        if is_all or None not in there:
            found.add(other, there, own, asked)
    return found.cut(sizes, weighed)


def _member_like(
    own: Member, members: Members, program: Program, module: Module, values: Mapping[str, int]
) -> Member | None:
    """`program` at the sizes of `module`; None where that is no program with the buffers of `own`."""
    try:
        found = members.at(program, module, values)
        check_alike(own.problem, found.problem)
    except Unlike:
        return None
    return found


def _variants(
    program: Program,
    weighed: LookedAt,
    lowest: int,
    binder: Binder,
    alone: Callable[[Module], Program],
    planner: Planner,
    *,
    is_all: bool,
) -> list[tuple[Program, list[int]]]:
    """`program` with other kernels, as builds for smaller sizes alone have them, and at which of the sizes
    they do; none where the one for the smallest sizes needs about as many bytes as `lowest`. Other C
    functions, and layers of a block one after the other, only where `is_all`: these are all sizes, so that it
    is known which of them they run."""
    found: dict[tuple[str, ...], tuple[Program, list[int]]] = {}
    for share in _ASKED:
        index = int(share * (len(weighed.modules) - 1))
        try:
            other = alone(weighed.modules[index])
        except CodegenError:
            continue
        needed = max(other.memory.peak_bytes(pool.name) for pool in other.memory.problem.pools)
        if share == 0 and needed * (1 + PAYS) > lowest:
            return []
        variants = [with_kernels_of(program, other, binder)]
        if is_all:
            variants += [with_functions_of(program, other, binder)]
            variants += [with_layers_of(each, other, binder, planner) for each in variants]
        for variant in (with_copies_of(each, other) for each in variants):
            found.setdefault(kernels_of(variant), (variant, []))[1].append(index)
    found.pop(kernels_of(program), None)
    return list(found.values())


def _work(members: Sequence[Member]) -> NDArray[np.float64]:
    """Predicted instructions of each of the members, or cycles, as far as there are predictions."""
    return np.array([sum(prim.work or 0 for prim in each.prim_funcs) for each in members], float)


def _copies(program: Program) -> list[int]:
    """The bytes of its copies of constants, none for those that are not made."""
    return [copy.size_bytes for copy in program.constants.staged]


def _calls(program: Program) -> list[str]:
    """The C functions of its steps."""
    return [prim.symbol for prim in program.steps.prim_funcs]


def _peaks(
    orders_: Sequence[Orientation], members: Sequence[Member], there: LargestPools | None
) -> NDArray[np.int64]:
    """Of each order at each member."""
    return np.array([[peak(order, each, there) for each in members] for order in orders_], np.int64)


class _Candidates:
    """Programs and orders of their buffers, and what they need at the sizes at which they are compared."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self._largest: LargestPools | None = None
        self._programs: list[Program] = []
        self._last: list[int] = []
        self._own_count = 0
        self.peaks: NDArray[np.int64] = np.zeros((0, 0), np.int64)

    def first(self, program: Program, members: Sequence[Member]) -> None:
        """The orders of the program that holds the largest sizes."""
        every = self._orders(program, members, program.memory.plan)
        best = at_the_end(every, members[-1])
        self._last = [index for index, each in enumerate(every) if each in best]
        self._largest = largest_pools(best[0], members[-1], lasting(program))
        self.peaks, self._own_count = _peaks(every, members, self._largest), len(every)

    def add(
        self,
        program: Program,
        members: Sequence[Member | None],
        own: Sequence[Member],
        asked: Sequence[int],
    ) -> None:
        """The orders of a program that may take small sizes, None where it cannot. It is taken where it runs
        hardly more instructions than `own`, the members of the first one: no more than at one of the sizes
        `asked`, at which a build for that size alone accepts them. Other C functions are for these alone, and
        copies of constants are left out only where that saves bytes."""
        able = np.array([each is not None for each in members])
        there = [each for each in members if each is not None]
        if not able[list(asked)].any():
            return
        slower = np.zeros(len(members))
        slower[able] = _work(there) - _work([*itertools.compress(own, able)])
        every = self._orders(program, there, None)
        rows = np.full((len(every), len(members)), BEYOND, np.int64)
        rows[:, able] = _peaks(every, there, self._largest)
        accepted = slower <= slower[[index for index in asked if able[index]]].max()
        if _calls(program) != _calls(self._programs[0]):
            accepted &= np.isin(np.arange(len(members)), asked)
        if _copies(program) != _copies(self._programs[0]):
            accepted &= rows.min(axis=0) * (1 + PAYS) <= self.peaks[: self._own_count].min(axis=0)
        self.peaks = np.concatenate([self.peaks, np.where(accepted, rows, BEYOND)])

    def _orders(
        self, program: Program, members: Sequence[Member], plan: MemoryPlan | None
    ) -> list[Orientation]:
        pairs, lowest = pairs_of(members), lasting(program)
        found = orders(plan, members, self._planner, pairs, lowest, self._largest)
        self._programs += [program] * len(found)
        return found

    def cut(self, sizes: Sizes, weighed: LookedAt) -> RangeCut:
        """The range in as many parts as pay."""
        ratios = self.peaks / self.peaks.min(axis=0)
        best, mean = whole(self._programs[0]), float(ratios[self._last].mean(axis=1).min())
        for count in range(2, _MOST + 1):
            ways = [way for each in _quantities(sizes) for way in self._ways(each, weighed, ratios, count)]
            lowest = min(ways, key=lambda way: way[0], default=None)
            if lowest is not None and mean - lowest[0] >= PAYS:
                mean, best = lowest
        return best

    def _ways(
        self, quantity: Sum, weighed: LookedAt, ratios: NDArray[np.float64], count: int
    ) -> Iterator[tuple[float, RangeCut]]:
        """The mean of each way to cut the range by a quantity in `count` parts."""
        names = weighed.combinations[0]
        rows = {name: np.array([each[name] for each in weighed.combinations], np.int64) for name in names}
        values = np.broadcast_to(evaluate(quantity, rows), (ratios.shape[1],))
        order = np.argsort(values, kind="stable")
        sums = np.concatenate([np.zeros((len(ratios), 1)), np.cumsum(ratios[:, order], axis=1)], axis=1)
        ends = [i for i in range(1, len(order)) if values[order[i]] != values[order[i - 1]]]
        for cuts in itertools.combinations(ends, count - 1):
            spans = [*itertools.pairwise((0, *cuts, len(order)))]
            able = [range(len(ratios))] * (count - 1) + [self._last]
            costs = [sums[:, stop] - sums[:, start] for start, stop in spans]
            picked = [min(rows_, key=cost.__getitem__) for rows_, cost in zip(able, costs, strict=True)]
            total = sum(cost[row] for row, cost in zip(picked, costs, strict=True))
            yield (
                float(total) / len(order),
                RangeCut(
                    quantity=quantity,
                    starts=tuple(int(values[order[cut]]) for cut in cuts),
                    programs=tuple(self._programs[row] for row in picked),
                ),
            )


def _quantities(sizes: Sizes) -> Iterator[Sum]:
    """What may decide between parts: a symbol, or the product of two."""
    names = [symbol.name for symbol in sizes.symbols if symbol.count > 1]
    for each in (*((name,) for name in names), *itertools.combinations(names, 2)):
        yield Sum(terms=((1, each),))
