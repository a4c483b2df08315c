"""Instructions that the Helium kernels take, counted in their loops and fitted to measurements.

Source: per-step instructions of `codegen validate --board mps3-an547` for the layers of six networks.
"""

from codegen.kernels.base.window import WindowShape
from codegen.kernels.mve.packing import CLAMPED, COLUMNS, EVEN, LANES, NARROW, WIDE
from codegen.kernels.mve.pixel_groups import CHUNK, columns_of
from codegen.kernels.rows import Axis


def _blocks(size: int, block: int) -> int:
    return -(-size // block)


_QUADS_OF_THREE = {CLAMPED: 32, NARROW: 39, WIDE: 48, EVEN: 32}
"""Four channels of three pixels requantized, up to where the next four begin."""
_QUADS_OF_ONE = {CLAMPED: 10, NARROW: 12, WIDE: 17, EVEN: 10}
_SCALES_OF_16 = {CLAMPED: 21, NARROW: 29, WIDE: 50, EVEN: 17}
"""Sixteen sums of the depthwise kernel by multipliers and shifts."""
_SCALES_OF_8 = {CLAMPED: 13, NARROW: 17, WIDE: 28, EVEN: 9}


def product3_instructions(channels: int, depth: int, rounding: int) -> int:
    """Three pixels in `cg_product3_s8_mve`, without what a call takes."""
    turns = _blocks(depth, LANES)
    quads, rest = divmod(channels, 4)
    pair = 10 + (0 if depth % LANES == 0 else 7) + 12 * turns
    single = 8 + 8 * turns
    scales = _QUADS_OF_THREE[rounding]
    last = (0, single + 14, pair + 20, pair + single + 18)[rest] + (scales if rest else 0)
    return quads * (2 * pair + scales) + last


def product1_instructions(channels: int, depth: int, rounding: int) -> int:
    """One call of `cg_product1_s8_mve`: one pixel."""
    turns = _blocks(depth, LANES)
    fours, rest = divmod(channels, 4)
    sums = fours * (12 + 10 * turns) + rest * (10 + 4 * turns)
    return 42 + sums + 34 * _blocks(channels, CHUNK) + _QUADS_OF_ONE[rounding] * _blocks(channels, 4)


def pointwise_instructions(window: WindowShape, rounding: int) -> int:
    """A whole 1x1 convolution, three pixels at a time."""
    batch, height, width, channels = window.result
    group = 28 + product3_instructions(channels, window.image[3], rounding)
    return 100 + _blocks(batch * height * width, 3) * group


def dense_instructions(window: WindowShape, rounding: int) -> int:
    """A whole 1x1 convolution of pixels of whole 32 bytes, three of them at a time."""
    batch, height, width, channels = window.result
    pair = 4 + 23 * (window.image[3] // (2 * LANES))
    quad = 2 * pair + {CLAMPED: 31, NARROW: 38, EVEN: 31}[rounding]
    threes, rest = divmod(batch * height * width, 3)
    calls = (threes > 0) + (rest > 0)
    return 40 + 47 * calls + (threes + (rest > 0)) * (17 + channels // 4 * quad)


def windows_instructions(window: WindowShape, rounding: int) -> int:
    """A whole convolution whose windows are copied, three pixels at a time."""
    batch, height, width, channels = window.result
    rows, columns = window.window
    pixels = batch * height * width
    runs = 1 if window.dilation[1] == 1 else columns
    run_bytes = columns // runs * window.image[3]
    run = 6 if run_bytes <= LANES else 7 + 3 * _blocks(run_bytes, LANES)
    copy = 41 + rows * runs * run
    product = product3_instructions(channels, rows * columns * window.image[3], rounding)
    return 100 + _blocks(pixels, 3) * (44 + product) + pixels * copy


_QUADS_OF_COLUMNS = {CLAMPED: 24, NARROW: 30, WIDE: 36, EVEN: 26}
"""Four channels of three pixels requantized from sums in the workspace."""


def columns_instructions(window: WindowShape, stripe: int, rounding: int) -> int:
    """A whole convolution by columns, in stripes of so many pixels."""
    batch, height, width, channels = window.result
    depth = window.window[0] * window.image[3]
    down, across = window.axes
    whole = sum(axis_inside(down))
    row = edge = edge_taps = 0
    for left in range(0, width, stripe):
        stop = min(left + stripe, width)
        columns, (first, end) = columns_of(window, stop - left), across.span(left, stop)
        origin = left - window.padding.left
        row += 70 + _columns3(channels, depth, stop - left, rounding)
        row_fills = (max(-origin, 0), max(columns - (end - first) - max(-origin, 0), 0))
        copied = _column_copy(end - first, window.image[3])
        three = 20 + (9 + 7 * _blocks(window.image[3], LANES)) * (end - first)
        inside = three if window.window[0] == COLUMNS else window.window[0] * copied
        row += sum(_fill(fill * depth) for fill in row_fills) + inside
        edge += 25 + _fill(columns * depth) - sum(_fill(fill * depth) for fill in row_fills) - inside
        edge_taps += copied
    taps = down.taps - whole * window.window[0]
    return 100 + batch * (height * (100 + row) + (height - whole) * edge + taps * edge_taps)


def _fill(size: int) -> int:
    return 4 + 2 * _blocks(size, LANES) if size else 0


def _column_copy(columns: int, channels: int) -> int:
    """One row of as many columns of the image."""
    if not columns:
        return 0
    column = 6 if channels <= LANES else 7 + 3 * _blocks(channels, LANES)
    return 34 + column * columns


def _columns3(channels: int, depth: int, pixels: int, rounding: int) -> int:
    """One call of `cg_columns3_s8_mve`."""
    threes, rest = divmod(pixels, COLUMNS)
    groups = [COLUMNS] * threes + [rest] * (rest > 0)
    return sum(_columns_group(channels, depth, count, rounding) for count in groups) + 12 * len(groups) - 2


def _columns_group(channels: int, depth: int, pixels: int, rounding: int) -> int:
    """Up to three pixels."""
    turns, chunks = _blocks(depth, LANES), _blocks(channels, CHUNK)
    pair = 8 + 3 * (pixels - 1) + turns * (9 + 7 * pixels)
    single = 11 + turns * (6 + 4 * pixels)
    jump = {CLAMPED: 4, NARROW: 5, WIDE: 4, EVEN: 0}[rounding]
    chunk = 11 + 2 + 3 + 24 + jump + 1 + 5
    sums = channels // 2 * pair + channels % 2 * single + 2 * (channels % CHUNK > 0)
    return 8 + 3 + chunks * chunk + sums + _blocks(channels, 4) * _QUADS_OF_COLUMNS[rounding]


def narrow_instructions(window: WindowShape, rounding: int) -> int:
    """A whole 1x1 convolution of pixels of at most 16 bytes."""
    batch, height, width, channels = window.result
    is_dense = window.stride == (1, 1)
    runs, pixels = (1, batch * height * width) if is_dense else (batch * height, width)
    quad = {CLAMPED: 49, NARROW: 55, EVEN: 51}[rounding]
    fours, rest = divmod(channels, 4)
    group = 35 + fours * (quad + 1) + (rest > 0) * (quad + 3)
    return 30 + runs * (46 + _blocks(pixels, 3) * group)


def few_pixels_instructions(window: WindowShape, rounding: int) -> int:
    """A whole 1x1 convolution, pixel by pixel."""
    batch, height, width, channels = window.result
    return 20 + batch * height * width * (8 + product1_instructions(channels, window.image[3], rounding))


def depthwise_instructions(window: WindowShape, rounding: int) -> int:
    """A whole depthwise convolution: the taps of runs of pixels are found, then multiplied."""
    batch, height, width, channels = window.result
    rows, columns = window.axes
    whole, inside = sum(axis_inside(rows)), sum(axis_inside(columns))
    runs = whole * (width - inside + min(inside, 1)) + (height - whole) * width
    tap_row = 30 + 9 * _blocks(window.window[1], 4)
    run = 55 + window.window[0] * tap_row
    row = 130
    pixels = height * width * _depthwise_pixel(channels, window.window[0] * window.window[1], rounding)
    return 118 + batch * (pixels + runs * run + height * row)


def _depthwise_pixel(channels: int, taps: int, rounding: int) -> int:
    """One pixel in `cg_depthwise_pixels_s8_mve`: blocks of 16 channels, the last 8 or fewer as one of 8."""
    pairs, odd = divmod(taps, 2)
    blocks, rest = divmod(channels, CHUNK)
    found = 13 + blocks * (24 + _SCALES_OF_16[rounding] + 14 * odd + 23 * pairs)
    if rest > CHUNK // 2:
        found += 26 + _SCALES_OF_16[rounding] + 15 * odd + 24 * pairs
    elif rest:
        found += 20 + _SCALES_OF_8[rounding] + 10 * odd + 16 * pairs
    return found


def axis_inside(axis: Axis) -> list[bool]:
    """Per result: all its taps are inside."""
    return [
        result * axis.stride >= axis.pad and result * axis.stride + axis.reach < axis.extent
        for result in range(axis.count)
    ]


def small_instructions(window: WindowShape, stripe: int, rounding: int) -> int:
    """A whole depthwise convolution through interleaved columns, in stripes of so many pixels."""
    batch, height, width, channels = window.result
    blocks, pixel = _blocks(channels, CHUNK), _small_pixel(channels, rounding)
    row = 60
    for left in range(0, width, stripe):
        pixels = min(stripe, width - left)
        columns = columns_of(window, pixels)
        row += 130 + blocks * (60 + 12 * columns) + pixel * pixels
    return 100 + batch * height * row


def _small_pixel(channels: int, rounding: int) -> int:
    """One pixel from interleaved columns: blocks of 16 channels, eights of these, fours of what is left."""
    is_short = rounding in (CLAMPED, EVEN)
    eights, left = divmod(channels, 8)
    fours = _blocks(left, 4)
    found = 9 * _blocks(channels, CHUNK) + eights * (45 if is_short else 49)
    return found + (fours > 0) * 2 + fours * (29 if is_short else 31)


def in_place_instructions(window: WindowShape, rounding: int) -> int:
    """A whole depthwise convolution that replaces its image, sixteen channels at a time."""
    batch, height, width, channels = window.result
    columns = width + (window.window[1] - 1) * window.dilation[1]
    early = window.window[0] - 1 - window.padding.top
    block = 100 + 8 * columns + (height + early) * (18 + 12 * width) + height * 26
    pixels = height * width * _small_pixel(channels, rounding)
    return 60 + batch * (_blocks(channels, CHUNK) * block + pixels)
