"""Asks an independent engine for the outputs of a model's cases, before the board runs them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from codegen import engines
from codegen.driver.inputs.cases import Case, state_inputs, state_outputs
from codegen.driver.inputs.planned import Planned
from codegen.engines import (
    NPU_MODEL,
    ONNXRUNTIME,
    TFLITE_MICRO,
    TFLITE_RUNTIME,
    Arrays,
    Engine,
    EngineAnswer,
    Request,
    Ruling,
)
from codegen.errors import CodegenError, Message, listed
from codegen.ir import DType, TensorType
from codegen.passes import turned_edges
from codegen.program.program import Program
from codegen.settings import FLOAT_TOLERANCE, ReferenceChoice

_INSTALL: Mapping[str, str] = {
    "onnx": "pip install onnxruntime",
    "tflite": "pip install ai-edge-litert",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineOutputs:
    """An engine's outputs by case, None where it has none; or the reason that no engine answered."""

    engine: Engine | None = None
    outputs: tuple[tuple[np.ndarray | None, ...], ...] = ()
    reason: str = ""
    advice: str = ""
    """How to get an engine, where none is installed."""
    answer: EngineAnswer = field(default_factory=EngineAnswer)
    """The outputs as the file has them."""
    mismatch: str = ""
    """An output of another type or shape than the imported network gives."""
    ruling: Ruling = field(default_factory=lambda: Ruling(engines=MappingProxyType({})))
    choice: ReferenceChoice = field(default_factory=ReferenceChoice)
    """The choice that was asked for."""


def ask(
    planned: Planned, cases: Sequence[Case], choice: ReferenceChoice, *, is_sequence: bool = False
) -> EngineOutputs:
    """Outputs of every case by the first engine that answers, in the order of those that rule.

    Raises CodegenError E238 for a Python that cannot be run; with mode `engine` E239 if none answers; E201
    for a tolerance that no output has.
    """
    _need_floats(planned.program, choice)
    if choice.mode == "numpy" or all(case.expected is not None for case in cases):
        return EngineOutputs(choice=choice)
    asked = replace(_asked(planned, cases, choice, is_sequence=is_sequence), choice=choice)
    if asked.engine is None and choice.mode == "engine":
        help_ = "--reference auto takes our own evaluation where no engine answers, and says so"
        help_ = f"{asked.advice}; {help_}" if asked.advice else help_
        where = f"{planned.program.name}, --reference engine"
        raise CodegenError(Message(code="E239", where=where, text=asked.reason, help=help_))
    return asked


def _need_floats(program: Program, choice: ReferenceChoice) -> None:
    """Raise CodegenError E201 for a stated tolerance where every output is compared bit by bit."""
    types = [output.type.dtype for output in program.signature.outputs]
    if choice.every_step or choice.tolerance == FLOAT_TOLERANCE or DType.FLOAT32 in types:
        return
    if DType.FLOAT16 not in types:
        names = listed(list(dict.fromkeys(kind.value for kind in types)))
        text = f"it has no effect: outputs are {names}, which have to be equal in every bit"
        where = f"{program.name}, --tolerance"
        raise CodegenError(Message(code="E201", where=where, text=text, help="leave it out"))


