"""Weights as the DSP convolutions stream them: two output channels interleaved, ready for SXTB16.

The layout is stated in runtime_c/include/cg_conv_dsp.h.

When the five-instruction requantization is exact, and the numbers it takes.

SMMULR; ADD x, x, x ASR 31; ASRS x, s; ADC x, zero; SSAT #8 on twice the accumulator rounds twice as TFLite
does: SMMULR of 2a and m is round(a * m / 2^31); adding the sign and then the bit shifted out last rounds
halves away from zero. It needs |2a| < 2^31, 1 <= s <= 31, and int8's whole range as the activation's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from codegen.ir import DType, Let, TensorType
from codegen.ir.ops.base.fixed_point import wrap_int32
from codegen.kernels.base.c_kernel import arg_type
from codegen.kernels.base.result_limits import clamp_reason
from codegen.kernels.base.weighted import DEPTHWISE, Scaling, WeightedLayer, WeightedOperator

GROUP = 4
"""Weights of a channel in one word of the stream."""

LONG, LEFT = 0x80, 0x40
"""Bits of a byte of shifts: requantize the long way (said once a pair); the shift is to the left."""
HALVES_UP = 0x80000000
"""Bit of a pair's word of shifts: halves of negative sums may be rounded either way, for both end at the
least result."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Channels:
    """Numbers of the output channels of a layer: O channels of K weights each."""

    weights: NDArray[np.int8]
    """[O, K], in the order in which a window's values are read."""
    bias: NDArray[np.int32]
    """[O], the image's zero point folded in."""
    multipliers: NDArray[np.int32]
    """[O], 0 or in [2^30, 2^31)."""
    shifts: NDArray[np.int32]
    """[O], -31 to 30, positive to the left."""
    is_clamped: bool
    """Results are clamped to less than [-128, 127]."""
    ends_at_zero: bool = False
    """The zero point is the least result, as behind a ReLU, so that negative sums all end there."""
    rounds_even: bool = False
    """Multipliers are the bits of float32 scales."""

    @property
    def outputs(self) -> int:
        """Output channels."""
        return len(self.bias)

    @property
    def values(self) -> int:
        """Weights of each."""
        return self.weights.shape[1]

    @property
    def rounded(self) -> tuple[int, int] | None:
        """Channels by their rounding, as in `LinkedConstant.rounded`."""
        return (0, self.outputs) if self.rounds_even else None


def channels_of(layer: WeightedLayer, result: TensorType) -> Channels:
    """The numbers of a layer's output channels for results of type `result`."""
    multipliers, shifts = layer.every
    return Channels(
        weights=layer.weights,
        bias=wrap_int32(layer.folded_bias).astype(np.int32),
        multipliers=multipliers,
        shifts=shifts,
        is_clamped=layer.limits != result.dtype.limits,
        ends_at_zero=result.zero_point == result.dtype.limits[0] and not layer.rounds_even,
        rounds_even=layer.rounds_even,
    )


