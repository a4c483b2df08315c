"""Weights, bias and requantization by channel, as all depthwise kernels of the DSP extension take them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir import DType, Let
from codegen.ir.ops import DepthwiseConvAttrs
from codegen.ir.ops.base.fixed_point import wrap_int32
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.base.weighted import weight_zero_point
from codegen.kernels.base.c_kernel import FastKernel, arg_type
from codegen.kernels.base.weighted import (
    DEPTHWISE,
    WeightedOperator,
    bias_data,
    weight_data,
)
from codegen.kernels.base.window import WindowShape
from codegen.kernels.dsp.packing import channel_multipliers, folded_bias, long_reason, near_scaling
from codegen.kernels.portable.convolution import DEPTHWISE_S8_OR_U8, DepthwiseConv2D, DepthwiseInPlace
from codegen.targets.arm import DSP, ROUNDING_DSP

GROUP = 4
"""Channels computed together."""
HEADER = "cg_depthwise_dsp.h"


class DspDepthwise(FastKernel):
    """Base of the depthwise kernels: multiplier 1, at least four channels, and scales and a range for which
    the short requantization is exact."""

    op = "DEPTHWISE_CONV_2D"
    base: str
    """Its name without rounding."""
    weighted: DepthwiseConv2D | DepthwiseInPlace = DEPTHWISE_S8_OR_U8
    """The kernel `portable`, to fall back to where only the data shows that a call is out of range."""

    def __init__(self, portable: DepthwiseConv2D | None = None) -> None:
        """`portable`: the kernel that rounds as this one does, if not as TFLite."""
        self.portable = self.weighted = portable or self.weighted
        self.operator = self.weighted.operator
        self.rounding, self.rounds_even = self.operator.rounding, self.operator.rounds_even
        self.kernel_set = ROUNDING_DSP if self.rounds_even else DSP
        self.name = f"{self.operator.prefix}{self.base}"

    def other_reason(self, let: Let) -> str | None:
        """Refuse several results a channel, few channels, or a scale or range that takes the long way."""
        attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
        if attrs.multiplier != 1 or let.var.type.shape[3] < GROUP:
            return f"fast depthwise kernels are for multiplier 1 and at least {GROUP} channels"
        return long_reason(let, self.operator)


def lines_reason(let: Let, name: str) -> str | None:
    """Why the kernel `name`, which goes through lines, is not for the window of a call, or None."""
    window = DEPTHWISE.window(let)
    if window.window != (3, 3) or window.dilation != (1, 1) or window.padding.left > 1:
        return f"the kernel {name} is for 3x3 windows, dilation 1, at most one column of padding"
    if window.stride not in ((1, 1), (2, 2)):
        return f"the kernel {name} is for strides 1 and 2"
    return None


def has_int4(let: Let) -> bool:
    """True if a nibble holds each weight of the call."""
    return arg_type(let, 1).dtype is DType.INT4


OWN_KERNEL = "the weights are int4, which have a kernel of their own"


def alignment(window: WindowShape) -> int:
    """Alignment of image and result in bytes: pixels are read as words where all of them are aligned."""
    return 4 if window.image[3] % 4 == 0 else 1


@dataclass(frozen=True, kw_only=True, slots=True)
class ChannelNumbers:
    """Numbers by channel: weights [channel, tap], bias with the image's zero point folded in,
    requantization."""

    weights: NDArray[np.int64]
    bias: NDArray[np.int64]
    multipliers: NDArray[np.int32]
    right_shifts: NDArray[np.int32]


def channel_numbers(
    let: Let, constants: Mapping[str, np.ndarray], operator: WeightedOperator = DEPTHWISE
) -> ChannelNumbers | None:
    """The numbers of `let`, None if an accumulator could grow too large for the short requantization.

    Rounded as ONNX does, sums wrap as in any other kernel.
    """
    stored = DEPTHWISE.rows(weight_data(let, constants)).astype(np.int64)
    weights = stored - weight_zero_point(arg_type(let, 1))
    if operator.rounds_even:
        bias = bias_data(let, constants) - arg_type(let, 0).zero_point * weights.sum(axis=1)
        scales, shifts = operator.scaling(let)
        return ChannelNumbers(
            weights=weights, bias=wrap_int32(bias), multipliers=scales, right_shifts=-shifts
        )
    folded = folded_bias(bias_data(let, constants), weights, arg_type(let, 0).zero_point)
    if folded is None:
        return None
    multipliers, shifts = channel_multipliers(let, DEPTHWISE)
    near = near_scaling((multipliers, shifts), folded, weights)
    if near is None:
        return None
    return ChannelNumbers(weights=weights, bias=folded, multipliers=near[0], right_shifts=near[1])


def int16_pairs(values: NDArray[np.int64]) -> NDArray[np.int32]:
    """Words of two int16 along the last axis, the first one in the low half."""
    return np.ascontiguousarray(values.astype("<i2")).view("<i4")[..., 0]


def ends_at_zero(let: Let) -> bool:
    """True if the zero point is the least result, so that halves of sums below zero do not count."""
    return let.var.type.zero_point == let.var.type.dtype.limits[0]
