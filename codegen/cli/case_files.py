"""The files that a verb reads: `--input` and `--expect` by model, and that no file it writes is one of them.

They say FILE.npz[:CASE], of several models NAME=FILE.npz[:CASE].
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from codegen.cli.options.project_file import Settings
from codegen.driver.build import Built
from codegen.driver.example import example_cases, example_model
from codegen.driver.inputs.cases import (
    ArraySource,
    Case,
    array_inputs,
    array_outputs,
    pattern_case,
    sequence_cases,
)
from codegen.driver.inputs.files import Named, check_outputs, dumped
from codegen.driver.options import Options
from codegen.errors import CodegenError, Message, Messages
from codegen.program.program import Program


def by_model(flag: str, words: Sequence[str], names: Sequence[str]) -> Mapping[str, ArraySource]:
    """Model -> where its arrays are. Raises CodegenError E257 for a word without the name of a model where
    there are several, or one that says twice what to take."""
    messages = Messages()
    found: dict[str, ArraySource] = {}
    for word in words:
        name, separator, source = word.partition("=")
        if not separator or name not in names:
            name, source = names[0], word
            if len(names) > 1:
                help_ = f"put one of {', '.join(names)} and = in front of the file"
                messages.add("E257", "does not say which model it is for", where=f"{flag} {word}", help=help_)
        if name in found:
            help_ = "leave one out"
            messages.add("E257", f"model {name} has arrays already", where=f"{flag} {word}", help=help_)
        found[name] = ArraySource.parse(source)
    messages.raise_if_any()
    return found


def check_arrays(inputs: Iterable[ArraySource], expected: Iterable[ArraySource]) -> None:
    """Raise CodegenError E220, E221 for every file of arrays of which it can be told before any work that it
    is of no use."""
    messages: list[Message] = []
    named = [*((each, "x", "input") for each in inputs), *((each, "y", "output") for each in expected)]
    for source, letter, what in named:
        try:
            source.check(letter, what)
        except CodegenError as error:
            messages += error.messages
    if messages:
        raise CodegenError(messages)


def model_cases(
    built: Built,
    paths: Sequence[Path],
    inputs: Mapping[str, ArraySource],
    expected: Mapping[str, ArraySource],
    options: Options,
    *,
    sequence: bool = False,
) -> list[list[Case]]:
    """The cases of every model, in order: given, of the shipped example, or made up from the seed; of a
    `sequence` row by row.

    Raises CodegenError E220 to E222 for arrays that do not fit.
    """
    found: list[list[Case]] = []
    for model, path in zip(built.models, paths, strict=True):
        program = model.program
        given, wanted = inputs.get(program.name), expected.get(program.name)
        if given is None and wanted is None and path == example_model():
            found.append(example_cases(program))
        elif sequence:
            found.append(sequence_cases(program, given, wanted, options.seed))
        else:
            found.append(_cases(program, given, wanted, options))
    return found


def _cases(
    program: Program, given: ArraySource | None, expected: ArraySource | None, options: Options
) -> list[Case]:
    if given is None:
        case = pattern_case([tensor.type for tensor in program.signature.inputs], options.seed)
    else:
        case = Case(name=given.prefix or given.path.name, inputs=array_inputs(program, given))
    if expected is None:
        return [case]
    return [Case(name=case.name, inputs=case.inputs, expected=array_outputs(program, expected))]


def check_problem(path: Path, options: Options) -> None:
    """Raise CodegenError E215 for limits of pools that a bare problem has not, E219 for a board, which has no
    say there; only of the command line: codegen.toml and the environment speak of models too."""
    messages = Messages()
    if _is_given("board"):
        help_ = "leave it out; --pool ram=BYTES limits a CSV's pool, a JSON problem states its pools itself"
        messages.add("E219", f"{path.name} is a bare problem, of no board", where="--board", help=help_)
    if _is_given("pool"):
        is_csv = path.suffix == ".csv"
        names = {*options.pool_limits, *(pool.name for pool in options.pools)}
        unknown = sorted(names - {"ram"} if is_csv else names) + [
            f"{pool.name} at an address" for pool in options.pools if is_csv and pool.name == "ram"
        ]
        help_ = "its only pool is ram: --pool ram=BYTES" if is_csv else "its pools and limits are in the file"
        if unknown:
            text = f"{path.name} takes no --pool {', '.join(unknown)}"
            messages.add("E215", text, help=help_)
    messages.raise_if_any()


def _is_given(flag: str) -> bool:
    source = click.get_current_context().get_parameter_source(flag)
    return source is ParameterSource.COMMANDLINE


def keep_inputs(
    models: Iterable[Path],
    options: Options,
    *,
    written: Sequence[Named] = (),
    arrays: Iterable[Path] = (),
) -> None:
    """Raise CodegenError E218 if one of the files `written`, or that `--dump-ir` writes, is one that the verb
    reads: a model or problem, `arrays`, codegen.toml with its kernels, the application, the files of board
    and memory model."""
    found = click.get_current_context().obj or Settings()
    read: list[Named] = [("an input of this command", path) for path in (*models, *arrays)]
    read += [("read by this command (codegen.toml, or what it names)", path) for path in found.read]
    if options.app_elf is not None:
        read.append(("the application of --app-elf", options.app_elf))
    # A name of the catalogue is none of a file here, or of one that this command does not read.
    for word, what in (
        (options.board, "the board's file"),
        (options.memory_model or "", "the memory model's file"),
    ):
        if word.endswith(".toml") or "/" in word:
            read.append((what, Path(word)))
    check_outputs([*written, *dumped(options.dump_ir)], read)
