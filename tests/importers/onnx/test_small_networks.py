"""Quantised networks of few nodes that another compiler got wrong: 1 - x, and a block with a residual."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from codegen.importers.onnx import import_onnx
from codegen.ir.evaluate import evaluate
from codegen.ir.verify import verify
from tests.importers.onnx.engine import answers
from tests.importers.onnx.models import complaint, model, node


class _Network:
    """Nodes and constants of a network of one float32 input `x`, all layers of int8."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}

    def quantise(self, name: str, scale: float, zero: int) -> str:
        """QuantizeLinear and DequantizeLinear; the name behind them."""
        self.constants |= {f"{name}_s": np.array(scale, np.float32), f"{name}_z": np.array(zero, np.int8)}
        self.nodes += [
            node("QuantizeLinear", f"{name} {name}_s {name}_z", f"{name}_q"),
            node("DequantizeLinear", f"{name}_q {name}_s {name}_z", f"{name}_r"),
        ]
        return f"{name}_r"

    def weights(self, name: str, data: np.ndarray, scales: np.ndarray) -> str:
        """Integers with a scale for each channel of their leading axis."""
        self.constants |= {name: data, f"{name}_s": scales, f"{name}_z": np.zeros(scales.shape, data.dtype)}
        self.nodes.append(node("DequantizeLinear", f"{name} {name}_s {name}_z", f"{name}_r", axis=0))
        return f"{name}_r"

    def model(self, output: str) -> Any:
        graph = helper.make_graph(
            self.nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, self.shape)],
            [numpy_helper.from_array(data, name) for name, data in self.constants.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _one_minus(op: str) -> Any:
    """1 - x, as a Sub, or as exporters write it: the sum of 1 and -x."""
    network = _Network((1, 1, 1, 32))
    network.constants["one"] = np.ones((1, 1, 1, 32), np.float32)
    x, one = network.quantise("x", 1 / 128, 0), network.quantise("one", 1 / 127, 0)
    if op == "Neg":
        network.nodes.append(node("Neg", x, "n"))
        network.nodes.append(node("Add", f"{one} {network.quantise('n', 1 / 128, 0)}", "a"))
    else:
        network.nodes.append(node("Sub", f"{one} {x}", "a"))
    return network.model(network.quantise("a", 2 / 255, -128))


def _residual_block() -> Any:
    """A dilated Conv along time, padded on both sides and cut to be causal, and its input added."""
    rng = np.random.default_rng(17)
    network = _Network((1, 16, 64, 1))
    x = network.quantise("x", 0.052, -3)
    scales = rng.uniform(0.0023, 0.0059, 16).astype(np.float32)
    w = network.weights("w", rng.integers(-127, 128, (16, 16, 3, 1)).astype(np.int8), scales)
    b = network.weights("b", rng.integers(-1400, 1400, 16).astype(np.int32), np.float32(0.052) * scales)
    geometry = {"kernel_shape": [3, 1], "dilations": [4, 1], "pads": [8, 0, 8, 0]}
    network.nodes.append(node("Conv", f"{x} {w} {b}", "c", **geometry))
    network.constants |= {"start": np.array([0]), "stop": np.array([64]), "time": np.array([2])}
    network.nodes.append(node("Slice", f"{network.quantise('c', 0.099, 5)} start stop time", "cut"))
    network.nodes.append(node("Add", f"{network.quantise('cut', 0.099, 5)} {x}", "a"))
    network.nodes.append(node("Relu", "a", "r"))
    return network.model(network.quantise("r", 0.049, -128))


@pytest.mark.parametrize(
    "made", [_one_minus("Sub"), _one_minus("Neg"), _residual_block()], ids=["sub", "neg", "residual"]
)
def test_it_is_what_onnxruntime_gives(made: Any) -> None:
    shape = [axis.dim_value for axis in made.graph.input[0].type.tensor_type.shape.dim]
    x = (np.random.default_rng(3).normal(size=shape) * 2).astype(np.float32)
    module = verify(import_onnx(made.SerializeToString(), "m.onnx"))
    [result], [[expected]] = evaluate(module, module.main, [x]), answers([(made, {"x": x})])
    np.testing.assert_array_equal(result, expected)
    assert len(np.unique(result)) > 10
    assert "left_in_float" not in module.metadata


def test_sequences_of_words_that_do_not_divide_their_pool(tmp_path: Path) -> None:
    """A mutant ended in a traceback: ten numbers are no sequences of three."""
    words = {
        "mode": "TF",
        "min_gram_length": 1,
        "max_gram_length": 3,
        "max_skip_count": 0,
        "ngram_counts": [0, 0, 0],
        "ngram_indexes": [0, 1, 2],
        "pool_int64s": list(range(10)),
    }
    made = model(node("Cast", "x", "a", to=6), node("TfIdfVectorizer", "a", "y", **words), x=(1, 6))
    assert "ngram_counts [0, 0, 0] do not divide a pool of 10 numbers" in complaint(tmp_path, made)
