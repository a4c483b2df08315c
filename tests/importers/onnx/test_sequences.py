"""Sequences of tensors whose length and places are known: nothing of them is left in the model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.ir.evaluate import evaluate
from tests.importers.onnx.engine import answers
from tests.importers.onnx.models import complaint, imported, model, node

PLACES = {name: np.array(number) for name, number in {"p0": 0, "p1": 1, "last": -1, "end": 3}.items()}
SIZES = {"two": np.array(2), "some": np.array([1, 3])}
HELP = "\nhelp: export with Split and Concat (their tensors have names), not with lists of tensors"


def _of_nodes(*nodes: Any) -> Any:
    return model(*nodes, x=(4, 3), constants={**PLACES, **SIZES})


@pytest.mark.parametrize(
    "nodes",
    [
        [node("SequenceConstruct", "x a b", "s"), node("SequenceAt", "s last", "y")],
        [
            node("SequenceConstruct", "x a b", "s"),
            node("SequenceErase", "s p1", "t"),
            node("SequenceInsert", "t a end2", "u"),
            node("SequenceInsert", "u a p0", "v"),
            node("ConcatFromSequence", "v", "y", axis=1),
        ],
        [
            node("SequenceEmpty", "", "s"),
            node("SequenceInsert", "s a", "t"),
            node("SequenceInsert", "t b last", "u"),
            node("SequenceErase", "u", "v"),
            node("ConcatFromSequence", "v", "y", axis=-1, new_axis=1),
        ],
        [node("SplitToSequence", "x two", "s"), node("SequenceAt", "s p1", "y")],
        [node("SplitToSequence", "x some", "s"), node("SequenceAt", "s p1", "y")],
        [node("SplitToSequence", "x", "s", axis=-1, keepdims=0), node("SequenceAt", "s last", "y")],
        [
            node("SplitToSequence", "x two", "s", axis=1),
            node("SequenceLength", "s", "n"),
            node("Cast", "n", "c", to=1),
            node("Add", "x c", "y"),
        ],
    ],
)
@pytest.mark.sampled(3)
def test_sequences_are_what_onnxruntime_has(tmp_path: Path, nodes: list[Any]) -> None:
    before = [node("Relu", "x", "a"), node("Neg", "x", "b")]
    made = model(*before, *nodes, x=(4, 3), constants={**PLACES, **SIZES, "end2": np.array(2)})
    given = np.random.default_rng(4).normal(0, 1, (4, 3)).astype(np.float32)
    [[wanted]] = answers([(made, {"x": given})])
    module = imported(tmp_path, made)
    [found] = evaluate(module, module.main, [given])
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        (
            [node("SequenceConstruct", "x", "y")],
            'error[E301] graph output 0 "y": is a sequence of tensors, supported are tensors' + HELP,
        ),
        (
            [node("SequenceConstruct", "x x", "s"), node("Relu", "s", "y")],
            'error[E301] op 1 Relu "y": input 0 is a sequence of tensors, supported are tensors' + HELP,
        ),
        (
            [node("SequenceAt", "x p0", "y")],
            'error[E303] op 0 SequenceAt "y": input 0 is a tensor, it has to be a sequence of tensors',
        ),
        (
            [node("SequenceConstruct", "x x", "s"), node("SequenceAt", "s end", "y")],
            'error[E303] op 1 SequenceAt "y": position [3] is outside a sequence of 2',
        ),
        (
            [
                node("SequenceEmpty", "", "s"),
                node("SequenceErase", "s", "t"),
                node("SequenceLength", "t", "y"),
            ],
            'error[E303] op 1 SequenceErase "t": takes a tensor out of an empty sequence',
        ),
        (
            [node("SequenceEmpty", "", "s"), node("ConcatFromSequence", "s", "y", axis=0)],
            'error[E303] op 1 ConcatFromSequence "y": joins an empty sequence',
        ),
        (
            [node("SplitToSequence", "x some", "s", axis=1), node("SequenceAt", "s p0", "y")],
            'error[E303] op 0 SplitToSequence "s": parts of [1, 3] do not make up 3',
        ),
    ],
)
def test_what_is_no_known_sequence_is_told(tmp_path: Path, nodes: list[Any], text: str) -> None:
    assert complaint(tmp_path, _of_nodes(*nodes)).startswith(text)


def test_long_sequences_are_refused(tmp_path: Path) -> None:
    made = model(node("SplitToSequence", "x", "s"), node("SequenceLength", "s", "y"), x=(5000, 1))
    text = 'error[E305] op 0 SplitToSequence "s": parts of 1 of 5000, up to 1024 parts are imported'
    assert complaint(tmp_path, made).startswith(text)
