"""Where the fields of a board file stand: TOML's decoder keeps no lines."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from codegen.errors import Message

_TABLE = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_.-]+)\s*\]")
_KEY = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")


def lines_of(text: str) -> dict[str, int]:
    """Path of each key and table of a TOML text (`uart.baud`, `regions[1].name`) -> its line, from 1.

    Keys inside multi-line strings and inline tables are not told apart: good enough to point at.
    """
    found: dict[str, int] = {}
    counts: Counter[str] = Counter()
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(line):
            table = header[2]
            if header[1] == "[[":
                counts[table] += 1
                found.setdefault(table, number)
                table = f"{table}[{counts[table] - 1}]"
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            found.setdefault(f"{table}.{key[1]}" if table else key[1], number)
    return found


def placed(messages: Iterable[Message], name: str, lines: Mapping[str, int]) -> list[Message]:
    """The messages about file `name`, `where` with the line of the field, or of the table that lacks it."""
    return [_placed(message, name, lines) for message in messages]


def _placed(message: Message, name: str, lines: Mapping[str, int]) -> Message:
    prefix = f"{name}: "
    if message.where is None or not message.where.startswith(prefix):
        return message
    path = message.where.removeprefix(prefix).replace(": ", ".")
    place = path
    while place and place not in lines:
        place = place.rpartition(".")[0]
    line = f"{lines[place]}: " if place else " "
    return replace(message, where=f"{name}:{line}{path}")
