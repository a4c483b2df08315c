"""TFLite Micro's offline memory plan: the tensors of a file as a planning problem, a plan as its metadata.

TFLite Micro reads the metadata entry `OfflineMemoryAllocation`: a buffer of 32-bit words, little-endian:
version (1), subgraph (0), number of tensors, then for each tensor of the subgraph its offset in the arena or
-1 (planned at start-up, among them what kernels ask for). Source: micro_allocation_info.cc and
memory_management.md of tflite-micro. Results never share bytes with arguments there.
"""

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any, cast

from tflite.Model import Model
from tflite.TensorType import TensorType as TypeCode

from codegen.errors import CodegenError, Message, Messages
from codegen.importers.tflite.file.reader import METADATA, FileModel, FileTensor, read
from codegen.problem.problem import Buffer, BufferKind, Limits, MemoryPlan, Pool, Problem, interval_conflicts

ARENA = "arena"
"""Name of the one pool."""

ALIGNMENT = 16
"""Alignment of every buffer in TFLite Micro's arena, and of its size (`MicroArenaBufferAlignment`)."""

ONLINE = -1
"""Offset of a tensor that TFLite Micro plans itself."""

_VERSION = 1
_MODEL_FIELDS = 8
_BUFFERS_FIELD, _METADATA_FIELD = 4, 6
_PREFIX_ALIGNMENT = 64
"""The old file moves by a multiple of this, so whatever was aligned in it stays aligned."""

_SIZES: Mapping[int, int] = {
    TypeCode.BOOL: 1,
    TypeCode.INT8: 1,
    TypeCode.UINT8: 1,
    TypeCode.INT16: 2,
    TypeCode.FLOAT16: 2,
    TypeCode.INT32: 4,
    TypeCode.UINT32: 4,
    TypeCode.FLOAT32: 4,
    TypeCode.INT64: 8,
    TypeCode.UINT64: 8,
    TypeCode.FLOAT64: 8,
    TypeCode.COMPLEX64: 8,
}
"""Bytes of an element by the schema's type code."""


def tensor_problem(data: bytes, file_name: str, *, limit_bytes: int, limits: Limits | None = None) -> Problem:
    """The tensors that TFLite Micro keeps in its arena, in the file's operator order; ids are tensor numbers.

    Raises CodegenError: E302, E303 or E305 for a file that is damaged or contradicts itself, E301 for
    several subgraphs, for element types without a fixed size and for data outside the flatbuffer.
    """
    model = _read(data, file_name)
    messages = Messages()
    births, deaths = _lives(model, messages)
    buffers = [
        Buffer(
            id=str(tensor.index),
            size_bytes=size,
            start=births[tensor.index],
            stop=deaths[tensor.index],
            alignment=ALIGNMENT,
            pool_candidates=(ARENA,),
            kind=BufferKind.IO if tensor.index in {*model.inputs, *model.outputs} else BufferKind.ACTIVATION,
        )
        for tensor in model.tensors
        if tensor.index in births and (size := _arena_bytes(model, tensor, messages))
    ]
    messages.raise_if_any()
    pool = Pool(name=ARENA, region="", limit_bytes=limit_bytes, alignment=ALIGNMENT)
    return Problem(
        buffers=tuple(buffers),
        conflicts=interval_conflicts(buffers),
        pools=(pool,),
        limits=limits or Limits(),
    )


def with_offline_plan(data: bytes, file_name: str, plan: MemoryPlan) -> bytes:
    """Return the file with `plan` (of its `tensor_problem`) as metadata; a plan it had before is replaced.

    A new root table, with a longer list of buffers, goes in front; all else stays byte for byte as it is.
    Raises CodegenError as `tensor_problem` does.
    """
    model = _read(data, file_name)
    offsets = [
        plan.placements[str(index)].offset if str(index) in plan.placements else ONLINE
        for index in range(len(model.tensors))
    ]
    words = (_VERSION, 0, len(offsets), *offsets)
    return _prefixed(data, struct.pack(f"<3I{len(offsets)}i", *words))


