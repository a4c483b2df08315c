"""codegen.toml in the current folder: defaults for flags, under the command line and the environment."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from codegen.cli.constant_rules import constant_rules
from codegen.cli.kernels import declared_kernels
from codegen.cli.places import declared_places
from codegen.cli.states import declared_states
from codegen.errors import CodegenError, Message, Messages
from codegen.ir.ops import UserKernel
from codegen.ir.places import Place
from codegen.ir.states import StateRule
from codegen.plan.constant_rules import ConstantRule

FILE = "codegen.toml"
VERBS = ("build", "run", "validate", "plan")
_SIZE = int | str
_KNOWN = {
    "board": str,
    "optimize": str,
    "planner": str,
    "deadline": float,
    "seed": int,
    "io": str,
    "entry": str,
    "pools": str,
    "constants": str,
    "keep-inputs": bool,
    "schedule": str,
    "stream-input": bool,
    "io-types": str,
    "no-blocks": bool,
    "sharing": str,
    "reduce": bool,
    "stage": str,
    "compress": str,
    "port": str,
    "pool": dict,
    "name": dict,
    "concurrent": list,
    "app-elf": str,
    "lock": str,
    "stack": _SIZE,
}

_WORDS = {
    str: "a string",
    float: "a number",
    int: "an integer",
    bool: "true or false",
    dict: "a table",
    list: "a list of lists of model names",
    _SIZE: 'a number of bytes, or a string such as "2K"',
}


_POOL_KEYS = {"name", "size", "address"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What codegen.toml says."""

    defaults: dict[str, dict[str, object]] = field(default_factory=dict[str, dict[str, object]])
    """Values of flags by verb, for click."""
    kernels: tuple[UserKernel, ...] = ()
    places: tuple[Place, ...] = ()
    states: tuple[StateRule, ...] = ()
    constant_rules: tuple[ConstantRule, ...] = ()
    read: tuple[Path, ...] = ()
    """The file and the sources of its kernels."""


def current_folder() -> Path:
    """Where codegen runs. Raises CodegenError E234 if that folder was removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise CodegenError(
            Message(code="E234", text="the current folder is gone", help="change to a folder that exists")
        ) from None


def settings(folder: Path | None = None) -> Settings:
    """Read codegen.toml in `folder`, the current one by default; without a file there are no settings.

    Raises CodegenError E202 naming everything in it that is not understood, E234.
    """
    path = (folder or current_folder()) / FILE
    if not path.is_file():
        return Settings()
    try:
        document = cast(dict[str, object], tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CodegenError(
            Message(
                code="E202", where=FILE, text=f"not TOML: {error}", help="correct the file or move it away"
            )
        ) from None
    messages = Messages()
    values: dict[str, object] = {}
    if isinstance(document.get("pool"), list):
        values["pool"] = pool_words(document.pop("pool"), messages)
    if isinstance(document.get("name"), str):
        values["name"] = [document.pop("name")]
    read = (path, *_kernel_sources(document.get("kernel"), path))
    kernels = declared_kernels(document.pop("kernel", []), path, messages)
    places = declared_places(document.pop("place", []), path.name, messages)
    states = declared_states(document.pop("state", []), path.name, messages)
    rules = constant_rules(document.pop("constant", []), path, messages)
    for key, value in document.items():
        kind = _KNOWN.get(key)
        if kind is None:
            messages.add(
                "E202",
                f"unknown key {key!r}",
                where=FILE,
                help=f"known keys are {', '.join(_KNOWN)}, kernel, place, state, constant",
            )
        elif not isinstance(value, (int, float) if kind is float else kind) or (
            kind is list and not _are_groups(value)
        ):
            messages.add(
                "E202", f"{key} must be {_WORDS[kind]}", where=FILE, help="see docs/configuration.md"
            )
        else:
            values[key.replace("-", "_")] = _words(value)
    messages.raise_if_any()
    return Settings(
        defaults={verb: dict(values) for verb in VERBS},
        kernels=kernels,
        places=places,
        states=states,
        constant_rules=rules,
        read=read,
    )


def _kernel_sources(tables: object, file: Path) -> list[Path]:
    """The sources that `[[kernel]]` tables of `file` name, as far as they are understood."""
    rows = cast("list[object]", tables) if isinstance(tables, list) else []
    named = [cast("dict[str, object]", row).get("source") for row in rows if isinstance(row, dict)]
    return [file.parent / source for source in named if isinstance(source, str)]


def pool_words(value: object, messages: Messages) -> list[str]:
    """`[[pool]]` tables as words of `--pool`; every mistake goes to `messages` (E202)."""
    found: list[str] = []
    for number, table in enumerate(cast("list[object]", value), 1):
        fields = cast("dict[str, object]", table) if isinstance(table, dict) else {}
        name, size, address = (_text(fields.get(key)) for key in ("name", "size", "address"))
        sound = isinstance(fields.get("name"), str) and size is not None
        if not sound or (address is None) != ("address" not in fields) or fields.keys() - _POOL_KEYS:
            messages.add(
                "E202",
                "a pool is name (a string), size and, for one of its own, address (integers, or "
                'strings such as "32K", "0x8000")',
                where=f"{FILE}, pool {number}",
                help="see docs/configuration.md",
            )
        else:
            found.append(f"{name}={size}" + ("" if address is None else f"@{address}"))
    return found


def _text(value: object) -> str | None:
    """A string, or an integer as one; None for anything else."""
    return str(value) if type(value) in (str, int) else None


def _words(value: object) -> object:
    """What click takes for a value: the words of a table or of a list of lists."""
    if isinstance(value, dict):
        return [f"{name}={limit}" for name, limit in cast("dict[str, object]", value).items()]
    if isinstance(value, list):
        return [",".join(group) for group in cast("list[list[str]]", value)]
    return value


def _are_groups(value: object) -> bool:
    lists = cast("list[object]", value)
    return all(
        isinstance(group, list) and all(isinstance(name, str) for name in cast("list[object]", group))
        for group in lists
    )
