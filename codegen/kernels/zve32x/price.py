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


_RESULTS, _KEPT = 88, 33
"""Instructions around a row of results, and of C for each row that is kept."""


def depthwise_instructions(window: WindowShape) -> int:
    """Predicted instructions of one inference of a depthwise convolution."""
    batch, height, width, depth = window.result
    image_height, image_width = window.image[1:3]
    kept = (height - 1) * window.stride[0] + window.window[0]
    columns = (width - 1) * window.stride[1] + window.window[1]
    inside = min(image_height, kept - window.padding.top)
    left = window.padding.left
    sides = [side for side in (left, columns - left - image_width) if side > 0]
    line = _copy(min(image_width, columns - left) * depth) + sum(_fill(side * depth) for side in sides)
    lines = kept * _KEPT + inside * line + (kept - inside) * _fill(columns * depth)
    row = _RESULTS + -(-depth // REGISTER_BYTES) * (41 + 57 * width)
    return round(batch * (60 + lines + height * row))


def _fill(count: int) -> float:
    """A call that fills so many bytes with padding."""
    return 15 + 3 * count / 4
