"""Which values keep rows of earlier calls: a trade of state (RAM) against work (instructions).

All sets of few values are tried. Of more values one goes at a time, the one whose rows cost least to compute
again for a byte of state. Points that need more state and more work than another one are left out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

from codegen.ir import Function, Var
from codegen.passes.sliding.demand import Demand, demand, held_rows
from codegen.passes.sliding.movement import Movement

MOST_TRIED = 8
"""Values of which every set is tried."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StatePoint:
    """Rows of each value that a call computes and keeps, with what that takes."""

    rows: Mapping[str, Demand]
    work: float
    """Multiply-accumulates and computed elements of a call, about."""
    state_bytes: int

    @property
    def keepers(self) -> frozenset[str]:
        """Values with state."""
        return frozenset(name for name, demand_of in self.rows.items() if demand_of.kept is not None)


def trade(
    function: Function, movement: Movement, keepable: frozenset[str], kept: str
) -> tuple[StatePoint, ...]:
    """Points with ever less state and more work; `kept`: the input, whose rows nobody else has."""
    point = _point(function, movement, keepable)
    values = sorted(point.keepers - {kept})
    if len(values) <= MOST_TRIED:
        sets = (frozenset(names) for count in range(len(values) + 1) for names in combinations(values, count))
        return _front([point, *(_point(function, movement, names | {kept}) for names in sets)])
    points = [point]
    while point.keepers - {kept}:
        fewer = [
            _point(function, movement, point.keepers - {name}) for name in sorted(point.keepers - {kept})
        ]
        point = min(fewer, key=_price_beside(point))
        points.append(point)
    return _front(points)


def choose(
    points: Sequence[StatePoint], optimize: str, base_bytes: int, most_state_bytes: int | None
) -> StatePoint:
    """The point for `--optimize`: least work (speed), least state (size), or what work squared times RAM says
    (balanced: two percent more RAM for one percent less work). `base_bytes`: RAM without state, about.

    With `most_state_bytes` only points within it count, or the one with least state.
    """
    fitting = [point for point in points if most_state_bytes is None or point.state_bytes <= most_state_bytes]
    if optimize == "size" or not fitting:
        return min(points, key=lambda point: (point.state_bytes, point.work))
    if optimize == "speed":
        return min(fitting, key=lambda point: (point.work, point.state_bytes))
    return min(fitting, key=lambda point: point.work**2 * (base_bytes + point.state_bytes))


def largest_value_bytes(function: Function) -> int:
    """RAM that the network needs at least, about: its largest value."""
    return max((var.type.size_bytes for var in function.variables()), default=0)


def _price_beside(point: StatePoint) -> Callable[[StatePoint], float]:
    """More work for each byte of state that goes; without bytes that go, as dear as any."""

    def price(fewer: StatePoint) -> float:
        freed = point.state_bytes - fewer.state_bytes
        return (fewer.work - point.work) / freed if freed > 0 else float("inf")

    return price


def _point(function: Function, movement: Movement, keep: frozenset[str]) -> StatePoint:
    rows = demand(function, movement, keep)
    work = 0.0
    for let in function.body:
        share = 1.0
        if let.var.name in rows:
            count = movement.rows(let.var.name)
            share = sum(stop - start for start, stop in rows[let.var.name].computed) / count
        work += share * (let.macs + let.var.type.elements)
    state = sum(
        _state_bytes(var, movement, rows[var.name]) for var in function.variables() if var.name in rows
    )
    return StatePoint(rows=rows, work=work, state_bytes=state)


def _state_bytes(var: Var, movement: Movement, demand_of: Demand) -> int:
    if demand_of.kept is None:
        return 0
    track = movement.tracks[var.name]
    return (
        held_rows(demand_of.kept, track) * prod(var.type.shape[track.axis + 1 :]) * var.type.dtype.size_bytes
    )


def _front(points: Sequence[StatePoint]) -> tuple[StatePoint, ...]:
    """Points that no other one beats in both, the most state in front."""
    front: list[StatePoint] = []
    for point in sorted(points, key=lambda point: (point.work, point.state_bytes)):
        if not front or point.state_bytes < front[-1].state_bytes:
            front.append(point)
    return tuple(front)
