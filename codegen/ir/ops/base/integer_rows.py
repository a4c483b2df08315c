"""Rows of int8 by integers alone: softmax and layer normalisation, results rounded to the nearest.

Neither follows one engine bit by bit: floats of two engines differ too. Results are the real number's,
rounded, where that is farther from a half of a step than the error that is stated for each.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir.ops.base.fixed_point import Integers, count_leading_zeros
from codegen.ir.types import DType, TensorType

MOST_COLUMNS = 1 << 12
"""Elements of a row: the products of sums and squares of more could leave 64 bits."""
_INVERSE_BITS, _POWER_BITS = 30, 30
_LEAST_BITS = 6
"""Bits behind the point that a result has at least before it is rounded."""
_FIRST_ROOT = 2233382994
"""2.08 of 2^30: 2.08 - 1.125 x is within 11 % of the inverse root of x from 1/4 to 1."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SoftmaxNumbers:
    """Constants of a softmax. Its error is below 2^-10 of a step for rows of up to 4,096 elements."""

    powers: NDArray[np.int32]
    """exp((i - 255) * scale), times a power of two: sums of a row fit 32 bits."""
    inverse: int
    """Inverse of the result's scale times 2^shift, from 2^30 on, less than 2^31."""
    shift: int


def softmax_numbers(argument: TensorType, beta: float, result: TensorType) -> SoftmaxNumbers:
    """Constants of a softmax of rows; raises ValueError for scales that they do not hold."""
    columns = argument.shape[-1]
    if columns > MOST_COLUMNS:
        raise ValueError(f"a row of {columns} elements, supported are {MOST_COLUMNS}")
    bits = min(_POWER_BITS, 32 - columns.bit_length())
    exponents = (np.arange(256) - 255.0) * argument.scale * beta
    powers = np.rint(np.exp(exponents) * 2.0**bits).astype(np.int32)
    mantissa, exponent = math.frexp(1 / result.scale)
    inverse, shift = round(mantissa * 2 ** (_INVERSE_BITS + 1)), _INVERSE_BITS + 1 - exponent
    if inverse == 2 ** (_INVERSE_BITS + 1):
        inverse, shift = inverse // 2, shift - 1
    if not _LEAST_BITS <= shift - (31 - bits) <= shift <= 31:
        raise ValueError(f"a scale of {result.scale:g} is no scale of shares")
    return SoftmaxNumbers(powers=powers, inverse=inverse, shift=shift)


def softmax_rows(rows: Integers, numbers: SoftmaxNumbers, result: TensorType) -> np.ndarray:
    """Shares of exponentials, int8: one quotient a row, one product an element."""
    below = rows - rows.max(axis=-1, keepdims=True)
    powers = numbers.powers[below + 255].astype(np.uint64)
    sums = powers.sum(axis=-1, keepdims=True)
    zeros = 32 - np.frexp(sums.astype(np.float64))[1].astype(np.uint64)
    share = (np.uint64(numbers.inverse) << np.uint64(32)) // (sums << zeros)
    parts = (powers * share) >> np.uint64(32)
    shift = np.uint64(numbers.shift) - zeros
    units = ((parts + (np.uint64(1) << (shift - np.uint64(1)))) >> shift).astype(np.int64)
    return np.clip(units + result.zero_point, *DType.INT8.limits).astype(np.int8)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class NormNumbers:
    """Constants of a layer normalisation. Its error is below 2^(2 - shift) of a step."""

    epsilon: int
    """Addend of the variance, in units of the argument's scale over the row's length, squared, times 2^16,
    by 2^epsilon_shift."""
    epsilon_shift: int
    aligned: int
    """Bits that a difference is shifted left by, beside half of the leading zeros of the variance."""
    shift: int
    """Bits of a result behind the point."""
    scales: NDArray[np.int32]
    offsets: NDArray[np.int32]


def norm_numbers(
    argument: TensorType, epsilon: float, weights: np.ndarray, bias: np.ndarray, result: TensorType
) -> NormNumbers:
    """Constants of the normalisation of rows; raises ValueError for scales that they do not hold."""
    columns = argument.shape[-1]
    if columns > MOST_COLUMNS:
        raise ValueError(f"a row of {columns} elements, supported are {MOST_COLUMNS}")
    mantissa, exponent = math.frexp(epsilon * (columns / argument.scale) ** 2 * 2.0**16)
    up = max(exponent - 31, 0)
    if exponent > 62:
        raise ValueError(f"epsilon {epsilon:g} is out of reach of the scale {argument.scale:g}")
    half = -(-((columns - 1).bit_length()) // 2)  # 2^half: the root of the columns
    gain, offset = (numbers.astype(np.float64) / result.scale for numbers in (weights, bias))
    largest = float(np.abs(gain).max(initial=0)) * 2.0**half
    reach = largest + float(np.abs(offset).max(initial=0)) + 128
    shift = min(27 - math.frexp(largest)[1], 29 - math.frexp(reach)[1])
    if shift < _LEAST_BITS:
        raise ValueError(f"results of up to {reach * result.scale:g} are too many steps of {result.scale:g}")
    return NormNumbers(
        epsilon=round(math.ldexp(mantissa, exponent - up)),
        epsilon_shift=up,
        aligned=7 - half,
        shift=shift,
        scales=np.rint(gain * 2.0 ** (shift + 4 + half)).astype(np.int32),
        offsets=(np.rint((offset + result.zero_point) * 2.0**shift) + 2.0 ** (shift - 1)).astype(np.int32),
    )


def normalised_rows(rows: Integers, numbers: NormNumbers) -> np.ndarray:
    """Rows less their mean, over their deviation, int8: the zero point of the rows counts for nothing."""
    columns = rows.shape[-1]
    sums = rows.sum(axis=-1, keepdims=True)
    variance = columns * (rows * rows).sum(axis=-1, keepdims=True) - sums * sums
    epsilon = numbers.epsilon << numbers.epsilon_shift
    root, pairs = _inverse_root(np.where(variance == 0, 1 << 16, (variance << 16) + epsilon))
    differences = (columns * rows - sums) << (numbers.aligned + pairs)
    level = (differences * root) >> 32
    units = (((level * numbers.scales) >> 32) + numbers.offsets) >> numbers.shift
    return np.clip(units, *DType.INT8.limits).astype(np.int8)


def _inverse_root(numbers: Integers) -> tuple[Integers, Integers]:
    """The inverse root of the upper 32 bits as a fraction, 29 bits behind the point, and the pairs of zeros
    in front. Four steps of Newton's method."""
    upper, lower = numbers >> 32, numbers & 0xFFFFFFFF
    zeros = np.where(upper > 0, count_leading_zeros(upper), 32 + count_leading_zeros(lower))
    pairs = zeros // 2
    fraction = (numbers.astype(np.uint64) << (2 * pairs).astype(np.uint64)) >> np.uint64(32)
    root = np.uint64(_FIRST_ROOT) - (fraction >> np.uint64(2)) - (fraction >> np.uint64(5))
    for _ in range(4):
        square = (root * root) >> np.uint64(32)
        root = (root * (np.uint64(3 << 28) - ((fraction * square) >> np.uint64(32)))) >> np.uint64(29)
    return (root >> np.uint64(1)).astype(np.int64), pairs
