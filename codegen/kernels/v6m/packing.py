"""Channels as the ARMv6-M kernels stream them: bias, int8 weights, numbers of requantization.

The layout is stated in runtime_c/include/cg_conv_v6m.h.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir import TensorType
from codegen.ir.fixed_point import wrap_int32
from codegen.ir.ops.base.parameters import activation_range
from codegen.kernels.base.weighted import WeightedLayer
from codegen.kernels.v6m.requantize import LOW, Fit, Integers, Scale, fit

GROUP = 4
"""Weights of a channel are padded with zeros to a multiple of it."""
LANES = 32640
"""CG_LANES_V6M: what the tile kernels add to an accumulator with every `TAPS` weights."""
TAPS = 2
LEFT = 64
"""In the shift of a channel that is requantized the long way: it is to the left."""
LONG = -(1 << 31)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Channels:
    """What every output channel needs, O channels of K weights each."""

    weights: NDArray[np.int8]
    """[O, K], in the order in which a window's values are read."""
    bias: Integers
    """[O], the image's zero point folded in; as wide as it may be before it wraps."""
    scale: Scale

    @property
    def fit(self) -> Fit:
        """How each channel is requantized: images hold -128 to 127."""
        weights = self.weights.astype(np.int64)
        ends = weights * 127, weights * -128
        least = self.bias + np.minimum(*ends).sum(axis=1)
        most = self.bias + np.maximum(*ends).sum(axis=1)
        return fit(self.scale, least, most)


def channels_of(layer: WeightedLayer, result: TensorType) -> Channels:
    """Everything of an output channel, as results of type `result` want it."""
    multipliers, shifts = layer.every
    low, high = activation_range(layer.activation, result)
    return Channels(
        weights=layer.weights,
        bias=layer.folded_bias,
        scale=Scale(
            multipliers=multipliers.astype(np.int64),
            shifts=shifts.astype(np.int64),
            zero=result.zero_point,
            low=low,
            high=high,
        ),
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Packed:
    """Channels as words: int32 `biases` [O], `numbers` [O, 4]; int8 `weights` [O, K padded]."""

    biases: NDArray[np.int32]
    weights: NDArray[np.int8]
    numbers: NDArray[np.int32]
    kinked: int
    """How many channels round negative results apart."""
    long: int
    """How many are requantized the long way."""


def padded(values: int) -> int:
    """`values` up to a multiple of `GROUP`."""
    return -(-values // GROUP) * GROUP


def packed(channels: Channels, *, lanes: bool) -> Packed:
    """The words of all channels; `lanes`: biases take back what tile kernels add."""
    found = channels.fit
    count, values = channels.weights.shape
    weights = np.zeros((count, padded(values)), np.int8)
    # One result whatever the accumulator: no weights, so that x is 0.
    weights[:, :values] = np.where(found.is_constant[:, None], 0, channels.weights)
    bias = np.where(found.is_constant, 0, channels.bias - found.base)
    if lanes:
        bias = bias - LANES * (weights.shape[1] // TAPS)
    shifts = channels.scale.shifts
    codes = np.where(shifts > 0, LEFT | shifts, -shifts)
    short = (found.limit << LOW | found.low, found.high, found.offset, found.kink)
    long = (codes, channels.scale.multipliers, np.zeros_like(codes), np.full_like(codes, LONG))
    numbers = np.where(found.is_long[:, None], np.stack(long, axis=1), np.stack(short, axis=1))
    return Packed(
        biases=wrap_int32(bias).astype(np.int32),
        weights=weights,
        numbers=wrap_int32(numbers).astype(np.int32),
        kinked=int((found.kink > 0).sum()),
        long=int(found.is_long.sum()),
    )


def stream(channels: Packed) -> NDArray[np.int32]:
    """The words of `cg_conv_weights_v6m.stream`."""
    words = channels.weights.view("<i4")
    return np.concatenate([channels.biases[:, None], words, channels.numbers], axis=1).reshape(-1)


def groups(channels: Packed, values: int, outputs: int) -> NDArray[np.int32]:
    """The words of `cg_fc_weights_v6m.stream`: `outputs` channels of `values` weights interleaved."""
    count = len(channels.biases)
    whole = -(-count // outputs)
    rest = whole * outputs - count
    biases = np.pad(channels.biases, (0, rest)).reshape(whole, outputs)
    weights = np.pad(channels.weights[:, :values], ((0, rest), (0, 0))).reshape(whole, outputs, values)
    words = np.ascontiguousarray(weights.transpose(0, 2, 1)).view("<i4").reshape(whole, values)
    numbers = np.pad(channels.numbers, ((0, rest), (0, 0))).reshape(whole, -1)
    return np.concatenate([biases, words, numbers], axis=1).astype(np.int32).reshape(-1)
