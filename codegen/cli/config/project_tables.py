"""`[[key]]` tables of codegen.toml, each into the fields of a dataclass; mistakes with their place."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from codegen.errors import Messages
from codegen.toml.decode import fields
from codegen.toml.lines import line_of


@dataclass(frozen=True, kw_only=True, slots=True)
class ProjectFile:
    """A codegen.toml while it is read: what is wrong goes to `messages` (E202)."""

    path: Path
    text: str
    messages: Messages

    def complain(self, where: str, text: str, help: str) -> None:
        """Tell a mistake at `where`."""
        self.messages.add("E202", text, where=where, help=help)

    def place(self, path: str, name: str) -> str:
        """What messages call the table or key at `path`: `codegen.toml, line 3, place 2`."""
        line = line_of(self.text, path)
        parts = [self.path.name, "" if line is None else f"line {line}", name]
        return ", ".join(part for part in parts if part)

    def rows(self, value: object, key: str, cls: type[Any], help: str) -> "Iterator[Row]":
        """The tables that `value`, the key `key`, has; `cls` says what may stand in one."""
        tables = cast("list[object]", value) if isinstance(value, list) else [value]
        if not isinstance(value, list) or not all(isinstance(table, dict) for table in tables):
            self.complain(self.place(key, ""), f"{key} must be tables: [[{key}]]", help)
            return
        for number, table in enumerate(tables, 1):
            yield Row(self, cast("dict[str, Any]", table), key, number, cls, help)


class Row:
    """One table: the fields that are right in `values`, all else told."""

    def __init__(
        self, file: ProjectFile, given: dict[str, Any], key: str, number: int, cls: type[Any], help: str
    ) -> None:
        self._file = file
        self._path = f"{key}[{number - 1}]"
        self._help = help
        op = given.get("op")
        self._name = f"{key} {number}" + (f" ({op})" if isinstance(op, str) and op else "")
        self.given = given
        self.is_sound = True
        self.where = file.place(self._path, f"{key} {number}")
        self.values = fields(cls, given, self._tell)

    def _tell(self, path: str, reason: str, help: str | None) -> None:
        self.complain(path, f"{path} {reason}", help)

    def complain(self, key: str, text: str, help: str | None = None) -> None:
        """Tell a mistake at `key` of the table; "" is the table."""
        self.is_sound = False
        where = self._file.place(f"{self._path}.{key}", self._name)
        self._file.complain(where, text, help or self._help)
