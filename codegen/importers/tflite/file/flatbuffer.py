"""Structural check of a flatbuffer: everything the schema package will follow lies inside the file.

The schema package trusts its bytes; it sees them only after this. Every reference is followed once per
place that holds it (bounded by the layout's limits); a table already checked is not checked again.
"""

import struct

from codegen.errors import CodegenError, Message
from codegen.importers.limits import MAX_NAME_BYTES, MAX_NAMES_BYTES
from codegen.importers.tflite.file.schema_layout import (
    Child,
    Children,
    Choice,
    Field,
    Scalar,
    Scalars,
    Table,
    Text,
)

_U16 = struct.Struct("<H")
_I32 = struct.Struct("<i")
_U32 = struct.Struct("<I")

_HELP = "the file is damaged or cut short: export or download it again"


def verify(data: bytes, root: Table, file_name: str) -> None:
    """Check all tables, vectors and strings reachable from `root` in `data`.

    Raises CodegenError: E302 where an offset or a length leaves the file, E305 beyond a limit.
    """
    _Verifier(data, file_name).root(root)


class _Verifier:
    def __init__(self, data: bytes, file_name: str) -> None:
        self._data = data
        self._file_name = file_name
        self._seen: set[tuple[int, str]] = set()
        self._name_bytes = 0

    def root(self, layout: Table) -> None:
        self._need(0, 8, "the header")
        self._table(layout, self._u32(0))

    def _damaged(self, text: str) -> CodegenError:
        return CodegenError(Message(code="E302", where=self._file_name, text=text, help=_HELP))

    def _too_large(self, text: str) -> CodegenError:
        return CodegenError(Message(code="E305", where=self._file_name, text=text))

    def _need(self, position: int, size_bytes: int, what: str) -> None:
        if position < 0 or position + size_bytes > len(self._data):
            raise self._damaged(
                f"{what} would lie at bytes {position} to {position + size_bytes - 1}, "
                f"the file has {len(self._data)} bytes"
            )

    def _u32(self, position: int) -> int:
        return int(_U32.unpack_from(self._data, position)[0])

    def _table(self, layout: Table, position: int) -> None:
        if (position, layout.name) in self._seen:
            return
        self._seen.add((position, layout.name))
        self._need(position, 4, f"table {layout.name}")
        vtable = position - int(_I32.unpack_from(self._data, position)[0])
        self._need(vtable, 4, f"the field list of table {layout.name}")
        length = int(_U16.unpack_from(self._data, vtable)[0])
        if length < 4 or length % 2:
            raise self._damaged(f"the field list of table {layout.name} at byte {vtable} has length {length}")
        self._need(vtable, length, f"the field list of table {layout.name}")
        for number, (name, field) in layout.fields.items():
            entry = 4 + 2 * number
            offset = int(_U16.unpack_from(self._data, vtable + entry)[0]) if entry < length else 0
            if offset:
                self._field(field, position + offset, f"{layout.name}.{name}", (position, vtable, length))

    def _field(self, field: Field, position: int, name: str, table: tuple[int, int, int]) -> None:
        if isinstance(field, Scalar):
            self._need(position, field.size_bytes, name)
        elif isinstance(field, Text):
            self._text(position, name)
        elif isinstance(field, Scalars):
            self._vector(position, field.size_bytes, name)
        elif isinstance(field, Child):
            self._child(field, position, name)
        elif isinstance(field, Children):
            self._children(field, position, name)
        else:
            self._choice(field, position, name, table)

    def _target(self, position: int, name: str) -> int:
        """Where the offset stored at `position` points."""
        self._need(position, 4, name)
        return position + self._u32(position)

    def _vector(self, position: int, element_bytes: int, name: str) -> tuple[int, int]:
        """Position of the first element and number of elements."""
        start = self._target(position, name)
        self._need(start, 4, f"the length of {name}")
        length = self._u32(start)
        self._need(start + 4, length * element_bytes, f"{name} ({length} elements)")
        return start + 4, length

    def _text(self, position: int, name: str) -> None:
        _, length = self._vector(position, 1, name)
        self._name_bytes += length
        if length > MAX_NAME_BYTES or self._name_bytes > MAX_NAMES_BYTES:
            raise self._too_large(f"{name} has {length} bytes (all names together {self._name_bytes})")

    def _child(self, field: Child, position: int, name: str) -> None:
        target = self._target(position, name)
        if field.layout is not None:
            self._table(field.layout, target)
        else:
            self._need(target, 4, name)

    def _children(self, field: Children, position: int, name: str) -> None:
        start, length = self._vector(position, 4, name)
        if length > field.limit:
            raise self._too_large(f"{name} has {length} elements, up to {field.limit} are imported")
        for index in range(length if field.visited is None else min(length, field.visited)):
            self._table(field.layout, self._target(start + 4 * index, name))

    def _choice(self, field: Choice, position: int, name: str, table: tuple[int, int, int]) -> None:
        target = self._target(position, name)
        start, vtable, length = table
        entry = 4 + 2 * field.tag
        offset = int(_U16.unpack_from(self._data, vtable + entry)[0]) if entry < length else 0
        layout = field.layouts.get(self._data[start + offset]) if offset else None
        if layout is not None:
            self._table(layout, target)
