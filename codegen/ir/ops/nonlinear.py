"""Operators on one argument, element by element or row by row: activations and changes of quantisation."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from codegen.ir.dataflow import Links, Range, RowReads, same_channels
from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base import curves
from codegen.ir.ops.base.activation import ActivatedAttrs, Activation, activated, stored_limits
from codegen.ir.ops.base.attrs import LeakyReluAttrs, SoftmaxAttrs
from codegen.ir.ops.base.byte_tables import BYTES, range_of_table
from codegen.ir.ops.base.fixed_point import (
    Integers,
    count_leading_zeros,
    doubling_high_mul,
    exp_on_negative_values,
    multiply_by_quantized_multiplier,
    one_over_one_plus_x,
    rounding_divide_by_power,
)
from codegen.ir.ops.base.integer_rows import softmax_numbers, softmax_rows
from codegen.ir.ops.base.operands import (
    narrow,
    need_dtype,
    need_elements,
    need_fixed_quantization,
    need_one_type,
    need_quantized,
    operand,
    present,
)
from codegen.ir.ops.base.parameters import (
    leaky_relu_params,
    logistic_float,
    logistic_table,
    relu_multiplier,
    softmax_params,
    tanh_float,
    tanh_table,
)
from codegen.ir.ops.base.rounding import OnnxRounding, rounding_of
from codegen.ir.ops.base.shape_rules import SameShape
from codegen.ir.types import DType, TensorType


def softmax(attrs: SoftmaxAttrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """SOFTMAX over the last axis."""
    value = present(values, 0, "argument")
    if isinstance(attrs.rounding, OnnxRounding):
        numbers = softmax_numbers(operand(args, 0, "argument"), attrs.beta, result)
        return softmax_rows(value.astype(np.int64), numbers, result)
    if result.dtype is DType.FLOAT32:
        shifted = value.astype(np.float64) - value.max(axis=-1, keepdims=True)
        powers = np.exp(shifted * attrs.beta)
        return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32)
    if value.dtype == np.int16:
        return curves.softmax(value.astype(np.int64), attrs.beta, operand(args, 0, "argument"))
    return _softmax_int8(attrs, value.astype(np.int64), operand(args, 0, "argument"), result.dtype)


def _softmax_int8(attrs: SoftmaxAttrs, value: Integers, argument: TensorType, dtype: DType) -> np.ndarray:
    """Exponentials Q5.26 -> Q0.31, summed in Q12.19, one reciprocal a row. Source: reference_ops::Softmax."""
    low, high = dtype.limits
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
    exponent = 12 - headroom + 31 - 8 * dtype.size_bytes
    scaled = rounding_divide_by_power(doubling_high_mul(reciprocal, powers), exponent) + low
    return np.where(counts, np.clip(scaled, low, high), low).astype(dtype.numpy)


def logistic(values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """LOGISTIC. int8: a table of 256 results. Source: kernels/activations.cc, SigmoidPrepare."""
    value, argument = present(values, 0, "argument"), operand(args, 0, "argument")
    if result.dtype is DType.FLOAT32:
        return logistic_float(value)
    if result.dtype is DType.INT16:
        return curves.sigmoid(_of_table("LOGISTIC", value, argument)).astype(np.int16)
    return logistic_table(argument, result)[value.view(np.uint8)]


def tanh(values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """TANH. int8: a table of 256 results. Source: kernels/activations.cc, TanhPrepare."""
    value, argument = present(values, 0, "argument"), operand(args, 0, "argument")
    if result.dtype is DType.FLOAT32:
        return tanh_float(value)
    if result.dtype is DType.INT16:
        return curves.tanh(_of_table("TANH", value, argument)).astype(np.int16)
    return tanh_table(argument, result)[value.view(np.uint8)]


CURVE_POWERS = MappingProxyType({"LOGISTIC": (0,), "TANH": (0, 1)})
"""Powers of two, times 2^-12, that are applied exactly as scales of an int16 argument."""


def _of_table(name: str, value: np.ndarray, argument: TensorType) -> Integers:
    scaling = curves.curve_scaling(argument, *CURVE_POWERS[name])
    return curves.rescaled(value.astype(np.int64), *scaling)


def relu(attrs: ActivatedAttrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """The operator that is an activation alone; integers are rescaled to the result's quantisation."""
    value = present(values, 0, "argument")
    if result.dtype is DType.FLOAT32:
        return activated(value, attrs, result)
    argument = operand(args, 0, "argument")
    centred = value.astype(np.int64) - argument.zero_point
    scaled = multiply_by_quantized_multiplier(centred, *relu_multiplier(argument, result)) + result.zero_point
    return activated(scaled, attrs, result)


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


