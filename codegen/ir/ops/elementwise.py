"""Operators element by element: ADD, SUB, MUL of two arguments with broadcasting; ADD_N; CAST of one."""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import product

import numpy as np

from codegen.ir.dataflow import Links, Range, RowReads, same_channels
from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.activation import activated, stored_limits
from codegen.ir.ops.base.attrs import BinaryAttrs
from codegen.ir.ops.base.fixed_point import INT32_MAX, Integers, multiply_by_quantized_multiplier, wrap_int32
from codegen.ir.ops.base.float_steps import dequantized, quantized
from codegen.ir.ops.base.operands import (
    narrow,
    need_dtype,
    need_elements,
    need_one_type,
    need_quantized_or_float,
    operand,
    present,
)
from codegen.ir.ops.base.parameters import (
    add_params,
    mul_multiplier,
    running_sum_multiplier,
    sub_params,
)
from codegen.ir.ops.base.rounding import OnnxRounding, TfliteRounding, rounding_of
from codegen.ir.ops.base.shape_rules import BroadcastShape, SameShape
from codegen.ir.types import DType, TensorType


def _centred(value: np.ndarray, type_: TensorType) -> Integers:
    return value.astype(np.int64) - type_.zero_point


_Pair = tuple[np.ndarray, np.ndarray]
_PairTypes = tuple[TensorType, TensorType]


class _Binary(BroadcastShape):
    """Base of ADD, SUB and MUL: `real` of two numbers, in the arithmetic of the type and the rounding."""

    attrs_type = BinaryAttrs
    real: np.ufunc

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8, int16, float32, or int32 without a scale throughout; as ONNX has it int8 and int16."""
        super().check(attrs, args, result)
        need_elements(result)
        first, second = operand(args, 0, "first argument"), operand(args, 1, "second argument")
        rounds_as_onnx = isinstance(rounding_of(attrs), OnnxRounding)
        if first.dtype is second.dtype is result.dtype is DType.INT32 and not rounds_as_onnx:
            return
        named = [("first argument", first), ("second argument", second), ("result", result)]
        need_quantized_or_float(named, any_zero=rounds_as_onnx)
        if rounds_as_onnx:
            need_dtype(result, "result", DType.INT8, DType.INT16)
        elif result.dtype is not DType.FLOAT32:
            self._check_scales(first, second, result)
        if result.dtype is not DType.FLOAT32:
            stored_limits(attrs, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_integer_ops and reference_ops of TFLite; as ONNX has it DequantizeLinear, the
        operator on float32, QuantizeLinear."""
        pair = present(values, 0, "first argument"), present(values, 1, "second argument")
        types = operand(args, 0, "first argument"), operand(args, 1, "second argument")
        if isinstance(rounding_of(attrs), OnnxRounding):
            first, second = (dequantized(value, type_) for value, type_ in zip(pair, types, strict=True))
            with np.errstate(all="ignore"):
                return quantized(self.real(first, second), result, stored_limits(attrs, result))
        if result.dtype is DType.FLOAT32:
            return activated(self.real(*pair), attrs, result)
        if result.dtype is DType.INT32:
            return activated(self.real(pair[0].astype(np.int64), pair[1]), attrs, result)
        return activated(self._rescaled(pair, types, result) + result.zero_point, attrs, result)

    def value_range(
        self, attrs: Attrs, ranges: Sequence[Range], args: Types, result: TensorType
    ) -> Range | None:
        """Monotone in each argument (either way), so the extremes are at the box's corners."""
        if isinstance(rounding_of(attrs), TfliteRounding) and self._may_wrap(args, result):
            return None
        first, second = ((range_.low, range_.high) for range_ in ranges)
        ends = [self.evaluate(attrs, pair, args, result) for pair in product(first, second)]
        return Range(low=np.minimum.reduce(ends), high=np.maximum.reduce(ends))

    def channel_links(self, attrs: Attrs, args: Types, result: TensorType) -> Links:
        """Channel by channel."""
        del attrs
        return same_channels(args, result)

    def _may_wrap(self, args: Types, result: TensorType) -> bool:
        """True if TFLite's 32 bits may be too few for int8."""
        del args, result
        return False

    @abstractmethod
    def _check_scales(self, first: TensorType, second: TensorType, result: TensorType) -> None:
        """Raise ValueError for scales the integer kernel cannot work with."""

    @abstractmethod
    def _rescaled(self, values: _Pair, types: _PairTypes, result: TensorType) -> Integers:
        """TFLite's integer result, less its zero point."""


