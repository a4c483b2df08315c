"""onnxruntime's outputs in a child process: its threads stay out of the tests'."""

import atexit
import functools
import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_CHILD = """
import pickle, sys
import onnxruntime as ort
while True:
    try:
        level, questions = pickle.load(sys.stdin.buffer)
    except EOFError:
        break
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    outputs, refusal = [], ""
    try:
        for model, inputs in questions:
            session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            outputs.append(session.run(None, inputs))
    except Exception as error:
        refusal = str(error)
    pickle.dump((outputs, refusal), sys.stdout.buffer)
    sys.stdout.buffer.flush()
"""


@functools.cache
def _child() -> "subprocess.Popen[bytes]":
    """The child of this process, which answers until it ends: starting it takes longer than most answers."""
    child = subprocess.Popen([sys.executable, "-c", _CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None
    atexit.register(child.wait)
    atexit.register(child.stdin.close)
    return child


def answers(
    questions: Sequence[tuple[Any, Mapping[str, np.ndarray]]], level: str = "ORT_DISABLE_ALL"
) -> list[list[np.ndarray]]:
    """The outputs of each model for its inputs; `level`: of its optimisations, all off by default."""
    child = _child()
    assert child.stdin is not None and child.stdout is not None
    models = [(made.SerializeToString(), dict(inputs)) for made, inputs in questions]
    pickle.dump((level, models), child.stdin)
    child.stdin.flush()
    outputs, refusal = pickle.load(child.stdout)
    assert not refusal, refusal
    return outputs


_FORKING = """
import os, pickle, sys
import onnxruntime as ort
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
options.log_severity_level, options.intra_op_num_threads = 4, 1
found = []
for model, inputs in pickle.load(sys.stdin.buffer):
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            with os.fdopen(write, "wb") as file:
                pickle.dump(session.run(None, inputs), file)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        data = file.read()
    os.waitpid(child, 0)
    found.append(pickle.loads(data) if data else None)
pickle.dump(found, sys.stdout.buffer)
"""


def each_answer(
    questions: Sequence[tuple[Any, Mapping[str, np.ndarray]]],
) -> list[list[np.ndarray] | None]:
    """The same without optimisations; None for a model that the engine refuses, or that ends it."""
    data = pickle.dumps([(made.SerializeToString(), dict(inputs)) for made, inputs in questions])
    done = subprocess.run(
        [sys.executable, "-c", _FORKING],
        input=data,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return pickle.loads(done.stdout)
