"""Attention head by head, against the same numbers of all heads at once."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from codegen.board import load_board
from codegen.driver.build import Share, plan_model
from codegen.driver.options import Options
from codegen.ir import Module, TensorType, Var
from codegen.ir.builder import Builder
from codegen.ir.evaluate import evaluate
from codegen.ir.ops import (
    OPS,
    BatchMatMulAttrs,
    FullyConnectedAttrs,
    ReshapeAttrs,
    SoftmaxAttrs,
    TransposeAttrs,
)
from codegen.ir.verify import verify
from codegen.passes.attention_parts import AttentionParts
from tests.importers.onnx.models import imported
from tests.tensor_types import per_channel, per_tensor, tensor_type


def _network(tokens: int, heads: int, size: int, *, has_mask: bool = False) -> Any:
    """One Attention node of onnxruntime."""
    rng, width = np.random.default_rng(3), heads * size
    held = {
        "w": rng.standard_normal((width, 3 * width)) / width**0.5,
        "b": rng.standard_normal(3 * width),
        "mask": rng.standard_normal((1, heads, tokens, tokens)),
    }
    names = ["x", "w", "b", "", "", *(["mask"] if has_mask else [])]
    graph = helper.make_graph(
        [helper.make_node("Attention", names, ["y"], domain="com.microsoft", num_heads=heads)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, tokens, width])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, tokens, width])],
        [numpy_helper.from_array(data.astype(np.float32), name) for name, data in held.items()],
    )
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=8)


def _split(module: Module) -> Module:
    return verify(AttentionParts().run(module))


def _largest_product(module: Module) -> int:
    products = [let.var.type for let in module.main.body if let.call.op.name == "BATCH_MATMUL"]
    return max(type_.elements for type_ in products)


@pytest.mark.parametrize("has_mask", [False, True])
def test_heads_run_one_by_one(has_mask: bool, tmp_path: Path) -> None:
    """All scores of eight heads lay in memory at once."""
    module = imported(tmp_path, _network(20, 8, 4, has_mask=has_mask))
    split = _split(module)
    assert _largest_product(module) == 8 * 20 * 20
    assert _largest_product(split) == 20 * 20
    image = np.random.default_rng(4).standard_normal((1, 20, 32)).astype(np.float32)
    [whole], [parts] = (evaluate(each, each.main, [image]) for each in (module, split))
    np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-6 * np.abs(whole).max())


def test_queries_of_one_head_run_some_at_a_time(tmp_path: Path) -> None:
    module = imported(tmp_path, _network(64, 1, 4))
    split = _split(module)
    assert _largest_product(split) < 64 * 64 / 4
    assert "queries at a time: its scores, 16,384 bytes, are never whole" in split.metadata["notes"]
    image = np.random.default_rng(4).standard_normal((1, 64, 4)).astype(np.float32)
    [whole], [parts] = (evaluate(each, each.main, [image]) for each in (module, split))
    np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-6 * np.abs(whole).max())


def test_scores_that_are_not_the_largest_step_stay(tmp_path: Path) -> None:
    module = imported(tmp_path, _network(4, 2, 16))
    assert _split(module).main is module.main


def test_a_plan_takes_a_third_of_what_all_heads_take_at_least(tmp_path: Path) -> None:
    """Scores of all heads, and queries and keys that they are computed from, are there at once."""
    tokens, heads, size = 99, 8, 8
    path = tmp_path / "m.onnx"
    path.write_bytes(_network(tokens, heads, size).SerializeToString())
    board, share = load_board("mps2-an386"), Share(name="m")
    planned = plan_model(path, board, Options(board="mps2-an386"), share=share, emulated=True)
    whole = 4 * heads * tokens * (tokens + 2 * size)
    assert sum(planned.program.memory.peaks.values()) <= 0.3 * whole


def _integers(tokens: int, heads: int, size: int) -> Module:
    """Attention of int8 with scales a channel: products, softmax, products."""
    rng, make, width = np.random.default_rng(5), Builder(), heads * size

    def kind(shape: tuple[int, ...], scale: float = 0.05, zero: int = 0) -> TensorType:
        meaning = per_tensor(scale, zero)
        return tensor_type(shape, quantization=meaning)

    def projected(image: Var) -> Var:
        scales = tuple(float(np.float32(scale)) for scale in rng.uniform(0.01, 0.02, width))
        by_channel = per_channel(scales)
        weights = make.constant(rng.integers(-127, 128, (width, width), np.int8), quantization=by_channel)
        bias_scales = tuple(float(np.float32(np.float32(0.05) * np.float32(s))) for s in scales)
        bias = make.constant(
            rng.integers(-99, 99, width, np.int32),
            quantization=per_channel(bias_scales),
        )
        attrs = FullyConnectedAttrs(keep_num_dims=True)
        value = make.call(
            OPS["FULLY_CONNECTED"], (image, weights, bias), attrs, kind((1, tokens, width), 0.2)
        )
        shape = (1, tokens, heads, size)
        return make.call(OPS["RESHAPE"], (value,), ReshapeAttrs(shape=shape), kind(shape, 0.2))

    image = make.param("x", kind((1, tokens, width)))
    sides = [projected(image) for _ in range(3)]
    by_heads = (1, heads, tokens, size)
    query, key, value = (
        make.call(OPS["TRANSPOSE"], (side,), TransposeAttrs(permutation=(0, 2, 1, 3)), kind(by_heads, 0.2))
        for side in sides
    )
    square = (1, heads, tokens, tokens)
    scores = make.call(OPS["BATCH_MATMUL"], (query, key), BatchMatMulAttrs(adj_y=True), kind(square, 0.4))
    shares = make.call(OPS["SOFTMAX"], (scores,), SoftmaxAttrs(beta=1.0), kind(square, 1 / 256, -128))
    read = make.call(OPS["BATCH_MATMUL"], (shares, value), BatchMatMulAttrs(), kind(by_heads, 0.1))
    return make.build([read])


def test_integers_are_the_same_in_every_bit() -> None:
    module = _integers(24, 3, 4)
    split = _split(module)
    assert _largest_product(split) <= 24 * 24
    image = np.random.default_rng(6).integers(-128, 128, (1, 24, 12)).astype(np.int8)
    [whole], [parts] = (evaluate(each, each.main, [image]) for each in (module, split))
    np.testing.assert_array_equal(parts, whole)
