"""Facts about values before anything runs: bounds of elements, which channels and rows follow from which.

A channel is an index of a value's last axis, a row one of any axis.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir.types import TensorType


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Range:
    """Bounds of a value: arrays of its shape and element type, both ends included."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, known: np.ndarray) -> "Range":
        """The range of a value that is known."""
        return cls(low=known, high=known)

    @property
    def exact(self) -> bool:
        """True if every element is known."""
        return bool(np.array_equal(self.low, self.high))

    @property
    def constant(self) -> NDArray[np.bool_]:
        """For each channel (index of the last axis; one for a scalar) whether all its elements are known."""
        return (self.low == self.high).reshape(-1, channels(self.low.shape)).all(axis=0)


def channels(shape: tuple[int, ...]) -> int:
    """Extent of the last axis, 1 for a scalar."""
    return shape[-1] if shape else 1


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ChannelLink:
    """Channel `source[i]` of argument `argument` goes into channel `result[i]`.

    `mutual`: the step can leave a channel out on both sides only (no operator selects channels).
    """

    argument: int
    source: NDArray[np.intp]
    result: NDArray[np.intp]
    mutual: bool = True


Links = tuple[ChannelLink, ...] | None
"""Channel links of all arguments of a step; None where it reads and writes all channels."""


def same_channels(args: Sequence[TensorType | None], result: TensorType) -> Links:
    """Channel c of every argument becomes channel c; a last extent of 1 is stretched."""
    extent = channels(result.shape)
    every = np.arange(extent)
    links: list[ChannelLink] = []
    for index, arg in enumerate(args):
        if arg is None or not result.shape or channels(arg.shape) not in (1, extent):
            return None
        is_whole = channels(arg.shape) == extent
        source = every if is_whole else np.zeros_like(every)
        links.append(ChannelLink(argument=index, source=source, result=every, mutual=is_whole))
    return tuple(links)


@dataclass(frozen=True, kw_only=True, slots=True)
class RowReads:
    """Rows of the arguments that go into a row of a result, by one rule for all rows.

    Row j reads rows `j * stride + m * dilation - front` for each m below `taps`. Those that an argument does
    not have are padding.
    """

    axes: tuple[int | None, ...]
    """The axis of each argument along which it has these rows; None where every row may read all of it."""
    taps: int = 1
    stride: int = 1
    dilation: int = 1
    front: int = 0
    """Rows of padding before the first one; below 0 where as many rows are skipped."""

    def span(self, start: int, stop: int) -> tuple[int, int]:
        """Rows `[first, end)`, padding included, that rows `[start, stop)` of the result read."""
        last = (stop - 1) * self.stride - self.front
        return start * self.stride - self.front, last + (self.taps - 1) * self.dilation + 1


@dataclass(frozen=True, kw_only=True, slots=True)
class RowSpan:
    """Part of a result: so many rows along `axis`, and the padding that they read in front and behind."""

    axis: int
    rows: int
    front: int = 0
    back: int = 0


def aligned_axis(shape: tuple[int, ...], result: tuple[int, ...], axis: int) -> int | None:
    """The axis of a broadcast argument that is `axis` of the result; None where one row serves all."""
    place = axis - (len(result) - len(shape))
    return place if place >= 0 and shape[place] == result[axis] else None


def with_extent(shape: tuple[int, ...], axis: int, extent: int) -> tuple[int, ...]:
    """`shape` with another extent of one axis."""
    return (*shape[:axis], extent, *shape[axis + 1 :])
