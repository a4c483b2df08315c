"""Pixels that convolutions compute together, in tiles of a row: which, overlap, the price."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.kernels.base.overlap import NOTHING, first_reads
from codegen.kernels.base.window import WindowShape


@dataclass(frozen=True, kw_only=True, slots=True)
class PixelTiling:
    """`rows` of results, each in tiles of so many pixels."""

    rows: int
    tiles: tuple[int, ...]
    is_one_row: bool = False
    """All pixels of all images are one row: results stand in for image pixels one by one."""

    @property
    def count(self) -> int:
        """Tiles in one inference."""
        return self.rows * len(self.tiles)


def row_tiles(pixels: int, most: int) -> tuple[int, ...]:
    """Pixels of each tile of a row of `pixels`."""
    return tuple(min(most, pixels - start) for start in range(0, pixels, most))


def tiling(window: WindowShape, most: int, *, joins_rows: bool = True) -> PixelTiling:
    """Tiles of at most `most` pixels; `joins_rows`: where only pixels are read, all are one row."""
    batch, height, width, _ = window.result
    if joins_rows and window.is_pointwise:
        return PixelTiling(rows=1, tiles=row_tiles(batch * height * width, most), is_one_row=True)
    return PixelTiling(rows=batch * height, tiles=row_tiles(width, most))


def tiled_below(window: WindowShape, pixel_tiles: PixelTiling) -> int | None:
    """Least safe distance in elements from the start of the result up to the start of the image, where the
    windows of a tile are read before its first result is written; None: any overlap is safe.

    See `row_major_below`, whose tiles are single pixels, read once more for every channel.
    """
    reads = first_reads(window)
    later = np.append(np.minimum.accumulate(reads[::-1])[::-1], NOTHING)
    ends = np.cumsum(np.tile(np.array(pixel_tiles.tiles, np.int64), pixel_tiles.rows))
    bounds = ends * window.result[3] - later[ends]
    bounds = bounds[later[ends] != NOTHING]
    return int(bounds.max()) if bounds.size else None


def patch_line_bytes(window: WindowShape, pixels: int) -> int:
    """Bytes of a line that the windows of `pixels` cover; in C `cg_patch_line_dsp` and
    `cg_patch_line_v7m`."""
    columns = (pixels - 1) * window.stride[1] + (window.window[1] - 1) * window.dilation[1] + 1
    return columns * window.image[3]


TilePrice = Callable[[int], float]
"""Instructions for a tile of so many pixels."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TiledPrice:
    """Instructions of a convolution: in C for each call, row and tile; for each tile by its pixels."""

    layer: int
    row: int
    tile: int
    products: TilePrice
    """Instructions of all channels of a tile whose values are ready."""
    pointwise: TilePrice
    """Instructions to make the values of a tile ready where all pixels are one row, with the C around it."""
    inner: TilePrice
    """Instructions to make the values of a tile ready whose windows lie inside the image."""
    edge: TilePrice
    """Instructions to make the values of a tile ready of which a window reaches into the padding."""

    def instructions(self, window: WindowShape, pixel_tiles: PixelTiling) -> int:
        """Predicted instructions of one inference."""
        total = self.layer + pixel_tiles.rows * _sum(self.products, pixel_tiles.tiles)
        if pixel_tiles.is_one_row:
            return round(total + _sum(self.pointwise, pixel_tiles.tiles))
        down, across = window.axes
        inner_rows = sum(down.is_inside) * window.image[0]
        start = 0
        for pixels in pixel_tiles.tiles:
            edge = self.edge(pixels)
            inside = all(across.is_inside[start : start + pixels])
            total += inner_rows * (self.inner(pixels) if inside else edge)
            total += (pixel_tiles.rows - inner_rows) * edge
            start += pixels
        return round(total + pixel_tiles.rows * (self.row + self.tile * len(pixel_tiles.tiles)))


def _sum(price: TilePrice, tiles: Sequence[int]) -> float:
    return sum(price(pixels) * tiles.count(pixels) for pixels in sorted(set(tiles)))
