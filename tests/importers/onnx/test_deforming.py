"""DeformConv: onnxruntime's, on random images, offsets inside and beyond the image."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.ir.evaluate import evaluate
from tests.importers.onnx.engine import answers
from tests.importers.onnx.models import complaint, imported, model, node

CASES: list[tuple[tuple[int, ...], tuple[int, ...], int, dict[str, Any]]] = [
    ((1, 2, 5, 6), (3, 2, 2, 3), 1, {}),
    ((2, 4, 7, 5), (6, 2, 3, 2), 2, {"group": 2, "offset_group": 2, "strides": [2, 1]}),
    ((1, 4, 8, 8), (4, 1, 3, 3), 1, {"group": 4, "dilations": [2, 1], "pads": [1, 1, 2, 0]}),
    ((1, 3, 6, 6), (2, 3, 1, 1), 3, {"offset_group": 3, "strides": [1, 2]}),
]


def _extent(image: int, window: int, axis: int, attributes: dict[str, Any]) -> int:
    pads = attributes.get("pads", [0] * 4)
    reach = (window - 1) * attributes.get("dilations", [1, 1])[axis] + 1
    return (image + pads[axis] + pads[axis + 2] - reach) // attributes.get("strides", [1, 1])[axis] + 1


@pytest.mark.parametrize("has_mask", [False, True])
def test_layers_are_what_onnxruntime_gives(tmp_path: Path, *, has_mask: bool) -> None:
    """Offsets and masks follow from the image, so that they are computed while the model runs."""
    rng = np.random.default_rng(3)
    questions: list[tuple[Any, dict[str, np.ndarray]]] = []
    for image, weights, groups, attributes in CASES:
        results = [_extent(image[2 + axis], weights[2 + axis], axis, attributes) for axis in (0, 1)]
        taps = groups * weights[2] * weights[3]
        sizes = {"o": (image[0], taps * 2, *results), "m": (image[0], taps, *results)}
        constants = {f"{name}0": rng.normal(0, 2, size).astype(np.float32) for name, size in sizes.items()}
        constants |= {"w": rng.standard_normal(weights).astype(np.float32)}
        constants |= {"b": rng.standard_normal(weights[0]).astype(np.float32)}
        made = model(
            node("ReduceMax", "x", "top"),
            node("Mul", "o0 top", "o"),
            node("Mul", "m0 top", "m"),
            node("DeformConv", "x w o b m" if has_mask else "x w o b", "y", **attributes),
            x=image,
            constants=constants,
            opset=19,
        )
        questions.append((made, {"x": rng.standard_normal(image).astype(np.float32)}))
    for (made, inputs), [wanted] in zip(questions, answers(questions), strict=True):
        module = imported(tmp_path, made)
        [found] = evaluate(module, module.main, list(inputs.values()))
        assert found.shape == wanted.shape
        assert np.abs(found - wanted).max() <= 1e-5 * np.abs(wanted).max()


def _refused(folder: Path, offsets: tuple[int, ...], **attributes: Any) -> str:
    constants = {"w": np.ones((1, 2, 2, 2), np.float32), "o": np.zeros(offsets, np.float32)}
    made = model(node("DeformConv", "x w o", "y", **attributes), constants=constants, opset=19)
    return complaint(folder, made)


def test_what_does_not_fit_is_told(tmp_path: Path) -> None:
    assert "offsets of [1, 8, 2, 2], [1, 8, 3, 3] are needed" in _refused(tmp_path, (1, 8, 2, 2))
    assert "2 channels in 3 groups of offsets" in _refused(tmp_path, (1, 8, 3, 3), offset_group=3)
    assert "a window [2, 2] does not fit [4, 4]" in _refused(tmp_path, (1, 8, 3, 3), dilations=[4, 1])
    assert "kernel_shape is not that of the weights" in _refused(tmp_path, (1, 8, 3, 3), kernel_shape=[3, 3])
