"""Kernels that work in fewer bytes: taken for a limit, and with size where that pays."""

from types import MappingProxyType

import pytest

from codegen import importers, passes
from codegen.board import load_board
from codegen.driver.build import Planned, pipeline, plan_model
from codegen.driver.options import Optimize, Options
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.problem import peak_bytes
from codegen.search import lean
from tests.testdata import model_path


def _planned(key: str, optimize: Optimize, limit_bytes: int | None = None) -> Planned:
    limits = {} if limit_bytes is None else {"sram": limit_bytes}
    options = Options(optimize=optimize, pool_limits=MappingProxyType(limits))
    return plan_model(model_path(key), load_board("netduinoplus2"), options, emulated=True)


def _workspaces(prim: PrimFunc) -> int:
    return sum(space.size_bytes for space in prim.workspaces)


def _is_one_sided(prim: PrimFunc) -> bool:
    return any(rule.above is None for rule in prim.sharing)


def _peak(planned: Planned) -> int:
    program = planned.program
    return sum(peak_bytes(program.problem, program.plan, pool.name) for pool in program.problem.pools)


@pytest.mark.parametrize(
    ("key", "most_bytes"), [("tflm/micro_speech_quantized", 4_176), ("mlperf_tiny/str_ww_ref_model", 3_648)]
)
def test_size_gives_up_fast_kernels_where_the_peak_falls_by_a_tenth(key: str, most_bytes: int):
    assert _peak(_planned(key, "size")) <= most_bytes
    assert _peak(_planned(key, "balanced")) > most_bytes


def test_size_keeps_them_where_little_is_gained():
    program = _planned("mlperf_tiny/kws_ref_model", "size").program
    slow = [prim for prim in program.prim_funcs if prim.macs and prim.instructions is None]
    assert not slow


def test_a_limit_takes_lean_kernels():
    assert _peak(_planned("mlperf_tiny/kws_ref_model", "balanced")) > 8_192
    assert _peak(_planned("mlperf_tiny/kws_ref_model", "balanced", 8_192)) <= 8_192


def test_lean_alternatives_need_fewer_bytes_and_steps_that_have_the_least_keep_their_kernel():
    key, board = "mlperf_tiny/kws_ref_model", load_board("netduinoplus2")
    steps = _planned(key, "speed").program.prim_funcs
    module = passes.run_passes(importers.load(model_path(key)), pipeline(Options(optimize="speed")))
    bindings = lean.Bindings({id_: constant.data for id_, constant in module.constants.items()}, board.target)
    found = lean.alternatives(steps, bindings)
    assert found
    for step, other in found.items():
        assert (_workspaces(other), _is_one_sided(other)) < (
            _workspaces(steps[step]),
            _is_one_sided(steps[step]),
        )
    assert lean.alternatives([found.get(step, prim) for step, prim in enumerate(steps)], bindings) == {}
    assert all(_workspaces(prim) == 0 for step, prim in enumerate(steps) if step not in found)
