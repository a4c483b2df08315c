"""Instructions of Winograd's kernel: counted in the assembly, fitted to measurements in what is C.

Assembly: runtime_c/kernels/dsp/winograd_parts_s8_dsp.S. What is C was fitted to single layers measured on
QEMU, gcc 12 -O3.
"""

from collections.abc import Iterator

from codegen.kernels.base.window import WindowShape
from codegen.kernels.dsp.packing import Channels, groups, long_channels

ROWS, COLUMNS = 2, 4
"""Of the result, of a block."""
TURNS = 8
"""Of the loop over pairs of channels, unrolled."""
LAYER, BAND, BLOCK = 70, 20, 150
"""In C for each call, two rows, and block."""
PART, PART_PIXEL, PART_VALUE = 25, 6, 5
"""For each group of channels that C stores, with its pixels and their values."""
PATCH_LINE, PATCH_PIXEL, PATCH_VALUE = 20, 16, 9
"""Where pixels are not whole words: for each line of a block, with its pixels and their values."""
LONG_CALL, LONG_RESULT = 40, 22
"""For each channel that is requantized the long way, beyond the short one."""


def instructions(window: WindowShape, channels: Channels) -> int:
    """Of one inference."""
    total = LAYER
    for rows in _parts(window.result[1], ROWS):
        total += BAND
        start = 0
        for columns in _parts(window.result[2], COLUMNS):
            total += BLOCK + _pixels(window, start, columns) + _results(window, channels, rows * columns)
            start += columns
    return window.image[0] * total


def _parts(count: int, most: int) -> Iterator[int]:
    for start in range(0, count, most):
        yield min(most, count - start)


def _pixels(window: WindowShape, start: int, columns: int) -> int:
    """A block's pixels transformed."""
    del columns
    depth = window.image[3]
    length = groups(depth)
    first = start - window.padding.left
    inside = min(window.image[2] - first, COLUMNS + 2) - (first < 0)
    if depth % 4:
        inside = COLUMNS + 2
        patch = PATCH_LINE + (COLUMNS + 2) * (PATCH_PIXEL + 4 * length * PATCH_VALUE)
        return 4 * patch + 32 + 4 * inside + length * (166 + 26 * inside)
    return 32 + 4 * inside + 11 * (COLUMNS + 2 - inside) + length * (166 + 26 * inside)


def _results(window: WindowShape, channels: Channels, pixels: int) -> int:
    """A block's results from transformed pixels."""
    count = len(channels.weights)
    pairs = 2 * groups(window.image[3])
    turns = 11 * (pairs - 1) + 3 * (1 + (pairs - 1) // TURNS) + 1
    passes = 16 * (turns + 16) + 6
    group = 29 + passes + 4 * 34 + 4 * (76 if channels.ends_at_zero else 84)
    if pixels < ROWS * COLUMNS or count % 4:
        group += PART + pixels * PART_PIXEL + 4 * pixels * PART_VALUE
    return 22 + groups(count) * group + long_channels(channels) * (LONG_CALL + 8 * LONG_RESULT)
