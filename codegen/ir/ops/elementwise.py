"""Operators on two arguments, element by element with broadcasting: ADD, SUB, MUL."""

from abc import abstractmethod

import numpy as np

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops import arithmetic
from codegen.ir.ops.base.attrs import BinaryAttrs
from codegen.ir.ops.base.operands import (
    broadcast,
    narrow,
    need_count,
    need_elements,
    need_quantized_or_float,
    operand,
)
from codegen.ir.ops.base.parameters import activation_range, add_params, mul_multiplier, sub_params
from codegen.ir.types import DType, TensorType


class _Binary(Op):
    """What the three share: shape rule and type rule."""

    attrs_type = BinaryAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The broadcast shape of both arguments."""
        narrow(attrs, BinaryAttrs)
        need_count(args, 2, 2)
        return broadcast(operand(args, 0, "first argument").shape, operand(args, 1, "second argument").shape)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8, int16 or float32 throughout."""
        super().check(attrs, args, result)
        need_elements(result)
        first, second = operand(args, 0, "first argument"), operand(args, 1, "second argument")
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
        return arithmetic.add(narrow(attrs, BinaryAttrs), values, args, result)


class Sub(_Binary):
    """SUB(first, second): first - second."""

    name = "SUB"
    short = "sub"

    def _check_scales(self, first: TensorType, second: TensorType, result: TensorType) -> None:
        sub_params(first, second, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::SubWithActivation, BroadcastQuantSubSlow."""
        return arithmetic.sub(narrow(attrs, BinaryAttrs), values, args, result)


class Mul(_Binary):
    """MUL(first, second)."""

    name = "MUL"
    short = "mul"

    def _check_scales(self, first: TensorType, second: TensorType, result: TensorType) -> None:
        mul_multiplier(first, second, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_integer_ops::Mul."""
        return arithmetic.mul(narrow(attrs, BinaryAttrs), values, args, result)


OPERATORS: tuple[Op, ...] = (Add(), Sub(), Mul())
"""All of this family."""
