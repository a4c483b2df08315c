"""Instructions of the float kernels: counted in tile_f32_fpu.S and tile_f32_mve.S, fitted in what is C.

Constants of the C around the tiles were fitted to single layers measured on QEMU, gcc 12 -O3.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from codegen.kernels.base.window import WindowShape
from codegen.kernels.fpu.tiles import BLOCK, TILE, spans, taps_inside

LAYER, TILE_CALL, BLOCKS_CALL, SINGLES_CALL = 110, 15, 3, 4
"""Instructions in C for each layer, for each tile, for its blocks of four channels and for channels that make
no block."""
CONV_ROW, CONV_EDGE = 215, 135
"""Instructions in C for each row and each change of the taps inside."""
DEPTHWISE_ROW, DEPTHWISE_EDGE = 195, 90
LOAD_ROW, LOAD_PIXEL = 25, 12
"""Instructions in C to copy four channels of a row, and of each of its pixels."""
LAST_CALL = 6
"""Instructions in C for the last four channels of a depthwise tile, where they are counted back."""


WIDENED, WIDENED_SINGLE = 4, 3
"""To widen a value's weights of four channels, and to load and widen one of a channel alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Taps:
    """Taps of a window that are inside the image: `rows` of `columns` taps."""

    rows: int
    columns: int

    @property
    def ends(self) -> int:
        """1 if a question, whether the ring of rows begins again, follows the last row; 0 without rows."""
        return 1 if self.rows else 0


TileModel = Callable[[int, Taps], int]
"""Instructions of a tile of so many pixels."""


def conv_instructions(window: WindowShape, limits: int, *, is_vector: bool, has_halves: bool = False) -> int:
    """Predicted instructions of one convolution whose activation has `limits` limits.

    `is_vector`: with Helium. `has_halves`: by float16 weights, each widened as it is read.
    """
    blocks, rest = divmod(window.result[3], BLOCK)
    is_dense = window.dilation[1] == 1
    block = _vector_block if is_vector else _block
    by_block = WIDENED * has_halves
    by_single = WIDENED_SINGLE * has_halves

    def tile(pixels: int, taps: Taps) -> int:
        runs = 1 if is_dense else taps.columns
        values = window.image[3] * (taps.columns if is_dense else 1)
        instructions = TILE_CALL
        if blocks:
            one = block(pixels, taps, runs, values, limits) + by_block * taps.rows * runs * values
            instructions += BLOCKS_CALL + 5 + 2 * is_vector + blocks * one
        if rest:
            one = _single(pixels, taps, runs, values, limits) + by_single * taps.rows * runs * values
            instructions += SINGLES_CALL + 5 + rest * one
        return instructions

    return _layer(window, tile, CONV_ROW, CONV_EDGE)


def _block(pixels: int, taps: Taps, runs: int, values: int, limits: int) -> int:
    if pixels == TILE:
        run = 12 + values // 2 * 71 + values % 2 * 37
        return 52 + taps.ends + 65 * limits + taps.rows * (10 + runs * run)
    run = 9 + values // 4 * 37 + values % 4 * 12
    return 24 + taps.ends + 17 * limits + taps.rows * (7 + runs * run)


def _vector_block(pixels: int, taps: Taps, runs: int, values: int, limits: int) -> int:
    if pixels == TILE:
        run = 14 + (values > 1) + values // 2 * 23 + values % 2 * 13
        return 36 + taps.ends + 10 * limits + taps.rows * (10 + runs * run)
    run = 9 + (values > 3) + (values % 4 > 0) + values // 4 * 14 + values % 4 * 5
    return 19 + taps.ends + 4 * limits + taps.rows * (7 + runs * run)


def _single(pixels: int, taps: Taps, runs: int, values: int, limits: int) -> int:
    """Instructions of one channel of those that make no block."""
    if pixels == TILE:
        run = 12 + values // 4 * 39 + values % 4 * 15
        return 34 + taps.ends + 17 * limits + taps.rows * (10 + runs * run)
    run = 9 + values // 4 * 12 + values % 4 * 6
    return 20 + taps.ends + 5 * limits + taps.rows * (7 + runs * run)


def depthwise_instructions(window: WindowShape, limits: int, *, is_vector: bool) -> int:
    """Predicted instructions of one depthwise convolution, parameters as in `conv_instructions`."""
    blocks, rest = divmod(window.result[3], BLOCK)

    def tile(pixels: int, taps: Taps) -> int:
        if is_vector and pixels == TILE:
            block = 38 + taps.ends + 10 * limits + taps.rows * (11 + 18 * taps.columns)
        elif is_vector:
            block = 21 + taps.ends + 4 * limits + taps.rows * (8 + 6 * taps.columns)
        elif pixels == TILE:
            block = 54 + taps.ends + 65 * limits + taps.rows * (10 + 43 * taps.columns)
        else:
            block = 26 + taps.ends + 17 * limits + taps.rows * (7 + 13 * taps.columns)
        call = 5 + 2 * is_vector
        last = LAST_CALL + call + block if rest else 0
        return TILE_CALL + BLOCKS_CALL + call + blocks * block + last

    return _layer(window, tile, DEPTHWISE_ROW, DEPTHWISE_EDGE)


def in_place_instructions(window: WindowShape, limits: int, *, is_vector: bool) -> int:
    """Predicted instructions of one depthwise convolution that replaces its image, as `conv_instructions`."""
    batch, height, width, channels = window.image
    block = replace(window, image=(1, height, width, BLOCK), result=(1, height, width, BLOCK))
    per_block = depthwise_instructions(block, limits, is_vector=is_vector)
    return batch * channels // BLOCK * (per_block + height * (LOAD_ROW + width * LOAD_PIXEL))


def _layer(window: WindowShape, tile: TileModel, row: int, edge: int) -> int:
    """Instructions of all tiles of all rows, and of the C around them."""
    row_spans = spans(window)
    if window.is_pointwise:
        return LAYER + sum(tile(span.stop - span.start, Taps(rows=1, columns=1)) for span in row_spans)
    inner = [span for span in row_spans if span.columns == window.window[1]]
    edges = len(row_spans) - max(0, len(inner) - 1)
    kinds = Counter((span.stop - span.start, span.columns) for span in row_spans)
    total = 0
    for rows, count in Counter(taps_inside(window.axes[0])).items():
        tiles = sum(n * tile(pixels, _taps(rows, columns)) for (pixels, columns), n in kinds.items())
        total += count * (row + edges * edge + tiles)
    return LAYER + window.image[0] * total


def _taps(rows: int, columns: int) -> Taps:
    """Taps inside the image: none where no row or no column is inside."""
    return Taps(rows=rows if columns else 0, columns=columns)
