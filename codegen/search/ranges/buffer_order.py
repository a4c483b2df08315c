"""The order of buffers for all sizes of a part of the range, and how far apart they lie in it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from codegen.ir.formulas import Formula, Whole
from codegen.ir.ranged import NamedSizes
from codegen.plan.place.access import buffer_access_cost
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
from codegen.program.problem import Buffer, MemoryPlan, Pool, Problem, limited, peak_bytes
from codegen.program.shortage import DoesNotFit
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


@dataclass(frozen=True, kw_only=True, slots=True)
class LargestPools:
    """What a part of the range may take of the pools: where a buffer lies at the largest sizes, and the bytes
    of each pool there, which the application gives whatever the sizes of a call are."""

    pools: Mapping[str, str]
    """Buffer -> pool, at the largest sizes."""
    limits: Mapping[str, int]
    """Pool -> its bytes."""
    alignments: Mapping[str, int]
    """Pool -> the alignment of its first byte."""
    lowest: frozenset[str]
    """Buffers that lie where they lie at all sizes."""

    def hold(self, given: Orientation, found: Member, ends: Mapping[str, int]) -> bool:
        """Whether a member may lie in the pools of `given`, which take `ends` bytes: what lies elsewhere than
        at the largest sizes costs no more accesses there."""
        moved = [b for b in found.problem.buffers if given.pools[b.id] != self.pools[b.id]]
        if any(ends[name] > limit for name, limit in self.limits.items()):
            return False
        if any(b.id in self.lowest or b.alignment > self.alignments[given.pools[b.id]] for b in moved):
            return False
        pools = {pool.name: pool for pool in found.problem.pools}
        return _cost(moved, given.pools, pools) <= _cost(moved, self.pools, pools)


def largest_pools(given: Orientation, last: Member, lowest: frozenset[str]) -> LargestPools:
    """Those of `given`, the order of the largest sizes, of `last`."""
    pools = {pool.name: pool for pool in last.problem.pools}
    alignments = {name: pool.alignment for name, pool in pools.items()}
    for buffer in last.problem.buffers:
        pool = given.pools[buffer.id]
        alignments[pool] = max(alignments[pool], buffer.alignment)
    return LargestPools(pools=given.pools, limits=_ends(given, last), alignments=alignments, lowest=lowest)


def _cost(buffers: Iterable[Buffer], where: Mapping[str, str], pools: Mapping[str, Pool]) -> int:
    """Of accesses to buffers in their pools."""
    return sum(buffer_access_cost(each, pools[where[each.id]]) for each in buffers)


def orders(
    plan: MemoryPlan | None,
    members: Sequence[Member],
    planner: Planner,
    pairs: Sequence[Pair],
    lowest: frozenset[str],
    there: LargestPools | None = None,
) -> list[Orientation]:
    """Orders to choose from: that of `plan`, of the last member, and those of plans at smaller sizes; in all
    of them the buffers `lowest` lie below all others. Plans at smaller sizes keep to the bytes of `there`, or
    to those of the first order at the last member."""
    found, largest = list[Orientation](), members[-1].problem

    def ordered(problem: Problem, plan: MemoryPlan) -> Orientation:
        return orientation(problem, below_all(problem, plan, lowest), pairs)

    try:
        found.append(ordered(largest, plan or _planned(largest, planner, there)))
    except Circular:
        problem = apart(largest)
        found.append(ordered(problem, planner(problem)))
    there = there or largest_pools(found[0], members[-1], lowest)
    few = weighed(members)
    for each in few[:: max(1, len(few) // _ASKED)]:
        try:
            found.append(ordered(each.problem, _planned(each.problem, planner, there)))
        except (Circular, DoesNotFit, ValueError):
            continue
    return found


def _planned(problem: Problem, planner: Planner, there: LargestPools | None) -> MemoryPlan:
    """A plan, within the bytes of `there` where these suffice."""
    found = planner(problem)
    if there is None or all(peak_bytes(problem, found, name) <= own for name, own in there.limits.items()):
        return found
    try:
        return planner(replace(problem, pools=limited(problem.pools, there.limits)))
    except (DoesNotFit, ValueError):
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
    In the last part buffers have the pools of `plan`, in others also those of these plans, as far as
    `LargestPools` lets them. The buffers `lowest` lie below the others.
    """
    pairs = pairs_of(members)
    own = [[m for m, at in zip(members, parts, strict=True) if at == part] for part in range(max(parts) + 1)]
    last = nearest(at_the_end(orders(plan, own[-1], planner, pairs, lowest), members[-1]), own[-1])
    found, there = [last], largest_pools(last, members[-1], lowest)
    for each in reversed(own[:-1]):
        if not each:
            found.insert(0, last)
            continue
        able = [*orders(None, each, planner, pairs, lowest, there), last]
        found.insert(0, nearest([order for order in able if _is_able(order, each, there)], each))
    return [_only(order, each) for order, each in zip(found, own, strict=True)]


def _is_able(given: Orientation, members: Sequence[Member], there: LargestPools) -> bool:
    """Whether all members may lie in an order."""
    return given.pools == there.pools or all(peak(given, each, there) < BEYOND for each in members)


def _only(given: Orientation, members: Sequence[Member]) -> Orientation:
    """`given` without those below a buffer that are in conflict with it at none of the members: such as a
    workspace of a kernel that does not run there."""
    known = {frozenset(pair) for pair in pairs_of(members)} if members else set[frozenset[str]]()
    below = {id_: tuple(o for o in lows if frozenset((id_, o)) in known) for id_, lows in given.below.items()}
    return replace(given, below=below)


def at_the_end(found: Sequence[Orientation], last: Member) -> list[Orientation]:
    """Those of some orders that need fewest bytes at `last`, of those in the pools of the first that need no
    more of any pool than it does."""
    first = _ends(found[0], last)
    able = [given for given in found if given.pools == found[0].pools]
    ends = [(given, _ends(given, last)) for given in able]
    ends = [(given, own) for given, own in ends if all(own[pool] <= first[pool] for pool in first)]
    least = min(sum(own.values()) for _, own in ends)
    return [given for given, own in ends if sum(own.values()) == least]


def nearest(found: Sequence[Orientation], members: Sequence[Member]) -> Orientation:
    """The one of some orders that needs fewest bytes over all members."""
    return min(found, key=lambda given: sum(peak(given, each) for each in weighed(members)))


def peak(given: Orientation, found: Member, there: LargestPools | None = None) -> int:
    """The bytes of all pools that a member takes, its buffers in this order; `BEYOND` where a pool is too
    small, or where `there` does not let them lie in these pools."""
    ends = _ends(given, found)
    if any(ends[pool.name] > pool.limit_bytes for pool in found.problem.pools):
        return BEYOND
    if there is not None and given.pools != there.pools and not there.hold(given, found, ends):
        return BEYOND
    return sum(ends.values())


def _ends(given: Orientation, found: Member) -> dict[str, int]:
    """Pool -> where its last byte ends, the buffers of a member in an order."""
    places = placed(given, found.problem)
    ends = {pool.name: 0 for pool in found.problem.pools}
    for buffer in found.problem.buffers:
        place = places[buffer.id]
        if buffer.size_bytes:
            ends[place.pool] = max(ends[place.pool], place.offset + buffer.size_bytes)
    return ends


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
