"""int16 layers on the DSP extension: predicted as they run, borders or not; what depthwise kernels refuse.

Hundreds of random layers of each kernel on every core, beside closed memory: tests/fuzz.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.board import load_board
from codegen.ir import ConstRef, DType
from codegen.ir.ops import DepthwiseConvAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels import kernels_for
from codegen.kernels.base.registry import Kernel
from tests.fuzz.layers import drawn
from tests.kernels import runs
from tests.kernels.dsp.conv_layers import module_of
from tests.kernels.layers import Layer
from tests.kernels.rounded_layers import layers_of

BOARD = "mps2-an386"
KERNELS = {
    "conv2d_s16_dsp": "CONV_2D",
    "depthwise_taps_s16_dsp": "DEPTHWISE_CONV_2D",
    "qlinear_conv2d_s16_dsp": "CONV_2D/onnx",
    "qlinear_depthwise_taps_s16_dsp": "DEPTHWISE_CONV_2D/onnx",
}


@pytest.mark.qemu
def test_predictions_hold_at_borders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within 6 % of what is measured. Taps beyond the border were counted as if they were copied or looked
    for: up to 30 % too much."""
    runs.only_kernels(monkeypatch, *KERNELS)
    made = [
        runs.planned_alone(module_of(layer), BOARD, f"{kernel[:-8]}{number}", ())
        for kernel, op in KERNELS.items()
        for number, layer in enumerate(
            layers_of(op, kernel, 3, least_macs=1500, board=BOARD, any_border=True)
        )
    ]
    bound = [one for one in made if one.program.steps.prim_funcs[0].kernel in KERNELS]
    assert len(bound) >= 9
    prims = [one.program.steps.prim_funcs[0] for one in bound]
    assert {prim.kernel for prim in prims} == set(KERNELS)
    runs.check_predictions(bound, runs.run_planned(bound, BOARD, tmp_path), percent=6)


def _depthwise() -> tuple[Kernel, Layer]:
    """The kernel, and a layer of nine taps at most that it takes."""
    [kernel] = [each for each in kernels_for("DEPTHWISE_CONV_2D") if each.name == "depthwise_taps_s16_dsp"]
    return kernel, layers_of("DEPTHWISE_CONV_2D", kernel.name, 1, least_macs=1500, board=BOARD)[0]


def test_depthwise_layers_for_other_kernels_are_refused() -> None:
    kernel, _ = _depthwise()
    target = load_board(BOARD).target
    found = {kernel.refusal(drawn("DEPTHWISE_CONV_2D", DType.INT16, seed).let, target) for seed in range(40)}
    assert found == {None, "the kernel depthwise_taps_s16_dsp is for multiplier 1 and at least 4 channels"}


def test_a_large_window_is_refused() -> None:
    kernel, layer = _depthwise()
    let = layer.let
    weights = let.call.args[1]
    assert isinstance(weights, ConstRef)
    shape = (1, 7, 8, weights.type.shape[3])
    wider = replace(weights, type=replace(weights.type, shape=shape))
    call = replace(let.call, args=(let.call.args[0], wider, *let.call.args[2:]))
    assert kernel.refusal(replace(let, call=call), load_board(BOARD).target) == (
        "the kernel depthwise_taps_s16_dsp is for windows of at most 49 taps"
    )


def test_sums_beyond_32_bits_are_for_portable_c() -> None:
    """A bias of 2^31 less what the weights can give is the first that does not fit."""
    kernel, layer = _depthwise()
    assert narrow(layer.let.call.attrs, DepthwiseConvAttrs).multiplier == 1
    weights, bias = layer.let.call.args[1:3]
    assert isinstance(weights, ConstRef) and isinstance(bias, ConstRef)
    reach = 32768 * np.abs(layer.constants[weights.id].astype(np.int64)).sum(axis=(0, 1, 2))
    for beyond, name in ((0, "depthwise_conv2d_s16_portable"), (1, kernel.name)):
        data = (2**31 - reach - beyond).astype(np.int64).reshape(layer.constants[bias.id].shape)
        found = kernel.bind(layer.let, {**layer.constants, bias.id: data}, "k").kernel
        assert found == name
