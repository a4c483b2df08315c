"""int4 weights with the DSP extension: what their stream holds, and who takes them."""

from dataclasses import replace

import numpy as np
import pytest

from codegen.ir import DType
from codegen.kernels.base.forms import in_smallest_forms
from codegen.kernels.dsp.convolution import DspTiled
from codegen.kernels.dsp.fully_connected import DspFullyConnected
from codegen.kernels.dsp.packing import INT4_STREAM, INT8_STREAM, channels_of, stream, stream_s4
from codegen.kernels.portable.convolution import CONV_2D_S8
from codegen.kernels.primfunc import PrimFunc
from tests.kernels.builders import random_layer
from tests.kernels.dsp.test_convolution import M4, Stream, able, conv_layer, conv_of, is_int4, refused


def test_a_byte_holds_the_int4_weights_of_two_channels() -> None:
    """Read as runtime_c/include/cg_conv_dsp.h states it; all else is as int8 has it."""
    seen = 0
    for seed in range(40):
        drawn = conv_layer(seed)
        kernel = able(drawn)
        if kernel is None:
            continue
        narrow = replace(conv_of(drawn, kernel), weights=conv_of(drawn, kernel).weights >> 4)
        channels = channels_of(narrow, drawn.let.var.type)
        count, values = channels.weights.shape
        groups = -(-values // 4)
        wanted = Stream(stream(channels), count, groups).channels
        pairs = stream_s4(channels).reshape(-1, groups + 5)
        assert len(pairs) == (count + 1) // 2
        for number, (bias, weights, doubled, shift, is_long) in enumerate(wanted):
            pair, second = pairs[number // 2], number % 2
            both = np.ascontiguousarray(pair[1 : 1 + groups]).view(np.int8).astype(np.int32)
            assert pair[1 + groups if second else 0] == bias
            assert (both >> 4 if second else (both & 15) - 8).tolist() == weights
            assert int(pair[2 + groups + second]) & 0xFFFFFFFF == doubled
            shifts = int(pair[4 + groups])
            assert (shifts >> 8 * second & 0x7F, bool(shifts & 0x80)) == (shift & 0x7F, is_long)
            seen += 1
    assert seen > 100


@pytest.mark.parametrize("op", ["CONV_2D", "FULLY_CONNECTED"])
def test_int4_weights_have_kernels_of_their_own(op: str) -> None:
    """And those take no others."""
    kernels = [DspTiled(CONV_2D_S8, 4, INT4_STREAM), DspFullyConnected(INT4_STREAM)]
    seen = set[bool]()
    for seed in range(40):
        let = random_layer(op, DType.INT8, seed).let
        reasons = {kernel.refusal(let, M4) for kernel in kernels if kernel.op == op}
        others = {reason for reason in refused(let) if reason and "is for" not in reason}
        if is_int4(let):
            assert others <= {"the weights are int4, which have a kernel of their own"}
        else:
            assert None not in reasons
        seen.add(None in reasons)
    assert seen == {True, False}


def first_of(kernel: DspTiled) -> PrimFunc:
    """Bound to the first layer that it takes."""
    for seed in range(200):
        layer = random_layer(kernel.op, DType.INT8, seed)
        if kernel.refusal(layer.let, M4) is None:
            return kernel.bind(layer.let, layer.constants, "layer")
    raise AssertionError("no layer")


def test_forms_of_int8_are_chosen_beside_int4_weights() -> None:
    """Four widened pixels are int4's too: the int8 layers of a build beside it were left with the source that
    calls larger tiles, which nobody linked."""
    prims = [
        first_of(DspTiled(CONV_2D_S8, 4, INT4_STREAM)),
        first_of(DspTiled(CONV_2D_S8, 1, INT8_STREAM)),
    ]
    [[narrow, wide]] = in_smallest_forms([prims])
    assert "kernels/dsp/gather4_s8_dsp.S" in narrow.sources
    assert wide.symbol == "cg_conv2d_1_s8_dsp"
    assert "kernels/dsp/conv2d_s8_dsp.c" not in wide.sources
