"""Files that are legal flatbuffers yet say absurd things: shared tables, huge vectors, long names."""

from collections.abc import Sequence
from typing import Any, cast

import flatbuffers

QUANTIZE_CODE = 114


def _offsets(fb: Any, items: Sequence[int]) -> int:
    fb.StartVector(4, len(items), 4)
    for item in reversed(items):
        fb.PrependUOffsetTRelative(item)
    return int(fb.EndVector())


def _ints(fb: Any, items: Sequence[int]) -> int:
    fb.StartVector(4, len(items), 4)
    for item in reversed(items):
        fb.PrependInt32(item)
    return int(fb.EndVector())


def _floats(fb: Any, count: int) -> int:
    return int(fb.CreateByteVector(b"\x00\x00\x80\x3f" * count))


def _table(fb: Any, fields: dict[int, int]) -> int:
    """A table of offsets."""
    fb.StartObject(max(fields, default=0) + 1)
    for number, offset in fields.items():
        fb.PrependUOffsetTRelativeSlot(number, offset, 0)
    return int(fb.EndObject())


def _quantization(fb: Any, scale: int, zero_point: int, custom: bool) -> int:
    fb.StartObject(7)
    fb.PrependUOffsetTRelativeSlot(2, scale, 0)
    fb.PrependUOffsetTRelativeSlot(3, zero_point, 0)
    fb.PrependUint8Slot(4, int(custom), 0)
    return int(fb.EndObject())


def _buffer(fb: Any, size_bytes: int, external: tuple[int, int] | None) -> int:
    """A buffer inside the flatbuffer or, with `external`, at an offset and of a size in the file."""
    if external is None:
        return _table(fb, {0: int(fb.CreateByteVector(bytes(size_bytes)))} if size_bytes else {})
    fb.StartObject(3)
    fb.PrependUint64Slot(1, external[0], 0)
    fb.PrependUint64Slot(2, external[1], 0)
    return int(fb.EndObject())


def _shorten(fb: Any, data: bytearray, vector: int, count: int) -> None:
    """Set the stored length of `vector`, whose elements are wider than the bytes it was made of."""
    position = len(data) - vector
    data[position : position + 4] = count.to_bytes(4, "little")


def shared_tables(
    *,
    tensors: int = 1,
    operators: int = 1,
    buffers: int = 1,
    codes: int = 1,
    subgraphs: int = 1,
    inputs: int = 1,
    name_bytes: int = 8,
    channels: int = 0,
    rank: int = 1,
    buffer_bytes: int = 0,
    entry_points: Sequence[int] = (),
    sparse: bool = False,
    custom_quantization: bool = False,
    external: tuple[int, int] | None = None,
) -> bytes:
    """A file that lists one tensor, operator and buffer table many times: small, but it declares much."""
    fb: Any = cast(Any, flatbuffers).Builder(1024)
    scale = _floats(fb, channels)
    zero_point = int(fb.CreateByteVector(bytes(8 * channels)))
    quantization = _quantization(fb, scale, zero_point, custom_quantization) if channels else 0
    sparsity = _table(fb, {}) if sparse else 0
    shape, name = _ints(fb, [max(channels, 1)] * rank), fb.CreateString("n" * name_bytes)
    fb.StartObject(8)
    fb.PrependUOffsetTRelativeSlot(0, shape, 0)
    fb.PrependInt8Slot(1, 9 if channels else 0, 0)
    fb.PrependUOffsetTRelativeSlot(3, name, 0)
    fb.PrependUOffsetTRelativeSlot(4, quantization, 0)
    fb.PrependUOffsetTRelativeSlot(6, sparsity, 0)
    tensor = int(fb.EndObject())
    operator = _table(fb, {1: _ints(fb, [0] * inputs), 2: _ints(fb, [min(1, tensors - 1)])})
    graph = {
        0: _offsets(fb, [tensor] * tensors),
        1: _ints(fb, [0]),
        2: _ints(fb, [min(1, tensors - 1)]),
        3: _offsets(fb, [operator] * operators),
    }
    graphs = _offsets(fb, [_table(fb, graph)] * subgraphs)
    fb.StartObject(4)
    fb.PrependInt8Slot(0, QUANTIZE_CODE, 0)
    code = int(fb.EndObject())
    buffer = _buffer(fb, buffer_bytes, external)
    signatures: list[int] = []
    for entry in entry_points:
        fb.StartObject(5)
        fb.PrependUint32Slot(4, entry, 0)
        signatures.append(int(fb.EndObject()))
    model = {
        1: _offsets(fb, [code] * codes),
        2: graphs,
        4: _offsets(fb, [buffer] * buffers),
        7: _offsets(fb, signatures),
    }
    fb.StartObject(8)
    fb.PrependUint32Slot(0, 3, 0)
    for number, offset in model.items():
        fb.PrependUOffsetTRelativeSlot(number, offset, 0)
    fb.Finish(fb.EndObject(), b"TFL3")
    data = bytearray(fb.Output())
    if channels:
        _shorten(fb, data, scale, channels)
        _shorten(fb, data, zero_point, channels)
    return bytes(data)
