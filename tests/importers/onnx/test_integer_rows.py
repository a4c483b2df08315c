"""Softmax and LayerNormalization between QDQ nodes: one integer step each, onnxruntime's but at halves."""

from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from onnx import helper, numpy_helper

from codegen.importers.onnx import import_onnx
from codegen.ir import Module
from codegen.ir.evaluate import evaluate
from tests.importers.onnx.engine import answers

_ROWS = 24


def _layer(op: str, rng: Generator, columns: int, **attributes: Any) -> tuple[Any, np.ndarray]:
    """A quantised layer of rows, and rows: wide, narrow, at the ends of int8, one of equal numbers."""
    held = {
        "s": np.float32(2.0 ** rng.uniform(-6, -1)),
        "z": np.int8(rng.integers(-128, 128)),
        "t": np.float32(1 / 255 if op == "Softmax" else 2.0 ** rng.uniform(-6, -4)),
        "o": np.int8(-128 if op == "Softmax" else rng.integers(-60, 60)),
        "g": rng.uniform(-0.5, 2, columns).astype(np.float32),
        "b": rng.standard_normal(columns).astype(np.float32),
    }
    names = ["r"] if op == "Softmax" else ["r", "g", "b"]
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["r"]),
        helper.make_node(op, names, ["real"], **attributes),
        helper.make_node("QuantizeLinear", ["real", "t", "o"], ["y"]),
    ]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(np.int8))
    infos = [helper.make_tensor_value_info(name, kind, [_ROWS, columns]) for name in ("x", "y")]
    constants = [numpy_helper.from_array(np.asarray(data), name) for name, data in held.items()]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], constants)
    spread = float(rng.choice([1, 8, 30, 90]))
    rows = np.clip(rng.normal(rng.uniform(-70, 70), spread, (_ROWS, columns)), -128, 127).astype(np.int8)
    rows[0] = 7
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), rows


def _imported(model: Any) -> Module:
    return import_onnx(model.SerializeToString(), "m.onnx")


@pytest.mark.parametrize("op", ["Softmax", "LayerNormalization"])
def test_rows_are_one_integer_step_and_onnxruntimes_but_at_halves(op: str) -> None:
    """They were left in float32: two conversions, a softmax or ten steps between, four bytes a number."""
    rng = np.random.default_rng(len(op))
    layers = [_layer(op, rng, columns) for columns in (2, 5, 8, 31, 64, 99, 128, 250) * 3]
    elements, apart = 0, 0
    for (model, rows), [expected] in zip(layers, answers([(m, {"x": x}) for m, x in layers]), strict=True):
        module = _imported(model)
        assert [let.call.op.name for let in module.main.body] == [
            "SOFTMAX" if op == "Softmax" else "LAYER_NORMALIZATION"
        ]
        assert "by integers alone" in module.metadata["may_differ"]
        [result] = evaluate(module, module.main, [rows])
        differences = np.abs(result.astype(np.int32) - expected)
        assert differences.max() <= 1
        elements, apart = elements + differences.size, apart + int(np.count_nonzero(differences))
    assert elements > 40_000
    assert apart <= 10, apart


@pytest.mark.parametrize(
    ("op", "attributes", "reason"),
    [
        ("LayerNormalization", {"axis": 0}, "a LayerNormalization of several axes has no integer form"),
        ("LayerNormalization", {"epsilon": 1e30}, "epsilon 1e+30 is out of reach of the scale"),
    ],
)
def test_rows_without_an_integer_form_are_told(op: str, attributes: dict[str, Any], reason: str) -> None:
    model, _ = _layer(op, np.random.default_rng(1), _ROWS if "axis" in attributes else 9, **attributes)
    if "axis" in attributes:  # weights of both axes
        for tensor in model.graph.initializer:
            if tensor.name in ("g", "b"):
                tensor.CopyFrom(numpy_helper.from_array(np.ones((_ROWS, _ROWS), np.float32), tensor.name))
    assert reason in _imported(model).metadata["left_in_float"]
