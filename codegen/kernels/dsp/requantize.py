"""When the five-instruction requantization is exact, and the numbers it takes.

SMMULR; ADD x, x, x ASR 31; ASRS x, s; ADC x, zero; SSAT #8 on twice the accumulator rounds twice as TFLite
does: SMMULR of 2a and m is round(a * m / 2^31); adding the sign and then the bit shifted out last rounds
halves away from zero. It needs |2a| < 2^31, 1 <= s <= 31, and int8's whole range as the activation's.
"""

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.ir.ops import Activation
from codegen.ir.ops.base.parameters import activation_range
from codegen.kernels.base.weighted import DEPTHWISE

ACCUMULATOR_LIMIT = 2**30
"""Accumulators must stay below, for they are doubled."""


def channel_multipliers(let: Let) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(multipliers, shifts) of every channel of a convolution's result; raises ValueError if out of range."""
    multipliers, shifts = DEPTHWISE.scaling(let)
    channels = let.var.type.shape[-1]
    return np.broadcast_to(multipliers, channels), np.broadcast_to(shifts, channels)


def long_reason(let: Let, activation: Activation) -> str | None:
    """Why a convolution's requantization takes more than five instructions, as far as types tell."""
    if activation_range(activation, let.var.type) != (-128, 127):
        return "its activation clamps to less than int8"
    multipliers, shifts = channel_multipliers(let)
    if bool(((shifts > -1) & (multipliers != 0)).any()):
        return "a channel's scale is not below one half"
    return None


def right_shifts(multipliers: NDArray[np.int32], shifts: NDArray[np.int32]) -> NDArray[np.int32]:
    """The shift `s` of every channel; where the multiplier is 0 any does."""
    return np.where(multipliers == 0, 1, -shifts).astype(np.int32)


def folded_bias(
    bias: NDArray[np.int64], weights: NDArray[np.int64], zero_point: int
) -> NDArray[np.int64] | None:
    """Bias with the image's zero point folded in, if no accumulator leaves +-`ACCUMULATOR_LIMIT`, else None.

    `weights`: [channel, tap]. Images hold -128 to 127.
    """
    folded = bias - zero_point * weights.sum(axis=1)
    high = folded + np.maximum(weights * 127, weights * -128).sum(axis=1)
    low = folded + np.minimum(weights * 127, weights * -128).sum(axis=1)
    fits = bool((high < ACCUMULATOR_LIMIT).all() and (low > -ACCUMULATOR_LIMIT).all())
    return folded if fits and bool((np.abs(folded) < ACCUMULATOR_LIMIT).all()) else None
