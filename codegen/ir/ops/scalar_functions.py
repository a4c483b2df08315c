"""Functions of one element: roots, powers, angles, rounding, and activations made of them; a row each.

float32 is evaluated in double where TFLite calls the C library, else operation by operation; int8 and int16,
where there are, as TFLite's integer kernels do.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.attrs import GeluAttrs
from codegen.ir.ops.base.fixed_point import (
    INT32_MAX,
    inverse_root,
    multiply_by_quantized_multiplier,
    quantize_multiplier,
    rounding_divide_by_power,
)
from codegen.ir.ops.base.operands import narrow, operand, present
from codegen.ir.ops.base.parameters import lookup_table, relu_multiplier, tanh_float
from codegen.ir.ops.nonlinear import Pointwise
from codegen.ir.types import DType, TensorType

_Real = Callable[[np.ndarray], np.ndarray]
_Stored = Callable[[np.ndarray, TensorType, TensorType], np.ndarray]
"""Stored integers of a type to those of another."""


_OF_POSITIVE = frozenset({"LOG", "RSQRT", "SQRT"})


class ScalarFunction(Pointwise):
    """One function: on float32, and on the integer types that `stored` is given for."""

    def __init__(
        self, name: str, short: str, real: _Real, stored: _Stored | None = None, *integers: DType
    ) -> None:
        self.name, self.short = name, short
        self._real, self._stored = real, stored
        self.integers = integers

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """One of its types on both sides, scales that the integer kernel can apply."""
        super().check(attrs, args, result)
        if self._stored is not None and result.dtype is not DType.FLOAT32:
            self._stored(np.zeros(1, result.dtype.numpy), operand(args, 0, "argument"), result)

    def domain(self, attrs: Attrs, args: Types, position: int) -> tuple[float, float] | None:
        """Roots and logarithms of real numbers take no negative ones."""
        del attrs, position
        is_real = operand(args, 0, "argument").dtype is DType.FLOAT32
        return (0.0, math.inf) if is_real and self.name in _OF_POSITIVE else None

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: kernels/elementwise.cc and the reference kernel of each name."""
        del attrs
        value = present(values, 0, "argument")
        if result.dtype is not DType.FLOAT32:
            assert self._stored is not None
            return self._stored(value, operand(args, 0, "argument"), result).astype(result.dtype.numpy)
        with np.errstate(all="ignore"):
            return np.asarray(self._real(value), np.float32)


def _wide(function: _Real) -> _Real:
    """In double, rounded to float32 at the end."""
    return lambda value: function(value.astype(np.float64)).astype(np.float32)


def _rsqrt(value: np.ndarray) -> np.ndarray:
    return np.float32(1) / np.sqrt(value)


def _hard_swish(value: np.ndarray) -> np.ndarray:
    return value * np.minimum(np.float32(6), np.maximum(np.float32(0), value + np.float32(3))) / np.float32(6)


def _round(value: np.ndarray) -> np.ndarray:
    """Halves to even. Source: RoundToNearest."""
    below = np.floor(value)
    rest = value - below
    return np.where((rest < 0.5) | ((rest == 0.5) & (below % 2 == 0)), below, below + np.float32(1))


def _elu(value: np.ndarray) -> np.ndarray:
    return np.where(value < 0, np.expm1(value.astype(np.float64)), value).astype(np.float32)


def _elu_of_table(value: np.ndarray) -> np.ndarray:
    """ELU with exp(x) - 1 in float32, as the int8 kernel computes it."""
    power = np.exp(value.astype(np.float64)).astype(np.float32)
    return np.where(value < 0, power - np.float32(1), value)


def _clipped(values: np.ndarray, result: TensorType) -> np.ndarray:
    return np.clip(values + result.zero_point, *result.dtype.limits)


def _abs_stored(value: np.ndarray, argument: TensorType, result: TensorType) -> np.ndarray:
    """Source: AbsEvalQuantized."""
    size = np.abs(value.astype(np.int64) - argument.zero_point)
    return _clipped(multiply_by_quantized_multiplier(size, *relu_multiplier(argument, result)), result)


