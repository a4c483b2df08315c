"""Several pools: the choice against brute force over all assignments and all offsets, and what is claimed."""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codegen.plan.place.access import access_cost, least_access_cost, prices
from codegen.plan.place.exact import optimal
from codegen.plan.place.exact.contention import IMPOSSIBLE, Contention
from codegen.plan.place.hill_climb import hill_climb
from codegen.plan.place.placing import greedy_by_size
from codegen.plan.validate import violations
from codegen.problem.problem import Buffer, Limits, MemoryPlan, Pool, Problem, interval_conflicts, peak_bytes
from codegen.problem.shortage import DoesNotFit
from tests.plan.place.exact.instances import buffer, chain, lowest_peak, problems, rectangles, whole
from tests.sampling import examples

Made = Callable[[int, random.Random], Problem]

Objective = tuple[float, int, int]
"""Access cost, bytes outside the first of equally cheap pools, sum of peaks."""

EFFORT = Limits(effort=2_000)


def price(problem: Problem, item: Buffer, name: str) -> tuple[float, int]:
    """Cost of one buffer in a pool, and its bytes for each pool listed before that costs it the same."""
    pools = {pool.name: pool for pool in problem.pools}
    costs = [
        item.size_bytes * (item.reads * pools[each].read_cost + item.writes * pools[each].write_cost)
        for each in item.pool_candidates
    ]
    place = item.pool_candidates.index(name)
    return costs[place], item.size_bytes * costs[:place].count(costs[place])


def best(problem: Problem) -> Objective | None:
    """By brute force; None if nothing fits."""
    limits = {pool.name: pool.limit_bytes for pool in problem.pools}

    @cache
    def peak(ids: frozenset[str]) -> int:
        buffers = tuple(b for b in problem.buffers if b.id in ids)
        conflicts = tuple(c for c in problem.conflicts if c.first in ids and c.second in ids)
        return lowest_peak(replace(problem, buffers=buffers, conflicts=conflicts)) if buffers else 0

    found: list[Objective] = []
    for choice in product(*(b.pool_candidates for b in problem.buffers)):
        held = {
            name: frozenset(b.id for b, chosen in zip(problem.buffers, choice, strict=True) if chosen == name)
            for name in limits
        }
        if all(peak(ids) <= limits[name] for name, ids in held.items()):
            each = [price(problem, b, name) for b, name in zip(problem.buffers, choice, strict=True)]
            found.append((sum(c for c, _ in each), sum(r for _, r in each), sum(map(peak, held.values()))))
    return min(found, default=None)


def objective(problem: Problem, plan: MemoryPlan) -> Objective:
    each = [price(problem, b, plan.placements[b.id].pool) for b in problem.buffers]
    peaks = sum(peak_bytes(problem, plan, pool.name) for pool in problem.pools)
    return sum(cost for cost, _ in each), sum(rank for _, rank in each), peaks


@st.composite
def several_pools(draw: st.DrawFn) -> Problem:
    """Small problems over two or three pools with limits that bind; costs may be equal."""
    problem = draw(problems(most=5, sizes=4))
    names = ("fast", "slow", "far")[: draw(st.integers(2, 3))]
    pools = tuple(
        Pool(
            name=name,
            region=name.upper(),
            limit_bytes=draw(st.sampled_from([0, 2, 4, 6, 9, 40])),
            read_cost=draw(st.sampled_from([1.0, 2.0, 3.0])),
            write_cost=draw(st.sampled_from([1.0, 4.0])),
        )
        for name in names
    )
    buffers: list[Buffer] = []
    for item in problem.buffers:
        candidates = draw(st.permutations(names))[: draw(st.sampled_from([1, len(names), len(names)]))]
        reads, writes = draw(st.sampled_from([0.0, 1.0, 5.0])), draw(st.sampled_from([0.0, 1.0, 2.0]))
        buffers.append(replace(item, pool_candidates=tuple(candidates), reads=reads, writes=writes))
    return replace(problem, buffers=tuple(buffers), pools=pools, limits=EFFORT)


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(problem=several_pools())
def test_the_choice_of_pools_is_the_best_and_proved(problem: Problem) -> None:
    expected = best(problem)
    if expected is None:
        with pytest.raises(DoesNotFit):
            optimal(problem)
        return
    plan = optimal(problem)
    assert violations(problem, plan) == []
    assert objective(problem, plan) == expected
    assert plan.proved_optimal
    assert access_cost(problem, plan) == plan.access_cost_bound == expected[0]


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(problem=several_pools(), effort=st.sampled_from([0, 4, 40]))
def test_bounds_hold_and_a_claim_is_true_whatever_was_stopped(problem: Problem, effort: int) -> None:
    expected = best(problem)
    for planner in (optimal, hill_climb, greedy_by_size):
        try:
            plan = planner(replace(problem, limits=Limits(effort=effort)))
        except DoesNotFit:
            continue
        assert expected is not None
        assert violations(problem, plan) == []
        found = objective(problem, plan)
        assert least_access_cost(problem) <= plan.access_cost_bound <= expected[0] <= found[0]
        assert found >= expected
        assert not plan.proved_optimal or found == expected


