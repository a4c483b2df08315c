"""Decides, channel by channel, whether a fixed point rounds as float32 does, for every sum there can be.

float32 gives y(s) = clip(rint(float32(s) * scale) + zero) of a sum s, which never falls as s grows: at most
255 steps. The fixed point g(s) = clip(((hi32(s * m) + 2^(t - 1)) >> t) + zero) does not fall either. Both are
equal everywhere exactly if, for each value k, they reach k at the same sum. The first sum of each k is found
by bisection over the sums that the weights can give; each asks for `s * m >= bound` there and `< bound` one
before, which are linear in m. So all multipliers that are right form an interval, which is found exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

MOST_SHIFT = 21
"""Beyond it a bound would leave 64 bits."""

_LARGEST = (1 << 31) - 1


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Rounding:
    """What a kernel needs for each channel."""

    factors: NDArray[np.int32]
    """The multiplier m; where the shift is 0, the bits of the float32 scale."""
    shifts: NDArray[np.int8]
    """The shift t behind the upper word; 0: no m is right, the kernel multiplies floats."""

    @property
    def proved(self) -> int:
        """Channels whose fixed point is proved equal to float32 for every sum there can be."""
        return int(np.count_nonzero(self.shifts))


def roundings(
    scales: Sequence[float],
    sums: tuple[NDArray[np.int64], NDArray[np.int64]],
    zero: int,
    limits: tuple[int, int],
) -> Rounding:
    """For channels of `scales` and (least, most) sums, results around `zero` within `limits`."""
    least, most = (np.ascontiguousarray(ends, np.int64) for ends in sums)
    return _roundings(tuple(scales), least.tobytes(), most.tobytes(), zero, limits)


# A layer is bound again for each candidate that a search weighs.
@lru_cache(maxsize=1 << 8)
def _roundings(
    scales: tuple[float, ...], least: bytes, most: bytes, zero: int, limits: tuple[int, int]
) -> Rounding:
    numbers = np.array(scales, np.float32)
    ends = np.frombuffer(least, np.int64), np.frombuffer(most, np.int64)
    exponents = np.frexp(numbers.astype(np.float64))[1]
    # 2^30 <= scale * 2^(32 + shift) < 2^31, as far as the shift goes
    shifts = np.minimum(-1 - exponents, MOST_SHIFT)
    fits = shifts >= 1
    used = np.where(fits, shifts, 1).astype(np.int64)
    low, high = _interval(numbers, ends, used, zero, limits)
    wanted = np.rint(numbers.astype(np.float64) * np.exp2(32.0 + used)).astype(np.int64)
    proved = fits & (low <= high) & (wanted <= _LARGEST)
    factors = np.where(proved, np.clip(wanted, low, np.maximum(low, high)), 0).astype(np.int32)
    return Rounding(
        factors=np.where(proved, factors, numbers.view(np.int32)),
        shifts=np.where(proved, used, 0).astype(np.int8),
    )


def _interval(
    scales: NDArray[np.float32],
    ends: tuple[NDArray[np.int64], NDArray[np.int64]],
    shifts: NDArray[np.int64],
    zero: int,
    limits: tuple[int, int],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(least, largest) multiplier that is right for each channel; none where the first is larger."""
    values = np.arange(limits[0] + 1, limits[1] + 1, dtype=np.int64)
    first = _first_sums(scales, ends, values - zero)
    half = np.left_shift(np.int64(1), shifts - 1)[:, None]
    bounds = ((values[None] - zero) * 2 * half - half) << 32
    low, high = np.zeros(len(scales), np.int64), np.full(len(scales), _LARGEST)
    for sums, limit, is_reached in ((first, bounds, True), (first - 1, bounds - 1, False)):
        counts = first <= ends[1][:, None] if is_reached else first > ends[0][:, None]
        # reached: s * m >= limit; one before: s * m <= limit
        floor, ceiling = (limit // np.where(sums == 0, 1, sums), -(-limit // np.where(sums == 0, 1, sums)))
        at_least = counts & ((sums > 0) if is_reached else (sums < 0))
        at_most = counts & ((sums < 0) if is_reached else (sums > 0))
        impossible = counts & (sums == 0) & ((limit > 0) if is_reached else (limit < 0))
        low = np.maximum(low, np.where(at_least, ceiling, 0).max(axis=1, initial=0))
        high = np.minimum(high, np.where(at_most, floor, _LARGEST).min(axis=1, initial=_LARGEST))
        high = np.where(impossible.any(axis=1), -1, high)
    return low, high


def _first_sums(
    scales: NDArray[np.float32],
    ends: tuple[NDArray[np.int64], NDArray[np.int64]],
    values: NDArray[np.int64],
) -> NDArray[np.int64]:
    """[channels, values]: the least sum whose rounded product is a value or more; one behind the last sum
    where none is."""
    shape = (len(scales), len(values))
    low, high = np.broadcast_to(ends[0][:, None], shape), np.broadcast_to(ends[1][:, None] + 1, shape)
    while np.any(low < high):
        middle = (low + high) >> 1
        reached = np.rint(middle.astype(np.float32) * scales[:, None]) >= values[None]
        low, high = np.where(reached | (low >= high), low, middle + 1), np.where(reached, middle, high)
    return high
