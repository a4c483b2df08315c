"""What the DSP extension's depthwise kernels share: when they can run, weights and numbers by channel."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir import DType, Let, Target, Var
from codegen.ir.ops import DepthwiseConvAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import arg_type, constant_data
from codegen.kernels.base.window import WindowShape, nhwc
from codegen.kernels.dsp.requantize import channel_multipliers, folded_bias, long_reason, right_shifts
from codegen.kernels.portable.convolution import DepthwiseConv2D, DepthwiseInPlace
from codegen.targets.arm import DSP
from codegen.targets.families import runs

GROUP = 4
"""Channels computed together."""
HEADER = "cg_depthwise_dsp.h"
PORTABLE = DepthwiseConv2D("depthwise_conv2d_s8", DType.INT8)
PORTABLE_IN_PLACE = DepthwiseInPlace("s8", DType.INT8)
"""They run what only the data shows to be out of range."""


def window_of(let: Let) -> WindowShape:
    """The geometry of a DEPTHWISE_CONV_2D."""
    attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
    weights = nhwc(arg_type(let, 1).shape)
    return WindowShape(
        image=nhwc(arg_type(let, 0).shape),
        result=nhwc(let.var.type.shape),
        window=(weights[1], weights[2]),
        stride=attrs.stride,
        dilation=attrs.dilation,
        padding=attrs.padding,
    )


def common_refusal(let: Let, target: Target) -> str | None:
    """A core without SMLAD, several results a channel, few channels, or a scale or range for which the short
    requantization is not exact."""
    if not runs(target, DSP):
        return "the core lacks the DSP extension"
    reason = PORTABLE.refusal(let, target)
    if reason is not None:
        return reason
    attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
    if not isinstance(let.call.args[0], Var):
        return "the image is constant"
    if attrs.multiplier != 1 or let.var.type.shape[3] < GROUP:
        return f"fast depthwise kernels are for multiplier 1 and at least {GROUP} channels"
    return long_reason(let, attrs.activation)


def alignment(window: WindowShape) -> int:
    """Of image and result in bytes: pixels are read as words where all of them are aligned."""
    return 4 if window.image[3] % 4 == 0 else 1


@dataclass(frozen=True, kw_only=True, slots=True)
class ChannelNumbers:
    """By channel: weights [channel, tap], bias with the image's zero point folded in, requantization."""

    weights: NDArray[np.int64]
    bias: NDArray[np.int64]
    multipliers: NDArray[np.int32]
    right_shifts: NDArray[np.int32]


def channel_numbers(let: Let, constants: Mapping[str, np.ndarray]) -> ChannelNumbers | None:
    """The numbers of `let`, None if an accumulator could grow too large for the short requantization."""
    data = constant_data(let, 1, constants)
    if data is None:
        raise ValueError("the weights are missing")
    weights = np.asarray(data, np.int64).reshape(-1, data.shape[-1]).T
    bias = constant_data(let, 2, constants)
    total = np.zeros(len(weights), np.int64) if bias is None else bias.reshape(-1).astype(np.int64)
    folded = folded_bias(total, weights, arg_type(let, 0).zero_point)
    if folded is None:
        return None
    multipliers, shifts = channel_multipliers(let)
    return ChannelNumbers(
        weights=weights,
        bias=folded,
        multipliers=multipliers,
        right_shifts=right_shifts(multipliers, shifts),
    )


def int16_pairs(values: NDArray[np.int64]) -> NDArray[np.int32]:
    """Words of two int16 along the last axis, the first one in the low half."""
    return np.ascontiguousarray(values.astype("<i2")).view("<i4")[..., 0]
