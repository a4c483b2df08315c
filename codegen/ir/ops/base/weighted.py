"""Operators with weights, and the rules of rounding that they share."""

from abc import abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from codegen.ir.dataflow import Range
from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.fixed_point import Integers
from codegen.ir.ops.base.operands import operand, present
from codegen.ir.ops.base.parameters import conv_multipliers
from codegen.ir.ops.base.products import Reals, sums_of
from codegen.ir.types import DType, TensorType

Multipliers = Callable[[float, Sequence[float], float], tuple[NDArray[np.int32], NDArray[np.int32]]]
"""(multipliers, shifts) of the scales of image, weights and result."""


class WeightedOp(Op):
    """Sums of products of an image and weights, and a bias."""

    weights_axis = 0
    """Axis of the weights along which result channels lie."""
    may_hold_halves = False
    """True if kernels of float32 read float16 weights."""
    scales_channels_first = False
    """True if a hybrid sum takes its channel's scale before the image's."""

    def multipliers(self, args: Types) -> Multipliers:
        """TFLite's rule of its multipliers."""
        del args
        return conv_multipliers

    def images(self, image: np.ndarray, args: Types) -> np.ndarray:
        """The image as [parts, elements] of which each has a scale where it is quantised at run time."""
        del args
        return image.reshape(image.shape[0], -1)


class WeightedRule:
    """One kind of rounding for all operators with weights: types it permits, results it computes."""

    @abstractmethod
    def check(self, op: WeightedOp, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Raise ValueError unless types, scales and bias are ones that it rounds."""

    @abstractmethod
    def evaluate(
        self, op: WeightedOp, attrs: Attrs, values: Arrays, args: Types, result: TensorType
    ) -> np.ndarray:
        """The result, of its shape."""

    def range_of(
        self, op: WeightedOp, attrs: Attrs, args: Types, result: TensorType, ends: tuple[Integers, Integers]
    ) -> Range | None:
        """Least and largest results of (least, largest) sums, bias included; None where that is not known."""
        del op, attrs, args, result, ends
        return None


def weight_zero_point(weights: TensorType) -> int:
    """The zero point of weights; those with a scale by channel have none."""
    return 0 if weights.quantization is None else weights.quantization.zero_points[0]


def weight_scales(weights: TensorType) -> tuple[float, ...]:
    """Scales of weights; raises ValueError where they have none."""
    if weights.quantization is None:
        raise ValueError(f"the weights are {weights.dtype.value} without a scale")
    return weights.quantization.scales


def integer_sums(attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> Integers:
    """Exact sums of products and bias. Both factors are less their zero points, so that padding with 0 is
    padding with the zero point."""
    image, weights = present(values, 0, "image"), present(values, 1, "weights")
    centred = weights.astype(np.float64) - weight_zero_point(operand(args, 1, "weights"))
    level = image.astype(np.float64) - operand(args, 0, "image").zero_point
    sums = sums_of(attrs, level, centred, result).astype(np.int64)
    bias = values[2] if len(values) > 2 else None
    return sums if bias is None else sums + bias.reshape(-1)


def float_sums(attrs: Attrs, values: Arrays, result: TensorType) -> Reals:
    """Sums of float32, in the order of TFLite's reference."""
    weights = present(values, 1, "weights").astype(np.float32, copy=False)
    sums = sums_of(attrs, present(values, 0, "image"), weights, result)
    bias = values[2] if len(values) > 2 else None
    return sums if bias is None else sums + bias.reshape(-1)


def checked_scales(
    weights: TensorType, channels: int, axis: int, *, may_be_asymmetric: bool = False
) -> tuple[float, ...]:
    """Scales of weights, one or one a channel, along `axis`; raises ValueError for others."""
    scales, quantization = weight_scales(weights), weights.quantization
    assert quantization is not None, "they have scales"
    if len(scales) not in (1, channels):
        raise ValueError(f"the weights have {len(scales)} scales for {channels} output channels")
    if len(scales) > 1 and quantization.axis != axis:
        raise ValueError(f"the weights are quantised along axis {quantization.axis}, supported is {axis}")
    may_be_asymmetric &= weights.dtype is DType.INT8 and len(scales) == 1
    if any(quantization.zero_points) and not may_be_asymmetric:
        raise ValueError(f"{weights.dtype.value} weights have a zero point other than 0")
    return scales
