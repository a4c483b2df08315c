"""`[[kernel]]` tables of codegen.toml: kernels of the user's for operators that codegen lacks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from codegen.cli.config.toml_tables import Table, tables
from codegen.errors import Messages
from codegen.importers.tflite.advice import CONTROL_FLOW
from codegen.importers.tflite.operators.translators import is_imported
from codegen.ir.c_names import WORDS
from codegen.ir.ops import UserKernel
from codegen.ir.ops.user import MAX_ALIGNMENT, MEMORY_OF, SOURCE_NAME, SYMBOL, is_alignment, is_memory_of
from codegen.ir.sizes import with_sizes

_KEYS: Mapping[str, type] = {
    "op": str,
    "symbol": str,
    "source": str,
    "workspace_bytes": int,
    "workspace_alignment": int,
    "argument_alignment": int,
    "below": int,
    "above": int,
    "memory": dict,
    "target": str,
    "device_id": int,
}
_NEEDED = ("op", "symbol", "source")
_WORDS = {str: "a string", int: "an integer", dict: "a table"}
_HELP = "see docs/user_kernels.md"


def declared_kernels(value: object, file: Path, text: str, messages: Messages) -> tuple[UserKernel, ...]:
    """The kernels that `value`, the key `kernel` of `file` with `text`, declares; sources are read.

    Every mistake goes to `messages` (E202); a table with one gives no kernel.
    """
    rows = tables(value, "kernel", file, text, messages, _HELP)
    found = [_Table(table, file, messages).kernel() for table in rows]
    kernels = [kernel for kernel in found if kernel is not None]
    _check_unlike(kernels, file, messages)
    return tuple(kernels)


def _check_unlike(kernels: list[UserKernel], file: Path, messages: Messages) -> None:
    """One kernel an operator; one text a file name, since all sources go to one folder."""
    ops: set[str] = set()
    texts: dict[str, str] = {}
    for kernel in kernels:
        if kernel.op in ops:
            messages.add("E202", f"two kernels for {kernel.op}", where=file.name, help="leave one")
        ops.add(kernel.op)
        if texts.setdefault(kernel.source, kernel.text) != kernel.text:
            messages.add(
                "E202",
                f"two sources are called {kernel.source}",
                where=file.name,
                help="rename one: both are copied to one folder",
            )


class _Table:
    """One `[[kernel]]` while it is read."""

    def __init__(self, table: Table, file: Path, messages: Messages) -> None:
        self._table = with_sizes(table.values, "workspace_bytes")
        self._file = file
        self._messages = messages
        op = table.values.get("op")
        self._where = table.where + (f" ({op})" if isinstance(op, str) and op else "")
        self._sound = True

    def kernel(self) -> UserKernel | None:
        """The kernel; None if something about it was reported."""
        self._check_keys()
        text = None
        if isinstance(op := self._table.get("op"), str):
            self._check_op(op)
        if isinstance(symbol := self._table.get("symbol"), str):
            self._check_symbol(symbol)
        if isinstance(source := self._table.get("source"), str):
            text = self._text(source)
        self._check_sizes()
        memory = self._memory()
        if not self._sound:
            return None
        values = {**self._table, "source": Path(str(source)).name, "text": text, "memory": memory}
        return UserKernel(**cast(Any, values))

    def _complain(self, text: str, help: str = _HELP) -> None:
        self._sound = False
        self._messages.add("E202", text, where=self._where, help=help)

    def _check_keys(self) -> None:
        for key in _NEEDED:
            if key not in self._table:
                self._complain(f"lacks {key}")
        for key, value in self._table.items():
            kind = _KEYS.get(key)
            if kind is None:
                self._complain(f"unknown key {key!r}", f"known keys are {', '.join(_KEYS)}")
            elif type(value) is not kind:  # true and false are integers to isinstance
                size = 'a size: 4096, or "4K"' if key == "workspace_bytes" else None
                self._complain(f"{key} must be {size or _WORDS[kind]}")

    def _check_op(self, op: str) -> None:
        if not op:
            self._complain("op is empty")
        elif is_imported(op):
            self._complain(
                f"{op} has kernels already: declared ones are for operators that codegen lacks",
                "`codegen ops` lists them; leave this kernel out",
            )
        elif op in CONTROL_FLOW:
            self._complain(f"{op} runs other subgraphs, which no kernel can")

    def _check_symbol(self, symbol: str) -> None:
        if not SYMBOL.fullmatch(symbol) or symbol in WORDS:
            self._complain(f"symbol {symbol!r} is not the name of a C function")
        elif symbol.startswith("cg_"):
            self._complain(f"symbol {symbol} begins with cg_, as names of the runtime do", "rename it")

    def _text(self, source: str) -> str | None:
        path = self._file.parent / source
        if not SOURCE_NAME.fullmatch(path.name):
            self._complain(
                f"source {source!r} is not a .c or .S file with a plain name (letters, digits, _.-)"
            )
            return None
        try:
            return path.read_text(encoding="utf-8")
        except OSError as error:
            self._complain(
                f"cannot read source {source}: {error.strerror or error}",
                "give its path from the folder of codegen.toml",
            )
        except UnicodeDecodeError:
            self._complain(f"source {source} is not UTF-8 text")
        return None

    def _memory(self) -> tuple[tuple[str, str], ...]:
        """The demands of the table `memory`, which is checked, and of the device."""
        for key in ("target", "device_id"):
            value = self._table.get(key)
            if value == "" or (type(value) is int and value < 0):
                self._complain(f"{key} is {value!r}, which names no device")
        table = self._table.get("memory", {})
        if not isinstance(table, dict):
            return ()
        demands = cast("dict[str, object]", table)
        for what, scope in demands.items():
            if not is_memory_of(what):
                words = ", ".join(MEMORY_OF)
                self._complain(f"memory of {what!r}: it can be of {words}, argument0, argument1, ...")
            elif what == "workspace" and not self._table.get("workspace_bytes"):
                self._complain("memory of a workspace that it does not have: workspace_bytes is 0")
            if not isinstance(scope, str) or not scope:
                self._complain(f"memory.{what} must be the name of a pool, or dma")
        return tuple((what, str(scope)) for what, scope in demands.items())

    def _check_sizes(self) -> None:
        size = self._table.get("workspace_bytes")
        if type(size) is int and size < 0:
            self._complain(f"workspace_bytes is {size}, which is no size")
        for key in ("workspace_alignment", "argument_alignment"):
            value = self._table.get(key)
            if type(value) is int and not is_alignment(value):
                self._complain(f"{key} is {value}: it must be a power of two up to {MAX_ALIGNMENT}")
