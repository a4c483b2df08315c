"""The verbs build, run and plan as functions.

Arguments are looked at before any work, and all mistakes are told at once. A type checker says most of it
earlier. Without one, callers get the messages of the command line, not a KeyError.
"""

import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from codegen import board as catalogue
from codegen.documents import to_json
from codegen.driver.application import within_application
from codegen.driver.build import Built, document
from codegen.driver.build import build as build_models
from codegen.driver.checks.calling import check_sizes
from codegen.driver.inputs.cases import Case, fitting, made_up_case, sequence_cases, with_variables
from codegen.driver.inputs.files import build_folder, existing, write_file
from codegen.driver.inputs.models import model_names
from codegen.driver.options import MOST_SECONDS, Options
from codegen.driver.planning import plan_only
from codegen.driver.report.single import report
from codegen.driver.run import RunConditions, all_complaints, execute_all, patience_of
from codegen.errors import CodegenError, Message, Messages
from codegen.ir import rules
from codegen.ir.ops import UserKernel
from codegen.program.image import Trace
from codegen.report_file import Report, typed
from codegen.settings import FLOAT_TOLERANCE, ReferenceChoice, ReferenceMode

PathName = str | PathLike[str]

_HELP = "see docs/python.md"
_WORDS: Mapping[object, str] = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "True or False",
    Path: "a pathlib.Path",
    types.NoneType: "None",
}


def checked_options(options: object) -> Options:
    """`options`, or the defaults. Raises CodegenError with a message a field that is not what it may be: E203
    for limits of pools, E255 for an empty name in `concurrent`, E201 for others."""
    messages = Messages()
    chosen = Options() if options is None else options
    if not isinstance(chosen, Options):
        text = f"options are a codegen.Options, not {_shown(chosen)}"
        raise CodegenError(Message(code="E201", text=text, help=_HELP))
    hints = get_type_hints(Options, localns={**vars(rules), "UserKernel": UserKernel})
    sound: set[str] = set()
    for field in fields(Options):
        value, hint = getattr(chosen, field.name), hints[field.name]
        if _fits(value, hint):
            sound.add(field.name)
            continue
        code = "E203" if field.name == "pool_limits" else "E201"
        _refuse(f"{field.name} is {_said(hint)}, not {_shown(value)}", messages, code)
    for name, text, code in _out_of_bounds(chosen, sound):
        _refuse(f"{name} {text}", messages, code)
    messages.raise_if_any()
    return chosen


def _out_of_bounds(options: Options, sound: set[str]) -> Iterator[tuple[str, str, str]]:
    """Field, what is wrong and its code, of values that have the right type."""
    seconds, stack, limit_seconds = options.deadline_seconds, options.stack_bytes, options.run_timeout_seconds
    if "deadline_seconds" in sound and seconds is not None and not seconds > 0:
        yield "deadline_seconds", f"is {seconds}: seconds are more than 0", "E201"
    if "run_timeout_seconds" in sound and not 0 < limit_seconds <= MOST_SECONDS:
        text = f"is {limit_seconds}: seconds are more than 0, up to {MOST_SECONDS:,.0f}"
        yield "run_timeout_seconds", text, "E201"
    if "stack_bytes" in sound and stack is not None and stack < 0:
        yield "stack_bytes", f"is {stack}, which is no number of bytes", "E201"
    for name, limit in options.pool_limits.items() if "pool_limits" in sound else ():
        if limit < 0:
            yield "pool_limits", f"of {name} is {limit}, which is no number of bytes", "E203"
    if "concurrent" in sound and any(not name for group in options.concurrent for name in group):
        yield "concurrent", "has an empty name of a model", "E255"


def checked_models(models: object) -> list[Path]:
    """The files of a build. Raises CodegenError E201 for what is no path or none at all, E204 naming every
    file that is not there."""
    names: Sequence[object] = [models]
    if isinstance(models, Sequence) and not isinstance(models, str | bytes):
        names = cast("Sequence[object]", models)
    messages = Messages()
    if not names:
        _refuse("there is no model: models are a path, or a list of paths", messages)
    files: list[Path] = []
    for name in names:
        if not isinstance(name, str | PathLike):
            _refuse(f"a model is a path, not {_shown(name)}", messages)
            continue
        try:
            files.append(existing(Path(cast("PathName", name))))
        except CodegenError as error:
            for message in error.messages:
                messages.take(message)
    messages.raise_if_any()
    return files


def checked_folder(folder: object) -> Path:
    """The folder to write. Raises CodegenError E201 for what is no path."""
    if not isinstance(folder, str | PathLike):
        raise CodegenError(Message(code="E201", text=f"folder is a path, not {_shown(folder)}", help=_HELP))
    return Path(cast("PathName", folder))


