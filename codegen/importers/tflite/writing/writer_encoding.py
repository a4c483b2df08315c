"""Encodes the parts of a `.tflite` file with a flatbuffers builder (field numbers as in schema.fbs)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codegen.importers.tflite.file.option_tables import BY_OPERATOR, OptionField, OptionStorage
from codegen.importers.tflite.writing.writer_options import ACTIVATIONS, PADDINGS, TENSOR_TYPES

OptionValue = int | float | bool | str | Sequence[int]

_WORDS: Mapping[OptionStorage, Mapping[str, int]] = {
    OptionStorage.PADDING: PADDINGS,
    OptionStorage.ACTIVATION: ACTIVATIONS,
    OptionStorage.TYPE: TENSOR_TYPES,
}
"""Options that are said in words."""

_DATA_ALIGNMENT_BYTES = 16
_LARGEST_DEPRECATED_CODE = 127
"""Operator numbers that fit the schema's old one-byte field go there too, for old readers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorSpec:
    """A tensor as the file states it; no scales: not quantised; buffer 0: no data."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int
    buffer: int
    shape_signature: tuple[int, ...] | None
    variable: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class OperatorSpec:
    """An operator as the file states it; input -1: left out."""

    code: int
    """Index into the model's operator codes."""
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    name: str
    options: Mapping[str, OptionValue]
    custom_options: bytes = b""


def encoded(
    op: str, option: str, field: OptionField, value: OptionValue
) -> int | float | str | tuple[int, ...]:
    """The value as stored; raises ValueError when it is not of the option's kind."""
    words = _WORDS.get(field.kind, {})
    if isinstance(value, str) and value in words:
        return words[value]
    if field.kind is OptionStorage.TEXT and isinstance(value, str):
        return value
    if field.kind is OptionStorage.INTS and isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(int(item) for item in value)
    if field.kind is OptionStorage.FLOAT and isinstance(value, int | float):
        return float(value)
    if field.kind in (OptionStorage.INT, OptionStorage.BYTE, OptionStorage.BOOL) and isinstance(value, int):
        return int(value)
    raise ValueError(f"{op}: option {option} cannot be {value!r}, it is {field.kind.value}")


def write_offsets(fb: Any, offsets: Sequence[int]) -> int:
    """A vector of tables, in order; returns its offset."""
    fb.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        fb.PrependUOffsetTRelative(offset)
    return int(fb.EndVector())


def write_ints(fb: Any, values: Sequence[int]) -> int:
    """A vector of 32-bit integers, in order; returns its offset."""
    fb.StartVector(4, len(values), 4)
    for value in reversed(values):
        fb.PrependInt32(value)
    return int(fb.EndVector())


def _write_bytes(fb: Any, data: bytes) -> int:
    """A byte vector whose data is aligned as the schema demands of tensor data (force_align: 16)."""
    fb.StartVector(1, len(data), _DATA_ALIGNMENT_BYTES)
    fb.head = fb.head - len(data)
    fb.Bytes[fb.head : fb.head + len(data)] = data
    return int(fb.EndVector())


def write_buffer(fb: Any, data: bytes) -> int:
    """A `Buffer` table; one without data has no vector at all."""
    vector = _write_bytes(fb, data) if data else 0
    fb.StartObject(3)
    fb.PrependUOffsetTRelativeSlot(0, vector, 0)
    return int(fb.EndObject())


def write_metadata(fb: Any, name: str, buffer: int) -> int:
    """A `Metadata` table naming a buffer."""
    text = fb.CreateString(name)
    fb.StartObject(2)
    fb.PrependUOffsetTRelativeSlot(0, text, 0)
    fb.PrependUint32Slot(1, buffer, 0)
    return int(fb.EndObject())


def write_code(fb: Any, code: int, custom_code: str, version: int) -> int:
    """An `OperatorCode` table, readable for old and new readers."""
    custom = fb.CreateString(custom_code) if custom_code else 0
    fb.StartObject(4)
    fb.PrependInt8Slot(0, min(code, _LARGEST_DEPRECATED_CODE), 0)
    fb.PrependUOffsetTRelativeSlot(1, custom, 0)
    fb.PrependInt32Slot(2, version, 1)
    fb.PrependInt32Slot(3, code, 0)
    return int(fb.EndObject())


