"""Numbers of a file that become counts: NaN and infinity are refused, where they ended with a traceback."""

import math

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from codegen.errors import CodegenError
from codegen.importers.onnx import import_onnx
from codegen.importers.reporting import Refused, whole_number


def _message(node: onnx.NodeProto, **constants: np.ndarray) -> str:
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node, helper.make_node("Add", ["x", "made"], ["y"])] if node.op_type == "Range" else [node],
        "numbers",
        [info("x", TensorProto.FLOAT, [1] if node.op_type == "Range" else [1, 1, 4, 4])],
        [info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.array(data, np.float32), name) for name, data in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    with pytest.raises(CodegenError) as caught:
        import_onnx(model.SerializeToString(), "m.onnx")
    assert caught.value.exit_code == 3
    return caught.value.messages[0].text


@pytest.mark.parametrize("scale", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_scales_of_resize(scale: float, mode: str) -> None:
    node = helper.make_node("Resize", ["x", "", "s"], ["y"], mode=mode)
    text = _message(node, s=np.array([1, 1, scale, 1]))
    assert text == f"a scaled extent is {scale:g}, it has to be a finite number"


def test_the_part_of_resize() -> None:
    node = helper.make_node(
        "Resize", ["x", "roi", "s"], ["y"], coordinate_transformation_mode="tf_crop_and_resize"
    )
    part = np.array([0, 0, math.nan, 0, 1, 1, 1, 1])
    assert _message(node, s=np.array([1, 1, 2, 1]), roi=part).endswith("it has to be finite")


@pytest.mark.parametrize("limits", [(0, math.inf, 1), (math.nan, 3, 1), (0, 3, math.nan), (-math.inf, 0, 1)])
def test_range(limits: tuple[float, float, float]) -> None:
    node = helper.make_node("Range", ["a", "b", "c"], ["made"])
    text = _message(node, **{name: np.array(value) for name, value in zip("abc", limits, strict=True)})
    assert text.startswith("the count of Range is ")
    assert text.endswith(", it has to be a finite number")


def test_a_power() -> None:
    """Infinity as a whole number was the least int64, and the result x * 0."""
    node = helper.make_node("Pow", ["x", "p"], ["y"])
    assert _message(node, p=np.array([math.inf])) == "a power that is not finite is not supported"


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_no_count_is_made_of_what_is_not_finite(value: float) -> None:
    with pytest.raises(Refused):
        whole_number(math.floor, value, "a count")
    assert whole_number(math.floor, 2.5, "a count") == 2
