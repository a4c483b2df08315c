"""Files of arrays: `--input` and `--expect`, by model.

They say FILE.npz[:CASE], of several models NAME=FILE.npz[:CASE].
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from codegen.driver.build import Built
from codegen.driver.example import example_cases
from codegen.driver.inputs.cases import (
    ArraySource,
    Case,
    array_inputs,
    array_outputs,
    made_up_case,
    sequence_cases,
)
from codegen.driver.inputs.files import example_model
from codegen.driver.options import Options
from codegen.errors import CodegenError, Message, Messages
from codegen.program.program import Program


def by_model(flag: str, words: Sequence[str], names: Sequence[str]) -> Mapping[str, ArraySource]:
    """Model -> where its arrays are. Raises CodegenError E257 for a word without the name of a model where
    there are several, or one that says twice what to take."""
    messages = Messages()
    sources: dict[str, ArraySource] = {}
    for word in words:
        name, separator, source = word.partition("=")
        if not separator or name not in names:
            name, source = names[0], word
            if len(names) > 1:
                help_ = f"put one of {', '.join(names)} and = in front of the file"
                messages.add("E257", "does not say which model it is for", where=f"{flag} {word}", help=help_)
        if name in sources:
            help_ = "leave one out"
            messages.add("E257", f"model {name} has arrays already", where=f"{flag} {word}", help=help_)
        sources[name] = ArraySource.parse(source)
    messages.raise_if_any()
    return sources


def check_arrays(inputs: Iterable[ArraySource], expected: Iterable[ArraySource]) -> None:
    """Raise CodegenError E220, E221 for every file of arrays of which it can be told before any work that it
    is of no use."""
    messages: list[Message] = []
    named = [
        *((source, "x", "input") for source in inputs),
        *((source, "y", "output") for source in expected),
    ]
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
    cases: list[list[Case]] = []
    for model, path in zip(built.models, paths, strict=True):
        program = model.program
        source, results = inputs.get(program.name), expected.get(program.name)
        if source is None and results is None and path == example_model():
            cases.append(example_cases(program))
        elif sequence:
            cases.append(sequence_cases(program, source, results, options.seed))
        else:
            cases.append(_cases(program, source, results, options))
    return cases


def _cases(
    program: Program, inputs: ArraySource | None, expected: ArraySource | None, options: Options
) -> list[Case]:
    if inputs is None:
        case = made_up_case(program, options.seed)
    else:
        case = Case(name=inputs.prefix or inputs.path.name, inputs=array_inputs(program, inputs))
    if expected is None:
        return [case]
    return [Case(name=case.name, inputs=case.inputs, expected=array_outputs(program, expected))]
