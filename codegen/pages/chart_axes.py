"""Axes of the page's charts."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class LevelLine:
    """A level line or tick: where it is in the picture, what it says."""

    at: float
    text: str


def byte_ticks(extent: int) -> range:
    """Multiples of 1, 2 or 4 times a power of 16 or so: four to eight of them, round in hexadecimal."""
    step = 1
    while extent // step > 8:
        step *= 2
    return range(0, extent + 1, step)


def round_ticks(extent: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, from 0 to `extent`: four to ten of them."""
    power = 10.0 ** math.floor(math.log10(extent / 4))
    step = next(factor * power for factor in (5, 2, 1) if extent / (factor * power) >= 4)
    return [round(number * step, 12) for number in range(int(extent / step + 1e-9) + 1)]


def short_bytes(count: int) -> str:
    """A tick: 512, 2 KiB, 1.5 MiB."""
    for size, unit in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= size:
            return f"{count / size:g} {unit}"
    return f"{count}"
