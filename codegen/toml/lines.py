"""Where in a TOML text a key stands: the parser of the standard library does not tell."""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from codegen.documents import TOML_TOKEN


@lru_cache(maxsize=2)
def lines_of(text: str) -> Mapping[str, int]:
    """Path of each key and table of a TOML text (`uart.baud`, `regions[1].name`) -> its line, from 1.

    Those of inline tables are not told apart. `text` is TOML.
    """
    walk = _Walk()
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


class _Walk:
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
