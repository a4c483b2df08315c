"""Pixels computed together by the DSP convolutions: which, where, and what that means for overlap."""

import numpy as np
from numpy.typing import NDArray

from codegen.ir.ops import Padding2D
from codegen.kernels.base.tiles import PixelTiling, patch_line_bytes, tiling
from codegen.kernels.base.window import WindowShape
from codegen.kernels.dsp.packing import GROUP, groups


def reads_words(window: WindowShape) -> bool:
    """True if pixels lie on whole words; if not, they are read by bytes."""
    return window.image[3] % GROUP == 0


def dsp_tiling(window: WindowShape, most: int) -> PixelTiling:
    """Tiles of `most` pixels; rows are joined where pixels are read by words."""
    return tiling(window, most, joins_rows=reads_words(window))


def _values(window: WindowShape) -> int:
    return window.window[0] * window.window[1] * window.image[3]


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
    """Offsets as `patch_offsets`, but in the image, for windows that lie inside it; zeros where there are
    none."""
    reach = tuple((window.window[axis] - 1) * window.dilation[axis] for axis in (0, 1))
    if reach[0] >= window.image[1] or reach[1] >= window.image[2]:
        return np.zeros(groups(_values(window)) * GROUP, np.int16)
    return _offsets(window, window.dilation[0] * window.image[2] * window.image[3])


def _offsets(window: WindowShape, line_bytes: int) -> NDArray[np.int16]:
    count = _values(window)
    taps = np.arange(window.window[1]) * (window.dilation[1] * window.image[3])
    lines = np.arange(window.window[0]) * line_bytes
    offsets = np.zeros(groups(count) * GROUP, np.int16)
    offsets[:count] = (lines[:, None, None] + taps[None, :, None] + np.arange(window.image[3])).reshape(-1)
    return offsets.reshape(-1, 2, 2).transpose(0, 2, 1).reshape(-1)
