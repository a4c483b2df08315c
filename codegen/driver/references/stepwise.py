"""Compares every step of the imported network in one case with an engine that keeps all values."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen import engines
from codegen.driver.inputs.cases import Case, state_inputs, state_outputs
from codegen.driver.inputs.planned import Planned
from codegen.driver.references.asking import (
    EngineOutputs,
    answer_of,
    file_inputs,
    file_types,
    request_of,
    variable_outputs,
)
from codegen.driver.references.import_check import ImportCheck, WrongStep, compare_steps
from codegen.driver.references.stream_references import sequence_references
from codegen.driver.report.output_check import compare
from codegen.engines import TFLITE_MICRO, Engine, EngineAnswer
from codegen.importers import Imported
from codegen.importers.printable_names import printable
from codegen.ir.evaluate import evaluate

_PASSES = "the passes before planning"


def check_import(
    planned: Planned,
    cases: Sequence[Case],
    index: int,
    asked: EngineOutputs,
    *,
    is_sequence: bool = False,
) -> ImportCheck:
    """Every step of the imported network in case `index` against the engine that answered.

    Where that one keeps no values between steps, another one that does judges the steps for which it rules.
    """
    assert planned.file is not None and asked.engine is not None, "an engine has answered for a file"
    imported = planned.file.imported()
    case = _with_state(planned, cases, index, asked) if is_sequence else cases[index]
    inputs = file_inputs(planned, case, file_types(planned))
    answer, engine = _with_tensors(planned, cases[: index + 1], asked, is_sequence=is_sequence)
    others = asked.ruling.others(engine.name)
    if not answer.tensors and others:
        return ImportCheck(values=0)
    outputs = iter(answer.outputs[-1])
    hidden = variable_outputs(planned.program)
    count = len(imported.module.main.results)
    check = compare_steps(
        imported,
        inputs,
        [None if place in hidden else next(outputs) for place in range(count)],
        _by_printable_name(answer),
        {key.partition(" ")[0] for key in others},
        engines.ROUNDED_OTHERWISE.get(engine.name, ()),
    )
    return replace(
        check, engine=str(engine), wrong=(*check.wrong, *_changed_by_passes(planned, imported, inputs, case))
    )


def _by_printable_name(answer: EngineAnswer) -> dict[str, list[np.ndarray]]:
    """Tensors by the names that the import gives them, which are cut and so may be alike."""
    tensors: dict[str, list[np.ndarray]] = {}
    for name, data in answer.tensors:
        tensors.setdefault(printable(name), []).append(data)
    return tensors


def _with_state(planned: Planned, cases: Sequence[Case], index: int, asked: EngineOutputs) -> Case:
    """A case of a sequence with the state that the one before left: the engine's, else ours."""
    if index == 0:
        return cases[0]
    ours = list(sequence_references(planned, cases[:index]))[-1]
    answers = asked.outputs[index - 1]
    before = [two if one is None else one for one, two in zip(answers, ours, strict=True)]
    inputs = list(cases[index].inputs)
    for place, output in zip(state_inputs(planned.program), state_outputs(planned.program), strict=True):
        inputs[place] = before[output]
    return replace(cases[index], inputs=tuple(inputs))


def _with_tensors(
    planned: Planned,
    cases: Sequence[Case],
    asked: EngineOutputs,
    *,
    is_sequence: bool,
) -> tuple[EngineAnswer, Engine]:
    """The answer of the last case with all values, by an engine that keeps them."""
    assert planned.file is not None and asked.engine is not None, "an engine has answered for a file"
    model, names = planned.file.data(), [asked.engine.name]
    if planned.program.metadata["format"] == "onnx":
        model = engines.with_all_values(model)
    if asked.engine.name == TFLITE_MICRO:
        names = [name for name in asked.ruling.preferred if name != TFLITE_MICRO]
    chosen = cases if is_sequence else cases[-1:]
    request = request_of(planned, chosen, model, is_sequence=is_sequence, wants_tensors=True)
    for name in names:
        engine = engines.find_engine((name,), asked.choice.python)
        answer = None if engine is None else answer_of(engine, request)
        if engine is not None and answer is not None and not answer.error:
            return answer, engine
    return EngineAnswer(outputs=(asked.answer.outputs[len(cases) - 1],)), asked.engine


def _changed_by_passes(
    planned: Planned, imported: Imported, inputs: Sequence[np.ndarray], case: Case
) -> list[WrongStep]:
    """The outputs that the passes changed: what is planned has to compute what was imported."""
    if planned.file is None or planned.file.has_other_edges:
        return []
    before = evaluate(imported.module, imported.module.main, inputs)
    after = evaluate(planned.reference, planned.reference.main, case.inputs)
    compared = [(compare(two, one), one.size) for one, two in zip(before, after, strict=True)]
    return [
        WrongStep(where=_PASSES, comparison=one, elements=size) for one, size in compared if not one.matches
    ]
