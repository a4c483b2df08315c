"""Channels as the ARMv6-M kernels stream them: bias, int8 weights, numbers of requantization.

The layout is stated in runtime_c/include/cg_conv_v6m.h.

Requantization without a long multiply: a sum of products to a stored int8 in eight instructions, exactly.

A stored result is a step function of the accumulator: it rises by one at each of at most 255 thresholds,
which TFLite's two roundings define and which are found here. The kernels compute, on 32 bits,

    x = accumulator - base                   saturated if x < 0 or x > limit
    y = x * high + (x * low >> 13) + offset  as a number with 24 fractional bits
    if y < middle: y = y - kink              halves of negative results round the other way
    result = y >> 24

Both sides rise with the accumulator, so they are equal everywhere if they are on both sides of every
threshold; `fit` searches for numbers of which that is true. Channels without go the long way.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir import TensorType
from codegen.ir.ops.base.fixed_point import multiply_by_quantized_multiplier, wrap_int32
from codegen.kernels.base.weighted import WeightedLayer

Integers = NDArray[np.int64]

FRACTION, LOW = 24, 13
"""Fractional bits of a scaled sum; bits of a multiplier's part `low`."""
LIMIT = 1 << 19
"""Limit of `x`: x * low has 32 bits."""
STEEPEST = 1 << 32
"""Limit of a factor: `high` has 32 bits."""
MOST_SHIFT = 22
"""Right shift, at most: thresholds are 64-bit numbers."""
TRIED = 12
"""Multipliers tried on either side of the nearest one."""
INT32 = 1 << 31
FAR = np.int64(1) << 62


@dataclass(frozen=True, kw_only=True, slots=True)
class Rescaling:
    """The step from accumulators to stored results: multiplier and shift of each channel as TFLite applies
    them."""

    multipliers: Integers
    """[O], 0 or in [2^30, 2^31)."""
    shifts: Integers
    """[O], -31 to 30, positive to the left."""
    zero: int
    low: int
    high: int
    """Zero point and range of stored results."""

    @property
    def limits(self) -> tuple[int, int]:
        """Least and largest stored result."""
        return self.low, self.high

    @property
    def middle(self) -> int:
        """Boundary of negative results: half a step above the zero point, with `FRACTION` bits."""
        return (2 * self.zero + 1) << (FRACTION - 1)

    def stored(self, sums: Integers) -> Integers:
        """Stored results of accumulators [O], which may not leave int32."""
        scaled = multiply_by_quantized_multiplier(sums, self.multipliers, self.shifts)
        return np.clip(scaled + self.zero, self.low, self.high)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit:
    """The numbers of every channel, [O] each; where `is_long`, all are 0."""

    is_long: NDArray[np.bool_]
    is_constant: NDArray[np.bool_]
    """True for channels whose accumulators all give the same result: `offset` is that for x = 0."""
    base: Integers
    limit: Integers
    high: Integers
    low: Integers
    offset: Integers
    kink: Integers
    """`x` where results change sides of the zero point; 0: all are on one side, or halves do not matter."""


def fit(scale: Rescaling, least: Integers, most: Integers) -> Fit:
    """The numbers of channels whose accumulators are in [least, most], [O] each."""
    if scale.low == scale.high:
        return _always(scale.low, len(least))
    able = (least >= -INT32) & (most < INT32) & (scale.shifts >= -MOST_SHIFT)
    left = np.maximum(scale.shifts, 0)
    able &= (least << left >= -INT32) & (most << left < INT32)
    first, last = (scale.stored(np.where(able, ends, 0)) for ends in (least, most))
    constant = able & (first == last)
    search = _RescalingSearch(scale, np.where(able, least, 0), np.where(able, most, 0), able & ~constant)
    search.run()
    chosen = search.is_solved
    return Fit(
        is_long=~(constant | chosen),
        is_constant=constant,
        base=np.where(chosen, search.base, 0),
        limit=np.where(chosen, search.limit, 0),
        high=np.where(chosen, search.multiplier >> LOW, 0),
        low=np.where(chosen, search.multiplier & ((1 << LOW) - 1), 0),
        offset=np.where(chosen, search.offset, np.where(constant, first << FRACTION, 0)),
        kink=np.where(chosen, search.kink, 0),
    )


def _always(result: int, count: int) -> Fit:
    nothing, every = np.zeros(count, np.int64), np.ones(count, np.bool_)
    numbers = dict.fromkeys(("base", "limit", "high", "low", "kink"), nothing)
    return Fit(is_long=~every, is_constant=every, offset=nothing + (result << FRACTION), **numbers)


