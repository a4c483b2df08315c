"""Which values keep rows of earlier calls: a trade of state (RAM) against work (instructions).

Of a value all demanded rows are state, or the newest run of them, or none. All mixtures of few values are
tried. Of more values one at a time has less, the one whose rows cost least to compute again for a byte of
state. Points that need more state and more work than another one are left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from codegen.ir import Function, Var
from codegen.passes.sliding.demand import Demand, Keep, demand, held_rows
from codegen.passes.sliding.movement import Movement

MOST_TRIED = 5
"""Values of which every mixture is tried."""
_EXTENTS = (Keep.ALL, Keep.NEWEST, None)
"""From the most state of a value to none."""

Keeping = Mapping[str, Keep]
"""Values that may have state, and how much of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StatePoint:
    """Rows of each value that a call computes and keeps, with what that takes."""

    rows: Mapping[str, Demand]
    work: float
    """Multiply-accumulates and computed elements of a call, about."""
    state_bytes: int
    keeping: Keeping
    """The choice that this is."""


def trade(
    function: Function, movement: Movement, keepable: frozenset[str], kept: str
) -> tuple[StatePoint, ...]:
    """Points with ever less state and more work; `kept`: the input, whose rows nobody else has."""
    point = _point(function, movement, dict.fromkeys(keepable, Keep.ALL))
    values = sorted(name for name, rows in point.rows.items() if rows.kept is not None and name != kept)
    if len(values) <= MOST_TRIED:
        mixtures = product(_EXTENTS, repeat=len(values))
        return _front(
            [_point(function, movement, _with_input(values, mixture, kept)) for mixture in mixtures]
        )
    points = [point]
    while fewer := [_point(function, movement, keeping) for keeping in _with_less(point.keeping, values)]:
        point = min(fewer, key=_price_beside(point))
        points.append(point)
    return _front(points)


def choose(
    points: Sequence[StatePoint], optimize: str, base_bytes: int, most_state_bytes: int | None
) -> StatePoint:
    """The point for `--optimize`: least work (speed), least state (size), or what work squared times RAM says
    (balanced: two percent more RAM for one percent less work). `base_bytes`: RAM without state, about.

    With `most_state_bytes` RAM is short: the least work within it, or the least state.
    """
    fitting = [point for point in points if most_state_bytes is None or point.state_bytes <= most_state_bytes]
    if optimize == "size" or not fitting:
        return min(points, key=lambda point: (point.state_bytes, point.work))
    if optimize == "speed" or most_state_bytes is not None:
        return min(fitting, key=lambda point: (point.work, point.state_bytes))
    return min(fitting, key=lambda point: point.work**2 * (base_bytes + point.state_bytes))


def largest_value_bytes(function: Function) -> int:
    """RAM that the network needs at least, about: its largest value."""
    return max((var.type.size_bytes for var in function.variables()), default=0)


def _with_input(values: Sequence[str], mixture: Sequence[Keep | None], kept: str) -> Keeping:
    keeping = {name: extent for name, extent in zip(values, mixture, strict=True) if extent is not None}
    return {**keeping, kept: Keep.ALL}


def _with_less(keeping: Keeping, values: Sequence[str]) -> Iterator[Keeping]:
    """Choices in which one of the values has less state, or none."""
    for name in values:
        if keeping.get(name) is Keep.ALL:
            yield {**keeping, name: Keep.NEWEST}
        if name in keeping:
            yield {kept: extent for kept, extent in keeping.items() if kept != name}


def _price_beside(point: StatePoint) -> Callable[[StatePoint], float]:
    """More work for each byte of state that goes; without bytes that go, as dear as any."""

    def price(fewer: StatePoint) -> float:
        freed = point.state_bytes - fewer.state_bytes
        return (fewer.work - point.work) / freed if freed > 0 else float("inf")

    return price


def _point(function: Function, movement: Movement, keeping: Keeping) -> StatePoint:
    rows = demand(function, movement, keeping)
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
    return StatePoint(rows=rows, work=work, state_bytes=state, keeping=keeping)


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
