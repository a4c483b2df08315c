"""Instructions that the Helium kernels take, counted in their loops and fitted to measurements.

Source: per-step instructions of `codegen validate --board mps3-an547` for the layers of six networks.
"""

from codegen.kernels.base.window import WindowShape
from codegen.kernels.mve.packing import CLAMPED, EVEN, LANES, NARROW, WIDE
from codegen.kernels.mve.pixel_groups import CHUNK
from codegen.kernels.rows import Axis


def _blocks(size: int, block: int) -> int:
    return -(-size // block)


_QUADS_OF_THREE = {CLAMPED: 32, NARROW: 39, WIDE: 48, EVEN: 32}
"""Four channels of three pixels requantized, up to where the next four begin."""
_QUADS_OF_ONE = {CLAMPED: 10, NARROW: 12, WIDE: 17, EVEN: 10}
_BLOCKS_OF_16 = {CLAMPED: 45, NARROW: 53, WIDE: 73, EVEN: 41}
"""Sixteen channels of the depthwise kernel, taps aside."""


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


def few_pixels_instructions(window: WindowShape, rounding: int) -> int:
    """A whole 1x1 convolution, pixel by pixel."""
    batch, height, width, channels = window.result
    return 20 + batch * height * width * (8 + product1_instructions(channels, window.image[3], rounding))


def depthwise_instructions(window: WindowShape, rounding: int) -> int:
    """A whole depthwise convolution: blocks of 16 channels, the last 8 or fewer as a block of 8."""
    batch, height, width, channels = window.result
    taps = window.window[0] * window.window[1]
    pairs, odd = divmod(taps, 2)
    blocks, rest = divmod(channels, CHUNK)
    large = blocks + (rest > CHUNK // 2)
    small = int(0 < rest <= CHUNK // 2)
    block = _BLOCKS_OF_16[rounding]
    pixel = 15 + large * (block + 14 * odd + 23 * pairs) + small * (block // 2 + 8 + 10 * odd + 16 * pairs)
    rows, columns = window.axes
    inside = sum(axis_inside(rows)) * sum(axis_inside(columns))
    edges = height * width - inside
    return batch * (height * width * pixel + edges * (60 + 12 * taps) + height * (90 + 12 * taps))


def axis_inside(axis: Axis) -> list[bool]:
    """Per result: all its taps are inside."""
    return [
        result * axis.stride >= axis.pad and result * axis.stride + axis.reach < axis.extent
        for result in range(axis.count)
    ]


def small_instructions(window: WindowShape, stripe: int, rounding: int) -> int:
    """A whole depthwise convolution through interleaved columns, in stripes of so many pixels."""
    batch, height, width, channels = window.result
    span = (window.window[1] - 1) * window.dilation[1] + 1
    blocks = _blocks(channels, CHUNK)
    quads, quad = _blocks(channels, 4), 25 if rounding in (CLAMPED, EVEN) else 27
    row = 60
    for left in range(0, width, stripe):
        pixels = min(stripe, width - left)
        columns = (pixels - 1) * window.stride[1] + span
        row += 130 + blocks * (50 + 12 * columns + 9 * pixels) + quads * quad * pixels
    return batch * height * row


def in_place_instructions(window: WindowShape, rounding: int) -> int:
    """A whole depthwise convolution that replaces its image, sixteen channels at a time."""
    batch, height, width, channels = window.result
    columns = width + (window.window[1] - 1) * window.dilation[1]
    early = window.window[0] - 1 - window.padding.top
    blocks, quads = _blocks(channels, CHUNK), _blocks(channels, 4)
    block = 100 + 8 * columns + (height + early) * (18 + 12 * width) + height * (20 + 9 * width)
    return 60 + batch * (
        blocks * block + quads * (25 if rounding in (CLAMPED, EVEN) else 27) * height * width
    )
