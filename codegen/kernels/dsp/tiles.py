"""Pixels computed together by the DSP convolutions: which, where, and what that means for overlap."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from codegen.ir.ops import Padding2D
from codegen.kernels.base.overlap import NOTHING, first_reads
from codegen.kernels.base.window import WindowShape
from codegen.kernels.dsp.packing import GROUP, groups


def reads_words(window: WindowShape) -> bool:
    """Whether pixels lie on whole words; if not, they are read by bytes."""
    return window.image[3] % GROUP == 0


def is_one_row(window: WindowShape) -> bool:
    """Whether all pixels of all images are one row: results stand in for image pixels one by one."""
    is_pointwise = window.window == (1, 1) and window.stride == (1, 1)
    return is_pointwise and window.image[:3] == window.result[:3] and reads_words(window)


def rows_of(window: WindowShape) -> tuple[int, int]:
    """(rows, pixels in a row) that are divided into tiles."""
    batch, height, width, _ = window.result
    return (1, batch * height * width) if is_one_row(window) else (batch * height, width)


def tiles(pixels: int, most: int) -> Iterator[int]:
    """Pixels of each tile of a row of `pixels`."""
    for start in range(0, pixels, most):
        yield min(most, pixels - start)


def tile_count(window: WindowShape, most: int) -> int:
    """Tiles of `most` pixels, or what is left of a row, in one inference."""
    rows, pixels = rows_of(window)
    return rows * -(-pixels // most)


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


def _values(window: WindowShape) -> int:
    return window.window[0] * window.window[1] * window.image[3]


def patch_line_bytes(window: WindowShape, pixels: int) -> int:
    """As `cg_patch_line_dsp`: a line of what the windows of `pixels` cover."""
    columns = (pixels - 1) * window.stride[1] + (window.window[1] - 1) * window.dilation[1] + 1
    return columns * window.image[3]


def workspace_bytes(window: WindowShape, most: int, *, is_row: bool = False) -> int:
    """Bytes that tiles of `most` pixels take, in a row by itself or in all, see
    runtime_c/include/cg_conv_dsp.h."""
    length = groups(_values(window))
    if reads_words(window):
        return 8 * length * most
    is_padded = window.padding != Padding2D()
    patch = window.window[0] * patch_line_bytes(window, most) if is_padded else 0
    return 8 * length * (most + is_row) + (patch + 3) // 4 * 4


def table_reach_bytes(window: WindowShape, most: int) -> int:
    """Bytes from a window's first value to behind its last one, in the image or in a patch."""
    rows, columns = ((window.window[axis] - 1) * window.dilation[axis] for axis in (0, 1))
    in_image = (rows * window.image[2] + columns + 1) * window.image[3]
    return max(in_image, window.window[0] * patch_line_bytes(window, most))


def patch_offsets(window: WindowShape, most: int) -> NDArray[np.int16]:
    """How far each value of a window lies behind the first one of a patch, groups in the order 0 2 1 3."""
    return _offsets(window, patch_line_bytes(window, most))


def image_offsets(window: WindowShape) -> NDArray[np.int16]:
    """The same in the image, for windows that lie inside it; zeros where there are none."""
    reach = tuple((window.window[axis] - 1) * window.dilation[axis] for axis in (0, 1))
    if reach[0] >= window.image[1] or reach[1] >= window.image[2]:
        return np.zeros(groups(_values(window)) * GROUP, np.int16)
    return _offsets(window, window.dilation[0] * window.image[2] * window.image[3])


def _offsets(window: WindowShape, line_bytes: int) -> NDArray[np.int16]:
    count = _values(window)
    taps = np.arange(window.window[1]) * (window.dilation[1] * window.image[3])
    lines = np.arange(window.window[0]) * line_bytes
    found = np.zeros(groups(count) * GROUP, np.int16)
    found[:count] = (lines[:, None, None] + taps[None, :, None] + np.arange(window.image[3])).reshape(-1)
    return found.reshape(-1, 2, 2).transpose(0, 2, 1).reshape(-1)
