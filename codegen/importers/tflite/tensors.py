"""Types, quantisation and data of the file's tensors, checked when an operator first asks for them."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np
from tflite.TensorType import TensorType as TypeCode

from codegen.importers.limits import (
    MAX_RANK,
    MAX_SIDE,
    RAISE,
    STATED,
    ByteLimits,
)
from codegen.importers.printable_names import printable
from codegen.importers.reporting import AlreadyReported, Refused
from codegen.importers.tflite.file.reader import FileModel, FileTensor
from codegen.importers.tflite.problems import advice_for_type
from codegen.ir import Constant, DType, Quantization, TensorType

_T = TypeVar("_T")

_DTYPES = {
    TypeCode.INT4: DType.INT4,
    TypeCode.INT8: DType.INT8,
    TypeCode.UINT8: DType.UINT8,
    TypeCode.INT16: DType.INT16,
    TypeCode.INT32: DType.INT32,
    TypeCode.INT64: DType.INT64,
    TypeCode.UINT16: DType.UINT16,
    TypeCode.UINT32: DType.UINT32,
    TypeCode.UINT64: DType.UINT64,
    TypeCode.FLOAT16: DType.FLOAT16,
    TypeCode.FLOAT32: DType.FLOAT32,
    TypeCode.BOOL: DType.BOOL,
}
_CONSTANT_ONLY = (DType.FLOAT16, DType.INT4)
"""Element types of weights: no operator computes them."""
_TYPE_NAMES = {code: name.lower() for name, code in vars(TypeCode).items() if isinstance(code, int)}

_HANDLES = (TypeCode.RESOURCE, TypeCode.VARIANT)
STATIC_TYPES = (DType.INT32, DType.INT64)


GIVEN_STATE = ("CIRCULAR_BUFFER",)
"""Operators whose first result is a variable, their state."""


class Tensors:
    """The tensors of one file.

    All methods raise `Refused` for a tensor that cannot be imported, `AlreadyReported` the second time.
    """

    def __init__(self, model: FileModel, limits: ByteLimits = STATED) -> None:
        self._model = model
        self._most_bytes = limits.constants
        self._types: dict[int, TensorType] = {}
        self._constants: dict[int, Constant] = {}
        self._copies: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
        """By address and length of the file's bytes: these, which so keep their address, and the copy."""
        self._broken: set[int] = set()
        self._folded: dict[int, np.ndarray] = {}
        self._copied_bytes = 0
        self._is_open = False
        self._given = {
            operator.outputs[0]
            for operator in model.operators
            if operator.kind in GIVEN_STATE and operator.outputs
        }
        """Variables that are results too."""

    def resize(self, index: int, shape: tuple[int, ...]) -> None:
        """Let a tensor have another shape than the file gives it; its element type stays."""
        self._types[index] = replace(self.type(index), shape=shape)

    def declare_open(self) -> None:
        """Take every unknown extent as 1 until `resize` says what it is."""
        self._is_open = True

    @property
    def used_constants(self) -> dict[str, Constant]:
        """Constants that operators asked for, by id."""
        return {constant.id: constant for constant in self._constants.values()}

    def tensor(self, index: int) -> FileTensor:
        """The file's record of tensor `index`."""
        if not 0 <= index < len(self._model.tensors):
            raise Refused("E303", f"there is no tensor {index}, the file has {len(self._model.tensors)}")
        return self._model.tensors[index]

    def is_handle(self, index: int) -> bool:
        """True if the tensor names a variable instead of holding numbers; only operators on those have it."""
        return self.tensor(index).type_code in _HANDLES

    def fold(self, index: int, data: np.ndarray) -> None:
        """Let the tensor be a constant with `data`, as if the file held it."""
        little_endian = np.ascontiguousarray(data).astype(data.dtype.newbyteorder("<"), copy=False)
        self._folded[index] = np.frombuffer(little_endian.tobytes(), np.uint8)

    def is_folded(self, index: int) -> bool:
        """True if the tensor's data was computed while the file was read."""
        return index in self._folded

    def has_data(self, index: int) -> bool:
        """True if the tensor is a constant: the file holds bytes for it, or they were folded."""
        return len(self._bytes(self.tensor(index))) > 0

    def is_unsigned(self, index: int) -> bool:
        """True if the file has uint8 with a scale there, which is held as int8 with 128 less."""
        tensor = self.tensor(index)
        return tensor.type_code == TypeCode.UINT8 and len(tensor.quantization.scales) > 0

    def type(self, index: int) -> TensorType:
        """Type of a tensor that values flow through: at least one element, of a supported type. uint8 with a
        scale is held as int8: elements and zero points are 128 less."""
        type_ = self._types.get(index)
        if type_ is None:
            type_ = self._types[index] = self._once(index, self._checked_type)
        return type_

    def state_type(self, index: int) -> TensorType:
        """Type of a variable tensor, which an operator with state reads and writes."""
        tensor = self.tensor(index)
        if not tensor.variable or self.has_data(index):
            raise _refused(tensor, "E303", "has to be a variable without data, as state is")
        return self._once(index, lambda checked: self._checked_type(checked, is_state=True))

    def constant(self, index: int) -> Constant:
        """The constant with the tensor's bytes; every one is a private copy of the file's, made once."""
        constant = self._constants.get(index)
        if constant is None:
            constant = self._constants[index] = self._once(index, self._checked_constant)
        return constant

    def raw_bytes(self, index: int) -> np.ndarray:
        """A private copy of the file's bytes of a tensor, whatever its type."""
        return self._copy(self._bytes(self.tensor(index))).view(np.uint8)

    def arena_offset(self, index: int) -> int:
        """Offset of a tensor in the arena for which the file was planned, -1 where the file states none."""
        offsets, count = self._model.arena_offsets, len(self._model.tensors)
        if offsets is None:
            text = "the file lacks the metadata OfflineMemoryAllocation: where values lie is not known"
            raise Refused("E316", text)
        if len(offsets) != count:
            raise Refused("E316", f"OfflineMemoryAllocation has {len(offsets)} offsets for {count} tensors")
        return offsets[index]

    def make(self, data: np.ndarray, quantization: Quantization | None = None) -> Constant:
        """A further constant that an operator needs."""
        number = sum(index < 0 for index in self._constants)
        kind = TensorType(shape=data.shape, dtype=DType(str(data.dtype)), quantization=quantization)
        made = Constant(id=f"made{number}", type=kind, data=data)
        self._constants[-1 - number] = made
        return made

    def _once(self, index: int, check: Callable[[FileTensor], _T]) -> _T:
        """Return `check(tensor)`; a tensor that was refused before is not reported again."""
        if index in self._broken:
            raise AlreadyReported
        tensor = self.tensor(index)
        try:
            return check(tensor)
        except Refused:
            self._broken.add(index)
            raise

    def numbers(self, index: int, limit: int) -> tuple[int, ...]:
        """Values of a constant int32 or int64 tensor of at most `limit` elements (axes, a shape)."""
        tensor = self.tensor(index)
        dtype = _dtype(tensor)
        if dtype not in STATIC_TYPES:
            raise _refused(tensor, "E303", f"is {dtype.value}, it has to be int32 or int64")
        shape = self.type(index).shape if self.is_folded(index) else _shape(tensor)
        if math.prod(shape) > limit:
            raise _refused(tensor, "E303", f"has shape {list(shape)}, at most {limit} numbers make sense")
        data = self._bytes(tensor)
        _need_size(tensor, len(data), math.prod(shape) * dtype.size_bytes)
        return tuple(np.frombuffer(data.tobytes(), dtype.numpy.newbyteorder("<")).tolist())

    def _bytes(self, tensor: FileTensor) -> np.ndarray:
        if tensor.index in self._folded:
            return self._folded[tensor.index]
        if tensor.buffer >= len(self._model.buffers):
            raise Refused(
                "E303", f"{tensor} is in buffer {tensor.buffer}, the file has {len(self._model.buffers)}"
            )
        return self._model.buffers[tensor.buffer]

    def _checked_type(self, tensor: FileTensor, *, is_state: bool = False) -> TensorType:
        if tensor.variable and not (is_state or tensor.index in self._given):
            raise _refused(
                tensor,
                "E301",
                "is a variable: state kept between inferences is not supported",
                "make the state an input and an output of the model",
            )
        if tensor.sparse:
            text = "is sparse, which is not supported"
            raise _refused(tensor, "E301", text, "convert it as a dense model")
        dtype = _dtype(tensor)
        if dtype in _CONSTANT_ONLY and not self.has_data(tensor.index):
            raise _unsupported_type(tensor)
        shape = _shape(tensor, is_open=self._is_open)
        if 0 in shape:
            raise _refused(tensor, "E303", f"has shape {list(shape)}, which has no elements")
        size_bytes = TensorType(shape=shape, dtype=dtype).size_bytes
        if size_bytes > self._most_bytes:
            text = f"of shape {list(shape)} has {size_bytes} bytes, the limit is {self._most_bytes}"
            raise _refused(tensor, "E305", text, RAISE)
        quantization = _quantization(self._scaled(tensor), dtype, shape)
        type_ = TensorType(shape=shape, dtype=dtype, quantization=quantization)
        if dtype is not DType.UINT8 or type_.quantization is None:
            return type_
        if len(tensor.quantization.scales) > 1:
            text = "is uint8 with a scale by channel, supported is one for the tensor"
            raise _refused(tensor, "E301", text, advice_for_type("uint8"))
        return moved(type_)

    def _scaled(self, tensor: FileTensor) -> FileTensor:
        """With a scale that makes every factor 0, as TFLite has it, where exporters write 0 for zeros."""
        declared = tensor.quantization
        if not (np.array_equal(declared.scales, [0]) and np.array_equal(declared.zero_points, [0])):
            return tensor
        is_zero = self.has_data(tensor.index) and not np.any(self._bytes(tensor))
        return replace(tensor, quantization=replace(declared, scales=_SMALLEST)) if is_zero else tensor

    def _checked_constant(self, tensor: FileTensor) -> Constant:
        kind = self.type(tensor.index)
        stored = self._bytes(tensor)
        _need_size(tensor, len(stored), kind.size_bytes)
        copy = self._copy(stored)
        if kind.dtype is DType.INT4:
            elements = _unpacked(copy, kind.elements)
        elif self.is_unsigned(tensor.index) and not self.is_folded(tensor.index):
            elements = (copy ^ SIGN_BIT).view(np.int8)
        else:
            elements = copy.view(kind.dtype.numpy.newbyteorder("<")).astype(kind.dtype.numpy, copy=False)
        data = elements.reshape(kind.shape)
        data.setflags(write=False)
        return Constant(id=f"c{tensor.index}", type=kind, data=data, origin=printable(tensor.name))

    def _copy(self, stored: np.ndarray) -> np.ndarray:
        """One copy of a run of the file's bytes; tensors that share a buffer share it."""
        key = (int(stored.__array_interface__["data"][0]), len(stored))
        if key not in self._copies:
            self._copied_bytes += len(stored)
            if self._copied_bytes > self._most_bytes:
                text = f"constants have more than {self._most_bytes} bytes together"
                raise Refused("E305", text, RAISE)
            self._copies[key] = stored, stored.copy()
        return self._copies[key][1]


