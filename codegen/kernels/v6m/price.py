"""Instructions that the ARMv6-M kernels run: counted in assembly, C around it in fitted constants.

Of four results one is assumed to be saturated and half of those that round apart to be negative.
"""

from itertools import pairwise

from codegen.kernels.base.tiles import TiledPrice, tiling
from codegen.kernels.base.window import WindowShape
from codegen.kernels.v6m.packing import PackedChannels

FURTHER_CALL = 60
"""Instructions in C for each call but the first of a fully connected layer by groups of outputs."""
LAYER, ROW, TILE, POINTWISE_TILE = 150, 150, 70, 60
"""Instructions in C for each call, row, tile, and tile where all pixels are one row."""
RUN, TAP = 55, 100
"""Instructions in C for each run of taps, and tap of a tile in the padding."""
CLEARED = 6
"""Instructions for each word cleared behind a window."""
LONG_CHANNEL, LONG_RESULT = 30, 40
"""Instructions for each channel of a tile and each result that are requantized the long way."""
KINK = 2.4
"""Instructions for each result that may round apart."""


def conv_instructions(window: WindowShape, channels: PackedChannels, most: int) -> int:
    """Predicted instructions of one convolution in tiles of `most` pixels."""
    lines, taps = window.window
    values = lines * taps * window.image[3]
    runs = lines * (1 if window.dilation[1] == 1 else taps)
    price = TiledPrice(
        layer=LAYER,
        row=ROW,
        tile=TILE,
        products=lambda pixels: _tile(channels, values, pixels),
        pointwise=lambda pixels: POINTWISE_TILE + _paired(pixels, values),
        inner=lambda pixels: runs * (RUN + _paired(pixels, values // runs)),
        edge=lambda pixels: lines * taps * (TAP + _paired(pixels, window.image[3])),
    )
    return price.instructions(window, tiling(window, most))


def _paired(count: int, values: int) -> int:
    """Instructions of one call that pairs `values` bytes of each pixel."""
    return 10 + (13 if count > 2 else 8) * values


def _tile(channels: PackedChannels, values: int, count: int) -> float:
    """Instructions of all channels of one paired tile."""
    outputs, row = channels.weights.shape
    pixels = 4 if count > 2 else 2
    group = 39 if pixels == 4 else 24
    channel = (31 if pixels == 4 else 28) + group * row // 4 + pixels * 12 + pixels // 2 * 2
    instructions = 42 + outputs * channel + CLEARED * (pixels // 2) * (row - values)
    instructions += KINK * pixels * channels.kinked
    return instructions + channels.long * (LONG_CHANNEL + LONG_RESULT * pixels)


DW_LAYER, DW_BAND, DW_CHANNEL, DW_PART = 300, 120, 25, 100
"""Instructions in C for each call, band of two rows, channel of it, and run of a row of taps."""
DW_FOUND, DW_MOVED = 190, 45
"""Instructions in C for each channel and band of one in place, and row of taps that is paired: its pixels are
found, or known to lie two rows below the last ones. Between what gcc 12 and gcc 14 need, which keep other
values in registers: about 10 instructions apart."""
FILLED = 4
"""Instructions for each word of lines filled once."""


def depthwise_instructions(window: WindowShape, channels: PackedChannels) -> int:
    """Predicted instructions of one depthwise convolution."""
    batch, _, width, depth = window.image
    outputs, row = channels.weights.shape
    rows, taps = window.window[0], window.window[0] * window.window[1]
    down, across = window.axes
    bands = batch * -(-down.count // 2)
    lines = (across.count - 1) * window.stride[1] + window.window[1]
    inside = min(width, lines - window.padding.left)
    pairing = 13 + rows * (9 + 10 * inside)
    instructions = DW_LAYER + FILLED * (lines * rows)
    instructions += bands * (DW_BAND + DW_PART * rows + depth * (DW_CHANNEL + pairing))
    product = 39 if taps == 9 else 10 * ((taps + 1) // 2)
    channel = 64 + 10 * (row // 4) + (36 + product) * across.count
    total = instructions + bands * outputs * channel
    total += bands * across.count * 2 * KINK * channels.kinked
    return round(total + bands * across.count * channels.long * 2 * LONG_RESULT)


def depthwise_in_place_instructions(window: WindowShape, channels: PackedChannels) -> int:
    """Predicted instructions of one depthwise convolution that replaces its image."""
    batch, height, width, depth = window.image
    rows = window.window[0]
    lines = width - 1 + window.window[1]
    bands = -(-height // 2)
    kept = max(rows - 2, 0)
    moved = _moved_bands(window, kept)
    # Beyond a depthwise convolution apart from its image: runs are found for each channel and band. Below an
    # image's first band rows of taps are moved, not paired again.
    found_runs = rows + (bands - 1 - moved) * (rows - kept)
    runs = DW_FOUND * found_runs + DW_MOVED * moved * (rows - kept)
    apart = batch * (runs + (bands - 1) * kept * (5 * lines - (9 + 10 * width)))
    once = batch * bands * (DW_BAND + DW_PART * rows)
    alone = batch * depth * (height % 2) * 8 * lines * rows
    return depthwise_instructions(window, channels) - once + depth * apart + alone


def _moved_bands(window: WindowShape, kept: int) -> int:
    """Bands of an image whose rows of taps from `kept` on lie in the image as those of the band above."""
    height, rows, top = window.image[1], window.window[0], window.padding.top
    inside = [y + kept >= top and y + rows - top < height for y in range(0, height, 2)]
    # The first band pairs all rows of taps where some are kept from then on.
    inside[0] = inside[0] and not kept
    return sum(last and this for last, this in pairwise(inside))


def fully_connected_instructions(channels: PackedChannels, inputs: int) -> int:
    """Predicted instructions of one row of a fully connected layer."""
    outputs = len(channels.biases)
    group = 70 + 68 * (inputs // 4) + 20 * (inputs % 4)
    instructions = 60 + -(-outputs // 4) * group + 28 * outputs
    return instructions + LONG_RESULT * channels.long
