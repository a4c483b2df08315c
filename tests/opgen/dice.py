"""Random numbers that are the same everywhere: raw words of PCG64 and exact arithmetic on them.

`Generator`'s own streams may change with NumPy versions; a bit generator's raw words may not.
"""

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

_Choice = TypeVar("_Choice")

SEED = 20240607


class Dice:
    """Draws for one model; every model has dice of its own, so that adding one leaves the others alone."""

    def __init__(self, *stream: int) -> None:
        self._words = np.random.PCG64(np.random.SeedSequence([SEED, *stream]))

    def integer(self, low: int, high: int) -> int:
        """An integer of [low, high]."""
        return low + int(self._words.random_raw()) % (high - low + 1)

    def integers(self, low: int, high: int, count: int) -> tuple[int, ...]:
        """`count` integers of [low, high]."""
        return tuple(self.integer(low, high) for _ in range(count))

    def pick(self, choices: Sequence[_Choice]) -> _Choice:
        """One of the choices."""
        return choices[self.integer(0, len(choices) - 1)]

    def chance(self, percent: int) -> bool:
        """True in `percent` of 100 draws."""
        return self.integer(0, 99) < percent

    def shuffled(self, items: Sequence[_Choice]) -> list[_Choice]:
        """The items in random order."""
        left = list(items)
        return [left.pop(self.integer(0, len(left) - 1)) for _ in range(len(left))]

    def float32(self, low_exponent: int, high_exponent: int) -> float:
        """A positive float32, exactly: 24 random bits at a binary exponent of [low, high].

        One in three has three bits. Products and quotients with these are simple fractions of what was
        drawn before: as scales they let results fall on halves.
        """
        mantissa = self.integer(1 << 23, (1 << 24) - 1)
        if mantissa % 3 == 0:
            mantissa = mantissa >> 21 << 21
        return math.ldexp(mantissa, self.integer(low_exponent, high_exponent) - 23)

    def zero_point(self) -> int:
        """A zero point of int8; the two ends and 0 often."""
        if self.chance(30):
            return self.pick((-128, 127, 0))
        return self.integer(-127, 126) if self.chance(40) else self.integer(-40, 40)

    def int8(self, shape: Sequence[int], low: int = -128, high: int = 127) -> np.ndarray:
        """Random int8 elements of [low, high]."""
        words = np.asarray(self._words.random_raw(math.prod(shape)), np.uint64)
        steps = (words % np.uint64(high - low + 1)).astype(np.int64) + low
        return steps.astype(np.int8).reshape(shape)

    def integers_of(self, shape: Sequence[int], dtype: str) -> np.ndarray:
        """Random elements over all of an integer type of at most 32 bits."""
        words = np.asarray(self._words.random_raw(math.prod(shape)), np.uint64)
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        steps = (words % np.uint64(high - low + 1)).astype(np.int64) + low
        return steps.astype(dtype).reshape(shape)

    def within(self, shape: Sequence[int], low: int, high: int) -> np.ndarray:
        """Random int64 elements of [low, high], at most 2^63 of them apart."""
        words = np.asarray(self._words.random_raw(math.prod(shape)), np.uint64)
        return ((words % np.uint64(high - low + 1)).astype(np.int64) + low).reshape(shape)

    def sixteenths(self, shape: Sequence[int], low: int, high: int) -> np.ndarray:
        """Random float32 multiples of 1/16 from low/16 to high/16: exact, with ties when quantised."""
        words = np.asarray(self._words.random_raw(math.prod(shape)), np.uint64)
        steps = (words % np.uint64(high - low + 1)).astype(np.int64) + low
        return (steps / 16).astype(np.float32).reshape(shape)

    def reals(self, shape: Sequence[int]) -> np.ndarray:
        """Random float32 in [-4, 4), 21 bits each."""
        words = np.asarray(self._words.random_raw(math.prod(shape)), np.uint64)
        steps = (words % np.uint64(1 << 21)).astype(np.int64) - (1 << 20)
        return (steps / (1 << 18)).astype(np.float32).reshape(shape)