class _RescalingSearch:
    """Search for the numbers of the channels in `asked`; the others are not looked at."""

    def __init__(self, scale: Rescaling, least: Integers, most: Integers, asked: NDArray[np.bool_]) -> None:
        self._scale = scale
        self._steps = np.arange(scale.low + 1, scale.high + 1, dtype=np.int64)[None, :]
        shift = np.where(asked, np.maximum(-scale.shifts, 0), 0)[:, None]
        factor = np.where(asked, scale.multipliers << np.maximum(scale.shifts, 0), 1 << 30)
        self._thresholds = _thresholds(self._steps - scale.zero, factor[:, None], shift)
        self.base = np.maximum(self._thresholds[:, 0], least)
        self.limit = np.minimum(self._thresholds[:, -1] - 1, most) - self.base
        # factor / 2^31 / 2^shift steps an accumulator, with FRACTION + LOW bits behind the point.
        spare = FRACTION + LOW - 31
        self._nearest = ((factor << spare) + (np.int64(1) << shift[:, 0] >> 1)) >> shift[:, 0]
        fits = (most - self.base < INT32) & (self.base - least < INT32)
        fits &= (self.limit >= 0) & (self.limit < LIMIT)
        self._open = asked & fits & (factor < STEEPEST << LOW - spare - 1)
        self.is_solved = np.zeros(len(asked), np.bool_)
        self.multiplier, self.offset, self.kink = (np.zeros(len(asked), np.int64) for _ in range(3))
        self._slack = np.full(len(asked), -1, np.int64)

    def run(self) -> None:
        """Try multipliers near the real one; of those that will do, the one with the most room is taken."""
        places = np.flatnonzero(self._open)
        for distance in range(-TRIED, TRIED + 1) if places.size else ():
            self._try(places, np.maximum(self._nearest[places] + distance, 0))

    def _try(self, places: NDArray[np.intp], multiplier: Integers) -> None:
        steps, scale = self._steps, self._scale
        base, limit = self.base[places, None], self.limit[places, None]
        at = self._thresholds[places] - base
        is_reached, is_ahead = at <= limit, at > 0
        after = _product(np.clip(at, 0, limit), multiplier[:, None])
        before = _product(np.clip(at - 1, 0, limit), multiplier[:, None])
        least = np.where(is_reached, (steps << FRACTION) - after, -FAR)
        most = np.where(is_ahead, (steps << FRACTION) - before - 1, FAR)
        upper = steps > scale.zero
        low_up, high_up = _interval(least, most, upper)
        low_down, high_down = _interval(least, most, ~upper)
        low, high = np.maximum(low_up, low_down), np.minimum(high_up, high_down)
        is_one = low <= high
        offset = np.where(is_one, _middle(low, high), _middle(low_up, high_up))
        kink = np.where(is_one, 0, offset - _middle(low_down, high_down))
        y = offset[:, None]
        below = (before + y < scale.middle) | ~is_ahead
        apart = np.where(upper, (after + y >= scale.middle) | ~is_reached, below)
        works = (low_up <= high_up) & (low_down <= high_down) & (is_one | ((kink > 0) & apart.all(axis=1)))
        slack = np.where(is_one, high - low, np.minimum(high_up - low_up, high_down - low_down))
        better = works & (slack > self._slack[places])
        taken = places[better]
        self.is_solved[taken] = True
        self._slack[taken] = slack[better]
        self.multiplier[taken], self.offset[taken] = multiplier[better], offset[better]
        self.kink[taken] = kink[better]


