"""Orders of the parts of a range and their offsets, of random networks: every size is gone through."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from codegen.driver.build import plan_model
from codegen.driver.inputs.declared_pools import option_board
from codegen.driver.inputs.dims import parsed
from codegen.driver.options import Options
from codegen.ir import Function
from codegen.ir.formulas import Sum, Symbol, evaluate, named
from codegen.ir.ranged import NamedSizes
from codegen.plan.check.validate import violations
from codegen.plan.place.access import access_cost
from codegen.plan.place.exact import optimal
from codegen.plan.place.orientation import Orientation, Pair, distances, placed
from codegen.program.problem import Buffer, Conflict, MemoryPlan, Pool, Problem, peak_bytes, plain
from codegen.program.program import MemoryLayout, Program
from codegen.search.ranges import parts as range_parts
from codegen.search.ranges.buffer_order import BEYOND, least_distances, orders_of_parts, peak
from codegen.search.ranges.members import Member
from codegen.search.ranges.offsets import Offsets
from codegen.search.ranges.parts import RangeCut
from tests.networks import model_path

POOL = Pool(name="ram", region="RAM", limit_bytes=1 << 30, alignment=1)
Drawn = tuple[Sequence[tuple[int, int, int]], Sequence[tuple[int, int]], Sequence[int], int]

networks = st.integers(2, 5).flatmap(
    lambda count: st.tuples(
        st.lists(
            st.tuples(st.integers(0, 6), st.integers(1, 4), st.integers(1, 20)),
            min_size=count,
            max_size=count,
        ),
        st.lists(
            st.tuples(st.integers(0, 4), st.integers(1, 3)).map(lambda each: (each[0], sum(each))),
            min_size=count,
            max_size=count,
        ),
        st.lists(st.integers(0, 3), min_size=count, max_size=count),
        st.integers(3, 12),
    )
)
"""Sizes (factor, divisor, constant), live intervals, overlaps, where the second part begins."""


def problem_at(drawn: Drawn, t: int) -> Problem:
    """Buffers of factor*(T + divisor - 1)/divisor + constant bytes, in the second part wider workspaces: the
    last buffer is three times as large. Each may begin some bytes lower over the next one."""
    sizes, spans, overlaps, start = drawn
    buffers: list[Buffer] = []
    for index, ((factor, divisor, constant), (birth, end)) in enumerate(zip(sizes, spans, strict=True)):
        width = 3 if index == len(sizes) - 1 and t >= start else 1
        size = width * (factor * -(-t // divisor) + constant)
        alignment = 1 + 3 * (index % 2)
        buffers.append(
            Buffer(
                id=f"b{index}",
                size_bytes=size,
                start=birth,
                stop=end,
                alignment=alignment,
                pool_candidates=("ram",),
            )
        )
    conflicts: list[Conflict] = []
    for index, other in itertools.combinations(range(len(buffers)), 2):
        one, two = buffers[index], buffers[other]
        if one.start < two.stop and two.start < one.stop:
            below = max(1, one.size_bytes - overlaps[index] * t)
            conflicts.append(replace(plain(one, two), first_below=below))
    return Problem(buffers=tuple(buffers), conflicts=tuple(conflicts), pools=(POOL,))


def member_at(drawn: Drawn, t: int) -> Member:
    """What orders of buffers look at: the problem alone."""
    own = SimpleNamespace(values={"T": t}, problem=problem_at(drawn, t))
    return cast("Member", own)


def plan_at(order: Orientation, problem: Problem, least: Mapping[Pair, int] | None = None) -> MemoryPlan:
    nothing = optimal(Problem(buffers=(), conflicts=(), pools=(POOL,)))
    return replace(nothing, placements=placed(order, problem, least))


@given(networks)
@settings(deadline=None, max_examples=20)
def test_every_part_is_valid_at_every_size_and_the_largest_needs_no_more(drawn: Drawn) -> None:
    """Offsets are formulas: those of each size are what the plan there has, and no checker finds fault."""
    *_, start = drawn
    sizes = range(1, 15)
    members = [member_at(drawn, t) for t in sizes]
    parts = [int(t >= start) for t in sizes]
    best = optimal(members[-1].problem)
    given_ = orders_of_parts(best, members, parts, optimal)
    assert len(given_) == 2

    plans = check_formulas(members, parts, given_, start)
    assert peak_bytes(members[-1].problem, plans[-1], "ram") <= peak_bytes(members[-1].problem, best, "ram")


def check_formulas(
    members: Sequence[Member], parts: Sequence[int], given_: Sequence[Orientation], start: int
) -> Sequence[MemoryPlan]:
    """The plans of `members`, after a look at them by the checker, and at the formulas of what lies where."""
    functions = cast("list[Function]", [SimpleNamespace(params=(), body=())] * len(members))
    symbols = (Symbol(name="T", low=1, high=len(members)),)
    names = NamedSizes(symbols, [each.values for each in members], functions, complete=True)
    part = names.cut(named("T"), (start,), np.array(parts, np.int64))
    least = least_distances(given_, members, names)
    plans = [
        plan_at(given_[own], each.problem, {pair: int(values[i]) for pair, (_, values) in least.items()})
        for i, (own, each) in enumerate(zip(parts, members, strict=True))
    ]
    pools = [pool.name for pool in members[-1].problem.pools]
    for each, plan in zip(members, plans, strict=True):
        assert not violations(each.problem, replace(plan, lower_bounds=dict.fromkeys(pools, 0)))

    programs = [
        SimpleNamespace(memory=MemoryLayout(problem=m.problem, plan=plan, slices={}, workspaces={}))
        for m, plan in zip(members, plans, strict=True)
    ]
    offsets = Offsets(cast("list[Program]", programs), given_, part, least, names)
    formulas = {pool: offsets.peak(pool) for pool in pools}  # They may name a size more.
    known = names.sizes.values({"T": np.arange(1, len(members) + 1, dtype=np.int64)})
    for id_, formula in offsets.of.items():
        expected = [plan.placements[id_].offset for plan in plans]
        assert np.broadcast_to(evaluate(formula, known), (len(members),)).tolist() == expected
    for pool, formula in formulas.items():
        assert np.broadcast_to(evaluate(formula, known), (len(members),)).tolist() == [
            peak_bytes(each.problem, plan, pool) for each, plan in zip(members, plans, strict=True)
        ]
    return plans


@given(networks, st.integers(20, 120))
@settings(deadline=None, max_examples=40)
def test_a_part_takes_no_more_of_a_pool_than_the_largest_sizes_and_costs_no_more(
    drawn: Drawn, limit: int
) -> None:
    """Two pools, the fast one too small for all: in the first part buffers may lie in others, in the bytes
    that the application gives for the largest sizes, and with no more slow accesses."""
    *_, start = drawn
    fast = replace(POOL, name="fast", limit_bytes=limit)
    pools = (fast, replace(POOL, read_cost=2.0, write_cost=2.0))

    def at(t: int) -> Member:
        own = problem_at(drawn, t)
        buffers = tuple(replace(each, pool_candidates=("fast", "ram")) for each in own.buffers)
        problem = replace(own, buffers=buffers, pools=pools)
        return cast("Member", SimpleNamespace(values={"T": t}, problem=problem))

    members = [at(t) for t in range(1, 15)]
    parts = [int(t >= start) for t in range(1, 15)]
    best = optimal(members[-1].problem)
    first, last = given_ = orders_of_parts(best, members, parts, optimal)
    assert last.pools == {id_: place.pool for id_, place in best.placements.items()}
    assume(all(peak(last, each) < BEYOND for each in members))  # Distances here may grow as sizes fall.
    plans = check_formulas(members, parts, given_, start)
    most = {pool.name: peak_bytes(members[-1].problem, best, pool.name) for pool in pools}
    for pool, bytes_ in most.items():
        assert peak_bytes(members[-1].problem, plans[-1], pool) <= bytes_
    for each, plan in itertools.islice(zip(members, plans, strict=True), parts.index(1)):
        there = replace(plan, placements=plan_at(last, each.problem).placements)
        assert access_cost(each.problem, plan) <= access_cost(each.problem, there)
        if first.pools != last.pools:
            event("in other pools")
            assert all(peak_bytes(each.problem, plan, pool) <= bytes_ for pool, bytes_ in most.items())


@given(networks)
@settings(deadline=None, max_examples=15)
def test_the_largest_sizes_need_what_the_best_of_all_orders_needs(drawn: Drawn) -> None:
    """Brute force: every order of the buffers, each as low as those before it permit."""
    *_, start = drawn
    members = [member_at(drawn, t) for t in range(1, 15)]
    problem = members[-1].problem
    parts = [int(t >= start) for t in range(1, 15)]
    [*_, last] = orders_of_parts(optimal(problem), members, parts, optimal)
    found = peak_bytes(problem, plan_at(last, problem), "ram")
    least = distances(problem)
    ids = [each.id for each in problem.buffers]
    every: list[int] = []
    for order in itertools.permutations(ids):
        under = {high: order[:index] for index, high in enumerate(order)}
        below = {high: tuple(low for low in lows if (low, high) in least) for high, lows in under.items()}
        every.append(peak_bytes(problem, plan_at(replace(last, order=order, below=below), problem), "ram"))
    assert found == min(every)


def test_parts_are_told_by_a_quantity_of_the_symbols() -> None:
    parts = RangeCut(quantity=Sum(terms=((1, ("H", "W")),)), starts=(12, 30), programs=())
    sizes = [{"H": 2, "W": 5}, {"H": 3, "W": 4}, {"H": 4, "W": 7}, {"H": 5, "W": 6}]
    assert parts.of(sizes) == [0, 1, 1, 2]


def test_parts_are_compared_by_cycles_where_a_memory_model_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Kernels were chosen by cycles then, parts of the range by instructions."""
    compared: list[Member] = []

    def work(members: Sequence[Member]) -> NDArray[np.float64]:
        compared.extend(members)
        return predicted(members)

    predicted = range_parts._work  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(range_parts, "_work", work)
    options = Options(board="netduinoplus2", dims=parsed(["N=1..4"]), memory_model="stm32l4r5")
    model = model_path("autoencoder")
    plan_model(model, option_board("netduinoplus2", ()), options, emulated=True)
    prims = [prim for each in compared for prim in each.prim_funcs if prim.instructions]
    assert prims
    assert all(prim.cycles is not None and prim.work == prim.cycles for prim in prims)
    own = [sum(prim.cycles or 0 for prim in each.prim_funcs) for each in compared]
    assert predicted(compared).tolist() == own
