"""The nodes that onnxruntime's optimiser writes, against onnxruntime; what is missing is told with advice."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from codegen.ir.evaluate import evaluate
from tests.importers.onnx.engine import answers
from tests.importers.onnx.models import complaint, imported

_ONE = "x a_s a_z y_s y_z"
_TWO = "x a_s a_z x2 b_s b_z y_s y_z"
_Case = tuple[str, str, dict[str, Any]]
_EQUAL: tuple[_Case, ...] = (
    ("QLinearMul", _TWO, {}),
    ("QLinearLeakyRelu", _ONE, {"alpha": 0.1}),
    ("QLinearSigmoid", _ONE, {}),
    ("QLinearGlobalAveragePool", _ONE, {}),
    ("QLinearSoftmax", _ONE, {"axis": -1, "opset": 13}),
    ("QLinearConcat", "y_s y_z x a_s a_z x2 b_s b_z", {"axis": 1}),
)
_NEAR: tuple[_Case, ...] = (
    ("QLinearAdd", _TWO, {}),
    ("QLinearAveragePool", _ONE, {"kernel_shape": [2, 2], "strides": [2, 2]}),
)
"""They multiply by quotients of scales, where DequantizeLinear and QuantizeLinear round twice: one or two
elements are one apart, onnxruntime's own two forms too."""


def _network(
    op: str, names: str, attributes: dict[str, Any], dtype: Any
) -> tuple[Any, dict[str, np.ndarray]]:
    rng, low = np.random.default_rng(7), int(np.iinfo(dtype).min)
    scales = {"a": 0.05, "b": 0.033, "y": 1 / 256 if op == "QLinearSoftmax" else 0.07}
    zeros = {"a": low + 120, "b": low + 100, "y": low if op == "QLinearSoftmax" else low + 128}
    held = {f"{name}_s": np.array(scale, np.float32) for name, scale in scales.items()}
    held |= {f"{name}_z": np.array(zero, dtype) for name, zero in zeros.items()}
    inputs = {
        name: rng.integers(low, low + 256, (1, 3, 8, 8)).astype(dtype)
        for name in ("x", "x2")
        if name in names.split()
    }
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        [helper.make_node(op, names.split(), ["y"], domain="com.microsoft", **attributes)],
        "g",
        [helper.make_tensor_value_info(name, kind, [1, 3, 8, 8]) for name in inputs],
        [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(data, name) for name, data in held.items() if name in names.split()],
    )
    sets = [helper.make_opsetid("", 14), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=8), inputs


@pytest.mark.parametrize(("cases", "most"), [(_EQUAL, 0), (_NEAR, 1)], ids=["equal", "near"])
def test_integers_are_those_of_onnxruntime(tmp_path: Path, cases: Sequence[_Case], most: int) -> None:
    questions = [_network(*case, dtype) for case in cases for dtype in (np.int8, np.uint8)]
    for (made, inputs), [wanted] in zip(questions, answers(questions), strict=True):
        module = imported(tmp_path, made)
        [found] = evaluate(module, module.main, list(inputs.values()))
        op = made.graph.node[0].op_type
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), op
        difference = np.abs(found.astype(np.int64) - wanted)
        assert difference.max() <= most, op
        assert np.count_nonzero(difference) <= 2, op


def test_a_softmax_over_several_axes_is_refused(tmp_path: Path) -> None:
    made, _ = _network("QLinearSoftmax", _ONE, {"axis": 1, "opset": 11}, np.int8)
    assert "several axes at once (opset below 13) are not supported" in complaint(tmp_path, made)


def test_other_nodes_are_refused_by_name(tmp_path: Path) -> None:
    made, _ = _network("QLinearReduceMean", _ONE, {"axes": [2, 3]}, np.int8)
    text = complaint(tmp_path, made)
    assert "node type com.microsoft.QLinearReduceMean is not supported" in text
    assert "quantise with QDQ nodes of int8 or uint8" in text
