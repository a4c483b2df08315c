"""`--fix`: a graph input of an ONNX file becomes a constant, which decides what it decides."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import codegen
from codegen.driver.inputs.fixes import parsed_fixes
from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.importers import load
from codegen.ir.evaluate import evaluate


def _branches(path: Path) -> Path:
    """If `sr` is 16000, x + x, else x * x; as a voice-activity network chooses its branch by the rate."""

    def body(op: str, name: str) -> onnx.GraphProto:
        result = helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4])
        return helper.make_graph([helper.make_node(op, ["x", "x"], [name])], name, [], [result])

    nodes = [
        helper.make_node("Constant", [], ["rate"], value_int=16000),
        helper.make_node("Equal", ["sr", "rate"], ["is_wide"]),
        helper.make_node(
            "If", ["is_wide"], ["y"], then_branch=body("Add", "a"), else_branch=body("Mul", "m")
        ),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4]),
            helper.make_tensor_value_info("sr", TensorProto.INT64, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(made.SerializeToString())
    return path


@pytest.mark.parametrize(("rate", "expected"), [(16000, [2.0, 4.0, 6.0, 8.0]), (8000, [1.0, 4.0, 9.0, 16.0])])
def test_a_fixed_input_decides_a_branch(rate: int, expected: list[float], tmp_path: Path) -> None:
    """The condition was "computed while the model runs", and nobody could say that it is not."""
    path = _branches(tmp_path / "vad.onnx")
    with pytest.raises(CodegenError, match="computed while the model runs"):
        load(path)
    fixes = parsed_fixes([f"sr={rate}"])
    module = load(path, fixes=fixes)
    assert [param.name for param in module.main.params] == ["x"]
    [found] = evaluate(module, module.main, [np.array([[1, 2, 3, 4]], np.float32)])
    np.testing.assert_array_equal(found, np.array([expected], np.float32))


def test_engines_get_the_fixed_network(tmp_path: Path) -> None:
    options = Options(board="host", fixes=parsed_fixes(["sr=16000"]))
    report = codegen.run(_branches(tmp_path / "vad.onnx"), options)
    assert report.run is not None and report.run.reference is not None
    assert str(report.run.reference["engine"]).startswith("onnxruntime")
    assert "--fix sr=16000" in options.spelled


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("rate=1", r"--fix rate=1: the model has no such input(.|\n)*its inputs: x, sr"),
        ("sr=1.5", "--fix sr=1.5: the input is int64, which has no such number"),
        ("x=1,2", r"--fix x=1,2: the input is float32\[1, 4\], these are 2 numbers"),
    ],
)
def test_what_does_not_fit_is_said(word: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match=f"E276(.|\n)*{text}"):
        load(_branches(tmp_path / "vad.onnx"), fixes=parsed_fixes([word]))


@pytest.mark.parametrize("word", ["sr", "sr=", "=1", "sr=fast"])
def test_words_without_numbers_are_refused(word: str) -> None:
    with pytest.raises(CodegenError, match=r"E276(.|\n)*gives no number to an input"):
        parsed_fixes([word])
