"""A TOML table into a frozen dataclass, with every mistake told at once: field, value, reason."""

import dataclasses
import difflib
import re
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from codegen.errors import Messages
from codegen.ir.sizes import with_sizes

CODE = "E252"
_T = TypeVar("_T")
_SHOWN = 200
"""Characters of a value or name that a message shows."""

_MOST_NAMED = 20
"""Unknown names of one table that get a message each."""

_PLACE = re.compile(r" - at `\$[^`]*`")


def decode(cls: type[_T], table: Mapping[str, Any], where: str, messages: Messages) -> _T | None:
    """An object of dataclass `cls` out of `table`; None if anything was wrong, told in `messages` (E252).

    Types are strict: a string is no number, 1.5 no integer; only sizes (`..._bytes`) may be strings such as
    "128K". Tables and arrays of tables become nested
    dataclasses.
    """
    before = len(messages)
    fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    hints = typing.get_type_hints(cls)
    _check_names(table, list(fields), where, messages)
    values: dict[str, Any] = {}
    table = with_sizes(table, *(name for name in fields if name.endswith("_bytes")))
    for name, field in fields.items():
        if name in table:
            values[name] = _value(hints[name], table[name], _join(where, name), messages)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            messages.add(
                CODE, "is missing", where=_join(where, name), help="see the boards that ship for examples"
            )
    if len(messages) > before:
        return None
    try:
        return cls(**values)
    except ValueError as error:  # what the class itself demands
        messages.add(CODE, str(error), where=where)
        return None


def _cut(text: str) -> str:
    """A text of the file's as messages show it."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where.startswith("[") else f"{where}: {name}"


def _check_names(table: Mapping[str, Any], known: list[str], where: str, messages: Messages) -> None:
    unknown = [name for name in table if name not in known]
    for name in unknown[:_MOST_NAMED]:
        near = difflib.get_close_matches(name, known, n=1)
        text = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
        messages.add(CODE, "is no field of such a file", where=_join(where, _cut(name)), help=text)
    if len(unknown) > _MOST_NAMED:
        text = f"{len(unknown) - _MOST_NAMED:,} more names are no fields of such a file"
        messages.add(CODE, text, where=where, help=f"known are {', '.join(known)}")


def _value(hint: Any, value: Any, where: str, messages: Messages) -> Any:
    nested = _nested(hint)
    if nested is not None:
        return _nested_value(nested, typing.get_origin(hint) is tuple, value, where, messages)
    try:
        return msgspec.convert(value, hint, strict=True)
    except msgspec.ValidationError as error:
        messages.add(CODE, f"{_PLACE.sub('', str(error))}, got {_cut(repr(value))}", where=where)
        return None


def _nested(hint: Any) -> type[Any] | None:
    """The dataclass inside `X`, `X | None` or `tuple[X, ...]`; None if there is none."""
    composed = typing.get_origin(hint) in (tuple, types.UnionType, typing.Union)
    choices: tuple[Any, ...] = typing.get_args(hint) if composed else (hint,)
    return next(
        (choice for choice in choices if isinstance(choice, type) and dataclasses.is_dataclass(choice)), None
    )


def _nested_value(cls: type[Any], many: bool, value: Any, where: str, messages: Messages) -> Any:
    if many:
        if not isinstance(value, list):
            messages.add(CODE, f"must be an array of tables, got {_cut(repr(value))}", where=where)
            return None
        items = typing.cast(list[Any], value)
        return tuple(_table(cls, item, f"{where}[{index}]", messages) for index, item in enumerate(items))
    return _table(cls, value, where, messages)


def _table(cls: type[Any], value: Any, where: str, messages: Messages) -> Any:
    if not isinstance(value, dict):
        messages.add(CODE, f"must be a table, got {_cut(repr(value))}", where=where)
        return None
    return decode(cls, typing.cast(dict[str, Any], value), where, messages)
