"""Where in a TOML text a key stands: the parser of the standard library does not tell."""

from functools import lru_cache

from codegen.documents import TOML_TOKEN


def key_line(text: str, key: str) -> int | None:
    """Line, counted from 1, of the statement that begins the top-level key or table `key`; None if there is
    none. `text` is TOML."""
    return _lines(text).get(key)


@lru_cache(maxsize=2)
def _lines(text: str) -> dict[str, int]:
    """Every top-level key and table, in one walk over the text."""
    found: dict[str, int] = {}
    line, depth = 1, 0
    is_first, in_table, in_header = True, False, False
    for token in TOML_TOKEN.finditer(text):
        mark, shown = token["mark"], token[0]
        if mark == "[" and (is_first or in_header):
            is_first, in_table, in_header = False, True, True
        elif mark is None and token["blank"] is None and not shown.startswith("#"):
            if in_header or (is_first and not in_table):
                found.setdefault(shown.strip("\"'"), line)
            is_first = in_header = False
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark or "", 0)
        if mark == "\n" and depth == 0:
            is_first, in_header = True, False
        line += shown.count("\n")
    return found
