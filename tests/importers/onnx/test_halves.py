"""Networks of float16: weights lie as 16 bits, arithmetic is float32, inputs and outputs are float16."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from codegen.board import load_board
from codegen.driver.build import Planned, Share, plan_model
from codegen.driver.options import Options
from codegen.ir import DType
from codegen.ir.evaluate import evaluate
from tests.importers.onnx.engine import answers
from tests.importers.onnx.models import imported, node
from tests.importers.onnx.one_program import Ran, run_together

_SHAPES = {"w1": (8, 3, 3, 3), "b1": (8,), "w2": (16, 8, 3, 3), "b2": (16,), "w3": (144, 10), "b3": (10,)}


def _network(data: Any, seed: int = 1) -> tuple[Any, np.ndarray]:
    """Two convolutions and a matrix with weights of NumPy's type `data`, and an image."""
    rng = np.random.default_rng(seed)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(data))
    held = {
        name: (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32).astype(data)
        for name, shape in _SHAPES.items()
    }
    nodes = [
        node("Conv", "x w1 b1", "a", pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Relu", "a", "b"),
        node("Conv", "b w2 b2", "c", pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Relu", "c", "d"),
        node("Flatten", "d", "e"),
        node("Gemm", "e w3 b3", "y"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", kind, [1, 3, 12, 12])],
        [helper.make_tensor_value_info("y", kind, [1, 10])],
        [numpy_helper.from_array(array, name) for name, array in held.items()],
    )
    sets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=sets, ir_version=8), rng.standard_normal(
        (1, 3, 12, 12)
    ).astype(data)


def _planned(folder: Path, made: Any) -> Planned:
    path = folder / "m.onnx"
    path.write_bytes(made.SerializeToString())
    share = Share(name="m")
    return plan_model(path, load_board("stm32"), Options(board="stm32"), share=share, emulated=True)


def test_weights_take_half_the_flash_and_no_more_memory(tmp_path: Path) -> None:
    """They were refused: "is float16, supported are float32"."""
    half, full = (_planned(tmp_path, _network(data)[0]) for data in (np.float16, np.float32))
    sizes = [
        sum(constant.data.nbytes for prim in plan.program.steps.prim_funcs for constant in prim.constants)
        for plan in (half, full)
    ]
    biases = sum(4 * shape[0] for name, shape in _SHAPES.items() if name.startswith("b"))
    assert sizes[0] - biases == pytest.approx(0.5 * (sizes[1] - biases), abs=8)
    assert sum(half.program.memory.peaks.values()) <= sum(full.program.memory.peaks.values())
    assert any("float16: 68 bytes of constants more than in the file" in note for note in half.program.notes)


def test_results_are_those_of_float32(tmp_path: Path) -> None:
    """A weight and the result are each rounded by at most 2^-11 of their size; the image is rounded too."""
    for seed in range(5):
        (half, small), (full, image) = _network(np.float16, seed), _network(np.float32, seed)
        module = imported(tmp_path, half)
        [result] = evaluate(module, module.main, [small])
        assert result.dtype == np.float16
        [[right]] = answers([(full, {"x": image})])
        assert np.abs(result.astype(np.float32) - right).max() <= 1e-3 * np.abs(right).max()


def _cast(source: int, target: int, count: int) -> bytes:
    graph = helper.make_graph(
        [node("Cast", "x", "y", to=target)],
        "g",
        [helper.make_tensor_value_info("x", source, [count])],
        [helper.make_tensor_value_info("y", target, [count])],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(made.SerializeToString())


def test_every_half_is_a_float_and_the_nearest_half_comes_back(tmp_path: Path) -> None:
    """All 65,536 halves, and floats between and beside them, as C on this machine converts them."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    exact = halves.astype(np.float32)
    finite = np.sort(exact[np.isfinite(exact)])
    middles = ((finite[:-1].astype(np.float64) + finite[1:]) / 2).astype(np.float32)
    near = [np.nextafter(middles, np.float32(end)) for end in (-np.inf, np.inf)]
    floats = np.concatenate([exact, middles, *near, np.array([65519.9, 65520, 1e9, 1e-9, 3e-8], np.float32)])
    models = [
        _cast(TensorProto.FLOAT16, TensorProto.FLOAT, len(halves)),
        _cast(TensorProto.FLOAT, TensorProto.FLOAT16, len(floats)),
    ]
    with np.errstate(over="ignore"):
        right = [exact, floats.astype(np.float16)]
    for ran, expected in zip(
        run_together(models, [[halves], [floats]], tmp_path / "run"), right, strict=True
    ):
        assert isinstance(ran, Ran)
        np.testing.assert_array_equal(ran.outputs[0], expected)


def test_scales_of_quantised_networks_may_be_halves(tmp_path: Path) -> None:
    held = {"s": np.float16(0.05), "z": np.int8(3), "w": np.eye(4, dtype=np.int8), "t": np.float16(0.01)}
    nodes = [
        node("QuantizeLinear", "x s z", "q"),
        node("DequantizeLinear", "q s z", "a"),
        node("DequantizeLinear", "w t", "b"),
        node("MatMul", "a b", "c"),
        node("QuantizeLinear", "c s z", "d"),
        node("DequantizeLinear", "d s z", "y"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT16, [2, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT16, [2, 4])],
        [numpy_helper.from_array(np.asarray(data), name) for name, data in held.items()],
    )
    module = imported(tmp_path, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)]))
    assert [let.call.op.name for let in module.main.body] == [
        "PLAIN_CONVERT",
        "QUANTIZE",
        "FULLY_CONNECTED",
        "DEQUANTIZE",
        "PLAIN_CONVERT",
    ]
    assert module.main.params[0].type.dtype is DType.FLOAT16
