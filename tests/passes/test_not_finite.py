"""Weights that are NaN or infinite were taken without a word: `run` said equal, of NaN and NaN."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from codegen.board import load_board
from codegen.driver.build import plan_model
from codegen.driver.options import Options


@pytest.mark.parametrize(
    ("weight", "added", "told"),
    [
        (1.0, -np.inf, ()),
        (np.nan, 0.0, ("op 0 MatMul",)),
        (-np.inf, 0.0, ("op 0 MatMul",)),
        (1.0, np.nan, ("op 2 Add",)),
    ],
)
def test_notes_of_numbers_that_are_none(
    weight: float, added: float, told: tuple[str, ...], tmp_path: Path
) -> None:
    w, k = np.ones((4, 3), np.float32), np.ones((1, 3), np.float32)
    w[1, 2], k[0, 1] = weight, added
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["a"]),
            helper.make_node("Tanh", ["a"], ["b"]),
            helper.make_node("Add", ["b", "k"], ["y"]),
        ],
        "g",
        [info("x", TensorProto.FLOAT, [1, 4])],
        [info("y", TensorProto.FLOAT, [1, 3])],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(k, "k")],
    )
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    notes = plan_model(path, load_board("host"), Options(board="host")).program.notes
    assert len(notes) == len(told)
    for note, step in zip(notes, told, strict=True):
        assert note.startswith(step) and ": 1 of the " in note and " numbers of a constant are NaN" in note
