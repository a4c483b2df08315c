"""Runs a reference engine; started by the engines' own interpreter, which has no part of this project.

Requests and answers are NPZ archives behind an 8-byte little-endian length. A request holds `engine`,
`model`, the number of `cases` and arrays `<case>_x<i>`; the answer holds `<case>_y<j>`, or `error`. With
`sequence` all cases run in one interpreter, one after the other. A request
without `model` asks which engines can be imported: the answer's `engines`. With `arena`, tflite-micro tells
how many bytes of its arena the memory plan takes: the answer's `head`. With `operators`, tflite-runtime tells
how it reads the file: operator i's name `name<i>`, its tensors `inputs<i>` and `outputs<i>`.
"""

import importlib
import importlib.util
import io
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence

import numpy as np

Run = Callable[[Sequence[np.ndarray]], list[np.ndarray]]

ARENA_BYTES = 4 << 20


def load_tflite_runtime(model: bytes) -> Run:
    module = importlib.import_module("tflite_runtime.interpreter")
    interpreter = module.Interpreter(
        model_content=model, experimental_op_resolver_type=module.OpResolverType.BUILTIN_REF
    )
    interpreter.allocate_tensors()
    ins, outs = interpreter.get_input_details(), interpreter.get_output_details()

    def run(inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        if [values.shape for values in inputs] != [tuple(detail["shape"]) for detail in ins]:
            for detail, values in zip(ins, inputs, strict=True):
                interpreter.resize_tensor_input(detail["index"], values.shape)
            interpreter.allocate_tensors()
        for detail, values in zip(ins, inputs, strict=True):
            interpreter.set_tensor(detail["index"], values)
        interpreter.invoke()
        return [interpreter.get_tensor(detail["index"]) for detail in outs]

    return run


def load_tflite_micro(model: bytes) -> Run:
    runtime = importlib.import_module("tflite_micro.python.tflite_micro.runtime")
    interpreter = runtime.Interpreter.from_bytes(model, arena_size=ARENA_BYTES)
    outputs = count_outputs(model)

    def run(inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        for index, values in enumerate(inputs):
            interpreter.set_input(values, index)
        interpreter.invoke()
        return [interpreter.get_output(index) for index in range(outputs)]

    return run


def count_outputs(model: bytes) -> int:
    """Read the number of graph outputs from the file: asking the engine for one too many ends it."""

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


LOADERS: dict[str, Callable[[bytes], Run]] = {
    "tflite-runtime": load_tflite_runtime,
    "tflite-micro": load_tflite_micro,
}


def evaluate(request: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    load, model = LOADERS[str(request["engine"])], request["model"].tobytes()
    answer: dict[str, np.ndarray] = {}
    kept = load(model) if "sequence" in request else None
    for case in range(int(request["cases"])):
        inputs: list[np.ndarray] = []
        while f"{case}_x{len(inputs)}" in request:
            inputs.append(request[f"{case}_x{len(inputs)}"])
        for index, values in enumerate((kept or load(model))(inputs)):
            answer[f"{case}_y{index}"] = np.array(values)  # a copy: the next case of a sequence writes there
    return answer


def arena_head(model: bytes) -> dict[str, np.ndarray]:
    """The engine prints its figures on stderr and has no other way to tell them."""
    runtime = importlib.import_module("tflite_micro.python.tflite_micro.runtime")
    interpreter = runtime.Interpreter.from_bytes(model, arena_size=ARENA_BYTES)
    kept = os.dup(2)
    with tempfile.TemporaryFile() as printed:
        os.dup2(printed.fileno(), 2)
        try:
            interpreter.print_allocations()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        printed.seek(0)
        text = printed.read().decode()
    found = re.search(r"allocation head (\d+) bytes", text)
    if found is None:
        raise ValueError(f"no figure for the head in {text!r}")
    return {"head": np.array(int(found[1]))}


def operators(model: bytes) -> dict[str, np.ndarray]:
    """How the engine reads the operators of the first subgraph; it need not have kernels for them."""
    module = importlib.import_module("tflite_runtime.interpreter")
    interpreter = module.Interpreter(
        model_content=model, experimental_op_resolver_type=module.OpResolverType.BUILTIN_REF
    )
    answer: dict[str, np.ndarray] = {}
    for index, operator in enumerate(interpreter._get_ops_details()):
        answer[f"name{index}"] = np.array(operator["op_name"])
        answer[f"inputs{index}"] = np.array(operator["inputs"], np.int64)
        answer[f"outputs{index}"] = np.array(operator["outputs"], np.int64)
    return answer


def answer_to(request: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    if "model" not in request:
        return engines()
    if "arena" in request:
        return arena_head(request["model"].tobytes())
    if "operators" in request:
        return operators(request["model"].tobytes())
    return evaluate(request)


def engines() -> dict[str, np.ndarray]:
    """Those that are installed: to import them takes seconds, in every process of the suite."""
    modules = {"tflite-runtime": "tflite_runtime", "tflite-micro": "tflite_micro"}
    found = [name for name, module in modules.items() if importlib.util.find_spec(module) is not None]
    return {"engines": np.array(",".join(found))}


def main() -> None:
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
    main()
