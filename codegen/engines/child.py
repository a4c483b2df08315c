"""Program that runs an engine: started by the engine's own Python, which needs no part of this project.

Requests and answers are NPZ archives behind an 8-byte little-endian length. A request holds `engine`,
`model`, the number of `cases` and arrays `<case>_x<i>`; the answer holds `<case>_y<j>`, or `error`. Inputs
and outputs without elements are left out of both. With `sequence` all cases run in one interpreter, one
after the other; rows (output, input) of `feedback` then hand an output to an input of the next case. With
`tensors` the answer also holds every value of the last case, `t<k>`, and its name in the file, `n<k>`.
A request without `model` asks which engines can be imported: the answer's `engines`, and their `versions`.
"""

import importlib
import importlib.metadata
import importlib.util
import io
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Arrays = list[np.ndarray]
Named = list[tuple[str, np.ndarray]]

ARENA_BYTES = 16 << 20


class Loaded:
    """A model that an engine has loaded: `run` computes its outputs, `tensors` lists all named tensors."""

    def __init__(self, run: Callable[[Sequence[np.ndarray]], Arrays], tensors: Callable[[], Named]) -> None:
        self.run = run
        self.tensors = tensors


def with_empty_inputs(
    inputs: Sequence[np.ndarray], shapes: Sequence[Sequence[object]], types: Sequence[Any]
) -> Arrays:
    """One array for each input of the model: those without elements, which nobody sent, among the others."""
    sent = iter(inputs)
    arrays = [
        np.zeros([int(str(extent)) for extent in shape], type_) if 0 in shape else next(sent, None)
        for shape, type_ in zip(shapes, types, strict=True)
    ]
    there = [data for data in arrays if data is not None]
    if len(there) != len(arrays) or next(sent, None) is not None:
        raise ValueError(f"the model has {len(shapes)} inputs, {len(inputs)} were given")
    return there


def load_tflite(module_name: str) -> Callable[[bytes, bool], Loaded]:
    """Loader of an engine with TFLite's Python interface; reference kernels, one thread."""

    def load(model: bytes, keeps_all: bool) -> Loaded:
        module = importlib.import_module(module_name)
        interpreter: Any = module.Interpreter(
            model_content=model,
            num_threads=1,
            experimental_op_resolver_type=module.OpResolverType.BUILTIN_REF,
            experimental_preserve_all_tensors=keeps_all,
        )
        interpreter.allocate_tensors()
        ins, outs = interpreter.get_input_details(), interpreter.get_output_details()

        def run(inputs: Sequence[np.ndarray]) -> Arrays:
            shapes, types = ([detail[key] for detail in ins] for key in ("shape", "dtype"))
            every = with_empty_inputs(inputs, [tuple(shape) for shape in shapes], types)
            sized = [(detail, data) for detail, data in zip(ins, every, strict=True) if data.size]
            if any(data.shape != tuple(detail["shape"]) for detail, data in sized):
                for detail, data in sized:
                    interpreter.resize_tensor_input(detail["index"], data.shape)
                interpreter.allocate_tensors()
            for detail, data in sized:
                interpreter.set_tensor(detail["index"], data)
            interpreter.invoke()
            return [interpreter.get_tensor(detail["index"]) for detail in outs]

        def tensors() -> Named:
            values: dict[int, Named] = {}
            for detail in interpreter.get_tensor_details():
                try:
                    data = interpreter.tensor(detail["index"])()
                except ValueError:  # nothing was computed there
                    continue
                place = data.__array_interface__["data"][0]
                values.setdefault(place, []).append((detail["name"], np.array(data)))
            # An operator that works in place has written over its argument: neither is told apart.
            return [several[0] for several in values.values() if len(several) == 1]

        return Loaded(run, tensors)

    return load


def load_tflite_micro(model: bytes, keeps_all: bool) -> Loaded:
    """Loader of tflite-micro, which keeps no values between steps."""
    del keeps_all
    runtime = importlib.import_module("tflite_micro.python.tflite_micro.runtime")
    interpreter = runtime.Interpreter.from_bytes(model, arena_size=ARENA_BYTES)
    outputs = count_outputs(model)

    def run(inputs: Sequence[np.ndarray]) -> Arrays:
        for index, values in enumerate(inputs):
            interpreter.set_input(values, index)
        interpreter.invoke()
        return [interpreter.get_output(index) for index in range(outputs)]

    return Loaded(run, list)


_FLOATS = {"float": "float32", "double": "float64"}


