"""Weights as Winograd's kernel streams them, transformed at build time; whether every sum fits.

Transforms and layout are stated in runtime_c/include/cg_winograd_dsp.h.
"""

import numpy as np
from numpy.typing import NDArray

from codegen.kernels.dsp.packing import (
    ACCUMULATOR_LIMIT,
    GROUP,
    HALVES_UP,
    LONG,
    Channels,
    groups,
    shift_codes,
)

DOWN = np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]])
ACROSS = np.array([[1, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 1]])
"""G, doubled down: results come out doubled. Across, the half of the middle is left to the sums."""
_ROWS, _COLUMNS = (1, 2, 3, 0), (1, 2, 0, 3)
"""Order in the stream; row 3 is negated, so that it is added."""
MOST_PIXEL = 512
"""Of a transformed pixel: four int8 values with signs."""


def transformed(weights: NDArray[np.int8], inputs: int) -> NDArray[np.int64]:
    """U as [O, row, column, C] of weights [O, 9 * C]."""
    window = weights.reshape(len(weights), 3, 3, inputs).astype(np.int64)
    return np.einsum("ia,jb,oabc->oijc", DOWN, ACROSS, window)


def fits(channels: Channels, inputs: int) -> bool:
    """Whether every sum that is halved or requantized has 32 bits, whatever the pixels are.

    Accumulators stay below 2^30, for results are doubled. Of a result row the sums of columns 1 and 2 are
    added before the half is taken: of its rows of U each times `MOST_PIXEL` at most, and 4 * bias. All other
    sums may wrap.
    """
    weights = channels.weights.astype(np.int64)
    bias = channels.bias.astype(np.int64)
    largest = np.abs(bias) + (np.maximum(weights * 127, weights * -128)).sum(axis=1)
    lowest = bias + np.minimum(weights * 127, weights * -128).sum(axis=1)
    if (largest >= ACCUMULATOR_LIMIT).any() or (lowest <= -ACCUMULATOR_LIMIT).any():
        return False
    middle = np.abs(transformed(channels.weights, inputs)[:, :, 1:3]).sum(axis=(2, 3))
    rows = np.maximum(middle[:, :3].sum(axis=1), middle[:, 1:].sum(axis=1))
    return bool((MOST_PIXEL * rows + 4 * np.abs(bias) < 2**31).all())


def stream(channels: Channels, inputs: int) -> NDArray[np.int32]:
    """All result channels in groups of four, zeros behind the last one and behind the last input."""
    count, wide = len(channels.weights), GROUP * groups(inputs)
    filled = GROUP * groups(count)
    dead = channels.multipliers == 0
    weights = np.zeros((filled, 4, 4, wide), np.int64)
    weights[:count, :, :, :inputs] = transformed(np.where(dead[:, None], 0, channels.weights), inputs)
    weights[:, 3] *= -1
    ordered = weights[:, _ROWS][:, :, _COLUMNS]
    # Group, channel, row, column, four inputs as two pairs of those two apart.
    parts = ordered.reshape(filled // GROUP, GROUP, 4, 4, wide // GROUP, 2, 2)
    pairs = parts.transpose(0, 3, 2, 4, 6, 1, 5).astype("<i2")
    words = np.ascontiguousarray(pairs).reshape(filled // GROUP, -1).view("<i4")
    bias = np.zeros(filled, np.int64)
    bias[:count] = np.where(dead, 0, channels.bias.astype(np.int64) * 4)
    multipliers = np.full(filled, 1 << 30, np.int64)
    multipliers[:count] = np.where(dead, 1 << 30, channels.multipliers)
    codes, is_long = shift_codes(np.where(dead, -1, channels.shifts), channels.is_clamped)
    shifts = np.ones(filled, np.int64)
    shifts[:count] = codes | np.where(is_long, LONG, 0)
    shifts |= HALVES_UP if channels.ends_at_zero else 0
    numbers = np.stack((multipliers, shifts), axis=1).reshape(filled // GROUP, 2 * GROUP)
    found = np.concatenate((bias.reshape(-1, GROUP), words, numbers), axis=1)
    return found.astype(np.int64).astype(np.uint32).view(np.int32).reshape(-1)