def checked_port(port: object) -> str | None:
    """The serial port, if any. Raises CodegenError E201 for what is no text."""
    if port is not None and not isinstance(port, str):
        text = f"port is a string or None, not {_shown(port)}"
        raise CodegenError(Message(code="E201", text=text, help=_HELP))
    return port


def checked_choice(reference: object, python: object, tolerance: object) -> ReferenceChoice:
    """The reference that a caller chose. Raises CodegenError E201 for an unknown mode, a wrong path or a
    tolerance that is no number from 0 to 1."""
    if reference not in get_args(ReferenceMode):
        text = f"reference is {_said(ReferenceMode)}, not {_shown(reference)}"
        raise CodegenError(Message(code="E201", text=text, help=_HELP))
    if python is not None and not isinstance(python, str | PathLike):
        text = f"engine_python is a path or None, not {_shown(python)}"
        raise CodegenError(Message(code="E201", text=text, help=_HELP))
    path = None if python is None else str(cast("PathName", python))
    if not isinstance(tolerance, int | float) or not 0 <= tolerance <= 1:
        text = f"tolerance is a number from 0 to 1, not {_shown(tolerance)}"
        raise CodegenError(Message(code="E201", text=text, help=_HELP))
    mode = cast("ReferenceMode", reference)
    return ReferenceChoice(mode=mode, python=path, tolerance=float(tolerance))


def checked_cases(stated: object, names: Sequence[str]) -> Mapping[str, Sequence[Case]]:
    """Cases by model of a build of `names`.

    Raises CodegenError E257 for a model that the build has not, E201 for what is no case, E222 for inputs or
    outputs that are no arrays. Whether arrays fit the model, only the build can tell (`fitting`).
    """
    messages = Messages()
    if stated is not None and not isinstance(stated, Mapping):
        _refuse(f"cases are a mapping, model name to list of codegen.Case, not {_shown(stated)}", messages)
        messages.raise_if_any()
    cases = cast("Mapping[object, object]", stated or {})
    for name, model_cases in cases.items():
        where = f"cases of {name}"
        if name not in names:
            text, help_ = "the build has no such model", f"its models are {', '.join(names)}"
            messages.add("E257", text, where=where, help=help_)
        if not isinstance(model_cases, Sequence) or isinstance(model_cases, str):
            _refuse(f"are a list of codegen.Case, not {_shown(model_cases)}", messages, where=where)
            continue
        for number, case in enumerate(cast("Sequence[object]", model_cases)):
            _check_case(case, f"{where}, {number}", messages)
    messages.raise_if_any()
    return cast("Mapping[str, Sequence[Case]]", cases)


def _check_case(case: object, where: str, messages: Messages) -> None:
    if not isinstance(case, Case):
        _refuse(f"is {_shown(case)}, not a codegen.Case", messages, where=where)
        return
    if not _fits(case.name, str):
        _refuse(f"name is a string, not {_shown(case.name)}", messages, where=where)
    help_ = "a tuple of NumPy arrays, one an input (an output) of the model"
    for what, arrays in (("inputs", case.inputs), ("expected", case.expected)):
        hint = get_type_hints(Case)[what]
        if not _fits(arrays, hint):
            messages.add("E222", f"{what} are no tuple of arrays: {_shown(arrays)}", where=where, help=help_)


def _refuse(text: str, messages: Messages, code: str = "E201", where: str | None = None) -> None:
    messages.add(code, text, where=where, help=_HELP)


def _shown(value: object) -> str:
    """A value in a message: what it is, and how it looks if that is short."""
    text = repr(value)
    kind = type(value).__name__
    return f"{kind} {text}" if len(text) <= 60 and "\n" not in text else kind


def _fits(value: object, hint: Any) -> bool:
    """True if a value is of an annotated type, with all its parts. True is no integer, a list no tuple."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if origin in (Union, types.UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is tuple:
        items = cast("tuple[object, ...]", value)
        return isinstance(value, tuple) and all(_fits(item, parts[0]) for item in items)
    if origin is Mapping:
        pairs = cast("Mapping[object, object]", value)
        return isinstance(value, Mapping) and all(
            _fits(key, parts[0]) and _fits(item, parts[1]) for key, item in pairs.items()
        )
    if hint is int or hint is float:
        return type(value) is int or (hint is float and type(value) is float)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray)
    return isinstance(value, hint) and _has_sound_fields(value)


def _has_sound_fields(value: object) -> bool:
    if not is_dataclass(value) or type(value).__module__.startswith("codegen.ir"):
        return True  # those of codegen.toml are checked where they are made
    hints = get_type_hints(type(value))
    return all(_fits(getattr(value, field.name), hints[field.name]) for field in fields(value))


def _said(hint: Any) -> str:
    """An annotated type in words."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return "one of " + ", ".join(map(repr, parts))
    if origin in (Union, types.UnionType):
        return " or ".join(_said(part) for part in parts)
    if origin is tuple:
        return f"a tuple, of each {_said(parts[0])}"
    if origin is Mapping:
        return f"a mapping, {_said(parts[0])} to {_said(parts[1])}"
    if isinstance(hint, type) and issubclass(hint, Enum):
        return f"one of {', '.join(map(str, hint))} of {hint.__module__}"
    return _WORDS.get(cast("object", hint)) or f"a {hint.__name__} of {hint.__module__}"


