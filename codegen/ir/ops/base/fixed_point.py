"""Fixed-point arithmetic of TFLite's integer kernels, exact to their double-rounding form, on NumPy arrays.

A real factor is a pair (multiplier, shift), meaning multiplier / 2^31 * 2^shift, with |multiplier| in
[2^30, 2^31), or 0.
Values are 32-bit integers held in int64 arrays, so that nothing here can overflow unseen; what wraps or
saturates in C does so here too. Which factors an operator needs is in `codegen.ir.ops.base.parameters`.
Sources: tensorflow/lite/kernels/internal/quantization_util.cc, common.h; gemmlowp fixedpoint.h.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Integers = NDArray[np.int64]

INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1
MAX_SHIFT = 30
"""Largest left shift the kernels can do in 32 bits."""


def round_half_away(value: float) -> int:
    """Nearest integer, halves away from zero. Source: TfLiteRound."""
    magnitude = math.floor(abs(value))
    if abs(value) - magnitude >= 0.5:
        magnitude += 1
    return magnitude if value >= 0 else -magnitude


def round_half_away_array(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Nearest integers (as floats of the same type), halves away from zero. Source: TfLiteRound."""
    whole = np.trunc(values)
    return np.where(np.abs(values - whole) >= 0.5, whole + np.sign(values), whole)


class FactorTooLarge(ValueError):
    """A factor between quantisations of 2^30 or more, which no kernel can apply in 32 bits."""

    def __init__(self, factor: float) -> None:
        super().__init__(f"a factor of {factor:g} between quantisations is too large for integer kernels")


# Every pass and every kernel that is weighed asks again for the same channels.
@lru_cache(maxsize=1 << 16)
def quantize_multiplier(factor: float) -> tuple[int, int]:
    """`factor` (a double, may be negative) as (multiplier, shift). Source: QuantizeMultiplier.

    Magnitudes below 2^-32 become 0. Raises ValueError if the factor is not finite, FactorTooLarge if its
    magnitude is 2^30 or more.
    """
    if not math.isfinite(factor):
        raise ValueError(f"a factor of {factor} between quantisations cannot be applied")
    if factor == 0.0:
        return 0, 0
    fraction, shift = math.frexp(factor)
    multiplier = round_half_away(fraction * (1 << 31))
    if abs(multiplier) == 1 << 31:
        multiplier //= 2
        shift += 1
    if shift < -31:
        return 0, 0
    if shift > MAX_SHIFT:
        raise FactorTooLarge(factor)
    return multiplier, shift


def quantize_multiplier_below_one(factor: float) -> tuple[int, int]:
    """Return (multiplier, shift) as `quantize_multiplier` does, for a factor that must lie in (0, 1).

    Raises ValueError outside that range, where TFLite aborts. Source: QuantizeMultiplierSmallerThanOneExp.
    """
    multiplier, shift = quantize_multiplier(factor)
    if not 0.0 < factor < 1.0 or shift > 0:
        raise ValueError(f"a factor of {factor:g} between quantisations must be above 0 and below 1")
    return multiplier, shift


def wrap_int32(values: Integers) -> Integers:
    """The low 32 bits as a signed number: what C's int32_t arithmetic leaves (two's complement)."""
    return ((values - INT32_MIN) & 0xFFFFFFFF) + INT32_MIN


def saturate_int32(values: Integers) -> Integers:
    """Values clamped to int32."""
    return np.clip(values, INT32_MIN, INT32_MAX)


def doubling_high_mul(first: ArrayLike, second: ArrayLike) -> Integers:
    """(2 * first * second) / 2^32, rounded, of int32 values; halves go up.

    Only INT32_MIN * INT32_MIN saturates, to INT32_MAX. Source: gemmlowp SaturatingRoundingDoublingHighMul.
    """
    product = np.asarray(first, np.int64) * np.asarray(second, np.int64)
    # For a negative product C adds 1 - 2^30 and divides by 2^31 towards zero, which is this floor as well.
    return np.minimum((product + (1 << 30)) >> 31, INT32_MAX)


def rounding_divide_by_power(values: ArrayLike, exponent: ArrayLike) -> Integers:
    """values / 2^exponent (0 to 31), halves away from zero. Source: gemmlowp RoundingDivideByPOT."""
    numbers, shift = np.asarray(values, np.int64), np.asarray(exponent, np.int64)
    mask = (np.int64(1) << shift) - 1
    threshold = (mask >> 1) + (numbers < 0)
    return (numbers >> shift) + ((numbers & mask) > threshold)


def multiply_by_quantized_multiplier(values: ArrayLike, multiplier: ArrayLike, shift: ArrayLike) -> Integers:
    """int32 values times multiplier / 2^31 * 2^shift, rounded twice. Source: MultiplyByQuantizedMultiplier.

    Multiplier and shift broadcast against the values (per channel: arrays along the last axis). A left shift
    (shift > 0) wraps in 32 bits, as in C.
    """
    numbers, power = np.asarray(values, np.int64), np.asarray(shift, np.int64)
    shifted = wrap_int32(numbers << np.maximum(power, 0))
    return rounding_divide_by_power(doubling_high_mul(shifted, multiplier), np.maximum(-power, 0))


MAX_WIDE_SHIFT = 7
"""Largest left shift of a 64-bit accumulator's requantization."""


def reduced_multiplier(multiplier: ArrayLike) -> Integers:
    """A multiplier of 31 bits rounded to 15, at most 0x7FFF.

    Source: MultiplyByQuantizedMultiplier of an int64_t.
    """
    numbers = np.asarray(multiplier, np.int64)
    return np.where(numbers < 0x7FFF0000, (numbers + (1 << 15)) >> 16, 0x7FFF)


