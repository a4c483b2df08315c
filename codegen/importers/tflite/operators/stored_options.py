"""The options that a file stores for an operator, read by their names."""

import math
import struct
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

import flatbuffers.table
from tflite.BuiltinOptions import BuiltinOptions

from codegen.importers.reporting import Refused
from codegen.importers.tflite.file.option_tables import BY_OPERATOR, FORMATS, OptionStorage, OptionTable
from codegen.importers.tflite.file.reader import FileOperator
from codegen.ir.ops import Attrs

_OPTION_NAMES = {code: name for name, code in vars(BuiltinOptions).items() if isinstance(code, int)}

_Attrs = TypeVar("_Attrs", bound=Attrs)


class StoredOptions:
    """The options of one operator of a file: what is stored there, else the schema's defaults."""

    def __init__(self, table: OptionTable, stored: flatbuffers.table.Table | None = None) -> None:
        self._fields = table.fields
        self._stored: Any = stored

    def integer(self, name: str) -> int:
        """An option as a whole number; enumerations and bools are stored as such numbers too."""
        return int(self._number(name))

    def flag(self, name: str) -> bool:
        """An option as a bool: true if its number is not 0."""
        return bool(self._number(name))

    def real(self, name: str) -> float:
        """An option as a real number, stored as float32."""
        return float(self._number(name))

    def value(self, name: str) -> float | int | bool:
        """An option as the type that the schema gives it."""
        kind = self._fields[name].kind
        return self.flag(name) if kind is OptionStorage.BOOL else self._number(name)

    def integers(self, name: str) -> tuple[int, ...]:
        """A list of int32, empty where there is none."""
        offset = self._offset(name)
        if not offset:
            return ()
        start, count = self._stored.Vector(offset), self._stored.VectorLen(offset)
        return struct.unpack_from(f"<{count}i", self._stored.Bytes, start)

    def text(self, name: str) -> bytes:
        """A text as it is stored, empty where there is none."""
        offset = self._offset(name)
        return bytes(self._stored.String(offset + self._stored.Pos)) if offset else b""

    def _offset(self, name: str) -> int:
        """Place of a field behind the table's start, 0 where it is not stored."""
        return 0 if self._stored is None else int(self._stored.Offset(4 + 2 * self._fields[name].number))

    def _number(self, name: str) -> int | float:
        field, offset = self._fields[name], self._offset(name)
        if not offset:
            return field.default
        return struct.unpack_from(FORMATS[field.kind], self._stored.Bytes, self._stored.Pos + offset)[0]


def options_of(operator: FileOperator, *, required: bool = True) -> StoredOptions:
    """Options of an operator that has some; where they are left out and not `required`, the defaults.

    Raises Refused (E303) for options of another kind.
    """
    table = BY_OPERATOR[operator.name]
    stated = _OPTION_NAMES.get(operator.options_kind, f"type {operator.options_kind}")
    if operator.options_kind == 0 or (stated == table.union and operator.options is None):
        if required:
            raise Refused("E303", f"has no options, needs {table.union}")
        return StoredOptions(table)
    if stated != table.union or operator.options is None:
        raise Refused("E303", f"has options of kind {stated}, needs {table.union}")
    return StoredOptions(table, operator.options)


def attributes_of(operator: FileOperator, kind: type[_Attrs], known: Mapping[str, object]) -> _Attrs:
    """Attributes of the IR: `known` ones, and those that an option of the same name says.

    Options may be left out where every attribute that they say has a default. Raises Refused (E303) as
    `options_of` does, and for a number that is not finite.
    """
    table = BY_OPERATOR.get(operator.name)
    said = [field for field in fields(kind) if table is not None and field.name in table.fields]
    if not said:
        return kind(**known)
    options = options_of(operator, required=any(field.default is MISSING for field in said))
    values = {field.name: options.value(field.name) for field in said}
    for name, value in values.items():
        if not math.isfinite(value):
            raise Refused("E303", f"{name} is {value}")
    return kind(**known, **values)
