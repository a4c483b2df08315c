"""Staging: which constants are copied, what it costs, and that copies disturb nothing.
Linking random constants: everyone reads what they gave, nothing is there twice, padding is least.
"""

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from codegen.constants.linking import assigned, link, size_bytes
from codegen.constants.merging import Piece, end_bytes, merge, ordered
from codegen.constants.staging import (
    Candidate,
    Room,
    Staging,
    Taken,
    candidates,
    choose,
    with_staged,
)
from codegen.kernels.contract import LinkedConstant
from codegen.plan import validate
from codegen.plan.place.access import access_cost
from codegen.problem.problem import Buffer, BufferKind, Limits, MemoryPlan, Placement, Pool, Problem
from codegen.problem.shortage import DoesNotLink
from codegen.program.constants import ConstantMember, ConstantPart, ConstantPool
from codegen.program.program import MemoryLayout
from tests.sampling import examples

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
    limits = limits or {pool.name: pool.limit_bytes for pool in problem.pools}
    return choose(found, problem, plan, TIMES, limits, may_stay=stay)


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
    plain = MemoryLayout(problem=problem, plan=plan, slices={}, workspaces={})
    after = with_staged(plain, choice.staged, TIMES)
    full, moved = after.problem, after.plan
    copies = [b for b in full.buffers if b.kind is BufferKind.CONSTANT]
    assert [b.id for b in copies] == [copy.buffer for copy in choice.staged]
    for copy in copies:
        mine = moved.placements[copy.id].offset
        assert mine % 4 == 0 and mine + copy.size_bytes <= limit
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


ITCM = Pool(name="itcm", region="ITCM", limit_bytes=1 << 20, section=".rodata.cg.itcm")
QSPI = Pool(name="qspi", region="QSPI", limit_bytes=1 << 20, section=".rodata.cg.qspi", read_cost=8.0)


@dataclass(frozen=True)
class Sized:
    """What is laid out."""

    size_bytes: int
    alignment: int


@st.composite
def drawn_constants(draw: st.DrawFn) -> list[tuple[str, LinkedConstant]]:
    """Few different values, so that many are equal or lie inside others."""
    found: list[tuple[str, LinkedConstant]] = []
    for index in range(draw(st.integers(1, 8))):
        dtype = np.dtype(draw(st.sampled_from(["int8", "uint8", "int16", "int32", "float32"])))
        values = draw(st.lists(st.integers(0, 2), min_size=1, max_size=6))
        found.append(
            (
                f"step{index}",
                LinkedConstant(
                    role="w",
                    data=np.array(values, dtype),
                    alignment=draw(st.sampled_from([1, 2, 4, 8, 16])),
                    memory_scope=draw(st.sampled_from([None, None, None, "itcm", "qspi"])),
                    reads=draw(st.sampled_from([None, 1.0, 2.5, 100.0])),
                ),
            )
        )
    return found


def image(pool: ConstantPool) -> bytes:
    """The bytes of a constant pool; padding is no value that a constant has."""
    memory = bytearray(b"\xee" * pool.size_bytes)
    for member in pool.members:
        memory[member.offset : member.offset + member.data.nbytes] = member.data.tobytes()
    return bytes(memory)


@given(drawn_constants())
def test_everyone_reads_their_bytes_at_their_alignment(given_: list[tuple[str, LinkedConstant]]) -> None:
    pools = link((), [ITCM, QSPI], given_)
    wanted = {(user, constant.role): constant for user, constant in given_}
    seen: list[tuple[str, str]] = []
    for pool in pools:
        memory = image(pool)
        for member in pool.members:
            assert member.offset % member.alignment == 0
            assert pool.alignment % member.alignment == 0
            for part in member.parts:
                seen.append(part.user)
                constant = wanted[part.user]
                start = member.offset + part.offset_bytes
                assert memory[start : start + part.size_bytes] == constant.data.tobytes()
                assert part.offset_bytes + part.size_bytes <= member.data.nbytes
                assert start % max(constant.alignment, constant.data.dtype.itemsize) == 0
                assert part.dtype == constant.data.dtype
                assert constant.memory_scope in (None, pool.name)
                # What C may read there: the type itself, characters, or another member of a union.
                assert (
                    part.dtype == member.data.dtype
                    or part.dtype.itemsize == 1
                    or (part.offset_bytes == 0 and part.size_bytes == member.data.nbytes)
                )
    assert sorted(seen) == sorted(wanted)


