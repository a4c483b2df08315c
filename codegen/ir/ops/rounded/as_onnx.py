"""Layers with weights as onnxruntime rounds them: integers, each channel scaled by a float32 number.

clip(rint(float32(sum) * scale) + zero point), in float32 and in that order.
"""

import math

import numpy as np

from codegen.ir.dataflow import Range
from codegen.ir.operator import Arrays, Attrs, Types
from codegen.ir.ops.base.activation import stored_limits
from codegen.ir.ops.base.fixed_point import INT32_MAX, INT32_MIN, Integers, wrap_int32
from codegen.ir.ops.base.float_steps import scaled, stored
from codegen.ir.ops.base.operands import need_bias, need_dtype, need_elements, need_quantized, operand
from codegen.ir.ops.base.rounding import OnnxRounding, rounding_of
from codegen.ir.ops.base.weighted import WeightedOp, WeightedRule, integer_sums
from codegen.ir.types import DType, TensorType

_WEIGHTS = {DType.INT8: (DType.INT8, DType.INT4), DType.INT16: (DType.INT8, DType.INT16)}
"""Element types of weights, by that of image and result."""


def layer_scales(attrs: Attrs) -> tuple[float, ...]:
    """Scale of each channel's sums; raises ValueError for another rounding."""
    rounding = rounding_of(attrs)
    if not isinstance(rounding, OnnxRounding):
        raise ValueError("the layer is not rounded as ONNX does")
    return rounding.scales


class AsOnnx(WeightedRule):
    """An image of int8 or int16 (whose sums have 64 bits), weights without a zero point (int4
    too), a bias of int32."""

    def check(self, op: WeightedOp, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Types, and a scale for each channel."""
        need_elements(result)
        scales, image = layer_scales(attrs), operand(args, 0, "image")
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

    def evaluate(
        self, op: WeightedOp, attrs: Attrs, values: Arrays, args: Types, result: TensorType
    ) -> np.ndarray:
        """Source: onnxruntime, QLinearConv (MlasRequantizeOutput)."""
        return _rounded(integer_sums(attrs, values, args, result), attrs, result)

    def range_of(
        self, op: WeightedOp, attrs: Attrs, args: Types, result: TensorType, ends: tuple[Integers, Integers]
    ) -> Range | None:
        """Scales are positive: results grow with sums, unless an accumulator wraps."""
        least, most = ends
        wraps = least.min(initial=0) < INT32_MIN or most.max(initial=0) > INT32_MAX
        if wraps and result.dtype is DType.INT8:
            return None
        return Range(low=_rounded(least, attrs, result), high=_rounded(most, attrs, result))


def _rounded(sums: Integers, attrs: Attrs, result: TensorType) -> np.ndarray:
    whole = wrap_int32(sums) if result.dtype is DType.INT8 else sums
    units = scaled(whole, np.array(layer_scales(attrs), np.float32))
    return stored(units, result, stored_limits(attrs, result)).reshape(result.shape)
