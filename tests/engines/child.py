"""Answers what only tests ask an engine; started by the engines' own interpreter.

With `arena`, tflite-micro tells how many bytes of its arena the memory plan takes: the answer's `head`. With
`operators`, tflite-runtime tells how it reads the file: operator i's name `name<i>`, its tensors `inputs<i>`
and `outputs<i>`. How messages are packed is that of `codegen/engines/child.py`.
"""

import importlib
import importlib.util
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

_PROGRAM = Path(__file__).resolve().parents[2] / "codegen" / "engines" / "child.py"


def arena_head(model: bytes, arena_bytes: int) -> dict[str, np.ndarray]:
    """The engine prints its figures on stderr and has no other way to tell them."""
    runtime = importlib.import_module("tflite_micro.python.tflite_micro.runtime")
    interpreter = runtime.Interpreter.from_bytes(model, arena_size=arena_bytes)
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
    head = re.search(r"allocation head (\d+) bytes", text)
    if head is None:
        raise ValueError(f"no figure for the head in {text!r}")
    return {"head": np.array(int(head[1]))}


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


def main() -> None:
    spec = importlib.util.spec_from_file_location("child", _PROGRAM)
    assert spec is not None and spec.loader is not None
    child: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(child)

    def answer_to(request: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        model = request["model"].tobytes()
        return arena_head(model, child.ARENA_BYTES) if "arena" in request else operators(model)

    child.serve(answer_to)


if __name__ == "__main__":
    main()