def load_onnxruntime(model: bytes, keeps_all: bool) -> Loaded:
    """Loader of onnxruntime: no graph optimisation, one thread. The outputs of `model` are all its values
    where they are to be kept; the file's own come first, as many as the metadata `outputs` say."""
    del keeps_all
    module = importlib.import_module("onnxruntime")
    options = module.SessionOptions()
    options.graph_optimization_level = module.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = module.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    ins, outs = session.get_inputs(), [output.name for output in session.get_outputs()]
    output_count = int(session.get_modelmeta().custom_metadata_map.get("codegen.outputs", len(outs)))
    kept: Arrays = []

    def run(inputs: Sequence[np.ndarray]) -> Arrays:
        types = [_FLOATS.get(in_.type[7:-1], in_.type[7:-1]) for in_ in ins]  # tensor(int64)
        every = with_empty_inputs(inputs, [tuple(in_.shape) for in_ in ins], types)
        kept[:] = session.run(None, dict(zip((in_.name for in_ in ins), every, strict=True)))
        return kept[:output_count]

    def tensors() -> Named:
        values: list[Any] = list(kept)  # some may be lists of arrays
        return [(name, data) for name, data in zip(outs, values, strict=True) if isinstance(data, np.ndarray)]

    return Loaded(run, tensors)


def count_outputs(model: bytes) -> int:
    """Read the number of graph outputs from the file: asking tflite-micro for one too many ends it."""

    def u16(at: int) -> int:
        return int.from_bytes(model[at : at + 2], "little")

    def follow(at: int) -> int:
        return at + int.from_bytes(model[at : at + 4], "little")

    def field(table: int, number: int) -> int:
        vtable = table - int.from_bytes(model[table : table + 4], "little", signed=True)
        return table + u16(vtable + 4 + 2 * number)

    subgraphs = follow(field(follow(0), 2))
    outputs = follow(field(follow(subgraphs + 4), 2))
    return int.from_bytes(model[outputs : outputs + 4], "little")


LOADERS: dict[str, Callable[[bytes, bool], Loaded]] = {
    "onnxruntime": load_onnxruntime,
    "tflite-runtime": load_tflite("tflite_runtime.interpreter"),
    "ai-edge-litert": load_tflite("ai_edge_litert.interpreter"),
    "tflite-micro": load_tflite_micro,
}
MODULES = {
    "onnxruntime": "onnxruntime",
    "tflite-runtime": "tflite_runtime",
    "ai-edge-litert": "ai_edge_litert",
    "tflite-micro": "tflite_micro",
}
"""Engine -> the module that has it."""


def evaluate(request: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Run every case of a request."""
    load, model = LOADERS[str(request["engine"])], request["model"].tobytes()
    keeps_all, in_sequence = "tensors" in request, "sequence" in request
    answer: dict[str, np.ndarray] = {}
    outputs: Arrays = []
    loaded: Loaded | None = None
    for case in range(int(request["cases"])):
        inputs: Arrays = []
        while f"{case}_x{len(inputs)}" in request:
            inputs.append(request[f"{case}_x{len(inputs)}"])
        for output, place in request["feedback"].tolist() if case and "feedback" in request else ():
            inputs[place] = outputs[output]
        if loaded is None or not in_sequence:
            loaded = load(model, keeps_all)
        # Copies: the next case of a sequence writes there.
        outputs = [np.array(values) for values in loaded.run(inputs) if np.size(values)]
        answer.update({f"{case}_y{index}": values for index, values in enumerate(outputs)})
    if keeps_all and loaded is not None:
        for index, (name, values) in enumerate(loaded.tensors()):
            answer |= {f"n{index}": np.array(name), f"t{index}": values}
    return answer


def installed() -> dict[str, str]:
    """Engine -> version, of those that this Python has. None is imported: that takes seconds."""
    names = [name for name, module in MODULES.items() if importlib.util.find_spec(module) is not None]
    return {name: importlib.metadata.version(name) for name in names}


def engines() -> dict[str, np.ndarray]:
    """The answer to a request without a model: installed engines and their versions."""
    versions = installed()
    return {"engines": np.array(",".join(versions)), "versions": np.array(",".join(versions.values()))}


def answer_to(request: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The answer to one request."""
    return evaluate(request) if "model" in request else engines()


def serve(answer_to: Callable[[Mapping[str, np.ndarray]], dict[str, np.ndarray]]) -> None:
    """Answer requests of standard input on standard output until it ends."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what an engine prints must not end up among the answers
    while len(header := requests.read(8)) == 8:
        with np.load(io.BytesIO(requests.read(int.from_bytes(header, "little")))) as archive:
            request: dict[str, np.ndarray] = {name: archive[name] for name in archive.files}
        try:
            answer = answer_to(request)
        except Exception as problem:
            answer = {"error": np.array(f"{type(problem).__name__}: {problem}")}
        packed = io.BytesIO()
        np.savez(packed, **answer)  # pyright: ignore[reportArgumentType]  # no `allow_pickle` before NumPy 2
        answers.write(len(packed.getvalue()).to_bytes(8, "little") + packed.getvalue())
        answers.flush()


if __name__ == "__main__":
    serve(answer_to)
