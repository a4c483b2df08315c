"""The verifier's picture of the schema against the schema package's own accessors."""

import importlib
import inspect
import re
from collections.abc import Iterator

import pytest
from tflite.BuiltinOptions import BuiltinOptions

from codegen.importers.tflite.file.flatbuffer import (
    MODEL,
    OPTIONS,
    Child,
    Children,
    Choice,
    Field,
    Scalar,
    Scalars,
    Table,
    Text,
)

SIZES = {"Bool": 1, "Int8": 1, "Uint8": 1, "Int32": 4, "Uint32": 4, "Float32": 4, "Int64": 8, "Uint64": 8}


def _tables(table: Table) -> Iterator[Table]:
    yield table
    for _, field in table.fields.values():
        if isinstance(field, Child | Children) and field.layout is not None:
            yield from _tables(field.layout)
        elif isinstance(field, Choice):
            yield from field.layouts.values()


def _kind(body: str) -> str:
    if "self._tab.String" in body:
        return "text"
    if "self._tab.Union" in body:
        return "choice"
    if "obj.Init" in body:
        return "children" if "self._tab.Vector" in body else "child"
    found = re.search(r"number_types\.(\w+)Flags, (o|a)\b", body)
    assert found is not None
    return f"{'scalars' if found[2] == 'a' else 'scalar'} {SIZES[found[1]]}"


def _expected(field: Field) -> str:
    if isinstance(field, Scalar | Scalars):
        return f"{type(field).__name__.lower()} {field.size_bytes}"
    return {Text: "text", Child: "child", Children: "children", Choice: "choice"}[type(field)]


@pytest.mark.parametrize("table", list(_tables(MODEL)), ids=lambda table: table.name)
def test_field_numbers_and_kinds(table: Table) -> None:
    schema = getattr(importlib.import_module(f"tflite.{table.name}"), table.name)
    for number, (name, field) in table.fields.items():
        accessor = "".join(part.capitalize() for part in name.split("_"))
        source = inspect.getsource(getattr(schema, accessor))
        assert f"Offset({4 + 2 * number})" in source, name
        assert _kind(source) == _expected(field), name


def test_numbers_of_the_options() -> None:
    assert {number: getattr(BuiltinOptions, table.name) for number, table in OPTIONS.items()} == {
        number: number for number in OPTIONS
    }
