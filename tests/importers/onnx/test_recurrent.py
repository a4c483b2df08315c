"""LSTM, GRU and RNN of ONNX: random layers against onnxruntime, in NumPy and as C; and what is refused."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import codegen
from codegen.errors import CodegenError
from codegen.importers.onnx import import_onnx
from codegen.importers.onnx.composed.recurrent import MAX_MOMENTS
from codegen.ir.evaluate import evaluate
from tests.importers.onnx import official
from tests.importers.onnx.drawn import Network
from tests.importers.onnx.engine import answers
from tests.importers.onnx.recurrences import COUNT, RECORD, drawn, exported

HERE = 6
"""Layers in the suite; all of them: --long."""


def _test(name: str, net: Network) -> official.NodeTest:
    """A network with onnxruntime's outputs."""
    model = onnx.load_from_string(net.qdq)
    shapes = [
        tuple(dim.dim_value for dim in output.type.tensor_type.shape.dim) for output in model.graph.output
    ]
    with np.load(RECORD) as record:
        flat = record[name]
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    parts = np.split(flat, ends[:-1])
    return official.NodeTest(
        name=f"{net.kind} {name}",
        operator=net.kind,
        model=model,
        inputs=net.inputs[0],
        outputs=tuple(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)),
        relative=0.0,
        absolute=math.inf,
    )


def _count(request: pytest.FixtureRequest) -> int:
    return COUNT if request.config.getoption("--long") else HERE


