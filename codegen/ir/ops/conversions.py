"""Conversions between real numbers and integers, and between integers: QUANTIZE, DEQUANTIZE."""

import numpy as np

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.fixed_point import (
    multiply_by_quantized_multiplier,
    round_half_away_array,
)
from codegen.ir.ops.base.float_steps import quantized
from codegen.ir.ops.base.operands import (
    need_dtype,
    need_elements,
    need_quantized,
    operand,
    present,
)
from codegen.ir.ops.base.parameters import (
    rescale_multiplier,
)
from codegen.ir.ops.base.rounding import OnnxRounding, RoundedAttrs, rounding_of
from codegen.ir.ops.nonlinear import Pointwise
from codegen.ir.types import DType, TensorType


def quantize(values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """QUANTIZE: float32 to an integer (rounded half away, saturated), or integer to integer."""
    value, argument = present(values, 0, "argument"), operand(args, 0, "argument")
    if argument.dtype is DType.FLOAT32:
        # Beyond int32 the C cast is undefined; saturating is what every later clamp means.
        scaled = round_half_away_array(value / np.float32(result.scale)).astype(np.float64)
        stored = np.nan_to_num(scaled) + result.zero_point
        return np.clip(stored, *result.dtype.limits).astype(result.dtype.numpy)
    centred = value.astype(np.int64) - argument.zero_point
    scaled = multiply_by_quantized_multiplier(centred, *rescale_multiplier(argument, result))
    return np.clip(scaled + result.zero_point, *result.dtype.limits).astype(result.dtype.numpy)


def dequantize(values: Arrays, args: Types) -> np.ndarray:
    """DEQUANTIZE: scale * (stored - zero point), in double, rounded to float32."""
    value, argument = present(values, 0, "argument"), operand(args, 0, "argument")
    return (argument.scale * (value.astype(np.float64) - argument.zero_point)).astype(np.float32)


class Quantize(Pointwise):
    """QUANTIZE: float32 or an integer -> int8, int16 or int32 of another scale or zero point, int8 -> uint8,
    uint8 -> int8."""

    name = "QUANTIZE"
    short = "quantize"
    attrs_type = RoundedAttrs
    integers = (DType.INT8, DType.INT16)
    floats = False

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """float32, int8, int16 or int32 in and out; of int8 uint8 too, of uint8 int8 alone. As ONNX has it
        float32 to int8 or int16."""
        Op.check(self, attrs, args, result)
        need_elements(result)
        argument = operand(args, 0, "argument")
        if isinstance(rounding_of(attrs), OnnxRounding):
            need_dtype(argument, "argument", DType.FLOAT32)
            need_dtype(result, "result", DType.INT8, DType.INT16)
            need_quantized(result, "result", any_zero=True)
            return
        need_dtype(argument, "argument", DType.FLOAT32, DType.INT8, DType.UINT8, DType.INT16, DType.INT32)
        wide = (DType.INT16, DType.INT32)
        others = {DType.INT8: (*wide, DType.UINT8), DType.UINT8: ()}
        need_dtype(result, "result", DType.INT8, *others.get(argument.dtype, wide))
        need_quantized(result, "result")
        if argument.dtype is not DType.FLOAT32:
            # As of SOFTMAX's 16 bits: without it values have 17 bits, which no shift to the left goes with.
            may_be_asymmetric = argument.dtype is DType.INT16 and argument.scale <= result.scale
            need_quantized(argument, "argument", any_zero=may_be_asymmetric)
            rescale_multiplier(argument, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::AffineQuantize, Requantize; ONNX, QuantizeLinear."""
        if isinstance(rounding_of(attrs), OnnxRounding):
            return quantized(present(values, 0, "argument"), result, result.dtype.limits)
        return quantize(values, args, result)


class Dequantize(Pointwise):
    """DEQUANTIZE: int8, int16, int32 or float16 -> float32."""

    name = "DEQUANTIZE"
    short = "dequantize"
    integers = ()
    floats = False

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8, int16, int32 or float16 in, float32 out."""
        Op.check(self, attrs, args, result)
        need_elements(result)
        argument = operand(args, 0, "argument")
        need_dtype(argument, "argument", DType.INT8, DType.INT16, DType.INT32, DType.FLOAT16)
        need_dtype(result, "result", DType.FLOAT32)
        if argument.dtype is not DType.FLOAT16:
            need_quantized(argument, "argument", any_zero=True)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::Dequantize; each float16 is a float32 too."""
        del attrs, result
        if operand(args, 0, "argument").dtype is DType.FLOAT16:
            return present(values, 0, "argument").astype(np.float32)
        return dequantize(values, args)


QUANTIZE, DEQUANTIZE = Quantize(), Dequantize()

OPERATORS: tuple[Op, ...] = (QUANTIZE, DEQUANTIZE)
"""All of this family."""
