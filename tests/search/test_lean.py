"""Kernels that work in fewer bytes: taken for a limit, and with size where that pays."""

from types import MappingProxyType

import pytest

from codegen.board import load_board
from codegen.driver.build import Planned, plan_model
from codegen.driver.options import Optimize, Options
from codegen.plan.problem import peak_bytes
from codegen.search import lean
from tests.testdata import model_path


def _planned(key: str, optimize: Optimize, limit_bytes: int | None = None) -> Planned:
    limits = {} if limit_bytes is None else {"sram": limit_bytes}
    options = Options(optimize=optimize, pool_limits=MappingProxyType(limits))
    return plan_model(model_path(key), load_board("netduinoplus2"), options, emulated=True)


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


def test_a_step_with_the_least_already_keeps_it():
    program = _planned("mlperf_tiny/str_ww_ref_model", "size").program
    data = {pool.name: pool for pool in program.constants}
    assert data
    board = load_board("netduinoplus2")
    calls = [prim for prim in program.prim_funcs if prim.is_call and not prim.macs]
    assert lean.alternatives(calls, {}, board.target) == {}
