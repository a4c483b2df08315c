"""Several models of one build: C prefixes after their files or as `--name` says, and whose place is whose."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.errors import Message, Messages, counted
from codegen.ir.c_names import headers, identifier, is_reserved_file, is_taken

if TYPE_CHECKING:
    from codegen.ir.rules import Place

_PREFIX = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_LONGEST = 32
_SUFFIX = "_model"
"""Behind the name of a file that cannot be a prefix by itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelName:
    """A model's name in C, in reports and in other flags."""

    name: str
    path: Path
    note: str = ""
    """Why it is not called as its file; empty where it is, or where `--name` says so."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenNames:
    """Words of `--name`: `PREFIX`, one a model in their order, or `NAME=PREFIX`, NAME after the file."""

    words: tuple[str, ...] = ()
    of_project: bool = False
    """From codegen.toml, which may name models that this build has not."""

    @property
    def where(self) -> str:
        """Source of the names, for messages."""
        return f"--name {' '.join(self.words)}"


def model_names(paths: Sequence[Path], names: GivenNames | None = None) -> tuple[ModelName, ...]:
    """Names of the models of a build, in order.

    Raises CodegenError E205 for two alike, E227 for words of `--name` that are no prefixes or for no model.
    """
    file_names = [_of_file(path) for path in paths]
    names_ = _renamed(file_names, names or GivenNames())
    _check_apart(names_)
    return tuple(names_)


def model_name(path: Path, names: GivenNames | None = None) -> str:
    """Name of the only model of a build. Raises as `model_names` does."""
    return model_names((path,), names)[0].name


def _of_file(path: Path) -> ModelName:
    name = identifier(path.stem, "model", keep="head").rstrip("_")
    reason = _hidden(name)
    if reason:
        name = f"{name}{_SUFFIX}"
    elif _changed(path.stem, name):
        reason = f"C names have ASCII letters, digits and _, a letter first, here {_LONGEST} at most"
    else:
        return ModelName(name=name, path=path)
    note = f"{path.name}: the model is called {name}, because {reason} (--name PREFIX takes another name)"
    return ModelName(name=name, path=path, note=note)


def _changed(stem: str, name: str) -> bool:
    """True if `name` differs from the file's name by more than case and separators."""
    return not stem.isascii() or re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_") != name


def _hidden(name: str) -> str:
    """Why a model cannot be called `name`; empty if it can."""
    if name in headers():
        return f"a header {name}.h of its own would hide the one that C code includes"
    if is_reserved_file(name):
        return f"Windows has no files {name}.c and {name}.h: the name is a device's"
    return f"{name} is a word of C, C++ or the runtime" if is_taken(name) else ""


def _renamed(file_names: Sequence[ModelName], names: GivenNames) -> list[ModelName]:
    messages = Messages()
    pairs = [word.partition("=") for word in names.words]
    plain = [prefix for prefix, sign, _ in pairs if not sign]
    prefixes: Mapping[int, str] = dict(enumerate(plain))
    if plain and len(plain) < len(pairs):
        help_ = "give one PREFIX a model, in their order, or pairs only"
        messages.add("E227", "PREFIX and NAME=PREFIX are mixed", where=names.where, help=help_)
    elif plain and len(plain) != len(file_names):
        help_ = f"give one a model, in their order, or {file_names[0].name}=PREFIX for some of them"
        text = f"{counted(len(plain), 'name')} for {counted(len(file_names), 'model')}"
        messages.add("E227", text, where=names.where, help=help_)
    elif not plain:
        prefixes = _by_file(names, [model.name for model in file_names], messages)
    for prefix in prefixes.values():
        _check_prefix(prefix, names.where, messages)
    messages.raise_if_any()
    return [
        ModelName(name=prefixes[index], path=model.path) if index in prefixes else model
        for index, model in enumerate(file_names)
    ]


def _by_file(names: GivenNames, files: Sequence[str], messages: Messages) -> Mapping[int, str]:
    """Index of a model -> the prefix that a pair gives it."""
    prefixes: dict[int, str] = {}
    for file, _, prefix in (word.partition("=") for word in names.words):
        indices = [index for index, name in enumerate(files) if name == file]
        if len(indices) > 1:
            help_ = "give one PREFIX a model, in their order"
            messages.add("E227", f"{len(indices)} files are called {file}", where=names.where, help=help_)
        elif indices and indices[0] in prefixes:
            messages.add("E227", f"{file} gets two names", where=names.where, help="leave the one meant")
        elif indices:
            prefixes[indices[0]] = prefix
        elif not names.of_project:
            help_ = f"by their files the models are {', '.join(files)}"
            messages.add("E227", f"no model is called {file}", where=names.where, help=help_)
    return prefixes


def _check_prefix(prefix: str, where: str, messages: Messages) -> None:
    if not _PREFIX.fullmatch(prefix) or len(prefix) > _LONGEST:
        help_ = f"take lower-case letters, digits and single underscores, a letter first, {_LONGEST} at most"
        messages.add("E227", f"{prefix!r} cannot begin a C name", where=where, help=help_)
    elif reason := _hidden(prefix):
        help_ = f"take another, for example {prefix}{_SUFFIX}"
        messages.add("E227", f"a model cannot be called {prefix}: {reason}", where=where, help=help_)


def _check_apart(models: Sequence[ModelName]) -> None:
    names = [model.name for model in models]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    messages = Messages()
    help_ = "call them apart: --name PREFIX once a model, in the order of the models"
    if twice:
        messages.add("E205", f"two models are called {', '.join(twice)}", help=help_)
    messages.raise_if_any()


def places_of(places: "Sequence[Place]", model: str) -> "tuple[Place, ...]":
    """Rules for all models, and rules for this one."""
    return tuple(place for place in places if place.model in (None, model))


def check_models(places: "Sequence[Place]", models: Sequence[str]) -> None:
    """Raise CodegenError E244 naming every place of a model that is not built, where several are.

    Who builds one model of a project may leave the places of the others in its codegen.toml.
    """
    messages = Messages()
    for place in places if len(models) > 1 else ():
        if place.model is not None and place.model not in models:
            messages.add(
                "E244",
                f"no model is called {place.model}",
                where=place.who,
                help=f"models of this build are {', '.join(models)}",
            )
    messages.raise_if_any()


def check_missed(missed: "Mapping[str, Mapping[Place, Message]]") -> None:
    """Raise CodegenError (E240, E241 or E243) naming every place without a model that is of none of them.

    `missed`: model -> the places that name nothing in it (`Placed.missed`).
    """
    messages = Messages()
    models = tuple(missed)
    for place, first in missed[models[0]].items():
        misses = {name: misses_of[place] for name, misses_of in missed.items() if place in misses_of}
        if len(misses) == len(models):
            texts = {
                miss.text: [n for n in models if misses[n].text == miss.text] for miss in misses.values()
            }
            said = [f"{text} ({', '.join(names)})" for text, names in texts.items()]
            help_ = "; ".join(f"{name}: {miss.help}" for name, miss in misses.items())
            messages.add(first.code, "; ".join(said), where=place.who, help=help_)
    messages.raise_if_any()