def _neg_stored(value: np.ndarray, argument: TensorType, result: TensorType) -> np.ndarray:
    """No engine has it: the MUL by -1 (of scale 1). Source: reference_integer_ops::Mul."""
    turned = argument.zero_point - value.astype(np.int64)
    return _clipped(multiply_by_quantized_multiplier(turned, *relu_multiplier(argument, result)), result)


def _elu_stored(value: np.ndarray, argument: TensorType, result: TensorType) -> np.ndarray:
    """Source: kernels/activations.cc, EluPrepare."""
    return lookup_table(_elu_of_table, argument, result)[value.view(np.uint8)]


def _exp_stored(value: np.ndarray, argument: TensorType, result: TensorType) -> np.ndarray:
    """Source: kernels/exp.cc, ExpPrepare. What no int32 holds is undefined there; here it saturates."""
    return lookup_table(_wide(np.exp), argument, result)[value.view(np.uint8)]


def _log_stored(value: np.ndarray, argument: TensorType, result: TensorType) -> np.ndarray:
    """Stored logarithms: the result's smallest number replaces missing ones. Source: elementwise.cc,
    LogLUTPrepare.
    """
    least = np.float32((result.dtype.limits[0] - result.zero_point) * result.scale)

    def logarithm(real: np.ndarray) -> np.ndarray:
        return np.where(real > 0, _wide(np.log)(real), least)

    return lookup_table(logarithm, argument, result)[value.view(np.uint8)]


ROOT_BITS = 20
"""Fractional bits of an inverse root between its two steps."""


def _rsqrt_stored(value: np.ndarray, argument: TensorType, result: TensorType) -> np.ndarray:
    """Source: RsqrtEvalQuantized. Below the zero point, where TFLite refuses to run, as at it."""
    sizes, places = np.unique(
        np.maximum(value.astype(np.int64) - argument.zero_point, 0), return_inverse=True
    )
    roots = np.array([_inverse_root(size) for size in sizes.tolist()], np.int64)
    inverse = _clipped(multiply_by_quantized_multiplier(roots, *rsqrt_multiplier(argument, result)), result)
    inverse = np.where(sizes == 0, result.dtype.limits[1], inverse)
    return inverse[places].reshape(value.shape)


def rsqrt_multiplier(argument: TensorType, result: TensorType) -> tuple[int, int]:
    """(multiplier, shift) from a root in units of 2^-ROOT_BITS to the result's. Source: PrepareRsqrt."""
    factor = float(np.float32(np.sqrt(np.float32(argument.scale))) * np.float32(result.scale))
    multiplier, shift = quantize_multiplier(1.0 / factor)
    return multiplier, shift - ROOT_BITS


@cache
def _inverse_root(size: int) -> int:
    """1 / sqrt(size) in units of 2^-ROOT_BITS; 0 for size 0."""
    if size == 0:
        return 0
    inverse, power = inverse_root(size)
    return int(multiply_by_quantized_multiplier(1, inverse, power + ROOT_BITS))


@dataclass(frozen=True, kw_only=True, slots=True)
class _HardSwishParams:
    """HARD_SWISH on int8: factors of 16 bits to the result and to [-1, 1] of [-3, 3]."""

    result_multiplier: int
    result_shift: int
    relu_multiplier: int
    relu_shift: int


def _hard_swish_params(argument: TensorType, result: TensorType) -> _HardSwishParams:
    """Parameters of HARD_SWISH on int8, computed in float32. Source: HardSwishPrepare."""
    with np.errstate(all="ignore"):
        fine = np.float32(1 / 128) * np.float32(argument.scale)
        result_factor = float(fine / np.float32(result.scale))
        relu_factor = float(fine / (np.float32(3) / np.float32(32768)))
    result_multiplier, result_shift = quantize_multiplier(result_factor)
    relu_multiplier_, relu_shift = quantize_multiplier(relu_factor)
    if result_shift > 0:
        raise ValueError(
            f"a factor of {argument.scale / result.scale:g} between quantisations is too large for HARD_SWISH"
        )
    return _HardSwishParams(
        result_multiplier=_of_16_bits(result_multiplier),
        result_shift=result_shift,
        relu_multiplier=_of_16_bits(relu_multiplier_),
        relu_shift=relu_shift,
    )


