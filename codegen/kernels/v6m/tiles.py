"""Pixels computed together by the ARMv6-M convolutions: which, and what that means for overlap."""

from collections.abc import Iterator

import numpy as np

from codegen.kernels.base.overlap import NOTHING, first_reads
from codegen.kernels.base.window import WindowShape


def is_one_row(window: WindowShape) -> bool:
    """Whether all pixels of all images are one row: results stand in for image pixels one by one."""
    return window.window == (1, 1) == window.stride and window.image[:3] == window.result[:3]


def rows_of(window: WindowShape) -> tuple[int, int]:
    """(rows, pixels in a row) that are divided into tiles."""
    batch, height, width, _ = window.result
    return (1, batch * height * width) if is_one_row(window) else (batch * height, width)


def tiles(pixels: int, most: int) -> Iterator[int]:
    """Pixels of each tile of a row of `pixels`."""
    for start in range(0, pixels, most):
        yield min(most, pixels - start)


def tiled_below(window: WindowShape, most: int) -> int | None:
    """Least safe distance in bytes from the start of the result up to the start of the image, where the
    windows of a tile are read before its first result is written; None: any overlap is safe.

    See `row_major_below`, whose tiles are single pixels, read once more for every channel.
    """
    reads = first_reads(window)
    rows, pixels = rows_of(window)
    later = np.append(np.minimum.accumulate(reads[::-1])[::-1], NOTHING)
    ends = np.cumsum(np.tile(np.fromiter(tiles(pixels, most), np.int64), rows))
    bounds = ends * window.result[3] - later[ends]
    bounds = bounds[later[ends] != NOTHING]
    return int(bounds.max()) if bounds.size else None
