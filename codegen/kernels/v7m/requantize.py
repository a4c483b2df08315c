"""Requantization in five instructions of ARMv7-M, and where it is exact.

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

LAST, LONG, NEXT_INPUT = 1 << 29, 1 << 30, 1 << 31
"""Bits of a channel's word of shifts: see runtime_c/include/cg_kernels_v7m.h and cg_v7m_parts.h."""
LEFT = 0x40
"""Bit of the low byte of a long one: the shift is to the left."""
LEAST_SHIFT, MOST_SHIFT = 2, 24
"""Shifts to the right that the short way takes: with these the offset fits 32 bits."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Requantization:
    """Words of every channel."""

    multipliers: NDArray[np.int64]
    offsets: NDArray[np.int64]
    shifts: NDArray[np.int64]
    is_long: NDArray[np.bool_]

    def words(self, bits: NDArray[np.int64]) -> NDArray[np.int32]:
        """[O, 3]: multiplier, offset, shift with `bits` of the kernel's own."""
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
    """Short where that is exact for every accumulator up to `highest`; `shifts` are positive to the left,
    `is_clamped`: results are clamped to less than int8."""
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
