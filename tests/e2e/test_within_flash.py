"""Models with kernels of fewer constant bytes, taken for a limit of flash, on QEMU against goldens."""

from pathlib import Path

import pytest

from codegen.driver.options import Options
from codegen.driver.run import complaints, execute
from codegen.program.image import Trace
from codegen.toolchain import Optimize
from tests.e2e.models import build_model, golden_cases

KWS = "mlperf_tiny/kws_ref_model"
VWW = "mlperf_tiny/vww_96_int8"


@pytest.mark.qemu
@pytest.mark.parametrize(
    ("key", "optimize", "flash", "slower_percent"),
    [
        (KWS, "speed", 28_672, 4),
        (KWS, "balanced", 28_672, 4),
        (KWS, "size", 28_672, 10),
        # In blocks, some of their constants compressed.
        (VWW, "balanced", 44_000, 5),
    ],
)
def test_smaller_kernels_compute_the_same(
    key: str, optimize: Optimize, flash: int, slower_percent: int, tmp_path: Path
) -> None:
    """The plan is what is measured, instructions as many as predicted: little more than without a limit."""
    cases = golden_cases(key)[:2]

    def run(place: str, limits: dict[str, int]) -> tuple[int, int]:
        """Instructions and bytes of constants."""
        options = Options(board="mps2-an386", optimize=optimize, pool_limits=limits)
        built = build_model(key, options, tmp_path / place)
        measured = execute(built, cases, trace=Trace.COST)
        assert complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes) == []
        instructions = measured.result.cases[0].instructions
        assert instructions is not None
        return instructions, sum(pool.size_bytes for pool in built.models[0].program.constants)

    free, _ = run("free", {})
    limited, size = run("limited", {"flash": flash})
    assert size <= flash
    assert limited * 100 <= free * (100 + slower_percent)
