"""Tables of codegen.toml: `[[place]]`, `[[state]]`, `[[constant]]` as rules, `[[kernel]]` as kernels.

Each table becomes the fields of a dataclass; mistakes are told with their place.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec

from codegen.driver.declared_kernels import refused_kernel
from codegen.errors import Messages
from codegen.ir import VirtualDevice
from codegen.ir.c_names import WORDS
from codegen.ir.ops import UserKernel
from codegen.ir.ops.user import MAX_ALIGNMENT, MEMORY_OF, SOURCE_NAME, SYMBOL, is_alignment, is_memory_of
from codegen.ir.rules import ConstantRule, Place, StateRule
from codegen.toml import Count, Name, Size, fields, line_of


@dataclass(frozen=True, kw_only=True, slots=True)
class ProjectFile:
    """A codegen.toml while it is read: what is wrong goes to `messages` (E202)."""

    path: Path
    text: str
    messages: Messages

    def complain(self, where: str, text: str, help: str) -> None:
        """Tell a mistake at `where`."""
        self.messages.add("E202", text, where=where, help=help)

    def place(self, path: str, name: str) -> str:
        """Name in messages of the table or key at `path`: `codegen.toml, line 3, place 2`."""
        line = line_of(self.text, path)
        parts = [self.path.name, "" if line is None else f"line {line}", name]
        return ", ".join(part for part in parts if part)

    def rows(self, value: object, key: str, cls: type[Any], help: str) -> "Iterator[TableRow]":
        """The tables that `value`, the key `key`, has; `cls` says what may stand in one."""
        tables = cast("list[object]", value) if isinstance(value, list) else [value]
        if not isinstance(value, list) or not all(isinstance(table, dict) for table in tables):
            self.complain(self.place(key, ""), f"{key} must be tables: [[{key}]]", help)
            return
        for number, table in enumerate(tables, 1):
            yield TableRow(self, cast("dict[str, Any]", table), key, number, cls, help)


class TableRow:
    """One table: the fields that are right in `values`, all else told."""

    def __init__(
        self, file: ProjectFile, table: dict[str, Any], key: str, number: int, cls: type[Any], help: str
    ) -> None:
        self._file = file
        self._path = f"{key}[{number - 1}]"
        self._help = help
        op = table.get("op")
        self._name = f"{key} {number}" + (f" ({op})" if isinstance(op, str) and op else "")
        self.table = table
        self.is_sound = True
        self.where = file.place(self._path, f"{key} {number}")
        self.values = fields(cls, table, self._tell)

    def _tell(self, path: str, reason: str, help: str | None) -> None:
        self.complain(path, f"{path} {reason}", help)

    def complain(self, key: str, text: str, help: str | None = None) -> None:
        """Tell a mistake at `key` of the table; "" is the table."""
        self.is_sound = False
        where = self._file.place(f"{self._path}.{key}", self._name)
        self._file.complain(where, text, help or self._help)


_HELP = "see docs/configuration.md"
_WHAT = ("tensor", "op", "inputs", "outputs")
_WHERE = ("memory", "target", "device_id", "reads")
_Operator = Annotated[
    Count | Name, msgspec.Meta(description="an operator: its name, or its number in the file from 0")
]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """Keys of `[[place]]`."""

    tensor: Name | None = None
    op: _Operator | None = None
    inputs: bool = False
    outputs: bool = False
    memory: Name | None = None
    target: Name | None = None
    device_id: Count | None = None
    reads: Name | None = None
    model: Name | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _State:
    """Keys of `[[state]]`."""

    input: Name | None = None
    output: Name | None = None
    memory: Name | None = None
    model: Name | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Constant:
    """Keys of `[[constant]]`."""

    memory: Name
    op: Name | None = None
    name: Name | None = None
    larger_than: Size = 0


def declared_places(value: object, file: ProjectFile) -> tuple[Place, ...]:
    """The places that `value`, the key `place`, declares; a table with a mistake gives none."""
    rows = map(_checked, file.rows(value, "place", _Place, _HELP))
    return tuple(_place(row) for row in rows if row.is_sound)


def _checked(row: TableRow) -> TableRow:
    """A `[[place]]`, with what its keys demand of each other told."""
    for key in ("inputs", "outputs"):
        if row.values.get(key) is False:
            row.complain(key, f"{key} must be true")
    if sum(key in row.table for key in _WHAT) != 1:
        row.complain("", f"needs exactly one of {', '.join(_WHAT)}")
    if not any(key in row.table for key in _WHERE):
        row.complain("", f"needs at least one of {', '.join(_WHERE)}")
    if "reads" in row.table and "op" not in row.table:
        row.complain("reads", "reads is for operators: it needs op")
    return row


def _place(row: TableRow) -> Place:
    of = dict(row.values)
    device = VirtualDevice(
        target=of.pop("target", None),
        device_id=of.pop("device_id", None),
        memory_scope=of.pop("memory", None),
    )
    return Place(who=row.where, device=device, **of)


def declared_states(value: object, file: ProjectFile) -> tuple[StateRule, ...]:
    """The states that `value`, the key `state`, declares; a table with a mistake gives none."""
    rows = map(_checked_state, file.rows(value, "state", _State, _HELP))
    return tuple(StateRule(who=row.where, **row.values) for row in rows if row.is_sound)


def _checked_state(row: TableRow) -> TableRow:
    """A `[[state]]`, with what its keys demand of each other told."""
    named = [key in row.table for key in ("input", "output")]
    if any(named) and not all(named):
        row.complain("", f"{'output' if named[0] else 'input'} is missing")
    if not any(named) and "memory" not in row.table:
        row.complain("", "needs input and output, or memory, or all three")
    return row


def constant_rules(value: object, file: ProjectFile) -> tuple[ConstantRule, ...]:
    """The rules that `value`, the key `constant`, states; a table with a mistake gives none."""
    rows = file.rows(value, "constant", _Constant, _HELP)
    return tuple(ConstantRule(where=row.where, **row.values) for row in rows if row.is_sound)


_KERNEL_HELP = "see docs/user_kernels.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kernel:
    """Keys of `[[kernel]]`."""

    op: Name
    symbol: str
    source: str
    workspace_bytes: Size = 0
    workspace_alignment: int = 4
    argument_alignment: int = 1
    below: int | None = None
    above: int | None = None
    memory: dict[str, Any] = field(default_factory=dict[str, Any])
    target: Name | None = None
    device_id: Count | None = None


def declared_kernels(value: object, file: ProjectFile) -> tuple[UserKernel, ...]:
    """The kernels that `value`, the key `kernel`, declares, their sources read; a table with a mistake gives
    none."""
    rows = file.rows(value, "kernel", _Kernel, _KERNEL_HELP)
    kernels = [(row, kernel) for row in rows if (kernel := _kernel(row, file.path.parent)) is not None]
    _check_unlike(kernels)
    return tuple(kernel for _, kernel in kernels)


def _check_unlike(kernels: list[tuple[TableRow, UserKernel]]) -> None:
    """One kernel an operator; one text a file name, since all sources go to one folder."""
    ops: set[str] = set()
    texts: dict[str, str] = {}
    for row, kernel in kernels:
        if kernel.op in ops:
            row.complain("op", f"two kernels for {kernel.op}", "leave one")
        ops.add(kernel.op)
        if texts.setdefault(kernel.source, kernel.text) != kernel.text:
            text = f"two sources are called {kernel.source}"
            row.complain("source", text, "rename one: both are copied to one folder")


def _kernel(row: TableRow, folder: Path) -> UserKernel | None:
    """The kernel; None if something about it was told."""
    values = row.values
    if "op" in values and (refusal := refused_kernel(values["op"])) is not None:
        row.complain("op", *refusal)
    if "symbol" in values:
        _check_symbol(values["symbol"], row)
    text = _source_text(values["source"], folder, row) if "source" in values else None
    for key in ("workspace_alignment", "argument_alignment"):
        if key in values and not is_alignment(values[key]):
            row.complain(key, f"{key} is {values[key]}: it must be a power of two up to {MAX_ALIGNMENT}")
    _check_memory(values.get("memory", {}), row)
    if not row.is_sound:
        return None
    memory = tuple(values.get("memory", {}).items())
    of: dict[str, Any] = {**values, "source": Path(values["source"]).name, "text": text, "memory": memory}
    return UserKernel(**of)


def _check_symbol(symbol: str, row: TableRow) -> None:
    if not SYMBOL.fullmatch(symbol) or symbol in WORDS:
        row.complain("symbol", f"symbol {symbol!r} is not the name of a C function")
    elif symbol.startswith("cg_"):
        text = f"symbol {symbol} begins with cg_, as names of the runtime do"
        row.complain("symbol", text, "rename it")


def _source_text(source: str, folder: Path, row: TableRow) -> str | None:
    path = folder / source
    if not SOURCE_NAME.fullmatch(path.name):
        text = f"source {source!r} is not a .c or .S file with a plain name (letters, digits, _.-)"
        row.complain("source", text)
        return None
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        text = f"cannot read source {source}: {error.strerror or error}"
        row.complain("source", text, "give its path from the folder of codegen.toml")
    except UnicodeDecodeError:
        row.complain("source", f"source {source} is not UTF-8 text")
    return None


def _check_memory(demands: dict[str, Any], row: TableRow) -> None:
    for what, scope in demands.items():
        if not is_memory_of(what):
            words = ", ".join(MEMORY_OF)
            row.complain("memory", f"memory of {what!r}: it can be of {words}, argument0, argument1, ...")
        elif what == "workspace" and not row.table.get("workspace_bytes"):
            row.complain("memory", "memory of a workspace that it does not have: workspace_bytes is 0")
        if not isinstance(scope, str) or not scope:
            row.complain("memory", f"memory.{what} must be the name of a pool, or dma")
