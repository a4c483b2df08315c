"""In-place kernels are chosen where they lower the peak, within what `--optimize` allows."""

from dataclasses import replace

import pytest

from codegen.driver.build import plan_model
from codegen.driver.options import Optimize, Options
from codegen.ir import Board, Region, Runner, Target
from codegen.program.interface import IoMode
from codegen.program.problem import peak_bytes
from codegen.program.program import Program
from tests.testdata import model_path

KWS = "mlperf_tiny/kws_ref_model"

BOARD = Board(
    name="roomy",
    title="one large memory",
    target=Target(cpu="cortex-m4"),
    runner=Runner.HOST,
    regions=(
        Region(name="SRAM", address=0x20000000, size_bytes=1 << 24, writable=True),
        Region(name="FLASH", address=0x08000000, size_bytes=1 << 24, writable=False),
    ),
    code_region="FLASH",
    data_region="SRAM",
    stack_bytes=1024,
    reserved_bytes=0,
)


def planned(key: str, options: Options) -> Program:
    return plan_model(model_path(key), BOARD, options).program


def in_place(program: Program) -> list[str]:
    return [prim.name for prim in program.prim_funcs if prim.in_place is not None]


@pytest.mark.parametrize("optimize", ["size", "balanced"])
def test_kws_replaces_in_every_depthwise_step(optimize: Optimize) -> None:
    """All four hold the peak: 384 bytes between image and result become a ring of 3 rows of 7 bytes."""
    fast = planned(KWS, Options(optimize="speed"))
    small = planned(KWS, Options(optimize=optimize))
    assert in_place(fast) == []
    assert in_place(small) == ["dw1", "dw3", "dw5", "dw7"]
    before, after = (peak_bytes(p.problem, p.plan, "sram") for p in (fast, small))
    assert after < before
    rings = [b for b in small.problem.buffers if b.id.endswith(".ring")]
    assert [b.size_bytes for b in rings] == [21] * 4


def test_nothing_is_replaced_where_the_peak_lies_elsewhere() -> None:
    """vww's peak is its first convolution, the image of a depthwise step is never beside it."""
    assert in_place(planned("mlperf_tiny/vww_96_int8", Options(optimize="size"))) == []


def test_a_callers_io_is_not_touched() -> None:
    program = planned(KWS, Options(optimize="size", io=IoMode.CALLER))
    params = {param.name for param in program.function.params}
    for prim in program.prim_funcs:
        if prim.in_place is not None:
            assert getattr(prim.let.call.args[prim.in_place], "name", "") not in params


def test_programs_are_the_same_every_time() -> None:
    one, other = (planned(KWS, Options(optimize="size")) for _ in range(2))
    assert replace(one.plan, seconds=0.0) == replace(other.plan, seconds=0.0)
