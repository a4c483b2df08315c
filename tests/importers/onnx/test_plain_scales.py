"""QLinearConv whose weights need 9 bits: float32 that is exact, against onnxruntime in each bit."""

from pathlib import Path
from typing import Any

import numpy as np

from codegen.ir.evaluate import evaluate
from tests.importers.onnx.engine import answers
from tests.importers.onnx.models import complaint, imported, model, node


def _network(seed: int, channels: int = 3, **attributes: Any) -> Any:
    """Quantise, convolve, dequantise; weights of uint8 whose zero point lies at an end."""
    rng = np.random.default_rng(seed)
    numbers = {
        "xs": np.float32(rng.uniform(0.01, 0.03)),
        "xz": np.array(rng.integers(0, 255), np.uint8),
        "w": rng.integers(0, 255, (4, channels, 3, 2)).astype(np.uint8),
        "ws": rng.uniform(0.001, 0.01, 4 if seed % 2 else 1).astype(np.float32),
        "wz": np.array([255 if seed % 3 else 3], np.uint8),
        "ys": np.float32(rng.uniform(0.05, 0.5)),
        "yz": np.array(rng.integers(0, 255), np.uint8),
        "b": rng.integers(-9999, 9999, 4).astype(np.int32),
    }
    return model(
        node("QuantizeLinear", "x xs xz", "q"),
        node("QLinearConv", "q xs xz w ws wz ys yz b", "r", **attributes),
        node("DequantizeLinear", "r ys yz", "y"),
        x=(1, channels, 6, 5),
        constants={name: np.asarray(each) for name, each in numbers.items()},
    )


def test_sums_of_9_bits_are_what_onnxruntime_gives(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    cases: list[tuple[int, dict[str, Any]]] = [(0, {}), (1, {"pads": [1, 0, 1, 1]}), (2, {"strides": [2, 1]})]
    cases.append((3, {"dilations": [1, 2]}))
    questions = [
        (_network(seed, **attributes), {"x": rng.normal(0, 1, (1, 3, 6, 5)).astype(np.float32)})
        for seed, attributes in cases
    ]
    for (made, inputs), [wanted] in zip(questions, answers(questions), strict=True):
        module = imported(tmp_path, made)
        [found] = evaluate(module, module.main, list(inputs.values()))
        assert np.array_equal(found, wanted)
        assert len(np.unique(wanted)) > 9
        assert "need more than 8 bits (asymmetric weights)" in module.metadata["left_in_float"]


def test_sums_that_float32_does_not_hold_are_refused(tmp_path: Path) -> None:
    made = _network(1, 60)
    assert "sums of 360 products of 8 bits are not exact in float32" in complaint(tmp_path, made)
