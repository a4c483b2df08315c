"""Instructions of the RV32 convolutions: counted in the assembly, fitted to measurements in what is C.

Assembly: `cg_conv_tile_rv32.inc`, runtime_c/kernels/rv32/gather_s8_rv32.S. Constants of the C around it were
fitted to single layers measured on QEMU, gcc 12 -O3.
"""

import math
from collections.abc import Sequence

import numpy as np

from codegen.kernels.base.window import WindowShape
from codegen.kernels.rv32.packing import GROUP, ROWS_OF_TAPS, UNROLLED, Channels, Chunks
from codegen.kernels.rv32.tiles import HALF, TILE, computed_pixels, side_by_side, tiling_of

_CLAMPED = {False: 0.1, True: 0.5}
"""Share of results at each end of their range: over all of int8, or from the zero point on."""
_LAYER, _IMAGE = 60, 60
_POINTWISE_TILE, _POINTWISE_PIXEL = 40, 5
_TILE, _PIXEL = 60, 30
_INNER_LINE, _INNER_PIXEL = 30, 3
_EDGE_TAP, _EDGE_PIXEL = 30, 20


def conv_instructions(window: WindowShape, channels: Channels, chunks: Chunks) -> int:
    """Predicted instructions of one inference of a convolution."""
    tiles = tiling_of(window)
    sizes = [computed_pixels(pixels) for pixels in tiles.tiles]
    total = _LAYER + tiles.rows * sum(
        sizes.count(size) * _products(channels, chunks, size) for size in (TILE, HALF)
    )
    if tiles.is_one_row:
        packed = [
            sizes.count(size) * (_POINTWISE_TILE + _POINTWISE_PIXEL * size + _gather(window.image[3], size))
            for size in (TILE, HALF)
        ]
        return round(total + sum(packed))
    down, across = (np.array(axis.is_inside) for axis in window.axes)
    inside = np.logical_and.outer(down, across).reshape(-1)
    starts = np.cumsum([0, *tiles.tiles[:-1]])
    for start, pixels, size in zip(starts, tiles.tiles, sizes, strict=True):
        is_inside = bool(inside[start : start + pixels].all())
        packed_tile = _inner(window, size) if is_inside else _edge(window, size)
        total += tiles.rows * (_TILE + _PIXEL * size + packed_tile)
    return round(total + _IMAGE * tiles.rows)


def _gather(values: int, size: int) -> int:
    """Instructions of a call that packs `values` of each of `size` pixels."""
    fours, rest = divmod(values, 4)
    value, moved, around = (18, 7, 17) if size == TILE else (9, 4, 14)
    return around + fours * (4 * value + moved + 1) + rest * (value + moved + 1)


def _inner(window: WindowShape, size: int) -> int:
    lines, taps = window.window
    is_run = window.dilation[1] == 1
    calls = lines if is_run else lines * taps
    run = _gather(window.image[3] * (taps if is_run else 1), size)
    return calls * (_INNER_LINE + _INNER_PIXEL * size + run)


def _edge(window: WindowShape, size: int) -> int:
    taps = math.prod(window.window)
    return taps * (_EDGE_TAP + _EDGE_PIXEL * size + _gather(window.image[3], size))


def _products(channels: Channels, chunks: Chunks, size: int) -> float:
    """Instructions of all channels of one packed tile."""
    outputs = len(channels.bias)
    fours, singles = divmod(outputs, GROUP)
    around = (58 if size == TILE else 61) + (9 if fours else 0) + (8 if singles else 0)
    if chunks.count > 1:
        around += size // HALF + 3
    four, single = (_group(channels, chunks, size, count) for count in (GROUP, 1))
    return around + fours * four + singles * single


