"""Weights as the ARMv7-M convolutions read them: in runs whose sums fit 16 bits.

The layout is stated in runtime_c/include/cg_kernels_v7m.h.

Requantization in five instructions of ARMv7-M, and where it is exact.

TFLite rounds twice: y = (a * m + 2^30) >> 31, then y / 2^s with halves away from zero, which is
(y + 2^(s - 1) - [y < 0]) >> s. Both at once, with 64 bits: (a * m + 2^30 + 2^(30 + s) - [a < 0] * 2^31)
>> (31 + s); y < 0 and a < 0 differ only for a = -1, m = 2^30, where both give 0. One SMLAL on (offset : low)
with offset = 2^(s - 2) + zero * 2^(s - 1) and low = 2^30 does it, for s >= 2; for a < 0 offset - 1 and
2^31 + 2^30. EOR with the sign makes the second low word from ~(2^31 + 2^30) = 2^30 - 1, so above zero 1 is
missing, which matters only where a * m + 2^30 is a multiple of 2^31: a is then an odd multiple of 2^(30 - t),
where m has t zeros at its end. Layers whose accumulators stay below that are exact; others take the long way.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir import TensorType
from codegen.ir.ops.base.fixed_point import wrap_int32
from codegen.kernels.base.weighted import WeightedLayer
from codegen.kernels.contract import LinkedConstant

LAST, LONG, NEXT_INPUT = 1 << 29, 1 << 30, 1 << 31
"""Bits of a channel's word of shifts: see runtime_c/include/cg_kernels_v7m.h and cg_v7m_parts.h."""
LEFT = 0x40
"""Bit of the low byte of a long one: the shift is to the left."""
LEAST_SHIFT, MOST_SHIFT = 2, 24
"""Shifts to the right that the short way takes: with these the offset fits 32 bits."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Requantization:
    """Requantization of every channel in words."""

    multipliers: NDArray[np.int64]
    offsets: NDArray[np.int64]
    shifts: NDArray[np.int64]
    is_long: NDArray[np.bool_]

    def words(self, bits: NDArray[np.int64]) -> NDArray[np.int32]:
        """Words [O, 3]: multiplier, offset, shift with `bits` of the kernel's own."""
        table = np.stack((self.multipliers, self.offsets, self.shifts | bits), axis=1)
        return (table & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def requantization(
    multipliers: NDArray[np.int32],
    shifts: NDArray[np.int32],
    *,
    highest: NDArray[np.int64],
    zero_point: int,
    is_clamped: bool,
) -> Requantization:
    """Requantization by channel, short where that is exact for every accumulator up to `highest`. `shifts`
    are positive to the left; `is_clamped`: results are clamped to less than int8."""
    # A multiplier of 0 gives the zero point whatever the shift is.
    dead = multipliers == 0
    factors = multipliers.astype(np.int64)
    right = np.where(dead, LEAST_SHIFT, -shifts.astype(np.int64))
    lowest_bits = np.where(dead, 1, factors & -factors)
    is_exact = dead | (highest < 2**30 // lowest_bits)
    fits = (right >= LEAST_SHIFT) & (right <= MOST_SHIFT)
    is_long = ~(is_exact & fits) | is_clamped
    codes = np.where(right < 0, LEFT | -right, right) | LONG
    safe = np.clip(right, LEAST_SHIFT, MOST_SHIFT)
    offsets = (1 << (safe - 2)) + zero_point * (1 << (safe - 1))
    return Requantization(
        multipliers=factors,
        offsets=np.where(is_long, 0, offsets),
        shifts=np.where(is_long, codes, right - 1),
        is_long=is_long,
    )


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
    """The numbers of a layer's output channels for results of type `result`."""
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
            is_clamped=layer.limits != result.dtype.limits,
        ),
    )


