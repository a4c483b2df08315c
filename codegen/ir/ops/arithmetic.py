"""Evaluation of ADD, SUB and MUL."""

import numpy as np

from codegen.ir.fixed_point import Integers, multiply_by_quantized_multiplier
from codegen.ir.operator import Activation, Arrays, Types
from codegen.ir.ops.base.attrs import BinaryAttrs
from codegen.ir.ops.base.operands import operand, present
from codegen.ir.ops.base.parameters import (
    AddParams,
    activation_range,
    add_params,
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
    types = operand(args, 0, "first argument"), operand(args, 1, "second argument")
    return _rescaled_sum(add_params(*types, result), (first, second), types, attrs.activation, result)


def sub(attrs: BinaryAttrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """SUB, broadcasting."""
    first, second = present(values, 0, "first argument"), present(values, 1, "second argument")
    if result.dtype is DType.FLOAT32:
        return _clip_float(first - second, attrs.activation)
    types = operand(args, 0, "first argument"), operand(args, 1, "second argument")
    return _rescaled_sum(sub_params(*types, result), (first, second), types, attrs.activation, result)


def mul(attrs: BinaryAttrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """MUL, broadcasting."""
    first, second = present(values, 0, "first argument"), present(values, 1, "second argument")
    if result.dtype is DType.FLOAT32:
        return _clip_float(first * second, attrs.activation)
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
