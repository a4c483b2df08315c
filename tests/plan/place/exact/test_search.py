"""The exact search: against brute force and CP-SAT, C against Python, and how C is compiled."""

import os
import random
import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codegen.plan.place.bounds import lower_bound
from codegen.plan.place.exact import cpsat, native, squeeze
from codegen.plan.place.exact.conflict_graph import Graph
from codegen.plan.place.exact.orient import OrientSearch
from codegen.plan.place.exact.reference import Search
from codegen.plan.place.exact.squeeze import SolverBudget, Squeeze, luby
from codegen.problem.problem import Problem, interval_conflicts
from tests.checkout import ROOT
from tests.plan.place.exact import instances
from tests.sampling import examples

needs_cpsat = pytest.mark.skipif(
    find_spec("ortools") is None, reason="OR-Tools is not installed (extra `solver`)"
)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(problem=instances.problems(most=7, sizes=3))
def test_both_searches_agree_with_brute_force_on_whether_it_fits(problem: Problem) -> None:
    numbers = instances.whole(problem)
    best = instances.lowest_peak(problem)
    ranks = list(range(len(numbers)))
    for capacity in range(max(best - 2, 0), best + 2):
        fits = capacity >= best
        assert OrientSearch(numbers, capacity).run(10**6) is fits
        if numbers.shifts is not None:
            assert Search(numbers, ranks, capacity, adaptive=True).run(10**6) is fits
            assert Search(numbers, ranks[::-1], capacity, adaptive=False).run(10**6) is fits


def test_every_order_of_ties_gives_the_same_answer() -> None:
    """A small problem whose bound is not reached: 3 buffers of 4 hold each other up."""
    buffers = (
        instances.buffer("a", 3, 0, 2),
        instances.buffer("b", 2, 1, 4),
        instances.buffer("c", 3, 3, 6),
        instances.buffer("d", 2, 0, 1),
        instances.buffer("e", 2, 5, 6),
    )
    problem = Problem(buffers=buffers, conflicts=interval_conflicts(buffers), pools=(instances.POOL,))
    numbers = instances.whole(problem)
    best = instances.lowest_peak(problem)
    for ranks in permutations(range(len(numbers))):
        assert Search(numbers, ranks, best, adaptive=False).run(10**5) is True
        assert Search(numbers, ranks, best - 1, adaptive=False).run(10**5) is False


@instances.needs_c
@settings(max_examples=examples(150), deadline=None)
@given(
    problem=instances.problems(most=9, sizes=9),
    adaptive=st.booleans(),
    seed=st.integers(0, 99),
    less=st.integers(-2, 5),
)
def test_c_and_python_visit_the_same_nodes(problem: Problem, adaptive: bool, seed: int, less: int) -> None:
    numbers = instances.whole(problem)
    if numbers.shifts is None:
        return
    _compare(numbers, lower_bound(problem).bytes + less, adaptive, seed)


@instances.needs_c
@pytest.mark.parametrize("seed", range(12))
def test_c_and_python_visit_the_same_nodes_of_larger_problems(seed: int) -> None:
    generator = random.Random(seed)
    problem = (instances.odd, instances.chain, instances.rectangles)[seed % 3](40, generator)
    numbers = instances.whole(problem)
    if numbers.shifts is None:
        pytest.skip("no keys: another search")
    _compare(numbers, lower_bound(problem).bytes + seed // 4, bool(seed % 2), seed)


def _compare(numbers: Graph, capacity: int, adaptive: bool, seed: int) -> None:
    rank = list(range(len(numbers)))
    random.Random(seed).shuffle(rank)
    ready = native.NativeGraph(numbers, native.library())
    compiled = native.NativeSearch(ready, rank, capacity, adaptive)
    reference = Search(numbers, rank, capacity, adaptive)
    # In two steps: a search that is resumed goes on where it stopped.
    answers = [(s.run(500), s.run(2000)) for s in (compiled, reference)] if numbers.sizes else []
    assert answers[:1] == answers[1:]
    assert compiled.nodes == reference.nodes
    assert compiled.effort == reference.effort
    assert compiled.blame == reference.blame
    assert compiled.offsets == reference.offsets


def test_no_compiler_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CC", str(tmp_path / "no-such-compiler"))
    monkeypatch.setenv("CODEGEN_CACHE", str(tmp_path / "cache"))
    native.library.cache_clear()
    try:
        assert native.library() is None
    finally:
        monkeypatch.undo()
        native.library.cache_clear()


@instances.needs_c
def test_a_damaged_cache_is_built_anew(tmp_path: Path) -> None:
    """In new interpreters: one loads a compiled module only once."""
    code = "from codegen.plan.place.exact.native import library; print(library() is not None)"
    environment = {**os.environ, "CODEGEN_CACHE": str(tmp_path)}

    def load() -> None:
        command = [sys.executable, "-c", code]
        root = ROOT
        done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=True)
        assert done.stdout == "True\n"

    load()
    kept = list(tmp_path.iterdir())
    assert len(kept) == 1  # what was built on the way is gone
    kept[0].write_bytes(b"not a library")
    load()
    assert kept[0].read_bytes() != b"not a library"


def test_luby() -> None:
    """The first members as its paper lists them."""
    assert [luby(i) for i in range(1, 16)] == [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]


def _agree(seeds: range) -> None:
    for seed in seeds:
        generator = random.Random(seed)
        count = generator.randrange(2, 61)
        problem = (instances.odd, instances.chain, instances.odd, instances.rectangles)[seed % 4](
            count, generator
        )
        numbers = instances.whole(problem)
        best = Squeeze(numbers, lower_bound(problem).bytes, 0)
        best.minimise(SolverBudget(effort=1_000_000))
        start = squeeze.greedy(numbers, partial(_size, numbers))
        answer = cpsat.solve(numbers, start, 0, seed=0, effort=8_000)
        assert answer is not None
        offsets, bound = answer
        reached = max(o + s for o, s in zip(offsets, numbers.sizes, strict=True))
        # Each proof must hold against the other's plan, whoever was stopped.
        assert best.bound <= reached, seed
        assert bound <= best.peak, seed
        if best.proved and bound == reached:
            assert best.peak == reached, seed


def _size(numbers: Graph, index: int) -> int:
    return -numbers.sizes[index]


@needs_cpsat
def test_cpsat_agrees() -> None:
    _agree(range(100))


@needs_cpsat
@pytest.mark.long
@pytest.mark.timeout(7200)
def test_cpsat_agrees_on_a_thousand_problems() -> None:
    _agree(range(1000))
