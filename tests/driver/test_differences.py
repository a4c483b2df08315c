"""Outputs that differ: by how much is none, and what is said of those that do."""

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import codegen
from codegen.driver.inputs.cases import Case
from codegen.errors import CodegenError
from tests.importers.onnx.models import model, node


def _run(made: ModelProto, folder: Path, given: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    path = folder / "net.onnx"
    path.write_bytes(made.SerializeToString())
    cases = {"net": [Case(name="a", inputs=(given,), expected=(expected,))]}
    codegen.run(path, codegen.Options(board="host"), cases=cases, tolerance=tolerance)


def test_a_probability_is_compared_within_its_range(tmp_path: Path) -> None:
    """9.11e-4 differed by 5.5e-8, which is 6e-5 of it: exit 7, and nothing could state a tolerance."""
    made = model(node("Sigmoid", "x", "y"), x=(1, 1))
    given = np.array([[-7.0]], np.float32)
    right = (1 / (1 + np.exp(7.0))).astype(np.float32).reshape(1, 1)
    _run(made, tmp_path, given, right + np.float32(5.5e-8), 1e-5)
    with pytest.raises(CodegenError, match=r"E701(.|\n)*--tolerance states how much is no difference"):
        _run(made, tmp_path, given, right + np.float32(5.5e-8), 1e-9)
    with pytest.raises(CodegenError, match="E701"):
        _run(made, tmp_path, given, right + np.float32(1e-4), 1e-5)


def test_an_unbounded_output_is_compared_within_its_own_scale(tmp_path: Path) -> None:
    made = model(node("Relu", "x", "y"), x=(1, 2))
    given = np.array([[1e-3, 0.5e-3]], np.float32)
    with pytest.raises(CodegenError, match="E701"):
        _run(made, tmp_path, given, given + np.float32(5.5e-8), 1e-5)
    _run(made, tmp_path, given, given + np.float32(5.5e-8), 1e-4)


@pytest.mark.parametrize("is_signed", [True, False])
def test_halves_of_an_average_are_told(is_signed: bool, tmp_path: Path) -> None:
    """onnxruntime's float sums take some halves up: 24 of 512 elements differed, and nothing said why."""
    dtype = np.int8 if is_signed else np.uint8
    held = {"s": np.float32(0.1), "z": dtype(0)}
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["r"]),
        helper.make_node("AveragePool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("QuantizeLinear", ["p", "s", "z"], ["y"]),
    ]
    kind = TensorProto.INT8 if is_signed else TensorProto.UINT8
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", kind, [1, 2, 4, 4])],
        [helper.make_tensor_value_info("y", kind, [1, 2, 2, 2])],
        [numpy_helper.from_array(np.asarray(data), name) for name, data in held.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    given = np.zeros((1, 2, 4, 4), dtype)
    given[0, 0, 0, 0] = 2  # an average of 0.5: even is 0, up is 1
    given[0, 1, 2, 2] = 40  # an average of 10
    right = np.zeros((1, 2, 2, 2), dtype)
    right[0, 1, 1, 1] = 10
    _run(made, tmp_path, given, right, 1e-5)
    up = right.copy()
    up[0, 0, 0, 0] = 1
    text = "1 of 8 elements differ, first at 0, by up to 1; 1 of them lie at halves between two integers"
    with pytest.raises(CodegenError, match=rf"{text}(.|\n)*AveragePool(.|\n)*halves to even of exact sums"):
        _run(made, tmp_path, given, up, 1e-5)
    up[0, 1, 1, 1] = 11
    with pytest.raises(CodegenError, match=r"2 of 8 elements differ(.|\n)*; 1 of them lie at halves"):
        _run(made, tmp_path, given, up, 1e-5)


def test_a_tolerance_of_integers_is_an_error(tmp_path: Path) -> None:
    """`--tolerance 0.01` was taken without a word, and each bit was compared."""
    made = model(node("Relu", "x", "a"), node("Cast", "a", "y", to=TensorProto.INT8), x=(1, 2))
    made.graph.output[0].type.tensor_type.elem_type = TensorProto.INT8
    given = np.array([[1.0, 3.0]], np.float32)
    with pytest.raises(CodegenError) as told:
        _run(made, tmp_path, given, given.astype(np.int8), 0.01)
    assert str(told.value).split("\n") == [
        "error[E201] net, --tolerance: it has no effect: outputs are int8, "
        "which have to be equal in every bit",
        "help: leave it out",
    ]
