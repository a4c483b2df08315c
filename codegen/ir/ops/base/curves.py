"""Curves on int16 by tables: sigmoid and tanh by one of 256 places, SOFTMAX by two of 512.

Sources: TFLite, reference/integer_ops/{logistic,tanh}.h, reference/softmax.h, internal/common.h
(LUTPopulate, LUTLookup), kernels/activations.cc (Prepare).
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from codegen.ir.ops.base.fixed_point import (
    Integers,
    count_leading_zeros,
    multiply_by_quantized_multiplier,
    quantize_multiplier,
    round_half_away_array,
)
from codegen.ir.types import TensorType

_ONE_MORE = (
    *(4, 8, 12, 14, 15, 16, 17, 19, 20, 21, 22, 25, 27, 28, 29, 30, 31, 33, 34, 35, 37, 39, 40, 41, 43, 44),
    *(45, 46, 49, 50, 54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255),
)
"""Places at which TFLite's table of sigmoids is one above the rounded number."""


@lru_cache(maxsize=1)
def sigmoid_table() -> NDArray[np.uint16]:
    """TFLite's 2^16 / (1 + exp(-i / 24)), not rounded to the nearest everywhere."""
    exact = 65536.0 / (1.0 + np.exp(-np.arange(256) / 24.0))
    table = np.floor(exact + 0.5).astype(np.int64)
    table[list(_ONE_MORE)] += 1
    return table.astype(np.uint16)


def _looked_up(scaled: Integers, bits: int) -> tuple[Integers, Integers]:
    """The table's value, interpolated between neighbours that are 2^bits apart, for magnitudes."""
    table = sigmoid_table().astype(np.int64)
    size = np.abs(scaled)
    place = np.minimum(size >> bits, 254)
    low, high = table[place], table[place + 1]
    between = (low << bits) + (size & ((1 << bits) - 1)) * (high - low)
    return size >> bits, between


def sigmoid(scaled: Integers) -> Integers:
    """Sigmoids in units of 2^-15 of numbers in units of 2^-12 / 3."""
    place, curve = _looked_up(scaled, 9)
    curve = np.where(place >= 255, 0x7FFF << 10, curve)
    return np.where(scaled >= 0, curve + (1 << 9), (1 << 25) - curve + (1 << 9) - 1) >> 10


def tanh(scaled: Integers) -> Integers:
    """Hyperbolic tangents in units of 2^-15 of numbers in units of 2^-12 / 3."""
    place, curve = _looked_up(scaled, 8)
    curve = np.where(place >= 255, 0xFFFF << 8, curve)
    half = 1 << 23
    return np.where(scaled >= 0, curve - half + (1 << 7), half - curve + (1 << 7) - 1) >> 8


def rescaled(values: Integers, multiplier: int, shift: int) -> Integers:
    """values * multiplier / 2^shift, halves rounded up."""
    return (values * multiplier + ((1 << shift) >> 1)) >> shift


def curve_scaling(argument: TensorType, *powers: int) -> tuple[int, int]:
    """(multiplier, shift to the right) of an int16 argument to units of 2^-12 / 3; exact for scales of 2^-12
    times 2 to one of `powers`. Raises ValueError for a scale with which 32 bits are too few.

    Source: kernels/activations.cc, SigmoidPrepare, TanhPrepare.
    """
    mantissa, exponent = math.frexp(argument.scale)
    if mantissa == 0.5 and exponent - 1 + 12 in powers:
        return 3 << (exponent - 1 + 12), 0
    factor, shift = argument.scale * 4096.0 * 3.0, 0
    while factor <= 32767.0 / 2.0 and shift <= 30:
        factor, shift = factor * 2.0, shift + 1
    if factor > 32767.0 or shift > 30:
        raise ValueError(f"a scale of {argument.scale:g} is outside what the int16 kernel can apply")
    return int(factor), shift


STEPS = 512
"""Steps of a table of `softmax`; it has one number more."""


def _populated(function: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> NDArray[np.int16]:
    """`function` on [low, high] in units of 2^-15, moved by a quarter of what a straight line misses by."""
    step = np.float32((np.float32(high) - np.float32(low)) / np.float32(STEPS))
    places = np.float32(low) + np.arange(STEPS + 1, dtype=np.float32) * step
    one = np.float32(32768.0)
    here, middle = function(places), function(places + step / np.float32(2))
    sample = round_half_away_array(here * one)
    line = round_half_away_array((here[1:] * one + sample[:-1]) / np.float32(2))
    error = round_half_away_array((line - round_half_away_array(middle[:-1] * one)) / np.float32(2))
    last = round_half_away_array(function(np.array([high], np.float32)) * one)
    return np.clip(np.append(sample[:-1] - error, last), -32768, 32767).astype(np.int16)


def _exponential(values: np.ndarray) -> np.ndarray:
    return np.exp(values.astype(np.float64)).astype(np.float32)


@lru_cache(maxsize=1)
def softmax_tables() -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """exp on [-10, 0], and 1 / (1 + x) on [0, 1]."""
    one = np.float32(1)
    return _populated(_exponential, -10.0, 0.0), _populated(lambda x: one / (one + x), 0.0, 1.0)


def softmax_scaling(beta: float, argument: TensorType) -> tuple[int, int]:
    """(multiplier, shift) of differences to units of 10 / 65535. Raises ValueError beyond 32 bits."""
    multiplier, shift = quantize_multiplier(argument.scale * float(np.float32(beta)) / (10.0 / 65535.0))
    if shift > 14:
        raise ValueError(f"a scale of {argument.scale:g} with beta {beta:g} is too large for int16 softmax")
    return multiplier, shift


def _interpolated(table: NDArray[np.int16], values: Integers) -> Integers:
    stored = np.clip(values, -32768, 32767)
    place, rest = 256 + (stored >> 7), stored & 127
    base = table[place].astype(np.int64)
    return base + (((table[place + 1] - base) * rest + 64) >> 7)


def softmax(values: Integers, beta: float, argument: TensorType) -> NDArray[np.int16]:
    """SOFTMAX over the last axis, in units of 2^-15."""
    exponentials, reciprocals = softmax_tables()
    difference = values - values.max(axis=-1, keepdims=True)
    scaled = multiply_by_quantized_multiplier(difference, *softmax_scaling(beta, argument))
    powers = _interpolated(exponentials, scaled + 32767)
    total = powers.sum(axis=-1, keepdims=True)
    headroom = count_leading_zeros(total)
    mantissa = ((total << (headroom - 1)) + (1 << 13)) >> 14
    reciprocal = _interpolated(reciprocals, mantissa - ((1 << 15) + (1 << 16)))
    shift = 31 - headroom
    shares = (powers * reciprocal + (np.int64(1) << (shift - 1))) >> shift
    return np.clip(shares, 0, 32767).astype(np.int16)
