"""The words of the text form."""

import json
import re
from collections.abc import Callable
from typing import TypeVar

_TOKEN = re.compile(
    r"\s*(?:(?P<string>\"(?:[^\"\\]|\\.)*\")|(?P<number>-?(?:(?:inf|nan)\b|\d[\d.]*(?:e[+-]?\d+)?))"
    r"|(?P<word>[%$]?[A-Za-z_][\w.]*)|(?P<mark>->|[()\[\]{}<>:;,=@+*/-]))"
)
_Item = TypeVar("_Item")


class Tokens:
    """The token stream, with the line of each token for messages."""

    def __init__(self, text: str) -> None:
        self._items: list[tuple[str, int]] = []
        position, line = 0, 1
        text = text.rstrip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                rest = text[position:].lstrip()
                line += text.count("\n", position, len(text) - len(rest))
                raise ValueError(f"line {line}: cannot read {rest[:20]!r}")
            token = match.group().strip()
            # Counted on from the token before: from the first line on it took a minute for a large model.
            line += text.count("\n", position, match.end() - len(token))
            self._items.append((token, line))
            line += token.count("\n")
            position = match.end()
        self._next = 0

    def peek(self) -> str:
        """The next token, empty at the end."""
        return self._items[self._next][0] if self._next < len(self._items) else ""

    def behind(self) -> str:
        """The token behind the next one or, where that opens a bracket, behind its end."""
        depth = 0
        for position in range(self._next, len(self._items) - 1):
            token = self._items[position][0]
            depth += (token == "(") - (token == ")")
            if depth <= 0:
                return self._items[position + 1][0]
        return ""

    def take(self, expected: str | None = None) -> str:
        """Consume a token; raises ValueError with its line if it is not `expected`."""
        token = self.peek()
        if not token or (expected is not None and token != expected):
            line = self._items[min(self._next, len(self._items) - 1)][1] if self._items else 1
            raise ValueError(f"line {line}: expected {expected or 'more'}, found {token or 'the end'}")
        self._next += 1
        return token

    def accept(self, token: str) -> bool:
        """Consume `token` if it is next."""
        if self.peek() != token:
            return False
        self._next += 1
        return True

    def several(self, read: Callable[[], _Item], end: str) -> list[_Item]:
        """Items separated by commas up to and including `end`."""
        items: list[_Item] = []
        while not self.accept(end):
            items.append(read())
            if self.peek() != end:
                self.take(",")
        return items

    def string(self) -> str:
        """Consume a string."""
        token = self.take()
        if not token.startswith('"'):
            raise ValueError(f"expected a string, found {token}")
        return str(json.loads(token))
