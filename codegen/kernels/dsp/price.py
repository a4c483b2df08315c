"""Instructions of the DSP convolutions: counted in the assembly, fitted to measurements in what is C.

Assembly runs a known number of instructions for each tile, pair of channels and group of values
(runtime_c/kernels/tile{4,2,1}_s8_dsp.S, gather{4,}_s8_dsp.S). Constants of the C around it were fitted to
single layers measured on QEMU, gcc 12 -O3.
"""

from codegen.kernels.base.tiles import TiledPrice, patch_line_bytes
from codegen.kernels.base.window import WindowShape
from codegen.kernels.dsp.packing import Channels, groups, long_channels
from codegen.kernels.dsp.tiles import dsp_tiling, reads_words

UNROLL = 4
"""Groups in a turn of an inner loop."""
LAYER, ROW, TILE, POINTWISE_TILE = 150, 95, 52, 20
"""Instructions in C for each call, row, tile, and tile where all pixels are one row."""
FURTHER_CALL = 65
"""Instructions in C for each call but the first of a fully connected layer by groups of outputs."""
RUN, TAP, PATCH_LINE, PATCH_BYTE = 22, 75, 45, 4
"""Instructions in C for each run of taps, tap of a tile in the padding, line and byte of a patch."""
LONG_CHANNEL, LONG_RESULT = 25, 22
"""Instructions for each channel of a tile and each result that are requantized the long way, beyond the short
one."""
EVEN_CHANNEL = {1: 3, 2: 3, 4: 5}
"""Instructions for each channel of a tile of so many pixels that is rounded as ONNX does, beyond the short
way."""
LONG_EVEN_CHANNEL, LONG_EVEN_RESULT = 9, 23
"""Long requantization that rounds to even: for each channel of a tile and each result, beyond
`EVEN_CHANNEL`."""


SUM, SUMMED_WORD = 120, 25 / 4
"""Instructions for each pixel whose values are summed, and each word of two values of it."""


def conv_instructions(
    window: WindowShape, channels: Channels, most: int, *, kind: str = "plain", summed_words: int = 0
) -> int:
    """Predicted instructions of one convolution in tiles of `most` pixels. `summed_words`: words of two
    values that are summed for each pixel."""
    length, outputs = groups(window.image[3]), channels.outputs
    summing = SUM + int(SUMMED_WORD * summed_words) if summed_words else 0
    price = TiledPrice(
        layer=LAYER,
        row=ROW,
        tile=TILE,
        products=lambda pixels: (
            _TILES[kind](channels, outputs, pixels) + summing * (4 if pixels > 2 else pixels)
        ),
        pointwise=lambda pixels: POINTWISE_TILE + _widened(pixels, length),
        inner=lambda pixels: _inner(window, pixels),
        edge=lambda pixels: _edge(window, pixels, most),
    )
    return price.instructions(window, dsp_tiling(window, most))


