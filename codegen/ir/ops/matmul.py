"""Evaluation of the operators with weights, one position of the window after the other.

Integer products are summed in float64 by matrix products: exact (each below 2^24, sums below 2^53) and
far faster than NumPy's integers. float32 products are summed one by one in float32, in the order of TFLite's
reference kernels (row, column, channel; the bias last): where terms cancel, another order or precision is off
by more than the 1e-5 that results are compared with.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from codegen.ir.fixed_point import (
    Integers,
    multiply_by_quantized_multiplier,
    multiply_wide_by_quantized_multiplier,
    wrap_int32,
)
from codegen.ir.operator import Activation, Arrays, Types
from codegen.ir.ops.base.attrs import ConvAttrs, DepthwiseConvAttrs, FullyConnectedAttrs
from codegen.ir.ops.base.operands import operand, present
from codegen.ir.ops.base.parameters import (
    activation_range,
    conv_multipliers,
    float_activation_range,
    fully_connected_multipliers,
    has_wide_accumulator,
)
from codegen.ir.ops.base.taps import Meeting, axes_of, meetings
from codegen.ir.types import DType, Quantization, TensorType

Reals = NDArray[np.floating]
Multipliers = Callable[[float, Sequence[float], float], tuple[NDArray[np.int32], NDArray[np.int32]]]


def conv(attrs: ConvAttrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """CONV_2D: image NHWC, weights OHWI, grouped when I divides the image's C."""
    image, weights = _operands(values, args)
    total = conv_sums(attrs, image, weights, result)
    return _finish(total, attrs.activation, values, args, result, conv_multipliers)


def conv_sums(attrs: ConvAttrs, image: Reals, weights: Reals, result: TensorType) -> Reals:
    """CONV_2D's sums of products, of `result`'s shape, without bias; `image` is less its zero point."""
    outputs, rows, columns, inputs = weights.shape
    groups = image.shape[3] // inputs
    total = np.zeros(result.shape, image.dtype)
    for tap in _taps(attrs, image, (rows, columns)):
        sums, pixels = total[tap.results], image[tap.elements]
        for group in range(groups):
            channels = slice(group * inputs, (group + 1) * inputs)
            chosen = slice(group * outputs // groups, (group + 1) * outputs // groups)
            _add_products(sums[..., chosen], pixels[..., channels], weights[chosen, tap.row, tap.column])
    return total


def depthwise_conv(attrs: DepthwiseConvAttrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """DEPTHWISE_CONV_2D: image NHWC, weights 1HWO."""
    image, weights = _operands(values, args)
    total = depthwise_sums(attrs, image, weights, result)
    return _finish(total, attrs.activation, values, args, result, conv_multipliers)


def depthwise_sums(attrs: DepthwiseConvAttrs, image: Reals, weights: Reals, result: TensorType) -> Reals:
    """DEPTHWISE_CONV_2D's sums of products, as `conv_sums`."""
    image = np.repeat(image, attrs.multiplier, axis=3)
    total = np.zeros(result.shape, image.dtype)
    for tap in _taps(attrs, image, (weights.shape[1], weights.shape[2])):
        total[tap.results] += image[tap.elements] * weights[0, tap.row, tap.column]
    return total


def fully_connected(
    attrs: FullyConnectedAttrs, values: Arrays, args: Types, result: TensorType
) -> np.ndarray:
    """FULLY_CONNECTED: rows of I elements, weights [O, I]."""
    image, weights = _operands(values, args)
    total = fully_connected_sums(image, weights)
    finished = _finish(total, attrs.activation, values, args, result, fully_connected_multipliers)
    return finished.reshape(result.shape)


def fully_connected_sums(image: Reals, weights: Reals) -> Reals:
    """FULLY_CONNECTED's sums of products, [rows, O], without bias; `image` is less its zero point."""
    rows = image.reshape(-1, weights.shape[1])
    total = np.zeros((rows.shape[0], weights.shape[0]), image.dtype)
    _add_products(total, rows, weights)
    return total


def _operands(values: Arrays, args: Types) -> tuple[Reals, Reals]:
    """Image less its zero point (so that padding with 0 is padding with the zero point), and weights.

    Both float64 if they are integers, so that sums are exact, else float32.
    """
    image, weights = present(values, 0, "image"), present(values, 1, "weights")
    type_ = operand(args, 0, "image")
    if type_.dtype is DType.FLOAT32:
        return image, weights
    return image.astype(np.float64) - type_.zero_point, weights.astype(np.float64)


def _add_products(total: Reals, rows: Reals, weights: Reals) -> None:
    """total [..., O] += rows [..., I] times weights [O, I]."""
    if total.dtype == np.float64:
        total += rows @ weights.T
        return
    for channel in range(weights.shape[1]):
        total += rows[..., channel, None] * weights[:, channel]


def _taps(attrs: ConvAttrs | DepthwiseConvAttrs, image: Reals, window: tuple[int, int]) -> Iterator[Meeting]:
    """The positions in the window that meet the image."""
    extents = (image.shape[1], image.shape[2])
    return meetings(
        *axes_of(extents, window, stride=attrs.stride, padding=attrs.padding, dilation=attrs.dilation)
    )


def _finish(
    total: Reals,
    activation: Activation,
    values: Arrays,
    args: Types,
    result: TensorType,
    multipliers: Multipliers,
) -> np.ndarray:
    """Add the bias, rescale integers, apply the activation."""
    bias = values[2] if len(values) > 2 else None
    if result.dtype is DType.FLOAT32:
        biased = total if bias is None else total + bias.reshape(-1)
        return np.clip(biased, *float_activation_range(activation)).astype(np.float32)
    sums = total.astype(np.int64)
    if bias is not None:
        sums = sums + bias.reshape(-1)
    return requantized(sums, activation, args, result, multipliers)


def requantized(
    sums: Integers, activation: Activation, args: Types, result: TensorType, multipliers: Multipliers
) -> np.ndarray:
    """Integer results of `sums` [..., O], bias included; they wrap to 32 bits first, as in C, or are 64 bits
    wide (`has_wide_accumulator`)."""
    scales = _scales(operand(args, 1, "weights").quantization)
    factors, shifts = multipliers(operand(args, 0, "image").scale, scales, result.scale)
    if has_wide_accumulator(args):
        scaled = multiply_wide_by_quantized_multiplier(sums, factors, shifts)
    else:
        scaled = multiply_by_quantized_multiplier(wrap_int32(sums), factors, shifts) + result.zero_point
    return np.clip(scaled, *activation_range(activation, result)).astype(result.dtype.numpy)


def _scales(quantization: Quantization | None) -> tuple[float, ...]:
    if quantization is None:
        raise ValueError("the weights have no scale")
    return quantization.scales
