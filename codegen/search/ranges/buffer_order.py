"""The order of buffers for all sizes of a range, and how far apart they lie in it."""

from collections.abc import Mapping, Sequence

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
from codegen.problem.problem import MemoryPlan, Problem
from codegen.problem.shortage import DoesNotFit
from codegen.search.ranges.members import Member

_APART = -(1 << 40)
"""Distance of two buffers that are in no conflict."""

_BEYOND = 1 << 40
"""Bytes of an order that does not fit."""

_WEIGHED = 24
"""Members at which orders of buffers are compared."""

_ASKED = 6
"""Members, of those weighed, that are planned by themselves for orders to compare."""


def order_of_all(
    plan: MemoryPlan, members: Sequence[Member], planner: Planner, lowest: frozenset[str] = frozenset()
) -> Orientation:
    """The order of buffers that needs fewest bytes over all members, of those that need fewest at the last.

    `plan` is of the last member, the largest sizes: buffers keep its pools. Orders come from it and from
    plans at smaller sizes. The buffers `lowest` lie below the others in all of them.
    """
    orders = _orders(plan, members, planner, lowest)
    weighed = members[:: max(1, len(members) // _WEIGHED)]
    return min(
        _best_at(orders, members[-1]), key=lambda order: sum(_peak_bytes(order, member) for member in weighed)
    )


def _orders(
    plan: MemoryPlan, members: Sequence[Member], planner: Planner, lowest: frozenset[str]
) -> list[Orientation]:
    """Orders to choose from: that of `plan`, and those of plans at smaller sizes."""
    pairs = list(
        dict.fromkeys((conflict.first, conflict.second) for m in members for conflict in m.problem.conflicts)
    )
    largest = members[-1].problem

    def ordered(problem: Problem, plan: MemoryPlan) -> Orientation:
        return orientation(problem, below_all(problem, plan, lowest), pairs)

    try:
        orders = [ordered(largest, plan)]
    except Circular:
        problem = apart(largest)
        orders = [ordered(problem, planner(problem))]
    weighed = members[:: max(1, len(members) // _WEIGHED)]
    for member in weighed[:: max(1, len(weighed) // _ASKED)]:
        try:
            orders.append(ordered(member.problem, planner(member.problem)))
        except (Circular, DoesNotFit, ValueError):
            continue
    return orders


def _best_at(orders: Sequence[Orientation], last: Member) -> list[Orientation]:
    """Orders that need fewest bytes at `last`, among those in the pools of the first that need no more of
    any pool.
    """
    limits = _ends(orders[0], last)
    ends = [(order, _ends(order, last)) for order in orders if order.pools == orders[0].pools]
    ends = [
        (order, pool_ends)
        for order, pool_ends in ends
        if all(pool_ends[pool] <= limits[pool] for pool in limits)
    ]
    fewest_bytes = min(sum(pool_ends.values()) for _, pool_ends in ends)
    return [order for order, pool_ends in ends if sum(pool_ends.values()) == fewest_bytes]


def _peak_bytes(order: Orientation, member: Member) -> int:
    """Bytes of all pools that a member takes in this order; `_BEYOND` where a pool is too small."""
    ends = _ends(order, member)
    if any(ends[pool.name] > pool.limit_bytes for pool in member.problem.pools):
        return _BEYOND
    return sum(ends.values())


def _ends(order: Orientation, member: Member) -> dict[str, int]:
    """Pool -> where its last byte ends, the buffers of a member in an order."""
    places = placed(order, member.problem)
    ends = {pool.name: 0 for pool in member.problem.pools}
    for buffer in member.problem.buffers:
        place = places[buffer.id]
        if buffer.size_bytes:
            ends[place.pool] = max(ends[place.pool], place.offset + buffer.size_bytes)
    return ends


Distances = Mapping[Pair, tuple[Formula, Whole]]
"""(lower, upper) -> how far apart they begin, as a formula and at every member."""


def least_distances(order: Orientation, members: Sequence[Member], names: NamedSizes) -> Distances:
    """Least distances of every two buffers in conflict, in this order. Where no formula gives a
    distance, one gives a little more: the two lie apart all the more."""
    known = [distances(member.problem) for member in members]
    formulas: dict[Pair, tuple[Formula, Whole]] = {}
    for high in order.order:
        for low in order.below[high]:
            values = np.array([gaps.get((low, high), _APART) for gaps in known], np.int64)
            bound = values != _APART
            formula = names.fitter.of(bound).formula(values[bound])
            formula = formula or names.fitter.at_least(values, bound)
            formulas[low, high] = formula, names.value(formula)
    return formulas
