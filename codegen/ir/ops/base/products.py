"""Sums of products of images and weights, one position of the window after the other, and what they can be.

Integer products are summed in float64 by matrix products: exact (each below 2^24, sums below 2^53) and
far faster than NumPy's integers. float32 products are summed one by one in float32, in the order of TFLite's
reference kernels (row, column, channel; the bias last): where terms cancel, another order or precision is off
by more than the 1e-5 that results are compared with.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from codegen.ir.dataflow import Range
from codegen.ir.operator import Attrs
from codegen.ir.ops.base.attrs import ConvAttrs, DepthwiseConvAttrs
from codegen.ir.ops.base.fixed_point import Integers
from codegen.ir.ops.base.taps import Meeting, axes_of, meetings
from codegen.ir.types import TensorType

Reals = NDArray[np.floating]


def sums_of(attrs: Attrs, image: Reals, weights: Reals, result: TensorType) -> Reals:
    """Sums of products of the operator that has `attrs`, without bias; `image` is less its zero point."""
    if isinstance(attrs, ConvAttrs):
        return _conv_sums(attrs, image, weights, result)
    if isinstance(attrs, DepthwiseConvAttrs):
        return _depthwise_sums(attrs, image, weights, result)
    return _fully_connected_sums(image, weights)


def _conv_sums(attrs: ConvAttrs, image: Reals, weights: Reals, result: TensorType) -> Reals:
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


def _depthwise_sums(attrs: DepthwiseConvAttrs, image: Reals, weights: Reals, result: TensorType) -> Reals:
    """DEPTHWISE_CONV_2D's sums of products, as `_conv_sums`."""
    image = np.repeat(image, attrs.multiplier, axis=3)
    total = np.zeros(result.shape, image.dtype)
    for tap in _taps(attrs, image, (weights.shape[1], weights.shape[2])):
        total[tap.results] += image[tap.elements] * weights[0, tap.row, tap.column]
    return total


def _fully_connected_sums(image: Reals, weights: Reals) -> Reals:
    """FULLY_CONNECTED's sums of products, [rows, O], without bias; `image` is less its zero point."""
    rows = image.reshape(-1, weights.shape[1])
    total = np.zeros((rows.shape[0], weights.shape[0]), image.dtype)
    _add_products(total, rows, weights)
    return total


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


def sums_of_products(
    attrs: Attrs, image: NDArray[np.float64], weights: np.ndarray, result: TensorType
) -> Integers:
    """Exact sums of products of a step with int8 weights, bias left out, [..., O].

    `image` is less its zero point (float64, in which these sums are exact).
    """
    return sums_of(attrs, image, weights.astype(np.float64), result).astype(np.int64)


def ends_of_sums(
    attrs: Attrs, image: Range, others: Sequence[Range], zero_point: int, result: TensorType
) -> tuple[Integers, Integers]:
    """The least and the largest sums of products and bias.

    A negative weight takes the image's other end, so their sum is that of the ends' sum, and they are as far
    apart as the ends are, each times the weight's magnitude.
    """
    low, high = image.low.astype(np.float64), image.high.astype(np.float64)
    weights = others[0].low.astype(np.float64)
    both = sums_of_products(attrs, low + high - 2 * zero_point, weights, result)
    apart = sums_of_products(attrs, high - low, np.abs(weights), result)
    bias = others[1].low.reshape(-1).astype(np.int64) if len(others) > 1 else np.int64(0)
    return (both - apart) // 2 + bias, (both + apart) // 2 + bias


class ChannelWeights:
    """Weights [O, ...] with the channels of the image last, several times over where images are flattened."""

    def __init__(self, weights: np.ndarray, extent: int) -> None:
        """`extent`: channels of the image."""
        self._weights, self._extent = weights, extent

    def reads(self) -> NDArray[np.bool_]:
        """[C, O]: whether a result channel has a weight other than 0 for an image channel."""
        moved = np.moveaxis(self._weights, 0, -1).reshape(-1, self._extent, self._weights.shape[0])
        return (moved != 0).any(axis=0)

    def alone(self, channel: int) -> np.ndarray:
        """The weights with those of all other channels cleared."""
        only = np.zeros_like(self._weights)
        only[..., channel :: self._extent] = self._weights[..., channel :: self._extent]
        return only
