"""Sums of two int8 values as one line, proved: (a * k1 + b * k2 + c) >> n, clamped.

TFLite scales both values, adds, and scales the sum: three roundings. Factors are searched with which the line
gives the same result for every one of the 65,536 pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

MOST_SHIFT, LEAST_SHIFT = 22, 15
_NEAR = (0, -1, 1, -2, 2)
"""Distances from the rounded factor that are tried."""
VALUES = np.arange(-128, 128, dtype=np.int64)


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """`(lhs * first + rhs * second + offset) >> shift`, all of it in 32 bits."""

    first: int
    second: int
    offset: int
    shift: int


def search_line(
    results: NDArray[np.int64], slopes: tuple[float, float], limits: tuple[int, int]
) -> Line | None:
    """A line that gives `results` [256, 256] of all pairs of int8, which are clamped to `limits`; None if
    none of those near `slopes` does."""
    for shift in range(MOST_SHIFT, LEAST_SHIFT - 1, -1):
        for first, second in _factors(slopes, shift):
            sums = first * VALUES[:, None] + second * VALUES[None, :]
            # Any offset from `lowest` to `highest` will do; a clamped result binds one side alone.
            low = np.where(results > limits[0], (results << shift) - sums, np.iinfo(np.int64).min)
            high = np.where(results < limits[1], ((results + 1) << shift) - 1 - sums, np.iinfo(np.int64).max)
            lowest, highest = int(low.max()), int(high.min())
            reach = int(np.abs(sums).max())
            offset = min(max(0, lowest), highest)
            if lowest <= highest and reach + abs(offset) < 2**31:
                return Line(first=first, second=second, offset=offset, shift=shift)
    return None


def _factors(slopes: tuple[float, float], shift: int) -> Iterator[tuple[int, int]]:
    near = (round(slope * 2**shift) for slope in slopes)
    first, second = near
    return ((first + more, second + other) for more, other in product(_NEAR, _NEAR))
