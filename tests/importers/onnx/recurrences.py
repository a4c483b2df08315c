"""Random recurrent layers, and what onnxruntime gives for them: `recurrences.npz`, outputs joined.

`CODEGEN_ONNXRUNTIME_PYTHON=… python -m tests.importers.onnx.recurrences` records them anew (see `record`).
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from onnx import TensorProto, helper, numpy_helper

from tests.importers.onnx.drawn import Network
from tests.importers.onnx.record import ask

RECORD = Path(__file__).with_name("recurrences.npz")
COUNT = 60
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}
OTHERS = ("Relu", "Sigmoid", "Tanh", "Softsign", "HardSigmoid", "Affine", "LeakyRelu", "ScaledTanh")


def _numbers(rng: Generator, *shape: int) -> np.ndarray:
    return rng.uniform(-1, 1, shape).astype(np.float32)


def _attributes(rng: Generator, op: str, directions: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if rng.random() < 0.4:
        names = [str(rng.choice(OTHERS)) for _ in range(directions * len(FUNCTIONS[op]))]
        found = {"activations": names}
        # onnxruntime wants a number for each function that has one
        alphas = [0.3 for name in names if name in ("HardSigmoid", "Affine", "LeakyRelu", "ScaledTanh")]
        betas = [0.4 for name in names if name in ("HardSigmoid", "Affine", "ScaledTanh")]
        found |= {"activation_alpha": alphas} if alphas else {}
        found |= {"activation_beta": betas} if betas else {}
    if rng.random() < 0.2:
        found["clip"] = float(rng.uniform(0.2, 1.0))
    if op == "GRU" and rng.random() < 0.5:
        found["linear_before_reset"] = 1
    if op == "LSTM" and rng.random() < 0.2:
        found["input_forget"] = 1
    return found


def drawn(seed: int) -> Network:
    """Layer number `seed`: RNN, GRU and LSTM in turn; one of them in four has lengths of its sequences."""
    rng = np.random.default_rng([seed, 71])
    op = ("RNN", "GRU", "LSTM")[seed % 3]
    direction = str(rng.choice(["forward", "reverse", "bidirectional"]))
    count = 2 if direction == "bidirectional" else 1
    moments, batch, inputs, units = (int(rng.integers(1, high)) for high in (8, 4, 7, 7))
    rows = GATES[op] * units
    constants = {"W": _numbers(rng, count, rows, inputs), "R": _numbers(rng, count, rows, units)}
    names = ["X", "W", "R", "", "", "", "", ""]
    asked = {"X": (moments, batch, inputs)}
    if rng.random() < 0.7:
        constants["B"], names[3] = _numbers(rng, count, 2 * rows), "B"
    if direction == "forward" and rng.random() < 0.4:
        constants["lens"], names[4] = rng.integers(1, moments + 1, batch).astype(np.int32), "lens"
    if rng.random() < 0.6:
        asked["h"], names[5] = (count, batch, units), "h"
    if op == "LSTM" and rng.random() < 0.6:
        asked["c"], names[6] = (count, batch, units), "c"
    if op == "LSTM" and rng.random() < 0.3:
        constants["P"], names[7] = _numbers(rng, count, 3 * units), "P"
    while not names[-1]:
        names.pop()
    shapes = {"Y": (moments, count, batch, units), "Y_h": (count, batch, units), "Y_c": (count, batch, units)}
    outputs = ["Y", "Y_h", "Y_c"][: 3 if op == "LSTM" else 2]
    node = helper.make_node(
        op, names, outputs, direction=direction, hidden_size=units, **_attributes(rng, op, count)
    )
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in asked.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shapes[name]) for name in outputs],
        [numpy_helper.from_array(data, name) for name, data in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    given = {name: _numbers(rng, *shape) for name, shape in asked.items()}
    return Network(kind=op, qdq=model.SerializeToString(), integer=None, inputs=(given,))


def main() -> None:
    """Record layers 0 to COUNT - 1."""
    nets = [drawn(seed) for seed in range(COUNT)]
    answers = ask([(net.qdq, net) for net in nets])
    flat = {
        str(seed): np.concatenate([each.reshape(-1) for each in outputs])
        for seed, [outputs] in enumerate(answers)
    }
    np.savez_compressed(RECORD, allow_pickle=False, **flat)
    sys.stdout.write(f"{COUNT} layers, {RECORD.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
