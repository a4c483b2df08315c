"""Constants of real models: padding, where the linker put them, and copies in faster memory, run on QEMU.
Models whose constants exceed the flash: compressed where needed, run on QEMU against goldens.
Models with kernels of fewer constant bytes, taken for a limit of flash, on QEMU against goldens.
"""

from pathlib import Path

import pytest

from codegen.driver.options import Options
from codegen.driver.run import complaints, execute
from codegen.program.image import Trace
from codegen.toolchain import Optimize
from tests.public.e2e.models import build_model, golden_cases

KWS = "mlperf_tiny/kws_ref_model"


VWW = "mlperf_tiny/vww_96_int8"


@pytest.mark.qemu
@pytest.mark.parametrize(
    ("key", "optimize", "flash", "most"),
    [
        # There is no room for the depthwise kernels by lines, 1,088 bytes a layer more than the slowest ones,
        # which take 1.42 times the instructions.
        (KWS, "speed", 28_672, 3_255_000),
        (KWS, "balanced", 28_672, 3_305_000),
        (KWS, "size", 28_672, 3_430_000),
        # In blocks, some of their constants compressed.
        (VWW, "balanced", 44_000, 5_480_000),
    ],
)
def test_smaller_kernels_compute_the_same(
    key: str, optimize: Optimize, flash: int, most: int, tmp_path: Path
) -> None:
    """The plan is what is measured, with as few instructions as today, and not fewer than without a limit."""
    cases = golden_cases(key)[:2]

    def run(place: str, limits: dict[str, int]) -> tuple[int, int]:
        """Instructions and bytes of constants."""
        options = Options(board="mps2-an386", optimize=optimize, pool_limits=limits)
        built = build_model(key, options, tmp_path / place)
        measured = execute(built, cases, trace=Trace.COST)
        assert complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes) == []
        instructions = measured.result.cases[0].instructions
        assert instructions is not None
        return instructions, built.models[0].program.constants.size_bytes

    free, _ = run("free", {})
    limited, size = run("limited", {"flash": flash})
    assert size <= flash
    assert free <= limited <= most
