"""`codegen quantize`: what it writes is imported and equals onnxruntime's outputs; what cannot be is told."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from codegen.importers import load
from codegen.ir.evaluate import evaluate
from codegen.tools.quantize.quantizer import quantize
from tests.public.testdata import model_path
from tests.tools.quantize.onnxruntime_rows import outputs_of_rows

SHARED = (
    "mnist",
    "mnist_pytorch",
    "atmega_mnist_mnist.simplified",
    "tfl_helloworld",
    "velardo_lesson9",
    "conv_k2_maxpool_k2",
)


@pytest.mark.parametrize("name", SHARED)
def test_real_networks_equal_onnxruntime(tmp_path: Path, name: str) -> None:
    """Every element of the output of float networks that are quantised here, in every bit: the integers
    are those of onnxruntime, which dequantises them as we do."""
    path = model_path(f"onnx2c/{name}")
    real = onnx.load_model(str(path))
    constants = {each.name for each in real.graph.initializer}
    [called] = [each for each in real.graph.input if each.name not in constants]
    shape = [each.dim_value or 1 for each in called.type.tensor_type.shape.dim]
    rows = np.random.default_rng(1).random((48, *shape)).astype(np.float32)
    np.savez(tmp_path / "c.npz", **{called.name: rows[:16]})  # pyright: ignore[reportArgumentType]
    made = quantize(path, tmp_path / "c.npz", tmp_path / "q.onnx")
    assert made.quantised_bytes == (tmp_path / "q.onnx").stat().st_size and made.samples == 16
    expected = outputs_of_rows(tmp_path / "q.onnx", rows)
    module = load(tmp_path / "q.onnx")
    got = np.stack([evaluate(module, module.main, [row])[0] for row in rows])
    assert got.dtype == expected.dtype and got.shape == expected.shape
    assert len(np.unique(expected)) > 3
    assert np.count_nonzero(got != expected) == 0
