"""Who lies above whom: what a plan decides where sizes are known as ranges only.

Every conflict of two buffers of one pool says which of them lies lower. Where that leads in no circle, the
lowest offsets are longest paths, whatever the sizes are: no choice is left for run time.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from codegen.problem.problem import Conflict, MemoryPlan, Placement, Problem


class Circular(ValueError):
    """Who lies above whom leads in a circle, so that it does not say where buffers lie."""


Pair = tuple[str, str]
"""Two buffers, by id."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Orientation:
    """Who has to lie below each buffer, and the buffers in an order in which nothing leads back."""

    pools: Mapping[str, str]
    """Buffer -> pool."""
    order: tuple[str, ...]
    below: Mapping[str, tuple[str, ...]]
    """Buffer -> those that lie below it where they are in conflict with it."""


def orientation(problem: Problem, plan: MemoryPlan, further: Iterable[Pair] = ()) -> Orientation:
    """The orientation of a plan. `further`: pairs that are in conflict at other sizes only.

    Raises Circular if distances that permit a result to begin above its argument close a circle.
    """
    places = plan.placements
    arcs = [_arc(conflict, places) for conflict in problem.conflicts]
    known = {frozenset(arc) for arc in arcs}
    for one, other in further:
        if frozenset((one, other)) not in known:
            arcs.append((one, other) if places[one].offset <= places[other].offset else (other, one))
    arcs = [(low, high) for low, high in arcs if places[low].pool == places[high].pool]
    below: dict[str, list[str]] = {buffer.id: [] for buffer in problem.buffers}
    for low, high in arcs:
        below[high].append(low)
    return Orientation(
        pools={id_: place.pool for id_, place in places.items()},
        order=_order(problem, arcs),
        below={id_: tuple(lower_ids) for id_, lower_ids in below.items()},
    )


def below_all(problem: Problem, plan: MemoryPlan, lowest: frozenset[str]) -> MemoryPlan:
    """`plan` with the buffers `lowest`, which are alive all the time, below all others of their pools: as
    many bytes, but for what alignment takes between them and the others."""
    if not lowest:
        return plan
    alignment = max(buffer.alignment for buffer in problem.buffers)
    buffers = sorted(problem.buffers, key=lambda buffer: plan.placements[buffer.id].offset)
    ends: dict[str, int] = {}
    places = dict(plan.placements)
    for buffer in buffers:
        if buffer.id in lowest:
            pool = places[buffer.id].pool
            start = -(-ends.get(pool, 0) // buffer.alignment) * buffer.alignment
            places[buffer.id] = Placement(pool=pool, offset=start)
            ends[pool] = start + buffer.size_bytes
    for buffer in buffers:
        place = places[buffer.id]
        if buffer.id not in lowest and place.pool in ends:
            above = -(-ends[place.pool] // alignment) * alignment
            places[buffer.id] = replace(place, offset=above + place.offset)
    return replace(plan, placements=places)


def _arc(conflict: Conflict, places: Mapping[str, Placement]) -> Pair:
    """The side of a conflict that holds, the lower buffer first; of two the one in the order of offsets."""
    first, second = places[conflict.first].offset, places[conflict.second].offset
    upwards = first + conflict.first_below <= second
    downwards = second + conflict.second_below <= first
    if upwards and (not downwards or first <= second):
        return conflict.first, conflict.second
    return conflict.second, conflict.first


def distances(problem: Problem) -> Mapping[Pair, int]:
    """(lower, upper) -> bytes from the start of the one to that of the other, at least."""
    gaps: dict[Pair, int] = {}
    for conflict in problem.conflicts:
        gaps[conflict.first, conflict.second] = conflict.first_below
        gaps[conflict.second, conflict.first] = conflict.second_below
    return gaps


def _order(problem: Problem, arcs: Sequence[Pair]) -> tuple[str, ...]:
    """Topological, the problem's order among equals. Raises Circular."""
    missing = {buffer.id: 0 for buffer in problem.buffers}
    above: dict[str, list[str]] = {buffer.id: [] for buffer in problem.buffers}
    for low, high in arcs:
        missing[high] += 1
        above[low].append(high)
    ready = [id_ for id_, count in missing.items() if not count]
    order: list[str] = []
    while ready:
        here = ready.pop(0)
        order.append(here)
        for other in above[here]:
            missing[other] -= 1
            if not missing[other]:
                ready.append(other)
    if len(order) != len(problem.buffers):
        raise Circular("the order of buffers has a circle")
    return tuple(order)


def placed(
    relation: Orientation, problem: Problem, further: Mapping[Pair, int] | None = None
) -> dict[str, Placement]:
    """The lowest offsets at the sizes and distances of `problem`, whose buffers `relation` orders; `further`:
    distances that take the place of the problem's."""
    alignments = {buffer.id: buffer.alignment for buffer in problem.buffers}
    least = {**distances(problem), **(further or {})}
    placements: dict[str, Placement] = {}
    for id_ in relation.order:
        ends = (
            placements[low].offset + least[low, id_] for low in relation.below[id_] if (low, id_) in least
        )
        start = max(ends, default=0)
        offset = -(-max(start, 0) // alignments[id_]) * alignments[id_]
        placements[id_] = Placement(pool=relation.pools[id_], offset=offset)
    return placements


def apart(problem: Problem) -> Problem:
    """The problem without distances that let a result begin at or above its argument's beginning.

    The buffer that lies above then begins above, and no order has a circle.
    """
    conflicts = (
        replace(
            conflict, first_below=max(conflict.first_below, 1), second_below=max(conflict.second_below, 1)
        )
        for conflict in problem.conflicts
    )
    return replace(problem, conflicts=tuple(conflicts))
