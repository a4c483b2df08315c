"""Pixels that the float kernels compute together: which, and how far a result may reach into its image.

Pixels of a row whose windows lose no column to the padding go in fours, what is left of them and all others
one by one (runtime_c/include/cg_kernels_fpu.h). A 1x1 convolution without steps takes all pixels as one row.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from codegen.kernels.base.overlap import NOTHING, first_reads
from codegen.kernels.base.window import WindowShape
from codegen.kernels.rows import Axis, safe_distance

TILE = 4
"""Pixels computed together."""
BLOCK = 4
"""Channels computed together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """Pixels [start, stop) of a row, computed together; `columns` of taps are inside the image."""

    start: int
    stop: int
    columns: int


def taps_inside(axis: Axis) -> list[int]:
    """Per result: taps inside the image."""
    origins = range(-axis.pad, axis.count * axis.stride - axis.pad, axis.stride)
    places = [[origin + tap * axis.dilation for tap in range(axis.window)] for origin in origins]
    return [sum(0 <= place < axis.extent for place in met) for met in places]


def spans(window: WindowShape) -> list[Span]:
    """Of one row, in order; of all pixels where they are one row."""
    if window.is_pointwise:
        count = window.result[0] * window.result[1] * window.result[2]
        return list(_fours(0, count, 1))
    axis = window.axes[1]
    inside = taps_inside(axis)
    first = min(-(-axis.pad // axis.stride), axis.count)
    behind = axis.extent - 1 - axis.reach
    stop = max(first, min(0 if behind < 0 else behind // axis.stride + 1, axis.count))
    left = [Span(start=x, stop=x + 1, columns=inside[x]) for x in range(first)]
    right = [Span(start=x, stop=x + 1, columns=inside[x]) for x in range(stop, axis.count)]
    return [*left, *_fours(first, stop, axis.window), *right]


def _fours(start: int, stop: int, columns: int) -> Iterator[Span]:
    while start < stop:
        end = start + TILE if stop - start >= TILE else start + 1
        yield Span(start=start, stop=end, columns=columns)
        start = end


def tiles(window: WindowShape) -> Iterator[tuple[int, int]]:
    """[first, stop) of the pixels of each tile, row-major through all images, in order."""
    found = spans(window)
    width = found[-1].stop
    for start in range(0, window.result[0] * window.result[1] * window.result[2], width):
        for span in found:
            yield start + span.start, start + span.stop


def product_below(window: WindowShape) -> int | None:
    """Least safe distance in elements, as `row_major_below`, of a convolution: of a tile, the windows are
    read for every four channels, and for every channel that makes no four, then these are written."""
    channels = window.result[3]
    reads = first_reads(window)
    last_group = 1 if channels % BLOCK else BLOCK
    events: list[tuple[int, int]] = []
    for first, stop in tiles(window):
        low = int(reads[first:stop].min())
        early = (stop - 1) * channels + channels - last_group
        events += [(early if channels > last_group else 0, low), (stop * channels, NOTHING)]
    return _distance(events)


def depthwise_below(window: WindowShape) -> int | None:
    """As `product_below`, of a depthwise convolution of one output channel an input channel: of a tile, the
    windows of four channels are read, then their results written, the last four counted back."""
    channels = window.result[3]
    reads = first_reads(window)
    events: list[tuple[int, int]] = []
    groups = [min(start, channels - BLOCK) for start in range(0, channels, BLOCK)]
    for first, stop in tiles(window):
        low = int(reads[first:stop].min())
        for group in groups:
            if low != NOTHING:
                events.append((0, low + group))
            events.append(((stop - 1) * channels + group + BLOCK, NOTHING))
    return _distance(events)


def _distance(events: list[tuple[int, int]]) -> int | None:
    table = np.array(events, np.int64)
    return safe_distance(table[:, 0], table[:, 1])
