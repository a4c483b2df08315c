"""Functions of one element that are made of others: trigonometry, powers, questions of a number."""

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.arithmetic import (
    calculated,
    convert,
    each_element,
    number_like,
    pair,
    plain,
)
from codegen.importers.onnx.layouts import Known, StoredAs, Value
from codegen.importers.onnx.node_site import Site, value_type
from codegen.importers.reporting import Refused
from codegen.ir import DType
from codegen.ir.ops import Attrs, GeluAttrs

MAX_POWER = 64
"""Largest whole exponent that becomes products."""


class Real:
    """A float32 value that is calculated with; numbers stand for themselves."""

    def __init__(self, site: Site, value: Value) -> None:
        self.site, self.value = site, value

    def _with(self, op: str, other: "Real | float", *, swapped: bool = False) -> "Real":
        second = other.value if isinstance(other, Real) else number_like(other, self.value)
        both = [second, self.value] if swapped else [self.value, second]
        return Real(self.site, pair(self.site, op, both))

    def __add__(self, other: "Real | float") -> "Real":
        return self._with("ADD", other)

    def __sub__(self, other: "Real | float") -> "Real":
        return self._with("SUB", other)

    def __rsub__(self, other: float) -> "Real":
        return self._with("SUB", other, swapped=True)

    def __mul__(self, other: "Real | float") -> "Real":
        return self._with("MUL", other)

    def __truediv__(self, other: "Real | float") -> "Real":
        return self._with("DIV", other)

    def __rtruediv__(self, other: float) -> "Real":
        return self._with("DIV", other, swapped=True)

    def at_least(self, other: float) -> "Real":
        """The larger of both."""
        return self._with("MAXIMUM", other)

    def at_most(self, other: float) -> "Real":
        """The smaller of both."""
        return self._with("MINIMUM", other)

    def of(self, op: str) -> "Real":
        """A function of each element."""
        return Real(self.site, each_element(self.site, op, self.value))

    def is_below(self, other: float) -> Value:
        """bool."""
        return pair(self.site, "LESS", [self.value, number_like(other, self.value)], DType.BOOL)

    def is_above(self, other: float) -> Value:
        """bool."""
        return pair(self.site, "LESS", [number_like(other, self.value), self.value], DType.BOOL)


def choice(site: Site, condition: Value, first: Value, second: Value) -> Value:
    """The first where the condition holds, else the second."""
    args, axes = site.together([condition, first, second])
    return site.steps.step("SELECT_V2", args, Attrs(), axes=axes, stored=StoredAs(dtype=args[1].type.dtype))


def signed(x: Real, size: Real) -> Real:
    """A size with the sign of `x`."""
    return Real(x.site, choice(x.site, x.is_below(0.0), (size * -1.0).value, size.value))


def _polynomial(x: Real, factors: Sequence[float]) -> Real:
    """Horner's scheme, the highest power first."""
    sum_ = x * factors[0] + factors[1]
    for factor in factors[2:]:
        sum_ = sum_ * x + factor
    return sum_


_ATAN = (
    *(0.0028662257, -0.0161657367, 0.0429096138, -0.07528964, 0.1065626393),
    *(-0.1420889944, 0.1999355085, -0.3333314528, 1.0),
)
"""Coefficients of arctan from x^16 to 1, within 2e-8 from 0 to 1. Source: Abramowitz and Stegun, 4.4.49."""

_ERF = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592, 0.0)
"""Coefficients of erf from t^5 to 1, within 1.5e-7. Source: Abramowitz and Stegun, 7.1.26."""


def _atan(x: Real) -> Real:
    size = x.of("ABS")
    is_large = size.is_above(1.0)
    inner = Real(x.site, choice(x.site, is_large, (1.0 / size.at_least(1.0)).value, size.value))
    low = inner * _polynomial(inner * inner, _ATAN)
    angle = choice(x.site, is_large, (math.pi / 2 - low).value, low.value)
    return signed(x, Real(x.site, angle))


def _asin(x: Real) -> Real:
    return _atan(x / (1.0 - x * x).of("SQRT"))


def _erf(x: Real) -> Real:
    size = x.of("ABS")
    power = (size * size * -1.0).of("EXP")
    return signed(x, 1.0 - _polynomial(1.0 / (size * 0.3275911 + 1.0), _ERF) * power)


def _asinh(x: Real) -> Real:
    size = x.of("ABS")
    return signed(x, (size + (size * size + 1.0).of("SQRT")).of("LOG"))


def _sinh(x: Real) -> Real:
    """By a series where the difference of powers would cancel."""
    small = x * _polynomial(x * x, (1 / 5040, 1 / 120, 1 / 6, 1.0))
    large = (x.of("EXP") - (x * -1.0).of("EXP")) * 0.5
    return Real(x.site, choice(x.site, x.of("ABS").is_below(0.5), small.value, large.value))


def _curve(function: Callable[[Real], Real]) -> Callable[[Site], Value]:
    def translate(site: Site) -> Value:
        value = site.value(0)
        site.need_float(value)
        return function(Real(site, value)).value

    return translate


def _elu(site: Site) -> Value:
    value, alpha = site.value(0), site.real("alpha", 1.0)
    if alpha == 1.0:
        return each_element(site, "ELU", value)
    site.need_float(value)
    x = Real(site, value)
    return (x.at_least(0.0) + x.at_most(0.0).of("ELU") * alpha).value


def _gelu(site: Site) -> Value:
    """Gelu: x times the share of a normal distribution below x, by erf or by tanh."""
    return each_element(
        site, "GELU", site.value(0), GeluAttrs(approximate=site.word("approximate", "none") == "tanh")
    )


