"""Convolutions and rows of integers, each channel scaled by its own float32 number."""

import math
from dataclasses import dataclass

import numpy as np

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.activation import stored_limits
from codegen.ir.ops.base.attrs import ConvAttrs, DepthwiseConvAttrs, FullyConnectedAttrs
from codegen.ir.ops.base.fixed_point import wrap_int32
from codegen.ir.ops.base.operands import (
    need_bias,
    need_dtype,
    need_elements,
    need_quantized,
    operand,
    present,
)
from codegen.ir.ops.base.products import sums_of
from codegen.ir.ops.convolution import (
    Conv2D,
    DepthwiseConv2D,
    FullyConnected,
)
from codegen.ir.ops.qlinear.rounding import scaled, stored
from codegen.ir.types import DType, TensorType


@dataclass(frozen=True, kw_only=True, slots=True)
class QLinearConvAttrs(ConvAttrs):
    """QLINEAR_CONV_2D: as CONV_2D; `scales`: float32, of a sum in units of the result, one a channel."""

    scales: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class QLinearDepthwiseAttrs(DepthwiseConvAttrs):
    """QLINEAR_DEPTHWISE_CONV_2D: as DEPTHWISE_CONV_2D; `scales` as of QLINEAR_CONV_2D."""

    scales: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class QLinearRowsAttrs(FullyConnectedAttrs):
    """QLINEAR_FULLY_CONNECTED: as FULLY_CONNECTED; `scales` as of QLINEAR_CONV_2D."""

    scales: tuple[float, ...]


def _scales(attrs: Attrs) -> tuple[float, ...]:
    if not isinstance(attrs, QLinearConvAttrs | QLinearDepthwiseAttrs | QLinearRowsAttrs):
        raise ValueError(f"attributes are {type(attrs).__name__}, the operator takes scales")
    return attrs.scales


_WEIGHTS = {DType.INT8: (DType.INT8,), DType.INT16: (DType.INT8, DType.INT16)}
"""Element types of weights, by that of image and result."""


class _Weighted(Op):
    """An image of int8 or int16 (whose sums have 64 bits), weights without a zero point, a bias of int32."""

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Types, and a scale for each channel."""
        Op.check(self, attrs, args, result)
        need_elements(result)
        scales = _scales(attrs)
        image = operand(args, 0, "image")
        need_dtype(image, "image", *_WEIGHTS)
        need_dtype(operand(args, 1, "weights"), "weights", *_WEIGHTS[image.dtype])
        need_quantized(image, "image", any_zero=True)
        need_dtype(result, "result", image.dtype)
        need_quantized(result, "result", any_zero=True)
        channels = result.shape[-1]
        need_bias(args, channels, DType.INT32)
        if len(scales) != channels or not all(scale > 0 and math.isfinite(scale) for scale in scales):
            raise ValueError(f"there are {len(scales)} positive scales for {channels} output channels")
        stored_limits(attrs, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: onnxruntime, QLinearConv (MlasRequantizeOutput)."""
        image, weights = present(values, 0, "image"), present(values, 1, "weights")
        centred = image.astype(np.float64) - operand(args, 0, "image").zero_point
        sums = sums_of(attrs, centred, weights.astype(np.float64), result).astype(np.int64)
        bias = values[2] if len(values) > 2 else None
        whole = sums if bias is None else sums + bias.reshape(-1)
        whole = wrap_int32(whole) if result.dtype is DType.INT8 else whole
        units = scaled(whole, np.array(_scales(attrs), np.float32))
        return stored(units, result, stored_limits(attrs, result)).reshape(result.shape)


class QLinearConv2D(_Weighted):
    """QLINEAR_CONV_2D(image NHWC, weights OHWI, bias O or None) -> NHWC."""

    name = "QLINEAR_CONV_2D"
    short = "qconv"
    attrs_type = QLinearConvAttrs
    result_shape = Conv2D.result_shape
    macs = Conv2D.macs


class QLinearDepthwiseConv2D(_Weighted):
    """QLINEAR_DEPTHWISE_CONV_2D(image NHWC, weights 1HWO, bias O or None) -> NHWC."""

    name = "QLINEAR_DEPTHWISE_CONV_2D"
    short = "qdw"
    attrs_type = QLinearDepthwiseAttrs
    result_shape = DepthwiseConv2D.result_shape
    macs = DepthwiseConv2D.macs


class QLinearFullyConnected(_Weighted):
    """QLINEAR_FULLY_CONNECTED(rows of I, weights [O, I], bias O or None) -> rows of O."""

    name = "QLINEAR_FULLY_CONNECTED"
    short = "qfc"
    attrs_type = QLinearRowsAttrs
    result_shape = FullyConnected.result_shape
    macs = FullyConnected.macs


OPERATORS: tuple[Op, ...] = (QLinearConv2D(), QLinearDepthwiseConv2D(), QLinearFullyConnected())
"""All of this module."""
