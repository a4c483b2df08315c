"""Constants as the Helium kernels want them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir.fixed_point import wrap_int32
from codegen.kernels.mve.groups import CHUNK
from codegen.kernels.primfunc import ConstantPointer, CStruct, LinkedConstant

LANES = 16
"""Bytes of a vector."""
PAIR = 2
CLAMPED, NARROW, WIDE = range(3)


@dataclass(frozen=True, kw_only=True, slots=True)
class Channels:
    """All numbers of the output channels of a matrix product."""

    weights: NDArray[np.int8]
    """[O, K], in the order in which the image's values are read."""
    bias: NDArray[np.int64]
    """[O], with the image's zero point folded in."""
    multipliers: NDArray[np.int32]
    """One per channel, or one for all."""
    shifts: NDArray[np.int32]

    def every(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(multipliers, shifts) of every channel."""
        count = len(self.weights)
        return np.broadcast_to(self.multipliers, count), np.broadcast_to(self.shifts, count)


def scaling_of(
    numbers: tuple[NDArray[np.int32], NDArray[np.int32]],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(multipliers, shifts) as given; where a multiplier is 0 any shift does, and one is to the right."""
    multipliers, shifts = numbers
    return multipliers, np.where(multipliers == 0, -1, shifts).astype(np.int32)


def rounding_of(shifts: NDArray[np.int32], out_zero: int, act_min: int) -> int:
    """Which requantisation is exact: `CG_CLAMPED_MVE`, `CG_NARROW_MVE` or `CG_WIDE_MVE`.

    Halves below zero may round either way where everything below zero is clamped.
    """
    if act_min >= out_zero and bool((shifts <= 0).all()):
        return CLAMPED
    return NARROW if bool((shifts < 0).all()) else WIDE


def folded(bias: NDArray[np.int64] | None, weights: NDArray[np.int8], zero_point: int) -> NDArray[np.int64]:
    """[O] bias (or none) of `weights` [O, K] with the image's zero point folded in."""
    sums = weights.sum(axis=1, dtype=np.int64)
    return (0 if bias is None else bias) - zero_point * sums


def product_weights(channels: Channels, group: int) -> LinkedConstant:
    """Groups of `group` channels: biases, weights channel after channel (of pairs: alternating every 16,
    where that comes out even), zeros up to a word; then the rest as groups of one."""
    count = len(channels.weights)
    whole = count // group * group
    starts = [*range(0, whole, group), *range(whole, count)]
    found: list[NDArray[np.int8]] = []
    for start in starts:
        stop = start + (group if start < whole else 1)
        found.append(wrap_int32(channels.bias[start:stop]).astype("<i4").view(np.int8))
        weights = channels.weights[start:stop]
        if group == PAIR and weights.shape[1] % LANES == 0:
            weights = weights.reshape(len(weights), -1, LANES).swapaxes(0, 1)
        found.append(weights.reshape(-1))
        found.append(np.zeros(-found[-1].size % 4, np.int8))
    return LinkedConstant(role="weight", data=np.concatenate(found), alignment=4)


def product_constants(channels: Channels, group: int) -> tuple[LinkedConstant, ...]:
    """Weights, multipliers and shifts of a `cg_product_mve`."""
    multipliers, shifts = channels.multipliers, channels.shifts
    if len(multipliers) == 1:
        # One scale for all: a chunk of them, read again for every chunk.
        multipliers, shifts = np.repeat(multipliers, CHUNK), np.repeat(shifts, CHUNK)
    return (
        product_weights(channels, group),
        LinkedConstant(role="multiplier", data=multipliers.astype(np.int32), alignment=4),
        LinkedConstant(role="shift", data=shifts.astype(np.int8), alignment=1),
    )


def product_struct(channels: Channels, out_zero: int, limits: tuple[int, int]) -> CStruct:
    """The `cg_product_mve` of these channels; `limits` of the activation."""
    return CStruct(
        suffix="product",
        c_type="cg_product_mve",
        fields=(
            ("weight", ConstantPointer(role="weight")),
            ("multiplier", ConstantPointer(role="multiplier")),
            ("shift", ConstantPointer(role="shift")),
            ("channels", channels.weights.shape[0]),
            ("depth", channels.weights.shape[1]),
            ("chunk_step", 0 if len(channels.multipliers) == 1 else CHUNK),
            ("out_zero", out_zero),
            ("act_min", limits[0]),
            ("act_max", limits[1]),
            ("rounding", rounding_of(channels.shifts, out_zero, limits[0])),
        ),
    )


def fits_pairs(weights: NDArray[np.int8]) -> bool:
    """Whether the two products of every pair of taps stay within 16 bits together, whatever the image."""
    odd = weights.shape[1] % 2
    sizes = np.abs(weights[:, odd:].astype(np.int64))
    return bool((128 * (sizes[:, 0::2] + sizes[:, 1::2]) < 1 << 15).all())


_ORDERS = {16: (0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15), 8: (0, 2, 4, 6, 1, 3, 5, 7)}
"""Channels of a block as the lanes of the kernel's sums hold them."""


def depthwise_stream(channels: Channels) -> LinkedConstant:
    """What `cg_depthwise_mve` calls its stream; channels that lack have weights and multipliers of 0."""
    count = len(channels.weights)
    found: list[NDArray[np.int8]] = []
    for start in range(0, count, CHUNK):
        rest = count - start
        found.append(_block(channels, start, min(rest, CHUNK), CHUNK if rest > CHUNK // 2 else CHUNK // 2))
    return LinkedConstant(role="stream", data=np.concatenate(found), alignment=4)


def _block(channels: Channels, start: int, count: int, size: int) -> NDArray[np.int8]:
    """The stream of channels [start, start + count), filled up to `size`."""
    part = slice(start, start + count)
    missing = (0, size - count)
    multipliers, shifts = channels.every()
    order = np.array(_ORDERS[size])
    bias = np.pad(wrap_int32(channels.bias[part]), missing)[order]
    weights = np.pad(channels.weights[part], (missing, (0, 0))).T
    scales = np.pad(multipliers[part], missing)[order].reshape(-1, 4)
    places = np.pad(shifts[part], missing)[order].reshape(-1, 4)
    numbers = np.concatenate((scales.astype("<i4").view(np.int8), places.astype(np.int8)), axis=1)
    return np.concatenate((bias.astype("<i4").view(np.int8), weights.reshape(-1), numbers.reshape(-1)))


def depthwise_struct(channels: Channels, out_zero: int, limits: tuple[int, int]) -> CStruct:
    """The `cg_depthwise_mve` of these channels; `limits` of the activation."""
    count, taps = channels.weights.shape
    return CStruct(
        suffix="layer",
        c_type="cg_depthwise_mve",
        fields=(
            ("stream", ConstantPointer(role="stream")),
            ("channels", count),
            ("pairs", taps // 2),
            ("odd", taps % 2),
            ("out_zero", out_zero),
            ("act_min", limits[0]),
            ("act_max", limits[1]),
            ("rounding", rounding_of(channels.shifts, out_zero, limits[0])),
        ),
    )


SMALL_ROWS, SMALL_COLUMNS = 3, 4
"""Windows that `cg_depthwise_small_s8_mve` takes, at most."""
_QUAD = 4


def small_stream(channels: Channels, window: tuple[int, int], first: int = 0) -> LinkedConstant:
    """What `cg_depthwise_small_mve` calls its stream, of `window` (rows, columns), the weights of each
    column from byte `first` of its four on."""
    count = len(channels.weights)
    missing = (0, -count % _QUAD)
    multipliers, shifts = channels.every()
    cells = np.zeros((count + missing[1], SMALL_COLUMNS, 4), np.int8)
    weights = channels.weights.reshape(-1, *window).swapaxes(1, 2)
    cells[:count, : window[1], first : first + window[0]] = weights
    parts = (
        np.pad(wrap_int32(channels.bias), missing).astype("<i4").view(np.int8),
        cells,
        np.pad(multipliers, missing).astype("<i4").view(np.int8),
        np.pad(shifts, missing).astype(np.int8),
    )
    quads = (count + missing[1]) // _QUAD
    data = np.concatenate([part.reshape(quads, -1) for part in parts], axis=1)
    return LinkedConstant(role="stream", data=data.reshape(-1), alignment=4)


def small_struct(channels: Channels, out_zero: int, limits: tuple[int, int], stripe: int) -> CStruct:
    """The `cg_depthwise_small_mve` of these channels; `limits` of the activation, pixels of a stripe."""
    return CStruct(
        suffix="layer",
        c_type="cg_depthwise_small_mve",
        fields=(
            ("stream", ConstantPointer(role="stream")),
            ("channels", len(channels.weights)),
            ("out_zero", out_zero),
            ("act_min", limits[0]),
            ("act_max", limits[1]),
            ("rounding", rounding_of(channels.shifts, out_zero, limits[0])),
            ("stripe", stripe),
        ),
    )