def test_layers_are_what_onnxruntime_gives(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Of every kind and direction, with and without biases, states, lengths, other activations, a bound."""
    _all_right([_test(str(seed), drawn(seed)) for seed in range(_count(request))], tmp_path)


def test_networks_as_pytorch_exports_them_are_what_onnxruntime_gives(tmp_path: Path) -> None:
    """Two layers of LSTM whose states the application keeps; a GRU in both directions."""
    _all_right([_test(f"exported {op}", exported(op)) for op in ("LSTM", "GRU")], tmp_path)


def _all_right(tests: list[official.NodeTest], folder: Path) -> None:
    outcomes = [official.outcome(test) for test in tests]
    assert [f"{each.test.name}: {each.reason}" for each in outcomes if not each.is_right] == []
    found = list(official.on_board(outcomes, folder))
    assert [each.test.name for each in found if not each.is_right] == []


@pytest.mark.qemu
def test_on_a_board_they_are_the_same(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    outcomes = [official.outcome(_test(str(seed), drawn(seed))) for seed in range(_count(request) // 3)]
    found = list(official.on_board(outcomes, tmp_path, "mps2-an386"))
    assert [each.test.name for each in found if not each.is_right] == []


def _lstm(moments: int, **more: Any) -> bytes:
    """An LSTM of one unit on two inputs, only its last state read."""
    numbers = np.linspace(-1, 1, 24, dtype=np.float32)
    values = {
        "W": numbers[:8].reshape(1, 4, 2),
        "R": numbers[8:12].reshape(1, 4, 1),
        **more.pop("values", {}),
    }
    op, names = more.pop("op", "LSTM"), more.pop("names", ["X", "W", "R"])
    node = helper.make_node(op, names, ["", "Y_h"], hidden_size=1, **more)
    model = helper.make_model(
        helper.make_graph(
            [node],
            "g",
            [helper.make_tensor_value_info("X", onnx.TensorProto.FLOAT, (moments, 1, 2))],
            [helper.make_tensor_value_info("Y_h", onnx.TensorProto.FLOAT, (1, 1, 1))],
            [onnx.numpy_helper.from_array(np.asarray(data), name) for name, data in values.items()],
        ),
        opset_imports=[helper.make_opsetid("", 14)],
    )
    return model.SerializeToString()


def test_a_usual_lstm_is_one_step_however_long_it_is() -> None:
    """As exporters write it; unrolled, 1,000 moments would be 16,000 steps."""
    module = import_onnx(_lstm(1000), "long.onnx")
    names = [let.call.op.name for let in module.main.body]
    assert names == ["UNIDIRECTIONAL_SEQUENCE_LSTM", "STRIDED_SLICE", "RESHAPE", "RESHAPE"]


def test_weights_of_unrolled_layers_are_there_once() -> None:
    module = import_onnx(_lstm(9, clip=2.0), "clipped.onnx")
    assert sum(constant.data.size == 8 for constant in module.constants.values()) == 1
    assert len(module.main.body) > 9 * 8
    [found] = evaluate(module, module.main, [np.ones((9, 1, 2), np.float32)])
    assert found.shape == (1, 1, 1)


@pytest.mark.parametrize(
    ("moments", "more", "text"),
    [
        (
            MAX_MOMENTS + 1,
            {"clip": 1.0},
            f"is unrolled, and its sequence has {MAX_MOMENTS + 1} moments: up to {MAX_MOMENTS} are supported",
        ),
        (
            3,
            {"activations": ["Sigmoid", "Tanh", "Swish"]},
            "activation Swish is not supported, supported ",
        ),
        (3, {"activations": ["Sigmoid"]}, "has 1 activations for 1 directions"),
        (3, {"activations": 7}, "attribute activations has to be a list of words"),
        (3, {"direction": "sideways"}, "direction sideways of a sequence of shape [3, 1, 2]"),
        (3, {"values": {"R": np.ones((1, 4, 2), np.float32)}}, "weights, biases or hidden_size do not fit"),
        (3, {"values": {"R": np.ones((2, 4, 1), np.float32)}}, "recurrent weights of shape [2, 4, 1] for 1"),
        (
            3,
            {"names": ["X", "W", "R", "", "L"], "values": {"L": np.array([4], np.int32)}},
            "lengths of sequences [4] do not fit [3, 1, 2]",
        ),
        (
            MAX_MOMENTS,
            {"clip": 1.0},
            "is unrolled, and unrolled layers have more than 4096 steps together",
        ),
        (
            3,
            {"names": ["X", "W", "R", "", "", "H"], "values": {"H": np.zeros((1, 2, 1), np.float32)}},
            "an initial state has shape [1, 2, 1], needs [1, 1] a direction",
        ),
    ],
)
def test_what_is_refused_says_why(moments: int, more: dict[str, Any], text: str) -> None:
    with pytest.raises(CodegenError) as caught:
        import_onnx(_lstm(moments, **more), "refused.onnx")
    assert any(text in message.text for message in caught.value.messages)


def enhancer(layers: int, bands: int, moments: int, size: float = 0.3) -> onnx.ModelProto:
    """GRUs one behind the other over frames of `bands` numbers, their states inputs and outputs, as speech
    enhancers have them; weights of the standard deviation `size`."""
    rng = np.random.default_rng(5)
    nodes, values = list[Any](), dict[str, np.ndarray]()
    edges = [helper.make_tensor_value_info("x0", onnx.TensorProto.FLOAT, (moments, 1, bands))]
    states = [
        helper.make_tensor_value_info(f"s{index}", onnx.TensorProto.FLOAT, (1, 1, bands))
        for index in range(layers)
    ]
    outputs = [
        helper.make_tensor_value_info(f"n{index}", onnx.TensorProto.FLOAT, (1, 1, bands))
        for index in range(layers)
    ]
    axes = onnx.numpy_helper.from_array(np.array([1]), "axes")
    for index in range(layers):
        for name, shape in (
            ("W", (1, 3 * bands, bands)),
            ("R", (1, 3 * bands, bands)),
            ("B", (1, 6 * bands)),
        ):
            values[f"{name}{index}"] = (rng.standard_normal(shape) * size).astype(np.float32)
        names = [f"x{index}", *(f"{name}{index}" for name in "WRB"), "", f"s{index}"]
        made = [f"y{index}", f"n{index}"]
        nodes.append(helper.make_node("GRU", names, made, hidden_size=bands, linear_before_reset=1))
        nodes.append(helper.make_node("Squeeze", [f"y{index}", "axes"], [f"x{index + 1}"]))
    outputs.append(helper.make_tensor_value_info(f"x{layers}", onnx.TensorProto.FLOAT, (moments, 1, bands)))
    held = [axes, *(onnx.numpy_helper.from_array(data, name) for name, data in values.items())]
    graph = helper.make_graph(nodes, "g", [*edges, *states], outputs, held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


def test_fourteen_layers_are_fourteen_calls(tmp_path: Path) -> None:
    """Unrolled, a frame of them was some 300 steps; frame behind frame they stay as near to onnxruntime."""
    made = enhancer(14, 33, 1)
    path = tmp_path / "enhancer.onnx"
    path.write_bytes(made.SerializeToString())
    module = import_onnx(path.read_bytes(), "enhancer.onnx")
    assert sum(let.call.op.name == "GRU" for let in module.main.body) == 14
    rng = np.random.default_rng(1)
    inputs = {param.origin: np.zeros(param.type.shape, np.float32) for param in module.main.params}
    inputs["x0"] = rng.standard_normal((1, 1, 33)).astype(np.float32)
    for _ in range(3):
        [expected] = answers([(made, inputs)])
        found = evaluate(module, module.main, [inputs[param.origin] for param in module.main.params])
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-5)
        inputs |= {f"s{index}": state for index, state in enumerate(expected[:-1])}
    report = codegen.build(path, tmp_path / "out", codegen.Options(board="mps2-an386"))
    assert report.elf is not None and report.elf.model_code_bytes <= 20_000
