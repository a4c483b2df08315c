"""Structural check of a flatbuffer: everything the schema package will follow lies inside the file.

The schema package trusts its bytes; it sees them only after this. Every reference is followed once per
place that holds it (bounded by the layout's limits); a table already checked is not checked again.

The part of the TFLite schema that is read is data for the check: tables, and where they point. A field's
number is its position in schema.fbs (version 3). Tables and fields that nothing reads are left out; they
may hold anything.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass

from codegen.errors import CodegenError, Message
from codegen.importers import limits
from codegen.importers.limits import MAX_NAME_BYTES, MAX_NAMES_BYTES
from codegen.importers.tflite.file.option_tables import BY_CODE, OptionStorage, OptionTable


@dataclass(frozen=True, kw_only=True, slots=True)
class Scalar:
    """A number of `size_bytes` inside the table."""

    size_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """An offset to a string."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scalars:
    """An offset to a vector of numbers of `size_bytes` each."""

    size_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Child:
    """An offset to a table; `layout` None: only whether it is there matters."""

    layout: "SchemaTable | None" = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Children:
    """An offset to a vector of at most `limit` tables, of which the first `visited` are read."""

    layout: "SchemaTable"
    limit: int
    visited: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """An offset to a table whose kind field `tag` (one byte) tells; unlisted kinds are not read."""

    tag: int
    layouts: "Mapping[int, SchemaTable]"


Field = Scalar | Text | Scalars | Child | Children | Choice


@dataclass(frozen=True, kw_only=True, slots=True)
class SchemaTable:
    """A table of the schema; `fields` by number, with the schema's name for messages."""

    name: str
    fields: Mapping[int, tuple[str, Field]]


_BYTE, _INT, _LONG = Scalar(size_bytes=1), Scalar(size_bytes=4), Scalar(size_bytes=8)
_BYTES, _INTS = Scalars(size_bytes=1), Scalars(size_bytes=4)


def _numbers(name: str, *fields: tuple[str, Field]) -> SchemaTable:
    return SchemaTable(name=name, fields=dict(enumerate(fields)))


def _options_table(table: OptionTable) -> SchemaTable:
    fields: dict[int, tuple[str, Field]] = {}
    for name, option in table.fields.items():
        if option.size_bytes is not None:
            fields[option.number] = (name, Scalar(size_bytes=option.size_bytes))
        else:
            fields[option.number] = (name, Text() if option.kind is OptionStorage.TEXT else _INTS)
    return SchemaTable(name=table.union, fields=fields)


OPTIONS: Mapping[int, SchemaTable] = {code: _options_table(table) for code, table in BY_CODE.items()}
"""Option tables by their number in the union BuiltinOptions."""

_OPERATOR_CODE = _numbers(
    "OperatorCode",
    ("deprecated_builtin_code", _BYTE),
    ("custom_code", Text()),
    ("version", _INT),
    ("builtin_code", _INT),
)

_QUANTIZATION = SchemaTable(
    name="QuantizationParameters",
    fields={
        2: ("scale", _INTS),
        3: ("zero_point", Scalars(size_bytes=8)),
        4: ("details_type", _BYTE),
        6: ("quantized_dimension", _INT),
    },
)

_TENSOR = SchemaTable(
    name="Tensor",
    fields={
        0: ("shape", _INTS),
        1: ("type", _BYTE),
        2: ("buffer", _INT),
        3: ("name", Text()),
        4: ("quantization", Child(layout=_QUANTIZATION)),
        5: ("is_variable", _BYTE),
        6: ("sparsity", Child()),
        7: ("shape_signature", _INTS),
    },
)

_OPERATOR = SchemaTable(
    name="Operator",
    fields={
        0: ("opcode_index", _INT),
        1: ("inputs", _INTS),
        2: ("outputs", _INTS),
        3: ("builtin_options_type", _BYTE),
        4: ("builtin_options", Choice(tag=3, layouts=OPTIONS)),
        5: ("custom_options", _BYTES),
        9: ("large_custom_options_offset", _LONG),
        10: ("large_custom_options_size", _LONG),
    },
)

_SUBGRAPH = SchemaTable(
    name="SubGraph",
    fields={
        0: ("tensors", Children(layout=_TENSOR, limit=limits.MAX_TENSORS)),
        1: ("inputs", _INTS),
        2: ("outputs", _INTS),
        3: ("operators", Children(layout=_OPERATOR, limit=limits.MAX_OPERATORS)),
    },
)

_BUFFER = _numbers("Buffer", ("data", _BYTES), ("offset", _LONG), ("size", _LONG))

_SIGNATURE = SchemaTable(name="SignatureDef", fields={4: ("subgraph_index", _INT)})

_CODES = ("operator_codes", Children(layout=_OPERATOR_CODE, limit=limits.MAX_OPERATOR_CODES))

OPERATOR_CODES = SchemaTable(name="Model", fields={1: _CODES})
"""Root table of a file of which nothing but the kinds of operators is read."""

_METADATA = SchemaTable(name="Metadata", fields={0: ("name", Text()), 1: ("buffer", _INT)})

METADATA_TABLE = SchemaTable(
    name="Model", fields={6: ("metadata", Children(layout=_METADATA, limit=limits.MAX_ENTRY_POINTS))}
)
"""Root table of a file of which the list of metadata is read."""


def model_table(subgraphs: int) -> SchemaTable:
    """Root table of a TFLite file of which so many subgraphs are read."""
    return SchemaTable(
        name="Model",
        fields={
            0: ("version", _INT),
            1: _CODES,
            2: ("subgraphs", Children(layout=_SUBGRAPH, limit=limits.MAX_SUBGRAPHS, visited=subgraphs)),
            4: ("buffers", Children(layout=_BUFFER, limit=limits.MAX_BUFFERS)),
            7: ("signature_defs", Children(layout=_SIGNATURE, limit=limits.MAX_ENTRY_POINTS)),
        },
    )


MODEL = model_table(1)
"""Root table of a TFLite file, of which the first subgraph is read."""


_U16 = struct.Struct("<H")
_I32 = struct.Struct("<i")
_U32 = struct.Struct("<I")

_HELP = "the file is damaged or cut short: export or download it again"


def verify(data: bytes, root: SchemaTable, file_name: str) -> None:
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

    def root(self, layout: SchemaTable) -> None:
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

    def _table(self, layout: SchemaTable, position: int) -> None:
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
        """The position that the offset stored at `position` points to."""
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