def _asked(
    planned: Planned, cases: Sequence[Case], choice: ReferenceChoice, *, is_sequence: bool
) -> EngineOutputs:
    program = planned.program
    if planned.file is None:
        return EngineOutputs(reason="the network comes from no file")
    if planned.sliding is not None:
        text = (
            "the file's network takes whole windows; a sequence is compared with them by our own evaluation"
        )
        return EngineOutputs(reason=text)
    if _gives_variables(program, cases):
        text = "the inputs give the model's variables values, which no engine takes"
        return EngineOutputs(reason=f"{text} (--sequence begins as after a reset)")
    kind, data = program.metadata["format"], planned.file.data()
    ruling = Ruling(engines={}) if kind == "onnx" else engines.ruling_of(data)
    if NPU_MODEL in ruling.engines.values():
        text = f"no engine runs what Vela compiled: {NPU_MODEL} computes the reference"
        return EngineOutputs(reason=text, advice="give the file from before Vela, with --npu", ruling=ruling)
    names = (ONNXRUNTIME,) if kind == "onnx" else ruling.preferred
    reasons: list[str] = []
    request = request_of(planned, cases, data, is_sequence=is_sequence)
    for name in names:
        engine = engines.find_engine((name,), choice.python)
        if engine is None:
            continue
        answer = answer_of(engine, request)
        if answer.error:
            reasons.append(f"{engine} gives no answer: {_one_line(answer.error)}")
            continue
        outputs, mismatch = _as_ours(planned, answer, is_strict=name == ONNXRUNTIME)
        if outputs is None:
            reasons.append(f"{engine} gives {mismatch}")
            continue
        return EngineOutputs(engine=engine, outputs=outputs, answer=answer, mismatch=mismatch, ruling=ruling)
    if reasons:
        return EngineOutputs(reason="; ".join(reasons), ruling=ruling)
    place = f" in {choice.python}" if choice.python else ""
    advice = f"`{_INSTALL[kind]}`, or name a Python that has one: --engine-python DIR/bin/python"
    return EngineOutputs(reason=f"no engine for .{kind} files is installed{place}", advice=advice)


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:199]}…"


def ruling_words(planned: Planned) -> str:
    """Whose results this network's operators have, for outputs that are expected from elsewhere."""
    if planned.file is None:
        return ""
    if planned.program.metadata["format"] == "onnx":
        return "this network's results are those of onnxruntime without graph optimisations"
    others = engines.ruling_of(planned.file.data()).others(TFLITE_RUNTIME)
    text = "this network's results are those of tflite-runtime's reference kernels"
    for ruling in (TFLITE_MICRO, NPU_MODEL):
        if keys := [key for key, name in others.items() if name == ruling]:
            text += f", of {listed(keys, 5)} those of {ruling}"
    return text


def request_of(
    planned: Planned,
    cases: Sequence[Case],
    model: bytes,
    *,
    is_sequence: bool = False,
    wants_tensors: bool = False,
) -> Request:
    """The request for any engine; its name is still to be filled in."""
    types = file_types(planned)
    hidden = _files_states(planned.program, state_inputs(planned.program))
    inputs = tuple(
        tuple(data for index, data in enumerate(file_inputs(planned, case, types)) if index not in hidden)
        for case in cases
    )
    return Request(
        engine="",
        model=model,
        inputs=inputs,
        is_sequence=is_sequence,
        feedback=_feedback(planned.program) if is_sequence else (),
        wants_tensors=wants_tensors,
    )


def answer_of(engine: Engine, request: Request) -> EngineAnswer:
    """The engine's answer to a request."""
    [answer] = engines.evaluate(engine.python, [replace(request, engine=engine.name)])
    return answer


def file_types(planned: Planned) -> tuple[tuple[TensorType, ...], tuple[TensorType, ...]]:
    """Types of inputs and outputs as the file has them; `--io-types` and `--layout` make other ones."""
    signature = planned.program.signature
    types = (
        tuple(tensor.type for tensor in signature.inputs),
        tuple(tensor.type for tensor in signature.outputs),
    )
    if planned.file is None or not planned.file.has_other_edges:
        return types
    main = planned.file.imported().module.main
    return tuple(param.type for param in main.params), tuple(result.type for result in main.results)


def file_inputs(
    planned: Planned, case: Case, types: tuple[tuple[TensorType, ...], tuple[TensorType, ...]]
) -> Arrays:
    """The inputs of a case as the file has them: its own types again, its own order of axes."""
    tensors, turned = planned.program.signature.inputs, turned_edges(planned.program.metadata)
    files: list[np.ndarray] = []
    for place, (data, tensor, type_) in enumerate(zip(case.inputs, tensors, types[0], strict=True)):
        order = turned.get(("input", place))
        image = data if order is None else data.transpose(np.argsort(order))
        files.append(np.array(_as_file(image, tensor.type, type_), order="C"))
    return tuple(files)


def _as_file(data: np.ndarray, type_: TensorType, file_type: TensorType) -> np.ndarray:
    """Numbers of the program's type as those of the file's."""
    if file_type.dtype is type_.dtype:
        return data
    real = _real(data, type_)
    return real if file_type.dtype is DType.FLOAT32 else _integers(real, file_type)


