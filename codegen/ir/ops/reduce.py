"""Evaluation of the operators that reduce: pools and means."""

from collections.abc import Iterator

import numpy as np

from codegen.ir.fixed_point import multiply_by_quantized_multiplier
from codegen.ir.operator import Activation, Arrays, Types
from codegen.ir.ops.base.attrs import MeanAttrs, PoolAttrs
from codegen.ir.ops.base.operands import operand, present
from codegen.ir.ops.base.parameters import activation_range, float_activation_range, mean_multiplier
from codegen.ir.ops.base.taps import Meeting, axes_of, meetings
from codegen.ir.types import DType, TensorType


def average_pool(attrs: PoolAttrs, values: Arrays, result: TensorType) -> np.ndarray:
    """AVERAGE_POOL_2D: elements inside the image, summed and counted; integers round half away from zero."""
    image = present(values, 0, "image")
    wide = np.int64 if result.dtype.is_integer else np.float32
    wider, total = image.astype(wide), np.zeros(result.shape, wide)
    count = np.zeros((1, *result.shape[1:3], 1), np.int64)
    for tap in _taps(attrs, image):
        total[tap.results] += wider[tap.elements]
        count[tap.results] += 1
    if not result.dtype.is_integer:
        return _activate(total / count.astype(np.float32), attrs.activation, result)
    magnitude = (np.abs(total) + count // 2) // count
    return _activate(np.sign(total) * magnitude, attrs.activation, result)


def max_pool(attrs: PoolAttrs, values: Arrays, result: TensorType) -> np.ndarray:
    """MAX_POOL_2D: padding never wins."""
    image = present(values, 0, "image")
    lowest = result.dtype.numpy.type(result.dtype.limits[0] if result.dtype.is_integer else -np.inf)
    largest = np.full(result.shape, lowest)
    for tap in _taps(attrs, image):
        np.maximum(largest[tap.results], image[tap.elements], out=largest[tap.results])
    return _activate(largest, attrs.activation, result)


def mean(attrs: MeanAttrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """MEAN. int8: the sum less the zero points, times one multiplier that holds both scales and 1 / count.

    Equal quantisations on both sides, and 4-D images over axes 1 and 2, are no special cases for int8.
    Source: reference_ops::QuantizedMeanOrSum of TFLite 2.14 and of tflite-micro alike.
    """
    value, argument = present(values, 0, "argument"), operand(args, 0, "argument")
    if result.dtype is DType.FLOAT32:
        average = value.astype(np.float64).mean(axis=attrs.axes, keepdims=attrs.keep_dims)
        return np.asarray(average, np.float32).reshape(result.shape)
    count = value.size // result.elements
    total = (
        value.astype(np.int64).sum(axis=attrs.axes, keepdims=attrs.keep_dims) - argument.zero_point * count
    )
    multiplier, shift = mean_multiplier(argument, result, count)
    scaled = multiply_by_quantized_multiplier(total, multiplier, shift) + result.zero_point
    return np.clip(scaled, *result.dtype.limits).astype(result.dtype.numpy).reshape(result.shape)


def _taps(attrs: PoolAttrs, image: np.ndarray) -> Iterator[Meeting]:
    """The positions in the window that meet the image."""
    extents = (image.shape[1], image.shape[2])
    return meetings(*axes_of(extents, attrs.window, stride=attrs.stride, padding=attrs.padding))


def _activate(values: np.ndarray, activation: Activation, result: TensorType) -> np.ndarray:
    if result.dtype.is_integer:
        limits: tuple[float, float] = activation_range(activation, result)
    else:
        limits = float_activation_range(activation)
    return np.clip(values, *limits).astype(result.dtype.numpy)
