"""Sizes of tiles: matrices in integers, orders in the stream, extents of a block. Source: Lavin and Gray,
Fast Algorithms for Convolutional Neural Networks, arXiv 1509.09308.

Transforms and layouts are stated in runtime_c/include/cg_winograd_dsp.h.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.kernels.base.window import WindowShape
from codegen.kernels.dsp.packing import GROUP, groups

Matrix = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Tile:
    """F(rows x rows, 3x3). Both matrices are G times powers of two, or 6, that the sums are divided by."""

    rows: int
    """Rows of results, and columns; a block is two tiles side by side."""
    down: Matrix
    across: Matrix
    row_order: tuple[int, ...]
    """Order of the rows of U in the stream."""
    column_order: tuple[int, ...]
    scratch_bytes: int
    """Bytes of the workspace for sums and results of a block."""

    @property
    def columns(self) -> int:
        """Columns of a block of results."""
        return 2 * self.rows

    @property
    def pixels_bytes(self) -> int:
        """Bytes of a block's transformed pixels for a channel."""
        return 4 * len(self.row_order) ** 2

    def workspace_bytes(self, window: WindowShape) -> int:
        """Bytes of a block's transformed pixels, of sums, and of a patch of pixels that are no whole
        words."""
        wide = GROUP * groups(window.image[3])
        patch = 0 if window.image[3] % GROUP == 0 else (self.rows + 2) * (self.columns + 2) * wide
        return self.pixels_bytes * wide + self.scratch_bytes + patch


def narrow_workspace_bytes(window: WindowShape, tile: Tile) -> int:
    """Workspace where each band of rows transforms the weights: those of four channels, a band's pixels, an
    edge or a patch."""
    wide = GROUP * groups(window.image[3])
    blocks = -(-window.result[2] // tile.columns)
    edge = (tile.columns + 2) * (1 if window.image[3] % GROUP == 0 else tile.rows + 2)
    return 48 + (128 + tile.pixels_bytes * blocks + edge) * wide


def _matrix(rows: Sequence[Sequence[int]]) -> Matrix:
    return np.array(rows, np.int64)


F2 = Tile(
    rows=2,
    # Row 3 is negated, so that it is added.
    down=_matrix(((2, 0, 0), (1, 1, 1), (1, -1, 1), (0, 0, -2))),
    across=_matrix(((1, 0, 0), (1, 1, 1), (1, -1, 1), (0, 0, 1))),
    row_order=(1, 2, 3, 0),
    column_order=(1, 2, 0, 3),
    scratch_bytes=0,
)
"""Tile of 2x2 results. G is doubled down: results come out doubled. Across, sums halve the middle."""

_G4 = _matrix(((6, 0, 0), (1, 1, 1), (1, -1, 1), (1, 2, 4), (1, -2, 4), (0, 0, 6)))
F4 = Tile(
    rows=4,
    down=_G4,
    across=_G4,
    row_order=(1, 2, 3, 4, 5, 0),
    column_order=(1, 2, 3, 4, 5, 0),
    scratch_bytes=4 * (6 * 4 * 8 + 32),
)
"""Tile of 4x4 results. They come out 9 * 2^k times: a product with 1/9 modulo 2^32 and a shift undo it."""
