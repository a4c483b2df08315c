"""Instructions of the ARMv7-M kernels: counted in the assembly, fitted to measurements in what is C.

Assembly runs a known number of instructions for each channel, run of weights and pair of them
(runtime_c/kernels/v7m/conv_tile_s8_v7m.S and its like). Constants of the C around it were fitted to single
layers measured on QEMU, gcc 12 -O3.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codegen.kernels.base.tiles import TiledPrice, patch_line_bytes, tiling
from codegen.kernels.base.window import WindowShape
from codegen.kernels.v7m.packing import Channels, Runs
from codegen.kernels.v7m.tiles import BLOCK

LAYER, ROW, TILE, POINTWISE_TILE = 95, 95, 120, 41
"""Instructions in C for each call, row, tile, and tile where all pixels are one row."""
PACK, PATCH, PATCH_LINE, PATCH_BYTE = 38, 20, 45, 4
"""Instructions in C for each call that packs pixels; patch, line and byte of a patch."""
COPY, COPY_LEAST = 48, 16
"""Instructions of a memcpy beyond one for each byte, and the bytes from which on a line is copied by it."""
LONG_CHANNEL, LONG_RESULT = 33, 22
"""Instructions for each channel of a tile and each result that are requantized the long way."""
TURN, BLOCK_CALL = 108, 25
"""Instructions in C for each turn of the loop over pixels, and in it for each block, its way into assembly
included."""
ADDRESS, ADDRESS_ROW, PIXEL = 10, 20, 50
"""Instructions for each tap's address, row of a pixel's taps, pixel."""
INNER_TAP, INNER_ADDRESS, INNER_ROW = 8, 3, 29
"""Instructions inside the image for each tap, address, row of taps."""
KEPT_ROW, KEPT_PIXEL, KEPT_BYTE, KEPT_MANY, MANY = 10, 25, 5, 27, 8
"""Instructions in place for each row that is kept, pixel of it, byte; from `MANY` bytes on for all of them
together."""
SHORT = 5
"""Instructions that a short requantization takes."""


def conv_instructions(window: WindowShape, channels: Channels, runs: Runs, most: int) -> int:
    """Predicted instructions of one convolution in tiles of `most` pixels."""

    def edge(pixels: int) -> int:
        patch = PATCH + window.window[0] * _copied(patch_line_bytes(window, pixels))
        return _windows(window, pixels) + patch

    price = TiledPrice(
        layer=LAYER,
        row=ROW,
        tile=TILE,
        products=lambda pixels: _tile(channels, runs, pixels),
        pointwise=lambda pixels: POINTWISE_TILE + _packed(pixels, window.image[3]),
        inner=lambda pixels: _windows(window, pixels),
        edge=edge,
    )
    return price.instructions(window, tiling(window, most))


def _copied(line_bytes: int) -> int:
    """Instructions to copy one line of a patch."""
    copied = COPY + line_bytes if line_bytes >= COPY_LEAST else PATCH_BYTE * line_bytes
    return PATCH_LINE + copied


def _tile(channels: Channels, runs: Runs, count: int) -> int:
    """Instructions of all channels of one packed tile."""
    outputs, pairs = runs.starts.shape
    many = int(runs.starts.sum())
    if count > 2:
        instructions = 11 + outputs * (44 + 7 * pairs) + 8 * many
    else:
        instructions = 11 + outputs * (28 + 5 * pairs) + 6 * many
    return instructions + _long(channels, 4 if count > 2 else 2)


def _long(channels: Channels, results: int) -> int:
    many = int(channels.requantization.is_long.sum())
    return many * (LONG_CHANNEL + (LONG_RESULT - SHORT) * results)


def _packed(count: int, values: int) -> int:
    """Instructions of one call that packs `values` of each pixel."""
    if count > 2:
        return 11 + values // 2 * 15 + values % 2 * 7
    return 3 + 6 * values


def _windows(window: WindowShape, count: int) -> int:
    lines, taps = window.window
    is_run = window.dilation[1] == 1
    calls = lines if is_run else lines * taps
    return calls * (PACK + _packed(count, window.image[3] * (taps if is_run else 1)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """A turn of the loop over depthwise pixels: one table of taps, `blocks` blocks of `most` pixels."""

    is_inner: bool
    most: int
    blocks: int


def turns(window: WindowShape, pixels: int, *, is_padded: bool) -> Iterator[Turn]:
    """Turns of `run_pixels` in depthwise_s8_v7m.c over an image's first `pixels` pixels; `is_padded`: the
    image has its padding around it."""
    width = window.result[2]
    vertical, horizontal = (axis.is_inside for axis in window.axes)
    at = 0
    while at < pixels:
        y, x = divmod(at, width)
        most = min(BLOCK, pixels - at)
        inner = 0
        while x + inner < width and (is_padded or (vertical[y] and horizontal[x + inner])):
            inner += 1
        blocks = min(inner, pixels - at) // most if inner >= most else 1
        yield Turn(is_inner=inner >= most, most=most, blocks=blocks)
        at += blocks * most


def depthwise_instructions(window: WindowShape, channels: Channels) -> int:
    """Predicted instructions of one depthwise convolution."""
    image_turns = list(turns(window, window.result[1] * window.result[2], is_padded=False))
    return LAYER + window.image[0] * (_turns(window, image_turns) + _blocks(window, channels, image_turns))


def in_place_instructions(window: WindowShape, channels: Channels, group: int) -> int:
    """Predicted instructions of one depthwise convolution in place, in groups of `group` channels."""
    batch, height, width, depth = window.result
    groups = -(-depth // group)
    row = list(turns(window, width, is_padded=True))
    rows, columns = ((window.window[axis] - 1) * window.dilation[axis] for axis in (0, 1))
    copied = KEPT_PIXEL + (KEPT_MANY if group >= MANY else KEPT_BYTE * group)
    kept = (height + rows) * (KEPT_ROW + (width + columns) * copied)
    per_image = groups * (kept + height * _turns(window, row)) + height * _blocks(window, channels, row)
    return LAYER + batch * per_image


def _turns(window: WindowShape, image_turns: Sequence[Turn]) -> int:
    """Instructions in C of these turns."""
    lines, taps = window.window[0], math.prod(window.window)
    total = 0
    for turn in image_turns:
        pixels = _computed(turn)
        total += TURN + turn.blocks * BLOCK_CALL
        if turn.is_inner:
            total += lines * INNER_ROW + taps * (INNER_TAP + pixels * INNER_ADDRESS)
        else:
            total += pixels * (PIXEL + lines * ADDRESS_ROW + taps * ADDRESS)
    return total


def _computed(turn: Turn) -> int:
    """Pixels in a block's table."""
    return 4 if turn.most > 2 else turn.most


