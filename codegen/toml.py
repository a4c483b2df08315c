"""A TOML table into a frozen dataclass, with every mistake told at once: field, value, reason, line.

The parser of the standard library does not tell where a key stands: `line_of` does.
"""

import dataclasses
import difflib
import enum
import types
import typing
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Annotated, Any, TypeVar

import msgspec

from codegen.documents import TOML_TOKEN
from codegen.ir.byte_sizes import size_bytes

Tell = Callable[[str, str, str | None], None]
"""Takes a mistake: the path of its field (`uart.baud`, `regions[1].name`; "" is the table), reason, help."""

Name = Annotated[str, msgspec.Meta(min_length=1, description="a string that is not empty")]
Count = Annotated[int, msgspec.Meta(ge=0, description="an integer from 0")]
Size = Annotated[int, msgspec.Meta(ge=0, description='a size: 4096, 0x1000 or "4K"')]
_SIZE_OR_NONE: Any = typing.Optional[Size]  # noqa: UP045  (an alias is no operand of |, says pyright)

_T = TypeVar("_T")
_SHOWN = 200
"""Characters of a value or name that a message shows."""

_MOST_NAMED = 20
"""Unknown names of one table that get a message each."""

_WORDS: Mapping[Any, str] = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    dict: "a table",
}


def decode(cls: type[_T], table: Mapping[str, Any], tell: Tell, path: str = "") -> _T | None:
    """An object of dataclass `cls` out of `table`, which is at `path`; None if anything was wrong, told."""
    told: list[str] = []

    def noted(place: str, reason: str, help: str | None) -> None:
        told.append(place)
        tell(place, reason, help)

    values = fields(cls, table, noted, path)
    if told:
        return None
    try:
        return cls(**values)
    except ValueError as error:  # what the class itself demands
        tell(path, str(error), None)
        return None


def fields(cls: type[Any], table: Mapping[str, Any], tell: Tell, path: str = "") -> dict[str, Any]:
    """The fields of dataclass `cls` that `table` has and that are right; all others are told.

    Types are strict: a string is no number, 1.5 no integer; only sizes (`Size`, `..._bytes`) may be strings
    such as "128K". Tables and arrays of tables become nested dataclasses.
    """
    known = {field.name: field for field in dataclasses.fields(cls)}
    hints = typing.get_type_hints(cls, include_extras=True)
    _check_names(table, list(known), tell, path)
    values: dict[str, Any] = {}
    for name, field in known.items():
        if name in table:
            hint = _as_size(hints[name]) if name.endswith("_bytes") else hints[name]
            value = value_of(hint, table[name], tell, _join(path, name))
            values |= {} if value is None else {name: value}
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            tell(_join(path, name), "is missing", None)
    return values


