"""Instructions of the ARMv7-M kernels: counted in the assembly, fitted to measurements in what is C.

Assembly runs a known number of instructions for each channel, run of weights and pair of them
(runtime_c/kernels/conv_tile_s8_v7m.S and its like). Constants of the C around it were fitted to single layers
measured on QEMU, gcc 12 -O3.
"""

import math
from collections.abc import Sequence

from codegen.kernels.armv7m.layer import Channels
from codegen.kernels.armv7m.packing import Runs
from codegen.kernels.armv7m.tiles import BLOCK, is_one_row, patch_line_bytes, rows_of, tiles
from codegen.kernels.rows import Axis
from codegen.kernels.window import WindowShape

LAYER, ROW, TILE = 80, 95, 45
"""In C for each call, row and tile."""
PACK, PATCH, PATCH_LINE, PATCH_BYTE = 25, 20, 45, 4
"""In C for each call that packs pixels; patch, line and byte of a patch."""
LONG_CHANNEL, LONG_RESULT = 33, 22
"""For each channel of a tile and each result that are requantised the long way."""
ADDRESS, ADDRESS_ROW, PIXEL, BLOCK_RUN, BLOCK_CALL = 9, 14, 35, 50, 40
"""In C for each tap's address, row of a pixel's taps, pixel, run of blocks and block."""
SHORT = 5
"""Instructions that a short requantisation takes."""


def conv_instructions(window: WindowShape, channels: Channels, runs: Runs, most: int) -> int:
    """Of one inference of a convolution in tiles of `most` pixels."""
    rows, pixels = rows_of(window)
    row = list(tiles(pixels, most))
    total = LAYER + rows * sum(_tile(channels, runs, count) for count in row)
    if is_one_row(window):
        return total + sum(TILE + PACK + _packed(count, window.image[3]) for count in row)
    vertical, horizontal = (_inside(axis) for axis in window.axes)
    inner_rows = sum(vertical) * window.image[0]
    for start, count in zip(range(0, pixels, most), row, strict=True):
        packed = _windows(window, count)
        edge = PATCH + window.window[0] * (PATCH_LINE + PATCH_BYTE * patch_line_bytes(window, count))
        is_inner = all(horizontal[start : start + count])
        total += rows * packed + (rows - inner_rows if is_inner else rows) * edge
    return total + rows * (ROW + TILE * len(row))


def _inside(axis: Axis) -> list[bool]:
    """Per result whether no tap lies in the padding."""
    origins = range(-axis.pad, axis.count * axis.stride - axis.pad, axis.stride)
    reach = (axis.window - 1) * axis.dilation
    return [origin >= 0 and origin + reach < axis.extent for origin in origins]


def _tile(channels: Channels, runs: Runs, count: int) -> int:
    """All channels of one packed tile."""
    outputs, pairs = runs.starts.shape
    many = int(runs.starts.sum())
    if count > 2:
        found = 11 + outputs * (44 + 7 * pairs) + 8 * many
    else:
        found = 11 + outputs * (28 + 5 * pairs) + 6 * many
    return found + _long(channels, 4 if count > 2 else 2)


def _long(channels: Channels, results: int) -> int:
    many = int(channels.requantisation.is_long.sum())
    return many * (LONG_CHANNEL + (LONG_RESULT - SHORT) * results)


def _packed(count: int, values: int) -> int:
    """One call that packs `values` of each pixel."""
    if count > 2:
        return 11 + values // 2 * 15 + values % 2 * 7
    return 3 + 6 * values


def _windows(window: WindowShape, count: int) -> int:
    lines, taps = window.window
    is_run = window.dilation[1] == 1
    calls = lines if is_run else lines * taps
    return calls * (PACK + _packed(count, window.image[3] * (taps if is_run else 1)))


def depthwise_instructions(window: WindowShape, channels: Channels) -> int:
    """Of one inference of a depthwise convolution."""
    _, height, width, _ = window.result
    return LAYER + window.image[0] * _blocks(window, channels, height * width, is_crossing=True)


def in_place_instructions(window: WindowShape, channels: Channels, group: int) -> int:
    """The same in place, in groups of `group` channels."""
    batch, height, width, depth = window.result
    groups = -(-depth // group)
    rows = height * _blocks(window, channels, width, is_crossing=False, groups=groups)
    copied = height * width * (depth * 4 + groups * 14)
    return LAYER + batch * (rows + copied)


def _blocks(
    window: WindowShape, channels: Channels, pixels: int, *, is_crossing: bool, groups: int = 1
) -> int:
    """`pixels` from the first one on in row-major order; rows of them where none crosses into the next."""
    vertical, horizontal = (_inside(axis) for axis in window.axes)
    width, taps = window.result[2], math.prod(window.window)
    table = BLOCK_RUN + BLOCK * (PIXEL + window.window[0] * ADDRESS_ROW + taps * ADDRESS)
    total, at, left = 0, 0, pixels
    while left > 0:
        y, x = divmod(at, width)
        if not is_crossing:
            y = len(vertical) // 2
        run = 0
        while x + run < width and run < left and vertical[y] and horizontal[x + run]:
            run += 1
        count = min(left, max(1, run // BLOCK) * BLOCK)
        blocks = -(-count // BLOCK)
        each = min(count, BLOCK)
        total += groups * (table if each > 2 else table // 2)
        total += blocks * (groups * BLOCK_CALL + _block(channels, taps, each))
        at, left = at + count, left - count
    return total


def _block(channels: Channels, taps: int, count: int) -> int:
    """All channels of one block."""
    turns = -(-taps // 9)
    outputs = len(channels.bias)
    if count > 2:
        return outputs * (40 + 10 * taps + 2 * turns) + _long(channels, 4)
    return outputs * (27 + 6 * taps + 2 * turns) + _long(channels, 2)


def row_instructions(channels: Channels, groups: Sequence[int]) -> int:
    """Of one inference of a fully connected layer of one row, outputs in `groups`."""
    outputs, inputs = channels.weights.shape
    turns = -(-inputs // 4)
    products = sum((1 + 2 * count) * inputs + 2 * turns for count in groups)
    return 40 + products + 50 * len(groups) + 14 * outputs + _long(channels, 1)
