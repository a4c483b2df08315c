"""Operators on two arguments, element by element with broadcasting: ADD, SUB, MUL."""

from abc import abstractmethod

import numpy as np

from codegen.ir.operator import Activation, Arrays, Attrs, Op, Types
from codegen.ir.ops.base.attrs import BinaryAttrs
from codegen.ir.ops.base.fixed_point import Integers, multiply_by_quantized_multiplier
from codegen.ir.ops.base.operands import (
    broadcast,
    narrow,
    need_count,
    need_elements,
    need_quantized_or_float,
    operand,
    present,
)
from codegen.ir.ops.base.parameters import (
    AddParams,
    activation_range,
    add_params,
    clip_int32,
    float_activation_range,
    mul_multiplier,
    sub_params,
)
from codegen.ir.types import DType, TensorType


def add(attrs: BinaryAttrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """ADD, broadcasting."""
    first, second = present(values, 0, "first argument"), present(values, 1, "second argument")
    if result.dtype is DType.FLOAT32:
        return _clip_float(first + second, attrs.activation)
    if result.dtype is DType.INT32:
        return clip_int32(first.astype(np.int64) + second, attrs.activation)
    types = operand(args, 0, "first argument"), operand(args, 1, "second argument")
    return _rescaled_sum(add_params(*types, result), (first, second), types, attrs.activation, result)


def sub(attrs: BinaryAttrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """SUB, broadcasting."""
    first, second = present(values, 0, "first argument"), present(values, 1, "second argument")
    if result.dtype is DType.FLOAT32:
        return _clip_float(first - second, attrs.activation)
    if result.dtype is DType.INT32:
        return clip_int32(first.astype(np.int64) - second, attrs.activation)
    types = operand(args, 0, "first argument"), operand(args, 1, "second argument")
    return _rescaled_sum(sub_params(*types, result), (first, second), types, attrs.activation, result)


def mul(attrs: BinaryAttrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """MUL, broadcasting."""
    first, second = present(values, 0, "first argument"), present(values, 1, "second argument")
    if result.dtype is DType.FLOAT32:
        return _clip_float(first * second, attrs.activation)
    if result.dtype is DType.INT32:
        return clip_int32(first.astype(np.int64) * second, attrs.activation)
    types = operand(args, 0, "first argument"), operand(args, 1, "second argument")
    product = _centred(first, types[0]) * _centred(second, types[1])
    return _clip_integer(
        multiply_by_quantized_multiplier(product, *mul_multiplier(*types, result)), attrs.activation, result
    )


def _rescaled_sum(
    params: AddParams,
    values: tuple[np.ndarray, np.ndarray],
    types: tuple[TensorType, TensorType],
    activation: Activation,
    result: TensorType,
) -> np.ndarray:
    first, second = (
        multiply_by_quantized_multiplier(_centred(value, type_) << params.left_shift, multiplier, shift)
        for value, type_, multiplier, shift in zip(
            values,
            types,
            (params.first_multiplier, params.second_multiplier),
            (params.first_shift, params.second_shift),
            strict=True,
        )
    )
    total = multiply_by_quantized_multiplier(first + second, params.result_multiplier, params.result_shift)
    return _clip_integer(total, activation, result)


def _centred(value: np.ndarray, type_: TensorType) -> Integers:
    return value.astype(np.int64) - type_.zero_point


def _clip_float(values: np.ndarray, activation: Activation) -> np.ndarray:
    return np.clip(values, *float_activation_range(activation)).astype(np.float32)


def _clip_integer(values: Integers, activation: Activation, result: TensorType) -> np.ndarray:
    return np.clip(values + result.zero_point, *activation_range(activation, result)).astype(
        result.dtype.numpy
    )


class _Binary(Op):
    """What the three share: shape rule and type rule."""

    attrs_type = BinaryAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The broadcast shape of both arguments."""
        narrow(attrs, BinaryAttrs)
        need_count(args, 2, 2)
        return broadcast(operand(args, 0, "first argument").shape, operand(args, 1, "second argument").shape)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8, int16, float32, or int32 without a scale throughout."""
        super().check(attrs, args, result)
        need_elements(result)
        first, second = operand(args, 0, "first argument"), operand(args, 1, "second argument")
        if first.dtype is second.dtype is result.dtype is DType.INT32:
            return
        need_quantized_or_float([("first argument", first), ("second argument", second), ("result", result)])
        if result.dtype is not DType.FLOAT32:
            self._check_scales(first, second, result)
            activation_range(narrow(attrs, BinaryAttrs).activation, result)

    @abstractmethod
    def _check_scales(self, first: TensorType, second: TensorType, result: TensorType) -> None:
        """Raise ValueError for scales the integer kernel cannot work with."""


class Add(_Binary):
    """ADD(first, second)."""

    name = "ADD"
    short = "add"

    def _check_scales(self, first: TensorType, second: TensorType, result: TensorType) -> None:
        add_params(first, second, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_integer_ops::Add."""
        return add(narrow(attrs, BinaryAttrs), values, args, result)


class Sub(_Binary):
    """SUB(first, second): first - second."""

    name = "SUB"
    short = "sub"

    def _check_scales(self, first: TensorType, second: TensorType, result: TensorType) -> None:
        sub_params(first, second, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::SubWithActivation, BroadcastQuantSubSlow."""
        return sub(narrow(attrs, BinaryAttrs), values, args, result)


class Mul(_Binary):
    """MUL(first, second)."""

    name = "MUL"
    short = "mul"

    def _check_scales(self, first: TensorType, second: TensorType, result: TensorType) -> None:
        mul_multiplier(first, second, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_integer_ops::Mul."""
        return mul(narrow(attrs, BinaryAttrs), values, args, result)


OPERATORS: tuple[Op, ...] = (Add(), Sub(), Mul())
"""All of this family."""
