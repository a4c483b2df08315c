"""TopK of integers: values and indices of the `onnx` package's own evaluator."""

from pathlib import Path

import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from codegen.ir.evaluate import evaluate
from tests.importers.onnx.models import complaint, imported, model, node


@pytest.mark.parametrize("output", ["v", "i"])
@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize(("axis", "largest"), [(0, 1), (1, 0), (-1, 1)])
def test_integers_come_in_order(tmp_path: Path, output: str, kind: str, axis: int, largest: int) -> None:
    """Numbers that are alike come in the order in which they are there."""
    number = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    made = model(
        node("Cast", "x", "n", to=number),
        node("TopK", "n k", "v i", axis=axis, largest=largest),
        node("Cast", output, "y", to=1),
        x=(3, 4, 5),
        constants={"k": np.array([3])},
    )
    given = np.random.default_rng(axis + 1).integers(0, 4, (3, 4, 5)).astype(np.float32)
    module = imported(tmp_path, made)
    [found] = evaluate(module, module.main, [given])
    [wanted] = ReferenceEvaluator(made).run(None, {"x": given})
    assert np.array_equal(found, wanted)


def test_many_integers_are_refused_in_words(tmp_path: Path) -> None:
    made = model(
        node("Cast", "x", "n", to=6),
        node("TopK", "n k", "v i"),
        node("Cast", "v", "y", to=1),
        x=(2, 400),
        constants={"k": np.array([3])},
    )
    assert "3 of [2, 400] integers: supported are up to 65536 comparisons" in complaint(tmp_path, made)
