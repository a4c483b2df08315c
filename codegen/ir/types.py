"""Types of values: element type, quantisation, shape; and where a value lives (virtual device)."""

import enum
import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from codegen.ir.formulas import said

_Part = TypeVar("_Part")


class DType(enum.Enum):
    """Element type of a tensor. The value is its name in text and in NumPy."""

    INT4 = "int4"
    INT8 = "int8"
    UINT8 = "uint8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    UINT16 = "uint16"
    UINT32 = "uint32"
    UINT64 = "uint64"
    FLOAT16 = "float16"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    BOOL = "bool"

    def __init__(self, name: str) -> None:
        self.numpy: np.dtype[np.generic] = np.dtype("int8" if name == "int4" else name)
        """The NumPy type that holds an element; int4 is one an int8 there."""
        self.size_bytes: int = self.numpy.itemsize
        """Bytes of one element that stands by itself; of int4, files hold two in a byte."""

    @property
    def is_integer(self) -> bool:
        """True if elements are integers. bool is none."""
        return self.numpy.kind in "iu"

    @property
    def limits(self) -> tuple[int, int]:
        """Smallest and largest integer; raises ValueError for floats and bool."""
        if not self.is_integer:
            raise ValueError(f"{self.value} has no integer limits")
        if self is DType.INT4:
            return -8, 7
        bits = 8 * self.size_bytes  # np.iinfo takes twenty times as long, and is asked thousands of times
        return (0, 2**bits - 1) if self.numpy.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Quantization:
    """Affine quantisation: real = scale * (stored - zero_point), per tensor or along `axis`.

    Scales are float32 values (held as Python floats, exactly). Source: TFLite quantisation spec.
    """

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int | None = None

    def __post_init__(self) -> None:
        if not self.scales or len(self.scales) != len(self.zero_points):
            raise ValueError("quantisation needs as many zero points as scales, at least one")
        if self.axis is None and len(self.scales) != 1:
            raise ValueError("several scales need an axis")
        if any(not (scale > 0.0 and math.isfinite(scale)) for scale in self.scales):
            raise ValueError("scales must be positive and finite")

    @property
    def scale(self) -> float:
        """The one scale of a per-tensor quantisation; raises ValueError if per channel."""
        if len(self.scales) != 1:
            raise ValueError("quantisation is per channel")
        return self.scales[0]

    @property
    def zero_point(self) -> int:
        """The one zero point of a per-tensor quantisation; raises ValueError if per channel."""
        if len(self.zero_points) != 1:
            raise ValueError("quantisation is per channel")
        return self.zero_points[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorType:
    """Shape, element type and quantisation of a value.

    An extent is a number, or a `SymbolicInt` where it follows from open sizes of the function.
    """

    shape: tuple[int, ...]
    dtype: DType
    quantization: Quantization | None = None

    def __post_init__(self) -> None:
        if any(extent < 0 for extent in self.shape):
            raise ValueError(f"shape {self.shape} has a negative extent")
        axis = self.quantization.axis if self.quantization else None
        if axis is not None and not 0 <= axis < len(self.shape):
            raise ValueError(f"quantisation axis {axis} is outside shape {self.shape}")

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def size_bytes(self) -> int:
        """Bytes of the dense row-major tensor."""
        if self.dtype is DType.INT4:
            return (self.elements + 1) // 2
        return self.elements * self.dtype.size_bytes

    @property
    def scale(self) -> float:
        """Per-tensor scale; raises ValueError if the type is not quantised per tensor."""
        if self.quantization is None:
            raise ValueError("type is not quantised")
        return self.quantization.scale

    @property
    def zero_point(self) -> int:
        """Per-tensor zero point, 0 for types without quantisation."""
        return 0 if self.quantization is None else self.quantization.zero_point

    def __str__(self) -> str:
        return f"{self.dtype.value}[{','.join(said(extent) for extent in self.shape)}]"


class DeviceConflict(ValueError):
    """Two virtual devices disagree in a part that both have set."""


def _unify_part(part: str, part_here: _Part | None, part_there: _Part | None) -> _Part | None:
    if part_here is not None and part_there is not None and part_here != part_there:
        raise DeviceConflict(f"{part} is {part_here} here and {part_there} there")
    return part_there if part_here is None else part_here


@dataclass(frozen=True, kw_only=True, slots=True)
class VirtualDevice:
    """Place of a value: core or accelerator, its number, and the memory scope. Unset parts are free."""

    target: str | None = None
    device_id: int | None = None
    memory_scope: str | None = None

    def unify(self, other: "VirtualDevice") -> "VirtualDevice":
        """Both constraints at once; raises DeviceConflict naming the part in which they disagree."""

        return VirtualDevice(
            target=_unify_part("target", self.target, other.target),
            device_id=_unify_part("device id", self.device_id, other.device_id),
            memory_scope=_unify_part("memory scope", self.memory_scope, other.memory_scope),
        )

    @property
    def is_free(self) -> bool:
        """True when nothing is set."""
        return self == ANYWHERE


ANYWHERE = VirtualDevice()