def _write_quantisation(fb: Any, tensor: TensorSpec) -> int:
    fb.StartVector(8, len(tensor.zero_points), 8)
    for zero in reversed(tensor.zero_points):
        fb.PrependInt64(zero)
    zeros = fb.EndVector()
    fb.StartVector(4, len(tensor.scales), 4)
    for scale in reversed(tensor.scales):
        fb.PrependFloat32(scale)
    scales = fb.EndVector()
    fb.StartObject(7)
    fb.PrependUOffsetTRelativeSlot(2, scales, 0)
    fb.PrependUOffsetTRelativeSlot(3, zeros, 0)
    fb.PrependInt32Slot(6, tensor.axis, 0)
    return int(fb.EndObject())


def write_tensor(fb: Any, tensor: TensorSpec) -> int:
    """A `Tensor` table with its quantisation."""
    name = fb.CreateString(tensor.name)
    shape = write_ints(fb, tensor.shape)
    quantisation = _write_quantisation(fb, tensor) if tensor.scales else 0
    signature = 0 if tensor.shape_signature is None else write_ints(fb, tensor.shape_signature)
    fb.StartObject(9)
    fb.PrependUOffsetTRelativeSlot(0, shape, 0)
    fb.PrependInt8Slot(1, TENSOR_TYPES[tensor.dtype], 0)
    fb.PrependUint32Slot(2, tensor.buffer, 0)
    fb.PrependUOffsetTRelativeSlot(3, name, 0)
    fb.PrependUOffsetTRelativeSlot(4, quantisation, 0)
    fb.PrependBoolSlot(5, tensor.variable, False)
    fb.PrependUOffsetTRelativeSlot(7, signature, 0)
    fb.PrependBoolSlot(8, True, False)
    return int(fb.EndObject())


def _write_options(fb: Any, operator: OperatorSpec) -> int:
    fields = BY_OPERATOR[operator.name].fields
    values = {
        name: encoded(operator.name, name, fields[name], value) for name, value in operator.options.items()
    }
    vectors = {name: write_ints(fb, value) for name, value in values.items() if isinstance(value, tuple)}
    vectors |= {name: fb.CreateString(value) for name, value in values.items() if isinstance(value, str)}
    fb.StartObject(max((field.number + 1 for field in fields.values()), default=0))
    for name, value in values.items():
        field = fields[name]
        if name in vectors:
            fb.PrependUOffsetTRelativeSlot(field.number, vectors[name], 0)
        elif field.kind is OptionStorage.FLOAT:
            fb.PrependFloat32Slot(field.number, value, 0.0)
        elif field.kind is OptionStorage.INT:
            fb.PrependInt32Slot(field.number, value, field.default)
        else:
            fb.PrependInt8Slot(field.number, value, field.default)
    return int(fb.EndObject())


def write_operator(fb: Any, operator: OperatorSpec) -> int:
    """An `Operator` table with its options."""
    inputs, outputs = write_ints(fb, operator.inputs), write_ints(fb, operator.outputs)
    table = BY_OPERATOR.get(operator.name)
    options = _write_options(fb, operator) if table else 0
    custom = int(fb.CreateByteVector(operator.custom_options)) if operator.custom_options else 0
    fb.StartObject(9)
    fb.PrependUint32Slot(0, operator.code, 0)
    fb.PrependUOffsetTRelativeSlot(1, inputs, 0)
    fb.PrependUOffsetTRelativeSlot(2, outputs, 0)
    if table:
        fb.PrependUint8Slot(3, table.union_code, 0)
        fb.PrependUOffsetTRelativeSlot(4, options, 0)
    if custom:
        fb.PrependUOffsetTRelativeSlot(5, custom, 0)
    return int(fb.EndObject())
