"""MaxPool with indices: onnxruntime's, on random images of one to three axes."""

from pathlib import Path
from typing import Any

import numpy as np

from codegen.ir.evaluate import evaluate
from tests.importers.onnx.engine import answers
from tests.importers.onnx.models import complaint, imported, model, node

CASES: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((2, 3, 9), {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}),
    ((2, 2, 6, 7), {"kernel_shape": [2, 3], "strides": [2, 2], "pads": [1, 0, 0, 1]}),
    ((1, 2, 6, 7), {"kernel_shape": [3, 2], "storage_order": 1, "auto_pad": "SAME_UPPER"}),
    ((1, 2, 8, 7), {"kernel_shape": [2, 2], "dilations": [2, 3], "strides": [1, 2]}),
    ((1, 2, 7, 7), {"kernel_shape": [3, 3], "strides": [2, 3], "ceil_mode": 1}),
    ((2, 1, 4, 5, 6), {"kernel_shape": [2, 2, 3], "strides": [2, 1, 2], "pads": [0, 1, 1, 1, 0, 1]}),
]


def test_indices_are_where_the_largest_is(tmp_path: Path) -> None:
    """Of equal ones it is the first."""
    rng = np.random.default_rng(1)
    questions: list[tuple[Any, dict[str, np.ndarray]]] = []
    for shape, attributes in CASES:
        given = rng.integers(-9, 0, shape).astype(np.float32)
        pool = node("MaxPool", "x", "v i", **attributes)
        questions += [(model(pool, node("Cast", name, "y", to=1), x=shape), {"x": given}) for name in "vi"]
    for (made, inputs), [wanted] in zip(questions, answers(questions), strict=True):
        module = imported(tmp_path, made)
        [found] = evaluate(module, module.main, list(inputs.values()))
        assert np.array_equal(found, wanted)


def test_a_window_of_padding_alone_is_refused(tmp_path: Path) -> None:
    made = model(
        node("MaxPool", "x", "v i", kernel_shape=[2, 2], pads=[2, 0, 0, 0]), node("Cast", "i", "y", to=1)
    )
    assert "a window of axis 0 lies in the padding as a whole" in complaint(tmp_path, made)


def test_windows_that_make_too_many_places_are_refused(tmp_path: Path) -> None:
    """Before any list of them is made."""
    large: dict[str, Any] = {"kernel_shape": [2**31 - 1], "pads": [2**31 - 2, 0]}
    pool = node("MaxPool", "x", "v i", **large)
    made = model(pool, node("Cast", "i", "y", to=1), x=(1, 1, 10))
    assert "makes constants of more than 268435456 bytes" in complaint(tmp_path, made)
    for op in ("MaxPool", "AveragePool", "LpPool"):
        text = complaint(tmp_path, model(node(op, "x", "y", **large), x=(1, 1, 10)))
        assert "a window of 2147483647 elements along an axis, up to 1024 are supported" in text
