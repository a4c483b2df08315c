"""`[[key]]` tables of codegen.toml, each with where it stands."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from codegen.cli.config.toml_lines import table_line
from codegen.errors import Messages


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """One table: `where` names it in messages, e.g. `codegen.toml, line 3, place 2`."""

    values: dict[str, object]
    where: str


def tables(value: object, key: str, file: Path, text: str, messages: Messages, help: str) -> list[Table]:
    """The tables that `value`, the key `key` of `file` with `text`, has; with `help` a complaint (E202) about
    what is none."""
    rows = cast("list[object]", value) if isinstance(value, list) else [value]
    found = [
        Table(values=cast("dict[str, object]", row), where=_where(key, number, file, text))
        for number, row in enumerate(rows, 1)
        if isinstance(row, dict) and isinstance(value, list)
    ]
    if len(found) == len(rows):
        return found
    messages.add("E202", f"{key} must be tables: [[{key}]]", where=_where(key, None, file, text), help=help)
    return []


def _where(key: str, number: int | None, file: Path, text: str) -> str:
    line = table_line(text, key, number or 1)
    parts = [file.name, "" if line is None else f"line {line}", f"{key} {number}" if number else ""]
    return ", ".join(part for part in parts if part)
