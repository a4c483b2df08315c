"""Scales and zero points as the file has them, and the integers they belong to."""

from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.held_types import looked_up, other_sign
from codegen.importers.onnx.layouts import (
    Axes,
    Computed,
    Known,
    StepList,
    Stored,
    StoredAs,
    Value,
    identity,
)
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused
from codegen.ir import DType, Quantization
from codegen.ir.ops.plain import ConvertAttrs

BYTES = np.arange(256, dtype=np.uint8).view(np.int8)
"""Every int8, in the order of a table."""

HELD = MappingProxyType(
    {"int8": (DType.INT8, 0), "uint8": (DType.INT8, 128)}
    | {"int16": (DType.INT16, 0), "uint16": (DType.INT16, 32768)}
)
"""Integers of the file -> the type they are held in, and how much less than the file means."""


class LeftInFloat(Exception):
    """Why a layer between DequantizeLinear and QuantizeLinear is no integer step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IntegerTarget:
    """Integers that a step has to give: int8 or int16, or unsigned ones that are held so (`HELD`)."""

    scale: float
    zero: int
    dtype: DType = DType.INT8
    less: int = 0

    @property
    def quantization(self) -> Quantization:
        """For a type."""
        return Quantization(scales=(self.scale,), zero_points=(self.zero,))

    def held(self, value: Value) -> Value:
        """Such integers as a value of the file."""
        return replace(value, less=self.less) if isinstance(value, Computed) else value


def scale_at(site: Site, position: int) -> np.ndarray:
    """Input `position` as float32 scales."""
    scales = site.known(position, "the scale")
    if scales.dtype != np.float32 or not np.all(np.isfinite(scales) & (scales > 0)):
        raise Refused("E301", "a scale has to be float32, positive and finite")
    return scales.reshape(()) if scales.size == 1 else scales


def zero_at(site: Site, position: int, default: str = "uint8") -> np.ndarray:
    """Input `position` as zero points; `default`: their type where they are left out."""
    if not site.has(position):
        return np.zeros((), default)
    zeros = site.known(position, "the zero point")
    return zeros.reshape(()) if zeros.size == 1 else zeros


def target_at(site: Site, position: int) -> IntegerTarget:
    """Scale and zero point of a result, inputs `position` and the next."""
    scale, zero = scale_at(site, position), zero_at(site, position + 1)
    if scale.ndim or zero.ndim:
        raise Refused("E301", "a result that is quantised per channel or in blocks is not supported")
    if str(zero.dtype) not in HELD:
        text = f"a result of type {zero.dtype} is not supported, supported are {', '.join(HELD)}"
        raise Refused("E301", text, "quantise activations to 8 or 16 bits")
    dtype, less = HELD[str(zero.dtype)]
    return IntegerTarget(scale=float(scale), zero=int(zero) - less, dtype=dtype, less=less)


def stored_at(site: Site, position: int, *, axis: int = 0) -> Stored:
    """Input `position` with scale and zero point in the two behind it."""
    value = site.operand(position)
    if isinstance(value, Stored):
        raise Refused("E303", "works on real numbers, needs integers")
    return stored(site, value, scale_at(site, position + 1), position + 2, axis)


def stored(site: Site, value: Value, scale: np.ndarray, zero_position: int, axis: int) -> Stored:
    """Integers with their meaning."""
    default = str(value.data.dtype) if isinstance(value, Known) else _type_in_file(value)
    zero = zero_at(site, zero_position, default)
    for numbers, what in ((scale, "scales"), (zero, "zero points")):
        fits = not numbers.ndim or (
            numbers.ndim == 1
            and -len(value.shape) <= axis < len(value.shape)
            and numbers.size == value.shape[axis]
        )
        if not fits:
            text = f"{what} of shape {list(numbers.shape)} for {list(value.shape)} are not supported"
            raise Refused("E301", text, "quantise per tensor or per channel, not in blocks")
    axis = axis % len(value.shape) if value.shape else 0
    if isinstance(value, Known):
        for numbers in (zero.dtype, value.data.dtype):
            if not np.issubdtype(numbers, np.integer) and str(numbers) not in ("int4", "uint4"):
                raise Refused("E301", f"integers of type {numbers} are not supported")
        number = zero.astype(np.int64)
        return Stored(
            value=Known(data=value.data.astype(np.int64)),
            scale=scale,
            zero=number,
            axis=axis,
            is_int4=str(value.data.dtype) == "int4" and not number.any(),
        )
    if scale.ndim or zero.ndim:
        raise Refused("E301", "a computed value that is quantised per channel is not supported")
    dtype, less = HELD.get(str(zero.dtype), (None, 0))
    if less and value.var.type.dtype.value == str(zero.dtype):  # of a layer that was computed in float32
        value = replace(other_sign(site.steps, value), less=less)
    if dtype is None or value.var.type.dtype is not dtype:
        text = f"integers of type {value.var.type.dtype.value} with a zero point of {zero.dtype}"
        raise Refused("E301", f"{text} are not supported, supported are {', '.join(HELD)}")
    target = IntegerTarget(scale=float(scale), zero=int(zero) - less, dtype=dtype, less=less)
    if value.var.type.quantization != target.quantization:
        value = _meaning_otherwise(site.steps, value, target.quantization)
    number = np.array(target.zero, np.int64)
    return Stored(value=value, scale=scale, zero=number, axis=axis)


def _type_in_file(value: Computed) -> str:
    """The integer type of a value in the file, before unsigned ones are held as signed."""
    return f"u{value.var.type.dtype.value}" if value.less else value.var.type.dtype.value


def _meaning_otherwise(steps: StepList, value: Computed, meaning: Quantization) -> Computed:
    """Give the same integers another scale or zero point."""
    if value.var.type.dtype is DType.INT8:
        return looked_up(steps, value, BYTES, meaning)
    attrs, dtype = ConvertAttrs(bits=True), value.var.type.dtype
    converted = steps.step(
        "PLAIN_CONVERT",
        [value.var],
        attrs,
        axes=value.axes,
        stored=StoredAs(dtype=dtype, quantization=meaning),
    )
    assert isinstance(converted, Computed), "its argument is computed"
    return converted


def every_real(value: Stored) -> np.ndarray:
    """The real numbers that the 256 bytes of a value stand for."""
    return (BYTES.astype(np.int64) - value.zero).astype(np.float32) * value.scale


def rounded(real: np.ndarray, target: IntegerTarget) -> np.ndarray:
    """Real numbers as QuantizeLinear gives them, held as the target has it."""
    with np.errstate(all="ignore"):
        units = np.rint(real.astype(np.float32) / np.float32(target.scale)).astype(np.float64)
    limits = target.dtype.limits
    return np.clip(np.nan_to_num(units, nan=-1e9) + target.zero, *limits).astype(target.dtype.numpy)


def computed(value: Stored) -> Computed:
    """The value, which the running model computes; raises LeftInFloat for a constant."""
    if not isinstance(value.value, Computed):
        raise LeftInFloat("an argument is a constant")
    return value.value


def axes_of(value: Value) -> Axes:
    """Memory axis of each axis of a value."""
    return value.axes if isinstance(value, Computed) else identity(len(value.shape))
