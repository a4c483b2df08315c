"""Properties every planner must have, and what they say when buffers do not fit.
What the planner spends on bare problems grows with their conflicts.

1,500 buffers of one lifetime, more than a million pairs, took 17 s: all pairs were gone through several times
for the bound alone.
"""

import itertools
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.driver.checks.fit import PoolsTooSmall, telling
from codegen.errors import CodegenError
from codegen.plan.place import planners
from codegen.plan.place.bounds import covered_bytes, largest_overlap, least_end, lower_bound
from codegen.plan.place.exact import optimal
from codegen.plan.validate import violations
from codegen.problem.problem import (
    Buffer,
    Conflict,
    Limits,
    MemoryPlan,
    Pool,
    Problem,
    interval_conflicts,
    peak_bytes,
)
from codegen.problem.shortage import DoesNotFit
from tests.plan.build import POOL, buffer, problem
from tests.plan.growth import calls, one_lifetime, staircase
from tests.plan.place.exact.instances import needs_c

NAMES = tuple(planners.BUILTIN)


@st.composite
def problems(draw: st.DrawFn, most: int = 6, sizes: int = 6, overlaps: bool = True) -> Problem:
    """Few small buffers: equal intervals, zero sizes, large alignments, any distances, odd conflicts."""
    buffers: list[Buffer] = []
    for index in range(draw(st.integers(1, most))):
        start = draw(st.integers(0, 4))
        buffers.append(
            buffer(
                f"b{index}",
                draw(st.integers(0, sizes)),
                start,
                start + draw(st.integers(0, 3)),
                draw(st.sampled_from([1, 1, 1, 2, 4, 64])),
            )
        )
    conflicts: list[Conflict] = []
    pairs = {(c.first, c.second) for c in interval_conflicts(buffers)}
    for first, second in itertools.combinations(buffers, 2):
        kind = draw(st.sampled_from(["plain", "plain", "overlap"] if overlaps else ["plain"]))
        if (first.id, second.id) not in pairs and draw(st.integers(0, 4)):
            continue
        below, above = first.size_bytes, second.size_bytes
        if kind == "overlap":
            below, above = draw(st.integers(-sizes, below)), draw(st.integers(-sizes, above))
        conflicts.append(Conflict(first=first.id, second=second.id, first_below=below, second_below=above))
    return Problem(
        buffers=tuple(buffers), conflicts=tuple(conflicts), pools=(POOL,), limits=Limits(effort=60)
    )


def best_peak(given_problem: Problem) -> int:
    """The smallest peak: every assignment of offsets is tried, limit by limit. For a handful of buffers."""
    buffers = [b for b in given_problem.buffers if b.size_bytes]
    index = {b.id: i for i, b in enumerate(buffers)}
    checks = [
        (index[c.first], index[c.second], c)
        for c in given_problem.conflicts
        if c.first in index and c.second in index
    ]

    def fits(offsets: list[int], limit: int) -> bool:
        here = len(offsets)
        if here == len(buffers):
            return True
        for offset in range(0, limit - buffers[here].size_bytes + 1, buffers[here].alignment):
            trial = [*offsets, offset]
            if all(c.holds(trial[i], trial[j]) for i, j, c in checks if max(i, j) == here) and fits(
                trial, limit
            ):
                return True
        return False

    limit = max((b.size_bytes for b in buffers), default=0)
    while not fits([], limit):
        limit += 1
    return limit


@pytest.mark.parametrize("name", NAMES)
@given(given_problem=problems(most=9, sizes=40))
def test_every_plan_holds_and_is_not_below_the_bound(name: str, given_problem: Problem) -> None:
    plan = planners.find(name)(given_problem)
    assert violations(given_problem, plan) == []
    assert plan.lower_bounds["sram"] <= peak_bytes(given_problem, plan, "sram")
    assert plan.reproducible


