"""A flatbuffer taken apart into tables that can be changed and written again; where its references lie."""

import struct
from dataclasses import dataclass, field
from typing import Any, cast

import flatbuffers

from codegen.importers.tflite.file import flatbuffer


@dataclass(slots=True)
class Vector:
    """Numbers of `size_bytes` each, as bytes."""

    size_bytes: int
    data: bytearray

    @property
    def count(self) -> int:
        return len(self.data) // self.size_bytes

    def put(self, index: int, raw: bytes) -> None:
        """Overwrite number `index`."""
        self.data[index * self.size_bytes : (index + 1) * self.size_bytes] = raw


@dataclass(slots=True, eq=False)
class Node:
    """A table: field number -> bytes of a scalar, a text, a vector, a table, a list of tables."""

    layout: flatbuffer.SchemaTable | None
    fields: "dict[int, Value]" = field(default_factory=lambda: dict[int, Value]())

    def nodes(self, number: int) -> "list[Node]":
        """The tables of a vector field, none where it is absent."""
        found = self.fields.get(number)
        return found if isinstance(found, list) else []

    def node(self, number: int) -> "Node | None":
        """The table of a field."""
        found = self.fields.get(number)
        return found if isinstance(found, Node) else None

    def vector(self, number: int) -> Vector | None:
        """The vector of a field."""
        found = self.fields.get(number)
        return found if isinstance(found, Vector) else None

    def number(self, number: int) -> int:
        """The unsigned value of a scalar field, 0 where it is absent."""
        found = self.fields.get(number)
        return int.from_bytes(found, "little") if isinstance(found, bytes) else 0


Value = bytes | str | Vector | Node | list[Node]


@dataclass(slots=True)
class Sites:
    """Where in the file a reference, a length or a field's place is stored."""

    offsets: list[int] = field(default_factory=lambda: list[int]())
    lengths: list[int] = field(default_factory=lambda: list[int]())
    entries: list[int] = field(default_factory=lambda: list[int]())
    targets: list[int] = field(default_factory=lambda: list[int]())


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._seen: dict[tuple[int, str], Node] = {}
        self.sites = Sites()

    def _word(self, at: int, form: str = "<I") -> int:
        return int(struct.unpack_from(form, self._data, at)[0])

    def _target(self, at: int) -> int:
        self.sites.offsets.append(at)
        found = at + self._word(at)
        self.sites.targets.append(found)
        return found

    def table(self, layout: flatbuffer.SchemaTable | None, at: int) -> Node:
        known = self._seen.get((at, layout.name if layout else ""))
        if known is not None:
            return known
        node = self._seen[(at, layout.name if layout else "")] = Node(layout)
        vtable = at - self._word(at, "<i")
        length = self._word(vtable, "<H")
        if layout is None:
            return node
        for number, (_, kind) in layout.fields.items():
            entry = vtable + 4 + 2 * number
            offset = self._word(entry, "<H") if 4 + 2 * number < length else 0
            if offset:
                self.sites.entries.append(entry)
                node.fields[number] = self._field(kind, at + offset, node)
        return node

    def _field(self, kind: flatbuffer.Field, at: int, node: Node) -> Value:
        if isinstance(kind, flatbuffer.Scalar):
            return self._data[at : at + kind.size_bytes]
        if isinstance(kind, flatbuffer.Child):
            return self.table(kind.layout, self._target(at))
        if isinstance(kind, flatbuffer.Choice):
            return self.table(kind.layouts.get(node.number(kind.tag)), self._target(at))
        start = self._target(at)
        self.sites.lengths.append(start)
        count, start = self._word(start), start + 4
        if isinstance(kind, flatbuffer.Text):
            return self._data[start : start + count].decode("utf-8", errors="replace")
        if isinstance(kind, flatbuffer.Scalars):
            return Vector(kind.size_bytes, bytearray(self._data[start : start + count * kind.size_bytes]))
        return [self.table(kind.layout, self._target(start + 4 * index)) for index in range(count)]


def parse(data: bytes) -> tuple[Node, Sites]:
    """The tables of a sound file, and its sites."""
    reader = _Reader(data)
    reader.sites.offsets.append(0)
    return reader.table(flatbuffer.MODEL, struct.unpack_from("<I", data)[0]), reader.sites


class _Writer:
    def __init__(self) -> None:
        self.fb: Any = cast(Any, flatbuffers).Builder(4096)
        self._done: dict[int, int] = {}

    def table(self, node: Node) -> int:
        """A table, written once however often it is referred to."""
        known = self._done.get(id(node))
        if known is not None:
            return known
        offsets = {number: self._offset(value) for number, value in node.fields.items()}
        self.fb.StartObject(max(node.fields, default=-1) + 1)
        for number, value in node.fields.items():
            if isinstance(value, bytes):
                self._scalar(number, value)
            else:
                self.fb.PrependUOffsetTRelativeSlot(number, offsets[number], 0)
        found = self._done[id(node)] = int(self.fb.EndObject())
        return found

    def _scalar(self, number: int, raw: bytes) -> None:
        self.fb.Prep(len(raw), 0)
        self.fb.head = self.fb.head - len(raw)
        self.fb.Bytes[self.fb.head : self.fb.head + len(raw)] = raw
        self.fb.Slot(number)

    def _offset(self, value: Value) -> int:
        if isinstance(value, bytes):
            return 0
        if isinstance(value, str):
            return int(self.fb.CreateString(value))
        if isinstance(value, Node):
            return self.table(value)
        if isinstance(value, Vector):
            return self._vector(value)
        tables = [self.table(each) for each in value]
        self.fb.StartVector(4, len(tables), 4)
        for each in reversed(tables):
            self.fb.PrependUOffsetTRelative(each)
        return int(self.fb.EndVector())

    def _vector(self, vector: Vector) -> int:
        data = bytes(vector.data)
        self.fb.StartVector(vector.size_bytes, len(data) // vector.size_bytes, 16)
        self.fb.head = self.fb.head - len(data)
        self.fb.Bytes[self.fb.head : self.fb.head + len(data)] = data
        return int(self.fb.EndVector())


def encode(root: Node) -> bytes:
    """The file of a tree."""
    writer = _Writer()
    writer.fb.Finish(writer.table(root), b"TFL3")
    return bytes(writer.fb.Output())
