"""Keys and sections of long chains: what a chain of 4,000 steps took 20 of its 36 seconds for.

Keys were raised buffer by buffer, in as many sweeps as the chain is long.
"""

from collections.abc import Sequence
from typing import Any

import pytest

from codegen.plan.place import bounds
from codegen.plan.place.bounds import lower_bound
from codegen.plan.place.exact.conflict_graph import graph
from codegen.problem.problem import Buffer, Conflict, Pool, Problem

POOL = Pool(name="ram", region="RAM", limit_bytes=1 << 30, alignment=1)
SIZE = 16


def _chain(length: int, below: int) -> Problem:
    """Buffers that are alive with the one before and the one behind: below it or wholly above it."""
    buffers = tuple(
        Buffer(id=f"b{step}", size_bytes=SIZE, start=step, stop=step + 2, pool_candidates=("ram",))
        for step in range(length)
    )
    conflicts = tuple(
        Conflict(first=f"b{step}", second=f"b{step + 1}", first_below=SIZE, second_below=below)
        for step in range(length - 1)
    )
    return Problem(buffers=buffers, conflicts=conflicts, pools=(POOL,))


def test_keys_of_a_long_chain_against_the_order_of_time() -> None:
    """Each key is above the next one's by 1 - below = 5: sweeps in order of time raise one buffer each.

    20,000 buffers took 400,000,000 steps.
    """
    length = 20_000
    problem = _chain(length, -4)
    shifts = graph(problem, [buffer.id for buffer in problem.buffers]).shifts
    assert shifts == tuple(5 * (length - 1 - step) for step in range(length))


def test_a_circle_of_keys_is_seen_at_once() -> None:
    """Three buffers of which each has to have a higher key than the next: no keys agree.

    A chain beside them was swept as often as it is long before that was said.
    """
    length = 20_000
    chain = _chain(length, -4)
    circle = tuple(
        Buffer(id=name, size_bytes=SIZE, start=0, stop=1, pool_candidates=("ram",)) for name in "xyz"
    )
    around = tuple(
        Conflict(first=one, second=other, first_below=-1, second_below=SIZE)
        for one, other in (("x", "y"), ("y", "z"), ("z", "x"))
    )
    problem = Problem(buffers=chain.buffers + circle, conflicts=chain.conflicts + around, pools=chain.pools)
    assert graph(problem, [buffer.id for buffer in problem.buffers]).shifts is None


def _nested(length: int) -> Problem:
    """Values that are read in reverse of the order in which they were made, as in a U-Net.

    Every other one may lie in the bytes of the one before it.
    """
    buffers = tuple(
        Buffer(id=f"b{step}", size_bytes=SIZE, start=step, stop=2 * length - step, pool_candidates=("ram",))
        for step in range(length)
    )
    conflicts = tuple(
        Conflict(
            first=f"b{one}",
            second=f"b{other}",
            first_below=0 if other == one + 1 and one % 2 == 0 else SIZE,
            second_below=SIZE,
        )
        for one in range(length)
        for other in range(one + 1, length)
    )
    return Problem(buffers=buffers, conflicts=conflicts, pools=(POOL,))


def test_groups_of_buffers_are_bounded_where_they_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A U-Net of 600 layers took 14 s of processor time: at each time all groups were bounded anew."""
    bounded: list[int] = []
    group_covered = bounds._group_covered  # pyright: ignore[reportPrivateUsage]

    def counted(buffers: Sequence[Buffer], group: Sequence[int], overlaps: Any) -> int:
        bounded.append(len(group))
        return group_covered(buffers, group, overlaps)

    monkeypatch.setattr(bounds, "_group_covered", counted)
    length = 200
    # Half of the values lie in the bytes of others.
    assert lower_bound(_nested(length)).bytes == length // 2 * SIZE
    assert len(bounded) <= 2 * length  # as often as a value is born or dies; it was 10,100
