"""The order of buffers for all sizes of a part of the range, and how far apart they lie in it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from codegen.ir.formulas import Formula, Whole
from codegen.ir.ranged import NamedSizes
from codegen.plan.place.orientation import (
    Circular,
    Orientation,
    Pair,
    apart,
    below_all,
    distances,
    orientation,
    placed,
)
from codegen.plan.place.planners import Planner
from codegen.program.problem import MemoryPlan, Problem
from codegen.search.ranges.members import Member

_APART = -(1 << 40)
"""Distance of two buffers that are in no conflict."""

BEYOND = 1 << 40
"""Bytes of what is not to be taken."""

_WEIGHED = 24
"""Members at which orders of buffers are compared."""

_ASKED = 6
"""Of these so many are planned by themselves, for orders to compare."""


def weighed(members: Sequence[Member]) -> Sequence[Member]:
    """The members at which orders of buffers are compared."""
    return members[:: max(1, len(members) // _WEIGHED)]


def pairs_of(members: Sequence[Member]) -> list[Pair]:
    """Two buffers each that are in conflict at any of the members."""
    return list(dict.fromkeys((each.first, each.second) for m in members for each in m.problem.conflicts))


def orders(
    plan: MemoryPlan | None,
    members: Sequence[Member],
    planner: Planner,
    pairs: Iterable[Pair],
    lowest: frozenset[str],
) -> list[Orientation]:
    """Orders to choose from: that of `plan`, of the last member, and those of plans at smaller sizes; in all
    of them the buffers `lowest` lie below all others."""
    pairs, found, largest = list(pairs), list[Orientation](), members[-1].problem

    def ordered(problem: Problem, plan: MemoryPlan) -> Orientation:
        return orientation(problem, below_all(problem, plan, lowest), pairs)

    try:
        found.append(ordered(largest, plan or planner(largest)))
    except Circular:
        problem = apart(largest)
        found.append(ordered(problem, planner(problem)))
    few = weighed(members)
    for each in few[:: max(1, len(few) // _ASKED)]:
        try:
            found.append(ordered(each.problem, planner(each.problem)))
        except (Circular, ValueError):
            continue
    return found


def orders_of_parts(
    plan: MemoryPlan,
    members: Sequence[Member],
    parts: Sequence[int],
    planner: Planner,
    lowest: frozenset[str] = frozenset(),
) -> list[Orientation]:
    """The order of each part of the range; `parts`: in which one each member is. `plan` is of the last.

    In the last part it is, of the orders that need fewest bytes at the largest sizes, the one that needs
    fewest over all its members; in the others simply the latter. Orders come from plans at several sizes.
    All have the same buffers in each pool, `lowest` below the others.
    """
    pairs = pairs_of(members)
    own = [[m for m, at in zip(members, parts, strict=True) if at == part] for part in range(max(parts) + 1)]
    last = nearest(at_the_end(orders(plan, own[-1], planner, pairs, lowest), members[-1]), own[-1])
    found = [last]
    for each in reversed(own[:-1]):
        able = [order for order in orders(None, each, planner, pairs, lowest) if order.pools == last.pools]
        found.insert(0, nearest([*able, last], each) if each else last)
    return [_only(order, each) for order, each in zip(found, own, strict=True)]


def _only(given: Orientation, members: Sequence[Member]) -> Orientation:
    """`given` without those below a buffer that are in conflict with it at none of the members: such as a
    workspace of a kernel that does not run there."""
    known = {frozenset(pair) for pair in pairs_of(members)} if members else set[frozenset[str]]()
    below = {id_: tuple(o for o in lows if frozenset((id_, o)) in known) for id_, lows in given.below.items()}
    return replace(given, below=below)


def at_the_end(found: Sequence[Orientation], last: Member) -> list[Orientation]:
    """Those of some orders that need fewest bytes at `last`."""
    peaks = [peak(given, last) for given in found]
    return [given for given, own in zip(found, peaks, strict=True) if own == min(peaks)]


def nearest(found: Sequence[Orientation], members: Sequence[Member]) -> Orientation:
    """The one of some orders that needs fewest bytes over all members."""
    return min(found, key=lambda given: sum(peak(given, each) for each in weighed(members)))


def peak(given: Orientation, found: Member) -> int:
    """Where the last byte of a member ends, its buffers in this order; `BEYOND` where a pool is too small."""
    places = placed(given, found.problem)
    limits = {pool.name: pool.limit_bytes for pool in found.problem.pools}
    ends = [(places[b.id].pool, places[b.id].offset + b.size_bytes) for b in found.problem.buffers]
    if any(end > limits[pool] for pool, end in ends):
        return BEYOND
    return max((end for _, end in ends), default=0)


Distances = Mapping[Pair, tuple[Formula, Whole]]
"""(lower, upper) -> how far apart they begin, as a formula and at every member."""


def least_distances(given: Sequence[Orientation], members: Sequence[Member], names: NamedSizes) -> Distances:
    """Of every two buffers in conflict, in the order `given` for each part of the range. Where no formula
    gives a distance, one gives a little more: the two lie apart all the more."""
    known = [distances(each.problem) for each in members]
    where: dict[Pair, list[int]] = {}
    for part, order in enumerate(given):
        for high in order.order:
            for low in order.below[high]:
                where.setdefault((low, high), []).append(part)
    found: dict[Pair, tuple[Formula, Whole]] = {}
    for pair, parts in where.items():
        own = np.array([each.get(pair, _APART) for each in known], np.int64)
        bound = (own != _APART) & np.isin(names.parts, parts)
        fitter = names.fitter.of(bound)
        formula = fitter.formula(own[bound])
        formula = formula or names.fitter.at_least(own, bound)
        found[pair] = formula, names.value(formula)
    return found
