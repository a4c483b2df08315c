"""GRUs of two networks on a Cortex-M4, frame behind frame: as near to onnxruntime as their first frame, and
hardly dearer than the kernels of their matrix products."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import codegen
from codegen.driver.inputs.cases import Case
from codegen.ir.rules import StateRule
from codegen.report_file import Report
from tests.importers.onnx.engine import answers
from tests.importers.onnx.test_recurrent import enhancer

BOARD = "mps2-an386"
UNITS, MOMENTS, INPUTS = 64, 28, 40
FRAMES = 200
SIZE = 0.2
"""Twice the weights that PyTorch begins with. With three times as many, errors grow from frame to frame:
onnxruntime's results of float32 are then 1.1e-5 from those of double precision, and ours too."""
BUILD_SECONDS, CODE_BYTES = 10.0, 20_000
MOST_OF_PRODUCTS = 1.15
"""Instructions of a layer, activations and all, over those of its products as FULLY_CONNECTED steps."""


def _model(nodes: list[Any], x: tuple[int, ...], y: tuple[str, tuple[int, ...]], values: Any) -> bytes:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
        [helper.make_tensor_value_info(y[0], TensorProto.FLOAT, y[1])],
        [numpy_helper.from_array(data, name) for name, data in values.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    return model.SerializeToString()


def _numbers(*shape: int) -> np.ndarray:
    rng = np.random.default_rng(list(shape))
    return (rng.standard_normal(shape) * 0.2).astype(np.float32)


def _two_layers() -> bytes:
    """Two bidirectional GRUs over one window."""
    values = {"ends": np.array([0, 0, -1], np.int64)}
    more: dict[str, Any] = {"hidden_size": UNITS, "direction": "bidirectional", "linear_before_reset": 1}
    nodes: list[Any] = []
    for index, inputs in enumerate((INPUTS, 2 * UNITS)):
        values |= {
            f"W{index}": _numbers(2, 3 * UNITS, inputs),
            f"R{index}": _numbers(2, 3 * UNITS, UNITS),
            f"B{index}": _numbers(2, 6 * UNITS),
        }
        names = ["x" if index == 0 else "joined", *(f"{name}{index}" for name in "WRB")]
        nodes.append(helper.make_node("GRU", names, [f"y{index}"], **more))
        if index == 0:
            nodes.append(helper.make_node("Transpose", ["y0"], ["turned"], perm=[0, 2, 1, 3]))
            nodes.append(helper.make_node("Reshape", ["turned", "ends"], ["joined"]))
    return _model(nodes, (MOMENTS, 1, INPUTS), ("y1", (MOMENTS, 2, 1, UNITS)), values)


def _products(folder: Path, rows: int, count: int, results: int) -> int:
    """Instructions of a matrix product as a step of its own."""
    node = helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)
    values = {"w": _numbers(results, count), "b": _numbers(results)}
    path = folder / f"product_{rows}_{count}_{results}.onnx"
    path.write_bytes(_model([node], (rows, count), ("y", (rows, results)), values))
    report = codegen.run(path, codegen.Options(board=BOARD))
    return sum(step.instructions or 0 for step in report.steps or ())


def _run(folder: Path, name: str, model: bytes, cases: list[Case], options: codegen.Options) -> Report:
    """Build in the stated time and size, run the cases one behind the other."""
    path = folder / f"{name}.onnx"
    path.write_bytes(model)
    started = time.process_time()
    built = codegen.build(path, folder / name, options)
    assert time.process_time() - started < BUILD_SECONDS
    assert built.elf is not None and built.elf.model_code_bytes <= CODE_BYTES
    report = codegen.run(path, options, cases={name: cases}, sequence=bool(options.states))
    assert report.run is not None and report.run.cases == len(cases)
    predicted = [
        (step.instructions, step.instructions_predicted) for step in report.steps or () if step.op == "GRU"
    ]
    assert all(count and price and abs(price / count - 1) < 0.05 for count, price in predicted), predicted
    return report


def _instructions(report: Report) -> int:
    return sum(step.instructions or 0 for step in report.steps or () if step.op == "GRU")


@pytest.mark.qemu
@pytest.mark.thorough
def test_two_hundred_frames_of_fourteen_layers(tmp_path: Path) -> None:
    """States live from call to call; onnxruntime runs all frames at once."""
    layers, bands = 14, 33
    frames = np.random.default_rng(1).standard_normal((FRAMES, 1, bands)).astype(np.float32)
    states = {f"s{index}": np.zeros((1, 1, bands), np.float32) for index in range(layers)}
    [expected] = answers([(enhancer(layers, bands, FRAMES, SIZE), {"x0": frames, **states})])
    cases = [
        Case(
            name=str(at),
            inputs=(frames[at : at + 1], *states.values()),
            expected=(*[None] * layers, expected[-1][at : at + 1]),
        )
        for at in range(FRAMES)
    ]
    rules = tuple(StateRule(who="test", input=f"s{at}", output=f"n{at}") for at in range(layers))
    options = codegen.Options(board=BOARD, states=rules)
    made = enhancer(layers, bands, 1, SIZE).SerializeToString()
    report = _run(tmp_path, "enhancer", made, cases, options)
    products = layers * 2 * _products(tmp_path, 1, bands, 3 * bands)
    assert _instructions(report) <= MOST_OF_PRODUCTS * products


@pytest.mark.qemu
@pytest.mark.thorough
def test_two_hundred_frames_of_two_bidirectional_layers(tmp_path: Path) -> None:
    """Eight windows."""
    model = _two_layers()
    count = -(-FRAMES // MOMENTS)
    windows = np.random.default_rng(2).standard_normal((count, MOMENTS, 1, INPUTS)).astype(np.float32)
    expected = answers([(onnx.load_from_string(model), {"x": window}) for window in windows])
    cases = [
        Case(name=str(at), inputs=(window,), expected=(outputs[0],))
        for at, (window, outputs) in enumerate(zip(windows, expected, strict=True))
    ]
    report = _run(tmp_path, "bidirectional", model, cases, codegen.Options(board=BOARD))
    hidden = MOMENTS * _products(tmp_path, 1, UNITS, 3 * UNITS)
    inputs = sum(_products(tmp_path, MOMENTS, size, 3 * UNITS) for size in (INPUTS, 2 * UNITS))
    assert _instructions(report) <= MOST_OF_PRODUCTS * 2 * (2 * hidden + inputs)
