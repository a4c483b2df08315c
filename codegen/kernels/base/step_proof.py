"""Decides, channel by channel, whether a fixed point rounds as float32 does, for every sum there can be.

float32 gives y(s) = clip(rint(float32(s) * scale) + zero) of a sum s, which never falls as s grows: at most
255 steps of int8, 65,535 of int16. The fixed point g(s) = clip(((hi32(s * m) + 2^(t - 1)) >> t) + zero) does
not fall either. Both are equal everywhere exactly if, for each value k, they reach k at the same sum. The
first sum of each k is found by bisection over the sums that the weights can give; each asks for
`s * m >= bound` there and `< bound` one before, which are linear in m. So all multipliers that are right form
an interval, which is found exactly.
Where there are many steps, some of them are asked first: a channel that these leave no multiplier has none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_MOST_SHIFT, _BOUND_BITS = 21, 29
"""Largest shift, and largest sum of its bits and those of a result minus its zero point: beyond them a bound
leaves 64 bits."""
_FEW = 256
"""Steps that are looked at together."""

_LARGEST = (1 << 31) - 1


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ProvedScaling:
    """Factors and shifts of the channels of a layer."""

    factors: NDArray[np.int32]
    """The multiplier m; where the shift is 0, the bits of the float32 scale."""
    shifts: NDArray[np.int8]
    """The shift t behind the upper word; 0: no m is right, the kernel multiplies floats."""

    @property
    def proved(self) -> int:
        """Channels whose fixed point is proved equal to float32 for every sum there can be."""
        return int(np.count_nonzero(self.shifts))


def all_by_float(scales: Sequence[float]) -> ProvedScaling:
    """Channels of `scales`, none of them by fixed point."""
    numbers = np.array(scales, np.float32)
    return ProvedScaling(factors=numbers.view(np.int32), shifts=np.zeros(len(numbers), np.int8))


def proved_scalings(
    scales: Sequence[float],
    sums: tuple[NDArray[np.int64], NDArray[np.int64]],
    zero: int,
    limits: tuple[int, int],
) -> ProvedScaling:
    """Roundings of channels of `scales` and (least, most) sums, results around `zero` within `limits`."""
    least, most = (np.ascontiguousarray(ends, np.int64) for ends in sums)
    return _proved_scalings(tuple(scales), least.tobytes(), most.tobytes(), zero, limits)


# A layer is bound again for each candidate that a search weighs.
@lru_cache(maxsize=1 << 8)
def _proved_scalings(
    scales: tuple[float, ...], least: bytes, most: bytes, zero: int, limits: tuple[int, int]
) -> ProvedScaling:
    numbers = np.array(scales, np.float32)
    ends = np.frombuffer(least, np.int64), np.frombuffer(most, np.int64)
    exponents = np.frexp(numbers.astype(np.float64))[1]
    # 2^30 <= scale * 2^(32 + shift) < 2^31, as far as the shift goes
    reach = max(abs(limit - zero) for limit in limits)
    shifts = np.minimum(-1 - exponents, min(_MOST_SHIFT, _BOUND_BITS - reach.bit_length()))
    fits = (shifts >= 1) & (ends[0] >= -_LARGEST - 1) & (ends[1] <= _LARGEST)
    used = np.where(fits, shifts, 1).astype(np.int64)
    low, high = _interval(numbers, ends, used, zero, limits, fits)
    held = np.where(fits, numbers, np.float32(0)).astype(np.float64)  # others have no such multiplier
    nearest = np.rint(held * np.exp2(32.0 + used)).astype(np.int64)
    proved = fits & (low <= high) & (nearest <= _LARGEST)
    factors = np.where(proved, np.clip(nearest, low, np.maximum(low, high)), 0).astype(np.int32)
    return ProvedScaling(
        factors=np.where(proved, factors, numbers.view(np.int32)),
        shifts=np.where(proved, used, 0).astype(np.int8),
    )


def _interval(
    scales: NDArray[np.float32],
    ends: tuple[NDArray[np.int64], NDArray[np.int64]],
    shifts: NDArray[np.int64],
    zero: int,
    limits: tuple[int, int],
    asked: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(least, largest) multiplier that is right for each channel that is `asked` about; none where the first
    is larger."""
    values = np.arange(limits[0] + 1, limits[1] + 1, dtype=np.int64) - zero
    parts = max(1, -(-len(values) // _FEW))
    low, high = np.zeros(len(scales), np.int64), np.full(len(scales), _LARGEST)
    for part in range(parts):
        left = np.flatnonzero(asked & (low <= high))
        if not left.size:
            break
        few = scales[left], (ends[0][left], ends[1][left]), shifts[left]
        least, largest = _interval_of(*few, values[part::parts])
        low[left], high[left] = np.maximum(low[left], least), np.minimum(high[left], largest)
    return low, high


def _interval_of(
    scales: NDArray[np.float32],
    ends: tuple[NDArray[np.int64], NDArray[np.int64]],
    shifts: NDArray[np.int64],
    values: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Factors that some of the steps permit: those to `values`, which are results minus the zero point."""
    first = _first_sums(scales, ends, values)
    half = np.left_shift(np.int64(1), shifts - 1)[:, None]
    bounds = (values[None] * 2 * half - half) << 32
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