def _read(data: bytes, file_name: str) -> FileModel:
    model = read(data, file_name)
    root = cast(Any, Model.GetRootAs(data, 0))
    reason = None
    if root.SubgraphsLength() != 1:
        reason = f"it has {root.SubgraphsLength()} subgraphs, an offline plan is for one"
    elif any(int(root.Buffers(index).Offset()) > 1 for index in range(root.BuffersLength())):
        reason = "its data lie outside the flatbuffer, which TFLite Micro does not read"
    if reason:
        help_ = "export a model of one function, smaller than 2 GB"
        raise CodegenError(Message(code="E301", where=file_name, text=reason, help=help_))
    return model


def _lives(model: FileModel, messages: Messages) -> tuple[dict[int, int], dict[int, int]]:
    """Tensor -> start, tensor -> stop on TFLite Micro's axis: inputs are born at 0, operator i runs at i + 1.

    Constants have no start.
    """
    births = dict.fromkeys(model.inputs, 0)
    deaths = dict.fromkeys(model.inputs, 1)
    for operator in model.operators:
        now = operator.index + 1
        for index in operator.inputs:
            if _known(model, index, messages) and not _is_constant(model, model.tensors[index]):
                if index not in births:
                    text = f"{model.tensors[index]} is read before any operator writes it"
                    messages.add("E303", text, where=f"op {operator.index} {operator.name}")
                deaths[index] = now + 1
        for index in operator.outputs:
            if _known(model, index, messages):
                births.setdefault(index, now)
                deaths[index] = now + 1
    for index in model.outputs:
        if index in births:
            deaths[index] = len(model.operators) + 1
    return births, deaths


def _known(model: FileModel, index: int, messages: Messages) -> bool:
    if not -1 <= index < len(model.tensors):
        messages.add("E303", f"there is no tensor {index}", where=model.file_name)
    return 0 <= index < len(model.tensors)


def _is_constant(model: FileModel, tensor: FileTensor) -> bool:
    inside = tensor.buffer < len(model.buffers)
    return tensor.variable or (inside and bool(model.buffers[tensor.buffer].size))


def _arena_bytes(model: FileModel, tensor: FileTensor, messages: Messages) -> int:
    """Bytes in the arena, a multiple of `ALIGNMENT`; 0 for what does not lie there."""
    if _is_constant(model, tensor):
        return 0
    element = _SIZES.get(tensor.type_code)
    if element is None or any(extent < 0 for extent in tensor.shape):
        reason = "elements without a fixed size" if element is None else f"shape {list(tensor.shape)}"
        messages.add("E301", f"{tensor} has {reason}", where=model.file_name)
        return 0
    size = math.prod(tensor.shape) * element
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


# ---- the flatbuffer -------------------------------------------------------------------------


def _prefixed(data: bytes, payload: bytes) -> bytes:
    """`data` behind a new root table whose buffers and metadata hold `payload` too."""
    root = struct.unpack_from("<I", data, 0)[0]
    fields = {number: _field(data, root, number) for number in range(_MODEL_FIELDS)}
    old_buffers = _targets(data, fields[_BUFFERS_FIELD])
    old_metadata = [at for at in _targets(data, fields[_METADATA_FIELD]) if _name(data, at) != METADATA]

    def head(shift: int) -> bytes:
        return _head(data, fields, old_buffers, old_metadata, payload, shift)

    # How far the old file moves depends on the head's length, which does not depend on how far that is.
    length = len(head(1 << 30))
    shift = (length + _PREFIX_ALIGNMENT - 1) // _PREFIX_ALIGNMENT * _PREFIX_ALIGNMENT
    return head(shift).ljust(shift, b"\0") + data