@given(drawn_constants())
def test_members_are_apart_and_none_is_there_twice(given_: list[tuple[str, LinkedConstant]]) -> None:
    scope = {user: constant.memory_scope for user, constant in given_}
    for pool in link((), [ITCM, QSPI], given_):
        for before, after in itertools.pairwise(pool.members):
            assert before.offset + before.data.nbytes <= after.offset
        assert pool.members[-1].offset + pool.members[-1].data.nbytes <= pool.size_bytes
        contents = [member.data.tobytes() for member in pool.members]
        assert len(set(contents)) == len(contents)
        for inner, outer in itertools.permutations(pool.members, 2):
            at = outer.data.tobytes().find(inner.data.tobytes())
            # What is tied to a memory draws nothing larger there.
            free = all(scope[user] is None for user, _ in inner.users)
            free = free and all(part.dtype.itemsize == 1 for part in inner.parts)
            assert not (at >= 0 and free and inner.alignment == 1), "a part that is there again"
        used = sum(part.size_bytes for member in pool.members for part in member.parts)
        assert pool.merged_bytes == used - pool.unique_bytes


@given(drawn_constants())
def test_equal_bytes_are_apart_only_where_they_must_be(given_: list[tuple[str, LinkedConstant]]) -> None:
    """Over all pools: two equal members are there because one was wanted in each."""
    pools = link((), [ITCM, QSPI], given_)
    by_user = dict(given_)
    for content in {member.data.tobytes() for pool in pools for member in pool.members}:
        holders = [m for pool in pools for m in pool.members if m.data.tobytes() == content]
        if len(holders) > 1:
            scopes = [{by_user[user].memory_scope for user, _ in m.users} - {None} for m in holders]
            assert all(scopes)
            assert len({scope for each in scopes for scope in each}) == len(holders)


sized = st.builds(Sized, st.integers(1, 20), st.sampled_from([1, 2, 4, 8, 16]))


@given(st.lists(sized, min_size=1, max_size=6))
def test_padding_is_the_least_of_all_orders(items: list[Sized]) -> None:
    found = ordered(items)
    assert sorted(found, key=repr) == sorted(items, key=repr)
    assert end_bytes(found) == min(end_bytes(order) for order in itertools.permutations(items))


@given(st.lists(sized, min_size=30, max_size=60))
@settings(max_examples=examples(30))
def test_many_items_lose_less_than_one_alignment(items: list[Sized]) -> None:
    """Too many for the exact search: where single bytes can fill the gaps, nothing is lost."""
    fillers = [Sized(1, 1)] * 400
    assert end_bytes(ordered([*items, *fillers])) == sum(item.size_bytes for item in [*items, *fillers])


def total(shares: Sequence[Sequence[Piece]], pools: Sequence[Pool]) -> int:
    placed = [(piece, pool) for pool, share in zip(pools, shares, strict=True) for piece in share]
    return sum(round(piece.byte_reads * pool.read_cost) for piece, pool in placed)


@given(drawn_constants(), st.integers(0, 60), st.integers(0, 120))
def test_assignment_is_within_limits_and_no_better_than_can_be(
    given_: list[tuple[str, LinkedConstant]], itcm: int, qspi: int
) -> None:
    pools = [replace(ITCM, limit_bytes=itcm), replace(QSPI, limit_bytes=qspi)]
    pieces = merge(given_, pools)
    costs: list[int] = []
    for homes in itertools.product(*(piece.pools for piece in pieces)):
        shares = [
            [piece for piece, home in zip(pieces, homes, strict=True) if home == index]
            for index in range(len(pools))
        ]
        if all(size_bytes(share) <= pool.limit_bytes for share, pool in zip(shares, pools, strict=True)):
            costs.append(total(shares, pools))
    try:
        shares = assigned(pieces, pools)
    except DoesNotLink:
        # Greedy ways may miss what a search finds; without alignments in the way they do not.
        assume(bool(costs) and all(piece.alignment == 1 for piece in pieces))
        assert len(pieces) > 2, "two pieces are always placed if they fit"
        return
    for share, pool in zip(shares, pools, strict=True):
        assert size_bytes(share) <= pool.limit_bytes
    assert min(costs) <= total(shares, pools)
    if all(pool.limit_bytes >= size_bytes(pieces) for pool in pools):
        assert total(shares, pools) == min(costs), "with room for all, everything is where it is cheapest"


def test_a_short_copy_looks_at_what_lives_beside_it_alone() -> None:
    """Every copy sorted all that lay in its pool: a third of what 600 convolutions took."""
    generator, times = random.Random(7), [(2 * step, 2 * step + 2) for step in range(300)]
    entries = [
        (16 * generator.randrange(64), 16, start, min(start + length, 600))
        for start in range(600)
        for length in (1, 3, 500 if start % 200 == 0 else 2)
    ]
    taken = Taken(times)
    list(map(taken.add, entries))
    for start in range(0, 596, 7):
        seen = list(taken.between(start, start + 4))
        alive = {each for each in entries if each[2] < start + 4 and start < each[3]}
        assert alive <= set(seen)
        assert [each[0] for each in seen] == sorted(each[0] for each in seen)
        assert len(seen) <= 50
    assert set(taken.between(0, 600)) == set(entries)
    list(map(taken.remove, entries))
    assert not list(taken.between(0, 600)) and not list(taken.between(10, 12))
