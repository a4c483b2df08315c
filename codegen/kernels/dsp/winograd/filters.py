"""Weights as Winograd's kernels stream them, transformed at build time."""

import numpy as np
from numpy.typing import NDArray

from codegen.kernels.dsp.packing import GROUP, HALVES_UP, LONG, Channels, groups, shift_codes
from codegen.kernels.dsp.winograd.tiles import Tile


def transformed(weights: NDArray[np.int8], inputs: int, tile: Tile) -> NDArray[np.int64]:
    """Winograd's transformed filters U [O, row, column, C] of weights [O, 9 * C]."""
    window = weights.reshape(len(weights), 3, 3, inputs).astype(np.int64)
    return np.einsum("ia,jb,oabc->oijc", tile.down, tile.across, window)


def stream(channels: Channels, inputs: int, tile: Tile) -> NDArray[np.int32]:
    """Stream of all result channels in groups of four, zeros behind the last one and behind the last
    input."""
    live = _live(channels)
    words = _pairs(live, inputs, tile)
    bias, multipliers, shifts = _numbers(live)
    if tile.rows == 2:
        numbers = _by_group(multipliers, shifts)
        stream_words = np.concatenate((_by_group(4 * bias), words, numbers), axis=1)
    else:
        stream_words = np.concatenate((words, _by_group(bias, 2 * multipliers, shifts)), axis=1)
    return _int32(stream_words)


def narrow(channels: Channels, inputs: int) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
    """Weights as they are and numbers, for F(2x2) by weights that each call transforms: all result channels
    in groups of four, zeros behind the last one and behind the last input."""
    live = _live(channels)
    count, deep = len(live.weights), groups(inputs)
    weights = np.zeros((GROUP * groups(count), 9, GROUP * deep), np.int8)
    weights[:count, :, :inputs] = live.weights.reshape(count, 9, inputs)
    parts = weights.reshape(-1, GROUP, 9, deep, GROUP).transpose(0, 3, 1, 2, 4)
    bias, multipliers, shifts = _numbers(live)
    codes = (shifts & 0xFF).astype(np.uint8).view("<i4").astype(np.int64)
    numbers = np.concatenate((_by_group(4 * bias), _by_group(multipliers), codes[:, None]), axis=1)
    return np.ascontiguousarray(parts).reshape(-1), _int32(numbers)


def _int32(numbers: NDArray[np.int64]) -> NDArray[np.int32]:
    return numbers.astype(np.int64).astype(np.uint32).view(np.int32).reshape(-1)


def _pairs(channels: Channels, inputs: int, tile: Tile) -> NDArray[np.int64]:
    """The int16 pairs of U, [groups of four channels, words]."""
    count, wide = channels.outputs, GROUP * groups(inputs)
    filled, points = GROUP * groups(count), len(tile.row_order)
    weights = np.zeros((filled, points, points, wide), np.int64)
    weights[:count, :, :, :inputs] = transformed(channels.weights, inputs, tile)
    ordered = weights[:, tile.row_order][:, :, tile.column_order]
    # Group, channel, row, column, four inputs as two pairs of those two apart.
    parts = ordered.reshape(filled // GROUP, GROUP, points, points, wide // GROUP, 2, 2)
    pairs = parts.transpose(0, 3, 2, 4, 6, 1, 5).astype("<i2")
    return np.ascontiguousarray(pairs).reshape(filled // GROUP, -1).view("<i4").astype(np.int64)


def _live(channels: Channels) -> Channels:
    """Channels without weights and bias where the multiplier is 0: it has no form here, and results are the
    same."""
    dead = channels.multipliers == 0
    return Channels(
        weights=np.where(dead[:, None], 0, channels.weights).astype(np.int8),
        bias=np.where(dead, 0, channels.bias).astype(np.int32),
        multipliers=np.where(dead, 1 << 30, channels.multipliers).astype(np.int32),
        shifts=np.where(dead, -1, channels.shifts).astype(np.int32),
        is_clamped=channels.is_clamped,
        ends_at_zero=channels.ends_at_zero,
    )


def _numbers(channels: Channels) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Bias, multiplier and word of shifts of every channel, filled up to whole groups."""
    filled = GROUP * groups(channels.outputs) - channels.outputs
    codes, is_long = shift_codes(channels.shifts, channels.is_clamped)
    shifts = codes.astype(np.int64) | np.where(is_long, LONG, 0)
    return (
        np.pad(channels.bias.astype(np.int64), (0, filled)),
        np.pad(channels.multipliers.astype(np.int64), (0, filled), constant_values=1 << 30),
        np.pad(shifts, (0, filled), constant_values=1) | (HALVES_UP if channels.ends_at_zero else 0),
    )


def _by_group(*numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers of channels, channel by channel, a row for every four."""
    return np.stack(numbers, axis=1).reshape(-1, GROUP * len(numbers))
