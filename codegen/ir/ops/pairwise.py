"""Operators on two or three arguments with broadcasting that choose, compare or divide: a class a family.

MAXIMUM, MINIMUM; EQUAL, NOT_EQUAL, LESS, LESS_EQUAL (GREATER and GREATER_EQUAL are these with their arguments
the other way round); DIV, SQUARED_DIFFERENCE, FLOOR_DIV, FLOOR_MOD; PRELU; SELECT_V2; LOGICAL_NOT.
"""

from collections.abc import Callable

import numpy as np

from codegen.ir.dataflow import Links, RowReads, same_channels
from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.activation import activated, stored_limits
from codegen.ir.ops.base.attrs import BinaryAttrs
from codegen.ir.ops.base.fixed_point import (
    Integers,
    count_leading_zeros,
    doubling_high_mul,
    multiply_by_quantized_multiplier,
    one_over_one_plus_x,
    rounding_divide_by_power,
    wrap_int32,
)
from codegen.ir.ops.base.operands import (
    broadcast,
    narrow,
    need_count,
    need_dtype,
    need_elements,
    need_quantized,
    need_same_quantization,
    operand,
    present,
)
from codegen.ir.ops.base.parameters import (
    compare_multiplier,
    div_multiplier,
    prelu_params,
    squared_difference_params,
)
from codegen.ir.ops.base.shape_rules import BroadcastShape, SameShape, broadcast_rows
from codegen.ir.types import DType, TensorType

PLAIN = (DType.INT32, DType.INT64, DType.BOOL, DType.FLOAT32)
"""Element types of which no quantisation counts."""


class _Pair(BroadcastShape):
    """Two arguments of one element type, broadcast."""

    types: tuple[DType, ...]
    """Element types of the arguments."""

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """One of its element types on all sides; int8 and int16 are quantised."""
        super().check(attrs, args, result)
        need_elements(result)
        first, second = operand(args, 0, "first argument"), operand(args, 1, "second argument")
        need_dtype(first, "first argument", *self.types)
        need_dtype(second, "second argument", first.dtype)
        need_dtype(result, "result", self.result_type(first.dtype))
        for what, value in (("first argument", first), ("second argument", second), ("result", result)):
            if value.dtype not in PLAIN:
                need_quantized(value, what)

    def result_type(self, argument: DType) -> DType:
        """Element type of the result."""
        return argument