def _of_16_bits(multiplier: int) -> int:
    """Source: DownScaleInt32ToInt16Multiplier."""
    return 32767 if multiplier >= INT32_MAX - (1 << 15) else (multiplier + (1 << 15)) >> 16


def _hard_swish_stored(value: np.ndarray, argument: TensorType, result: TensorType) -> np.ndarray:
    """On 16 bits, as TFLite. Source: reference_ops::HardSwish of HardSwishParams."""
    params = _hard_swish_params(argument, result)
    hires = (value.astype(np.int64) - argument.zero_point) << 7
    preshift = _high_mul_16(hires, params.result_multiplier)
    relu = hires
    if params.relu_shift > 0:
        relu = np.clip(relu << (params.relu_shift - 1), -32768, 32767)
    relu = _high_mul_16(relu, params.relu_multiplier)
    if params.relu_shift > 0:
        relu = np.clip(relu << 1, -32768, 32767)
    if params.relu_shift < 0:
        relu = rounding_divide_by_power(relu, -params.relu_shift)
    relu = (relu + (1 << 15)) >> 1
    product = relu * preshift
    towards_zero = np.sign(product) * (np.abs(product) >> 15)
    return _clipped(rounding_divide_by_power(towards_zero, -params.result_shift), result)


def _high_mul_16(values: np.ndarray, multiplier: int) -> np.ndarray:
    """Source: gemmlowp SaturatingRoundingDoublingHighMul of int16_t: halves away from zero in the product."""
    product = values * multiplier
    nudged = product + np.where(product >= 0, 1 << 14, 1 - (1 << 14))
    return np.minimum(np.sign(nudged) * (np.abs(nudged) >> 15), 32767)


class Gelu(Pointwise):
    """GELU: x times the share of a normal distribution below x."""

    name = "GELU"
    short = "gelu"
    attrs_type = GeluAttrs

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::GeluTransform."""
        value = present(values, 0, "argument")
        function = _gelu_by_tanh if narrow(attrs, GeluAttrs).approximate else _gelu
        if result.dtype is DType.FLOAT32:
            return function(value)
        return lookup_table(function, operand(args, 0, "argument"), result)[value.view(np.uint8)]


def _gelu(value: np.ndarray) -> np.ndarray:
    share = np.array([math.erfc(-number * math.sqrt(0.5)) for number in value.reshape(-1).tolist()])
    return np.float32(0.5) * value * share.reshape(value.shape).astype(np.float32)


def _gelu_by_tanh(value: np.ndarray) -> np.ndarray:
    inner = np.float32(0.7978845608028654) * (value + np.float32(0.044715) * value * value * value)
    return np.float32(0.5) * value * (np.float32(1) + tanh_float(inner))


OPERATORS: tuple[Op, ...] = (
    ScalarFunction("ABS", "abs", np.abs, _abs_stored, DType.INT8, DType.INT16),
    ScalarFunction("CEIL", "ceil", np.ceil),
    ScalarFunction("COS", "cos", _wide(np.cos)),
    ScalarFunction("ELU", "elu", _elu, _elu_stored, DType.INT8),
    ScalarFunction("EXP", "exp", _wide(np.exp), _exp_stored, DType.INT8),
    ScalarFunction("FLOOR", "floor", np.floor),
    Gelu(),
    ScalarFunction("HARD_SWISH", "hardswish", _hard_swish, _hard_swish_stored, DType.INT8),
    ScalarFunction("LOG", "log", _wide(np.log), _log_stored, DType.INT8),
    ScalarFunction("NEG", "neg", np.negative, _neg_stored, DType.INT8),
    ScalarFunction("ROUND", "round", _round),
    ScalarFunction("RSQRT", "rsqrt", _rsqrt, _rsqrt_stored, DType.INT8, DType.INT16),
    ScalarFunction("SIN", "sin", _wide(np.sin)),
    ScalarFunction("SQRT", "sqrt", np.sqrt),
)
"""All of this family."""
