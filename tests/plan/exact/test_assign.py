"""Several pools: the choice against brute force over all assignments and all offsets, and what is claimed."""

import random
from dataclasses import replace
from functools import cache
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codegen.plan.access import access_cost, least_access_cost
from codegen.plan.conflicts import interval_conflicts
from codegen.plan.exact import optimal
from codegen.plan.exact.assign import Assigner
from codegen.plan.exact.contention import IMPOSSIBLE, Contention
from codegen.plan.exact.graph import graph
from codegen.plan.exact.rooms import Rooms
from codegen.plan.exact.squeeze import Budget
from codegen.plan.greedy import greedy_by_size
from codegen.plan.hill_climb import hill_climb
from codegen.plan.problem import Buffer, Conflict, Limits, MemoryPlan, Pool, Problem, peak_bytes
from codegen.plan.shortage import DoesNotFit
from codegen.plan.validate import violations
from tests.plan.exact.instances import buffer, lowest_peak, problems

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


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
