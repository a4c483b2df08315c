"""codegen.toml of the project: defaults for flags, under the command line and the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from codegen.command.option_table import ROWS, OptionRow
from codegen.documents import read_toml
from codegen.driver.inputs.files import existing
from codegen.errors import CodegenError, Message, Messages
from codegen.ir.byte_sizes import SIZE_WORDS
from codegen.toml import Name, Size, line_of, value_of

if TYPE_CHECKING:
    from codegen.command.project_tables import ProjectFile
    from codegen.ir.ops import UserKernel
    from codegen.ir.rules import ConstantRule, Place, StateRule

FILE = "codegen.toml"

_HELP = "see docs/configuration.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Contents of codegen.toml."""

    defaults: Mapping[str, object] = field(default_factory=dict[str, object])
    """Values of options by name, for click."""
    kernels: "tuple[UserKernel, ...]" = ()
    places: "tuple[Place, ...]" = ()
    states: "tuple[StateRule, ...]" = ()
    constant_rules: "tuple[ConstantRule, ...]" = ()
    read: tuple[Path, ...] = ()
    """The file and the sources of its kernels."""
    text: str = ""

    def origin(self, key: str) -> str:
        """Place in the file that says `key`, for messages."""
        return _place(self.read[0], self.text, key)


def _place(path: Path, text: str, key: str) -> str:
    line = line_of(text, key)
    return f"{_shown(path)}, {'' if line is None else f'line {line}, '}key {key}"


def _shown(path: Path) -> str:
    """The file as people call it from the current folder: its name where it lies in that."""
    return min(os.path.relpath(path), str(path), key=len)


def current_folder() -> Path:
    """The current folder. Raises CodegenError E234 if it was removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise CodegenError(
            Message(code="E234", text="the current folder is gone", help="change to a folder that exists")
        ) from None


def find_file(folder: Path) -> Path | None:
    """codegen.toml in `folder`, or in the next folder above it up to the root of the repository.

    Outside a repository only `folder` itself is looked at: what lies above belongs to others.
    """
    above = [folder, *folder.parents]
    root = next((parent for parent in above if (parent / ".git").exists()), folder)
    candidates = (parent / FILE for parent in above[: above.index(root) + 1])
    return next((path for path in candidates if os.path.lexists(path)), None)


def settings(folder: Path | None = None, file: Path | None = None) -> Settings:
    """Read `file`, else the codegen.toml of `folder`, the current one by default (`find_file`); without a
    file there are no settings.

    Raises CodegenError E202 naming everything in it that is not understood, E204 for a `file` that is not
    there, or for a folder of that name, E234.
    """
    path = find_file(folder or current_folder()) if file is None else existing(file, "a codegen.toml")
    if path is None:
        return Settings()
    path = path.absolute()
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "is no file"
        help_ = "settings are looked for there: rename it, or name another file with --config"
        raise CodegenError(Message(code="E204", where=_shown(path), text=what, help=help_))
    try:
        table, text = read_toml(path)
        document: dict[str, object] = table
    except ValueError as error:  # TOML, UTF-8 or a limit
        help_ = "correct the file or move it away"
        raise CodegenError(
            Message(code="E202", where=_shown(path), text=f"not TOML: {error}", help=help_)
        ) from None
    except OSError as error:
        help_ = "correct its rights or move it away"
        text = f"cannot be read: {error.strerror}"
        raise CodegenError(Message(code="E202", where=_shown(path), text=text, help=help_)) from None
    # The tables' words are checked against operators and kernels: a project without a file imports none.
    from codegen.command import project_tables as tables

    messages = Messages()
    read = (path, *_kernel_sources(document.get("kernel"), path))
    project = tables.ProjectFile(path=path, text=text, messages=messages)
    kernels = tables.declared_kernels(document.pop("kernel", []), project)
    places = tables.declared_places(document.pop("place", []), project)
    states = tables.declared_states(document.pop("state", []), project)
    rules = tables.constant_rules(document.pop("constant", []), project)
    defaults = _defaults(document, project)
    messages.raise_if_any()
    return Settings(
        defaults=defaults,
        kernels=kernels,
        places=places,
        states=states,
        constant_rules=rules,
        read=read,
        text=text,
    )


def _defaults(document: Mapping[str, object], file: "ProjectFile") -> Mapping[str, object]:
    """Values of options by name; what is no key or not of its kind is told."""
    known = {row.key: row for row in ROWS.values() if row.toml is not None}
    values: dict[str, object] = {}
    for key, value in document.items():
        option = known.get(key)
        if option is None or option.toml is None:
            help_ = f"known keys are {', '.join(known)}, kernel, place, state, constant"
            file.complain(_place(file.path, file.text, key), f"unknown key {key!r}", help_)
        elif not option.toml.accepts(value):
            what = f"{key} must be {option.toml.words}"
            file.complain(_place(file.path, file.text, key), what, _HELP)
        elif key == "pool":
            values[option.name] = _pool_words(value, file)
        else:
            words = [value] if isinstance(value, str) and option.settings.get("multiple") else _words(value)
            values[option.name] = _beside(words, option, file.path)
    return values


def _beside(value: object, option: OptionRow, file: Path) -> object:
    """A path in `file` is one beside it, wherever codegen is called."""
    names_file = option.is_path or (option.key in ("board", "memory-model") and str(value).endswith(".toml"))
    if not names_file or file.parent == current_folder():
        return value
    return str(file.parent / str(value))


def _kernel_sources(tables: object, file: Path) -> list[Path]:
    """The sources that `[[kernel]]` tables of `file` name, as far as they are understood."""
    rows = cast("list[object]", tables) if isinstance(tables, list) else []
    named = [cast("dict[str, object]", row).get("source") for row in rows if isinstance(row, dict)]
    return [file.parent / source for source in named if isinstance(source, str)]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pool:
    """Keys of `[[pool]]`."""

    name: Name
    size: Size
    address: Size | None = None


def _pool_words(value: object, file: "ProjectFile") -> list[str]:
    """`[pool]` or `[[pool]]` tables as words of `--pool`; every mistake is told."""
    if isinstance(value, dict):
        return _limit_words(cast("dict[str, object]", value), file)
    rows = file.rows(value, "pool", _Pool, _HELP)
    pools = [_Pool(**row.values) for row in rows if row.is_sound]
    return [
        f"{pool.name}={pool.size}" + ("" if pool.address is None else f"@{pool.address}") for pool in pools
    ]


def _limit_words(limits: Mapping[str, object], file: "ProjectFile") -> list[str]:
    """`NAME=BYTES` of each entry of `[pool]` that is one."""

    def tell(name: str, reason: str, help: str | None) -> None:
        where = _place(file.path, file.text, f"pool.{name}")
        file.complain(where, reason, help or SIZE_WORDS)

    sizes = {name: value_of(Size, value, tell, name) for name, value in limits.items()}
    return [f"{name}={size}" for name, size in sizes.items() if size is not None]


def _words(value: object) -> object:
    """Value as click takes it: the words of a table, of a list of lists, of a name."""
    if isinstance(value, dict):
        return [f"{name}={word}" for name, word in cast("dict[str, object]", value).items()]
    if isinstance(value, list):
        return [",".join(group) for group in cast("list[list[str]]", value)]
    return value
