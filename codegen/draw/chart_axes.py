"""Axes of charts: from values to pixels, and the values at which an axis is marked."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ChartAxis:
    """From a value to pixels, linear."""

    low: float
    high: float
    start: float
    stop: float

    def at(self, value: float) -> float:
        """The pixel of a value."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.stop - self.start)


def ticks(most: float) -> list[float]:
    """From 0 to the first one not below `most`: multiples of 1, 2 or 5 times a power of ten, up to ten."""
    step = 1.0
    while most / step > 10:
        step *= 10
    while most / step <= 1:
        step /= 10
    step = next(step * part for part in (0.1, 0.2, 0.5, 1.0) if most / (step * part) <= 10)
    count = int(-(-most // step))
    return [step * index for index in range(count + 1)]