def multiply_wide_by_quantized_multiplier(
    values: ArrayLike, multiplier: ArrayLike, shift: ArrayLike
) -> Integers:
    """int64 values times `reduced_multiplier(multiplier)` / 2^15 * 2^shift, halves up, wrapped to int32.

    `shift` is at most `MAX_WIDE_SHIFT`; the arguments broadcast as in `multiply_by_quantized_multiplier`.
    Products wrap at 64 bits (TFLite asserts accumulators below 2^47, where none does).
    Source: MultiplyByQuantizedMultiplier of an int64_t.
    """
    right = 15 - np.asarray(shift, np.int64)
    with np.errstate(over="ignore"):
        product = np.asarray(values, np.int64) * reduced_multiplier(multiplier)
        return wrap_int32((product + (np.int64(1) << (right - 1))) >> right)


def inverse_root(size: int) -> tuple[int, int]:
    """1 / sqrt(size) as (multiplier, shift), size below 2^31, 0 as 1.

    Five steps of Newton's method, three integer bits. Source: GetInvSqrtQuantizedMultiplierExp.
    """
    if size <= 1:
        return INT32_MAX, 0
    down = 0
    while size >> 2 * down >= 1 << 29:
        down += 1
    number = size >> 2 * down
    pairs = (31 - number.bit_length()) // 2 - 1
    value = np.int64(number << (2 * pairs)) >> 1
    half = rounding_divide_by_power(value, 1)
    x = np.int64(1 << 28)
    for _ in range(5):
        cube = saturating_shift_left(doubling_high_mul(doubling_high_mul(x, x), x), 6)
        step = doubling_high_mul((1 << 28) + (1 << 27), x) - doubling_high_mul(half, cube)
        x = saturating_shift_left(step, 3)
    shift = pairs - 11 - down
    return int(doubling_high_mul(x, 1518500250)) << max(shift, 0), min(shift, 0)


def saturating_shift_left(values: Integers, exponent: int) -> Integers:
    """values * 2^exponent, saturated to int32. Source: gemmlowp SaturatingRoundingMultiplyByPOT."""
    return saturate_int32(values << exponent)


def exp_on_negative_values(values: Integers) -> Integers:
    """exp(x) of x <= 0 in Q5.26, as Q0.31. Source: gemmlowp exp_on_negative_values<5>."""
    quarter = 1 << 24
    fraction = (values & (quarter - 1)) - quarter
    result = _exp_within_quarter(saturating_shift_left(fraction, 5))
    rest = fraction - values
    # exp(-2^e) in Q0.31 for each bit of the rest, e = -2 .. 4.
    for power, factor in zip(range(-2, 5), _EXP_OF_POWERS, strict=True):
        result = np.where(rest & (1 << (26 + power)), doubling_high_mul(result, factor), result)
    return np.where(values == 0, INT32_MAX, result)


_EXP_OF_POWERS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)


def _exp_within_quarter(values: Integers) -> Integers:
    """exp(x) of x in [-1/4, 0), Q0.31: a fourth-order Taylor polynomial around -1/8."""
    constant, third = 1895147668, 715827883
    x = values + (1 << 28)
    x2 = doubling_high_mul(x, x)
    x3 = doubling_high_mul(x2, x)
    x4 = doubling_high_mul(x2, x2)
    inner = doubling_high_mul(rounding_divide_by_power(x4, 2) + x3, third) + x2
    return constant + doubling_high_mul(constant, x + rounding_divide_by_power(inner, 1))


def one_over_one_plus_x(values: Integers) -> Integers:
    """1 / (1 + x) of x in [0, 1), Q0.31, by three Newton steps.

    Source: gemmlowp one_over_one_plus_x_for_x_in_0_1.
    """
    total = values + INT32_MAX
    half_denominator = (total + 1) >> 1  # (sum + sign) / 2 towards zero; the sum is never negative
    x = 1515870810 + doubling_high_mul(half_denominator, -1010580540)
    for _ in range(3):
        error = (1 << 29) - doubling_high_mul(half_denominator, x)
        x = x + saturating_shift_left(doubling_high_mul(x, error), 2)
    return saturating_shift_left(x, 1)


def log_from_one(values: Integers) -> Integers:
    """log(x) of x from 1 on in Q12.19, as Q5.26. Source: log_x_for_x_greater_than_or_equal_to_1_impl."""
    root, fourth_root, quarter = 1518500250, 1805811301, 1 << 23  # of 1/2; 1/4 in Q6.25
    zeros = count_leading_zeros(values)
    first = saturating_shift_left(doubling_high_mul(values << (zeros - 1), root), 1)
    beside = count_leading_zeros(doubling_high_mul(values, root)) - 1
    second = saturate_int32(values << beside)
    power = np.maximum(((12 - zeros) << 25) + quarter, ((12 - beside) << 25) - quarter)
    r = np.minimum(first, second)
    half_sum, q = (r + fourth_root + 1) >> 1, 2 * (r - fourth_root)
    square = doubling_high_mul(q, q)
    top = doubling_high_mul(q, r) + doubling_high_mul(doubling_high_mul(q, square), 117049297)
    inner = 1057819769 + q + doubling_high_mul(127690142, square)
    below = doubling_high_mul(half_sum, inner) + doubling_high_mul(638450708, q)
    fraction = doubling_high_mul(rounding_divide_by_power(top, 6), one_over_one_plus_x(below))
    return saturating_shift_left(doubling_high_mul(power, 1488522236) + fraction, 1)


def count_leading_zeros(values: Integers) -> Integers:
    """Leading zero bits of positive values below 2^32, seen as 32-bit words."""
    # A double holds every such value exactly, so its exponent is the number of bits.
    return 32 - np.frexp(values.astype(np.float64))[1].astype(np.int64)
