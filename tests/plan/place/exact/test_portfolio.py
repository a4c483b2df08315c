"""`--planner optimal`: its plans against brute force, and what it may claim."""

import random
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from codegen.plan.check.validate import violations
from codegen.plan.place.bounds import lower_bound
from codegen.plan.place.exact import native, optimal
from codegen.plan.place.exact.reference import Search
from codegen.plan.place.problem_files import read_problem
from codegen.program.problem import Conflict, Limits, Pool, Problem, interval_conflicts, plain
from codegen.program.shortage import DoesNotFit
from tests.plan.place.exact.instances import (
    POOL,
    SMALL,
    buffer,
    chain,
    gap,
    lowest_peak,
    peak,
    problems,
    rectangles,
    whole,
)
from tests.testdata import TESTDATA

INSTANCES = TESTDATA.parent / "instances"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(problem=problems())
def test_the_peak_is_the_lowest_and_proved(problem: Problem) -> None:
    plan = optimal(problem)
    assert violations(problem, plan) == []
    assert peak(problem, plan) == lowest_peak(problem)
    assert plan.proved_optimal
    assert plan.lower_bounds["sram"] == peak(problem, plan)
    assert plan.reproducible


def test_a_stopped_search_proves_nothing() -> None:
    """The bound is not reached; without effort nobody can know."""
    problem = gap()
    assert lower_bound(problem).bytes < lowest_peak(problem)
    stopped = optimal(replace(problem, limits=Limits(effort=0)))
    assert stopped.lower_bounds["sram"] == lower_bound(problem).bytes
    assert not stopped.proved_optimal
    proved = optimal(problem)
    assert proved.proved_optimal
    assert peak(problem, proved) == proved.lower_bounds["sram"] == lowest_peak(problem)
    search = Search(whole(problem), range(len(problem.buffers)), lowest_peak(problem) - 1, adaptive=False)
    assert search.run(1) is None


def test_a_deadline_that_cuts_says_so() -> None:
    problem = rectangles(300, random.Random(4))
    problem = replace(problem, limits=Limits(deadline_seconds=0.0))
    plan = optimal(problem)
    assert violations(problem, plan) == []
    met = peak(problem, plan) == lower_bound(problem).bytes
    assert plan.proved_optimal == met
    assert plan.reproducible == met


def test_overlaps_in_a_circle_are_solved_exactly() -> None:
    """a may lie up to 2 above b, b above c, c above a: no keys agree, so directions are searched."""
    buffers = tuple(buffer(name, 4, 0, 1) for name in "abc")
    pairs = (("a", "b"), ("b", "c"), ("c", "a"))
    conflicts = tuple(Conflict(first=x, second=y, first_below=-1, second_below=4) for x, y in pairs)
    problem = Problem(buffers=buffers, conflicts=conflicts, pools=(POOL,))
    assert whole(problem).shifts is None
    plan = optimal(problem)
    # o_b >= o_a - 1, o_c >= o_b - 1, o_a >= o_c - 1: all at 0.
    assert peak(problem, plan) == 4
    assert plan.proved_optimal


def test_huge_alignments_and_conflicts_no_interval_explains() -> None:
    buffers = (buffer("a", 1, 0, 1, 1 << 20), buffer("b", 1, 0, 1, 1 << 20), buffer("c", 5, 7, 8))
    conflicts = (*interval_conflicts(buffers), plain(buffers[0], buffers[2]))
    problem = Problem(buffers=buffers, conflicts=conflicts, pools=(POOL,))
    plan = optimal(problem)
    assert violations(problem, plan) == []
    # Two starts on multiples of 2^20; c fits between them.
    assert peak(problem, plan) == (1 << 20) + 1
    assert plan.proved_optimal


def test_nothing_to_place() -> None:
    assert optimal(Problem(buffers=(), conflicts=(), pools=(POOL,))).proved_optimal
    problem = Problem(buffers=(buffer("a", 0, 0, 1),), conflicts=(), pools=(POOL,))
    plan = optimal(problem)
    assert plan.proved_optimal
    assert plan.placements["a"].offset == 0


@pytest.mark.parametrize("seed", range(6))
def test_names_and_the_order_of_the_lists_do_not_matter(seed: int) -> None:
    generator = random.Random(seed)
    problem = replace(chain(25, generator) if seed % 2 else rectangles(30, generator), limits=SMALL)
    names = {b.id: f"n{generator.randrange(10**9)}" for b in problem.buffers}
    buffers = [replace(b, id=names[b.id]) for b in problem.buffers]
    conflicts = [
        Conflict(
            first=names[c.second],
            second=names[c.first],
            first_below=c.second_below,
            second_below=c.first_below,
        )
        for c in problem.conflicts
    ]
    generator.shuffle(conflicts)
    alike = {(b.start, b.stop, b.size_bytes, b.alignment) for b in buffers}
    if len(alike) == len(buffers):
        # Which of two equal buffers is the lower one may depend on their order; nothing else may.
        generator.shuffle(buffers)
    plan = optimal(problem)
    renamed = optimal(replace(problem, buffers=tuple(buffers), conflicts=tuple(conflicts)))
    assert {names[id_]: place for id_, place in plan.placements.items()} == dict(renamed.placements)
    assert plan.proved_optimal == renamed.proved_optimal
    assert plan.lower_bounds == renamed.lower_bounds


def test_python_takes_over_where_nothing_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = replace(gap(), limits=SMALL)
    monkeypatch.setenv("CODEGEN_SEARCH", "python")
    native.library.cache_clear()
    try:
        plan = optimal(problem)
    finally:
        monkeypatch.undo()
        native.library.cache_clear()
    assert plan.solver == "exact (Python)"
    assert plan.proved_optimal
    assert peak(problem, plan) == lowest_peak(problem)


def test_first_candidates_are_used_where_they_can_be_made_to_fit() -> None:
    """Two pools; the fast one holds all of a gap problem at its lowest peak, and no byte more."""
    tight = gap()
    fast = Pool(name="fast", region="F", limit_bytes=lowest_peak(tight))
    buffers = tuple(replace(b, pool_candidates=("fast", "sram")) for b in tight.buffers)
    problem = replace(tight, buffers=buffers, pools=(fast, POOL))
    plan = optimal(problem)
    assert violations(problem, plan) == []
    assert {place.pool for place in plan.placements.values()} == {"fast"}
    assert plan.proved_optimal


def test_too_small_a_pool_is_an_error() -> None:
    buffers = tuple(buffer(name, 8, 0, 1) for name in "abc")
    pool = replace(POOL, limit_bytes=20)
    problem = Problem(buffers=buffers, conflicts=interval_conflicts(buffers), pools=(pool,))
    with pytest.raises(DoesNotFit) as caught:
        optimal(problem)
    [short] = caught.value.shortages
    assert short.missing_bytes == 4


@pytest.mark.parametrize("name", ["mm.A", "mm.C", "mm.G", "syn.nas6.rand", "syn.inc9.rand", "syn.nas36.opt"])
def test_shared_instances_are_placed_at_their_bound(name: str) -> None:
    path = INSTANCES / f"{name}.csv"
    if not path.exists() or native.library() is None:
        pytest.skip("needs the shared instances and a C compiler")
    problem = read_problem(path, pools=(POOL,))
    plan = optimal(problem)
    assert violations(problem, plan) == []
    assert plan.proved_optimal
    assert peak(problem, plan) == lower_bound(problem).bytes
