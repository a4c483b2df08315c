"""onnxruntime's outputs, all optimisations off, in a child process: its threads stay out of the tests'."""

import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_CHILD = """
import pickle, sys
import onnxruntime as ort
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
options.log_severity_level, options.intra_op_num_threads = 4, 1
found = []
for model, inputs in pickle.load(sys.stdin.buffer):
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    found.append(session.run(None, inputs))
pickle.dump(found, sys.stdout.buffer)
"""


def answers(questions: Sequence[tuple[Any, Mapping[str, np.ndarray]]]) -> list[list[np.ndarray]]:
    """The outputs of each model for its inputs."""
    data = pickle.dumps([(made.SerializeToString(), dict(inputs)) for made, inputs in questions])
    done = subprocess.run([sys.executable, "-c", _CHILD], input=data, capture_output=True, check=True)
    return pickle.loads(done.stdout)