def row_instructions(channels: Channels, *, is_narrow: bool, kind: str = "plain") -> int:
    """Predicted instructions of one row of a fully connected layer; `is_narrow`: widened for each pair."""
    outputs, inputs = channels.outputs, channels.values
    length = groups(inputs)
    if is_narrow:
        return LAYER + _TILES[kind](channels, outputs, 1) + 2 * length * (outputs - outputs // 2)
    widening = 8 * length if inputs % 4 == 0 else 12 * 4 * length
    return LAYER + widening + _TILES[kind](channels, outputs, 1)


def single_instructions(channels: Channels) -> int:
    """Predicted instructions of one row of a fully connected layer with one output, without a workspace."""
    turns, left = divmod(groups(channels.values), UNROLL)
    return LAYER + 32 + 28 * turns + 10 * left + _long(channels, 1)


def _tile(channels: Channels, outputs: int, count: int) -> int:
    """Instructions of all channels of one widened tile."""
    length = groups(channels.values)
    if count > 2:
        pair = 59 + 26 * length + 3 * (1 + (length - 1) // UNROLL)
        instructions = 30 + outputs // 2 * pair + (33 + 15 * length) * (outputs % 2)
    elif count == 2:
        pair = 36 + 14 * length + 2 * (1 + length // UNROLL)
        instructions = 27 + outputs // 2 * pair + (19 + 10 * length) * (outputs % 2)
    else:
        pair = 21 + 9 * length + 2 * (length % 2) + 2 * (1 + length // (2 * UNROLL))
        instructions = 32 + outputs // 2 * pair + (12 + 8 * length) * (outputs % 2)
    pixels = 4 if count > 2 else count
    rounding = EVEN_CHANNEL[pixels] if channels.rounds_even else 0
    return instructions + outputs * rounding + _halves(channels, outputs, pixels) + _long(channels, pixels)


def _joined_tile(channels: Channels, outputs: int, count: int) -> int:
    """Instructions of a tile as in `_tile`, by a joined stream: one fewer a word of weights, two more a
    result of a pair."""
    length = groups(channels.values)
    return _tile(channels, outputs, count) + outputs // 2 * 2 * ((4 if count > 2 else count) - length)


def _int4_tile(channels: Channels, outputs: int, count: int) -> int:
    """Instructions of a tile as in `_tile`, by int4 weights; the values of the tile are summed first."""
    length = groups(channels.values)
    if count > 2:
        head, pair = 41 + 12 * length, 74 + 26 * length + 3 * (1 + (length - 1) // UNROLL)
    elif count == 2:
        head, pair = 34 + 7 * length, 45 + 14 * length + 2 * (1 + length // UNROLL)
    else:
        pair = 27 + 9 * length + 2 * (length % 2) + 2 * (1 + length // (2 * UNROLL))
        head = 37 + 5 * length
    pixels = 4 if count > 2 else count
    even = outputs + outputs % 2
    return head + even // 2 * pair + _halves(channels, even, pixels) + _long(channels, pixels)


def _halves(channels: Channels, outputs: int, pixels: int) -> int:
    """Instructions to ask whether halves of negative sums count: a branch, minus the steps that it saves."""
    if channels.rounds_even or pixels == 1:
        return 0
    pairs, odd = divmod(outputs, 2)
    asked = pairs + (odd if pixels == 4 else 0)
    saved = (2 * pairs + (odd if pixels == 4 else 0)) * pixels if channels.ends_at_zero else 0
    return asked - saved


_TILES = {"plain": _tile, "joined": _joined_tile, "int4": _int4_tile}
"""Instructions of all channels of a widened tile, by the kind of weights."""


def _long(channels: Channels, pixels: int) -> int:
    if channels.rounds_even:
        return long_channels(channels) * (LONG_EVEN_CHANNEL + LONG_EVEN_RESULT * pixels)
    return long_channels(channels) * (LONG_CHANNEL + LONG_RESULT * pixels)


def _widened(count: int, length: int) -> int:
    """Instructions of one call that widens `length` groups of each pixel, by words."""
    return (12 + 15 * length, 7 + 8 * length, 7 + 9 * length)[count if count < 3 else 0]


def _widened_bytes(count: int, length: int) -> int:
    return 20 + 32 * length if count > 2 else count * (20 + 15 * length)


def _inner(window: WindowShape, count: int) -> int:
    """Instructions to make a tile ready whose windows lie inside the image."""
    values = window.window[0] * window.window[1] * window.image[3]
    if not reads_words(window):
        return _widened_bytes(count, groups(values))
    runs = window.window[0] * (1 if window.dilation[1] == 1 else window.window[1])
    return runs * (RUN + _widened(count, values // runs // 4))


def _edge(window: WindowShape, count: int, most: int) -> int:
    """Instructions to make a tile ready of which a window reaches into the padding."""
    lines, taps = window.window
    if reads_words(window):
        length = window.image[3] // 4
        tap = 14 + 15 * length if count > 2 else count * (10 + 8 * length)
        return lines * taps * (TAP + tap)
    patch = lines * (PATCH_LINE + PATCH_BYTE * patch_line_bytes(window, min(count, most)))
    return patch + _widened_bytes(count, groups(lines * taps * window.image[3]))