def build(models: PathName | Sequence[PathName], folder: PathName, options: Options | None = None) -> Report:
    """Turn model files into C, firmware.elf and report.json in `folder`, as `codegen build -o` does.

    Raises CodegenError with every message; its `exit_code` is that of the command.
    """
    chosen, target = checked_options(options), checked_folder(folder)
    paths = checked_models(models)
    chosen, _ = within_application(chosen)
    return typed(document(build_models(paths, chosen, target), chosen))


def run(
    models: PathName | Sequence[PathName],
    options: Options | None = None,
    *,
    cases: Mapping[str, Sequence[Case]] | None = None,
    folder: PathName | None = None,
    port: str | None = None,
    sequence: bool = False,
    reference: ReferenceMode = "auto",
    engine_python: PathName | None = None,
    tolerance: float = FLOAT_TOLERANCE,
) -> Report:
    """Build model files, run them on QEMU, on this machine (board `host`) or on a board behind the serial
    `port`, and compare every output with the reference; with `folder` the build stays there.

    `cases`: inputs by model name, with expected outputs or none; a model without any runs inputs made up from
    the seed. `reference`: what says whether outputs are right where none are expected: an engine if one
    answers (`auto`), an engine and nothing else (`engine`), our own evaluation (`numpy`). Engines are looked
    for in `engine_python` alone where it is given. `tolerance`: of float32 outputs, relative. With `sequence`
    a model's cases are inferences one after
    another: state begins as in a reset and is kept. Raises CodegenError as `build` does, E238 and E239 where
    no engine can be asked, E257 for cases of a model that the
    build has not, E221 and E222 for arrays that are no model's, E284 for sizes that are ranges, E701 where
    outputs differ, E704 where the import is wrong, E80x where measured peaks are not as planned.
    """
    chosen, port = checked_options(options), checked_port(port)
    choice = checked_choice(reference, engine_python, tolerance)
    check_sizes(chosen, "codegen.run")
    kept = None if folder is None else checked_folder(folder)
    paths = checked_models(models)
    stated_cases = checked_cases(cases, [model.name for model in model_names(paths, chosen.names)])
    chosen, _ = within_application(chosen, emulated=port is None)
    catalogue.check_can_run(catalogue.load_board(chosen.board), port)
    with build_folder(kept) as target:
        built = build_models(paths, chosen, target, emulated=port is None)
        all_cases = _cases(built, stated_cases, chosen.seed, sequence=sequence)
        measured = execute_all(
            built,
            all_cases,
            RunConditions(
                port=port,
                trace=Trace.COST,
                sandboxed=chosen.sandbox,
                sequence=sequence,
                patience=patience_of(chosen),
                choice=choice,
            ),
        )
        content = document(built, chosen, measured)
        if kept is not None:
            write_file(target / "report.json", to_json(content).encode())
    problems = all_complaints(built, all_cases, measured)
    if problems:
        raise CodegenError(problems)
    return typed(content)


def plan(model: PathName, options: Options | None = None) -> Report:
    """Plan a model file's memory; no toolchain is needed. Raises CodegenError as `build` does."""
    chosen = checked_options(options)
    [path] = checked_models([model])
    chosen, _ = within_application(chosen)
    planned = plan_only(path, chosen)
    return typed(report(planned, chosen.board))


def _cases(
    built: Built, stated: Mapping[str, Sequence[Case]], seed: int, *, sequence: bool
) -> list[Sequence[Case]]:
    """The cases of every model, in order. Raises CodegenError E221, E222 for all arrays that do not fit."""
    messages = Messages()
    all_cases: list[Sequence[Case]] = []
    for program in (model.program for model in built.models):
        inputs, outputs = (
            [tensor.type for tensor in part] for part in (program.signature.inputs, program.signature.outputs)
        )
        cases = stated.get(program.name)
        if not cases:
            cases = sequence_cases(program, None, None, seed) if sequence else [made_up_case(program, seed)]
        whole = [with_variables(program, case) for case in cases]
        all_cases.append([fitting(case, inputs, outputs, messages) for case in whole])
    messages.raise_if_any()
    return all_cases