def _cut(text: str) -> str:
    """A text of the file's as messages show it."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _check_names(table: Mapping[str, Any], known: list[str], tell: Tell, path: str) -> None:
    unknown = [name for name in table if name not in known]
    all_known = f"known keys are {', '.join(known)}"
    for name in unknown[:_MOST_NAMED]:
        near = difflib.get_close_matches(name, known, n=1)
        guess = f"did you mean {near[0]}? {all_known[0].upper()}{all_known[1:]}" if near else all_known
        tell(_join(path, _cut(name)), "is no known key", guess)
    if len(unknown) > _MOST_NAMED:
        tell(path, f"{len(unknown) - _MOST_NAMED:,} more keys are not known", all_known)


def value_of(hint: Any, value: Any, tell: Tell, path: str) -> Any:
    """`value` as `hint` wants it; None for one that is told (TOML has no null)."""
    nested = _nested(hint)
    if nested is None:
        number = size_bytes(value) if isinstance(value, str) and Size in (hint, *_parts(hint)) else None
        try:
            return msgspec.convert(value if number is None else number, hint, strict=True)
        except msgspec.ValidationError:
            tell(path, f"must be {_words(hint)}, got {_cut(repr(value))}", None)
            return None
    if typing.get_origin(hint) is not tuple:
        return _table(nested, value, tell, path)
    if not isinstance(value, list):
        tell(path, f"must be an array of tables, got {_cut(repr(value))}", None)
        return None
    items = typing.cast(list[Any], value)
    return tuple(_table(nested, item, tell, f"{path}[{index}]") for index, item in enumerate(items))


def _table(cls: type[Any], value: Any, tell: Tell, path: str) -> Any:
    if not isinstance(value, dict):
        tell(path, f"must be a table, got {_cut(repr(value))}", None)
        return None
    return decode(cls, typing.cast(dict[str, Any], value), tell, path)


def _as_size(hint: Any) -> Any:
    """`int` as `Size`, also within `int | None`."""
    return {int: Size, int | None: _SIZE_OR_NONE}.get(hint, hint)


def _parts(hint: Any) -> tuple[Any, ...]:
    """The choices of `X | Y`, the X of `tuple[X, ...]`; the type itself of any other."""
    if typing.get_origin(hint) in (tuple, frozenset, types.UnionType, typing.Union):
        return typing.get_args(hint)
    return (hint,)


def _nested(hint: Any) -> type[Any] | None:
    """The dataclass inside `X`, `X | None` or `tuple[X, ...]`; None if there is none."""
    parts: tuple[Any, ...] = _parts(hint)
    for part in parts:
        if isinstance(part, type) and dataclasses.is_dataclass(part):
            return typing.cast(type[Any], part)
    return None


def _words(hint: Any) -> str:
    """Describe the values of a type for people."""
    meta = [mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, msgspec.Meta)]
    if meta and meta[0].description:
        return meta[0].description
    choices: tuple[Any, ...] = _parts(hint)
    origin = typing.get_origin(hint)
    parts = [_words(part) for part in choices if part not in (type(None), Ellipsis, hint)]
    plain = _WORDS.get(origin or hint, str(hint))
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return f"one of {', '.join(repr(member.value) for member in hint)}"
    if origin in (tuple, frozenset):
        return f"a list, each element {parts[0]}"
    return " or ".join(parts) if parts else plain


@lru_cache(maxsize=2)
def lines_of(text: str) -> Mapping[str, int]:
    """Path of each key and table of a TOML text (`uart.baud`, `regions[1].name`) -> its line, from 1.

    Those of inline tables are not told apart. `text` is TOML.
    """
    walk = _StatementWalk()
    line = 1
    for token in TOML_TOKEN.finditer(text):
        walk.take(token["mark"], token[0], line, is_blank=token["blank"] is not None)
        line += token[0].count("\n")
    return walk.found


def line_of(text: str, path: str) -> int | None:
    """The line of the key at `path`, else of the table it would be in; None if that is not there either."""
    lines = lines_of(text)
    while path and path not in lines:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return lines.get(path)


class _StatementWalk:
    """The statements of a text, token by token."""

    def __init__(self) -> None:
        self.found: dict[str, int] = {}
        self._counts: Counter[str] = Counter()
        self._table = ""
        self._begin()

    def _begin(self) -> None:
        """At the start of a statement."""
        self._words: list[str] = []
        self._brackets = 0
        self._depth = 0
        self._is_named = False

    def take(self, mark: str | None, text: str, line: int, *, is_blank: bool) -> None:
        """Go one token on."""
        if is_blank or text.startswith("#"):
            return
        if mark == "\n":
            if self._depth == 0:
                self._begin()
        elif self._is_named:
            change = {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark or "", 0)
            self._depth = max(0, self._depth + change)  # a header has a bracket more
        else:
            self._name(mark, text, line)

    def _name(self, mark: str | None, text: str, line: int) -> None:
        """A token of `[table]`, `[[table]]` or `key =`."""
        if mark is None:
            self._words.append(text.strip("\"'"))
        elif mark == "[":
            self._brackets += 1
        elif mark in ("]", "="):
            self._is_named = True
            table = "" if self._brackets or not self._table else f"{self._table}."
            path = ""
            for word in self._words:  # `a.b` states `a` as well
                path = f"{path}.{word}" if path else word
                self.found.setdefault(table + path, line)
            if self._brackets:
                self._header(path, line)

    def _header(self, path: str, line: int) -> None:
        if self._brackets > 1:
            self._counts[path] += 1
            path = f"{path}[{self._counts[path] - 1}]"
        self._table = path
        self.found.setdefault(path, line)
