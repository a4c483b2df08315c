"""Limits of a step's stored result, as kernels get them: numbers, C fields, a refusal."""

import numpy as np

from codegen.ir import DType, Let
from codegen.ir.ops import BinaryAttrs
from codegen.ir.ops.base.activation import real_limits, stored_limits
from codegen.ir.ops.nonlinear import Clamp
from codegen.kernels.base.walk import Fields

FLT_MAX = float(np.finfo(np.float32).max)
"""Largest float32: as a limit it limits nothing; TFLite's float kernels have it so."""


def limits_of(let: Let) -> tuple[int, int]:
    """Least and largest integer that the step stores."""
    op = let.call.op
    return stored_limits(op.alone if isinstance(op, Clamp) else let.call.attrs, let.var.type)


def limit_fields(let: Let) -> Fields:
    """Least and largest result in C. Those of float32 are finite, as TFLite has them, unless they are
    `BinaryAttrs.unbounded`."""
    attrs = let.call.attrs
    if let.var.type.dtype is not DType.FLOAT32:
        low, high = limits_of(let)
    else:
        low, high = real_limits(attrs)
        if not (isinstance(attrs, BinaryAttrs) and attrs.unbounded):
            low, high = max(low, -FLT_MAX), min(high, FLT_MAX)
    return (("act_min", low), ("act_max", high))


def is_clamped(let: Let) -> bool:
    """True if the step stores fewer integers than its result's type holds."""
    return limits_of(let) != let.var.type.dtype.limits


def clamp_reason(let: Let) -> str | None:
    """Why a kernel refuses the step that stores every int8 number, or None."""
    return "its activation clamps to less than int8" if is_clamped(let) else None
