"""Scales and zero points as the file has them, and the integers they belong to."""

from dataclasses import dataclass

import numpy as np

from codegen.importers.onnx.layouts import Axes, Computed, Known, StepList, Stored, Value, identity
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused
from codegen.ir import DType, Quantization
from codegen.ir.ops import Attrs

_BYTES = np.arange(256, dtype=np.uint8).view(np.int8)
"""Every int8, in the order of a table."""


class LeftInFloat(Exception):
    """Why a layer between DequantizeLinear and QuantizeLinear is no integer step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IntegerTarget:
    """What integers a step has to give: int8, or uint8 that is held with 128 less."""

    scale: float
    zero: int

    @property
    def quantization(self) -> Quantization:
        """For a type."""
        return Quantization(scales=(self.scale,), zero_points=(self.zero,))


def scale_at(site: Site, position: int) -> np.ndarray:
    """Input `position` as float32 scales."""
    found = site.known(position, "the scale")
    if found.dtype != np.float32 or not np.all(np.isfinite(found) & (found > 0)):
        raise Refused("E301", "a scale has to be float32, positive and finite")
    return found.reshape(()) if found.size == 1 else found


def zero_at(site: Site, position: int, default: str = "uint8") -> np.ndarray:
    """Input `position` as zero points; `default`: their type where they are left out."""
    if not site.has(position):
        return np.zeros((), default)
    found = site.known(position, "the zero point")
    return found.reshape(()) if found.size == 1 else found


def target_at(site: Site, position: int) -> IntegerTarget:
    """Scale and zero point of a result, inputs `position` and the next."""
    scale, zero = scale_at(site, position), zero_at(site, position + 1)
    if scale.ndim or zero.ndim:
        raise Refused("E301", "a result that is quantised per channel or in blocks is not supported")
    if str(zero.dtype) not in ("int8", "uint8"):
        text = f"a result of type {zero.dtype} is not supported, supported are int8 and uint8"
        raise Refused("E301", text, "quantise activations to 8 bits")
    return IntegerTarget(scale=float(scale), zero=int(zero) - _less(zero))


def _less(zero: np.ndarray) -> int:
    """How much less is held than the file means."""
    return 128 if zero.dtype == np.uint8 else 0


def stored_at(site: Site, position: int, *, axis: int = 0) -> Stored:
    """Input `position` with scale and zero point in the two behind it."""
    value = site.given(position)
    if isinstance(value, Stored):
        raise Refused("E303", "works on real numbers, needs integers")
    return stored(site, value, scale_at(site, position + 1), position + 2, axis)


def stored(site: Site, value: Value, scale: np.ndarray, zero_position: int, axis: int) -> Stored:
    """Integers with their meaning."""
    default = str(value.data.dtype) if isinstance(value, Known) else "uint8"
    zero = zero_at(site, zero_position, default)
    for each, what in ((scale, "scales"), (zero, "zero points")):
        fits = not each.ndim or (
            each.ndim == 1 and -len(value.shape) <= axis < len(value.shape) and each.size == value.shape[axis]
        )
        if not fits:
            text = f"{what} of shape {list(each.shape)} for {list(value.shape)} are not supported"
            raise Refused("E301", text, "quantise per tensor or per channel, not in blocks")
    axis = axis % len(value.shape) if value.shape else 0
    if isinstance(value, Known):
        data = value.data
        if not np.issubdtype(zero.dtype, np.integer) and str(zero.dtype) not in ("int4", "uint4"):
            raise Refused("E301", f"integers of type {zero.dtype} are not supported")
        if data.dtype == np.int8 and zero.dtype == np.uint8:
            data = data.astype(np.int16) + 128
        number = zero.astype(np.int64)
        return Stored(value=Known(data=data.astype(np.int64)), scale=scale, zero=number, axis=axis)
    if scale.ndim or zero.ndim:
        raise Refused("E301", "a computed value that is quantised per channel is not supported")
    if value.var.type.dtype is not DType.INT8 or str(zero.dtype) not in ("int8", "uint8"):
        text = f"integers of type {value.var.type.dtype.value} with a zero point of {zero.dtype}"
        raise Refused("E301", f"{text} are not supported, supported are int8 and uint8")
    wanted = IntegerTarget(scale=float(scale), zero=int(zero) - _less(zero))
    if value.var.type.quantization != wanted.quantization:
        value = looked_up(site.steps, value, _BYTES, wanted.quantization)
    number = np.array(wanted.zero, np.int64)
    return Stored(value=value, scale=scale, zero=number, axis=axis)


def looked_up(
    steps: StepList,
    value: Computed,
    table: np.ndarray,
    quantization: Quantization | None,
    dtype: DType = DType.INT8,
) -> Computed:
    """A function of one byte by its 256 results."""
    args = [value.var, steps.constant(table.view(np.int8))]
    found = steps.step("LOOKUP", args, Attrs(), axes=value.axes, dtype=dtype, quantization=quantization)
    assert isinstance(found, Computed), "its argument is computed"
    return found


def every_real(value: Stored) -> np.ndarray:
    """The real numbers that the 256 bytes of a value stand for."""
    return (_BYTES.astype(np.int64) - value.zero).astype(np.float32) * value.scale


def rounded(real: np.ndarray, target: IntegerTarget) -> np.ndarray:
    """Real numbers as int8, as QuantizeLinear gives them."""
    with np.errstate(all="ignore"):
        units = np.rint(real.astype(np.float32) / np.float32(target.scale)).astype(np.float64)
    return np.clip(np.nan_to_num(units, nan=-1e9) + target.zero, -128, 127).astype(np.int8)


def computed(value: Stored) -> Computed:
    """The value, which the running model computes; raises LeftInFloat for a constant."""
    if not isinstance(value.value, Computed):
        raise LeftInFloat("an argument is a constant")
    return value.value


def axes_of(value: Value) -> Axes:
    """Where its axes are."""
    return value.axes if isinstance(value, Computed) else identity(len(value.shape))