def groups(values: int) -> int:
    """Groups of four that hold `values`."""
    return -(-values // GROUP)


SUMMED_WORDS = 126
"""Words of two values whose sum has 16 bits, at most: CG_SUMMED_WORDS_DSP."""


def sum_groups(values: int) -> int:
    """Groups of four sums of so many values: `cg_sum_groups_dsp` in C."""
    return groups(-(-2 * groups(values) // SUMMED_WORDS))


def stream(channels: Channels) -> NDArray[np.int32]:
    """The stream of all channels, weights padded with zeros to `groups(K)` groups."""
    count = channels.outputs
    # A multiplier of 0 has no form here; no weights and no bias give the same result.
    dead = channels.multipliers == 0
    weights = _padded(channels)
    bias = np.where(dead, 0, channels.bias).astype(np.int32).view(np.uint32)[:, None]
    times = 1 if channels.rounds_even else 2
    factors = np.where(dead, 1 << 30, channels.multipliers).astype(np.int64) * times
    words_of_factors = factors.astype(np.uint32)[:, None]
    codes, is_long = shift_codes(np.where(dead, -1, channels.shifts), channels.is_clamped)
    pairs, paired = count // 2, count // 2 * 2
    words = (codes[0:paired:2] | codes[1::2] << 8) | np.where(is_long[0:paired:2] | is_long[1::2], LONG, 0)
    halves = HALVES_UP if channels.ends_at_zero else 0
    words_of_stream = np.concatenate(
        [
            bias[:paired].reshape(pairs, 2),
            _interleaved(weights[:paired]),
            words_of_factors[:paired].reshape(pairs, 2),
            words.astype(np.uint32)[:, None] | halves,
        ],
        axis=1,
    ).reshape(-1)
    if count % 2:
        code = codes[-1:] | np.where(is_long[-1:], LONG, 0) | halves
        last = [bias[-1], weights[-1].view("<u4"), words_of_factors[-1], code.astype(np.uint32)]
        words_of_stream = np.concatenate([words_of_stream, *last])
    return words_of_stream.view(np.int32)


def _padded(channels: Channels) -> NDArray[np.int8]:
    """Weights of whole groups; zeros where the multiplier is 0."""
    count, values = channels.weights.shape
    weights = np.zeros((count, groups(values) * GROUP), np.int8)
    weights[:, :values] = np.where(channels.multipliers[:, None] == 0, 0, channels.weights)
    return weights


def joined_stream(channels: Channels) -> NDArray[np.int32]:
    """The stream whose halves of words are 256 b + a, of channels that it `holds_joined`."""
    weights, count = _padded(channels), channels.outputs
    pairs, length = count // 2, weights.shape[1] // GROUP
    joined = weights.copy()
    joined[1 : 2 * pairs : 2] -= weights[: 2 * pairs : 2] < 0
    joined_words = stream(channels)
    by_pair = joined_words[: pairs * (2 * length + 5)].reshape(pairs, -1)
    by_pair[:, 2 : 2 + 2 * length] = _interleaved(joined[: 2 * pairs]).view(np.int32)
    biases = by_pair[:, :2].astype(np.int64)
    by_pair[:, 1] = wrap_int32(256 * biases[:, 1] + biases[:, 0]).astype(np.int32)
    return joined_words


def holds_joined(channels: Channels) -> bool:
    """True if there is a pair, 16 bits hold 256 b + a of all its weights, and 24 bits every sum of b."""
    paired = channels.outputs // 2 * 2
    if not paired:
        return False
    weights = np.where(channels.multipliers[:, None] == 0, 0, channels.weights).astype(np.int64)[:paired]
    bias = np.where(channels.multipliers == 0, 0, channels.bias).astype(np.int64)[1:paired:2]
    first, second = weights[::2], weights[1::2]
    if bool(((second == DType.INT8.limits[0]) & (first < 0)).any()):
        return False
    largest = np.abs(bias) + 128 * np.abs(second).sum(axis=1)
    return int(largest.max()) < JOINED_LIMIT


def stream_s4(channels: Channels) -> NDArray[np.int32]:
    """The stream of all channels whose weights are int4: a byte holds those of two."""
    count = channels.outputs
    even = _even(channels) if count % 2 else channels
    weights = _padded(even)
    paired = ((weights[1::2].astype(np.int32) << 4) + weights[::2] + 8).astype(np.int8)
    words = paired.view("<i4")
    pairs, length = words.shape
    # The requantization, and where biases lie, is that of int8.
    wide = stream(even).reshape(pairs, -1)
    return np.concatenate([wide[:, :1], words, wide[:, 1:2], wide[:, 2 + 2 * length :]], axis=1).reshape(-1)


def _even(channels: Channels) -> Channels:
    """The channels, filled up with a channel of zeros to an even number."""
    return Channels(
        weights=np.concatenate([channels.weights, np.zeros_like(channels.weights[:1])]),
        bias=np.append(channels.bias, np.int32(0)),
        multipliers=np.append(channels.multipliers, np.int32(0)),
        shifts=np.append(channels.shifts, np.int32(0)),
        is_clamped=channels.is_clamped,
        ends_at_zero=channels.ends_at_zero,
        rounds_even=channels.rounds_even,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class WeightStream:
    """Packing of a layer's weights as the loops over tiles read them: plain, joined or int4."""

    suffix: str
    """Suffix in the names of C functions."""
    kind: Literal["plain", "joined", "int4"] = "plain"
    pack: Callable[[Channels], NDArray[np.int32]]
    holds: Callable[[Channels], bool] = lambda channels: True
    """True if the form holds weights and sums of these channels; else the plain stream is taken."""
    layout: str

    @property
    def is_int4(self) -> bool:
        """True if its weights are int4."""
        return self.kind == "int4"

    def refusal(self, let: Let) -> str | None:
        """Why these tiles do not take the weights of a call: int4 ones have tiles of their own."""
        weights = arg_type(let, 1)
        fits_int4 = weights.elements // let.var.type.shape[-1] <= MOST_INT4_TERMS
        has_int4 = let.call.op.name != DEPTHWISE.op and weights.dtype is DType.INT4
        if (has_int4 and fits_int4) == self.is_int4:
            return None
        if self.is_int4:
            return f"the weights are {weights.dtype.value}, or more than {MOST_INT4_TERMS} a channel"
        return "the weights are int4, which have a kernel of their own"


JOINED_LIMIT = 1 << 23
"""Limit of the sums of a pair's second channel: 256 times them has 32 bits."""
MOST_INT4_TERMS = 65_536
"""Terms of a channel's sum, at most: 16 times a sum has 32 bits."""

INT8_STREAM = WeightStream(
    suffix="s8",
    pack=stream,
    layout="by two channels: biases, weights {a0 b0 a2 b2} {a1 b1 a3 b3}, requantization",
)
JOINED_STREAM = WeightStream(
    suffix="joined_s8",
    kind="joined",
    pack=joined_stream,
    holds=holds_joined,
    layout="as of int8; halves of a word are 256 b + a, the second bias 256 times b's plus a's",
)
UINT8_STREAM = WeightStream(
    suffix="u8",
    pack=stream,
    layout="as of int8; behind the weights their zero point, by which sums of the values count",
)
INT4_STREAM = WeightStream(
    suffix="s4",
    kind="int4",
    pack=stream_s4,
    layout="by two channels: bias of a, bytes 16 * b + (a + 8), bias of b, requantization",
)


def long_channels(channels: Channels) -> int:
    """How many channels are requantized the long way, for themselves or for the other one of their pair."""
    dead = channels.multipliers == 0
    is_long = shift_codes(np.where(dead, -1, channels.shifts), channels.is_clamped)[1]
    paired = len(is_long) // 2 * 2
    pairs = is_long[:paired].reshape(-1, 2).any(axis=1)
    return 2 * int(pairs.sum()) + int(is_long[paired:].sum())


def _interleaved(weights: NDArray[np.int8]) -> NDArray[np.uint32]:
    """[pairs, words]: {a0 b0 a2 b2}, {a1 b1 a3 b3} for each group of a pair of channels a and b."""
    count, values = weights.shape
    parts = weights.reshape(count // 2, 2, values // GROUP, 2, 2)  # pair, channel, group, upper, odd
    words = np.ascontiguousarray(parts.transpose(0, 2, 4, 3, 1))
    return words.reshape(-1).view("<u4").reshape(count // 2, values // 2)


def shift_codes(shifts: NDArray[np.int32], is_clamped: bool) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
    """Byte of shifts of each channel without `LONG`, and whether it needs the long way."""
    left = shifts > 0
    codes = np.where(left, LEFT | shifts, -shifts).astype(np.uint32)
    return codes, (shifts >= 0) | is_clamped


ACCUMULATOR_LIMIT = 2**30
"""Accumulators must stay below, for they are doubled."""


def channel_multipliers(let: Let, operator: WeightedOperator) -> Scaling:
    """(multipliers, shifts) of every channel of a convolution's result; raises ValueError if out of range."""
    multipliers, shifts = operator.scaling(let)
    channels = let.var.type.shape[-1]
    return np.broadcast_to(multipliers, channels), np.broadcast_to(shifts, channels)


def long_reason(let: Let, operator: WeightedOperator) -> str | None:
    """Why a convolution's requantization takes more than five instructions, as far as types tell."""
    reason = clamp_reason(let)
    if reason is not None:
        return reason
    multipliers, shifts = channel_multipliers(let, operator)
    if bool(((shifts > -1) & (multipliers != 0)).any()):
        return "a channel's scale is not below one half"
    return None


def right_shifts(multipliers: NDArray[np.int32], shifts: NDArray[np.int32]) -> NDArray[np.int32]:
    """The shift `s` of every channel; where the multiplier is 0 any does."""
    return np.where(multipliers == 0, 1, -shifts).astype(np.int32)


MOST_SHIFT = 23
"""Right shift of a channel, at most: half of what sums are divided by, times twice the zero point, is below
2^30."""


def near_scaling(scaling: Scaling, bias: NDArray[np.int64], weights: NDArray[np.int64]) -> Scaling | None:
    """(multipliers, right shifts of at most `MOST_SHIFT`) of channels of [channel, tap] weights.

    Beyond that shift every result is the zero point, as it is of a multiplier of 0, unless an accumulator
    is large: None then.
    """
    multipliers, far = scaling[0], right_shifts(*scaling)
    reach = np.abs(bias) + 128 * np.abs(weights).sum(axis=1)
    scaled = (reach * multipliers.astype(np.int64) + (1 << 30)) >> 31
    is_beyond = far > MOST_SHIFT
    if bool((is_beyond & (scaled >= np.int64(1) << (far.astype(np.int64) - 1))).any()):
        return None
    return (
        np.where(is_beyond, 0, multipliers).astype(np.int32),
        np.where(is_beyond, 1, far).astype(np.int32),
    )


def folded_bias(
    bias: NDArray[np.int64], weights: NDArray[np.int64], zero_point: int
) -> NDArray[np.int64] | None:
    """Bias with the image's zero point folded in, if no accumulator leaves +-`ACCUMULATOR_LIMIT`, else None.

    `weights`: [channel, tap]. Images hold -128 to 127.
    """
    folded = bias - zero_point * weights.sum(axis=1)
    high = folded + np.maximum(weights * 127, weights * -128).sum(axis=1)
    low = folded + np.minimum(weights * 127, weights * -128).sum(axis=1)
    fits = bool((high < ACCUMULATOR_LIMIT).all() and (low > -ACCUMULATOR_LIMIT).all())
    return folded if fits and bool((np.abs(folded) < ACCUMULATOR_LIMIT).all()) else None