def highest_sums(weights: NDArray[np.int8], bias: NDArray[np.int64]) -> NDArray[np.int64]:
    """Largest accumulator of each channel over all images; the largest int32 where one may wrap."""
    wide = weights.astype(np.int64)
    high = bias + np.maximum(127 * wide, -128 * wide).sum(axis=1)
    low = bias + np.minimum(127 * wide, -128 * wide).sum(axis=1)
    # Partial sums wrap with it and back: only where the end lies counts.
    wraps = (high > 2**31 - 1) | (low < -(2**31))
    return np.where(wraps, 2**31 - 1, high)


RUN_PAIRS = 8
"""Most pairs of weights in a run: CG_RUN_PAIRS_V7M."""
HIGHEST, LOWEST = 32768, -32767
"""Limits of a run's sums: plus 32767 the lower pixel's fits 16 bits, minus 1 the upper one's does."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Runs:
    """Pairs of weights [O, P, 2], and which of them begin a run [O, P]; the first of a channel does."""

    pairs: NDArray[np.int8]
    starts: NDArray[np.bool_]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Runs of every channel."""
        return self.starts.sum(axis=1, dtype=np.int64)


def runs_of(weights: NDArray[np.int8]) -> Runs:
    """The fewest runs of weights [O, K], padded with a zero where K is odd: each as long as its sums allow,
    whatever int8 pixels it meets."""
    padded = np.pad(weights, ((0, 0), (0, weights.shape[1] % 2)))
    pairs = padded.reshape(len(padded), -1, 2)
    wide = pairs.astype(np.int64)
    high = np.maximum(127 * wide, -128 * wide).sum(axis=2)
    low = np.minimum(127 * wide, -128 * wide).sum(axis=2)
    starts = np.zeros(high.shape, np.bool_)
    run = np.zeros((3, len(padded)), np.int64)
    for pair in range(high.shape[1]):
        alone = np.stack((high[:, pair], low[:, pair], np.ones(len(padded), np.int64)))
        longer = run + alone
        new = (longer[0] > HIGHEST) | (longer[1] < LOWEST) | (longer[2] > RUN_PAIRS) | (pair == 0)
        starts[:, pair] = new
        run = np.where(new, alone, longer)
    return Runs(pairs=np.ascontiguousarray(pairs), starts=starts)


def weight_bytes(runs: Runs) -> NDArray[np.int8]:
    """Weights with a byte behind each run's first pair."""
    starts = runs.starts.reshape(-1)
    places = 2 * np.arange(len(starts)) + np.cumsum(starts) - starts
    stream = np.zeros(2 * len(starts) + int(starts.sum()), np.uint8)
    pairs = runs.pairs.reshape(-1, 2).view(np.uint8)
    stream[places] = pairs[:, 0]
    # The byte stands between a run's first pair and its second.
    stream[places + 1] = pairs[:, 1]
    begins = np.flatnonzero(starts)
    lengths = np.diff(np.append(begins, len(starts)))
    per_channel = runs.starts.shape[1]
    is_last = (begins + lengths) % per_channel == 0
    stream[places[begins] + 2] = 2 * (lengths - 1) + is_last
    return stream.view(np.int8)


def channel_words(channels: Channels, runs: Runs) -> NDArray[np.int32]:
    """CG_CONV_WORDS_V7M words of every channel."""
    upper = channels.bias.astype(np.int64) + runs.counts
    whole = channels.bias.astype(np.int64) + (upper << 16) - 32767 * runs.counts
    sums = (np.stack((whole, upper), axis=1) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
    bits = np.zeros(len(upper), np.int64)
    bits[-1] = LAST
    return np.concatenate((sums, channels.requantization.words(bits)), axis=1).reshape(-1)


def linked(channels: Channels, runs: Runs) -> tuple[LinkedConstant, LinkedConstant]:
    """Both constants of a convolution."""
    return (
        LinkedConstant(
            role="weights",
            data=weight_bytes(runs),
            alignment=1,
            layout="channel by channel in pairs of weights, a run length behind the first pair of a run",
        ),
        LinkedConstant(
            role="channels",
            data=channel_words(channels, runs),
            alignment=4,
            layout="channel by channel: two words of bias, then requantization",
        ),
    )
