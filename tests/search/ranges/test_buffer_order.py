"""The order of buffers that is chosen for all sizes, of random networks: every size is gone through."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.ir import Function
from codegen.ir.formulas import Symbol, evaluate
from codegen.ir.ranged import NamedSizes
from codegen.plan.place.exact import optimal
from codegen.plan.place.orientation import Orientation, Pair, distances, placed
from codegen.plan.validate import violations
from codegen.problem.problem import Buffer, Conflict, MemoryPlan, Pool, Problem, peak_bytes, plain
from codegen.program.program import MemoryLayout, Program
from codegen.search.ranges.buffer_order import least_distances, order_of_all
from codegen.search.ranges.members import Member
from codegen.search.ranges.offsets import Offsets
from tests.sampling import examples

POOL = Pool(name="ram", region="RAM", limit_bytes=1 << 30, alignment=1)
COUNT = 14
"""Sizes of a range: 1 to so many."""

Drawn = tuple[Sequence[tuple[int, int, int]], Sequence[tuple[int, int]], Sequence[int]]

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
    )
)
"""Sizes (factor, divisor, constant), live intervals, overlaps."""


def problem_at(drawn: Drawn, t: int) -> Problem:
    """Buffers of factor*(T + divisor - 1)/divisor + constant bytes. Each may begin some bytes lower over the
    next one."""
    sizes, spans, overlaps = drawn
    buffers: list[Buffer] = []
    for index, ((factor, divisor, constant), (birth, end)) in enumerate(zip(sizes, spans, strict=True)):
        buffers.append(
            Buffer(
                id=f"b{index}",
                size_bytes=factor * -(-t // divisor) + constant,
                start=birth,
                stop=end,
                alignment=1 + 3 * (index % 2),
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


def members_of(drawn: Drawn) -> list[Member]:
    """What the choice of an order looks at: the problems alone."""
    members = [SimpleNamespace(values={"T": t}, problem=problem_at(drawn, t)) for t in range(1, COUNT + 1)]
    return cast("list[Member]", members)


def plan_at(order: Orientation, problem: Problem, least: Mapping[Pair, int] | None = None) -> MemoryPlan:
    nothing = optimal(Problem(buffers=(), conflicts=(), pools=(POOL,)))
    return replace(nothing, placements=placed(order, problem, least))


@given(networks)
@settings(deadline=None, max_examples=examples(20))
def test_every_size_is_valid_and_has_the_offsets_of_the_formulas(drawn: Drawn) -> None:
    """The largest needs no more than its own plan."""
    members = members_of(drawn)
    best = optimal(members[-1].problem)
    order = order_of_all(best, members, optimal)
    functions = cast("list[Function]", [SimpleNamespace(params=(), body=())] * COUNT)
    symbols = (Symbol(name="T", low=1, high=COUNT),)
    names = NamedSizes(symbols, [each.values for each in members], functions, complete=True)
    least = least_distances(order, members, names)
    plans = [
        plan_at(order, each.problem, {pair: int(values[i]) for pair, (_, values) in least.items()})
        for i, each in enumerate(members)
    ]
    for each, plan in zip(members, plans, strict=True):
        assert not violations(each.problem, replace(plan, lower_bounds={"ram": 0}))
    peaks = [peak_bytes(each.problem, plan, "ram") for each, plan in zip(members, plans, strict=True)]
    assert peaks[-1] <= peak_bytes(members[-1].problem, best, "ram")

    programs = [
        SimpleNamespace(memory=MemoryLayout(problem=m.problem, plan=plan, slices={}, workspaces={}))
        for m, plan in zip(members, plans, strict=True)
    ]
    offsets = Offsets(cast("list[Program]", programs), order, least, names)
    peak = offsets.peak("ram")  # It may name a size more.
    known = names.sizes.values({"T": np.arange(1, COUNT + 1, dtype=np.int64)})
    for id_, formula in offsets.of.items():
        expected = [plan.placements[id_].offset for plan in plans]
        assert np.broadcast_to(evaluate(formula, known), (COUNT,)).tolist() == expected
    assert np.broadcast_to(evaluate(peak, known), (COUNT,)).tolist() == peaks


@given(networks)
@settings(deadline=None, max_examples=examples(15))
def test_the_largest_sizes_need_what_the_best_of_all_orders_needs(drawn: Drawn) -> None:
    """Brute force: every order of the buffers, each as low as those before it permit."""
    members = members_of(drawn)
    problem = members[-1].problem
    chosen = order_of_all(optimal(problem), members, optimal)
    least = distances(problem)
    every: list[int] = []
    for order in itertools.permutations([each.id for each in problem.buffers]):
        under = {high: order[:index] for index, high in enumerate(order)}
        below = {high: tuple(low for low in lows if (low, high) in least) for high, lows in under.items()}
        plan = plan_at(replace(chosen, order=order, below=below), problem)
        every.append(peak_bytes(problem, plan, "ram"))
    assert peak_bytes(problem, plan_at(chosen, problem), "ram") == min(every)
