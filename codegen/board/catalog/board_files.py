"""A board file, or one of a memory model: read, decoded, every mistake told with its line."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from codegen.documents import read_toml
from codegen.errors import CodegenError, Message, Messages
from codegen.toml.decode import Tell, decode
from codegen.toml.lines import line_of

CODE = "E252"
_T = TypeVar("_T")


def read_file(
    cls: type[_T],
    path: Path,
    *,
    help: str,
    check: Callable[[_T | None, Mapping[str, Any], Messages], None] | None = None,
) -> _T:
    """What the file at `path` describes; `check` adds mistakes to those that decoding finds.

    Raises CodegenError: E251 with `help`, the file cannot be read or is no TOML; E252 all mistakes in it.
    """
    try:
        table, text = read_toml(path)
    except OSError as error:
        raise _unreadable(path, f"cannot be read: {error.strerror}", help) from error
    except ValueError as error:  # TOML, UTF-8 or a limit
        raise _unreadable(path, f"is no TOML: {error}", help) from error
    messages = Messages()
    found = decode(cls, table, teller(path.name, messages))
    if check is not None:
        check(found, table, messages)
    try:
        messages.raise_if_any()
    except CodegenError as error:
        raise CodegenError(_placed(error.messages, path.name, text)) from None
    assert found is not None  # else there were messages
    return found


def teller(name: str, messages: Messages) -> Tell:
    """Mistakes in the file called `name` as messages."""

    def tell(path: str, reason: str, help: str | None) -> None:
        where = f"{name}: {path}" if path else name
        messages.add(CODE, reason, where=where, help=help or "see the files that ship for examples")

    return tell


def _placed(messages: Iterable[Message], name: str, text: str) -> list[Message]:
    """The messages about file `name`, `where` with the line of the field, or of the table that lacks it."""
    return [_with_line(message, name, text) for message in messages]


def _with_line(message: Message, name: str, text: str) -> Message:
    if message.where is None or not message.where.startswith(f"{name}: "):
        return message
    path = message.where.removeprefix(f"{name}: ")
    line = line_of(text, path)
    return replace(message, where=f"{name}:{'' if line is None else f'{line}:'} {path}")


def _unreadable(path: Path, text: str, help: str) -> CodegenError:
    return CodegenError(Message(code="E251", where=str(path), text=text, help=help))
