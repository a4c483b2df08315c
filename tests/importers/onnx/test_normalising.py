"""Nodes that normalise by mean and variance, where the mean is a thousand deviations.

ONNX defines three of them by mean squares minus the squared mean. In float32 that cancels: results were up to
13 % of the largest number off, and the NumPy reference, which reads the same import, agreed.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.ir.evaluate import evaluate
from tests.importers.onnx.models import complaint, imported, model, node

SHAPE = (2, 4, 6, 5)
RNG = np.random.default_rng(8)
X = (100 + 0.1 * RNG.normal(size=SHAPE)).astype(np.float32)
CONSTANTS = {
    f"{name}{count}": RNG.uniform(0.5, 2, count).astype(np.float32) for name in "sb" for count in (2, 4, 5)
}
PARTS = (2, 2, 60)
"""X in two groups of channels."""


def _standardised(data: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    exact = data.astype(np.float64)
    return (exact - exact.mean(axes, keepdims=True)) / np.sqrt(exact.var(axes, keepdims=True) + 1e-5)


def _scaled(data: np.ndarray, count: int, shape: tuple[int, ...]) -> np.ndarray:
    scale, bias = (CONSTANTS[f"{name}{count}"].astype(np.float64).reshape(shape) for name in "sb")
    return data * scale + bias


CASES: dict[str, tuple[Any, int, np.ndarray]] = {
    "layer": (
        node("LayerNormalization", "x s5 b5", "y", axis=-1),
        17,
        _scaled(_standardised(X, (3,)), 5, (5,)),
    ),
    "layer without bias": (
        node("LayerNormalization", "x s5", "y", axis=1),
        17,
        _standardised(X, (1, 2, 3)) * CONSTANTS["s5"],
    ),
    "group by group": (
        node("GroupNormalization", "x s2 b2", "y", num_groups=2),
        18,
        _scaled(_standardised(X.reshape(PARTS), (2,)), 2, (1, 2, 1)).reshape(SHAPE),
    ),
    "group by channel": (
        node("GroupNormalization", "x s4 b4", "y", num_groups=2),
        21,
        _scaled(_standardised(X.reshape(PARTS), (2,)).reshape(SHAPE), 4, (4, 1, 1)),
    ),
    "mean and variance": (
        node("MeanVarianceNormalization", "x", "y"),
        13,
        _standardised(X, (0, 2, 3)) * np.sqrt(1 + 1e-5 / X.astype(np.float64).var((0, 2, 3), keepdims=True)),
    ),
    "instance": (
        node("InstanceNormalization", "x s4 b4", "y"),
        13,
        _scaled(_standardised(X, (2, 3)), 4, (4, 1, 1)),
    ),
}
MOST = 5e-4
"""Largest difference: float32 holds the mean of numbers near 100 to 4e-6, which is 4e-5 deviations."""


@pytest.mark.parametrize("name", CASES)
def test_it_is_right_where_the_mean_is_large(tmp_path: Path, name: str) -> None:
    made, opset, expected = CASES[name]
    module = imported(tmp_path, model(made, x=SHAPE, constants=CONSTANTS, opset=opset))
    [result] = evaluate(module, module.main, [X])
    assert np.abs(result - expected).max() <= MOST


def test_the_mean_and_the_inverse_deviation_are_outputs_too(tmp_path: Path) -> None:
    made = node("LayerNormalization", "x s5 b5", "y mean inverse", axis=2)
    module = imported(tmp_path, model(made, x=SHAPE, constants=CONSTANTS, opset=17, output="y mean inverse"))
    _, mean, inverse = evaluate(module, module.main, [X])
    exact = X.astype(np.float64)
    np.testing.assert_allclose(mean, exact.mean((2, 3), keepdims=True), rtol=1e-6)
    np.testing.assert_allclose(inverse, 1 / np.sqrt(exact.var((2, 3), keepdims=True) + 1e-5), rtol=1e-4)


@pytest.mark.parametrize(
    ("made", "opset", "text"),
    [
        (node("GroupNormalization", "x s2 b2", "y", num_groups=3), 21, "4 channels cannot be 3 groups"),
        (
            node("LayerNormalization", "x s5", "y", stash_type=16),
            17,
            "computes statistics of another type than float32, which is not supported",
        ),
    ],
)
def test_what_it_cannot_is_refused(tmp_path: Path, made: Any, opset: int, text: str) -> None:
    assert text in complaint(tmp_path, model(made, x=SHAPE, constants=CONSTANTS, opset=opset))
