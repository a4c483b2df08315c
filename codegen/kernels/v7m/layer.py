"""What the ARMv7-M kernels share: the numbers of every output channel."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let, TensorType
from codegen.ir.fixed_point import wrap_int32
from codegen.ir.ops import Activation
from codegen.ir.ops.base.parameters import activation_range
from codegen.kernels.base.walk import Fields
from codegen.kernels.base.weighted import WeightedLayer
from codegen.kernels.v7m.requantize import Requantization, requantization

HEADER = "cg_kernels_v7m.h"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Channels:
    """Every output channel, O of them with K weights each."""

    weights: NDArray[np.int8]
    """[O, K], in the order in which the kernel meets them."""
    bias: NDArray[np.int32]
    """[O], the image's zero point folded in, modulo 2^32 as accumulators are."""
    requantization: Requantization


def channels_of(layer: WeightedLayer, result: TensorType) -> Channels:
    """Everything of an output channel, as results of type `result` want it."""
    folded = layer.folded_bias
    multipliers, shifts = layer.every
    return Channels(
        weights=layer.weights,
        bias=wrap_int32(folded).astype(np.int32),
        requantization=requantization(
            multipliers,
            shifts,
            highest=highest_sums(layer.weights, folded),
            zero_point=result.zero_point,
            is_clamped=activation_range(layer.activation, result) != result.dtype.limits,
        ),
    )


def highest_sums(weights: NDArray[np.int8], bias: NDArray[np.int64]) -> NDArray[np.int64]:
    """Per channel the largest accumulator over all images; the largest int32 where one may wrap."""
    wide = weights.astype(np.int64)
    high = bias + np.maximum(127 * wide, -128 * wide).sum(axis=1)
    low = bias + np.minimum(127 * wide, -128 * wide).sum(axis=1)
    # Partial sums wrap with it and back: only where the end lies counts.
    wraps = (high > 2**31 - 1) | (low < -(2**31))
    return np.where(wraps, 2**31 - 1, high)


def range_fields(let: Let, activation: Activation) -> Fields:
    """Fields of a `cg_range_v7m`."""
    low, high = activation_range(activation, let.var.type)
    return (("out_zero", let.var.type.zero_point), ("act_min", low), ("act_max", high))
