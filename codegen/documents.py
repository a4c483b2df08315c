"""Text files of the user's, read within limits that are checked before anything is parsed.

`tomllib` recurses into nested values, multiplies out long numbers and walks every part of a dotted key again
for each of its tables: small files can take minutes or end in a traceback.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

MAX_TOML_BYTES = 256 << 10
"""Bytes of a TOML file; the largest board that ships has a few thousand."""

MAX_DEPTH = 32
"""Arrays and inline tables within each other."""

MAX_WORD = 128
"""Characters of a number, a date or a key without quotes."""

MAX_PARTS = 16
"""Parts of a dotted key."""

MAX_ENTRIES = 8192
"""Keys, tables and arrays of a file together."""

TOML_TOKEN = re.compile(
    r"""
    "{3}(?:[^"\\]|\\.|"(?!""))*(?:"{3,5}|\\?\Z)
    | \'{3}(?:[^\']|\'(?!\'\'))*(?:\'{3,5}|\Z)
    | "(?:[^"\\\n]|\\[^\n])*"?
    | \'[^\'\n]*\'?
    | \#[^\n]*
    | (?P<word>[A-Za-z0-9_+:-]+)
    | (?P<blank>[\ \t]+)
    | (?P<mark>.)
    """,
    re.DOTALL | re.VERBOSE,
)
"""Tokens of TOML: words, blanks, marks of one character, strings and comments. A string that is never closed
ends with its line or the file, so that nothing is looked at twice."""


def read_text(path: Path, most_bytes: int) -> str:
    """The text of a file of at most `most_bytes`; a mark of the byte order is left out.

    Raises OSError where it cannot be read, ValueError where it is larger or not UTF-8.
    """
    with path.open("rb") as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise ValueError(f"it has more than {most_bytes:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not text: byte {error.start} is not UTF-8") from error


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """The table of a TOML file, and its text.

    Raises OSError where it cannot be read, ValueError with the reason where it is no TOML or beyond a limit.
    """
    text = read_text(path, MAX_TOML_BYTES)
    _check(text)
    return tomllib.loads(text), text


def _check(text: str) -> None:
    """Raise ValueError for a text that is larger in some way than any that is meant. One walk over tokens:
    what is no TOML is left to the parser."""
    depth = entries = parts = 0
    for token in TOML_TOKEN.finditer(text):
        mark, word = token["mark"], token["word"]
        if word is not None and len(word) > MAX_WORD:
            raise _beyond(text, token.start(), f"a word of {len(word):,} characters, more", MAX_WORD)
        if mark in ("[", "{"):
            depth += 1
        elif mark in ("]", "}"):
            depth -= 1
        if depth > MAX_DEPTH:
            raise _beyond(text, token.start(), "values nested too deeply, more levels", MAX_DEPTH)
        entries += mark in ("[", "{", "=")
        if entries > MAX_ENTRIES:
            raise _beyond(text, token.start(), "too many keys and tables, more", MAX_ENTRIES)
        if mark is not None:
            parts = parts + 1 if mark == "." else 0
        if parts >= MAX_PARTS:
            raise _beyond(text, token.start(), "a key of too many parts, more", MAX_PARTS)


def _beyond(text: str, at: int, what: str, most: int) -> ValueError:
    line = text.count("\n", 0, at) + 1
    return ValueError(f"line {line} has {what} than the {most:,} that are read")


def to_json(document: object) -> str:
    """Readable JSON, keys in the order of the document."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
