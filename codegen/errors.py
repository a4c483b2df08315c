"""Errors as people read them: a code, a place, a reason, a way out; and words that messages share.

A user's mistake is always a `CodegenError` holding every message at once; anything else that escapes is a bug
in this program (exit 1).
"""

import enum
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_SHOWN_PLACES = 3
_CODE = re.compile(r"^E[2-8]\d\d$")


def listed(names: Sequence[str], most: int = 20) -> str:
    """Names as messages list them: apart by commas, beyond `most` only how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


class ExitCode(enum.IntEnum):
    """Process exit codes, as documented for users (the first digit of a message code selects it)."""

    OK = 0
    BUG = 1
    USAGE = 2
    MODEL = 3
    FIT = 4
    TOOLCHAIN = 5
    TARGET = 6
    DIFFERS = 7
    PEAK = 8
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One thing that is wrong: `code` (E2xx..E8xx), `where`, `text` (what and why), `help` (what to try)."""

    code: str
    text: str
    where: str | None = None
    help: str | None = None
    places: tuple[str, ...] = ()
    """All places of one reason that holds in several; people are shown the first three."""
    of_one_model: bool = False
    """True if the message is about one model of a build, although its code is one of usage."""

    def __post_init__(self) -> None:
        if not _CODE.match(self.code):
            raise ValueError(f"message code {self.code!r} is not E2xx..E8xx")

    @property
    def exit_code(self) -> ExitCode:
        """Exit code named by the code: E3xx -> 3."""
        return ExitCode(int(self.code[1]))

    @property
    def is_about_a_model(self) -> bool:
        """True if the message is about one model of a build, not about flags that hold for all or about
        tools."""
        return self.of_one_model or self.exit_code in (ExitCode.MODEL, ExitCode.FIT)

    @property
    def document(self) -> dict[str, object]:
        """The message as JSON documents have it."""
        return {
            "code": self.code,
            "where": self.where,
            "text": self.text,
            "help": self.help,
            "places": list(self.places),
        }

    def __str__(self) -> str:
        place = f" {self.where}:" if self.where else ""
        line = f"error[{self.code}]{place} {self.text}"
        if self.places:
            more = len(self.places) - _SHOWN_PLACES
            shown = [*self.places[:_SHOWN_PLACES], *([f"and {more:,} more"] if more > 0 else [])]
            line += f"\n  at {'; '.join(shown)}"
        return f"{line}\nhelp: {self.help}" if self.help else line


class CodegenError(Exception):
    """Everything a user can cause. Holds all messages found, first one deciding the exit code."""

    def __init__(self, messages: Message | Iterable[Message]) -> None:
        self.messages: tuple[Message, ...] = (messages,) if isinstance(messages, Message) else tuple(messages)
        if not self.messages:
            raise ValueError("a CodegenError needs at least one message")
        super().__init__("\n".join(str(message) for message in self.messages))

    @property
    def exit_code(self) -> ExitCode:
        """Exit code named by the first message's code."""
        return self.messages[0].exit_code

    @property
    def figures(self) -> Mapping[str, object]:
        """Figures of the failure by key, as the JSON document of a command has them beside its messages."""
        return {}


class Messages:
    """Collects messages while work goes on, so that a user sees all problems at once.

    Beyond `MAX_MESSAGES` they are only counted: nobody reads thousands of them.
    """

    MAX_MESSAGES = 500

    def __init__(self) -> None:
        self._items: dict[Message, None] = {}
        self._dropped = 0

    def add(self, code: str, text: str, *, where: str | None = None, help: str | None = None) -> None:
        """Record a problem and go on; the same message twice is kept once."""
        self.take(Message(code=code, text=text, where=where, help=help))

    def take(self, message: Message) -> None:
        """Record a message that is made already, as `add` does."""
        if message in self._items:
            return
        if len(self._items) < self.MAX_MESSAGES:
            self._items[message] = None
        else:
            self._dropped += 1

    def __len__(self) -> int:
        return len(self._items) + self._dropped

    @property
    def all(self) -> tuple[Message, ...]:
        """Messages in the order of recording. One message more says how many were only counted."""
        messages = tuple(self._items)
        if not self._dropped:
            return messages
        return (*messages, Message(code=messages[-1].code, text=f"and {self._dropped:,} more problems"))

    def raise_if_any(self) -> None:
        """Raise `CodegenError` with everything recorded so far, if anything was."""
        if self._items:
            raise CodegenError(self.all)


def in_bytes(count: int, width: int = 0) -> str:
    """`1 byte`, `12 bytes`; with a `width` a row of a table: numbers of so many characters, words of one."""
    unit = "byte" if count == 1 else "bytes"
    return f"{count:>{width}} {unit:<5}" if width else f"{count} {unit}"


def counted(count: int, one: str, more: str | None = None) -> str:
    """`1 copy`, `1,200 copies`: `one` is the noun, `more` its plural, by default with an s."""
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"