def _sign(site: Site) -> Value:
    value = site.value(0)
    if value_type(value) == "float32":
        x = Real(site, value)
        plus, zero, minus = (number_like(number, value) for number in (1.0, 0.0, -1.0))
        return choice(site, x.is_below(0.0), minus, choice(site, x.is_above(0.0), plus, zero))
    low, high = (Known(data=np.full((1,) * len(value.shape), n).astype(value_type(value))) for n in (-1, 1))
    if value_type(value).startswith("u"):
        return calculated(site, "MINIMUM", [value, high])
    return calculated(site, "MAXIMUM", [calculated(site, "MINIMUM", [value, high]), low])


def _is_nan(site: Site) -> Value:
    value = site.value(0)
    site.need_float(value)
    return pair(site, "NOT_EQUAL", [value, value], DType.BOOL)


def _is_inf(site: Site) -> Value:
    value = site.value(0)
    site.need_float(value)
    x, largest = Real(site, value), float(np.finfo(np.float32).max)
    above, below = x.is_above(largest), x.is_below(-largest)
    positive, negative = site.integer("detect_positive", 1), site.integer("detect_negative", 1)
    if positive and negative:
        return pair(site, "MAXIMUM", [above, below], DType.BOOL)
    if positive or negative:
        return above if positive else below
    return pair(site, "LESS", [value, value], DType.BOOL)


def _power(site: Site) -> Value:
    """Pow by constants: products where they are whole, else by logarithms (no number of a negative base)."""
    value, exponent = site.value(0), site.known(1, "the exponent")
    kind = value_type(value)
    if kind != "float32":
        return _whole_power(site, value, exponent)
    numbers = exponent.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise Refused("E301", "a power that is not finite is not supported")
    if exponent.size == 1 and float(numbers.reshape(-1)[0]) == 0.5:
        return each_element(site, "SQRT", value)
    if not np.array_equal(numbers, np.round(numbers)):
        powers = Known(data=numbers.astype(np.float32))
        return each_element(site, "EXP", pair(site, "MUL", [each_element(site, "LOG", value), powers]))
    whole = np.abs(numbers).astype(np.int64)
    if whole.max(initial=0) > MAX_POWER:
        raise Refused("E301", f"a whole power beyond {MAX_POWER} is not supported")
    powers_of_value = products(site, value, whole)
    if not np.any(numbers < 0):
        return powers_of_value
    inverse = pair(site, "DIV", [number_like(1.0, powers_of_value), powers_of_value])
    return inverse if np.all(numbers < 0) else choice(site, Known(data=numbers < 0), inverse, powers_of_value)


def products(site: Site, value: Value, whole: np.ndarray) -> Value:
    """value^whole: squares of squares, times those of the exponent's bits."""
    product: Value | None = None
    square = value
    for bit in range(int(whole.max(initial=0)).bit_length()):
        square = pair(site, "MUL", [square, square]) if bit else value
        has = (whole >> bit) & 1 == 1
        if not has.any():
            continue
        factor = square
        if not has.all():
            factor = choice(site, Known(data=has), square, number_like(1.0, square))
        product = factor if product is None else pair(site, "MUL", [product, factor])
    if product is None:
        return pair(site, "MUL", [value, Known(data=np.zeros(whole.shape, np.float32))])
    return product


def _whole_power(site: Site, value: Value, exponent: np.ndarray) -> Value:
    kind = value_type(value)
    if np.array_equal(exponent, np.round(exponent.astype(np.float64))):
        return plain(site, "pow", [value, Known(data=exponent.astype(kind))])
    real = Real(site, convert(site, value, "float32"))
    powers = Real(site, Known(data=exponent.astype(np.float32)))
    return convert(site, (real.of("LOG") * powers).of("EXP").value, kind)


def _thresholded(x: Real) -> Real:
    alpha = x.site.real("alpha", 1.0)
    return Real(x.site, choice(x.site, x.is_above(alpha), x.value, number_like(0.0, x.value)))


def _binarized(x: Real) -> Real:
    """Binarizer: 1 above the threshold, else 0."""
    return Real(x.site, convert(x.site, x.is_above(x.site.real("threshold", 0.0)), "float32"))


NODES: Mapping[str, Callable[[Site], Value]] = MappingProxyType(
    {
        "ai.onnx.ml.Binarizer": _curve(_binarized),
        "Acos": _curve(lambda x: math.pi / 2 - _asin(x)),
        "Acosh": _curve(lambda x: (x + (x * x - 1.0).of("SQRT")).of("LOG")),
        "Asin": _curve(_asin),
        "Asinh": _curve(_asinh),
        "Atan": _curve(_atan),
        "Atanh": _curve(lambda x: ((x + 1.0) / (1.0 - x)).of("LOG") * 0.5),
        "Cosh": _curve(lambda x: (x.of("EXP") + (x * -1.0).of("EXP")) * 0.5),
        "Elu": _elu,
        "Erf": _curve(_erf),
        "Gelu": _gelu,
        "IsInf": _is_inf,
        "IsNaN": _is_nan,
        "Pow": _power,
        "Sign": _sign,
        "Sinh": _curve(_sinh),
        "Softplus": _curve(lambda x: ((x.of("ABS") * -1.0).of("EXP") + 1.0).of("LOG") + x.at_least(0.0)),
        "Softsign": _curve(lambda x: x / (x.of("ABS") + 1.0)),
        "Tan": _curve(lambda x: x.of("SIN") / x.of("COS")),
        "ThresholdedRelu": _curve(_thresholded),
    }
)
