"""Steps that run twice, measured: outputs bit-equal to the goldens, peaks equal to the plan."""

from pathlib import Path

import pytest

from codegen.driver.options import Optimize, Options
from codegen.driver.run import check_steps, complaints, execute, used_pools
from codegen.program.image import Trace
from codegen.program.problem import peak_bytes
from tests.e2e.models import build_model, golden_cases

MACS = 12_501_632


def measured(options: Options, folder: Path) -> tuple[int, int]:
    """Measured peak in bytes, multiply-accumulates executed."""
    key = "mlperf_tiny/pretrainedResnet_quant"
    built = build_model(key, options, folder)
    program, cases = built.models[0].program, golden_cases(key)
    found = execute(built, cases)
    assert complaints(built.models[0], cases, found, built.image.sizes.stack_bound_bytes) == []
    [pool] = used_pools(program)
    peaks = {case.pool_peaks[pool] for case in found.result.cases}
    assert peaks == {peak_bytes(program.problem, program.plan, pool)}
    return peaks.pop(), sum(prim.macs for prim in program.prim_funcs)


@pytest.mark.qemu
@pytest.mark.parametrize(
    ("optimize", "peak", "most_macs"), [("balanced", 49_152, MACS), ("size", 35_840, MACS * 1.036)]
)
def test_whole_tensors_in_place(optimize: Optimize, peak: int, most_macs: float, tmp_path: Path) -> None:
    # A core whose kernels need no workspace: the figures are those of the values alone.
    options = Options(board="host", optimize=optimize, blocks=False, sharing="in-place")
    found, macs = measured(options, tmp_path / "build")
    assert found == peak
    assert MACS <= macs <= most_macs


def test_steps_that_run_again_are_validated(tmp_path: Path) -> None:
    """Their names are in no reference: `validate` stopped with a KeyError."""
    key, options = "mlperf_tiny/pretrainedResnet_quant", Options(board="host", optimize="size", blocks=False)
    built = build_model(key, options, tmp_path / "build")
    case = golden_cases(key)[0]
    checks = check_steps(built.models[0], case, execute(built, [case], trace=Trace.RESULTS))
    again = [check for check in checks if check.name.endswith("_again")]
    assert again
    assert all(check.comparison is not None and check.comparison.matches for check in again)


@pytest.mark.qemu
def test_recomputed_steps_inside_blocks(tmp_path: Path) -> None:
    """With everything permitted, `size` computes the first two stages again rather than keep their result."""
    peak, macs = measured(Options(board="mps2-an386", optimize="size"), tmp_path / "build")
    assert peak <= 20_400
    assert macs > MACS
