"""DEPTHWISE_CONV_2D on int16 images, any window, on cores with the DSP extension: four channels, tap by tap;
with an FPU rounded as ONNX does too."""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.ir.ops import DepthwiseConvAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import arg_type
from codegen.kernels.base.overlap import forward_sharing, striped_below
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import is_clamped, limit_fields
from codegen.kernels.base.walk import params
from codegen.kernels.base.weighted import DEPTHWISE
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.dsp.convolution_s16 import Channels, Int16Kernel
from codegen.kernels.dsp.depthwise.channels import GROUP, int16_pairs
from codegen.kernels.dsp.depthwise.taps import MOST_TAPS, UNROLLED_TAPS, instructions, tap_fields
from codegen.kernels.portable.convolution import DEPTHWISE_S16, ONNX_DEPTHWISE_S16
from codegen.kernels.primfunc import PrimFunc

HEADER = "cg_depthwise_s16_dsp.h"


class DepthwiseTapsS16(Int16Kernel):
    """Depthwise on int16: any window, stride, dilation and padding; multiplier 1, at least four channels."""

    op, base, function = "DEPTHWISE_CONV_2D", "depthwise_taps_s16_dsp", "depthwise_taps_s16_dsp"
    loop = "depthwise_taps_{}parts_s16_dsp.S"

    def shape_reason(self, let: Let) -> str | None:
        """Refuse several results a channel, few channels, a larger window."""
        attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
        if attrs.multiplier != 1 or let.var.type.shape[3] < GROUP:
            return f"the kernel {self.name} is for multiplier 1 and at least {GROUP} channels"
        if math.prod(DEPTHWISE.window(let).window) > MOST_TAPS:
            return f"the kernel {self.name} is for windows of at most {MOST_TAPS} taps"
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind a call. Where sums may leave 32 bits, bind the portable kernel."""
        channels = self.channels(let, constants)
        if not channels.fits:
            return self.portable.bind(let, constants, name)
        window = DEPTHWISE.window(let)
        depth = window.image[3]
        by_words = depth % 2 == 0
        padding = np.full(depth, arg_type(let, 0).zero_point, np.int16)
        group = group_instructions(window, is_clamped=is_clamped(let), rounds_even=channels.rounds_even)
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=self.symbol,
            sources=self.sources,
            headers=(HEADER,),
            argument_alignment=4 if by_words else 2,
            reads=(window.reads(depth),),
            constants=(
                LinkedConstant(
                    role="weights",
                    data=packed(channels),
                    alignment=4,
                    layout="by four channels: biases, weights tap by tap as int16, requantization",
                    rounded=(0, depth) if channels.rounds_even else None,
                ),
                LinkedConstant(
                    role="pad",
                    is_plain=True,
                    data=padding.view(np.int8),
                    alignment=4,
                    layout="a pixel in the padding: zero points of 2 bytes",
                ),
            ),
            sharing=forward_sharing(let, 0, striped_below(window, rows=1, columns=1, channels=GROUP)),
            structs=(params("cg_dw_taps_s16_params", ("taps", tap_fields(let, window)), *limit_fields(let)),),
            call_args=(PARAMS, ARGUMENT, RESULT),
            instructions=instructions(window, group),
        )


def packed(channels: Channels) -> NDArray[np.int32]:
    """Words by group of four channels, the last group counted back from the last channel: see
    `cg_dw_taps_s16_params`."""
    count, taps = channels.weights.shape
    weights = channels.weights.T.astype(np.int64)  # [tap, channel]
    if taps % 2 and taps != UNROLLED_TAPS:
        weights = np.pad(weights, ((0, 1), (0, 0)))
    words: list[NDArray[np.int32] | NDArray[np.int64]] = []
    for start in range(0, count, GROUP):
        first = min(start, count - GROUP)
        group = slice(first, first + GROUP)
        words += [channels.bias[group], int16_pairs(weights[:, group].reshape(-1, 2))]
        if channels.rounds_even:
            words.append(channels.multipliers[group])
        else:
            shifts = (channels.shifts[group] - 16) << 8 * np.arange(GROUP)
            words += [channels.multipliers[group] << 16, shifts.sum(keepdims=True)]
    return np.concatenate(words).astype(np.int32)


def group_instructions(window: WindowShape, *, is_clamped: bool, rounds_even: bool) -> int:
    """Instructions for four channels of a pixel."""
    taps, by_words = math.prod(window.window), window.result[3] % 2 == 0
    two, single = (15, 8) if by_words else (21, 11)
    pairs = -(-taps // 2)
    multiplied = 4 * two + single if taps == UNROLLED_TAPS else 6 + pairs * (two + 2)
    return 12 + multiplied + (23 if rounds_even else 19) + 10 * is_clamped + (1 if by_words else 6)


register(DepthwiseTapsS16(ONNX_DEPTHWISE_S16))
register(DepthwiseTapsS16(DEPTHWISE_S16))
