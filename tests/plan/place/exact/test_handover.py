"""A search that begins in Python and goes on in C is the search in either of them."""

import random
from functools import partial

import pytest

from codegen.driver.options import Options
from codegen.driver.planning import plan_only
from codegen.plan.place.bounds import lower_bound
from codegen.plan.place.exact import handover, native, squeeze
from codegen.plan.place.exact.conflict_graph import Graph
from codegen.plan.place.exact.handover import Handover
from codegen.plan.place.exact.reference import PYTHON_PRICE, Search
from tests.plan.place.exact.instances import chain, needs_c, odd, rectangles, whole
from tests.testdata import model_path


def _hard(seed: int) -> tuple[Graph, int]:
    problem = (odd, chain, rectangles)[seed % 3](40, random.Random(seed))
    return whole(problem), lower_bound(problem).bytes + seed // 4


@needs_c
@pytest.mark.parametrize("seed", range(12))
def test_it_goes_on_in_c_as_if_it_had_begun_there(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handover, "PYTHON_EFFORT", 300)
    graph, capacity = _hard(seed)
    if graph.shifts is None:
        pytest.skip("no keys: another search")
    ready = native.NativeGraph(graph, native.library())
    rank = list(range(len(graph)))
    both = Handover(graph, rank, capacity, True, partial(native.NativeSearch, ready))
    alone = Search(graph, rank, capacity, True)
    for effort in (100, 150, 400, 3000):
        answer = both.run(effort)
        # It may stop where the languages change; the rest of the work is then still to be done.
        if answer is None and both.effort < alone.effort + effort:
            answer = both.run(alone.effort + effort - both.effort)
        assert answer is alone.run(effort)
        assert (both.nodes, both.effort, both.blame) == (alone.nodes, alone.effort, alone.blame)
        assert both.offsets == alone.offsets
        assert both.price == 1
        if answer is not None:
            break


def test_without_c_it_goes_on_in_python_at_its_price(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handover, "PYTHON_EFFORT", 50)
    graph, capacity = _hard(0)
    rank = list(range(len(graph)))
    search = Handover(graph, rank, capacity - 1, True, lambda rank, capacity, adaptive: None)
    assert search.price == 1
    while search.run(20) is None and search.effort < 200:
        pass
    alone = Search(graph, rank, capacity - 1, True)
    alone.run(search.effort)
    assert search.nodes == alone.nodes
    assert search.price == (PYTHON_PRICE if search.effort >= 50 else 1)


@pytest.mark.parametrize("key", ["mlperf_tiny/kws_ref_model", "mlperf_tiny/pretrainedResnet_quant"])
def test_nobody_waits_for_a_compiler_where_the_first_run_answers(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise AssertionError("the search in C was asked for")

    monkeypatch.setattr(squeeze, "loaded", lambda: False)
    monkeypatch.setattr(squeeze, "library", refuse)
    plan = plan_only(model_path(key), Options(board="host")).program.plan
    assert plan.planner == "optimal"
    assert plan.proved_optimal
