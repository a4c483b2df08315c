"""--sharing and --no-blocks: what results may lie over, against the figures known of real models."""

import pytest

from codegen.driver.build import plan_model
from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.program.interface import IoMode
from codegen.program.problem import peak_bytes
from codegen.program.program import Program
from codegen.search.kernels.sharing import SharingMode
from tests.search.steps.test_recompute import BOARD
from tests.testdata import model_path

# Largest sum of live bytes when nothing overlaps, of the networks as they are in their files; elementwise
# results in place change none of them.
PEAKS = {
    "mlperf_tiny/kws_ref_model": 16_000,
    "mlperf_tiny/vww_96_int8": 55_296,
    "tflm/person_detect": 55_296,
    "mlperf_tiny/pretrainedResnet_quant": 49_152,
    "mlperf_tiny/pretrainedResnet_large_int8": 122_880,
    "mlperf_tiny/str_ww_ref_model": 6_656,
}


def planned(key: str, sharing: SharingMode, io: IoMode = IoMode.POOL, *, blocks: bool = False) -> Program:
    options = Options(optimize="speed", blocks=blocks, sharing=sharing, io=io, reduce=False)
    return plan_model(model_path(key), BOARD, options).program


def apart(program: Program) -> bool:
    """Whether no two buffers alive at the same time have a byte in common."""
    for conflict in program.problem.conflicts:
        first, second = (program.plan.placements[name].offset for name in (conflict.first, conflict.second))
        sizes = {buffer.id: buffer.size_bytes for buffer in program.problem.buffers}
        if first < second + sizes[conflict.second] and second < first + sizes[conflict.first]:
            return False
    return True


@pytest.mark.parametrize("sharing", ["none", "in-place"])
@pytest.mark.parametrize("key", PEAKS)
def test_peaks_without_overlap(key: str, sharing: SharingMode) -> None:
    program = planned(key, sharing)
    assert peak_bytes(program.problem, program.plan, "sram") == PEAKS[key]
    assert apart(program)


def test_overlap_is_what_makes_the_difference() -> None:
    program = planned("mlperf_tiny/pretrainedResnet_quant", "overlap")
    assert peak_bytes(program.problem, program.plan, "sram") < 49_152
    assert not apart(program)


@pytest.mark.parametrize("io", IoMode)
def test_in_place_takes_the_very_bytes(io: IoMode) -> None:
    program = planned("mlperf_tiny/pretrainedResnet_quant", "in-place", io)
    replacing = [prim for prim in program.prim_funcs if prim.in_place is not None]
    assert [prim.name for prim in replacing if prim.let.call.op.name == "ADD"] == ["add3", "add7", "add11"]
    assert all(prim.sharing == () and prim.reverse is None for prim in program.prim_funcs)


def test_none_replaces_nothing() -> None:
    for optimize in ("balanced", "size"):
        options = Options(optimize=optimize, blocks=False, sharing="none")
        program = plan_model(model_path("mlperf_tiny/kws_ref_model"), BOARD, options).program
        assert all(prim.in_place is None for prim in program.prim_funcs)
        assert peak_bytes(program.problem, program.plan, "sram") == 16_000


def test_blocks_lie_apart_too() -> None:
    options = Options(sharing="none")
    program = plan_model(model_path("mlperf_tiny/pretrainedResnet_quant"), BOARD, options).program
    assert any(prim.block for prim in program.prim_funcs)
    assert apart(program)


def test_no_blocks_at_all() -> None:
    options = Options(optimize="size", blocks=False)
    program = plan_model(model_path("mlperf_tiny/vww_96_int8"), BOARD, options).program
    assert all(prim.block is None for prim in program.prim_funcs)


def test_streaming_without_blocks_is_refused() -> None:
    options = Options(blocks=False, stream_input=True)
    with pytest.raises(CodegenError) as caught:
        plan_model(model_path("mlperf_tiny/vww_96_int8"), BOARD, options)
    assert str(caught.value) == (
        "error[E217] --stream-input: rows that arrive one by one need blocks, which --no-blocks excludes\n"
        "help: leave out --no-blocks; or leave out --stream-input: the input then lies in RAM whole"
    )


def test_all_that_keeps_an_input_from_streaming_is_said_at_once() -> None:
    """--keep-inputs was answered by a help about images and --io-types, and hid what else was wrong."""
    options = Options(blocks=False, stream_input=True, keep_inputs=True)
    with pytest.raises(CodegenError) as caught:
        plan_model(model_path("mlperf_tiny/vww_96_int8"), BOARD, options)
    first, second = caught.value.messages
    assert str(first) == (
        "error[E217] --stream-input: --keep-inputs keeps the bytes of an input that has none\n"
        "help: leave out --keep-inputs: who delivers the rows has them and can keep them; or leave out "
        "--stream-input: the input then lies in RAM whole, and is kept"
    )
    assert "which --no-blocks excludes" in second.text


def test_flags_are_spelled_out() -> None:
    assert "--no-blocks --sharing in-place" in Options(blocks=False, sharing="in-place").spelled
    assert "--sharing" not in Options().spelled
