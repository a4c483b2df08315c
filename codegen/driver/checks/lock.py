"""`--lock FILE`: the figures of a build, so that no later build changes one in silence."""

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import msgspec

import codegen
from codegen.driver.inputs.files import write_file
from codegen.emit.model.header import stack_bytes
from codegen.errors import CodegenError, Message, counted
from codegen.program.image import ElfSizes
from codegen.program.program import Bundle

_VERSION = 1
_MOST_BYTES = 1 << 20
"""A lock file has a few thousand bytes."""

Figures = Mapping[str, object]
"""Contents of a lock file: tables of figures, models, pools and constants by name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _LockedModel:
    """Figures of one model in a lock file."""

    stack_bytes: int | None
    macs: int
    steps: int
    sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Lock:
    """Required figures of a lock file. All other entries are compared too."""

    lock: Literal[1]
    models: Mapping[str, _LockedModel]
    pools: Mapping[str, int]
    constants: Mapping[str, int]
    model_code_bytes: int
    core1_stack_bytes: int | None
    board: str
    options: str
    generator: str
    build_sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LockChange:
    """An entry that differs; None: there is none."""

    name: str
    before: object
    now: object

    @property
    def is_figure(self) -> bool:
        """True if the entry is a number, False for a hash or a text."""
        return not isinstance(self.before if self.now is None else self.now, str)

    def __str__(self) -> str:
        """`pools.sram: 8,189 -> 8,212 (+23)`."""
        text = f"{self.name}: {_shown(self.before)} -> {_shown(self.now)}"
        both = isinstance(self.before, int) and isinstance(self.now, int)
        return f"{text} ({cast('int', self.now) - cast('int', self.before):+,})" if both else text


class LockDiffers(CodegenError):
    """E407, with every change."""

    def __init__(self, path: Path, changes: tuple[LockChange, ...]) -> None:
        self.changes = changes
        figures = sum(change.is_figure for change in changes)
        others = len(changes) - figures
        told = f"{counted(figures, 'figure')} changed" if figures else "no figure changed, what was built did"
        if figures and others:
            told = (
                f"{counted(figures, 'figure')} and {counted(others, 'other entry', 'other entries')} changed"
            )
        help_ = "if that is meant, delete the file and build again: it is written anew"
        texts = [(str(change), None) for change in changes] + [(f"{told}; nothing was written", help_)]
        super().__init__(Message(code="E407", text=t, where=str(path), help=h) for t, h in texts)

    @property
    def figures(self) -> Mapping[str, object]:
        """The changes, as JSON has them."""
        rows = [{"name": change.name, "before": change.before, "now": change.now} for change in self.changes]
        return {"changes": rows}


def figures_of(bundle: Bundle, sizes: ElfSizes, build_sha256: str, options: str) -> Figures:
    """The figures of a build; `options`: the flags that decided the code."""
    return {
        "lock": _VERSION,
        "models": {
            program.name: {
                "stack_bytes": stack_bytes(program, sizes),
                "macs": program.steps.macs,
                "steps": len(program.steps.prim_funcs),
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
    try:
        place = path.resolve()
        if place.exists():
            _read(path)
        elif not place.parent.is_dir():
            raise _unfit(path, f"there is no folder {place.parent}", "name a file in a folder that is there")
        else:
            with tempfile.TemporaryFile(dir=place.parent):
                pass  # told before the build, not after it
    except (OSError, RuntimeError) as error:  # RuntimeError: links that lead round in a circle
        text = f"cannot be written: {getattr(error, 'strerror', None) or error}"
        raise _unfit(path, text, "name a file in a folder that you may write to") from error


def check_lock(path: Path | None, figures: Figures) -> None:
    """Raise LockDiffers (E407) naming every figure that differs from those in `path`, sizes first, E228 for a
    file that is no lock file. Without `path`, or where there is no such file yet, nothing is wrong."""
    if path is None or not path.exists():
        return
    before, now = dict(_flat(_read(path))), dict(_flat(figures))
    changes = [
        LockChange(name=key, before=before.get(key), now=now.get(key))
        for key in dict.fromkeys([*now, *before])
        if before.get(key) != now.get(key)
    ]
    if changes:
        raise LockDiffers(path, tuple(sorted(changes, key=lambda change: not change.is_figure)))


def write_lock(path: Path | None, figures: Figures) -> None:
    """Write the lock file where there is none yet. Raises CodegenError E206."""
    if path is not None and not path.exists():
        write_file(path, msgspec.json.format(msgspec.json.encode(figures), indent=2) + b"\n")


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
            raise _no_lock(path, f"it has more than {_MOST_BYTES:,} bytes")
        data = path.read_bytes()
        msgspec.json.decode(data, type=_Lock)
        return cast("Figures", msgspec.json.decode(data))
    except OSError as error:
        text = f"cannot be read: {error.strerror or error}"
        raise _unfit(path, text, "name a file that can be read") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise _no_lock(path, str(error)) from error


def _no_lock(path: Path, reason: str) -> CodegenError:
    return _unfit(path, f"is no lock file of codegen: {reason}", "name a new file, which is written then")


def _unfit(path: Path, text: str, help_: str) -> CodegenError:
    return CodegenError(Message(code="E228", where=f"--lock {path}", text=text, help=help_))
