"""Orders of buffers: one for all sizes, valid at each, as good as the plan where it was made."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.plan.place.exact import optimal
from codegen.plan.place.orientation import Circular, Orientation, apart, below_all, orientation, placed
from codegen.plan.validate import violations
from codegen.problem.problem import Buffer, Conflict, MemoryPlan, Placement, Pool, Problem, peak_bytes, plain
from tests.sampling import examples

POOL = Pool(name="ram", region="RAM", limit_bytes=1 << 30, alignment=1)
Sizes = Sequence[tuple[int, int]]
"""(factor, constant) of each buffer: its bytes are factor * T + constant."""


def problem_at(
    sizes: Sizes, spans: Sequence[tuple[int, int]], overlaps: Mapping[int, int], t: int
) -> Problem:
    """Buffers with these live intervals at T = t; `overlaps`: buffer i may begin so many bytes below the one
    behind it, times t, instead of its own size."""
    buffers = tuple(
        Buffer(
            id=f"b{i}",
            size_bytes=factor * t + constant,
            start=start,
            stop=stop,
            alignment=1 + 3 * (i % 2),
            pool_candidates=("ram",),
        )
        for i, ((factor, constant), (start, stop)) in enumerate(zip(sizes, spans, strict=True))
    )
    conflicts: list[Conflict] = []
    for (i, one), (j, other) in itertools.combinations(enumerate(buffers), 2):
        if one.start < other.stop and other.start < one.stop and one.size_bytes and other.size_bytes:
            found = plain(one, other)
            if i in overlaps and j == i + 1:
                found = replace(found, first_below=min(overlaps[i] * t, one.size_bytes))
            conflicts.append(found)
    return Problem(buffers=buffers, conflicts=tuple(conflicts), pools=(POOL,))


def plan_at(given_: Orientation, problem: Problem, like: MemoryPlan) -> MemoryPlan:
    return replace(like, placements=placed(given_, problem), lower_bounds={"ram": 0})


networks = st.integers(2, 6).flatmap(
    lambda count: st.tuples(
        st.lists(st.tuples(st.integers(0, 9), st.integers(1, 30)), min_size=count, max_size=count),
        st.lists(
            st.tuples(st.integers(0, 6), st.integers(1, 4)).map(lambda each: (each[0], sum(each))),
            min_size=count,
            max_size=count,
        ),
        st.dictionaries(st.integers(0, count - 2), st.integers(0, 5), max_size=2),
    )
)


@given(networks, st.integers(2, 14))
@settings(deadline=None)
def test_one_order_is_valid_at_every_size(
    drawn: tuple[Sizes, Sequence[tuple[int, int]], Mapping[int, int]], largest: int
) -> None:
    sizes, spans, overlaps = drawn
    top = problem_at(sizes, spans, overlaps, largest)
    plan = optimal(top)
    found = orientation(top, plan)
    assert peak_bytes(top, plan_at(found, top, plan), "ram") <= peak_bytes(top, plan, "ram")
    for t in range(1, largest + 1):
        here = problem_at(sizes, spans, overlaps, t)
        assert not violations(here, plan_at(found, here, plan))


@given(networks)
@settings(deadline=None)
def test_the_order_of_a_proved_plan_needs_what_the_best_of_all_orders_needs(
    drawn: tuple[Sizes, Sequence[tuple[int, int]], Mapping[int, int]],
) -> None:
    """Against brute force: every order of at most five buffers, each at its lowest offset."""
    sizes, spans, overlaps = (
        list(drawn[0][:5]),
        list(drawn[1][:5]),
        {k: v for k, v in drawn[2].items() if k < 4},
    )
    top = problem_at(sizes, spans, overlaps, 7)
    plan = optimal(top)
    found = plan_at(orientation(top, plan), top, plan)
    least = min(_stacked(top, order) for order in itertools.permutations(range(len(top.buffers))))
    assert peak_bytes(top, found, "ram") == least


def _stacked(problem: Problem, order: Sequence[int]) -> int:
    """The peak where each buffer of `order` lies as low as those before it, which stay below it, permit."""
    least = {(c.first, c.second): c.first_below for c in problem.conflicts}
    least |= {(c.second, c.first): c.second_below for c in problem.conflicts}
    offsets: dict[str, int] = {}
    for index in order:
        buffer = problem.buffers[index]
        start = max(
            (offsets[low] + least[low, buffer.id] for low in offsets if (low, buffer.id) in least), default=0
        )
        offsets[buffer.id] = -(-max(start, 0) // buffer.alignment) * buffer.alignment
    return max(offsets[b.id] + b.size_bytes for b in problem.buffers if b.size_bytes)


def test_a_circle_of_overlaps_is_told() -> None:
    """A result may begin above its argument: three that each do so of the next have no lowest one."""
    sizes = [Buffer(id=i, size_bytes=10, start=0, stop=1, pool_candidates=("ram",)) for i in "abc"]
    pairs = [("a", "b"), ("b", "c"), ("c", "a")]
    conflicts = tuple(Conflict(first=x, second=y, first_below=-1, second_below=10) for x, y in pairs)
    problem = Problem(buffers=tuple(sizes), conflicts=conflicts, pools=(POOL,))
    plan = MemoryPlan(
        placements={each.id: Placement(pool="ram", offset=0) for each in sizes},
        planner="",
        solver="",
        lower_bounds={"ram": 0},
        proved_optimal=False,
    )
    assert not violations(problem, plan)
    with pytest.raises(Circular):
        orientation(problem, plan)
    without = apart(problem)
    assert not violations(without, plan_at(orientation(without, optimal(without)), without, plan))


def test_a_pair_that_is_in_conflict_at_other_sizes_only_has_its_place_too() -> None:
    one, two = (Buffer(id=i, size_bytes=8, start=0, stop=1, pool_candidates=("ram",)) for i in "ab")
    none = Problem(buffers=(one, two), conflicts=(), pools=(POOL,))
    plan = optimal(none)
    found = orientation(none, plan, [("a", "b")])
    assert found.below["a"] or found.below["b"]


@given(networks)
@settings(deadline=None, max_examples=examples(30))
def test_what_lasts_lies_at_the_same_place_at_every_size(
    drawn: tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]], Mapping[int, int]],
) -> None:
    """Two buffers that are alive all the time, and as large at every size, below all others: no byte more
    but for alignment."""
    sizes, spans, overlaps = drawn
    sizes, spans = [*sizes, (0, 5), (0, 8)], [*spans, (0, 10), (0, 10)]
    lowest = frozenset({f"b{len(sizes) - 2}", f"b{len(sizes) - 1}"})
    top = problem_at(sizes, spans, overlaps, 9)
    plan = optimal(top)
    found = orientation(top, below_all(top, plan, lowest))
    assert peak_bytes(top, plan_at(found, top, plan), "ram") <= peak_bytes(top, plan, "ram") + 6
    places = list[set[int]]()
    for t in range(1, 10):
        here = problem_at(sizes, spans, overlaps, t)
        own = plan_at(found, here, plan)
        assert not violations(here, own)
        places.append({own.placements[id_].offset for id_ in lowest})
    assert all(each == places[0] for each in places)
    assert max(places[0]) <= 8
