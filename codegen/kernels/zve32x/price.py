"""Instructions of the Zve32x kernels where a vector register has 128 bits; with longer ones they are fewer.

Assembly is counted: runtime_c/kernels/zve32x. Constants of the C around it were fitted to single layers
measured on QEMU, gcc 12 -O3.
"""

from codegen.kernels.base.tiles import PixelTiling, patch_line_bytes
from codegen.kernels.base.window import WindowShape

REGISTER_BYTES = 16
_COPIED = 8 * REGISTER_BYTES
"""Bytes that one turn of a copy moves."""
_LAYER, _ROW, _POINTWISE_TILE, _TILE, _LINE, _FILL = 60, 40, 20, 40, 38, 40
"""Instructions of C for each layer, row of results, tile, line that a tile reads, padding of a line."""


def conv_instructions(window: WindowShape, pixels: int, tiles: PixelTiling) -> int:
    """Predicted instructions of one inference of a convolution."""
    lines, taps = window.window
    depth, channels = window.image[3], window.result[3]
    products = {size: _products(size, lines, taps * depth, channels) for size in (pixels, 1)}
    total = _LAYER + tiles.rows * sum(products[size] for size in tiles.tiles)
    if tiles.is_one_row:
        return total + sum(_POINTWISE_TILE + _copy(size * depth) for size in tiles.tiles)
    spans = {size: patch_line_bytes(window, size) for size in (pixels, 1)}
    line = sum(_LINE + _copy(spans[size]) for size in tiles.tiles) + _FILL * window.is_padded
    return round(total + tiles.rows * (_ROW + _TILE * len(tiles.tiles) + lines * line))


def _products(size: int, lines: int, line_values: int, channels: int) -> int:
    """All channels of a tile."""
    lanes = REGISTER_BYTES * (1 if size == 6 else 2)
    turns, rest = divmod(line_values, 8)
    line = 9 + size + (2 * size + 3) * line_values + (size + 1) * (turns + rest)
    return 32 + -(-channels // lanes) * (21 + 15 * size + lines * line)


def _copy(count: int) -> int:
    """A call that copies so many bytes."""
    return 7 + 7 * -(-count // _COPIED)


_RESULTS, _KEPT, _COLUMN = 92, 33, 6
"""Instructions around a row of results; of C for each row that is kept, and each column copied alone."""


def depthwise_instructions(window: WindowShape, group: int) -> int:
    """Predicted instructions of one inference of a depthwise convolution, `group` channels at a time."""
    depth = window.image[3]
    sizes = [min(group, depth - start) for start in range(0, depth, group)]
    return round(window.result[0] * (60 + sum(_group(window, size) for size in sizes)))


def _group(window: WindowShape, channels: int) -> float:
    """So many channels of an image."""
    height, width = window.result[1:3]
    image_height, image_width, depth = window.image[1:]
    kept = (height - 1) * window.stride[0] + window.window[0]
    columns = (width - 1) * window.stride[1] + window.window[1]
    inside = min(image_height, kept - window.padding.top)
    left = window.padding.left
    sides = [side for side in (left, columns - left - image_width) if side > 0]
    copied = min(image_width, columns - left)
    line = _copy(copied * depth) if channels == depth else copied * (_COLUMN + _copy(channels))
    line += sum(_fill(side * channels) for side in sides)
    lines = kept * _KEPT + inside * line + (kept - inside) * _fill(columns * channels)
    row = _RESULTS + -(-channels // REGISTER_BYTES) * (41 + 57 * width)
    return lines + height * row


def _fill(count: int) -> float:
    """A call that fills so many bytes with padding."""
    return 15 + 3 * count / 4
