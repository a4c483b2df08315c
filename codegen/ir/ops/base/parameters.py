"""Numbers that an operator's integer kernel needs, computed as TFLite computes them at preparation.

Reference evaluation and the C kernels' binders both take them from here, so they cannot disagree. Scales are
float32 values held in Python floats; where TFLite computes in float32, so does this. Every function raises
ValueError for quantisations that TFLite's kernel refuses or cannot apply.
Sources: tensorflow/lite/kernels/*.cc (Prepare), kernel_util.cc, as of version 2.14.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from codegen.ir.operator import Types
from codegen.ir.ops.base.fixed_point import (
    MAX_WIDE_SHIFT,
    quantize_multiplier,
    quantize_multiplier_below_one,
    round_half_away_array,
)
from codegen.ir.types import DType, TensorType


def _float32_product(first: float, second: float) -> float:
    """The product in float32; infinite where float32 ends."""
    with np.errstate(all="ignore"):
        return float(np.float32(first) * np.float32(second))


def _float32_quotient(first: float, second: float) -> float:
    """The quotient in float32; infinite where float32 ends."""
    with np.errstate(all="ignore"):
        return float(np.float32(first) / np.float32(second))


def conv_multipliers(
    image_scale: float, weight_scales: Sequence[float], result_scale: float
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(multipliers, shifts), one per weight scale, in double.

    Source: PopulateConvolutionQuantizationParams.
    """
    multipliers, shifts = _multipliers(image_scale, tuple(weight_scales), result_scale)
    return multipliers.copy(), shifts.copy()