class Extreme(_Pair):
    """MAXIMUM (with LOGICAL_OR) and MINIMUM (with LOGICAL_AND): stored numbers, all of one quantisation."""

    types = (DType.INT8, DType.INT16, *PLAIN)
    is_monotone = True

    def __init__(self, name: str, short: str, wins: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
        self.name, self.short, self._wins = name, short, wins

    def channel_links(self, attrs: Attrs, args: Types, result: TensorType) -> Links:
        """Channel by channel."""
        del attrs
        return same_channels(args, result)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Check a pair whose arguments and result must be quantised alike."""
        super().check(attrs, args, result)
        if result.dtype not in PLAIN:
            for index in (0, 1):
                need_same_quantization(
                    operand(args, index, "argument"), result, f"argument {index} and result"
                )

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: MaximumOp, MinimumOp of kernels/maximum_minimum.cc: the second where neither wins."""
        del attrs, args, result
        first, second = present(values, 0, "first argument"), present(values, 1, "second argument")
        return np.where(self._wins(first, second), first, second)


class Compare(_Pair):
    """EQUAL, NOT_EQUAL, LESS, LESS_EQUAL. int8 is brought to one scale, others are compared as stored."""

    types = (DType.INT8, DType.INT16, *PLAIN)

    def __init__(self, name: str, short: str, holds: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
        self.name, self.short, self._holds = name, short, holds

    def result_type(self, argument: DType) -> DType:
        """bool."""
        del argument
        return DType.BOOL

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Check a pair: int8 needs scales below 1, as TFLite's kernel does, int16 needs equal ones."""
        super().check(attrs, args, result)
        first, second = operand(args, 0, "first argument"), operand(args, 1, "second argument")
        if first.dtype is DType.INT8:
            compare_multiplier(first)
            compare_multiplier(second)
        if first.dtype is DType.INT16:
            need_same_quantization(first, second, "both arguments")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::Comparison, ComparisonWithScaling."""
        del attrs, result
        both = [present(values, 0, "first argument"), present(values, 1, "second argument")]
        types = operand(args, 0, "first argument"), operand(args, 1, "second argument")
        if types[0].dtype is DType.INT8:
            both = [
                multiply_by_quantized_multiplier(_centred(value, type_) << 8, *compare_multiplier(type_))
                for value, type_ in zip(both, types, strict=True)
            ]
        return np.asarray(self._holds(both[0], both[1]), np.bool_)


def _centred(value: np.ndarray, type_: TensorType) -> Integers:
    return value.astype(np.int64) - type_.zero_point


def _stored(values: Integers, limits: tuple[int, int], result: TensorType) -> np.ndarray:
    return np.clip(values + result.zero_point, *limits).astype(result.dtype.numpy)


class Div(_Pair):
    """DIV; a quotient by zero, which TFLite leaves undefined, is the end of the range on the dividend's side,
    of int32 it is 0."""

    name = "DIV"
    short = "div"
    attrs_type = BinaryAttrs
    types = (DType.INT8, DType.INT32, DType.FLOAT32)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Check a pair, and that the kernel can apply its scales."""
        super().check(attrs, args, result)
        if result.dtype is DType.INT8:
            div_multiplier(operand(args, 0, "dividend"), operand(args, 1, "divisor"), result)
            stored_limits(attrs, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::Div, DivElementwise."""
        attrs = narrow(attrs, BinaryAttrs)
        first, second = present(values, 0, "dividend"), present(values, 1, "divisor")
        if result.dtype is DType.FLOAT32:
            with np.errstate(all="ignore"):
                return activated(first / second, attrs, result)
        if result.dtype is DType.INT32:
            return activated(_truncated(first, second), attrs, result)
        types = operand(args, 0, "dividend"), operand(args, 1, "divisor")
        dividend, divisor = np.broadcast_arrays(_centred(first, types[0]), _centred(second, types[1]))
        scaled = _quotient(dividend, divisor, *div_multiplier(*types, result))
        return _stored(scaled, stored_limits(attrs, result), result)


def _truncated(first: np.ndarray, second: np.ndarray) -> Integers:
    """first / second towards zero, 0 where that is undefined."""
    dividend, divisor = first.astype(np.int64), second.astype(np.int64)
    magnitude = np.abs(dividend) // np.maximum(np.abs(divisor), 1)
    return np.where(divisor == 0, 0, np.sign(dividend) * np.sign(divisor) * magnitude)


def _quotient(first: Integers, second: Integers, multiplier: int, shift: int) -> Integers:
    """1 / second as a mantissa of 31 bits and a shift. Source: GetReciprocal, DivElementwise."""
    dividend, divisor = np.where(second < 0, -first, first), np.abs(second)
    zeros = count_leading_zeros(np.maximum(divisor, 1))
    inverse = one_over_one_plus_x((np.maximum(divisor, 1) << zeros) - (1 << 31))
    headroom = count_leading_zeros(np.where(dividend < 0, ~dividend, dividend)) - 1
    unscaled = doubling_high_mul(wrap_int32(dividend << headroom), inverse)
    total = shift - (31 - zeros) - headroom
    scaled = rounding_divide_by_power(doubling_high_mul(unscaled, multiplier), np.minimum(-total, 31))
    scaled = np.where(total < -31, 0, scaled)
    return np.where(second == 0, np.sign(first) * 256, scaled)


class SquaredDifference(_Pair):
    """SQUARED_DIFFERENCE."""

    name = "SQUARED_DIFFERENCE"
    short = "squared"
    types = (DType.INT8, DType.INT16, DType.INT32, DType.FLOAT32)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Check a pair, and that the kernel can apply its scales."""
        super().check(attrs, args, result)
        if result.dtype not in PLAIN:
            squared_difference_params(operand(args, 0, "argument"), operand(args, 1, "argument"), result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: kernels/squared_difference.cc."""
        del attrs
        first, second = present(values, 0, "first argument"), present(values, 1, "second argument")
        if result.dtype is DType.FLOAT32:
            difference = first - second
            return np.asarray(difference * difference, np.float32)
        if result.dtype is DType.INT32:
            difference = wrap_int32(first.astype(np.int64) - second)
            return wrap_int32(difference * difference).astype(np.int32)
        types = operand(args, 0, "first argument"), operand(args, 1, "second argument")
        params = squared_difference_params(*types, result)
        factors = (
            (params.first_multiplier, params.first_shift),
            (params.second_multiplier, params.second_shift),
        )
        scaled = [
            multiply_by_quantized_multiplier(_centred(value, type_) << params.left_shift, *factor)
            for value, type_, factor in zip((first, second), types, factors, strict=True)
        ]
        squares = (scaled[0] - scaled[1]) ** 2
        values_ = multiply_by_quantized_multiplier(squares, params.result_multiplier, params.result_shift)
        return _stored(values_, result.dtype.limits, result)


_PairFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]


class FloorOf(_Pair):
    """FLOOR_DIV and FLOOR_MOD; by an int32 divisor of 0, where TFLite ends the run, the result is 0."""

    types = (DType.INT32, DType.FLOAT32)

    def __init__(self, name: str, short: str, of_floats: _PairFunction, of_integers: _PairFunction) -> None:
        self.name, self.short, self._of_floats, self._of_integers = name, short, of_floats, of_integers

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::FloorDiv, FloorMod."""
        del attrs, args
        dividend, divisor = present(values, 0, "dividend"), present(values, 1, "divisor")
        if result.dtype is DType.FLOAT32:
            with np.errstate(all="ignore"):
                return np.asarray(self._of_floats(dividend, divisor), np.float32)
        by = np.where(divisor == 0, 1, divisor.astype(np.int64))
        results = np.where(divisor == 0, 0, self._of_integers(dividend.astype(np.int64), by))
        return wrap_int32(results).astype(np.int32)


def _floor_div(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The quotient in double, rounded down."""
    return np.floor(first.astype(np.float64) / second.astype(np.float64))


def _floor_mod(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Remainder of C's fmodf, with the divisor's sign."""
    rest = np.fmod(first, second)
    return np.where((rest != 0) & ((second < 0) != (rest < 0)), rest + second, rest)


class Prelu(_Pair):
    """PRELU(value, slope): the value from 0 on, below 0 times the slope. Slopes of int16 values are int8."""

    name = "PRELU"
    short = "prelu"
    types = (DType.INT8, DType.INT16, DType.FLOAT32)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Check argument, slope and result; the slope broadcasts to the value."""
        Op.check(self, attrs, args, result)
        need_elements(result)
        value, slope = operand(args, 0, "argument"), operand(args, 1, "slope")
        need_dtype(value, "argument", *self.types)
        need_dtype(result, "result", value.dtype)
        need_dtype(slope, "slope", DType.FLOAT32 if value.dtype is DType.FLOAT32 else DType.INT8)
        if value.shape != result.shape:
            raise ValueError(f"slopes {list(slope.shape)} do not fit shape {list(value.shape)}")
        if result.dtype is not DType.FLOAT32:
            for what, type_ in (("argument", value), ("slope", slope), ("result", result)):
                need_quantized(type_, what)
            prelu_params(value, slope, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::BroadcastPrelu4DSlow, ApplyPrelu."""
        del attrs
        value, slope = present(values, 0, "argument"), present(values, 1, "slope")
        if result.dtype is DType.FLOAT32:
            return np.asarray(np.where(value >= 0, value, value * slope), np.float32)
        types = operand(args, 0, "argument"), operand(args, 1, "slope")
        params = prelu_params(*types, result)
        x = _centred(value, types[0])
        scaled = np.where(
            x >= 0,
            multiply_by_quantized_multiplier(x, params.positive_multiplier, params.positive_shift),
            multiply_by_quantized_multiplier(
                x * _centred(slope, types[1]), params.negative_multiplier, params.negative_shift
            ),
        )
        return _stored(scaled, result.dtype.limits, result)


class SelectV2(Op):
    """SELECT_V2(condition, first, second): the first where the condition holds, else the second."""

    name = "SELECT_V2"
    short = "select"

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The broadcast shape of all three."""
        narrow(attrs, Attrs)
        need_count(args, 3, 3)
        shapes = [operand(args, index, f"input {index}").shape for index in range(3)]
        return broadcast(broadcast(shapes[0], shapes[1]), shapes[2])

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """Row by row, along any axis."""
        del attrs
        return broadcast_rows(args, result, axis)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """A bool condition; any element type, all of one quantisation."""
        super().check(attrs, args, result)
        need_elements(result)
        need_dtype(operand(args, 0, "condition"), "condition", DType.BOOL)
        for index in (1, 2):
            value = operand(args, index, f"input {index}")
            need_dtype(value, f"input {index}", result.dtype)
            if result.dtype not in PLAIN and value.quantization != result.quantization:
                raise ValueError(f"input {index} is not quantised as the result is")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::BroadcastSelect5DSlow."""
        del attrs, args, result
        return np.where(*(present(values, index, f"input {index}") for index in range(3)))


class LogicalNot(SameShape):
    """LOGICAL_NOT."""

    name = "LOGICAL_NOT"
    short = "not"

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """bool."""
        super().check(attrs, args, result)
        need_elements(result)
        need_dtype(operand(args, 0, "argument"), "argument", DType.BOOL)
        need_dtype(result, "result", DType.BOOL)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: kernels/elementwise.cc."""
        del attrs, args, result
        return np.logical_not(present(values, 0, "argument"))


EXTREMES = (Extreme("MAXIMUM", "maximum", np.greater), Extreme("MINIMUM", "minimum", np.less))
"""In the order of the C kernel's kinds."""

COMPARISONS = (
    Compare("EQUAL", "equal", np.equal),
    Compare("NOT_EQUAL", "notequal", np.not_equal),
    Compare("LESS", "less", np.less),
    Compare("LESS_EQUAL", "lessequal", np.less_equal),
)
"""In the order of the C kernel's kinds."""

OPERATORS: tuple[Op, ...] = (
    *EXTREMES,
    *COMPARISONS,
    Div(),
    SquaredDifference(),
    FloorOf("FLOOR_DIV", "floordiv", _floor_div, np.floor_divide),
    FloorOf("FLOOR_MOD", "floormod", _floor_mod, np.remainder),
    Prelu(),
    SelectV2(),
    LogicalNot(),
)
"""All of this family."""
