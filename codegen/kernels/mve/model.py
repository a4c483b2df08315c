"""Instructions that the Helium kernels take, counted in their loops and fitted to measurements.

Source: `codegen run --board mps3-an547` (QEMU, one instruction a tick), 12 layers of different shapes.
"""

from codegen.kernels.mve.groups import CHUNK
from codegen.kernels.rows import Axis
from codegen.kernels.window import WindowShape


def _blocks(size: int, block: int) -> int:
    return -(-size // block)


def product3_instructions(channels: int, depth: int) -> int:
    """One call of `cg_product3_s8_mve`: three pixels."""
    turns = _blocks(depth, 16)
    pairs, odd = divmod(channels, 2)
    sums = pairs * (16 + 12 * turns) + odd * (13 + 8 * turns)
    return 44 + sums + 36 * _blocks(channels, CHUNK) + 30 * _blocks(channels, 4)


def product1_instructions(channels: int, depth: int) -> int:
    """One call of `cg_product1_s8_mve`: one pixel."""
    turns = _blocks(depth, 16)
    fours, rest = divmod(channels, 4)
    sums = fours * (12 + 10 * turns) + rest * (10 + 4 * turns)
    return 38 + sums + 34 * _blocks(channels, CHUNK) + 12 * _blocks(channels, 4)


def window_instructions(window: WindowShape, *, is_copied: bool) -> int:
    """A whole convolution, three pixels at a time, with or without copying windows."""
    batch, height, width, channels = window.result
    rows, columns = window.window
    pixels = batch * height * width
    group = product3_instructions(channels, rows * columns * window.image[3]) + 24
    total = _blocks(pixels, 3) * group
    if is_copied:
        runs = 1 if window.dilation[1] == 1 else columns
        run = 4 + 3 * _blocks(columns // runs * window.image[3], 16)
        total += pixels * (60 + rows * (8 + runs * run))
    return total


def few_pixels_instructions(window: WindowShape) -> int:
    """A whole 1x1 convolution, pixel by pixel."""
    batch, height, width, channels = window.result
    return 10 + batch * height * width * (8 + product1_instructions(channels, window.image[3]))


def depthwise_instructions(window: WindowShape) -> int:
    """A whole depthwise convolution: blocks of 16 channels, the last 8 or fewer as a block of 8."""
    batch, height, width, channels = window.result
    taps = window.window[0] * window.window[1]
    pairs, odd = divmod(taps, 2)
    blocks, rest = divmod(channels, CHUNK)
    large = blocks + (rest > CHUNK // 2)
    small = int(0 < rest <= CHUNK // 2)
    pixel = 20 + large * (52 + 14 * odd + 23 * pairs) + small * (36 + 10 * odd + 16 * pairs)
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


def small_instructions(window: WindowShape, stripe: int) -> int:
    """A whole depthwise convolution through interleaved columns, in stripes of so many pixels."""
    batch, height, width, channels = window.result
    span = (window.window[1] - 1) * window.dilation[1] + 1
    blocks = _blocks(channels, CHUNK)
    quads = _blocks(channels, 4)
    row = 60
    for left in range(0, width, stripe):
        pixels = min(stripe, width - left)
        columns = (pixels - 1) * window.stride[1] + span
        row += 170 + blocks * (60 + 12 * columns + 10 * pixels) + quads * 25 * pixels
    return batch * height * row