def two_pools(base: Problem, share: float, generator: random.Random) -> Problem:
    """A fast pool of `share` of what the buffers would need at least, beside a roomy slow one."""
    limit = int(share * max(sum(size for _, size in section) for section in whole(base).sections))
    pools = (
        Pool(name="fast", region="F", limit_bytes=limit),
        Pool(name="slow", region="S", limit_bytes=1 << 30, read_cost=4.0, write_cost=3.0),
    )
    buffers = tuple(
        replace(b, pool_candidates=("fast", "slow"), reads=float(generator.choice([1, 9, 64])))
        for b in base.buffers
    )
    return replace(base, buffers=buffers, pools=pools)


@pytest.mark.parametrize("seed", range(12))
def test_the_relaxed_bound_is_below_every_choice_that_fits_the_sections(seed: int) -> None:
    """Eleven buffers over many sections: all 2048 choices, at the root and with some buffers assigned."""
    generator = random.Random(seed)
    problem = two_pools((chain, rectangles)[seed % 2](11, generator), 0.6, generator)
    numbers = whole(problem)
    by_id = {b.id: row for b, row in zip(problem.buffers, prices(problem).rows, strict=True)}
    rows = [{("fast", "slow").index(name): p for name, p in by_id[id_].items()} for id_ in numbers.ids]
    limits = [pool.limit_bytes for pool in problem.pools]
    relaxed = Contention(numbers, rows, problem.pools)
    possible = {
        choice: sum(row[pool] for row, pool in zip(rows, choice, strict=True))
        for choice in product((0, 1), repeat=len(rows))
        if all(
            sum(size for b, size in section if choice[b] == pool) <= limits[pool]
            for section in numbers.sections
            for pool in (0, 1)
        )
    }
    root = relaxed.bound
    assert root <= min(possible.values())
    for _ in range(40):
        assigned = {
            b: generator.randrange(2) for b in generator.sample(range(len(rows)), generator.randrange(1, 9))
        }
        for b, pool in assigned.items():
            relaxed.assign(b, pool)
        left = [p for choice, p in possible.items() if all(choice[b] == q for b, q in assigned.items())]
        assert relaxed.bound <= min(left, default=IMPOSSIBLE)
        assert relaxed.bound >= root
        for _ in assigned:
            relaxed.undo()
        assert relaxed.bound == root


@pytest.mark.parametrize("kind", [chain, rectangles])
@pytest.mark.parametrize("count", [25, 60])
def test_larger_problems_hold_and_their_bound_is_below_every_other_plan(count: int, kind: Made) -> None:
    generator = random.Random(count)
    problem = replace(two_pools(kind(count, generator), 0.55, generator), limits=EFFORT)
    plan = optimal(problem)
    assert violations(problem, plan) == []
    cost = access_cost(problem, plan)
    assert least_access_cost(problem) < plan.access_cost_bound <= cost
    for other in (hill_climb, greedy_by_size):
        assert cost <= access_cost(problem, other(problem))
    if plan.access_cost_bound == cost and plan.proved_optimal:
        peaks = sum(peak_bytes(problem, plan, name) for name in ("fast", "slow"))
        assert peaks == sum(plan.lower_bounds.values())


@pytest.mark.parametrize("seed", range(4))
def test_neither_names_nor_the_order_of_the_lists_matter(seed: int) -> None:
    generator = random.Random(seed)
    problem = two_pools((chain, rectangles)[seed % 2](20, generator), 0.6, generator)
    # Equal buffers may swap places.
    unlike = tuple(replace(b, size_bytes=64 * b.size_bytes + i) for i, b in enumerate(problem.buffers))
    problem = replace(
        problem, buffers=unlike, conflicts=interval_conflicts(unlike), limits=Limits(effort=400)
    )
    fast, slow = problem.pools
    problem = replace(problem, pools=(replace(fast, limit_bytes=64 * fast.limit_bytes), slow))
    names = {b.id: f"n{generator.randrange(10**9)}" for b in problem.buffers}
    buffers = [replace(b, id=names[b.id]) for b in problem.buffers]
    conflicts = [replace(c, first=names[c.first], second=names[c.second]) for c in problem.conflicts]
    generator.shuffle(buffers)
    generator.shuffle(conflicts)
    plan = optimal(problem)
    other = optimal(replace(problem, buffers=tuple(buffers), conflicts=tuple(conflicts)))
    assert {names[id_]: place for id_, place in plan.placements.items()} == dict(other.placements)
    assert (plan.access_cost_bound, plan.proved_optimal) == (other.access_cost_bound, other.proved_optimal)


