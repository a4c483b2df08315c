"""What accesses cost: touches of values worked out by hand, whole numbers, order of preference."""

import math
from dataclasses import replace

import pytest

from codegen.kernels.contract import View, Workspace
from codegen.lifetimes.liveness import Liveness
from codegen.plan.place import access
from codegen.plan.place.exact import optimal
from codegen.problem.problem import Buffer, MemoryPlan, Placement, Pool, pool_alignment
from codegen.program.interface import IoMode
from tests.plan.build import buffer, live, prim, problem, var

X, A, B = var("x", 100), var("a", 50), var("b", 50)


def touched(found: Liveness) -> dict[str, tuple[float, float]]:
    return {b.id: (b.reads, b.writes) for b in found.buffers}


def test_steps_write_once_and_read_as_the_kernel_says_and_the_application_comes_on_top() -> None:
    steps = [replace(prim(A, X), reads=(9.0,)), prim(B, A)]
    assert touched(live([X], steps, [B])) == {"x": (9.0, 1.0), "a": (1.0, 1.0), "b": (1.0, 1.0)}
    # An output that later steps read too is read by them and by the application.
    assert touched(live([X], steps, [A, B]))["a"] == (2.0, 1.0)


def test_views_touch_nothing_and_their_readers_touch_the_part_they_see() -> None:
    half = var("h", 50)
    steps = [prim(half, X, view=View(argument=0, offset_bytes=50)), replace(prim(B, half), reads=(4.0,))]
    # 4 * 50 of 100 bytes.
    assert touched(live([X], steps, [B]))["x"] == (2.0, 1.0)


def test_a_result_in_place_is_written_to_the_bytes_of_its_argument() -> None:
    steps = [prim(A, X), replace(prim(B, A), in_place=0, reads=(3.0,))]
    assert touched(live([X], steps, [B]))["a"] == (4.0, 2.0)


def test_what_is_joined_in_a_result_is_not_copied() -> None:
    """c is a beside b: a lies in its bytes from the start, b is copied."""
    joined = replace(prim(var("c", 100), A, B), joined=(0,))
    found = touched(live([X], [prim(A, X), prim(B, X), joined], [var("c", 100)]))
    # a's step writes 50 bytes of c and the copy of b the other 50; the application reads all.
    assert found == {"x": (2.0, 1.0), "b": (1.0, 1.0), "c": (1.0, 1.0)}


def test_workspaces_say_it_themselves_and_what_the_caller_owns_is_not_counted() -> None:
    space = Workspace(name="w", size_bytes=8, reads=5.0, writes=2.5)
    found = touched(live([X], [prim(A, X, workspaces=(space,)), prim(B, A)], [B], io=IoMode.CALLER))
    assert found == {"a": (1.0, 1.0), "a.w": (5.0, 2.5)}


FAST = Pool(name="fast", region="F", limit_bytes=100, alignment=16)
SLOW = Pool(name="slow", region="S", limit_bytes=100, alignment=8, read_cost=1.25, write_cost=3.0)
TWIN = replace(FAST, name="twin")


def item(
    name: str, size: int, *pools: str, reads: float = 1.0, writes: float = 1.0, align: int = 1
) -> Buffer:
    return replace(buffer(name, size, 0, 1, align, pools), reads=reads, writes=writes)


def hand(**places: str) -> MemoryPlan:
    return MemoryPlan(
        placements={id_: Placement(pool=pool, offset=0) for id_, pool in places.items()},
        planner="hand",
        solver="hand",
        lower_bounds={},
        proved_optimal=False,
    )


def test_costs_are_reads_and_writes_times_the_pool_s_and_whole() -> None:
    found = problem(
        item("a", 10, "fast", "slow", reads=2.0),
        item("b", 3, "slow"),
        item("c", 0, "slow"),
        pools=(FAST, SLOW),
    )
    # a: 10 * (2 * 1.25 + 3) = 55; b: 3 * 4.25 = 12.75, a whole number of accesses: 13.
    plan = hand(a="slow", b="slow", c="slow")
    assert access.access_cost(found, plan) == access.pool_access_cost(found, plan, "slow") == 68
    assert access.pool_access_cost(found, plan, "fast") == 0
    # a in the fast pool: 10 * 3.
    assert access.least_access_cost(found) == 43


def test_a_buffer_prefers_the_cheapest_pool_then_the_one_listed_first() -> None:
    found = problem(
        item("a", 4, "slow", "twin", "fast"),
        item("b", 4, "slow", "fast", writes=0.0, reads=0.0),
        pools=(FAST, SLOW, TWIN),
    )
    assert access.preferred_pools(found) == {"a": "twin", "b": "slow"}
    priced = access.prices(found)
    a, b = priced.rows
    assert list(a) == ["twin", "fast", "slow"]
    # 4 * 2 accesses in either fast pool; in the later of the two, 4 bytes count as out of place.
    assert a["fast"] - a["twin"] == 4
    assert [price // priced.scale for price in a.values()] == [8, 8, 17]
    assert b == {"slow": 0, "fast": 4}
    assert (max(a.values()) + max(b.values())) // priced.scale == 17


def test_a_closed_pool_is_nobody_s_preference() -> None:
    """With `--pool dtcm=0` no plan of mps3-an547 was proved: every buffer preferred what had no byte."""
    closed = replace(FAST, limit_bytes=0)
    found = problem(item("a", 4, "fast", "slow"), item("b", 4, "fast"), pools=(closed, SLOW))
    assert access.preferred_pools(found) == {"a": "slow", "b": "fast"}
    # a: 4 * 4.25 in the slow pool; b has no other one.
    assert access.least_access_cost(found) == 17 + 8
    plan = optimal(problem(item("a", 4, "fast", "slow"), pools=(closed, SLOW)))
    assert plan.proved_optimal and plan.access_cost_bound == 17


def test_the_base_of_a_pool_is_aligned_for_all_that_lies_in_it() -> None:
    found = problem(item("a", 4, "fast", align=64), item("b", 4, "slow", align=4), pools=(FAST, SLOW, TWIN))
    plan = hand(a="fast", b="slow")
    assert [pool_alignment(found, plan, name) for name in ("fast", "slow", "twin")] == [64, 8, 16]


@pytest.mark.parametrize("amount", [-1.0, math.nan, math.inf])
def test_amounts_that_mean_nothing_are_refused(amount: float) -> None:
    with pytest.raises(ValueError, match=r"buffer a: .* reads, .* writes"):
        item("a", 4, "fast", reads=amount)
    with pytest.raises(ValueError, match="pool slow: access costs"):
        replace(SLOW, write_cost=amount)