@given(given_problem=problems(most=9, sizes=40))
def test_covered_bytes_are_covered_by_every_plan(given_problem: Problem) -> None:
    """Counted byte by byte in a plan; a time at which nothing is born needs no entry."""
    plan = planners.find("greedy_by_size")(given_problem)
    held = [each for each in given_problem.buffers if each.size_bytes]
    covered = covered_bytes(given_problem)
    assert [at.time for at in covered] == sorted({each.start for each in held})
    for at in covered:
        there: set[int] = set()
        for each in held:
            offset = plan.placements[each.id].offset
            if each.start <= at.time < each.stop:
                there |= set(range(offset, offset + each.size_bytes))
        assert at.bytes <= len(there)
    largest = max((each.size_bytes for each in held), default=0)
    assert lower_bound(given_problem).bytes == max([largest, *(at.bytes for at in covered)])


@given(given_problem=problems(most=5, sizes=5))
def test_bound_and_plans_against_brute_force(given_problem: Problem) -> None:
    small = replace(
        given_problem,
        buffers=tuple(replace(b, alignment=min(b.alignment, 4)) for b in given_problem.buffers),
    )
    best = best_peak(small)
    assert lower_bound(small).bytes <= best
    for name in NAMES:
        plan = planners.find(name)(small)
        peak = peak_bytes(small, plan, "sram")
        assert peak >= best
        assert not plan.proved_optimal or peak == best


@given(given_problem=problems(most=7, sizes=20))
def test_names_and_the_direction_of_conflicts_do_not_matter(given_problem: Problem) -> None:
    """Renamed so that the alphabet runs backwards, conflicts the other way round: the same offsets."""
    names = {b.id: f"z{99 - index}" for index, b in enumerate(given_problem.buffers)}
    renamed = replace(
        given_problem,
        buffers=tuple(replace(b, id=names[b.id]) for b in given_problem.buffers),
        conflicts=tuple(
            Conflict(
                first=names[c.second],
                second=names[c.first],
                first_below=c.second_below,
                second_below=c.first_below,
            )
            for c in given_problem.conflicts
        ),
    )
    for name in NAMES:
        plan, other = planners.find(name)(given_problem), planners.find(name)(renamed)
        assert {names[id_]: place for id_, place in plan.placements.items()} == dict(other.placements)


@given(a=st.integers(1, 8), b=st.integers(1, 8), below=st.integers(-12, 12), above=st.integers(-12, 12))
def test_largest_overlap_is_exact(a: int, b: int, below: int, above: int) -> None:
    """Against all offsets of two buffers up to 40 apart (further ones have nothing in common)."""
    found = [max(min(a, d + b) - max(0, d), 0) for d in range(-40, 41) if below <= d or d + above <= 0]
    assert largest_overlap(a, b, below, above) == max(found)


@pytest.mark.parametrize("name", NAMES)
def test_equal_intervals_stack_without_gaps(name: str) -> None:
    plan = planners.find(name)(problem(*(buffer(f"b{i}", 10 + i, 0, 1) for i in range(6))))
    assert plan.proved_optimal
    assert plan.lower_bounds == {"sram": 75}


def test_greedy_fills_gaps() -> None:
    # By size: big at 0, tall on it at 100; small lives with tall only and fits below it.
    found = problem(buffer("big", 100, 0, 2), buffer("tall", 60, 1, 3), buffer("small", 50, 2, 3))
    plan = planners.find("greedy_by_size")(found)
    assert {id_: place.offset for id_, place in plan.placements.items()} == {
        "big": 0,
        "tall": 100,
        "small": 0,
    }
    # By conflicts: tall has two, then big on it at 60, and small there too.
    plan = planners.find("greedy_by_conflicts")(found)
    assert {id_: place.offset for id_, place in plan.placements.items()} == {
        "big": 60,
        "tall": 0,
        "small": 60,
    }


def test_ties_go_by_time() -> None:
    found = problem(buffer("late", 8, 1, 9), buffer("long", 8, 0, 9), buffer("short", 8, 0, 2))
    plan = planners.find("greedy_by_size")(found)
    assert {id_: place.offset for id_, place in plan.placements.items()} == {
        "short": 0,
        "long": 8,
        "late": 16,
    }


