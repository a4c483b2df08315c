"""HYBRID_CONV_2D, HYBRID_DEPTHWISE_CONV_2D and HYBRID_FULLY_CONNECTED."""

from dataclasses import dataclass

import numpy as np

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.activation import activated
from codegen.ir.ops.base.attrs import ConvAttrs, DepthwiseConvAttrs, FullyConnectedAttrs
from codegen.ir.ops.base.operands import need_bias, need_dtype, need_elements, operand, present
from codegen.ir.ops.base.products import sums_of
from codegen.ir.ops.convolution import (
    Conv2D,
    DepthwiseConv2D,
    FullyConnected,
    checked_scales,
)
from codegen.ir.ops.hybrid.image_rounding import quantised
from codegen.ir.types import DType, TensorType


@dataclass(frozen=True, kw_only=True, slots=True)
class HybridRowsAttrs(FullyConnectedAttrs):
    """HYBRID_FULLY_CONNECTED: as FULLY_CONNECTED; `asymmetric`: rows have zero points."""

    asymmetric: bool = False


class _Weighted(Op):
    """An image of float32, weights of int8 without a zero point, a bias of float32."""

    weights_axis = 0
    """That of result channels."""

    def parts(self, image: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """`image` as [parts, elements]: what is quantised together."""
        del weights
        return image.reshape(image.shape[0], -1)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Types, and one scale or one a channel."""
        super().check(attrs, args, result)
        need_elements(result)
        weights = operand(args, 1, "weights")
        need_dtype(operand(args, 0, "image"), "image", DType.FLOAT32)
        need_dtype(weights, "weights", DType.INT8)
        need_dtype(result, "result", DType.FLOAT32)
        channels = result.shape[-1]
        need_bias(args, channels, DType.FLOAT32)
        checked_scales(weights, channels, self.weights_axis)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Sums are exact; scales and bias are applied in float32, in TFLite's order."""
        image, weights = present(values, 0, "image"), present(values, 1, "weights")
        rows = self.parts(image, weights)
        asymmetric = is_asymmetric(self, attrs, args)
        found = [quantised(row, asymmetric=asymmetric) for row in rows]
        centred = np.stack([row for row, _ in found]).reshape(image.shape)
        sums = sums_of(attrs, centred, weights.astype(np.float64), result)
        units = sums.astype(np.float32).reshape(len(found), -1, result.shape[-1])
        quantization = operand(args, 1, "weights").quantization
        assert quantization is not None
        scales = np.array(quantization.scales, np.float32)
        steps = np.array([scale for _, scale in found], np.float32)[:, None, None]
        by_channel_first = is_scaled_by_channel_first(self, args)
        reals = units * scales * steps if by_channel_first else units * (steps * scales)
        bias = values[2] if len(values) > 2 else None
        if bias is not None:
            reals = reals + bias.reshape(-1)
        return activated(reals, attrs, result).reshape(result.shape)


class HybridConv2D(_Weighted):
    """HYBRID_CONV_2D(image NHWC, weights OHWI, bias O or None) -> NHWC."""

    name = "HYBRID_CONV_2D"
    short = "hconv"
    attrs_type = ConvAttrs
    result_shape = Conv2D.result_shape
    macs = Conv2D.macs


class HybridDepthwiseConv2D(_Weighted):
    """HYBRID_DEPTHWISE_CONV_2D(image NHWC, weights 1HWO, bias O or None) -> NHWC."""

    name = "HYBRID_DEPTHWISE_CONV_2D"
    short = "hdw"
    attrs_type = DepthwiseConvAttrs
    weights_axis = 3
    result_shape = DepthwiseConv2D.result_shape
    macs = DepthwiseConv2D.macs


class HybridFullyConnected(_Weighted):
    """HYBRID_FULLY_CONNECTED(image flattened to rows of I, weights [O, I], bias O or None) -> [rows, O]."""

    name = "HYBRID_FULLY_CONNECTED"
    short = "hfc"
    attrs_type = HybridRowsAttrs
    result_shape = FullyConnected.result_shape
    macs = FullyConnected.macs

    def parts(self, image: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """See `_Weighted.parts`."""
        return image.reshape(-1, weights.shape[1])


def _is_by_channel(args: Types) -> bool:
    quantization = operand(args, 1, "weights").quantization
    return quantization is not None and len(quantization.scales) > 1


def is_asymmetric(op: Op, attrs: Attrs, args: Types) -> bool:
    """Whether the image gets a zero point: where convolutions are scaled by channel, where rows say so."""
    if isinstance(attrs, HybridRowsAttrs):
        return attrs.asymmetric
    return isinstance(op, HybridDepthwiseConv2D) or _is_by_channel(args)


def is_scaled_by_channel_first(op: Op, args: Types) -> bool:
    """Whether a sum takes the channel's scale, then the image's; else their product."""
    return isinstance(op, HybridConv2D) and _is_by_channel(args)


OPERATORS: tuple[Op, ...] = (HybridConv2D(), HybridDepthwiseConv2D(), HybridFullyConnected())
"""All of this room."""