def test_what_is_touched_most_stays_in_the_fast_pool() -> None:
    """Three buffers of 8 bytes at once, room for two: the one that is touched least goes, not the last."""
    pools = (
        Pool(name="fast", region="F", limit_bytes=16),
        Pool(name="slow", region="S", limit_bytes=99, read_cost=3.0, write_cost=2.0),
    )
    touched = {"a": (1.0, 1.0), "b": (9.0, 1.0), "c": (0.0, 4.0)}
    buffers = tuple(
        replace(buffer(name, 8, 0, 1, pools=("slow", "fast")), reads=reads, writes=writes)
        for name, (reads, writes) in touched.items()
    )
    problem = Problem(buffers=buffers, conflicts=interval_conflicts(buffers), pools=pools)
    for planner in (optimal, hill_climb):
        plan = planner(problem)
        assert {id_: place.pool for id_, place in plan.placements.items()} == {
            "a": "slow",
            "b": "fast",
            "c": "fast",
        }
        # a: 8 * (3 + 2), b: 8 * 10, c: 8 * 4; all in the fast pool it would be 8 * 16.
        assert access_cost(problem, plan) == 40 + 80 + 32
    plan = optimal(problem)
    assert plan.access_cost_bound == 152
    assert plan.proved_optimal
    assert hill_climb(problem).access_cost_bound == 128


def test_of_equally_cheap_choices_the_one_with_the_lowest_peaks_is_taken() -> None:
    """a or b must go, at the same cost. a is dead before c is born and lies in the same bytes: 8 + 4 against
    b beside c, 10 + 8."""
    pools = (
        Pool(name="fast", region="F", limit_bytes=8),
        Pool(name="slow", region="S", limit_bytes=99, read_cost=2.0, write_cost=2.0),
    )
    buffers = (
        replace(buffer("a", 8, 0, 1, pools=("fast", "slow")), reads=1.0),
        replace(buffer("b", 4, 0, 2, pools=("fast", "slow")), reads=3.0),
        buffer("c", 6, 1, 2, pools=("slow",)),
    )
    problem = Problem(buffers=buffers, conflicts=interval_conflicts(buffers), pools=pools)
    for order in (buffers, buffers[::-1]):
        plan = optimal(replace(problem, buffers=order))
        assert (plan.placements["a"].pool, plan.placements["b"].pool) == ("slow", "fast")
        # a: 8 * (1 + 1) * 2; b: 4 * (3 + 1); c: 6 * (1 + 1) * 2. Preference is no matter; peaks 8 and 4.
        assert objective(problem, plan) == (32 + 16 + 24, 0, 12)
        assert plan.proved_optimal


def test_a_search_without_effort_claims_no_more_than_the_relaxed_bound() -> None:
    generator = random.Random(3)
    problem = replace(two_pools(rectangles(40, generator), 0.6, generator), limits=Limits(effort=0))
    plan = optimal(problem)
    assert violations(problem, plan) == []
    assert plan.access_cost_bound < access_cost(problem, plan)
    assert not plan.proved_optimal
    proved = optimal(replace(problem, limits=Limits()))
    assert plan.access_cost_bound <= proved.access_cost_bound == access_cost(problem, proved)


def test_a_deadline_that_cuts_the_choice_short_says_so() -> None:
    generator = random.Random(5)
    problem = two_pools(chain(60, generator), 0.55, generator)
    plan = optimal(replace(problem, limits=Limits(deadline_seconds=0.0)))
    assert violations(problem, plan) == []
    assert not plan.reproducible
    assert not plan.proved_optimal


def test_too_small_pools_are_an_error() -> None:
    buffers = tuple(buffer(name, 8, 0, 1, pools=("fast", "slow")) for name in "abc")
    pools = tuple(Pool(name=name, region=name, limit_bytes=11) for name in ("fast", "slow"))
    problem = Problem(buffers=buffers, conflicts=interval_conflicts(buffers), pools=pools)
    with pytest.raises(DoesNotFit) as caught:
        optimal(problem)
    [short] = caught.value.shortages
    assert (short.pool.name, short.missing_bytes) == ("fast", 5)
