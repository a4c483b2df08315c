"""The activation fused into a step: what its result is limited to, and results within that.

Whoever evaluates, packs or binds a step hands its attributes on to here, and looks into none of them.
"""

import math
from dataclasses import dataclass
from enum import Enum
from functools import cache

import numpy as np

from codegen.ir.operator import Attrs
from codegen.ir.ops.base.fixed_point import INT32_MAX, INT32_MIN, round_half_away, wrap_int32
from codegen.ir.ops.base.rounding import RoundedAttrs
from codegen.ir.types import TensorType


class Activation(Enum):
    """Activation fused into an operator, applied to its result."""

    NONE = "none"
    RELU = "relu"
    RELU_N1_TO_1 = "relu_n1_to_1"
    RELU6 = "relu6"


_ENDS: dict[Activation, tuple[float, float]] = {
    Activation.NONE: (-math.inf, math.inf),
    Activation.RELU: (0.0, math.inf),
    Activation.RELU_N1_TO_1: (-1.0, 1.0),
    Activation.RELU6: (0.0, 6.0),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ActivatedAttrs(RoundedAttrs):
    """Attributes of an operator whose result a fused activation may limit."""

    activation: Activation = Activation.NONE


def real_limits(attrs: Attrs) -> tuple[float, float]:
    """Real (smallest, largest) result of a step with `attrs`; infinite where it is not limited."""
    return _ENDS[attrs.activation if isinstance(attrs, ActivatedAttrs) else Activation.NONE]


def stored_limits(attrs: Attrs, result: TensorType) -> tuple[int, int]:
    """Stored (smallest, largest) result of a step with `attrs`, an integer with or without a scale.

    Raises ValueError for a scale that is too small. Source: CalculateActivationRangeQuantized,
    CalculateActivationRange.
    """
    smallest, largest = result.dtype.limits
    low, high = real_limits(attrs)
    if low > -math.inf:
        smallest = max(smallest, _stored(low, result))
    if high < math.inf:
        largest = min(largest, _stored(high, result))
    return smallest, largest


def activated(values: np.ndarray, attrs: Attrs, result: TensorType) -> np.ndarray:
    """Clamp `values`, in units of the result, to the activation of `attrs`, and convert them to its type.

    Integers without a scale wrap first.
    """
    if not result.dtype.is_integer:
        return np.clip(values, *real_limits(attrs)).astype(result.dtype.numpy)
    whole = wrap_int32(values) if result.quantization is None else values
    return np.clip(whole, *stored_limits(attrs, result)).astype(result.dtype.numpy)


def _stored(real: float, result: TensorType) -> int:
    return int(real) if result.quantization is None else result.zero_point + _steps(real, result.scale)


@cache
def _steps(real: float, scale: float) -> int:
    """A limit in steps of a scale: few of both are asked for again and again."""
    with np.errstate(all="ignore"):  # infinite where float32 ends
        quotient = float(np.float32(real) / np.float32(scale))
    if not INT32_MIN <= quotient <= INT32_MAX:
        raise ValueError(f"a scale of {scale:g} is too small for an activation limit of {real:g}")
    return round_half_away(quotient)
