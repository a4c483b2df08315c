"""How far results may reach into images of kernels that compute groups of three pixels at once.

Groups are counted in the order of computation, through all rows and batches. What is copied first is read
before any pixel of its group is written; otherwise all channels but the last chunk are written while the
group's image is still read. Distances as in `codegen.kernels.base.overlap`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.kernels.base.overlap import NOTHING, first_reads, last_reads, sharing_either_way
from codegen.kernels.base.window import WindowShape
from codegen.kernels.contract import Sharing
from codegen.kernels.rows import safe_distance

CHUNK = 16
"""Channels whose sums are kept together, then requantized and written."""


def grouped_sharing(
    let: Let, window: WindowShape, *, pixels: int, chunk: int | None = None
) -> tuple[Sharing, ...]:
    """The rule for argument 0 of a kernel that computes groups of `pixels`, either way round: `chunk`
    channels of them at a time, each read before it is written, or all from a copy (None)."""
    channels = window.result[3]
    early = 0 if chunk is None else (channels - 1) // chunk * chunk
    below = grouped_below(first_reads(window), channels, pixels=pixels, early=early)
    above = grouped_above(last_reads(window), channels, pixels=pixels, early=early)
    return sharing_either_way(let, below, above)


def grouped_below(reads: NDArray[np.int64], channels: int, *, pixels: int, early: int) -> int | None:
    """Least safe distance in elements from the start of the result up to the start of the argument.

    `reads` as from `first_reads`; `early` channels of a pixel are written while its group is read.
    None: reads are over before the first write.
    """
    count = len(reads)
    later = np.append(np.minimum.accumulate(reads[::-1])[::-1], NOTHING)
    starts = np.arange(0, count, pixels)
    stops = np.minimum(starts + pixels, count)
    after = later[stops]
    bounds = [(stops * channels - after)[after != NOTHING]]
    if early:
        next_read = later[starts]
        bounds.append(((stops - 1) * channels + early - next_read)[next_read != NOTHING])
    distances = np.concatenate(bounds)
    return int(distances.max()) if distances.size else None


def grouped_above(ends: NDArray[np.int64], channels: int, *, pixels: int, early: int) -> int | None:
    """Least safe distance in elements from the start of the argument up to the start of the result, from the
    last pixel to the first; groups are counted from the last one. `ends` as from `last_reads`."""
    before = np.append(0, np.maximum.accumulate(ends))
    stops = np.arange(len(ends), 0, -pixels)
    starts = np.maximum(stops - pixels, 0)
    later = before[stops] if early else before[starts]
    bounds = (later - starts * channels)[later > 0]
    return int(bounds.max()) if bounds.size else None


def striped_sharing(
    let: Let, window: WindowShape, stripe: int, *, chunk: int | None = CHUNK
) -> tuple[Sharing, ...]:
    """The rule for argument 0 of a kernel that goes through rows in stripes of `stripe` pixels, each read
    before it is written; either way round, stripes counted from the end it begins at. A depthwise kernel or
    pool reads and writes `chunk` channels at a time, others (None) all."""
    steps = _stripes(window, stripe, chunk, reverse=False)
    zeros, nothing = np.zeros_like(steps.read), np.full_like(steps.read, NOTHING)
    lows = np.stack([zeros, steps.written], axis=1).ravel(), np.stack([steps.read, nothing], axis=1).ravel()
    below = safe_distance(*lows)
    back = _stripes(window, stripe, chunk, reverse=True)
    # From the end on: what is read after a step, at most.
    later = np.append(np.maximum.accumulate(back.read_end[::-1])[::-1][1:], 0)
    bounds = (later - back.write)[later > 0]
    return sharing_either_way(let, below, int(bounds.max()) if bounds.size else None)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Steps:
    """Steps in order, each with the elements read (from, end; `NOTHING` and 0 if none) and written (from,
    end)."""

    read: NDArray[np.int64]
    read_end: NDArray[np.int64]
    write: NDArray[np.int64]
    written: NDArray[np.int64]


def _stripes(window: WindowShape, stripe: int, chunk: int | None, *, reverse: bool) -> _Steps:
    """Elements read and written at a time: images, rows, stripes, chunks of channels."""
    batch, height, width, channels = window.image
    outputs = window.result[3]
    down, across = window.axes
    spans = [(left, min(left + stripe, across.count)) for left in range(0, across.count, stripe)]
    if reverse:
        spans = [(max(0, stop - stripe), stop) for stop in range(across.count, 0, -stripe)]
    order = slice(None, None, -1 if reverse else 1)
    # One axis a level of the loops: image, row, stripe, chunk.
    image = np.arange(batch, dtype=np.int64)[order].reshape(-1, 1, 1, 1)
    rows = np.array([(y, *down.span(y, y + 1)) for y in range(down.count)], np.int64)[order]
    y, top, bottom = (rows[:, index].reshape(1, -1, 1, 1) for index in range(3))
    columns = np.array([(*span, *across.span(*span)) for span in spans], np.int64)
    left, right, first, end = (columns[:, index].reshape(1, 1, -1, 1) for index in range(4))
    taken = chunk or max(channels, outputs)
    start = np.arange(0, channels if chunk else 1, taken, dtype=np.int64).reshape(1, 1, 1, -1)
    stop, written_stop = np.minimum(start + taken, channels), np.minimum(start + taken, outputs)
    has_reads = (top < bottom) & (first < end) & (image >= 0) & (start >= 0)
    lowest = ((image * height + top) * width + first) * channels
    last = ((image * height + bottom - 1) * width + end - 1) * channels
    row = (image * down.count + y) * across.count
    return _Steps(
        read=np.where(has_reads, lowest + start, NOTHING).ravel(),
        read_end=np.where(has_reads, last + stop, 0).ravel(),
        write=((row + left) * outputs + start).ravel(),
        written=((row + right - 1) * outputs + written_stop).ravel(),
    )


def columns_of(window: WindowShape, pixels: int) -> int:
    """Columns of the image that `pixels` windows side by side reach over."""
    return (pixels - 1) * window.stride[1] + (window.window[1] - 1) * window.dilation[1] + 1


def column_reads(window: WindowShape, stripe: int) -> float:
    """How often each image byte is read into the columns of stripes of `stripe` pixels, on average."""
    down, across = window.axes
    spans = [across.span(left, min(left + stripe, across.count)) for left in range(0, across.count, stripe)]
    return down.taps * sum(stop - start for start, stop in spans) / (down.extent * across.extent)
