"""Kernels that work in fewer bytes: taken for a limit, and with size where that pays."""

from types import MappingProxyType

import pytest

from codegen import importers, passes
from codegen.board import load_board
from codegen.driver.build import Planned, pipeline, plan_model
from codegen.driver.options import Optimize, Options
from codegen.kernels.primfunc import PrimFunc
from codegen.program.problem import peak_bytes
from codegen.program.shortage import DoesNotFit
from codegen.search.kernels import fewest_bytes
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.costs import RAM_WORTH
from codegen.search.kernels.shared_code import used_code_bytes
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
    ("key", "most_bytes"), [("tflm/micro_speech_quantized", 4_593), ("mlperf_tiny/str_ww_ref_model", 4_012)]
)
def test_size_takes_lean_kernels(key: str, most_bytes: int):
    """A tenth above the bytes of the values alone, 4,176 and 3,648, with all workspaces."""
    assert _peak(_planned(key, "size")) <= most_bytes
    assert _peak(_planned(key, "balanced")) > most_bytes


@pytest.mark.parametrize("key", ["tflm/micro_speech_quantized", "mlperf_tiny/kws_ref_model"])
def test_those_of_size_run_at_most_half_as_many_instructions_more(key: str):
    lean_steps, fast_steps = (_planned(key, level).program.prim_funcs for level in ("size", "speed"))
    compared = 0
    for one, fast in zip(lean_steps, fast_steps, strict=True):
        if fast.instructions is not None and one.in_place is None:
            assert one.instructions is not None
            assert one.instructions <= 1.5 * fast.instructions
            compared += one.kernel != fast.kernel
    assert compared


def test_a_limit_takes_lean_kernels():
    assert _peak(_planned("mlperf_tiny/kws_ref_model", "balanced")) > 8_192
    assert _peak(_planned("mlperf_tiny/kws_ref_model", "balanced", 8_192)) <= 8_192


def test_the_smallest_budget_that_is_named_knows_of_lean_kernels():
    """Below 8,064 bytes the message named 8,512, which 8,064 bytes had already done without."""
    key = "mlperf_tiny/kws_ref_model"
    with pytest.raises(DoesNotFit) as caught:
        _planned(key, "balanced", 8_000)
    [short] = caught.value.shortages
    budget = short.budget_bytes
    assert budget is not None and budget <= 8_064
    assert _peak(_planned(key, "balanced", budget)) == budget


def test_lean_alternatives_need_fewer_bytes_and_steps_that_have_the_least_keep_their_kernel():
    key, board = "mlperf_tiny/kws_ref_model", load_board("netduinoplus2")
    steps = _planned(key, "speed").program.prim_funcs
    module = passes.run_passes(importers.load(model_path(key)), pipeline(Options(optimize="speed")))
    binder = Binder({id_: constant.data for id_, constant in module.constants.items()}, board.target)
    found = fewest_bytes.alternatives(steps, binder, slower_percent=None, flash_worth=0)
    assert found
    for step, other in found.items():
        assert (_workspaces(other), _is_one_sided(other)) < (
            _workspaces(steps[step]),
            _is_one_sided(steps[step]),
        )
    assert (
        fewest_bytes.alternatives(
            [found.get(step, prim) for step, prim in enumerate(steps)],
            binder,
            slower_percent=None,
            flash_worth=0,
        )
        == {}
    )
    assert all(_workspaces(prim) == 0 for step, prim in enumerate(steps) if step not in found)


@pytest.mark.parametrize(
    ("key", "most_bytes"), [("tflm/hello_world_int8", 48), ("mlperf_tiny/kws_ref_model", 8_256)]
)
def test_size_pays_no_more_code_for_ram_than_it_says(key: str, most_bytes: int):
    """hello_world took 772 bytes of code more for 20 bytes of RAM: another kernel for one of three layers."""
    size, balanced = (_planned(key, level) for level in ("size", "balanced"))
    code, fast = (used_code_bytes(each.program.prim_funcs) for each in (size, balanced))
    assert code - fast <= RAM_WORTH * (_peak(balanced) - _peak(size))
    assert _peak(size) <= most_bytes