def _blocks(window: WindowShape, channels: Channels, image_turns: Sequence[Turn]) -> int:
    """Instructions of all channels of the blocks of these turns."""
    taps, outputs = math.prod(window.window), len(channels.bias)
    again = 2 * -(-taps // 9)
    total = 0
    for turn in image_turns:
        channel, tap = {4: (40, 10), 2: (27, 6), 1: (19, 4)}[_computed(turn)]
        block = outputs * (channel + tap * taps + again) + _long(channels, _computed(turn))
        total += turn.blocks * block
    return total


def row_instructions(channels: Channels, groups: Sequence[int]) -> int:
    """Predicted instructions of one row of a fully connected layer, outputs in `groups`."""
    outputs, inputs = channels.weights.shape
    turns = -(-inputs // 4)
    products = sum((1 + 2 * count) * inputs + 2 * turns for count in groups)
    return 40 + products + 50 * len(groups) + 14 * outputs + _long(channels, 1)


def runs_instructions(channels: Channels, runs: Runs) -> int:
    """Predicted instructions of one row of a fully connected layer by weights in runs, output by output."""
    outputs, pairs = runs.starts.shape
    many = int(runs.starts.sum())
    return 30 + outputs * (40 + 8 * pairs) + 12 * many + _long(channels, 1)
