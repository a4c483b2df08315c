"""Linking random constants: everyone reads what they gave, nothing is there twice, padding is least."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from codegen.kernels.contract import LinkedConstant
from codegen.plan.constants.assigning import assigned, cost_bound, read_cost, size_bytes
from codegen.plan.constants.linking import link
from codegen.plan.constants.merging import Piece, merge
from codegen.plan.constants.pool_order import end_bytes, ordered
from codegen.program.constants import ConstantPool
from codegen.program.problem import Pool
from codegen.program.shortage import DoesNotLink

ITCM = Pool(name="itcm", region="ITCM", limit_bytes=1 << 20, section=".rodata.cg.itcm")
QSPI = Pool(name="qspi", region="QSPI", limit_bytes=1 << 20, section=".rodata.cg.qspi", read_cost=8.0)


@dataclass(frozen=True)
class Sized:
    """What is laid out."""

    size_bytes: int
    alignment: int


@st.composite
def constants(draw: st.DrawFn) -> list[tuple[str, LinkedConstant]]:
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


@given(constants())
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


@given(constants())
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


@given(constants())
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
@settings(max_examples=30)
def test_many_items_lose_less_than_one_alignment(items: list[Sized]) -> None:
    """Too many for the exact search: where single bytes can fill the gaps, nothing is lost."""
    fillers = [Sized(1, 1)] * 400
    assert end_bytes(ordered([*items, *fillers])) == sum(item.size_bytes for item in [*items, *fillers])


def total(shares: Sequence[Sequence[Piece]], pools: Sequence[Pool]) -> int:
    return sum(read_cost(piece, pool) for pool, share in zip(pools, shares, strict=True) for piece in share)


@given(constants(), st.integers(0, 60), st.integers(0, 120))
def test_assignment_is_within_limits_and_above_its_bound(
    given_: list[tuple[str, LinkedConstant]], itcm: int, qspi: int
) -> None:
    pools = [replace(ITCM, limit_bytes=itcm), replace(QSPI, limit_bytes=qspi)]
    pieces = merge(given_, pools)
    best: int | None = None
    for homes in itertools.product(*(piece.pools for piece in pieces)):
        shares = [
            [piece for piece, home in zip(pieces, homes, strict=True) if home == index]
            for index in range(len(pools))
        ]
        if all(size_bytes(share) <= pool.limit_bytes for share, pool in zip(shares, pools, strict=True)):
            cost = total(shares, pools)
            best = cost if best is None else min(best, cost)
    try:
        shares = assigned(pieces, pools)
    except DoesNotLink:
        # Greedy ways may miss what a search finds; without alignments in the way they do not.
        assume(best is not None and all(piece.alignment == 1 for piece in pieces))
        assert len(pieces) > 2, "two pieces are always placed if they fit"
        return
    for share, pool in zip(shares, pools, strict=True):
        assert size_bytes(share) <= pool.limit_bytes
    assert best is not None
    assert cost_bound(pieces, pools) <= best <= total(shares, pools)
    if all(pool.limit_bytes >= size_bytes(pieces) for pool in pools):
        assert total(shares, pools) == best, "with room for all, everything is where it is cheapest"