def test_overlap_in_a_chain() -> None:
    """Each result may start 10 bytes below its argument, else on top of it.

    Two neighbours need 110 bytes (the bound). Below a peak of 200 nothing lies 100 above anything, so all
    six step down by 10 each: 100 + 5 * 10 bytes is the best there is.
    """
    buffers = tuple(buffer(f"b{i}", 100, i, i + 2) for i in range(6))
    conflicts = tuple(
        Conflict(first=f"b{i + 1}", second=f"b{i}", first_below=10, second_below=100) for i in range(5)
    )
    chain = Problem(buffers=buffers, conflicts=conflicts, pools=(POOL,))
    assert lower_bound(chain).bytes == 110
    for name in NAMES:
        plan = planners.find(name)(chain)
        assert violations(chain, plan) == []
        # Only a search that exhausts the orders can know that 110 is out of reach.
        assert plan.proved_optimal == (name == "optimal")
        assert plan.lower_bounds["sram"] == (150 if name == "optimal" else 110)
    assert peak_bytes(chain, planners.find("hill_climb")(chain), "sram") == 150


@pytest.mark.parametrize("name", NAMES)
def test_large_alignment(name: str) -> None:
    found = problem(buffer("a", 3, 0, 1, 4096), buffer("b", 5, 0, 1, 4096))
    plan = planners.find(name)(found)
    assert peak_bytes(found, plan, "sram") in (4096 + 3, 4096 + 5)
    # 8 bytes are alive at once; the first end of a buffer at or above that is 4096 + 3.
    assert plan.lower_bounds["sram"] == 4096 + 3
    assert plan.proved_optimal == (peak_bytes(found, plan, "sram") == 4096 + 3)
    if name == "optimal":
        assert peak_bytes(found, plan, "sram") == plan.lower_bounds["sram"] == 4096 + 3


@pytest.mark.parametrize("name", NAMES)
def test_buffers_go_to_the_first_candidate_that_has_room(name: str) -> None:
    pools = (Pool(name="fast", region="A", limit_bytes=100), Pool(name="slow", region="B", limit_bytes=1000))
    two = ("fast", "slow")
    found = problem(buffer("a", 90, 0, 2, pools=two), buffer("b", 80, 0, 2, pools=two), pools=pools)
    plan = planners.find(name)(found)
    assert (plan.placements["a"].pool, plan.placements["b"].pool) in (two, two[::-1])
    # One had to move: only a search over the choices can know that no other one is better.
    assert plan.proved_optimal == (name == "optimal")
    alone = problem(buffer("a", 90, 0, 1, pools=two), buffer("b", 80, 1, 2, pools=two), pools=pools)
    plan = planners.find(name)(alone)
    assert {place.pool for place in plan.placements.values()} == {"fast"}
    assert plan.proved_optimal


def test_hill_climb_moves_what_greedy_leaves_in_the_slow_pool() -> None:
    """By size the 60 goes first and leaves 40 bytes; 50 + 50 fill the fast pool and move fewer bytes."""
    pools = (Pool(name="fast", region="A", limit_bytes=100), Pool(name="slow", region="B", limit_bytes=1000))
    two = ("fast", "slow")
    found = problem(
        *(buffer(f"b{size}{i}", size, 0, 1, pools=two) for i, size in enumerate((60, 50, 50))),
        pools=pools,
        effort=500,
    )
    plan = planners.find("hill_climb")(found)
    assert plan.placements["b600"].pool == "slow"


@pytest.mark.parametrize("name", NAMES)
def test_what_does_not_fit_is_explained(name: str) -> None:
    pool = Pool(name="sram", region="SRAM", limit_bytes=150)
    found = problem(
        buffer("a", 100, 0, 3),
        buffer("b", 60, 1, 3),
        buffer("c", 5, 2, 3),
        buffer("d", 9, 4, 5),
        pools=(pool,),
    )
    with pytest.raises(DoesNotFit) as missed:
        planners.find(name)(found)
    with pytest.raises(PoolsTooSmall) as caught, telling():
        raise missed.value
    assert caught.value.exit_code == 4
    text = str(caught.value)
    assert (
        "error[E401] pool sram: lacks 15 bytes: the best plan found needs 165 bytes, the limit is 150" in text
    )
    assert "most is alive at time 2:" in text
    assert re.findall(r"(\d+) bytes  (\w) \(activation\)", text) == [("100", "a"), ("60", "b"), ("5", "c")]
    assert "these buffers need at least 165 bytes in any plan" in text
    assert "help: try a board or a --pool limit with more bytes" in text
    named = missed.value.with_steps([(0, 2), (2, 3)], ["0 conv0", "1 dw1"])
    assert "most is alive at step 1 dw1:" in str(PoolsTooSmall(named.shortages))
    (shortage,) = caught.value.shortages
    assert (shortage.pool.name, shortage.missing_bytes) == ("sram", 15)


