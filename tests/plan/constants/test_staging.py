"""Staging: which constants are copied, what it costs, and that copies disturb nothing."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.plan.check import validate
from codegen.plan.constants.staging import Candidate, Room, Staging, candidates, choose, with_staged
from codegen.plan.place.access import access_cost
from codegen.program.constants import ConstantMember, ConstantPart, ConstantPool
from codegen.program.problem import Buffer, BufferKind, Limits, MemoryPlan, Placement, Pool, Problem

DTCM = Pool(name="dtcm", region="DTCM", limit_bytes=1000)
SRAM = Pool(name="sram", region="SRAM", limit_bytes=4000, read_cost=2.0, write_cost=2.0)
TIMES = tuple((step, step + 1) for step in range(4))


def constant(step: int, size: int, reads: float, cost: float = 8.0, alignment: int = 1) -> Candidate:
    part = ConstantPart(
        user=(f"s{step}", f"w{size}"), offset_bytes=0, size_bytes=size, dtype=np.dtype(np.int8)
    )
    return Candidate(part=part, step=step, alignment=alignment, reads=reads, read_cost=cost)


def planned(
    *values: tuple[int, int, int, int], pools: Sequence[Pool] = (DTCM,)
) -> tuple[Problem, MemoryPlan]:
    """Buffers (offset, size, start, stop) in the first pool."""
    buffers = tuple(
        Buffer(id=f"b{i}", size_bytes=size, start=start, stop=stop, pool_candidates=(pools[0].name,))
        for i, (_, size, start, stop) in enumerate(values)
    )
    problem = Problem(buffers=buffers, conflicts=(), pools=tuple(pools), limits=Limits())
    plan = MemoryPlan(
        placements={f"b{i}": Placement(pool=pools[0].name, offset=row[0]) for i, row in enumerate(values)},
        planner="test",
        solver="test",
        lower_bounds={pool.name: 0 for pool in pools},
        proved_optimal=True,
    )
    return problem, plan


def cost_in_order(
    found: Sequence[Candidate],
    problem: Problem,
    plan: MemoryPlan,
    times: Sequence[tuple[int, int]],
    limits: Mapping[str, int],
) -> int:
    """Cost of reading `found` if they are copied before use in the order given, each to the first pool with
    room whether it pays or not: what a choice has to beat."""
    room = Room(problem, plan, times, limits)
    total = 0
    for each in found:
        for pool in problem.pools:
            placed = room.put(each, pool, at_start=False)
            if placed is not None:
                total += each.cost(pool, at_start=False) - each.slow_cost
                break
    return total + sum(each.slow_cost for each in found)


def chosen(
    found: Sequence[Candidate],
    problem: Problem,
    plan: MemoryPlan,
    *,
    stay: bool = False,
    limits: dict[str, int] | None = None,
) -> Staging:
    own = {pool.name: pool.limit_bytes for pool in problem.pools}
    return choose(found, problem, plan, TIMES, own if limits is None else limits, may_stay=stay)


def test_a_copy_pays_from_the_reads_on_that_cost_more_than_copying() -> None:
    problem, plan = planned()
    # 8 a read where it is linked; 8 + 1 for the copy and 1 a read: 8 r > 9 + r from the second read on.
    once, twice = (chosen([constant(1, 100, reads)], problem, plan) for reads in (1.0, 2.0))
    assert once.staged == ()
    assert (once.costs.linked, once.costs.chosen, once.costs.bound) == (800, 800, 800)
    assert [(copy.copied_at, copy.used_at, copy.pool) for copy in twice.staged] == [(0, 1, "dtcm")]
    assert (twice.costs.linked, twice.costs.chosen, twice.costs.bound) == (1600, 1100, 1100)


def test_nothing_is_staged_where_memories_cost_the_same() -> None:
    problem, plan = planned()
    found = [constant(step, 50, 1000.0, cost=1.0) for step in range(3)]
    for stay in (False, True):
        assert chosen(found, problem, plan, stay=stay).staged == ()


def test_a_copy_that_stays_costs_nothing_per_inference() -> None:
    problem, plan = planned()
    found = chosen([constant(2, 100, 1.0)], problem, plan, stay=True)
    assert [(copy.copied_at, copy.interval(TIMES)) for copy in found.staged] == [(None, (0, 4))]
    assert (found.costs.linked, found.costs.chosen) == (800, 100)


def test_copies_take_turns_where_not_all_can_stay() -> None:
    problem, plan = planned()
    found = [constant(step, 400, 100.0) for step in range(4)]
    choice = chosen(found, problem, plan, stay=True)
    assert len(choice.staged) == 4, "two at a time fit: each with the one before or after"
    assert choice.costs.chosen < choice.costs.linked
    assert choice.costs.bound <= choice.costs.chosen


def test_copies_go_around_what_is_there_and_within_limits() -> None:
    problem, plan = planned((0, 300, 0, 2), (500, 100, 1, 4))
    choice = chosen([constant(1, 210, 10.0, alignment=8)], problem, plan)
    assert [copy.offset for copy in choice.staged] == [600], "200 bytes between the two are too few"
    assert chosen([constant(1, 210, 10.0)], problem, plan, limits={"dtcm": 600}).staged == ()
    # Later only the second buffer is there.
    later = chosen([constant(3, 210, 10.0)], problem, plan, limits={"dtcm": 600})
    assert [copy.offset for copy in later.staged] == [0]


def test_the_cheapest_pool_with_room() -> None:
    problem, plan = planned((0, 1000, 0, 4), pools=(DTCM, SRAM))
    choice = chosen([constant(1, 100, 10.0)], problem, plan)
    assert [copy.pool for copy in choice.staged] == ["sram"]
    assert choice.costs.chosen == 100 * (8 + 2 + 10 * 2)


def test_candidates_are_constants_as_steps_read_them() -> None:
    parts = {
        name: ConstantPart(user=("s0", name), offset_bytes=offset, size_bytes=8, dtype=np.dtype(dtype))
        for name, dtype, offset in (("w", np.int32, 0), ("b", np.int8, 4))
    }
    member = ConstantMember(
        name="s0_w", offset=0, data=np.arange(4, dtype=np.int32), alignment=8, parts=tuple(parts.values())
    )
    pool = ConstantPool(
        name="qspi", region="QSPI", section=".q", alignment=16, size_bytes=16, members=(member,),
        merged_bytes=0, read_cost=8.0,
    )  # fmt: skip
    found = candidates([pool], {"s0": 3}, {("s0", "w"): 2.0, ("s0", "b"): 3.0})
    assert [(each.part.user, each.step, each.alignment, each.slow_cost) for each in found] == [
        (("s0", "w"), 3, 8, 128),
        (("s0", "b"), 3, 4, 192),
    ]


buffers = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 40), st.integers(0, 3), st.integers(1, 2)), max_size=4
)
constants = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 50), st.integers(0, 20), st.sampled_from([1.0, 2.25, 8.0])),
    max_size=5,
)


@given(buffers, constants, st.integers(0, 120), st.booleans(), st.randoms(use_true_random=False))
def test_the_choice_beats_all_slow_and_random_ones_and_disturbs_nothing(
    given_: list[tuple[int, int, int, int]],
    wanted: list[tuple[int, int, int, float]],
    limit: int,
    stay: bool,
    dice: random.Random,
) -> None:
    rows = [(offset, size, start, min(start + length, 4)) for offset, size, start, length in given_]
    problem, plan = planned(*rows)
    found = [
        replace(each, part=replace(each.part, user=(f"s{each.step}", f"w{index}")))
        for index, each in enumerate(constant(s, n, float(r), c, alignment=4) for s, n, r, c in wanted)
    ]
    choice = chosen(found, problem, plan, stay=stay, limits={"dtcm": limit})
    costs = choice.costs
    assert costs.bound <= costs.chosen <= costs.linked == sum(each.slow_cost for each in found)
    for _ in range(3):
        shuffled = list(found)
        dice.shuffle(shuffled)
        subset = shuffled[: dice.randint(0, len(shuffled))]
        rest = sum(each.slow_cost for each in found) - sum(each.slow_cost for each in subset)
        assert costs.chosen <= rest + cost_in_order(subset, problem, plan, TIMES, {"dtcm": limit})
    full, moved = with_staged(problem, plan, choice.staged, TIMES)
    copies = [b for b in full.buffers if b.kind is BufferKind.CONSTANT]
    assert [b.id for b in copies] == [copy.buffer for copy in choice.staged]
    assert all(moved.placements[b.id].offset % 4 == 0 for b in copies)
    assert all(moved.placements[b.id].offset + b.size_bytes <= limit for b in copies)
    for copy in copies:
        mine = moved.placements[copy.id].offset
        for other in full.buffers:
            theirs = moved.placements[other.id].offset
            apart = mine + copy.size_bytes <= theirs or theirs + other.size_bytes <= mine
            meet = copy.start < other.stop and other.start < copy.stop
            assert other.id == copy.id or apart or not meet
    inside = replace(full, pools=(replace(DTCM, limit_bytes=1 << 20),))
    assert [text for text in validate.violations(inside, moved) if ".copy" in text] == []
    assert moved.access_cost_bound <= access_cost(full, moved) or not choice.staged


@pytest.mark.parametrize("stay", [False, True])
def test_many_constants_are_staged_by_reads(stay: bool) -> None:
    problem, plan = planned()
    found = [constant(step % 4, 60 + step, 5.0 + 7 * (step % 3)) for step in range(20)]
    choice = chosen(found, problem, plan, stay=stay)
    dice = random.Random(1)
    for _ in range(20):
        shuffled = dice.sample(found, len(found))
        limits = {"dtcm": DTCM.limit_bytes}
        assert choice.costs.chosen <= cost_in_order(shuffled, problem, plan, TIMES, limits)