def _field(data: bytes, table: int, number: int) -> int:
    """Position of a field's contents, 0 if the table lacks it."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    length = struct.unpack_from("<H", data, vtable)[0]
    entry = 4 + 2 * number
    offset = struct.unpack_from("<H", data, vtable + entry)[0] if entry < length else 0
    return table + offset if offset else 0


def _follow(data: bytes, position: int) -> int:
    return position + struct.unpack_from("<I", data, position)[0]


def _targets(data: bytes, field: int) -> list[int]:
    """Positions of the tables in a vector."""
    if not field:
        return []
    start = _follow(data, field)
    count = struct.unpack_from("<I", data, start)[0]
    return [_follow(data, start + 4 + 4 * index) for index in range(count)]


def _name(data: bytes, metadata: int) -> str:
    field = _field(data, metadata, 0)
    if not field:
        return ""
    start = _follow(data, field)
    length = struct.unpack_from("<I", data, start)[0]
    return data[start + 4 : start + 4 + length].decode("utf-8", errors="replace")


def _head(
    data: bytes,
    fields: Mapping[int, int],
    buffers: Sequence[int],
    metadata: Sequence[int],
    payload: bytes,
    shift: int,
) -> bytes:
    """Header, root table, the two vectors, the new buffer and the new metadata entry.

    `shift` is where the old file will start; old positions are in the old file.
    """
    out = _GrowingBytes()
    out.words(0)
    out.raw(data[4:8])
    vtable_bytes = 4 + 2 * _MODEL_FIELDS
    out.align(4, ahead=vtable_bytes)
    present = [n for n in range(_MODEL_FIELDS) if fields[n] or n in (_BUFFERS_FIELD, _METADATA_FIELD)]
    slots = {number: 4 + 4 * order for order, number in enumerate(present)}
    out.raw(struct.pack("<HH", vtable_bytes, 4 + 4 * len(present)))
    out.raw(struct.pack(f"<{_MODEL_FIELDS}H", *(slots.get(number, 0) for number in range(_MODEL_FIELDS))))
    table = out.here
    out.patch(0, table)
    out.words(vtable_bytes)
    for number in present:
        if number == 0:
            out.raw(data[fields[0] : fields[0] + 4])
        elif number in (_BUFFERS_FIELD, _METADATA_FIELD):
            out.words(0)
        else:
            out.words(shift + _follow(data, fields[number]) - out.here)
    new_buffer = _vector(out, table + slots[_BUFFERS_FIELD], [shift + at for at in buffers])
    new_entry = _vector(out, table + slots[_METADATA_FIELD], [shift + at for at in metadata])
    _write_buffer(out, new_buffer, payload)
    _write_entry(out, new_entry, len(buffers))
    return bytes(out.data)


def _vector(out: "_GrowingBytes", field: int, targets: Sequence[int]) -> int:
    """A vector of `targets` and one more, whose position is returned to be patched."""
    out.patch(field, out.here - field)
    out.words(len(targets) + 1)
    for target in targets:
        out.words(target - out.here)
    last = out.here
    out.words(0)
    return last


def _write_buffer(out: "_GrowingBytes", reference: int, payload: bytes) -> None:
    """A `Buffer` table with `data` only; the schema wants its bytes aligned to 16."""
    out.align(4, ahead=6)
    out.raw(struct.pack("<HHH", 6, 8, 4))
    out.patch(reference, out.here - reference)
    out.words(6)
    data_field = out.here
    out.words(0)
    out.align(16, ahead=4)
    out.patch(data_field, out.here - data_field)
    out.words(len(payload))
    out.raw(payload)


def _write_entry(out: "_GrowingBytes", reference: int, buffer: int) -> None:
    """A `Metadata` table: name and buffer number."""
    out.align(4, ahead=8)
    out.raw(struct.pack("<HHHH", 8, 12, 4, 8))
    out.patch(reference, out.here - reference)
    out.words(8)
    name_field = out.here
    out.words(0, buffer)
    out.patch(name_field, out.here - name_field)
    out.words(len(METADATA))
    out.raw(METADATA.encode() + b"\0")


class _GrowingBytes:
    """Bytes that grow; all words are 32 bits, little-endian."""

    def __init__(self) -> None:
        self.data = bytearray()

    @property
    def here(self) -> int:
        return len(self.data)

    def raw(self, data: bytes) -> None:
        self.data += data

    def words(self, *values: int) -> None:
        self.data += struct.pack(f"<{len(values)}I", *values)

    def align(self, alignment: int, *, ahead: int) -> None:
        """Pad so that what follows the next `ahead` bytes is aligned."""
        while (self.here + ahead) % alignment:
            self.data.append(0)

    def patch(self, position: int, value: int) -> None:
        struct.pack_into("<I", self.data, position, value)