def _refused(tensor: FileTensor, code: str, text: str, advice: str | None = None) -> Refused:
    """Refuse a tensor; `text` follows its name, or the words `a tensor` of several."""
    return Refused(code, f"{tensor} {text}", advice, reason=f"a tensor {text}", subject=str(tensor))


_SMALLEST = np.array([np.finfo(np.float32).tiny])

SIGN_BIT = np.uint8(0x80)
"""Turned, it makes of a uint8 the int8 that is 128 less, and back."""


def moved(stored: TensorType) -> TensorType:
    """The int8 type whose elements and zero points are 128 less than those of a uint8 type."""
    return _with_zero_points(stored, DType.INT8, -128)


def as_in_file(held: TensorType) -> TensorType:
    """The uint8 type that is held as `held`."""
    return _with_zero_points(held, DType.UINT8, 128)


def _with_zero_points(was: TensorType, dtype: DType, more: int) -> TensorType:
    assert was.quantization is not None, "uint8 without a scale is held as it is"
    zeros = tuple(zero + more for zero in was.quantization.zero_points)
    return replace(was, dtype=dtype, quantization=replace(was.quantization, zero_points=zeros))


def unknown_extent(tensor: FileTensor, shape: tuple[int, ...], advice: str = "") -> Refused:
    """Refuse a tensor whose `shape` is unknown beside its first extent."""
    text = "only the first extent may be unknown (-1)"
    return Refused(
        "E301",
        f"{tensor} has shape {list(shape)}: {text}",
        advice or "convert the model with a fixed input shape, or say it with --dim",
        reason=f"of a shape {text}",
        subject=str(tensor),
    )