class Add(_Binary):
    """ADD(first, second)."""

    name, short, real = "ADD", "add", np.add
    parameters = staticmethod(add_params)

    def _check_scales(self, first: TensorType, second: TensorType, result: TensorType) -> None:
        self.parameters(first, second, result)

    def _rescaled(self, values: _Pair, types: _PairTypes, result: TensorType) -> Integers:
        by = self.parameters(*types, result)
        multipliers, shifts = (by.first_multiplier, by.second_multiplier), (by.first_shift, by.second_shift)
        first, second = (
            multiply_by_quantized_multiplier(_centred(value, type_) << by.left_shift, multiplier, shift)
            for value, type_, multiplier, shift in zip(values, types, multipliers, shifts, strict=True)
        )
        return multiply_by_quantized_multiplier(first + second, by.result_multiplier, by.result_shift)


class Sub(Add):
    """SUB(first, second): first - second."""

    name, short, real = "SUB", "sub", np.subtract
    parameters = staticmethod(sub_params)


class Mul(_Binary):
    """MUL(first, second)."""

    name, short, real = "MUL", "mul", np.multiply

    def _check_scales(self, first: TensorType, second: TensorType, result: TensorType) -> None:
        mul_multiplier(first, second, result)

    def _may_wrap(self, args: Types, result: TensorType) -> bool:
        types = operand(args, 0, "first argument"), operand(args, 1, "second argument")
        _, shift = mul_multiplier(*types, result)
        return (255 * 255) << max(shift, 0) > INT32_MAX

    def _rescaled(self, values: _Pair, types: _PairTypes, result: TensorType) -> Integers:
        products = _centred(values[0], types[0]) * _centred(values[1], types[1])
        return multiply_by_quantized_multiplier(products, *mul_multiplier(*types, result))


CASTS: tuple[tuple[DType, DType], ...] = (
    (DType.INT16, DType.INT32),
    (DType.INT32, DType.INT8),
)
"""Pairs of types that CAST has a kernel for, in order (those of `layout.SAME_BITS` need none)."""


class Cast(SameShape):
    """CAST: the same numbers as another element type; what an integer has no room for is cut off."""

    name = "CAST"
    short = "cast"

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """One of `CASTS`; no quantisation counts."""
        super().check(attrs, args, result)
        need_elements(result)
        argument = operand(args, 0, "argument")
        if (argument.dtype, result.dtype) not in CASTS:
            known = ", ".join(f"{one.value} to {other.value}" for one, other in CASTS)
            pair = f"{argument.dtype.value} to {result.dtype.value}"
            raise ValueError(f"casts {pair}, supported are {known}; signed to unsigned of 32 and 64 bits")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: kernels/cast.cc, a static_cast of each."""
        del attrs, args
        return present(values, 0, "argument").astype(result.dtype.numpy)


class AddN(Op):
    """ADD_N of values of one shape. int8: TFLite begins each sum with minus the zero point once too often."""

    name = "ADD_N"
    short = "addn"

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """That of all arguments."""
        narrow(attrs, Attrs)
        shapes = {operand(args, index, "argument").shape for index in range(len(args))}
        if len(args) < 2 or len(shapes) != 1:
            raise ValueError(f"adds {len(args)} tensors of {len(shapes)} shapes, needs two or more of one")
        return shapes.pop()

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """Row by row, along any axis."""
        del attrs, result
        return RowReads(axes=(axis,) * len(args))

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8 of one quantisation, float32, or int32 without a scale."""
        super().check(attrs, args, result)
        need_elements(result)
        first = operand(args, 0, "argument")
        if result.dtype is DType.INT32:
            for index in range(len(args)):
                need_dtype(operand(args, index, "argument"), f"argument {index}", DType.INT32)
            return
        named = [(f"argument {index}", operand(args, index, "argument")) for index in range(len(args))]
        need_one_type([*named, ("result", result)], DType.INT8)
        if result.dtype is not DType.FLOAT32:
            if len({(type_.scale, type_.zero_point) for _, type_ in named}) != 1:
                raise ValueError("the arguments must be quantised alike")
            running_sum_multiplier(first, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::AddN."""
        del attrs
        terms = [present(values, index, "argument") for index in range(len(values))]
        if result.dtype is DType.FLOAT32:
            total = np.zeros(result.shape, np.float32)
            for term in terms:
                total += term
            return total
        summed = np.stack(terms).astype(np.int64).sum(axis=0)
        if result.dtype is DType.INT32:
            return wrap_int32(summed).astype(np.int32)
        argument = operand(args, 0, "argument")
        return running_sum(summed - (len(terms) + 1) * argument.zero_point, argument, result)


def running_sum(sums: Integers, argument: TensorType, result: TensorType) -> np.ndarray:
    """The int8 results of sums without zero points; 32 bits hold sums of 4095, larger ones wrap."""
    multiplier, shift = running_sum_multiplier(argument, result)
    scaled = multiply_by_quantized_multiplier(wrap_int32(sums << 19), multiplier, shift)
    return np.clip(scaled + result.zero_point, *result.dtype.limits).astype(np.int8)


OPERATORS: tuple[Op, ...] = (Add(), Sub(), Mul(), AddN(), Cast())
"""All of this family."""
