"""Instructions of the int16 kernels on the DSP extension: counted in the assembly (tile_s16_dsp.S), fitted to
single layers measured on QEMU (gcc 12 -O3) for the C that copies windows (conv2d_s16_dsp.c)."""

from dataclasses import dataclass

from codegen.kernels.window import WindowShape

LAYER, ROW, PIXEL, TILE = 60, 45, 40, 25
"""In C for each call, row of results, window copied, and tile."""
TAP_ROW, RUN, WORD, CLEARED = 20, 14, 4, 3
"""In C for each row of a window, run of words, word copied, and word of padding."""
ODD_TAP, ODD_VALUE = 12, 11
"""In C for each tap and value of an image with an odd number of channels."""
FULLY_CONNECTED_ROW = 12
"""In C for each row of a FULLY_CONNECTED."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """What the assembly's loops depend on."""

    channels: int
    values: int
    """Weights of a channel."""
    is_clamped: bool


def tiles(pixels: int) -> tuple[int, ...]:
    """Pixels of each tile of a row: fours, then three together or single ones."""
    rest = pixels % 4
    return (4,) * (pixels // 4) + ((3,) if rest == 3 else (1,) * rest)


def _pairs(layer: Layer) -> tuple[int, int, int, int]:
    """(pairs of channels, turns of four words, words left, 1 if the last pair has one channel)."""
    words = (layer.values + 1) // 2
    return (layer.channels + 1) // 2, words // 4, words % 4, layer.channels % 2


def _four(layer: Layer) -> int:
    """All channels of a tile of four pixels."""
    pairs, turns, rest, odd = _pairs(layer)
    pair = 10 + 55 * turns + 3 + 16 * rest + 30 + (50 if layer.is_clamped else 8) + 16
    return 15 + pairs * pair - 8 + 8 - 4 * odd


def _one(layer: Layer) -> int:
    """All channels of one pixel."""
    pairs, turns, rest, odd = _pairs(layer)
    pair = 4 + 20 * turns + 3 + 8 * rest + 11 + (14 if layer.is_clamped else 2) + 10
    return 12 + pairs * pair - 5 + 5 - odd


def rows_instructions(rows: int, layer: Layer) -> int:
    """Of one FULLY_CONNECTED, row by row."""
    return LAYER // 2 + rows * (FULLY_CONNECTED_ROW + _one(layer))


def conv_instructions(window: WindowShape, layer: Layer) -> int:
    """Of one convolution."""
    row = tiles(window.result[2])
    copies = [sum(4 if size > 1 else 1 for size in row)]
    rows = window.result[0] * window.result[1]
    computed = sum(TILE + (_four(layer) if size > 1 else _one(layer)) for size in row)
    return LAYER + rows * (ROW + computed + copies[0] * PIXEL) + _copied(window)


def _columns(window: WindowShape) -> list[int]:
    """The result columns whose windows are copied, in order: the third of three twice."""
    found: list[int] = []
    start = 0
    for size in tiles(window.result[2]):
        found += range(start, start + size)
        if size == 3:
            found.append(start + 2)
        start += size
    return found


def _copied(window: WindowShape) -> int:
    """Rows of taps of all windows."""
    down, across = window.axes
    channels = window.image[3]
    total = 0
    for y in range(down.count):
        first_row, end_row = down.span(y, y + 1)
        for x in _columns(window):
            first, end = across.span(x, x + 1)
            inner = _tap_rows(first_row, end_row, down.dilation) if first < end else 0
            taps = -(-(end - first) // across.dilation) if first < end else 0
            total += _window(window, inner, taps, channels)
    return total * window.result[0]


def _tap_rows(first: int, end: int, dilation: int) -> int:
    return -(-(end - first) // dilation) if first < end else 0


def _window(window: WindowShape, rows: int, taps: int, channels: int) -> int:
    """One window, `rows` rows of `taps` taps of which are inside the image."""
    height, width = window.window
    if channels % 2:
        return height * (TAP_ROW + width * (ODD_TAP + ODD_VALUE * channels))
    words = channels // 2
    runs = 1 if window.dilation[1] == 1 else taps
    inside = RUN * runs + WORD * taps * words + CLEARED * (width - taps) * words
    return height * TAP_ROW + rows * inside + (height - rows) * CLEARED * width * words
