"""Models whose inputs are all constants: windows, ranges, tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from codegen.cli.main import main
from tests.importers.onnx.models import complaint, node

NUMBERS = (1, 4, 0.5)
WANTED = np.array([1, 2.25, 4, 6.25, 9, 12.25], np.float32)


def _squares() -> Any:
    """The squares of a range: one graph output, no input."""
    graph = helper.make_graph(
        [node("Range", "a b c", "x"), node("Mul", "x x", "y")],
        "g",
        [],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [6])],
        [
            numpy_helper.from_array(np.array(each, np.float32), name)
            for each, name in zip(NUMBERS, "abc", strict=True)
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])


def _ended(*words: str) -> object:
    with pytest.raises(SystemExit) as ended:
        main([*words])
    return ended.value.code


@pytest.mark.qemu
@pytest.mark.parametrize(
    "words",
    [
        ("--board", "host"),
        ("--board", "mps2-an386", "--io", "caller", "--entry", "steps"),
        ("--board", "mps2-an386", "--pools", "caller", "--constants", "external"),
    ],
)
@pytest.mark.sampled(2)
def test_a_model_without_inputs_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(_squares().SerializeToString())
    np.savez("y.npz", y0=WANTED)
    assert _ended("run", "m.onnx", "--expect", "y.npz", *words) == 0


def test_what_its_header_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C has no struct without members; C++ and callers that give NULL see the same function."""
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(_squares().SerializeToString())
    assert _ended("build", "m.onnx", "--board", "host", "-o", "out") == 0
    header = Path("out/m.h").read_text()
    assert (
        "    uint8_t none; /* the model has no inputs, and C no struct without members */\n} m_inputs;"
    ) in header
    assert "live in the pools; these say where.\n * Outputs stay until the next run begins.\n */" in header
    assert "cg_status m_run(const m_inputs *inputs, const m_outputs *outputs);" in header
    assert _ended("export", "out", "--as", "mlf", "-o", "mlf", "--name", "squares") == 0
    assert "in.none = 0;" in next(Path("mlf").rglob("tvmgen_m.h")).read_text()


def test_bands_outside_the_frequencies(tmp_path: Path) -> None:
    numbers = {"a": np.int32(8), "b": np.int32(16), "c": np.int32(8192)}
    numbers |= {"d": np.float32(0), "e": np.float32(9e3)}
    graph = helper.make_graph(
        [node("MelWeightMatrix", "a b c d e", "y")],
        "g",
        [],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [9, 8])],
        [numpy_helper.from_array(np.asarray(data), name) for name, data in numbers.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    assert complaint(tmp_path, made) == (
        'error[E303] op 0 MelWeightMatrix "y": bands from 0 to 9000 Hz lie outside 0 to half of 8192 Hz'
    )
