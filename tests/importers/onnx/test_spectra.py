"""Fourier transforms that are taken apart: NumPy's, which the `onnx` package's reference calls."""

from pathlib import Path

import numpy as np
import pytest

from codegen.ir import Module
from codegen.ir.evaluate import evaluate
from tests.importers.onnx.models import imported, model, node


def _transform(folder: Path, shape: tuple[int, ...], inverse: int = 0) -> Module:
    return imported(folder, model(node("DFT", "x", "y", axis=1, inverse=inverse), x=shape, opset=19))


@pytest.mark.parametrize("length", [7, 8, 9, 10, 12, 15, 21, 22, 30, 64, 100])
@pytest.mark.parametrize("inverse", [0, 1])
def test_a_complex_transform_is_numpys(tmp_path: Path, length: int, inverse: int) -> None:
    rng = np.random.default_rng(length)
    signal = rng.standard_normal((2, length, 3, 2)).astype(np.float32)
    module = _transform(tmp_path, signal.shape, inverse)
    [found] = evaluate(module, module.main, [signal])
    number = signal[..., 0] + 1j * signal[..., 1].astype(np.complex64)
    wanted = np.fft.ifft(number, axis=1) if inverse else np.fft.fft(number, axis=1)
    assert wanted.dtype == np.complex64
    wanted = np.stack([wanted.real, wanted.imag], -1)
    assert np.abs(found - wanted).max() <= 1e-6 * np.abs(wanted).max()


def test_a_long_transform_has_small_constants(tmp_path: Path) -> None:
    """The whole matrices of 64 have 4,096 elements each."""
    module = _transform(tmp_path, (1, 64, 2))
    assert max(each.data.size for each in module.constants.values()) <= 64
