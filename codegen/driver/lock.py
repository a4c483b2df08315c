"""`--lock FILE`: the figures of a build, so that no later build changes one in silence."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import msgspec

import codegen
from codegen.driver.outputs import write_file
from codegen.driver.words import counted
from codegen.emit.figures import macs, stack_bytes
from codegen.errors import CodegenError, Message, Messages
from codegen.plan.bundle import Bundle
from codegen.plan.image import ElfSizes

_VERSION = 1
_MOST_BYTES = 1 << 20
"""A lock file has a few thousand bytes."""

Figures = Mapping[str, object]
"""What a lock file holds: tables of figures, models, pools and constants by name."""


def figures_of(bundle: Bundle, sizes: ElfSizes, build_sha256: str, options: str) -> Figures:
    """The figures of a build; `options`: the flags that decided the code."""
    return {
        "lock": _VERSION,
        "models": {
            program.name: {
                "stack_bytes": stack_bytes(program, sizes),
                "macs": macs(program),
                "steps": len(program.prim_funcs),
                "sha256": program.metadata["sha256"],
            }
            for program in bundle.programs
        },
        "pools": {pool.name: pool.size_bytes for pool in bundle.pools},
        "constants": {pool.name: pool.size_bytes for pool in bundle.constants},
        "model_code_bytes": sizes.model_code_bytes,
        "core1_stack_bytes": sizes.core1_stack_bound_bytes,
        "board": bundle.programs[0].board.name,
        "options": options,
        "generator": f"codegen {codegen.__version__}",
        "build_sha256": build_sha256,
    }


def check_place(path: Path | None) -> None:
    """Raise CodegenError E228 for a lock file that is none, or that no file can be written to."""
    if path is None:
        return
    if path.exists():
        _read(path)
    elif not path.parent.is_dir():
        raise _unfit(path, f"there is no folder {path.parent}", "name a file in a folder that is there")


def check_lock(path: Path | None, found: Figures) -> None:
    """Raise CodegenError E407 naming every figure that differs from those in `path`, sizes first, E228 for a
    file that is no lock file. Without `path`, or where there is no such file yet, nothing is wrong."""
    if path is None or not path.exists():
        return
    before, now = dict(_flat(_read(path))), dict(_flat(found))
    keys = [key for key in dict.fromkeys([*now, *before]) if before.get(key) != now.get(key)]
    if not keys:
        return
    sizes = [key for key in keys if not isinstance(now.get(key, before.get(key)), str)]
    messages = Messages()
    for key in (*sizes, *(key for key in keys if key not in sizes)):
        messages.add("E407", _difference(key, before.get(key), now.get(key)), where=str(path))
    told = f"{counted(len(sizes), 'figure')} changed" if sizes else "no figure changed, what was built did"
    help_ = "if that is meant, delete the file and build again: it is written anew"
    messages.add("E407", f"{told}; nothing was written", where=str(path), help=help_)
    messages.raise_if_any()


def write_lock(path: Path | None, found: Figures) -> None:
    """Write the lock file where there is none yet. Raises CodegenError E206."""
    if path is not None and not path.exists():
        write_file(path, msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")


def _difference(key: str, before: object, now: object) -> str:
    """`pools.sram: 8,189 -> 8,212 (+23)`."""
    text = f"{key}: {_shown(before)} -> {_shown(now)}"
    return f"{text} ({now - before:+,})" if isinstance(before, int) and isinstance(now, int) else text


def _shown(value: object) -> str:
    if value is None:
        return "none"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _flat(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(cast("Mapping[str, object]", value), f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _read(path: Path) -> Figures:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise _no_lock(path)
        found: object = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        text = f"cannot be read: {error.strerror or error}"
        raise _unfit(path, text, "name a file that can be read") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise _no_lock(path) from error
    if not isinstance(found, dict) or cast("Figures", found).get("lock") != _VERSION:
        raise _no_lock(path)
    return cast("Figures", found)


def _no_lock(path: Path) -> CodegenError:
    return _unfit(path, "is no lock file of codegen", "name a new file, which is written then")


def _unfit(path: Path, text: str, help_: str) -> CodegenError:
    return CodegenError(Message(code="E228", where=f"--lock {path}", text=text, help=help_))
