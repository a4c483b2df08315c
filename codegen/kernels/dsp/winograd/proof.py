"""Proof by layer, from its weights and biases, that every sum of Winograd's kernels has the bits that it
needs, whatever the pixels are."""

import numpy as np
from numpy.typing import NDArray

from codegen.kernels.dsp.packing import ACCUMULATOR_LIMIT, Channels
from codegen.kernels.dsp.winograd.filters import transformed
from codegen.kernels.dsp.winograd.tiles import F2, Tile

MOST_PIXEL = 512
"""Largest value of a pixel transformed for F(2x2): four int8 values with signs."""
PRODUCTS_LIMIT = 2**25
"""Limit of sums of products of F(4x4): 64 times them have 32 bits."""


def fits(channels: Channels, inputs: int, tile: Tile) -> bool:
    """True if results are exact. Sums that are only added may wrap.

    F(2x2): accumulators stay below 2^30, for results are doubled. Of a result row the sums of columns 1 and 2
    are added before the half is taken: of its rows of U each times `MOST_PIXEL` at most, and 4 * bias.

    F(4x4): 64 times the sum of products is shifted; the bias is added behind that. At most 227 channels do
    with any weights: 9 * 227 * 2^14 < 2^25.
    """
    low, high = _extremes(channels)
    if tile.rows == 4:
        return _within(low, high, PRODUCTS_LIMIT)
    bias = channels.bias.astype(np.int64)
    if not _within(bias + low, np.abs(bias) + high, ACCUMULATOR_LIMIT):
        return False
    middle = np.abs(transformed(channels.weights, inputs, F2)[:, :, 1:3]).sum(axis=(2, 3))
    rows = np.maximum(middle[:, :3].sum(axis=1), middle[:, 1:].sum(axis=1))
    return bool((MOST_PIXEL * rows + 4 * np.abs(bias) < 2**31).all())


def _extremes(channels: Channels) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The least and the largest sum of products of each channel."""
    weights = channels.weights.astype(np.int64)
    low, high = weights * -128, weights * 127
    return np.minimum(low, high).sum(axis=1), np.maximum(low, high).sum(axis=1)


def _within(low: NDArray[np.int64], high: NDArray[np.int64], limit: int) -> bool:
    return bool((high < limit).all() and (low > -limit).all())