def _real(data: np.ndarray, type_: TensorType) -> np.ndarray:
    scale, zero = _scale_of(type_)
    return (data.astype(np.float32) - np.float32(zero)) * np.float32(scale)


def _integers(data: np.ndarray, type_: TensorType) -> np.ndarray:
    scale, zero = _scale_of(type_)
    low, high = type_.dtype.limits
    return np.clip(np.rint(data / np.float32(scale)) + zero, low, high).astype(type_.dtype.numpy)


def _scale_of(type_: TensorType) -> tuple[float, int]:
    assert type_.quantization is not None, "an int8 edge has a scale"
    return type_.quantization.scales[0], type_.zero_point


def _files_states(program: Program, places: Sequence[int]) -> set[int]:
    return {place for place, state in zip(places, program.signature.states, strict=True) if state.is_files}


def variable_outputs(program: Program) -> set[int]:
    """Indexes of outputs that are variables of the file: no engine shows them."""
    return _files_states(program, state_outputs(program))


def _feedback(program: Program) -> tuple[tuple[int, int], ...]:
    """(output, input) of declared states, counted among what an engine takes and gives."""
    inner_in, inner_out = state_inputs(program), state_outputs(program)
    hidden_in, hidden_out = _files_states(program, inner_in), _files_states(program, inner_out)
    return tuple(
        (
            output - sum(place < output for place in hidden_out),
            place_in - sum(place < place_in for place in hidden_in),
        )
        for output, place_in, state in zip(inner_out, inner_in, program.signature.states, strict=True)
        if not state.is_files
    )


def _gives_variables(program: Program, cases: Sequence[Case]) -> bool:
    """True if a case begins with other values of the file's variables than a reset leaves."""
    states = program.signature.states
    places = [
        (place, state.initial)
        for place, state in zip(state_inputs(program), states, strict=True)
        if state.is_files
    ]
    return any(
        np.ascontiguousarray(case.inputs[place]).tobytes() != initial
        for case in cases
        for place, initial in places
    )


def _as_ours(
    planned: Planned, answer: EngineAnswer, *, is_strict: bool
) -> tuple[tuple[tuple[np.ndarray | None, ...], ...] | None, str]:
    """The outputs in our types, with None for the file's variables; or what is in the way.

    `is_strict`: an output of another shape is a mistake of the import, not a habit of the engine.
    """
    program = planned.program
    hidden = variable_outputs(program)
    types, turned = file_types(planned)[1], turned_edges(program.metadata)
    cases: list[tuple[np.ndarray | None, ...]] = []
    for outputs in answer.outputs:
        if len(outputs) != len(types) - len(hidden):
            return None, f"{len(outputs)} outputs, the imported network {len(types) - len(hidden)}"
        arrays = iter(outputs)
        ours: list[np.ndarray | None] = []
        for index, (tensor, type_) in enumerate(zip(program.signature.outputs, types, strict=True)):
            data = None if index in hidden else next(arrays)
            if data is not None and not _fits(data, type_, is_strict=is_strict):
                text = f'output "{tensor.field}" as {data.dtype}{list(data.shape)}, the import as {type_}'
                return ((), text) if is_strict else (None, text)
            order = turned.get(("output", index))
            ours.append(None if data is None else _as_program(data, type_, tensor.type, order))
        cases.append(tuple(ours))
    return tuple(cases), ""


def _fits(data: np.ndarray, type_: TensorType, *, is_strict: bool) -> bool:
    shape = tuple(int(extent) for extent in type_.shape)
    same = data.shape == shape if is_strict else data.size == type_.elements
    return same and data.dtype == type_.dtype.numpy


def _as_program(
    data: np.ndarray, type_: TensorType, ours: TensorType, order: tuple[int, ...] | None
) -> np.ndarray:
    """An output of the file as the program gives it: in the integers of `--io-types`, its axes in `order`."""
    shape = type_.shape if order is not None else ours.shape
    image = data.reshape([int(extent) for extent in shape])
    image = np.array(image if order is None else image.transpose(order), order="C")
    if type_.dtype is ours.dtype:
        return image
    return _integers(image if type_.dtype is DType.FLOAT32 else _real(image, type_), ours)
