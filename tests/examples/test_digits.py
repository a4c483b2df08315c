"""The shipped example: its accuracy, its reference engine, and what its README says."""

from functools import cache

import numpy as np
import pytest

from codegen.importers import load
from codegen.ir.evaluate import evaluate as evaluate_function
from tests.checkout import ROOT
from tests.engines import TFLITE_RUNTIME, Request, available, evaluate

FOLDER = ROOT / "examples" / "digits"
MODEL = FOLDER / "digits.tflite"


def held_out() -> tuple[np.ndarray, np.ndarray]:
    with np.load(FOLDER / "digits_test.npz") as arrays:
        return arrays["x"], arrays["labels"]


@cache
def outputs() -> np.ndarray:
    """The NumPy evaluation's output for every held-out image, (200, 10) int8."""
    module = load(MODEL)
    images = held_out()[0]
    return np.concatenate(
        [evaluate_function(module, module.main, [images[k : k + 1]])[0] for k in range(len(images))]
    )


def test_accuracy_is_what_the_readme_says() -> None:
    x, labels = held_out()
    assert (x.dtype, x.shape, labels.shape) == (np.int8, (200, 8, 8, 1), (200,))
    assert np.bincount(labels, minlength=10).min() >= 10
    accuracy = np.count_nonzero(outputs().argmax(1) == labels) / len(labels)
    assert accuracy >= 0.95
    readme = (FOLDER / "README.md").read_text()
    assert f"int8 accuracy  {accuracy:.1%}" in readme
    assert f"model file     {MODEL.stat().st_size} bytes" in readme


@pytest.mark.skipif(TFLITE_RUNTIME not in available(), reason="tflite-runtime is not installed")
def test_the_reference_engine_gives_the_same_bytes() -> None:
    images = tuple((x[np.newaxis],) for x in held_out()[0])
    [answer] = evaluate([Request(engine=TFLITE_RUNTIME, model=MODEL.read_bytes(), inputs=images)])
    assert not answer.error
    np.testing.assert_array_equal(np.concatenate([case[0] for case in answer.outputs]), outputs())


def test_operators_vary_and_the_branch_joins_again() -> None:
    names = [let.call.op.name for let in load(MODEL).main.body]
    assert names == [
        "CONV_2D",
        "DEPTHWISE_CONV_2D",
        "CONV_2D",
        "ADD",
        "AVERAGE_POOL_2D",
        "CONV_2D",
        "RESHAPE",
        "FULLY_CONNECTED",
        "SOFTMAX",
    ]
