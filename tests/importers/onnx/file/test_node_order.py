"""Nodes that stand before those that compute what they read: taken, as onnxruntime and onnx2c take them.

Five of the shared models (onnx2c's own tests) write a Constant behind the node that reads it; they were
refused.
"""

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from codegen.importers.onnx.file.node_order import in_order
from codegen.importers.onnx.file.records import FileNode
from codegen.ir.evaluate import evaluate
from tests.importers.onnx.models import complaint, imported, model, node

NEGATED = (node("Relu", "b", "y"), node("Neg", "a", "b"), node("Add", "x x", "a"))


def _nodes(*words: str) -> list[FileNode]:
    """Nodes as `reads > computes`, letters are names."""
    made: list[FileNode] = []
    for index, (inputs, outputs) in enumerate(word.split(">") for word in words):
        made.append(
            FileNode(
                index=index,
                op="Add",
                domain="",
                inputs=tuple(inputs),
                outputs=tuple(outputs),
                attributes={},
            )
        )
    return made


@pytest.mark.parametrize(
    ("words", "places"),
    [
        (["x>a", "x>b", "ba>c"], [0, 1, 2]),
        (["c>d", "x>a", "b>c", "a>b"], [1, 3, 2, 0]),
        (["b>y", "x>a", "x>b", "x>z"], [1, 2, 0, 3]),
        (["b>a", "a>b", "d>c", "x>d"], [0, 1, 2, 3]),  # a cycle: as it stands
        (["a>a", "d>c", "x>d"], [0, 1, 2]),
    ],
)
def test_the_first_that_can_run_comes_first(words: list[str], places: list[int]) -> None:
    assert [each.index for each in in_order(_nodes(*words))] == places


def test_results_are_those_of_the_right_order(tmp_path: Path) -> None:
    module = imported(tmp_path, model(*NEGATED))
    given = np.linspace(-2, 2, 32, dtype=np.float32).reshape(1, 2, 4, 4)
    assert np.array_equal(evaluate(module, module.main, [given])[0], np.maximum(-2 * given, 0))


def test_a_node_waits_for_what_its_branches_read(tmp_path: Path) -> None:
    """The branch of an If reads "a", which a node behind the If computes; so does a branch out of order."""
    out = [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)]
    branch = helper.make_graph([node("Neg", "q", "r"), node("Add", "a a", "q")], "then", [], out)
    made = model(
        node("If", "c", "y", then_branch=branch, else_branch=branch),
        node("Add", "x x", "a"),
        constants={"c": np.array(True)},
    )
    module = imported(tmp_path, made)
    given = np.ones((1, 2, 4, 4), np.float32)
    assert np.array_equal(evaluate(module, module.main, [given])[0], -4 * given)


def test_messages_name_the_place_in_the_file(tmp_path: Path) -> None:
    made = model(node("Relu", "b", "y"), node("Bad", "a", "b"), node("Add", "x x", "a"))
    assert complaint(tmp_path, made).startswith('error[E301] op 1 Bad "b": node type Bad')


def test_a_cycle_is_told(tmp_path: Path) -> None:
    made = model(node("Relu", "b", "y"), node("Add", "x c", "b"), node("Neg", "b", "c"))
    assert complaint(tmp_path, made) == (
        'error[E303] op 0 Relu "y": reads "b", which has no value: no node before this one computes it\n'
        "help: a node, a graph input or a constant has to give it, without a cycle\n"
        'error[E303] op 1 Add "b": reads "c", which has no value: no node before this one computes it\n'
        "help: a node, a graph input or a constant has to give it, without a cycle"
    )
