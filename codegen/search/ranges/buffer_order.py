"""The order of buffers for all sizes, and how far apart they lie in it."""

from collections.abc import Mapping, Sequence

import numpy as np

from codegen.ir.formulas import Formula, Whole
from codegen.ir.ranged import NamedSizes
from codegen.plan.place.orientation import (
    Circular,
    Orientation,
    Pair,
    apart,
    distances,
    orientation,
    placed,
)
from codegen.plan.place.planners import Planner
from codegen.program.problem import MemoryPlan
from codegen.search.ranges.members import Member

_APART = -(1 << 40)
"""Distance of two buffers that are in no conflict."""

_WEIGHED = 24
"""Members at which orders of buffers are compared."""

_ASKED = 6
"""Of these so many are planned by themselves, for orders to compare."""


def best_order(plan: MemoryPlan, members: Sequence[Member], planner: Planner) -> Orientation:
    """Of the orders that need fewest bytes at the largest sizes the one that needs fewest over all.

    Orders come from the plan, and from plans at smaller sizes.
    """
    largest = members[-1].problem
    pairs = list(dict.fromkeys((each.first, each.second) for m in members for each in m.problem.conflicts))
    found: list[Orientation] = []
    weighed = members[:: max(1, len(members) // _WEIGHED)]
    try:
        found.append(orientation(largest, plan, pairs))
    except Circular:
        problem = apart(largest)
        found.append(orientation(problem, planner(problem), pairs))
    for each in weighed[:: max(1, len(weighed) // _ASKED)]:
        try:
            found.append(orientation(each.problem, planner(each.problem), pairs))
        except (Circular, ValueError):
            continue
    best = min(_peak(given, members[-1]) for given in found)
    able = [given for given in found if _peak(given, members[-1]) == best]
    return min(able, key=lambda given: sum(_peak(given, each) for each in weighed))


def _peak(given: Orientation, found: Member) -> int:
    places = placed(given, found.problem)
    return max((places[b.id].offset + b.size_bytes for b in found.problem.buffers), default=0)


Distances = Mapping[Pair, tuple[Formula, Whole]]
"""(lower, upper) -> how far apart they begin, as a formula and at every member."""


def least_distances(given: Orientation, members: Sequence[Member], names: NamedSizes) -> Distances:
    """Of every two buffers in conflict. Where no formula gives a distance, one gives a little more: the two
    lie apart all the more."""
    known = [distances(each.problem) for each in members]
    found: dict[Pair, tuple[Formula, Whole]] = {}
    for high in given.order:
        for low in given.below[high]:
            own = np.array([each.get((low, high), _APART) for each in known], np.int64)
            bound = own != _APART
            fitter = names.fitter.of(bound)
            formula = fitter.formula(own[bound])
            formula = formula or names.fitter.at_least(own, bound)
            found[low, high] = formula, names.value(formula)
    return found
