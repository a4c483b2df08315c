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
    if rng.random() < 0.4:
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
    model = _model([node], asked, {name: shapes[name] for name in outputs}, constants)
    given = {name: _numbers(rng, *shape) for name, shape in asked.items()}
    return Network(kind=op, qdq=model, integer=None, inputs=(given,))


def exported(op: str) -> Network:
    """As PyTorch's exporter writes them, batch in front: two layers of LSTM, states in and out of the model;
    a GRU both ways, from zero, its last moment classified."""
    rng = np.random.default_rng(len(op) + GATES[op])
    is_both, moments, units, inputs = op == "GRU", 4, 5, 3
    count, layers = (2, 1) if is_both else (1, 2)
    ints = {"ends": [0, 0, -1], "front": [1], "l0": [0], "l1": [1], "l2": [2]}
    constants = {name: np.array(data, np.int64) for name, data in ints.items()}
    nodes = [helper.make_node("Transpose", ["X"], ["x0"], perm=[1, 0, 2])]
    for layer in range(layers):
        shapes = {
            "W": (GATES[op] * units, inputs),
            "R": (GATES[op] * units, units),
            "B": (2 * GATES[op] * units,),
        }
        constants |= {f"{name}{layer}": _numbers(rng, count, *shape) for name, shape in shapes.items()}
        names = [f"x{layer}", f"W{layer}", f"R{layer}", f"B{layer}"]
        more: dict[str, Any] = {"linear_before_reset": 1, "direction": "bidirectional"} if is_both else {}
        if not is_both:
            names += ["", f"h{layer}", f"c{layer}"]
            for state in "hc":
                read = [state, f"l{layer}", f"l{layer + 1}", "l0"]
                nodes.append(helper.make_node("Slice", read, [f"{state}{layer}"]))
        given = [f"y{layer}", f"hn{layer}", f"cn{layer}"][: 1 if is_both else 3]
        nodes.append(helper.make_node(op, names, given, hidden_size=units, **more))
        if is_both:
            nodes.append(helper.make_node("Transpose", [f"y{layer}"], [f"t{layer}"], perm=[0, 2, 1, 3]))
            nodes.append(helper.make_node("Reshape", [f"t{layer}", "ends"], [f"x{layer + 1}"]))
        else:
            nodes.append(helper.make_node("Squeeze", [f"y{layer}", "front"], [f"x{layer + 1}"]))
        inputs = count * units
    nodes.append(helper.make_node("Transpose", [f"x{layers}"], ["out"], perm=[1, 0, 2]))
    asked, shown = {"X": (2, moments, 3)}, {"out": (2, moments, inputs)}
    if is_both:
        constants |= {"last": np.array(-1, np.int64), "V": _numbers(rng, 4, inputs), "b": _numbers(rng, 4)}
        nodes.append(helper.make_node("Gather", ["out", "last"], ["end"], axis=1))
        nodes.append(helper.make_node("Gemm", ["end", "V", "b"], ["classes"], transB=1))
        shown = {"classes": (2, 4)}
    else:
        nodes += [helper.make_node("Concat", [f"{s}n0", f"{s}n1"], [f"{s}n"], axis=0) for s in "hc"]
        asked |= dict.fromkeys("hc", (2, 2, units))
        shown |= {f"{state}n": (2, 2, units) for state in "hc"}
    model = _model(nodes, asked, shown, constants)
    return Network(
        kind=op, qdq=model, integer=None, inputs=({n: _numbers(rng, *s) for n, s in asked.items()},)
    )


def networks() -> dict[str, Network]:
    """All that are recorded, by their names there."""
    found = {str(seed): drawn(seed) for seed in range(COUNT)}
    return found | {f"exported {op}": exported(op) for op in ("LSTM", "GRU")}


def _model(
    nodes: list[Any],
    asked: dict[str, tuple[int, ...]],
    shown: dict[str, tuple[int, ...]],
    constants: dict[str, np.ndarray],
) -> bytes:
    def values(shapes: dict[str, tuple[int, ...]]) -> list[Any]:
        return [helper.make_tensor_value_info(name, TensorProto.FLOAT, s) for name, s in shapes.items()]

    numbers = [numpy_helper.from_array(data, name) for name, data in constants.items()]
    graph = helper.make_graph(nodes, "g", values(asked), values(shown), numbers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    return model.SerializeToString()


def main() -> None:
    """Record all networks."""
    found = networks()
    nets = list(found.values())
    answers = ask([(net.qdq, net) for net in nets])
    flat = {
        name: np.concatenate([each.reshape(-1) for each in outputs])
        for name, [outputs] in zip(found, answers, strict=True)
    }
    np.savez_compressed(RECORD, allow_pickle=False, **flat)
    sys.stdout.write(f"{len(nets)} networks, {RECORD.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
