"""Nodes that exporters write and the quantiser left in float32: integer steps now, equal to onnxruntime's."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.importers import load
from codegen.ir.evaluate import evaluate
from codegen.tools.quantize.float_cost import FloatCost
from codegen.tools.quantize.quantizer import Quantized, quantize
from tests.importers.onnx.models import model, node
from tests.tools.quantize.onnxruntime_rows import outputs_of_rows
from tests.tools.quantize.test_quantize import run


def _classifier(*inner: Any, opset: int = 13, **constants: np.ndarray) -> Any:
    """A convolution, `inner` from `c` to `f` [1, 4], and classes."""
    rng = np.random.default_rng(3)
    held = {
        "w": rng.standard_normal((4, 2, 3, 3)).astype(np.float32),
        "m": rng.standard_normal((4, 3)).astype(np.float32),
    }
    nodes = (node("Conv", "x w", "c", pads=[1, 1, 1, 1]), *inner, node("MatMul", "f m", "y"))
    return model(*nodes, constants=held | constants, opset=opset)


def _quantized(made: Any, folder: Path) -> Quantized:
    (folder / "m.onnx").write_bytes(made.SerializeToString())
    samples = np.random.default_rng(5).standard_normal((40, 2, 4, 4)).astype(np.float32)
    np.savez(folder / "c.npz", x=samples)
    return quantize(folder / "m.onnx", folder / "c.npz", folder / "q.onnx")


_MEAN = node("ReduceMean", "a", "f", axes=[-1, -2], keepdims=0)
_SPATIAL = {
    "adaptive pool": _classifier(node("Relu", "c", "a"), _MEAN),
    "mean, then flatten": _classifier(
        node("Relu", "c", "a"), node("ReduceMean", "a", "p", axes=[2, 3]), node("Flatten", "p", "f")
    ),
    "axes as a value": _classifier(
        node("Relu", "c", "a"),
        node("ReduceMean", "a axes", "f", keepdims=0),
        opset=18,
        axes=np.array([3, 2], np.int64),
    ),
    "HardSwish": _classifier(node("HardSwish", "c", "a"), _MEAN, opset=14),
    "SiLU": _classifier(node("Sigmoid", "c", "s"), node("Mul", "c s", "a"), _MEAN),
    "Gelu": _classifier(
        node("Gelu", "c", "a"),
        node("ReduceMean", "a axes", "f", keepdims=0),
        opset=20,
        axes=np.array([2, 3], np.int64),
    ),
    "Tanh": _classifier(node("Tanh", "c", "a"), _MEAN),
}


@pytest.mark.parametrize("name", _SPATIAL)
@pytest.mark.sampled(3)
def test_no_layer_stays_in_float(name: str, tmp_path: Path) -> None:
    """A classifier of PyTorch took 2,368 bytes, as its mean stayed in float32: 1,192 with an average pool."""
    found = _quantized(_SPATIAL[name], tmp_path)
    assert found.in_float == () and found.float_cost == FloatCost()
    module = load(tmp_path / "q.onnx")
    rows = np.random.default_rng(6).standard_normal((8, 1, 2, 4, 4)).astype(np.float32)
    expected = outputs_of_rows(tmp_path / "q.onnx", rows)
    got = [evaluate(module, module.main, [row]) for row in rows]
    for ours, theirs in zip(got, expected, strict=True):
        step = module.main.body[-1].call.types[0]
        assert step is not None and step.quantization is not None
        assert np.abs(ours[0] - theirs).max() <= 1.01 * step.quantization.scales[0]


def test_what_stays_in_float_is_told_with_its_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = _classifier(node("Relu", "c", "a"), node("ReduceMax", "a", "f", axes=[2, 3], keepdims=0))
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    samples = np.random.default_rng(5).standard_normal((20, 2, 4, 4)).astype(np.float32)
    np.savez(tmp_path / "c.npz", x=samples)
    np.savez(tmp_path / "e.npz", x=samples * np.float32(9))
    code, out, _ = run(
        capsys, tmp_path / "m.onnx", "--calibration", tmp_path / "c.npz", "--evaluate", tmp_path / "e.npz"
    )
    assert code == 0
    assert "note      fewer than 32 samples" in out
    assert "of the evaluated samples have numbers in x that calibration has not seen" in out
    assert re.search(r'in float  op \d+ ReduceMax "f": ', out)
    assert "inside the network, the largest of 256 bytes: four times those of int8" in out