def _group(channels: Channels, chunks: Chunks, size: int, count: int) -> float:
    """Instructions of `count` channels of a packed tile."""
    pairs, results = count * size // HALF, count * size
    values = channels.weights.shape[1]
    value = 2 * size // HALF + count + 4 * pairs
    turns = -(-chunks.first // UNROLLED) + (chunks.count - 1) * chunks.size // UNROLLED
    is_chunked = chunks.count > 1
    is_least = channels.ends_at_zero and not is_chunked
    one = (9 if is_least else 12) + _CLAMPED[channels.ends_at_zero] + (2 if is_chunked else 0)
    total = 3 + 2 * pairs + 6 + value * values + 3 * turns
    total += 5 + (2 if count == 1 else 0) + 4 * count + 8 * pairs + one * results + 1 + 4
    # Results of six pixels are a step apart: of the last one of each channel none is taken.
    total += (6 if count == GROUP else 7) - 2 * count if size == TILE else 9
    if is_chunked:
        further = 17 * pairs + 3 + 2 * pairs + 4 + size // HALF
        total += results + 2 * chunks.count + (chunks.count - 1) * further
    return total


_ROW3X3, _TILE3X3, _PACKED_INSIDE, _PACKED_EDGE = 40, 60, 60, 130
"""Instructions of C for each row of results, tile of it, tile of a row that is packed."""


def conv3x3_instructions(window: WindowShape, channels: Channels, chunks: Chunks, *, is_row: bool) -> int:
    """Predicted instructions of one inference of a convolution of rows packed once; `is_row`: of a call for
    one row, which packs three."""
    batch, height, width, _ = window.result
    sizes = side_by_side(width)
    packed_rows = 3 if is_row else height + 2
    inside = max(0, len(sizes) - 2) / len(sizes) if height > 1 else 0
    packed = sum(
        _packed3x3(window.image[3], size) + inside * _PACKED_INSIDE + (1 - inside) * _PACKED_EDGE
        for size in sizes
    )
    products = sum(_TILE3X3 + _products3x3(channels, chunks, size) for size in sizes)
    return round(_LAYER + batch * (packed_rows * packed + height * (_ROW3X3 + products)))


def _packed3x3(depth: int, size: int) -> int:
    """Instructions of a call that packs a row of taps."""
    fours, rest = divmod(depth, 4)
    value, moved, around = (32, 12, 48) if size == TILE else (23, 8, 45)
    return around + fours * (4 * value + moved + 1) + rest * (value + moved + 1)


def _products3x3(channels: Channels, chunks: Chunks, size: int) -> float:
    """Instructions of all channels of one tile."""
    pairs, results = GROUP * size // HALF, GROUP * size
    values = channels.weights.shape[1]
    value = 2 * size // HALF + GROUP + 4 * pairs
    turns = -(-values // ROWS_OF_TAPS // UNROLLED) * ROWS_OF_TAPS
    start = 3 + 2 * pairs
    four = 3 + start + value * values + (4 if size == TILE else 3) * turns
    four += ROWS_OF_TAPS * (16 if size == TILE else 14) + 10 + 4 * GROUP + 8 * pairs
    four += (14 + _CLAMPED[channels.ends_at_zero]) * results + (12 if size == TILE else 14)
    four += (chunks.count - 1) * (8 * pairs + results + 4 + start)
    return (93 if size == TILE else 98) + four * len(channels.bias) // GROUP


_ROW, _KEPT_LINE, _KEPT_GROUP = 60, 60, 35
"""Instructions of C for each row of results, row that is kept, and four channels of it."""
_PAIR, _PAIR_LINE, _PAIR_GROUP = 130, 60, 150
"""Instructions of C where rows of results are computed by two: for these, a row that is kept, a group of
channels."""


def depthwise_instructions(window: WindowShape, channels: Channels, group: int, *, is_row: bool) -> int:
    """Predicted instructions of one inference of a depthwise convolution, `group` channels at a time;
    `is_row`: of a call for one row, which keeps three."""
    batch, height, width, depth = window.result
    stride = window.stride[1]
    result = (7 if channels.ends_at_zero else 10) + _CLAMPED[channels.ends_at_zero]
    groups = -(-depth // group)
    if stride == 1 and not is_row:
        return round(30 + batch * groups * _pairs(window, min(group, depth), result))
    columns = (width - 1) * stride + 3
    kept = 3 if is_row else (height - 1) * window.stride[0] + 3
    per_word = 3.5 if depth % 4 == 0 else 12
    line = groups * _KEPT_LINE + -(-depth // GROUP) * (_KEPT_GROUP + per_word * columns)
    block = {count: 3 * ((count - 1) * stride + 3) + count * (18 + result) + 3 for count in (4, 2, 1)}
    fours, tail = divmod(width, 4)
    channel = 16 + 4 + 2 + fours * (block[4] + 1) + 14
    channel += sum(block[count] for count in (2, 1) if tail & count) + (4 if tail else 0)
    return round(30 + batch * (40 * groups + kept * line + height * (groups * (_ROW + 62) + depth * channel)))


def _pairs(window: WindowShape, channels: int, result: float) -> float:
    """Instructions of a group of channels, two rows of results at a time."""
    _, height, width, _ = window.result
    pairs = -(-height // 2)
    eights, left = divmod(channels, 2 * GROUP)
    copied = window.image[2]
    line = _PAIR_LINE + eights * (9 + 5.75 * copied) + (10 + 3.75 * copied if left >= GROUP else 0)
    if window.image[3] % GROUP:
        line = _PAIR_LINE + channels * (10 + 6 * copied)
    block = {count: 4 * (count + 2) + 2 * count * (18 + result) + 6 for count in (4, 2, 1)}
    fours, tail = divmod(width, 4)
    channel = 37 + (3 if fours else 0) + fours * (block[4] + 2)
    channel += sum(block[count] for count in (2, 1) if tail & count) + (4 if tail else 0)
    return _PAIR_GROUP + 2 * (pairs + 1) * line + pairs * (_PAIR + channels * channel)


def row_instructions(inputs: int, groups: Sequence[int]) -> int:
    """Predicted instructions of one inference of a fully connected layer of one row, outputs in `groups`."""
    turns, rest = divmod(inputs, UNROLLED)
    total = 50
    for count in groups:
        one = 1 + 3 * count
        around = {16: 16 + 16 + 29 + 6 + 30, 4: 15 + 30, 1: 9 + 30}[count]
        total += around + turns * (UNROLLED * one + 3) + rest * (one + 3) + 21 * count
    return total


_BAND, _KEPT_WORDS, _BLOCK, _CALLED = 120, 0.75, 90, 30
"""Instructions of C for each two rows, byte of a row that is kept, block of eight columns, four result
channels of a block."""


def winograd_instructions(window: WindowShape) -> int:
    """Predicted instructions of one inference of a convolution by Winograd."""
    batch, height, width, outputs = window.result
    depth = window.image[3]
    deep = -(-depth // GROUP) * GROUP
    bands, blocks = -(-height // 2), -(-width // 8)
    pixels = 40 + 256 * depth
    products = 35 + 16 * (24 + 40 * deep + 3 * deep // 4 - 16)
    tiles = -(-width // 2)
    block = _BLOCK + pixels + outputs // GROUP * (products + _CALLED + 45)
    stored = outputs * bands * (tiles * 88 + 12 * blocks)
    line = 60 + _KEPT_WORDS * (8 * blocks + 2) * depth
    return round(batch * (60 + (2 * bands + 2) * line + bands * (_BAND + blocks * block) + stored))
