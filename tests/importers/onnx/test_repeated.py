"""Loop and Scan: the reference is a loop of NumPy's over the same numbers, as the schema says."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from codegen.errors import CodegenError
from codegen.importers.onnx import import_onnx
from codegen.importers.onnx.composed.repeated import MAX_TURNS
from codegen.ir.evaluate import evaluate
from tests.importers.onnx import official

FLOAT = TensorProto.FLOAT


def _value(name: str, shape: Sequence[int] | None = None, kind: int = FLOAT) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def _model(
    nodes: list[Any], inputs: list[Any], outputs: list[Any], constants: dict[str, Any], opset: int = 17
) -> Any:
    values = [numpy_helper.from_array(np.asarray(data), name) for name, data in constants.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, values)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def _loop(turns: int, *, stops_at: int | None = None, condition: Any = None) -> Any:
    """s = s * w + i for each turn i; every s is an output too. At will it stops behind a turn."""
    nodes = [
        helper.make_node("Cast", ["i"], ["number"], to=FLOAT),
        helper.make_node("Mul", ["s", "w"], ["product"]),
        helper.make_node("Add", ["product", "number"], ["next"]),
        helper.make_node("Identity", ["next"], ["seen"]),
    ]
    if stops_at is not None:
        nodes.append(helper.make_node("Less", ["i", "last"], ["goes"]))
    else:
        nodes.append(condition or helper.make_node("Identity", ["c"], ["goes"]))
    body = helper.make_graph(
        nodes,
        "body",
        [_value("i", (), TensorProto.INT64), _value("c", (), TensorProto.BOOL), _value("s", (2,))],
        [_value("goes", (), TensorProto.BOOL), _value("next", (2,)), _value("seen", (2,))],
    )
    loop = helper.make_node("Loop", ["M", "", "x"], ["final", "all"], body=body)
    constants = {"M": np.array(turns, np.int64), "w": np.array([0.5, -2.0], np.float32)}
    constants |= {"last": np.array(stops_at or 0, np.int64)}
    return _model([loop], [_value("x", (2,))], [_value("final"), _value("all")], constants)


@pytest.mark.parametrize(("turns", "stops_at", "ran"), [(1, None, 1), (5, None, 5), (9, 3, 4)])
def test_a_loop_runs_as_often_as_it_says(turns: int, stops_at: int | None, ran: int) -> None:
    """Turn `stops_at` is the last one, because its condition does not hold any more."""
    model = _loop(turns, stops_at=stops_at)
    module = import_onnx(model.SerializeToString(), "loop.onnx")
    x = np.array([3.0, -1.0], np.float32)
    state, seen = x, list[np.ndarray]()
    for turn in range(ran):
        state = state * np.array([0.5, -2.0], np.float32) + np.float32(turn)
        seen.append(state)
    final, every = evaluate(module, module.main, [x])
    np.testing.assert_array_equal(final, state)
    np.testing.assert_array_equal(every, np.stack(seen))
    assert sum(constant.data.tolist() == [0.5, -2.0] for constant in module.constants.values()) == 1


def _scan(**more: Any) -> Any:
    """A running product, and the difference of two slices, through axes and directions."""
    body = helper.make_graph(
        [
            helper.make_node("Mul", ["state", "a"], ["new"]),
            helper.make_node("Sub", ["a", "b"], ["difference"]),
            helper.make_node("Identity", ["new"], ["shown"]),
        ],
        "body",
        [_value("state", (3,)), _value("a", (3,)), _value("b", (3,))],
        [_value("new", (3,)), _value("difference", (3,)), _value("shown", (3,))],
    )
    scan = helper.make_node(
        "Scan", ["start", "p", "q"], ["last", "differences", "products"], body=body, num_scan_inputs=2, **more
    )
    shapes = {"start": (3,), "p": (4, 3), "q": (3, 4)}
    inputs = [_value(name, shape) for name, shape in shapes.items()]
    return _model([scan], inputs, [_value(name) for name in ("last", "differences", "products")], {})


def _scanned(inputs: dict[str, np.ndarray], more: dict[str, Any]) -> list[np.ndarray]:
    axes, back = more["scan_input_axes"], more.get("scan_input_directions", [0, 0])
    first, second = (
        np.moveaxis(inputs[name], axis, 0)[:: -1 if turned else 1]
        for name, axis, turned in zip("pq", axes, back, strict=True)
    )
    products = inputs["start"] * np.cumprod(first, axis=0, dtype=np.float32)
    outputs = [first - second, products]
    places, turned = more.get("scan_output_axes", [0, 0]), more.get("scan_output_directions", [0, 0])
    shown = [
        np.moveaxis(each[:: -1 if is_turned else 1], 0, place)
        for each, place, is_turned in zip(outputs, places, turned, strict=True)
    ]
    return [products[-1], *shown]


@pytest.mark.parametrize(
    "more",
    [
        {"scan_input_axes": [0, 1]},
        {"scan_input_axes": [0, -1], "scan_input_directions": [1, 0]},
        {"scan_input_axes": [0, 1], "scan_output_axes": [1, 0], "scan_output_directions": [0, 1]},
    ],
)
def test_a_scan_goes_along_its_axes_and_directions(more: dict[str, Any], tmp_path: Path) -> None:
    model = _scan(**more)
    rng = np.random.default_rng(5)
    inputs = {
        name: rng.uniform(-1, 1, shape).astype(np.float32)
        for name, shape in {"start": (3,), "p": (4, 3), "q": (3, 4)}.items()
    }
    wanted = _scanned(inputs, more)
    for output, data in zip(model.graph.output, wanted, strict=True):
        output.CopyFrom(_value(output.name, data.shape))
    test = official.NodeTest(
        name="scan",
        operator="Scan",
        model=model,
        inputs=inputs,
        outputs=tuple(wanted),
        relative=1e-6,
        absolute=1e-6,
    )
    outcome = official.outcome(test)
    assert outcome.is_right, outcome.reason
    [found] = official.on_board([outcome], tmp_path)
    assert found.is_right


def _old_scan(lengths: str = "", batch: int = 2, **more: Any) -> Any:
    """Of opset 8: sums of two slices, of each sequence of a batch by itself."""
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "a"], ["t"]), helper.make_node("Sub", ["t", "b"], ["o"])],
        "body",
        [_value("s", (3,)), _value("a", (3,)), _value("b", (3,))],
        [_value("t", (3,)), _value("o", (3,))],
    )
    names = [lengths, "start", "p", "q"]
    scan = helper.make_node("Scan", names, ["last", "all"], body=body, num_scan_inputs=2, **more)
    shapes = {"start": (2, 3), "p": (2, 4, 3), "q": (batch, 4, 3)}
    inputs = [_value(name, shape) for name, shape in shapes.items()]
    constants = {"n": np.array([4, 3])}
    return _model([scan], inputs, [_value("last"), _value("all")], constants, opset=8)


def test_a_scan_of_opset_8_goes_over_a_batch() -> None:
    rng = np.random.default_rng(8)
    start, p, q = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((2, 3), (2, 4, 3), (2, 4, 3)))
    module = import_onnx(_old_scan(directions=[0, 1]).SerializeToString(), "old.onnx")
    last, every = evaluate(module, module.main, [start, p, q])
    sums = np.cumsum(np.concatenate([start[:, None], p], axis=1), axis=1, dtype=np.float32)[:, 1:]
    np.testing.assert_allclose(last, sums[:, -1], rtol=1e-6)
    np.testing.assert_allclose(every, sums - q[:, ::-1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (_loop(MAX_TURNS + 1), "functions, branches and loops have more than 4096 nodes together"),
        (_loop(0), "output 1 is used, which is not supported"),
        (
            _loop(3, condition=helper.make_node("Less", ["zero", "first"], ["goes"])),
            'reads "zero", which has no value',
        ),
        (_scan(scan_input_axes=[0, 0]), "runs over [3, 4] slices: one number is needed, up to 1024"),
        (_old_scan(lengths="n"), "lengths of sequences are not supported"),
        (_old_scan(batch=1), "its inputs have [1, 2] sequences, one number is needed"),
        (_old_scan(directions=[1]), "attribute directions has 1 numbers for 2 values"),
        (
            _scan(scan_input_axes=[0, 1], scan_output_axes=[0]),
            "attribute scan_output_axes has 1 numbers for 2 values",
        ),
        (_scan(scan_input_axes=[0]), "attribute scan_input_axes has 1 numbers for 2 values"),
    ],
)
def test_what_is_refused_says_why(model: Any, text: str) -> None:
    with pytest.raises(CodegenError) as caught:
        import_onnx(model.SerializeToString(), "refused.onnx")
    assert any(text in message.text for message in caught.value.messages)


def test_a_number_of_turns_that_the_model_decides_is_refused() -> None:
    """The condition is a question of the state."""
    smaller = helper.make_node("ReduceMax", ["next"], ["largest"], keepdims=0)
    model = _loop(3, condition=helper.make_node("Less", ["largest", "limit"], ["goes"]))
    body = model.graph.node[0].attribute[0].g
    last = body.node.pop()
    body.node.extend([smaller, last])
    model.graph.initializer.append(numpy_helper.from_array(np.array(9, np.float32), "limit"))
    with pytest.raises(CodegenError, match="the condition is computed while the model runs"):
        import_onnx(onnx.ModelProto.SerializeToString(model), "open.onnx")