def _dtype(tensor: FileTensor) -> DType:
    dtype = _DTYPES.get(tensor.type_code)
    if dtype is None:
        raise _unsupported_type(tensor)
    return dtype


def _unsupported_type(tensor: FileTensor) -> Refused:
    name = _TYPE_NAMES.get(tensor.type_code, f"of type number {tensor.type_code}")
    text = f"is {name}, supported are int8, int16 and float32"
    return _refused(tensor, "E301", text, advice_for_type(name))


def _unpacked(stored: np.ndarray, count: int) -> np.ndarray:
    """int4 elements, which lie two in a byte, the first one in its low half."""
    low, high = (stored << 4).view(np.int8) >> 4, stored.view(np.int8) >> 4
    return np.stack([low, high], axis=1).reshape(-1)[:count]


def _shape(tensor: FileTensor, *, is_open: bool = False) -> tuple[int, ...]:
    """The static shape: an unknown first extent (the batch) is 1, any other is refused unless `is_open`."""
    if tensor.rank > MAX_RANK:
        raise _refused(tensor, "E305", f"has {tensor.rank} dimensions, up to {MAX_RANK} are supported")
    shape = (1, *tensor.shape[1:]) if tensor.shape[:1] == (-1,) else tensor.shape
    shape = tuple(1 if extent == -1 else extent for extent in shape) if is_open else shape
    if any(extent == -1 for extent in shape):
        raise unknown_extent(tensor, tensor.shape)
    if any(extent < 0 for extent in shape):
        raise _refused(tensor, "E303", f"has shape {list(tensor.shape)}, extents cannot be negative")
    return shape


