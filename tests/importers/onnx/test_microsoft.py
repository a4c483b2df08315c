"""The nodes that onnxruntime's optimiser writes, against onnxruntime; what is missing is told with advice."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

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


def _asymmetric(op: str, channels: int) -> tuple[Any, dict[str, np.ndarray]]:
    """A layer of uint8 whose weights have zero points far from 128, and an average or a sigmoid behind it."""
    rng = np.random.default_rng(11)
    shape = (4, 3, 3, 3) if op == "QLinearConv" else (4, 12)
    scales = rng.uniform(0.01, 0.02, channels).astype(np.float32)
    held = {
        **{"s": np.float32(0.05), "z": np.uint8(120), "y_s": np.float32(0.08), "y_z": np.uint8(3)},
        **{"w": rng.integers(0, 256, shape).astype(np.uint8), "w_s": scales},
        "w_z": rng.integers(3, 40, channels).astype(np.uint8),
        "b": rng.integers(-500, 500, 4).astype(np.int32),
    }
    image = (1, 3, 6, 6) if op == "QLinearConv" else (2, 12)
    if channels == 1:
        held |= {"w_s": scales.reshape(()), "w_z": held["w_z"].reshape(())}
    if op == "QLinearConv":
        nodes = [
            helper.make_node(op, ["x", "s", "z", "w", "w_s", "w_z", "y_s", "y_z", "b"], ["c"]),
            helper.make_node(
                "QLinearAveragePool",
                ["c", "y_s", "y_z", "y_s", "y_z"],
                ["y"],
                domain="com.microsoft",
                kernel_shape=[4, 4],
            ),
        ]
    else:
        names = ["x", "s", "z", "w", "w_s", "w_z", "b", "y_s", "y_z"]
        nodes = [
            helper.make_node(op, names, ["c"], domain="com.microsoft", transB=1),
            helper.make_node(
                "QLinearSigmoid", ["c", "y_s", "y_z", "y_s", "y_z"], ["y"], domain="com.microsoft"
            ),
        ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, list(image))],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, None)],
        [numpy_helper.from_array(np.asarray(data), name) for name, data in held.items()],
    )
    sets = [helper.make_opsetid("", 14), helper.make_opsetid("com.microsoft", 1)]
    given = {"x": rng.integers(0, 256, image).astype(np.uint8)}
    return helper.make_model(graph, opset_imports=sets, ir_version=8), given


@pytest.mark.parametrize("op", ["QLinearConv", "QGemm"])
@pytest.mark.parametrize("channels", [1, 4])
def test_asymmetric_weights_are_taken_and_told(op: str, channels: int, tmp_path: Path) -> None:
    """QLinearConv ran in float32, and a QLinear node behind it was refused: "uint8 not supported, supported
    are int8, uint8"; QGemm was refused without help."""
    made, inputs = _asymmetric(op, channels)
    module = imported(tmp_path, made)
    [found] = evaluate(module, module.main, list(inputs.values()))
    [[expected]] = answers([(made, inputs)])
    np.testing.assert_array_equal(found, expected)
    assert "quantise them with weight_type=QInt8" in module.metadata["left_in_float"]


@pytest.mark.parametrize(
    ("op", "advice"),
    [("ZipMap", "options={'zipmap': False}"), ("LinearClassifier", "write coef_ and intercept_")],
)
def test_exports_of_scikit_learn_are_told_what_to_do(op: str, advice: str, tmp_path: Path) -> None:
    made, _ = _network("QLinearSigmoid", _ONE, {}, np.int8)
    made.graph.node[0].op_type, made.graph.node[0].domain = op, "ai.onnx.ml"
    assert advice in complaint(tmp_path, made)


def test_a_dynamically_quantised_lstm_is_told_what_to_do(tmp_path: Path) -> None:
    """It was refused by name alone."""
    made, _ = _network("QLinearSigmoid", _ONE, {}, np.int8)
    made.graph.node[0].op_type = "DynamicQuantizeLSTM"
    assert "op_types_to_quantize=['MatMul', 'Gemm']" in complaint(tmp_path, made)
