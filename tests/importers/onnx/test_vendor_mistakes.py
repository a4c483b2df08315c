"""Small QDQ networks that compilers of vendors get wrong: 1 - x by Sub and by Neg, a residual.

They were right here when they were found; they stay so.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from codegen.ir.evaluate import evaluate
from tests.importers.onnx.engine import answers
from tests.importers.onnx.models import imported

_SCALES = {
    "x": (0.02, -10),
    "n": (0.02, 9),
    "y": (0.03, -4),
    "c": (0.05, 3),
    "one": (1 / 127, 0),
    "w": (0.01, 0),
}


def _quantised(name: str, source: str) -> list[Any]:
    """`source` through QuantizeLinear and DequantizeLinear, as `name`."""
    scales = [f"{name}_s", f"{name}_z"]
    return [
        helper.make_node("QuantizeLinear", [source, *scales], [f"{name}_q"]),
        helper.make_node("DequantizeLinear", [f"{name}_q", *scales], [name]),
    ]


def _constant(name: str) -> Any:
    return helper.make_node("DequantizeLinear", [f"{name}_k", f"{name}_s", f"{name}_z"], [name])


_NETWORKS: dict[str, list[Any]] = {
    "1 - x": [*_quantised("x", "input"), _constant("one"), helper.make_node("Sub", ["one", "x"], ["r"])],
    "-x + 1": [
        *_quantised("x", "input"),
        helper.make_node("Neg", ["x"], ["m"]),
        *_quantised("n", "m"),
        _constant("one"),
        helper.make_node("Add", ["n", "one"], ["r"]),
    ],
    "residual": [
        *_quantised("x", "input"),
        _constant("w"),
        helper.make_node("Conv", ["x", "w"], ["v"], pads=[2, 0, 2, 0], dilations=[2, 1]),
        helper.make_node("Relu", ["v"], ["p"]),
        *_quantised("c", "p"),
        helper.make_node("Add", ["c", "x"], ["r"]),
    ],
}


@pytest.mark.parametrize("name", _NETWORKS)
def test_it_is_as_onnxruntime_has_it(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    held = {f"{key}_s": np.float32(scale) for key, (scale, _) in _SCALES.items()}
    held |= {f"{key}_z": np.int8(zero) for key, (_, zero) in _SCALES.items()}
    held |= {"one_k": np.int8(127), "w_k": rng.integers(-127, 128, (4, 4, 3, 1)).astype(np.int8)}
    nodes = [*_NETWORKS[name], *_quantised("y", "r")]
    read = {each for node in nodes for each in node.input}
    shape = [1, 4, 16, 1]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(np.asarray(data), key) for key, data in held.items() if key in read],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    given = rng.uniform(-3, 3, shape).astype(np.float32)
    module = imported(tmp_path, made)
    assert "left_in_float" not in module.metadata
    [found] = evaluate(module, module.main, [given])
    [[expected]] = answers([(made, {"input": given})])
    np.testing.assert_array_equal(found, expected)
