"""Where in a TOML text a key stands: the parser of the standard library does not tell."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from codegen.documents import TOML_TOKEN


@dataclass(frozen=True, kw_only=True, slots=True)
class _Lines:
    """Lines, counted from 1, of what a text states."""

    keys: dict[str, int] = field(default_factory=dict[str, int])
    """Every top-level key and table."""
    tables: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """Every `[[table]]`, in order."""
    entries: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """Every key of every `[table]`; of several `[[table]]` the first."""

    def add_header(self, key: str, line: int, brackets: int) -> None:
        """`[key]`, `[[key]]`."""
        self.keys.setdefault(key, line)
        if brackets > 1:
            self.tables.setdefault(key, []).append(line)

    def add_key(self, table: str | None, key: str, line: int) -> None:
        """`key = ...`, in a table if there is one."""
        if table is None:
            self.keys.setdefault(key, line)
        else:
            self.entries.setdefault((table, key), line)


def key_line(text: str, key: str) -> int | None:
    """Line, counted from 1, of the statement that begins the top-level key or table `key`; None if there is
    none. `text` is TOML."""
    return _lines(text).keys.get(key)


def entry_line(text: str, table: str, key: str) -> int | None:
    """Line of `key` in `[table]`; where that is written in another way, of the table."""
    return _lines(text).entries.get((table, key), key_line(text, table))


def table_line(text: str, key: str, number: int) -> int | None:
    """Line of the `number`-th `[[key]]`, counted from 1; written in another way, of `key`."""
    lines: Mapping[str, list[int]] = _lines(text).tables
    found = lines.get(key, [])
    return found[number - 1] if number <= len(found) else key_line(text, key)


@lru_cache(maxsize=2)
def _lines(text: str) -> _Lines:
    """All lines, in one walk over the text."""
    found = _Lines()
    table: str | None = None
    line, depth, brackets = 1, 0, 0
    is_first = True
    for token in TOML_TOKEN.finditer(text):
        mark, shown = token["mark"], token[0]
        if mark == "[" and (is_first or brackets):
            is_first, brackets = False, brackets + 1
        elif mark is None and token["blank"] is None and not shown.startswith("#"):
            word = shown.strip("\"'")
            if brackets:
                found.add_header(word, line, brackets)
                table = word
            elif is_first:
                found.add_key(table, word, line)
            is_first, brackets = False, 0
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark or "", 0)
        if mark == "\n" and depth == 0:
            is_first, brackets = True, 0
        line += shown.count("\n")
    return found