class _Unary(SameShape):
    """One argument, result of its shape; int8 (or another of `integers`) or float32."""

    integers: tuple[DType, ...] = (DType.INT8,)
    """Integer types it works on, the same on both sides."""
    floats: bool = True
    """True if it works on float32 on both sides."""

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """One of its integer types or float32 on both sides."""
        super().check(attrs, args, result)
        need_elements(result)
        need_one_type([("argument", operand(args, 0, "argument")), ("result", result)], *self.integers)


class Pointwise(_Unary):
    """Element i of the result depends on element i of the only argument alone.

    What other stages need to know follows from this: int8 is a table of 256 results, channels stay apart.
    """

    def value_range(
        self, attrs: Attrs, ranges: Sequence[Range], args: Types, result: TensorType
    ) -> Range | None:
        """Range of int8 results, by the table of all results."""
        argument = operand(args, 0, "argument")
        if argument.dtype is not DType.INT8 or DType.INT8 not in self.integers:
            return None
        types = (replace(argument, shape=BYTES.shape),)
        results = self.evaluate(attrs, [BYTES], types, replace(result, shape=BYTES.shape))
        return range_of_table(results, ranges[0])

    def channel_links(self, attrs: Attrs, args: Types, result: TensorType) -> Links:
        """Channel by channel."""
        del attrs
        return same_channels(args, result)