def _thresholds(steps: Integers, factor: Integers, shift: Integers) -> Integers:
    """Least accumulators [O, steps] whose result minus its zero point is at least the step.

    A result of j takes a product, rounded to q, of q >= (j - 1/2) * 2^shift; of negative ones a half is
    rounded down. q = floor((a * factor + 2^30) / 2^31).
    """
    doubled = (2 * steps - 1) << shift
    least = np.where(shift == 0, steps, (doubled >> 1) + (steps <= 0))
    return -(((np.int64(1) << 30) - (least << 31)) // factor)


def _product(x: Integers, multiplier: Integers) -> Integers:
    """Product of `x` and a multiplier as the kernels compute it."""
    return x * (multiplier >> LOW) + (x * (multiplier & ((1 << LOW) - 1)) >> LOW)


def _interval(least: Integers, most: Integers, which: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """The offsets that keep to the right side of all thresholds of `which`."""
    return np.where(which, least, -FAR).max(axis=1), np.where(which, most, FAR).min(axis=1)


def _middle(low: Integers, high: Integers) -> Integers:
    """Middle of an interval; of one that is open on a side, its end."""
    return np.where(low == -FAR, high, np.where(high == FAR, low, (low + high) >> 1))


GROUP = 4
"""Weights of a channel are padded with zeros to a multiple of it."""
LANES = 32640
"""Sum that the tile kernels add to an accumulator with every `TAPS` weights: CG_LANES_V6M."""
TAPS = 2
LEFT = 64
"""Bit of the shift of a channel that is requantized the long way: it is to the left."""
LONG = -(1 << 31)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Channels:
    """Numbers of the output channels of a layer: O channels of K weights each."""

    weights: NDArray[np.int8]
    """[O, K], in the order in which a window's values are read."""
    bias: Integers
    """[O], the image's zero point folded in; as wide as it may be before it wraps."""
    scale: Rescaling

    @property
    def fit(self) -> Fit:
        """How each channel is requantized: images hold -128 to 127."""
        weights = self.weights.astype(np.int64)
        ends = weights * 127, weights * -128
        least = self.bias + np.minimum(*ends).sum(axis=1)
        most = self.bias + np.maximum(*ends).sum(axis=1)
        return fit(self.scale, least, most)


def channels_of(layer: WeightedLayer, result: TensorType) -> Channels:
    """The numbers of a layer's output channels for results of type `result`."""
    multipliers, shifts = layer.every
    low, high = layer.limits
    return Channels(
        weights=layer.weights,
        bias=layer.folded_bias,
        scale=Rescaling(
            multipliers=multipliers.astype(np.int64),
            shifts=shifts.astype(np.int64),
            zero=result.zero_point,
            low=low,
            high=high,
        ),
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PackedChannels:
    """Channels as words: int32 `biases` [O], `numbers` [O, 4]; int8 `weights` [O, K padded]."""

    biases: NDArray[np.int32]
    weights: NDArray[np.int8]
    numbers: NDArray[np.int32]
    kinked: int
    """Number of channels that round negative results apart."""
    long: int
    """Number of channels that are requantized the long way."""


def padded(values: int) -> int:
    """`values` up to a multiple of `GROUP`."""
    return -(-values // GROUP) * GROUP


def packed(channels: Channels, *, lanes: bool) -> PackedChannels:
    """The words of all channels; `lanes`: biases take back what tile kernels add."""
    fit = channels.fit
    count, values = channels.weights.shape
    weights = np.zeros((count, padded(values)), np.int8)
    # One result whatever the accumulator: no weights, so that x is 0.
    weights[:, :values] = np.where(fit.is_constant[:, None], 0, channels.weights)
    bias = np.where(fit.is_constant, 0, channels.bias - fit.base)
    if lanes:
        bias = bias - LANES * (weights.shape[1] // TAPS)
    shifts = channels.scale.shifts
    codes = np.where(shifts > 0, LEFT | shifts, -shifts)
    short = (fit.limit << LOW | fit.low, fit.high, fit.offset, fit.kink)
    long = (codes, channels.scale.multipliers, np.zeros_like(codes), np.full_like(codes, LONG))
    numbers = np.where(fit.is_long[:, None], np.stack(long, axis=1), np.stack(short, axis=1))
    return PackedChannels(
        biases=wrap_int32(bias).astype(np.int32),
        weights=weights,
        numbers=wrap_int32(numbers).astype(np.int32),
        kinked=int((fit.kink > 0).sum()),
        long=int(fit.is_long.sum()),
    )


def stream(channels: PackedChannels) -> NDArray[np.int32]:
    """The words of `cg_conv_weights_v6m.stream`."""
    words = channels.weights.view("<i4")
    return np.concatenate([channels.biases[:, None], words, channels.numbers], axis=1).reshape(-1)


def groups(channels: PackedChannels, values: int, outputs: int) -> NDArray[np.int32]:
    """The words of `cg_fc_weights_v6m.stream`: `outputs` channels of `values` weights interleaved."""
    count = len(channels.biases)
    whole = -(-count // outputs)
    rest = whole * outputs - count
    biases = np.pad(channels.biases, (0, rest)).reshape(whole, outputs)
    weights = np.pad(channels.weights[:, :values], ((0, rest), (0, 0))).reshape(whole, outputs, values)
    words = np.ascontiguousarray(weights.transpose(0, 2, 1)).view("<i4").reshape(whole, values)
    numbers = np.pad(channels.numbers, ((0, rest), (0, 0))).reshape(whole, -1)
    return np.concatenate([biases, words, numbers], axis=1).astype(np.int32).reshape(-1)
