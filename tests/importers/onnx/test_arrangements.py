"""A value that is read in several arrangements gives each reader the right one.

Moved copies were kept by variable and memory order alone. A Transpose only renames axes, so the value and its
Transpose share the variable: whoever asked second was given the first reader's copy.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

import codegen
from codegen.ir.evaluate import evaluate
from tests.importers.onnx.arranged.__main__ import IN_C
from tests.importers.onnx.arranged.drawing import Question, evaluated, questions, ran
from tests.importers.onnx.engine import answers
from tests.importers.onnx.models import imported, model, node

NUMBERS = 150
"""Random graphs of the suite; each is there in float32 and quantised."""
MOST_SINGLE_STEPS = 2
"""Elements of layers that the certificate names, of all graphs; today one Softmax gives one."""
IMAGE = (1, 2, 3, 4)
CONSTANTS = {
    "w": np.array([[0.5, -1.25], [0.75, 0.25]], np.float32).reshape(2, 2, 1, 1),
    "rows": np.array([2, 12]),
    "heads": np.array([1, 4, 2, 4]),
    "double": np.array([1, 1, 2, 2], np.float32),
    "row": np.array([1, 1, 1 / 3, 2], np.float32),
}
CONV = node("Conv", "x w", "b")
TURNED = node("Transpose", "b", "t", perm=[0, 1, 3, 2])
TURNED_INPUT = node("Transpose", "x", "a", perm=[0, 2, 1, 3]), node("Transpose", "x", "k", perm=[0, 3, 1, 2])


def _resize(value: str, factors: str) -> Any:
    return helper.make_node("Resize", [value, "", factors], ["z"], mode="linear")


def _case(*nodes: Any, outputs: str, x: tuple[int, ...] = IMAGE) -> Any:
    return model(*nodes, x=x, output=outputs, constants=CONSTANTS, opset=18)


CASES = {
    "outputs": _case(CONV, TURNED, outputs="t b"),
    "flattened and added": _case(
        CONV,
        TURNED,
        node("Flatten", "t", "f"),
        node("Flatten", "b", "g"),
        node("Add", "f g", "y"),
        outputs="y",
    ),
    "attention": _case(
        node("Reshape", "x heads", "q"),
        node("Transpose", "q", "a", perm=[0, 2, 1, 3]),
        node("Transpose", "q", "k", perm=[0, 2, 3, 1]),
        node("MatMul", "a k", "y"),
        outputs="y",
        x=(1, 4, 8),
    ),
    "two transposes of an input": _case(
        *TURNED_INPUT, node("Flatten", "a", "y"), node("Flatten", "k", "z"), outputs="y z", x=(1, 3, 3, 3)
    ),
    "softmax of both": _case(
        CONV,
        TURNED,
        node("Softmax", "t", "u", axis=3),
        node("Softmax", "b", "v", axis=3),
        outputs="u v",
    ),
    "product of both": _case(CONV, TURNED, node("MatMul", "b t", "y"), outputs="y"),
    "reshaped both": _case(
        CONV, TURNED, node("Reshape", "t rows", "y"), node("Reshape", "b rows", "z"), outputs="y z"
    ),
    "reshaped and resized": _case(
        CONV, node("Reshape", "b rows", "y"), _resize("b", "double"), outputs="z y"
    ),
    "flattened and resized": _case(CONV, _resize("b", "row"), node("Flatten", "b", "y"), outputs="y z"),
    "an output and resized": _case(CONV, _resize("b", "double"), outputs="b z"),
    "softmax and resized": _case(node("Softmax", "x", "b", axis=1), _resize("b", "row"), outputs="b z"),
}


@pytest.fixture(scope="module")
def right() -> dict[str, tuple[np.ndarray, list[np.ndarray]]]:
    """Of each case an input, and what onnxruntime computes of it."""
    rng = np.random.default_rng(5)
    shapes = [
        [axis.dim_value for axis in made.graph.input[0].type.tensor_type.shape.dim] for made in CASES.values()
    ]
    inputs = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    computed = answers([(made, {"x": x}) for made, x in zip(CASES.values(), inputs, strict=True)])
    return dict(zip(CASES, zip(inputs, computed, strict=True), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_each_reader_gets_its_arrangement(
    tmp_path: Path, name: str, right: dict[str, tuple[np.ndarray, list[np.ndarray]]]
) -> None:
    made, (x, expected) = CASES[name], right[name]
    module = imported(tmp_path, made)
    results = evaluate(module, module.main, [x])
    for result, values in zip(results, expected, strict=True):
        assert result.shape == values.shape
        np.testing.assert_allclose(result, values, rtol=0, atol=1e-6 * np.abs(values).max())


@pytest.fixture(scope="module")
def drawn() -> list[Question]:
    return questions(range(NUMBERS))


def test_random_graphs_are_what_onnxruntime_gives(tmp_path: Path, drawn: list[Question]) -> None:
    """Names, shapes and values of outputs, by NumPy and in C: floats within 1e-5, integers equal.

    Layers that the certificate names may be one step away; those behind are judged from the engine's numbers.
    """
    evaluations = [evaluated(question) for question in drawn]
    assert [line for evaluation in evaluations for line in evaluation.lines] == []
    assert sum(evaluation.single_steps for evaluation in evaluations) <= MOST_SINGLE_STEPS
    assert list(ran(drawn[::IN_C], tmp_path / "c")) == []


def test_random_graphs_have_values_of_several_readers(drawn: list[Question]) -> None:
    """In half of the graphs a value is moved by one reader and read by another: what went wrong before."""
    moved_and_read = 0
    for question in drawn[::2]:
        nodes = question.model.graph.node
        reads = Counter(name for node in nodes for name in node.input)
        moved = {node.input[0] for node in nodes if node.op_type in ("Transpose", "Reshape", "Flatten")}
        moved_and_read += any(reads[name] > 1 for name in moved)
    assert moved_and_read >= NUMBERS // 2


def test_the_header_names_outputs_as_the_file_does(tmp_path: Path) -> None:
    """An image and its Transpose are one variable: C called both outputs by the name of the image."""
    made = _case(
        CONV,
        node("Transpose", "b", "rows_last", perm=[0, 3, 1, 2]),
        node("Transpose", "rows_last", "channels_last", perm=[0, 3, 1, 2]),
        node("Identity", "b", "again"),
        outputs="channels_last again",
    )
    path = tmp_path / "m.onnx"
    path.write_bytes(made.SerializeToString())
    codegen.build(path, tmp_path / "out", codegen.Options(board="host"))
    header = (tmp_path / "out" / "m.h").read_text()
    [members] = re.findall(r"struct \{([^}]*)\} m_outputs;", header)
    assert re.findall(r"float \*(\w+);", members) == ["channels_last", "again"]
