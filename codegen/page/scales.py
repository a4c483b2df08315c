"""Axes of the page's charts."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A level line or tick: where it is in the picture, what it says."""

    at: float
    text: str


def byte_ticks(extent: int) -> range:
    """Multiples of 1, 2 or 4 times a power of 16 or so: four to eight of them, round in hexadecimal."""
    step = 1
    while extent // step > 8:
        step *= 2
    return range(0, extent + 1, step)


def short_bytes(count: int) -> str:
    """A tick: 512, 2 KiB, 1.5 MiB."""
    for size, unit in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= size:
            return f"{count / size:g} {unit}"
    return f"{count}"
