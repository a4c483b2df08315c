"""Transformers of int8, quantised from our own float networks: no layer in float32, heads one by one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from codegen.board import load_board
from codegen.driver.build import Share, plan_model
from codegen.driver.options import Options
from codegen.importers import load
from codegen.ir import Module
from codegen.ir.evaluate import evaluate
from codegen.passes.attention_parts import AttentionParts
from codegen.tools.quantize.quantizer import quantize
from tests.importers.onnx.engine import answers
from tests.networks.transformers import cct, kwt

_OUTPUT_STEP = 0.2
"""Of the largest output: a layer's differing half may move later ones by a step."""


def _quantized(make: Callable[..., Any], folder: Path, **sizes: int) -> tuple[Path, np.ndarray]:
    """A quantised file, and an input."""
    model = make(depth=1, **sizes)
    shape = [extent.dim_value for extent in model.graph.input[0].type.tensor_type.shape.dim]
    samples = np.random.default_rng(3).standard_normal((32, *shape[1:])).astype(np.float32)
    (folder / "f.onnx").write_bytes(model.SerializeToString())
    np.savez(folder / "c.npz", x=samples)
    quantize(folder / "f.onnx", folder / "c.npz", folder / "q.onnx")
    return folder / "q.onnx", samples[:1]


def _peak(path: Path) -> int:
    board, options = load_board("mps2-an386"), Options(board="mps2-an386")
    planned = plan_model(path, board, options, share=Share(name="m"), emulated=True)
    return sum(planned.program.memory.peaks.values())


def _floats(module: Module) -> list[str]:
    """Steps that compute float32, but for the network's own edges."""
    return [
        let.call.op.name
        for let in module.main.body
        if let.var.type.dtype.value == "float32" and let.call.op.name != "DEQUANTIZE"
    ]


@pytest.mark.parametrize("make", [kwt, cct])
def test_a_quantised_transformer_has_no_float_layer(make: Callable[..., Any], tmp_path: Path) -> None:
    """Products of two activations, softmax and normalisations stayed in float32, four bytes a score."""
    path, sample = _quantized(make, tmp_path)
    module = load(path)
    assert "left_in_float" not in module.metadata
    assert [name for name in _floats(module) if name not in ("RESHAPE", "TRANSPOSE")] == []
    [result] = evaluate(module, module.main, [sample])
    [[engine]] = answers([(onnx.load(path), {"x": sample})])
    assert np.abs(result - engine).max() <= _OUTPUT_STEP * np.abs(engine).max()


def test_heads_run_one_by_one_in_int8_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight heads of 99 positions: all scores at once are three quarters of the memory."""
    path, _ = _quantized(kwt, tmp_path)
    parts = _peak(path)

    def unchanged(_: AttentionParts, module: Module) -> Module:
        return module

    monkeypatch.setattr(AttentionParts, "run", unchanged)
    assert parts <= 0.3 * _peak(path)