# A layer is asked for by every pass and every kernel that is weighed, a dozen times.
@lru_cache(maxsize=1 << 10)
def _multipliers(
    image_scale: float, weight_scales: tuple[float, ...], result_scale: float
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    pairs = [quantize_multiplier(image_scale * scale / result_scale) for scale in weight_scales]
    return (
        np.array([multiplier for multiplier, _ in pairs], np.int32),
        np.array([shift for _, shift in pairs], np.int32),
    )


def fully_connected_multipliers(
    image_scale: float, weight_scales: Sequence[float], result_scale: float
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(multipliers, shifts), one per weight scale.

    Per channel in double as for CONV_2D; per tensor image * weights is rounded to float32 first.
    Source: GetQuantizedConvolutionMultipler.
    """
    if len(weight_scales) > 1:
        return conv_multipliers(image_scale, weight_scales, result_scale)
    product = _float32_product(image_scale, weight_scales[0])
    multiplier, shift = quantize_multiplier(product / result_scale)
    return np.array([multiplier], np.int32), np.array([shift], np.int32)


def connected_rule(
    args: Types,
) -> Callable[[float, Sequence[float], float], tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """How FULLY_CONNECTED of these operands computes its multipliers.

    tflite-micro rules for int16 without a bias, and multiplies the scales in double.
    """
    image, bias = args[0], args[2] if len(args) > 2 else None
    is_double = image is not None and image.dtype is DType.INT16 and bias is None
    return conv_multipliers if is_double else fully_connected_multipliers


def has_wide_accumulator(args: Types) -> bool:
    """True if (image, weights, bias) sum in 64 bits: int16 images do, unless the bias is int32.

    Then the sum is requantized with 15 bits of the multiplier, else as that of an int8 image. Without a bias
    TFLite's option `quantized_bias_type` decides; the importer takes no file where that says int32.
    Source: kernels/conv.cc, fully_connected.cc.
    """
    image, bias = args[0], args[2] if len(args) > 2 else None
    wide = image is not None and image.dtype is DType.INT16
    return wide and (bias is None or bias.dtype is DType.INT64)


def need_wide_shifts(shifts: NDArray[np.int32]) -> None:
    """Raise ValueError for shifts that TFLite cannot apply to a 64-bit accumulator."""
    if int(shifts.max()) > MAX_WIDE_SHIFT:
        raise ValueError(
            f"a shift of {int(shifts.max())} between quantisations is too large for an int16 kernel with "
            f"64-bit sums, supported are up to {MAX_WIDE_SHIFT}"
        )


def need_matching_bias(
    image_scale: float, weight_scale: float, bias_scale: float, result_scale: float
) -> None:
    """Raise ValueError unless the bias of a per-tensor FULLY_CONNECTED is scaled as its products are.

    The bias is added as it is, so a different scale would falsify it; TFLite tolerates 2 % of a result step a
    unit of bias. Source: GetQuantizedConvolutionMultipler.
    """
    if abs(image_scale * weight_scale - bias_scale) / result_scale > 0.02:
        raise ValueError(
            f"the bias has scale {bias_scale:g}, image and weights give {image_scale * weight_scale:g}"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class AddParams:
    """ADD and SUB: both arguments, less their zero point, are shifted left, scaled, summed, scaled again."""

    left_shift: int
    first_multiplier: int
    first_shift: int
    second_multiplier: int
    """Negative for SUB: TFLite subtracts with the addition kernel."""
    second_shift: int
    result_multiplier: int
    result_shift: int


def add_params(first: TensorType, second: TensorType, result: TensorType) -> AddParams:
    """Parameters of ADD on int8 and int16. Source: kernels/add.cc. No shift but `left_shift` is positive.

    65535 << 15 and 510 << 20 stay below 2^31.
    """
    left_shift = 15 if result.dtype is DType.INT16 else 20
    twice = 2.0 * max(first.scale, second.scale)
    first_multiplier, first_shift = quantize_multiplier_below_one(first.scale / twice)
    second_multiplier, second_shift = quantize_multiplier_below_one(second.scale / twice)
    result_multiplier, result_shift = quantize_multiplier_below_one(
        twice / ((1 << left_shift) * result.scale)
    )
    return AddParams(
        left_shift=left_shift,
        first_multiplier=first_multiplier,
        first_shift=first_shift,
        second_multiplier=second_multiplier,
        second_shift=second_shift,
        result_multiplier=result_multiplier,
        result_shift=result_shift,
    )


def sub_params(first: TensorType, second: TensorType, result: TensorType) -> AddParams:
    """Parameters of SUB on int8 and int16: those of ADD with the second multiplier negated.

    Source: kernels/sub.cc.
    """
    added = add_params(first, second, result)
    return AddParams(
        left_shift=added.left_shift,
        first_multiplier=added.first_multiplier,
        first_shift=added.first_shift,
        second_multiplier=-added.second_multiplier,
        second_shift=added.second_shift,
        result_multiplier=added.result_multiplier,
        result_shift=added.result_shift,
    )


def mul_multiplier(first: TensorType, second: TensorType, result: TensorType) -> tuple[int, int]:
    """(multiplier, shift) of MUL on int8 and int16, computed in float32. Source: kernels/mul.cc."""
    return quantize_multiplier(_float32_quotient(_float32_product(first.scale, second.scale), result.scale))


def div_multiplier(first: TensorType, second: TensorType, result: TensorType) -> tuple[int, int]:
    """(multiplier, shift) of DIV on int8, in double, as tflite-micro has it, the only engine with this type.

    Raises ValueError where the shift of some quotient would be to the left, where TFLite aborts.
    """
    factor = first.scale / (second.scale * result.scale)
    multiplier, shift = quantize_multiplier(factor)
    if shift > 23:  # the least other shift: of a dividend of 8 bits and a divisor of 1
        raise ValueError(f"a factor of {factor:g} between quantisations is too large for DIV")
    return multiplier, shift


def compare_multiplier(argument: TensorType) -> tuple[int, int]:
    """(multiplier, shift) that comparisons of int8 apply to an argument. Source: ComparisonPrepareCommon."""
    return quantize_multiplier_below_one(argument.scale)


def squared_difference_params(first: TensorType, second: TensorType, result: TensorType) -> AddParams:
    """Parameters of SQUARED_DIFFERENCE on int8 and int16. Source: kernels/squared_difference.cc."""
    left_shift = 0 if result.dtype is DType.INT16 else 7
    twice = 2.0 * max(first.scale, second.scale)
    first_multiplier, first_shift = quantize_multiplier_below_one(first.scale / twice)
    second_multiplier, second_shift = quantize_multiplier_below_one(second.scale / twice)
    divisor = float(np.float32(1 << (2 * left_shift)) * np.float32(result.scale))
    result_multiplier, result_shift = quantize_multiplier(twice * twice / divisor)
    return AddParams(
        left_shift=left_shift,
        first_multiplier=first_multiplier,
        first_shift=first_shift,
        second_multiplier=second_multiplier,
        second_shift=second_shift,
        result_multiplier=result_multiplier,
        result_shift=result_shift,
    )


def mean_multiplier(argument: TensorType, result: TensorType, count: int) -> tuple[int, int]:
    """(multiplier, shift) that turns the sum of `count` elements, less their zero points, into their mean.

    Source: reference_ops::QuantizedMeanOrSum: 1 / count is folded into the multiplier, truncated.
    """
    multiplier, shift = quantize_multiplier(argument.scale / result.scale)
    extra = min(count.bit_length() - 1, 32, 31 + shift)
    return (multiplier << extra) // count, shift - extra


def running_sum_multiplier(argument: TensorType, result: TensorType) -> tuple[int, int]:
    """(multiplier, shift) of CUMSUM and ADD_N on int8, whose sums are in units of 2^-19.

    Source: kernels/cumsum.cc, add_n.cc.
    """
    return quantize_multiplier_below_one(2.0 * argument.scale / ((1 << 20) * result.scale))


def rescale_multiplier(argument: TensorType, result: TensorType) -> tuple[int, int]:
    """(multiplier, shift) of QUANTIZE between integers, in double. Source: kernels/quantize.cc."""
    return quantize_multiplier(argument.scale / result.scale)


def relu_multiplier(argument: TensorType, result: TensorType) -> tuple[int, int]:
    """(multiplier, shift) of RELU and RELU6 on int8 and int16, in float32. Source: ReluPrepare."""
    return quantize_multiplier(_float32_quotient(argument.scale, result.scale))


@dataclass(frozen=True, kw_only=True, slots=True)
class LeakyReluParams:
    """LEAKY_RELU: factors for non-negative and for negative arguments; alpha's is negative if alpha is."""

    positive_multiplier: int
    positive_shift: int
    negative_multiplier: int
    negative_shift: int


def leaky_relu_params(alpha: float, argument: TensorType, result: TensorType) -> LeakyReluParams:
    """Parameters of LEAKY_RELU on int8 and int16, in float32.

    Source: kernels/activations.cc, LeakyReluPrepare.
    """
    positive_multiplier, positive_shift = relu_multiplier(argument, result)
    slope = _float32_quotient(_float32_product(argument.scale, alpha), result.scale)
    negative_multiplier, negative_shift = quantize_multiplier(slope)
    return LeakyReluParams(
        positive_multiplier=positive_multiplier,
        positive_shift=positive_shift,
        negative_multiplier=negative_multiplier,
        negative_shift=negative_shift,
    )


def prelu_params(value: TensorType, slope: TensorType, result: TensorType) -> LeakyReluParams:
    """Factors of PRELU: of values from 0 on, and of products with slopes.

    int8 in float32, as TFLite's PreluPrepare; int16, which tflite-micro alone has, in double, as its
    CalculatePreluParams.
    """
    if value.dtype is DType.INT8:
        positive = _float32_quotient(value.scale, result.scale)
        negative = _float32_quotient(_float32_product(value.scale, slope.scale), result.scale)
    else:
        positive = value.scale / result.scale
        negative = value.scale * slope.scale / result.scale
    positive_multiplier, positive_shift = quantize_multiplier(positive)
    negative_multiplier, negative_shift = quantize_multiplier(negative)
    return LeakyReluParams(
        positive_multiplier=positive_multiplier,
        positive_shift=positive_shift,
        negative_multiplier=negative_multiplier,
        negative_shift=negative_shift,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class SoftmaxParams:
    """SOFTMAX on int8: factor of differences to the row's maximum (to Q5.26), and the least that counts."""

    multiplier: int
    left_shift: int
    least_difference: int
    """Differences below it (negative, stored units) give probability 0."""


def softmax_params(beta: float, argument: TensorType) -> SoftmaxParams:
    """Parameters of SOFTMAX on int8. Source: PreprocessSoftmaxScaling, CalculateInputRadius."""
    integer_bits = 5
    factor = min(float(np.float32(beta)) * argument.scale * (1 << (31 - integer_bits)), (1 << 31) - 1.0)
    if factor <= 1.0:
        raise ValueError(f"a scale of {argument.scale:g} with beta {beta:g} is too small for an int8 softmax")
    multiplier, left_shift = quantize_multiplier(factor * 2.0**-31)
    left_shift += 31
    radius = ((1 << integer_bits) - 1) * (1 << (31 - integer_bits)) / (1 << left_shift)
    return SoftmaxParams(multiplier=multiplier, left_shift=left_shift, least_difference=-math.floor(radius))


def log_softmax_params(argument: TensorType) -> tuple[SoftmaxParams, tuple[int, int]]:
    """Parameters of LOG_SOFTMAX on int8: those of SOFTMAX, and (multiplier, shift) back from Q5.26.

    Source: PreprocessLogSoftmaxScalingExp.
    """
    params = softmax_params(1.0, argument)
    return params, quantize_multiplier_below_one((1 << (31 - params.left_shift)) / params.multiplier)


def lookup_table(
    function: Callable[[NDArray[np.float32]], NDArray[np.float32]], argument: TensorType, result: TensorType
) -> NDArray[np.int8]:
    """256 results of an int8 -> int8 function of one element, by the argument's byte read as unsigned.

    `function` maps real float32 values. Source: kernels/activations.cc, PopulateLookupTable.
    """
    stored = np.arange(256, dtype=np.uint8).view(np.int8).astype(np.int32)
    with np.errstate(all="ignore"):
        real = np.float32(argument.scale) * (stored - argument.zero_point).astype(np.float32)
        scaled = round_half_away_array(function(real) * (np.float32(1) / np.float32(result.scale)))
    low, high = DType.INT8.limits
    return np.clip(scaled + np.float32(result.zero_point), low, high).astype(np.int8)


def logistic_table(argument: TensorType, result: TensorType) -> NDArray[np.int8]:
    """The 256 results of LOGISTIC, indexed by the argument's byte read as unsigned."""
    return lookup_table(logistic_float, argument, result)


def tanh_table(argument: TensorType, result: TensorType) -> NDArray[np.int8]:
    """The 256 results of TANH, indexed by the argument's byte read as unsigned."""
    return lookup_table(tanh_float, argument, result)


def logistic_float(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """1 / (1 + exp(-x)) in float32, the exponential rounded from double: no dependence on NumPy's expf."""
    with np.errstate(over="ignore"):
        power = np.exp(-values.astype(np.float64)).astype(np.float32)
    return np.float32(1) / (np.float32(1) + power)


def tanh_float(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """tanh in float32, rounded from double."""
    return np.tanh(values.astype(np.float64)).astype(np.float32)
