"""uint16 without a scale: official node tests on a board, and a file with arrays from outside."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from codegen.cli.main import main
from codegen.errors import CodegenError
from tests.importers.onnx import official
from tests.importers.onnx.models import imported, node


def _two(operator: str, kind: int) -> Any:
    """A model of one node with two inputs of a type."""
    tensors = [helper.make_tensor_value_info(name, kind, [2, 3]) for name in ("a", "b", "y")]
    graph = helper.make_graph([node(operator, "a b", "y")], "g", tensors[:2], tensors[2:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])


@pytest.mark.qemu
def test_the_official_tests_of_uint16_pass_on_a_board(tmp_path: Path) -> None:
    modules = ("add", "bitcast", "bitshift", "bitwisenot", "div", "greater", "mod", "quantizelinear")
    tests = [each for each in official.collected(*modules) if "uint16" in each.name]
    assert len(tests) >= 8
    found = official.on_board([official.outcome(each) for each in tests], tmp_path, "mps2-an386")
    assert [each.test.name for each in found if not each.is_right] == []


def test_arrays_go_in_and_come_out_as_uint16(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers with the sixteenth bit set: a signed type on the way would show."""
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(_two("Max", TensorProto.UINT16).SerializeToString())
    first = np.array([[0, 1, 32767], [32768, 65535, 40000]], np.uint16)
    second = np.array([[65535, 0, 32768], [32767, 65534, 50000]], np.uint16)
    wanted = np.array([[65535, 1, 32768], [32768, 65535, 50000]], np.uint16)
    np.savez("x.npz", x0=first, x1=second)
    np.savez("y.npz", y0=wanted)
    for words in (["run", "--input", "x.npz", "--expect", "y.npz"], ["build", "-o", "out"]):
        with pytest.raises(SystemExit) as ended:
            main([*words, "m.onnx", "--board", "host"])
        assert ended.value.code == 0
    header = Path("out/m.h").read_text()
    assert "const uint16_t *a;" in header
    assert "uint16_t *y;" in header


def test_a_type_that_is_not_supported_is_told_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(CodegenError) as told:
        imported(tmp_path, _two("Add", TensorProto.BFLOAT16))
    assert str(told.value).split("\n") == [
        "error[E301] m.onnx: is bfloat16, supported are float16, float32, float64, bool and integers of 8 to "
        "64 bits (2 times)",
        '  at graph input 0 "a"; graph input 1 "b"',
        "help: export the model with float32 inputs",
    ]
