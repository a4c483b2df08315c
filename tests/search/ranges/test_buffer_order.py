"""The order of buffers that is chosen for all sizes, against every order there is."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.plan.place.orientation import Orientation, distances, placed
from codegen.plan.place.planners import Planner
from codegen.program.problem import MemoryPlan, Problem, peak_bytes
from codegen.search.ranges import ranged
from codegen.search.ranges.buffer_order import orders_of_parts
from codegen.search.ranges.members import Member
from tests.search.ranges.networks import detector
from tests.search.ranges.test_ranged import planned

POOL = "dtcm"


def orders(problem: Problem, limit: int) -> Iterator[tuple[str, ...]]:
    """Every order of the buffers, each at its lowest offset above those before it, within `limit` bytes."""
    least = distances(problem)
    buffers = {buffer.id: buffer for buffer in problem.buffers}

    def further(offsets: dict[str, int]) -> Iterator[tuple[str, ...]]:
        if len(offsets) == len(buffers):
            yield tuple(offsets)
        for id_, buffer in buffers.items():
            if id_ not in offsets:
                start = max([0, *(offsets[o] + least[o, id_] for o in offsets if (o, id_) in least)])
                start = -(-start // buffer.alignment) * buffer.alignment
                if start + buffer.size_bytes <= limit:
                    yield from further({**offsets, id_: start})

    return further({})


@pytest.mark.parametrize(
    "dims",
    [("x0.1=8..24", "x0.2=24..24"), pytest.param(("x0.1=8..24", "x0.2=8..24"), marks=pytest.mark.long)],
)
def test_no_order_that_needs_no_more_at_the_largest_sizes_is_better_over_all(
    dims: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last part of the range, of the detector on mps3-an547: all orders of 1,986 bytes at 24x24 have the
    window of the first layer below its result, which keeps it from the place where it would cost nothing at
    small sizes. Below, there is a part with an order of its own (decision 081)."""
    seen: list[tuple[Sequence[Member], Orientation]] = []

    def kept(
        plan: MemoryPlan,
        members: Sequence[Member],
        parts: Sequence[int],
        planner: Planner,
        lowest: frozenset[str],
    ) -> list[Orientation]:
        found = orders_of_parts(plan, members, parts, planner, lowest)
        own = [each for each, part in zip(members, parts, strict=True) if part == parts[-1]]
        seen.append((own, found[-1]))
        assert len(found) == 2
        return found

    monkeypatch.setattr(ranged, "orders_of_parts", kept)
    program = planned(detector(), tmp_path, "mps3-an547", *dims)
    assert program.ranges is not None
    [*_, (members, chosen)] = seen
    sizes = [tuple(each.values.values()) for each in members]
    peaks = [peak.planned_bytes for peak in program.ranges.peaks[POOL] if peak.values in sizes]
    assert len(members) == len(peaks)

    distinct: dict[frozenset[tuple[str, str]], Orientation] = {}
    pairs = {pair for each in members for pair in distances(each.problem)}
    for order in orders(members[-1].problem, peaks[-1]):
        below = {
            high: tuple(low for low in order[:index] if (low, high) in pairs)
            for index, high in enumerate(order)
        }
        arcs = frozenset((low, high) for high, lows in below.items() for low in lows)
        distinct[arcs] = replace(chosen, order=order, below=below)
    assert distinct
    plan = program.memory.plan
    sums = [
        sum(
            peak_bytes(each.problem, replace(plan, placements=placed(own, each.problem)), POOL)
            for each in members
        )
        for own in distinct.values()
    ]
    assert np.sum(peaks) == min(sums)