def _need_size(tensor: FileTensor, found_bytes: int, needed_bytes: int) -> None:
    if found_bytes != needed_bytes:
        raise Refused(
            "E303",
            f"{tensor} of shape {list(tensor.shape)} needs {needed_bytes} bytes, its buffer {found_bytes}",
        )


def _quantization(tensor: FileTensor, dtype: DType, shape: tuple[int, ...]) -> Quantization | None:
    """Tensors of floats and of truth may carry parameters that no kernel reads: they are dropped."""
    if not dtype.is_integer:
        return None
    declared = tensor.quantization
    if declared.is_custom:
        raise _refused(tensor, "E301", "has custom quantisation, which is not supported")
    count = len(declared.scales)
    if count == 0:
        return None
    zero_points = declared.zero_points.tolist()
    if len(zero_points) == 1:  # tflite-micro's own tool keeps one where all channels have it
        zero_points *= count
    if len(zero_points) != count:
        raise _refused(tensor, "E304", f"has {count} scales and {len(declared.zero_points)} zero points")
    if not bool(np.all(np.isfinite(declared.scales) & (declared.scales > 0))):
        raise _refused(tensor, "E304", "has a scale that is not a positive number")
    low, high = dtype.limits
    if int(declared.zero_points.min()) < low or int(declared.zero_points.max()) > high:
        raise _refused(tensor, "E304", f"has a zero point outside {dtype.value}")
    return Quantization(
        scales=tuple(declared.scales.tolist()),
        zero_points=tuple(zero_points),
        axis=None if count == 1 else _channel_axis(tensor, shape),
    )


def _channel_axis(tensor: FileTensor, shape: tuple[int, ...]) -> int:
    """Axis of per-channel scales. A tensor of one dimension has only one, whatever number the file gives."""
    declared = tensor.quantization
    axis, count = 0 if len(shape) == 1 else declared.axis, len(declared.scales)
    if not 0 <= axis < len(shape) or shape[axis] != count:
        raise Refused(
            "E304", f"{tensor} of shape {list(shape)} has {count} scales along axis {declared.axis}"
        )
    return axis


def need_few_rows(rows: int) -> None:
    """Raise Refused E305 for a FULLY_CONNECTED of more than `MAX_SIDE` rows."""
    if rows > MAX_SIDE:
        raise Refused("E305", f"multiplies {rows:,} rows by its weights, up to {MAX_SIDE:,} are imported")
