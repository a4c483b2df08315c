"""Instructions that the Helium kernels take, counted in their loops and fitted to measurements.

Source: per-step instructions of `codegen validate --board mps3-an547` for the layers of six networks.
"""

from codegen.kernels.base.window import WindowShape
from codegen.kernels.mve.packing import CLAMPED, COLUMNS, EVEN, LANES, NARROW, WIDE, column_bytes
from codegen.kernels.mve.pixel_groups import CHUNK, columns_of
from codegen.kernels.rows import Axis


def _blocks(size: int, block: int) -> int:
    return -(-size // block)


_QUADS_OF_THREE = {CLAMPED: 32, NARROW: 39, WIDE: 48, EVEN: 32}
"""Instructions to requantize four channels of three pixels, up to where the next four begin."""
_QUADS_OF_ONE = {CLAMPED: 10, NARROW: 12, WIDE: 17, EVEN: 10}
_SCALES_OF_16 = {CLAMPED: 21, NARROW: 29, WIDE: 50, EVEN: 17}
"""Instructions to requantize sixteen sums of the depthwise kernel."""
_SCALES_OF_8 = {CLAMPED: 13, NARROW: 17, WIDE: 28, EVEN: 9}


def product3_instructions(channels: int, depth: int, rounding: int) -> int:
    """Instructions of three pixels in `cg_product3_s8_mve`, without those of the call."""
    turns = _blocks(depth, LANES)
    quads, rest = divmod(channels, 4)
    pair = 10 + (0 if depth % LANES == 0 else 7) + 12 * turns
    single = 8 + 8 * turns
    scales = _QUADS_OF_THREE[rounding]
    last = (0, single + 14, pair + 20, pair + single + 18)[rest] + (scales if rest else 0)
    return quads * (2 * pair + scales) + last


def product1_instructions(channels: int, depth: int, rounding: int) -> int:
    """Instructions of one call of `cg_product1_s8_mve`: one pixel."""
    turns = _blocks(depth, LANES)
    fours, rest = divmod(channels, 4)
    sums = fours * (12 + 10 * turns) + rest * (10 + 4 * turns)
    return 42 + sums + 34 * _blocks(channels, CHUNK) + _QUADS_OF_ONE[rounding] * _blocks(channels, 4)


def pointwise_instructions(window: WindowShape, rounding: int) -> int:
    """Instructions of a whole 1x1 convolution, three pixels at a time."""
    batch, height, width, channels = window.result
    group = 28 + product3_instructions(channels, window.image[3], rounding)
    return 100 + _blocks(batch * height * width, 3) * group


def dense_instructions(window: WindowShape, rounding: int) -> int:
    """Instructions of a whole 1x1 convolution of pixels of whole 32 bytes, three of them at a time."""
    batch, height, width, channels = window.result
    pair = 4 + 23 * (window.image[3] // (2 * LANES))
    quad = 2 * pair + {CLAMPED: 31, NARROW: 38, EVEN: 31}[rounding]
    threes, rest = divmod(batch * height * width, 3)
    calls = (threes > 0) + (rest > 0)
    return 10 + 47 * calls + (threes + (rest > 0)) * (17 + channels // 4 * quad)


def windows_instructions(window: WindowShape, rounding: int) -> int:
    """Instructions of a whole convolution whose windows are copied, three pixels at a time."""
    batch, height, width, channels = window.result
    rows, columns = window.window
    pixels = batch * height * width
    runs = 1 if window.dilation[1] == 1 else columns
    run_bytes = columns // runs * window.image[3]
    run = 6 if run_bytes <= LANES else 7 + 3 * _blocks(run_bytes, LANES)
    copy = 41 + rows * runs * run
    depth = rows * columns * window.image[3]
    down, across = (sum(axis_inside(axis)) for axis in window.axes)
    edges = (pixels - batch * down * across) * (154 + 2 * _blocks(depth, LANES))
    product = product3_instructions(channels, depth, rounding)
    return 100 + _blocks(pixels, 3) * (44 + product) + pixels * copy + edges


_PAIRS_OF_COLUMNS = {CLAMPED: 36, NARROW: 41, WIDE: 55, EVEN: 35}
"""Instructions of two channels of up to four pixels, without their products."""


def columns_instructions(window: WindowShape, stripe: int, rounding: int) -> int:
    """Instructions of a whole convolution by columns, in stripes of `stripe` pixels."""
    batch, height, width, channels = window.result
    taps, depth = window.window[0], window.image[3]
    vectors = column_bytes(taps, depth) // LANES
    down, across = window.axes
    row = edge = edge_taps = 0
    for left in range(0, width, stripe):
        stop = min(left + stripe, width)
        columns, (first, end) = columns_of(window, stop - left), across.span(left, stop)
        row += 75 + _columns3(channels, vectors, stop - left, rounding)
        padded = max(window.padding.left - left, 0)
        sides = (padded, max(columns - (end - first) - padded, 0))
        filled = sum(_fill_columns(count, vectors) for count in sides)
        piece = _column_pieces(end - first, depth)
        inside = filled + (_three(end - first, depth) if taps == COLUMNS else taps * piece)
        row += inside
        edge += _fill_columns(columns, vectors) - inside
        edge_taps += piece
    whole = sum(axis_inside(down))
    edges = (height - whole) * edge + (down.taps - whole * taps) * edge_taps
    return 112 + batch * (height * (100 + row) + edges)


def _fill_columns(count: int, vectors: int) -> int:
    """Instructions to fill `count` columns with padding."""
    return 20 + count * (4 + 2 * vectors) if count else 0


def _three(count: int, channels: int) -> int:
    """Instructions to copy `count` columns of three rows."""
    if not count:
        return 0
    if channels % LANES == 0:
        return 20 + count * (6 + 7 * channels // LANES)
    return 50 + count * (9 + 9 * _blocks(channels, LANES))


def _column_pieces(count: int, channels: int) -> int:
    """Instructions to copy one row of `count` columns of the image."""
    return 10 + _blocks(channels, LANES) * (31 + 6 * count) if count else 0


def _columns3(channels: int, vectors: int, pixels: int, rounding: int) -> int:
    """Instructions of one call of `cg_columns3_s8_mve`."""
    turn, begin = (38, 0) if pixels == 4 else (7 * pixels + 9, 2)
    pairs, odd = divmod(channels, 2)
    pair = _PAIRS_OF_COLUMNS[rounding]
    call = 49 if rounding == EVEN else 56
    return call + pairs * (pair + begin + turn * vectors) + odd * (13 + pair + 23 * vectors)


def narrow_instructions(window: WindowShape, rounding: int) -> int:
    """Instructions of a whole 1x1 convolution of pixels of at most 16 bytes."""
    batch, height, width, channels = window.result
    is_dense = window.stride == (1, 1)
    runs, pixels = (1, batch * height * width) if is_dense else (batch * height, width)
    quad = {CLAMPED: 49, NARROW: 55, EVEN: 51}[rounding]
    fours, rest = divmod(channels, 4)
    group = 35 + fours * (quad + 1) + (rest > 0) * (quad + 3)
    return 30 + runs * (46 + _blocks(pixels, 3) * group)


def few_pixels_instructions(window: WindowShape, rounding: int) -> int:
    """Instructions of a whole 1x1 convolution, pixel by pixel."""
    batch, height, width, channels = window.result
    return 20 + batch * height * width * (8 + product1_instructions(channels, window.image[3], rounding))


def depthwise_instructions(window: WindowShape, rounding: int) -> int:
    """Instructions of a whole depthwise convolution: the taps of runs of pixels are found, then
    multiplied."""
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
    """Instructions of one pixel in `cg_depthwise_pixels_s8_mve`: blocks of 16 channels, the last 8 or fewer
    as one of 8."""
    pairs, odd = divmod(taps, 2)
    blocks, rest = divmod(channels, CHUNK)
    instructions = 13 + blocks * (24 + _SCALES_OF_16[rounding] + 14 * odd + 23 * pairs)
    if rest > CHUNK // 2:
        instructions += 26 + _SCALES_OF_16[rounding] + 15 * odd + 24 * pairs
    elif rest:
        instructions += 20 + _SCALES_OF_8[rounding] + 10 * odd + 16 * pairs
    return instructions


def axis_inside(axis: Axis) -> list[bool]:
    """True for each result whose taps are all inside."""
    return [
        result * axis.stride >= axis.pad and result * axis.stride + axis.reach < axis.extent
        for result in range(axis.count)
    ]


def small_instructions(window: WindowShape, stripe: int, rounding: int) -> int:
    """Instructions of a whole depthwise convolution through interleaved columns, in stripes of pixels."""
    batch, height, width, channels = window.result
    blocks, pixel = _blocks(channels, CHUNK), _small_pixel(channels, rounding)
    row = 60
    for left in range(0, width, stripe):
        pixels = min(stripe, width - left)
        columns = columns_of(window, pixels)
        row += 130 + blocks * (60 + 12 * columns) + pixel * pixels
    return 100 + batch * height * row


def _small_pixel(channels: int, rounding: int) -> int:
    """Instructions of one pixel from interleaved columns: blocks of 16 channels, eights of these, fours of
    what is left."""
    is_short = rounding in (CLAMPED, EVEN)
    eights, left = divmod(channels, 8)
    fours = _blocks(left, 4)
    instructions = 9 * _blocks(channels, CHUNK) + eights * (45 if is_short else 49)
    return instructions + (fours > 0) * 2 + fours * (29 if is_short else 31)


def in_place_instructions(window: WindowShape, rounding: int) -> int:
    """Instructions of a whole depthwise convolution that replaces its image, sixteen channels at a time."""
    batch, height, width, channels = window.result
    columns = width + (window.window[1] - 1) * window.dilation[1]
    early = window.window[0] - 1 - window.padding.top
    block = 100 + 8 * columns + (height + early) * (18 + 12 * width) + height * 26
    pixels = height * width * _small_pixel(channels, rounding)
    return 60 + batch * (_blocks(channels, CHUNK) * block + pixels)
