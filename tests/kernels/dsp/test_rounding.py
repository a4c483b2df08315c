"""Kernels that round as ONNX does, by an FPU: chosen, exact and predicted as they run; what is packed.

Hundreds of random layers of each kernel on every core, beside closed memory: tests/fuzz.
"""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from codegen.board import load_board
from codegen.ir import DType
from codegen.ir.ops.rounded.as_onnx import layer_scales
from codegen.kernels.base.weighted import ONNX_CONVOLUTION
from codegen.kernels.dsp.packing import channels_of
from tests.fuzz.layers import drawn
from tests.fuzz.rounded import ROUNDED, kernels_of_kind, rounded
from tests.kernels import runs
from tests.kernels.dsp.conv_layers import module_of
from tests.kernels.dsp.int16_layers import shaped, shaped_rows
from tests.kernels.rounded_layers import layers_of

BOARD = "mps2-an386"
WIDE = (shaped((12, 12), 16, (3, 3), 16, pad=1), shaped((10, 10), 3, (3, 3), 8, pad=1))
DEPTHWISE, ROWS = "DEPTHWISE_CONV_2D/onnx", "FULLY_CONNECTED/onnx"


@pytest.mark.qemu
def test_layers_are_chosen_exact_and_predicted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within 5 % of what is measured, activations and odd channels too; of small depthwise layers 8 %.

    Those through lines were up to 41 % too high where a line ends beyond the image or has few columns."""
    runs.only_kernels(monkeypatch, "_dsp", "_single", "_narrow")
    layers = [rounded(layer, number) for number, layer in enumerate(runs.SHAPES)]
    layers += layers_of(ROWS, "qlinear_fully_connected_s8_dsp", 4, least_macs=4000, board=BOARD)
    layers += layers_of(ROWS, "qlinear_fully_connected_rows_s8_dsp", 4, least_macs=3000, board=BOARD)
    layers += [rounded(layer, 2 * number) for number, layer in enumerate(WIDE)]
    layers += [rounded(layer, 2) for layer in (shaped_rows(1, 64, 20), shaped_rows(8, 40, 12))]
    first = len(layers)
    layers += layers_of(
        DEPTHWISE, "qlinear_depthwise3x3_s8_dsp", 8, least_macs=500, board=BOARD, any_border=True
    )
    taps = "qlinear_depthwise_taps_s8_dsp"
    layers += layers_of(DEPTHWISE, taps, 2, least_macs=4000, board=BOARD, any_border=True)
    made = [
        runs.planned_alone(module_of(layer), BOARD, f"layer{number}", ())
        for number, layer in enumerate(layers)
    ]
    used = {prim.kernel for planned in made for prim in planned.program.steps.prim_funcs}
    assert used <= {each.name for op in ROUNDED for each in kernels_of_kind(op)}
    assert {"qlinear_conv2d_s8_dsp", "qlinear_depthwise3x3_s8_dsp", "qlinear_fully_connected_s8_dsp"} <= used
    assert {"qlinear_conv2d_s16_dsp", "qlinear_fully_connected_s16_dsp"} <= used
    measured = runs.run_planned(made, BOARD, tmp_path)
    runs.check_predictions(made[:first], measured[:first])
    runs.check_predictions(made[first:], measured[first:], percent=8)


def test_every_channel_is_told_to_be_by_float32() -> None:
    """The certificate counts each channel once, whatever a kernel packs."""
    target = load_board(BOARD).target
    for op, dtype in product(ROUNDED, (DType.INT8, DType.INT16)):
        layer = drawn(op, dtype, 1 if dtype is DType.INT8 else 2)
        for kernel in kernels_of_kind(op):
            if kernel.refusal(layer.let, target) is None:
                prim = kernel.bind(layer.let, layer.constants, "k")
                counts = [constant.rounded for constant in prim.constants if constant.rounded]
                assert [sum(pair) for pair in counts] == [layer.let.var.type.shape[-1]], kernel.name
                assert prim.kernel.endswith("portable") or counts[0][0] == 0


def test_scales_are_packed_as_they_are() -> None:
    """Not doubled, as multipliers of TFLite's are: a float32 has no room for it."""
    layer = drawn("CONV_2D/onnx", DType.INT8, 1)
    channels = channels_of(ONNX_CONVOLUTION.layer(layer.let, layer.constants), layer.let.var.type)
    assert channels.rounds_even
    scales = layer_scales(layer.let.call.attrs)
    np.testing.assert_array_equal(channels.multipliers.view(np.float32), np.array(scales, np.float32))
    tile = next(each for each in kernels_of_kind("CONV_2D/onnx") if each.name == "qlinear_conv2d_s8_dsp")
    stream = tile.bind(layer.let, layer.constants, "k").constants[0].data
    assert set(channels.multipliers.tolist()) <= set(stream.tolist())
