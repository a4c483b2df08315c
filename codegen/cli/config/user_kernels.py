"""`[[kernel]]` tables of codegen.toml: kernels of the user's for operators that codegen lacks."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codegen.cli.config.project_tables import ProjectFile, Row
from codegen.importers.tflite.operators.translators import is_imported
from codegen.importers.tflite.problems import CONTROL_FLOW
from codegen.ir.c_names import WORDS
from codegen.ir.ops import UserKernel
from codegen.ir.ops.user import MAX_ALIGNMENT, MEMORY_OF, SOURCE_NAME, SYMBOL, is_alignment, is_memory_of
from codegen.toml.decode import Count, Name, Size

_HELP = "see docs/user_kernels.md"


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
    rows = file.rows(value, "kernel", _Kernel, _HELP)
    kernels = [kernel for row in rows if (kernel := _kernel(row, file.path.parent)) is not None]
    _check_unlike(kernels, file)
    return tuple(kernels)


def _check_unlike(kernels: list[UserKernel], file: ProjectFile) -> None:
    """One kernel an operator; one text a file name, since all sources go to one folder."""
    ops: set[str] = set()
    texts: dict[str, str] = {}
    for kernel in kernels:
        if kernel.op in ops:
            file.complain(file.path.name, f"two kernels for {kernel.op}", "leave one")
        ops.add(kernel.op)
        if texts.setdefault(kernel.source, kernel.text) != kernel.text:
            text = f"two sources are called {kernel.source}"
            file.complain(file.path.name, text, "rename one: both are copied to one folder")


def _kernel(row: Row, folder: Path) -> UserKernel | None:
    """The kernel; None if something about it was told."""
    values = row.values
    if "op" in values:
        _check_op(values["op"], row)
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


def _check_op(op: str, row: Row) -> None:
    if is_imported(op):
        text = f"{op} has kernels already: declared ones are for operators that codegen lacks"
        row.complain("op", text, "`codegen ops` lists them; leave this kernel out")
    elif op in CONTROL_FLOW:
        row.complain("op", f"{op} runs other subgraphs, which no kernel can")


def _check_symbol(symbol: str, row: Row) -> None:
    if not SYMBOL.fullmatch(symbol) or symbol in WORDS:
        row.complain("symbol", f"symbol {symbol!r} is not the name of a C function")
    elif symbol.startswith("cg_"):
        text = f"symbol {symbol} begins with cg_, as names of the runtime do"
        row.complain("symbol", text, "rename it")


def _source_text(source: str, folder: Path, row: Row) -> str | None:
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


def _check_memory(demands: dict[str, Any], row: Row) -> None:
    for what, scope in demands.items():
        if not is_memory_of(what):
            words = ", ".join(MEMORY_OF)
            row.complain("memory", f"memory of {what!r}: it can be of {words}, argument0, argument1, ...")
        elif what == "workspace" and not row.given.get("workspace_bytes"):
            row.complain("memory", "memory of a workspace that it does not have: workspace_bytes is 0")
        if not isinstance(scope, str) or not scope:
            row.complain("memory", f"memory.{what} must be the name of a pool, or dma")
