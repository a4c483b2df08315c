"""Pixels computed together by the ARMv7-M kernels: which, where, and what that means for overlap."""

import math

import numpy as np

from codegen.kernels.base.overlap import NOTHING, first_reads
from codegen.kernels.base.tiles import patch_line_bytes
from codegen.kernels.base.window import WindowShape
from codegen.kernels.rows import safe_distance

BLOCK = 4
"""Pixels of a depthwise convolution at a time."""


def values(window: WindowShape) -> int:
    """Values of a window, of an odd number one more."""
    count = math.prod(window.window) * window.image[3]
    return count + count % 2


def patch_end(window: WindowShape, most: int) -> int:
    """End of the patch for windows that reach into the padding: no sooner than tiles of any size need, so
    that a byte of it is packed before a packed value takes its place."""
    if not window.is_padded:
        return 0
    ends = [_least_end(window, most, count) for count in range(1, min(most, window.result[2]) + 1)]
    return (max(ends) + 3) // 4 * 4


def _least_end(window: WindowShape, most: int, count: int) -> int:
    """Least end of a patch of `count` pixels, packed to the beginning; two or fewer of four, to the half."""
    line = patch_line_bytes(window, count)
    lines, taps = window.window
    at_line = np.arange(lines) * line
    at_tap = np.arange(taps) * (window.dilation[1] * window.image[3])
    # The first pixel's values are the lowest.
    reads = (at_line[:, None, None] + at_tap[None, :, None] + np.arange(window.image[3])).reshape(-1)
    later = np.minimum.accumulate(reads[::-1])[::-1][1:]
    is_half = most == 4 and count <= 2
    begin = most * values(window) if is_half else 0
    packed_bytes = 4 if count <= 2 else 8
    written = begin + packed_bytes * np.arange(1, len(reads))
    return int((written - later).max(initial=0)) + lines * line


def workspace_bytes(window: WindowShape, most: int) -> int:
    """Bytes that tiles of `most` pixels take."""
    return max(2 * most * values(window), patch_end(window, most))


def blocks_below(window: WindowShape, multiplier: int) -> int | None:
    """Least safe distance, as `tiled_below`, of a depthwise convolution that goes through blocks of pixels
    in row-major order, in these from channel to channel: of each it reads all windows, then writes."""
    batch = window.image[0]
    reads = first_reads(window).reshape(batch, -1)
    outputs = np.arange(window.result[3], dtype=np.int64)
    pixels = reads.shape[1]
    ends: list[np.ndarray] = []
    lows: list[np.ndarray] = []
    for image in range(batch):
        for start in range(0, pixels, BLOCK):
            stop = min(start + BLOCK, pixels)
            low = int(reads[image, start:stop].min())
            read = np.full(len(outputs), NOTHING) if low == NOTHING else low + outputs // multiplier
            written = (image * pixels + stop - 1) * window.result[3] + outputs + 1
            # A channel is read, then written.
            lows.append(np.stack((read, np.full(len(outputs), NOTHING)), axis=1).reshape(-1))
            ends.append(np.stack((np.zeros_like(written), written), axis=1).reshape(-1))
    return safe_distance(np.concatenate(ends), np.concatenate(lows))
