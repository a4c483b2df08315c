"""Instructions of Winograd's kernels: counted in the assembly, fitted to measurements in what is C.

Assembly: runtime_c/kernels/dsp/winograd_parts_s8_dsp.S, winograd4_parts_s8_dsp.S. What is C was fitted to
single layers measured on QEMU, gcc 12 -O3.
"""

from collections import Counter
from collections.abc import Iterator

from codegen.kernels.base.window import WindowShape
from codegen.kernels.block import Span
from codegen.kernels.dsp.packing import Channels, groups, long_channels
from codegen.kernels.dsp.winograd.tiles import Tile

TURNS = 8
"""Turns of the loop over pairs of channels, unrolled."""
LAYER, BAND, BLOCK, ROW = 350, 20, 75, 18
"""Instructions in C for each call, band of rows, block, and row of pixels of a block."""
PART, PART_PIXEL, PART_VALUE = 25, 6, 5
"""Instructions for each group of channels that C stores, with its pixels and their values."""
PATCH_LINE, PATCH_PIXEL, PATCH_VALUE = 20, 12, 9
"""Instructions where pixels are not whole words: for each line of a block, with its pixels and their
values."""
LONG_CALL, LONG_RESULT = 40, 22
"""Instructions for each channel that is requantized the long way, beyond the short one."""


def instructions(window: WindowShape, channels: Channels, tile: Tile) -> int:
    """Predicted instructions of one inference."""
    whole = (0, window.result[2])
    bands = (_band(window, channels, tile, rows, whole) for rows in parts(window.result[1], tile.rows))
    return window.image[0] * (LAYER + sum(bands))


TURN = 140
"""Instructions in C for each call of a row kernel, in place of `LAYER`."""


def row_instructions(window: WindowShape, channels: Channels, tile: Tile, rows: int, span: Span) -> int:
    """Instructions of `rows` rows of an image, turn by turn, in a stripe of columns."""
    return sum(
        count * (TURN + _band(window, channels, tile, together, span))
        for together, count in Counter(parts(rows, tile.rows)).items()
    )


def _band(window: WindowShape, channels: Channels, tile: Tile, rows: int, span: Span) -> int:
    total, start = BAND, span[0]
    for columns in parts(span[1] - span[0], tile.columns):
        total += block(window, start, tile, span[1]) + results(window, channels, rows * columns, tile)
        start += columns
    return total


NARROW_LAYER, NARROW_GROUP, NARROW_BLOCK = 300, 180, 30
"""Instructions in C, of weights that a call transforms: for each call, each four result channels of a band,
and each block of these."""
FILTERS = 509
"""Instructions to transform the weights of four result channels and as many of the image."""
INTERLEAVED = 19
"""Instructions for four channels of a block, where weights are not read in the order in which they lie."""


def narrow_instructions(window: WindowShape, channels: Channels, tile: Tile) -> int:
    """Predicted instructions of one inference in which each band of rows transforms the weights."""
    whole = (0, window.result[2])
    bands = (_narrow_band(window, channels, tile, rows, whole) for rows in parts(window.result[1], tile.rows))
    return window.image[0] * (NARROW_LAYER + _edge(window) + sum(bands))


def narrow_row_instructions(
    window: WindowShape, channels: Channels, tile: Tile, rows: int, span: Span
) -> int:
    """Instructions as `row_instructions`, where each turn transforms the weights."""
    turn = TURN + _edge(window)
    return sum(turn + _narrow_band(window, channels, tile, part, span) for part in parts(rows, tile.rows))


def _edge(window: WindowShape) -> int:
    return 6 * window.image[3]


def _narrow_band(window: WindowShape, channels: Channels, tile: Tile, rows: int, span: Span) -> int:
    fours, depth = groups(channels.outputs), window.image[3]
    total, start = BAND + fours * (NARROW_GROUP + FILTERS * groups(depth)), span[0]
    for columns in parts(span[1] - span[0], tile.columns):
        group = _group(window, channels, rows * columns, tile) + INTERLEAVED + NARROW_BLOCK
        total += block(window, start, tile, span[1]) + fours * group + _long(channels, tile)
        start += columns
    return total


def parts(count: int, most: int) -> Iterator[int]:
    """`count` in parts of `most`, the last one shorter."""
    for start in range(0, count, most):
        yield min(most, count - start)


def block(window: WindowShape, start: int, tile: Tile, stop: int) -> int:
    """Instructions to transform the pixels of a block; its results come on top. `stop`: end of its stripe of
    columns."""
    depth, across = window.image[3], tile.columns + 2
    length = groups(depth)
    first = start - window.padding.left
    end = min(stop - window.padding.left + 2, window.image[2])
    inside = min(end - first, across) - (first < 0)
    patch = 0
    if depth % 4:
        inside = across
        patch = (tile.rows + 2) * (PATCH_LINE + across * (PATCH_PIXEL + 4 * length * PATCH_VALUE))
    group = 166 + 26 * inside if tile.rows == 2 else 867 + 78 * inside
    columns = 4 * inside + 10 * (across - inside)
    return BLOCK + ROW * (tile.rows + 2) + patch + 32 + columns + length * group


def results(window: WindowShape, channels: Channels, pixels: int, tile: Tile) -> int:
    """Instructions of a block's results from transformed pixels."""
    fours = groups(channels.outputs)
    return 28 + fours * _group(window, channels, pixels, tile) + _long(channels, tile)


def _group(window: WindowShape, channels: Channels, pixels: int, tile: Tile) -> int:
    """Instructions of four result channels of a block with `pixels` pixels inside the result."""
    pairs = 2 * groups(window.image[3])
    turns = 11 * (pairs - 1) + 3 * (1 + (pairs - 1) // TURNS) + 1
    points = len(tile.row_order)
    passes = points * points * (turns + 16) + points
    rounding = 0 if channels.ends_at_zero else 8
    if tile.rows == 2:
        instructions = 31 + passes + 4 * 34 + 4 * (76 + rounding)
    else:
        instructions = 92 + passes + 6 * 124 + 4 * (13 + 4 * (95 + rounding))
    if pixels < tile.rows * tile.columns or channels.outputs % 4:
        instructions += PART + pixels * PART_PIXEL + 4 * pixels * PART_VALUE
    return instructions


def _long(channels: Channels, tile: Tile) -> int:
    """Instructions of a block beyond the short way, where channels are requantized the long way."""
    return long_channels(channels) * tile.rows // 2 * (LONG_CALL + 8 * LONG_RESULT)
