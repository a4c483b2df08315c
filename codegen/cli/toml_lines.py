"""Where in a TOML text a key stands: the parser of the standard library does not tell."""

import tomllib

_MOST_LINES = 2_000
"""Of longer files no line is told: each line is parsed with all above it."""


def key_line(text: str, key: str) -> int | None:
    """Line, counted from 1, of the statement that begins the top-level key or table `key`.

    None if there is none, or if the text is no TOML above it.
    """
    lines = text.splitlines(keepends=True)
    start = 0
    for end in range(1, min(len(lines), _MOST_LINES) + 1):
        try:
            found = tomllib.loads("".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue  # in the middle of a statement of several lines
        if key in found:
            return next(n for n in range(start, end) if _says_something(lines[n])) + 1
        start = end
    return None


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")