def test_a_plan_that_might_fit_suggests_another_planner() -> None:
    # Bound 3 + 3 = 6, yet alignment 8 puts the second at 8.
    pool = Pool(name="sram", region="SRAM", limit_bytes=10)
    with pytest.raises(CodegenError, match="try another --planner, a board") as caught, telling():
        planners.find("greedy_by_size")(
            problem(buffer("a", 3, 0, 1, 8), buffer("b", 3, 0, 1, 8), pools=(pool,))
        )
    assert "in any plan" not in str(caught.value)


def test_the_deadline_is_a_safety_stop_that_shows() -> None:
    hard = problem(*(buffer(f"b{i}", 3 + i % 5, i, i + 4, 8) for i in range(30)), effort=10**9)
    plan = planners.find("hill_climb")(replace(hard, limits=replace(hard.limits, deadline_seconds=0.05)))
    assert not plan.reproducible
    assert not plan.proved_optimal
    assert violations(hard, plan) == []


def test_seed_and_effort_decide_the_answer() -> None:
    hard = problem(
        *(buffer(f"b{i}", 100 + 37 * i % 90, i % 11, i % 11 + 3 + i % 4, 16) for i in range(40)), effort=300
    )
    first, second = planners.find("hill_climb")(hard), planners.find("hill_climb")(hard)
    assert first.placements == second.placements
    more = planners.find("hill_climb")(replace(hard, limits=replace(hard.limits, effort=3000)))
    assert peak_bytes(hard, more, "sram") <= peak_bytes(hard, first, "sram")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_place(name: str) -> None:
    plan = planners.find(name)(problem())
    assert dict(plan.placements) == {}
    assert plan.lower_bounds == {"sram": 0}


@given(
    sizes=st.lists(st.tuples(st.integers(0, 20), st.sampled_from([1, 2, 8, 16])), min_size=1, max_size=3),
    least=st.integers(0, 60),
)
def test_a_peak_is_where_an_aligned_buffer_ends(sizes: list[tuple[int, int]], least: int) -> None:
    """Against all ends that any buffer can have."""
    buffers = [buffer(f"b{i}", size, 0, 1, alignment) for i, (size, alignment) in enumerate(sizes)]
    least = max(least, *(size for size, _ in sizes))
    ends = [n * b.alignment + b.size_bytes for b in buffers if b.size_bytes for n in range(80)]
    assert least_end(buffers, least) == min((end for end in ends if end >= least), default=least)


def test_buffers_of_one_lifetime_cost_a_few_calls_a_pair() -> None:
    optimal(one_lifetime(4))
    problem = one_lifetime(200)
    plans: list[MemoryPlan] = []
    count = calls(lambda: plans.append(optimal(problem)))
    assert peak_bytes(problem, plans[0], "ram") == sum(buffer.size_bytes for buffer in problem.buffers)
    assert plans[0].proved_optimal
    assert count / len(problem.conflicts) < 16, count


@needs_c
def test_large_problems_that_miss_the_bound_end_with_an_effort_of_their_size() -> None:
    """3,000 buffers in a staircase took 46 s: a unit of work costs more there, and as many were spent."""
    problem = replace(staircase(1000), limits=Limits(effort=1000))
    plan = optimal(problem)
    assert violations(problem, plan) == []
    assert plan.reproducible
    assert peak_bytes(problem, plan, "ram") <= 1.02 * plan.lower_bounds["ram"]
    assert plan.nodes < 180_000