class Softmax(_Unary):
    """SOFTMAX over the last axis."""

    name = "SOFTMAX"
    short = "softmax"
    bound = 1.0
    attrs_type = SoftmaxAttrs
    integers = (DType.INT8, DType.INT16)

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """Row by row, along any axis but the last."""
        del attrs, args
        return None if axis == len(result.shape) - 1 else RowReads(axes=(axis,))

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """An axis, a positive beta. A result of int8 has scale 1/256, zero point -128; of int16 2^-15, or,
        from int8, 2^-16 and zero point -32768. One that ONNX rounds has any."""
        argument = operand(args, 0, "argument")
        if isinstance(rounding_of(attrs), OnnxRounding):
            super().check(attrs, args, result)
            need_dtype(result, "result", DType.INT8)
            softmax_numbers(argument, narrow(attrs, SoftmaxAttrs).beta, result)
            return
        if is_wider := (argument.dtype, result.dtype) == (DType.INT8, DType.INT16):
            SameShape.check(self, attrs, args, result)
            need_elements(result)
            need_quantized(argument, "argument")
            need_quantized(result, "result", any_zero=True)
        else:
            super().check(attrs, args, result)
        if not result.shape:
            raise ValueError("the argument has no axis")
        if not narrow(attrs, SoftmaxAttrs).beta > 0.0:
            raise ValueError("beta must be positive")
        if argument.dtype is DType.INT8:
            if is_wider:  # files have 1 / 65535 too; tflite-micro's tolerance
                need_fixed_quantization(result, 1 / 65536, -32768, tolerance=0.001)
            else:
                need_fixed_quantization(result, 1 / 256, -128)
            softmax_params(narrow(attrs, SoftmaxAttrs).beta, argument)
        if argument.dtype is DType.INT16:
            need_fixed_quantization(result, 1 / 32768, 0)
            curves.softmax_scaling(narrow(attrs, SoftmaxAttrs).beta, argument)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::Softmax (int8: gemmlowp's fixed-point exponential)."""
        return softmax(narrow(attrs, SoftmaxAttrs), values, args, result)


class Logistic(Pointwise):
    """LOGISTIC: 1 / (1 + exp(-x))."""

    name = "LOGISTIC"
    short = "logistic"
    bound = 1.0
    integers = (DType.INT8, DType.INT16)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """An int8 result has scale 1/256, zero point -128, an int16 one 2^-15."""
        super().check(attrs, args, result)
        if result.dtype is DType.INT8:
            need_fixed_quantization(result, 1 / 256, -128)
        if result.dtype is DType.INT16:
            need_fixed_quantization(result, 1 / 32768, 0)
            curves.curve_scaling(operand(args, 0, "argument"), *CURVE_POWERS[self.name])

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: see `logistic`."""
        del attrs
        return logistic(values, args, result)


class Tanh(Pointwise):
    """TANH."""

    name = "TANH"
    short = "tanh"
    bound = 1.0
    integers = (DType.INT8, DType.INT16)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """An int8 result has scale 1/128, zero point 0, an int16 one 2^-15."""
        super().check(attrs, args, result)
        if result.dtype is DType.INT8:
            need_fixed_quantization(result, 1 / 128, 0)
        if result.dtype is DType.INT16:
            need_fixed_quantization(result, 1 / 32768, 0)
            curves.curve_scaling(operand(args, 0, "argument"), *CURVE_POWERS[self.name])

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: see `tanh`."""
        del attrs
        return tanh(values, args, result)


class Clamp(Pointwise):
    """An activation as a step of its own; integers are also rescaled to the result's quantisation."""

    alone: ActivatedAttrs
    """The activation, as attributes of a step that it is fused into."""
    integers = (DType.INT8, DType.INT16)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8, int16 or float32, scales within what integer kernels can apply."""
        super().check(attrs, args, result)
        if result.dtype is not DType.FLOAT32:
            relu_multiplier(operand(args, 0, "argument"), result)
            stored_limits(self.alone, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::ReluX."""
        del attrs
        return relu(self.alone, values, args, result)


class Relu(Clamp):
    """RELU: max(x, 0)."""

    name = "RELU"
    short = "relu"
    alone = ActivatedAttrs(activation=Activation.RELU)


class Relu6(Clamp):
    """RELU6: min(max(x, 0), 6)."""

    name = "RELU6"
    short = "relu6"
    alone = ActivatedAttrs(activation=Activation.RELU6)


class ReluN1To1(Clamp):
    """RELU_N1_TO_1: min(max(x, -1), 1)."""

    name = "RELU_N1_TO_1"
    short = "relu1"
    alone = ActivatedAttrs(activation=Activation.RELU_N1_TO_1)


CLAMPS: Mapping[str, Clamp] = MappingProxyType({op.name: op for op in (Relu(), Relu6(), ReluN1To1())})
"""Activations that are steps of their own, by name."""


class LeakyRelu(Pointwise):
    """LEAKY_RELU: x where it is positive, alpha * x elsewhere; integers are also requantized."""

    name = "LEAKY_RELU"
    short = "leaky"
    attrs_type = LeakyReluAttrs
    integers = (DType.INT8, DType.INT16)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8, int16 or float32, scales and alpha within what integer kernels can apply."""
        super().check(attrs, args, result)
        if result.dtype is not DType.FLOAT32:
            leaky_relu_params(narrow(attrs, LeakyReluAttrs).alpha, operand(args, 0, "argument"), result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::QuantizeLeakyRelu, LeakyRelu."""
        return leaky_relu(narrow(attrs, LeakyReluAttrs), values, args, result)


OPERATORS: tuple[Op, ...] = (
    Softmax(),
    Logistic(),
    Tanh(),
    Relu(),
    Relu6(),
    ReluN1To1(),
    LeakyRelu(),
)
"""All of this family."""
