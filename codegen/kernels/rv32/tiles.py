"""Pixels that RV32 convolutions compute together: six, and three or fewer at the end."""

from codegen.kernels.base.tiles import PixelTiling, row_tiles
from codegen.kernels.base.window import WindowShape

TILE, HALF = 6, 3


def tiling_of(window: WindowShape) -> PixelTiling:
    """Tiles of an image, or of all where only pixels are read: they run on from row to row."""
    batch, height, width, _ = window.result
    if window.is_pointwise:
        return PixelTiling(rows=1, tiles=_tiles(batch * height * width), is_one_row=True)
    return PixelTiling(rows=batch, tiles=_tiles(height * width))


def _tiles(pixels: int) -> tuple[int, ...]:
    return (TILE,) * (pixels // TILE) + row_tiles(pixels % TILE, HALF)


def computed_pixels(pixels: int) -> int:
    """Pixels that a tile of so many computes."""
    return TILE if pixels == TILE else HALF


def side_by_side(width: int) -> tuple[int, ...]:
    """Pixels that each tile of a row computes, which ends with it: of four or five pixels that are left the
    last six once more, if the row has so many."""
    most = TILE if width >= TILE else HALF
    whole, left = divmod(width, most)
    if not left:
        return (most,) * whole
    return (*(most,) * whole, TILE if left > HALF else HALF)
