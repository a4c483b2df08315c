"""Evaluation of the operators on one argument: activations, softmax, changes of quantisation."""

import math

import numpy as np

from codegen.ir.fixed_point import (
    Integers,
    count_leading_zeros,
    doubling_high_mul,
    exp_on_negative_values,
    multiply_by_quantized_multiplier,
    one_over_one_plus_x,
    round_half_away_array,
    rounding_divide_by_power,
)
from codegen.ir.operator import Activation, Arrays, Types
from codegen.ir.ops.base.attrs import LeakyReluAttrs, SoftmaxAttrs
from codegen.ir.ops.base.operands import operand, present
from codegen.ir.ops.base.parameters import (
    activation_range,
    leaky_relu_params,
    logistic_float,
    logistic_table,
    relu_multiplier,
    rescale_multiplier,
    softmax_params,
    tanh_float,
    tanh_table,
)
from codegen.ir.types import DType, TensorType


def softmax(attrs: SoftmaxAttrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """SOFTMAX over the last axis."""
    value = present(values, 0, "argument")
    if result.dtype is DType.FLOAT32:
        shifted = value.astype(np.float64) - value.max(axis=-1, keepdims=True)
        powers = np.exp(shifted * attrs.beta)
        return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32)
    return _softmax_int8(attrs, value.astype(np.int64), operand(args, 0, "argument"))


def _softmax_int8(attrs: SoftmaxAttrs, value: Integers, argument: TensorType) -> np.ndarray:
    """Exponentials Q5.26 -> Q0.31, summed in Q12.19, one reciprocal a row. Source: reference_ops::Softmax."""
    params = softmax_params(attrs.beta, argument)
    difference = value - value.max(axis=-1, keepdims=True)
    counts = difference >= params.least_difference
    difference = np.where(counts, difference, 0)
    powers = exp_on_negative_values(
        multiply_by_quantized_multiplier(difference, params.multiplier, params.left_shift)
    )
    total = np.where(counts, rounding_divide_by_power(powers, 12), 0).sum(axis=-1, keepdims=True)
    headroom = count_leading_zeros(total)
    reciprocal = one_over_one_plus_x((total << headroom) - (1 << 31))
    exponent = 12 - headroom + 31 - 8
    scaled = rounding_divide_by_power(doubling_high_mul(reciprocal, powers), exponent) - 128
    return np.where(counts, np.clip(scaled, -128, 127), -128).astype(np.int8)


def logistic(values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """LOGISTIC. int8: a table of 256 results. Source: kernels/activations.cc, SigmoidPrepare."""
    value = present(values, 0, "argument")
    if result.dtype is DType.FLOAT32:
        return logistic_float(value)
    return logistic_table(operand(args, 0, "argument"), result)[value.view(np.uint8)]


def tanh(values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """TANH. int8: a table of 256 results. Source: kernels/activations.cc, TanhPrepare."""
    value = present(values, 0, "argument")
    if result.dtype is DType.FLOAT32:
        return tanh_float(value)
    return tanh_table(operand(args, 0, "argument"), result)[value.view(np.uint8)]


def relu(activation: Activation, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """RELU (activation RELU) and RELU6; integers are rescaled to the result's quantisation."""
    value = present(values, 0, "argument")
    if result.dtype is DType.FLOAT32:
        return np.clip(value, 0.0, 6.0 if activation is Activation.RELU6 else math.inf).astype(np.float32)
    argument = operand(args, 0, "argument")
    centred = value.astype(np.int64) - argument.zero_point
    scaled = multiply_by_quantized_multiplier(centred, *relu_multiplier(argument, result)) + result.zero_point
    return np.clip(scaled, *activation_range(activation, result)).astype(result.dtype.numpy)


def leaky_relu(attrs: LeakyReluAttrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """LEAKY_RELU."""
    value, argument = present(values, 0, "argument"), operand(args, 0, "argument")
    if result.dtype is DType.FLOAT32:
        return np.where(value > 0, value, value * np.float32(attrs.alpha)).astype(np.float32)
    params = leaky_relu_params(attrs.alpha, argument, result)
    centred = value.astype(np.int64) - argument.zero_point
    scaled = np.where(
        centred >= 0,
        multiply_by_quantized_multiplier(centred, params.positive_multiplier, params.positive_shift),
        multiply_by_quantized_multiplier(centred, params.negative_multiplier, params.negative_shift),
    )
    return np.clip(scaled + result.zero_point, *result.dtype.limits).astype(result.dtype.numpy)


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
