"""Layers with weights as TFLite rounds them: integers by fixed-point multipliers; float32 is not rounded."""

import numpy as np

from codegen.ir.dataflow import Range
from codegen.ir.operator import Arrays, Attrs, Types
from codegen.ir.ops.base.activation import activated, stored_limits
from codegen.ir.ops.base.fixed_point import (
    INT32_MAX,
    INT32_MIN,
    Integers,
    multiply_by_quantized_multiplier,
    multiply_wide_by_quantized_multiplier,
    wrap_int32,
)
from codegen.ir.ops.base.operands import need_bias, need_dtype, need_elements, need_quantized, operand
from codegen.ir.ops.base.parameters import has_wide_accumulator, need_wide_shifts
from codegen.ir.ops.base.weighted import (
    WeightedOp,
    WeightedRule,
    checked_scales,
    float_sums,
    integer_sums,
    weight_scales,
)
from codegen.ir.types import DType, TensorType

_WEIGHT_TYPES = {
    DType.INT8: (DType.INT8, DType.INT4),
    DType.INT16: (DType.INT8,),
    DType.FLOAT32: (DType.FLOAT32, DType.FLOAT16),
}
"""Element types of weights, by that of the image."""

_BIAS_TYPES = {
    DType.INT8: (DType.INT32,),
    DType.INT16: (DType.INT64, DType.INT32),
    DType.FLOAT32: (DType.FLOAT32,),
}
"""Element types of a bias, by that of the image."""


class AsTflite(WeightedRule):
    """int8 images and int8 or int4 weights, int16 and int8 (per tensor or output channel), or float32."""

    def check(self, op: WeightedOp, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Types of image, weights, bias and result, and multipliers in range."""
        image, weights, channels = operand(args, 0, "image"), operand(args, 1, "weights"), result.shape[-1]
        need_elements(result)
        need_dtype(image, "image", *_BIAS_TYPES)
        need_dtype(weights, "weights", *_WEIGHT_TYPES[image.dtype])
        need_dtype(result, "result", image.dtype)
        need_bias(args, channels, *_BIAS_TYPES[image.dtype])
        if image.dtype is not DType.FLOAT32:
            need_quantized(image, "image")
            need_quantized(result, "result")
            is_int8 = image.dtype is DType.INT8
            scales = checked_scales(weights, channels, op.weights_axis, may_be_asymmetric=is_int8)
            _, shifts = op.multipliers(args)(image.scale, scales, result.scale)
            if has_wide_accumulator(args):
                need_wide_shifts(shifts)
            stored_limits(attrs, result)

    def evaluate(
        self, op: WeightedOp, attrs: Attrs, values: Arrays, args: Types, result: TensorType
    ) -> np.ndarray:
        """Source: reference_integer_ops and reference_ops of TFLite."""
        if result.dtype is DType.FLOAT32:
            return activated(float_sums(attrs, values, result), attrs, result).reshape(result.shape)
        return _requantized(op, integer_sums(attrs, values, args, result), attrs, args, result)

    def range_of(
        self, op: WeightedOp, attrs: Attrs, args: Types, result: TensorType, ends: tuple[Integers, Integers]
    ) -> Range:
        """Multipliers are not negative, so results grow with sums, unless the accumulator or its left shift
        wraps; there only the clamp is left."""
        least, most = ends
        scales = weight_scales(operand(args, 1, "weights"))
        _, shifts = op.multipliers(args)(operand(args, 0, "image").scale, scales, result.scale)
        left = np.maximum(shifts, 0).astype(np.int64)
        wraps = (least < -(-INT32_MIN >> left)) | (most > INT32_MAX >> left)
        unknown = (wraps & (least != most)).reshape(result.shape)
        low, high = (_requantized(op, sums, attrs, args, result) for sums in ends)
        smallest, largest = stored_limits(attrs, result)
        return Range(
            low=np.where(unknown, low.dtype.type(smallest), low),
            high=np.where(unknown, high.dtype.type(largest), high),
        )


def _requantized(op: WeightedOp, sums: Integers, attrs: Attrs, args: Types, result: TensorType) -> np.ndarray:
    """Integer results of sums, bias included; they wrap to 32 bits first, as in C, or are 64 bits wide."""
    scales = weight_scales(operand(args, 1, "weights"))
    factors, shifts = op.multipliers(args)(operand(args, 0, "image").scale, scales, result.scale)
    if has_wide_accumulator(args):
        scaled = multiply_wide_by_quantized_multiplier(sums, factors, shifts)
    else:
        scaled = multiply_by_quantized_multiplier(wrap_int32(sums), factors, shifts) + result.zero_point
    return activated(scaled, attrs, result).reshape(result.shape)
