"""A board file, or one of a memory model: read, decoded, every mistake told with its line.

A board file with mistakes is made decodable, so that contradictions in the rest are told at once too.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

from codegen import resources
from codegen.documents import read_toml
from codegen.errors import CodegenError, Message, Messages
from codegen.ir import MemoryModel
from codegen.toml import Tell, decode, line_of

CODE = "E252"
_FIELDS = "docs/boards.md says what each field is; the files that ship are examples"


_T = TypeVar("_T")


def read_file(
    cls: type[_T],
    path: Path,
    *,
    help: str,
    check: Callable[[_T | None, Mapping[str, Any], Messages], None] | None = None,
) -> _T:
    """Decode the file at `path`; `check` adds mistakes to those that decoding finds.

    Raises CodegenError: E251 with `help`, the file cannot be read or is no TOML; E252 all mistakes in it.
    """
    try:
        table, text = read_toml(path)
    except OSError as error:
        raise _unreadable(path, f"cannot be read: {error.strerror}", help) from error
    except ValueError as error:  # TOML, UTF-8 or a limit
        raise _unreadable(path, f"is no TOML: {error}", help) from error
    messages = Messages()
    decoded = decode(cls, table, teller(path.name, messages))
    if check is not None:
        check(decoded, table, messages)
    try:
        messages.raise_if_any()
    except CodegenError as error:
        raise CodegenError(_placed(error.messages, path.name, text)) from None
    assert decoded is not None  # else there were messages
    return decoded


def teller(name: str, messages: Messages) -> Tell:
    """Mistakes in the file called `name` as messages."""

    def tell(path: str, reason: str, help: str | None) -> None:
        where = f"{name}: {path}" if path else name
        messages.add(CODE, reason, where=where, help=help or _FIELDS)

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


def load_memory_model(name_or_path: str) -> MemoryModel:
    """The memory model called so, or described by the `.toml` file at that path.

    Raises CodegenError: E254 no such model (with the known ones), E251 the file cannot be read or is no
    TOML, E252 mistakes in it, all at once.
    """
    folder = resources.folder("boards") / "memory"
    path = folder / f"{name_or_path}.toml"
    if name_or_path.endswith(".toml") or "/" in name_or_path:
        path = Path(name_or_path)
    elif not path.is_file():
        names = ", ".join(sorted(file.stem for file in folder.glob("*.toml")))
        help_ = f"known models: {names}; or the path of a file (.toml, docs/cycles.md)"
        text = f"there is no memory model {name_or_path!r}"
        raise CodegenError(Message(code="E254", where="--memory-model", text=text, help=help_))
    help_ = "docs/cycles.md says what a memory model holds"
    return read_file(MemoryModel, path, help=help_)


_REGION = re.compile(r"regions\[(\d+)\]")


_REQUIRED: Mapping[str, Any] = {
    "name": "x",
    "title": "x",
    "runner": "none",
    "stack_bytes": 256,
    "reserved_bytes": 1 << 16,
    "code_region": "X",
    "data_region": "X",
    "target": {"cpu": "x"},
    "regions": [],
}
"""Stand-ins for fields a board cannot lack; what the checks say of them is not told."""


_FOLLOW_REGIONS = ("code_region", "data_region", "reserved_bytes")
"""Fields whose checks look at regions: silent where a region is not known."""


def repaired(table: Mapping[str, Any], faulty: Iterable[str]) -> tuple[dict[str, Any], frozenset[str]]:
    """`table` with the fields at the `faulty` paths replaced or left out, and the paths not to complain of.

    A region with a mistake keeps its name and its place in the list, as neighbours and fields refer to them.
    """
    silent = {_field(path) for path in faulty}
    result = dict(table)
    for field in silent - {path for path in silent if _REGION.fullmatch(path)}:
        result.pop(field, None)
    for field in _REQUIRED.keys() - result.keys():
        result[field] = _REQUIRED[field]
        silent.add(field)
    if "regions" in silent or any(_REGION.fullmatch(path) for path in silent):
        silent |= set(_FOLLOW_REGIONS)
    if "flash" in silent:
        silent.add("flash_tool")
    if isinstance(result["regions"], list):
        result["regions"] = [
            _stand_in(index, region) if f"regions[{index}]" in silent else region
            for index, region in enumerate(result["regions"])  # type: ignore[reportUnknownArgumentType]
        ]
    return result, frozenset(silent)


def is_silent(path: str, silent: frozenset[str]) -> bool:
    """True if a complaint about `path` only follows from a mistake that was told already."""
    return _field(path) in silent


def _field(path: str) -> str:
    """`regions[1].address` -> `regions[1]`; `uart.baud`, `holes[0].address` -> `uart`, `holes`."""
    region = _REGION.match(path)
    return region[0] if region else re.split(r"[.\[]", path, maxsplit=1)[0]


def _stand_in(index: int, region: Any) -> dict[str, Any]:
    known = cast(Mapping[str, Any], region) if isinstance(region, dict) else dict[str, Any]()
    name, writable = known.get("name"), known.get("writable")
    return {
        "name": name if isinstance(name, str) and name == name.upper() else f"X{index}",
        "address": 0xF000_0000 + (index << 20),
        "size_bytes": 1 << 20,
        "writable": writable if isinstance(writable, bool) else True,
    }
