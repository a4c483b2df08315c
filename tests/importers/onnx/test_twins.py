"""A `.tflite` and an `.onnx` of one network: they compute the same, and plan the same bytes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import codegen
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.planning import plan_only
from codegen.driver.preparing import pipeline
from codegen.driver.references import numpy_outputs
from codegen.importers import load
from codegen.ir import Function, Let, Module
from codegen.ir.evaluate import evaluate
from codegen.ir.ops.base.weighted import WeightedOp
from codegen.passes import run_passes
from tests.importers.onnx.twins import NETWORKS, Network, exported, padding, pruned

BOARDS = ("mps2-an386", "mps3-an547")
MOST = 0.02
"""Of the bytes of the one that the other may differ by."""


@pytest.fixture(params=NETWORKS, ids=lambda network: network.__name__)
def network(request: pytest.FixtureRequest) -> Network:
    return request.param


def _files(folder: Path, network: Network, dtype: str) -> tuple[Path, Path]:
    paths = folder / "a.tflite", folder / "b.onnx"
    for path, data in zip(paths, network(dtype), strict=True):
        path.write_bytes(data)
    return paths


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_both_compute_the_same(tmp_path: Path, network: Network, dtype: str) -> None:
    """Floats within 1e-5; integers, which the two round in two ways at every layer, by 3 at most."""
    modules = [load(path) for path in _files(tmp_path, network, dtype)]
    kind = modules[0].main.params[0].type
    rng = np.random.default_rng(3)
    image = rng.integers(-128, 128, kind.shape).astype(np.int8)
    given = image if dtype == "int8" else (image / 64).astype(np.float32)
    first, second = (evaluate(module, module.main, [given])[0].astype(np.float64) for module in modules)
    assert len(np.unique(first)) > 2
    most = 3 if dtype == "int8" else 1e-5 * np.abs(first).max()
    assert np.abs(first - second).max() <= most


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.sampled()
def test_both_plan_the_same_bytes(tmp_path: Path, network: Network, dtype: str) -> None:
    """Integer networks took up to a third more, where ONNX's sums were in no block; on Helium they ran
    portable kernels."""
    paths = _files(tmp_path, network, dtype)
    for board in BOARDS if dtype == "int8" else BOARDS[:1]:
        plans = [codegen.plan(path, codegen.Options(board=board)).plan for path in paths]
        first, second = (plan.peak_bytes for plan in plans if plan is not None)
        assert abs(first - second) <= MOST * first, f"{board}: {first} and {second} bytes"


@pytest.mark.sampled(3)
def test_an_export_plans_and_computes_as_its_twins(tmp_path: Path, network: Network) -> None:
    """Float edges in NCHW were four times the image, and its turn a second copy; `--io-types int8` kept the
    turn. Streamed, such a file was refused."""
    paths = _files(tmp_path, network, "int8")
    outer = tmp_path / "c.onnx"
    outer.write_bytes(exported(paths[1].read_bytes()))
    edges: dict[str, Any] = {"io_types": "int8", "layout": "nhwc"}
    for board, streams in (("mps2-an386", False), ("mps2-an386", True)):
        twin = plan_only(paths[0], Options(board=board, stream_input=streams)).program
        planned = plan_only(outer, Options(board=board, stream_input=streams, **edges))
        bytes_, others = (sum(each.memory.peaks.values()) for each in (planned.program, twin))
        assert abs(bytes_ - others) <= MOST * others, f"{board}: {bytes_} and {others} bytes"
    [image], [scores] = planned.program.signature.inputs, planned.program.signature.outputs
    assert (image.field, image.type.dtype.value, image.type.scale) == ("image", "int8", np.float32(0.03))
    assert (scores.field, scores.type.dtype.value, scores.type.scale) == ("scores", "int8", np.float32(0.05))
    given = np.random.default_rng(9).integers(-128, 128, image.type.shape).astype(np.int8)
    [ours] = numpy_outputs(planned, Case(name="a", inputs=(given,)))
    tflite, onnx = (load(path) for path in paths)
    np.testing.assert_array_equal(ours, evaluate(onnx, onnx.main, [given])[0])
    assert np.abs(ours.astype(int) - evaluate(tflite, tflite.main, [given])[0]).max() <= 3


def test_both_lose_the_same_channels(tmp_path: Path) -> None:
    """An ONNX network was never reduced: its layers were operators that no pass knew."""
    modules = [load(path) for path in _files(tmp_path, pruned, "int8")]
    first, second = (run_passes(module, pipeline(codegen.Options(board="host"))) for module in modules)
    left = [_convolutions(module) for module in (first, second)]
    assert left[0] == left[1] and left[0] != _convolutions(modules[0])
    assert _convolutions(modules[0]) == _convolutions(modules[1])
    given = np.random.default_rng(5).integers(-128, 128, (1, 16, 16, 3)).astype(np.int8)
    for whole, reduced in zip(modules, (first, second), strict=True):
        [before], [after] = (evaluate(module, module.main, [given]) for module in (whole, reduced))
        np.testing.assert_array_equal(before, after)


def _convolutions(module: Module) -> list[tuple[str, tuple[int, ...]]]:
    """(operator, shape of the weights) of the layers but averages, in order of the file."""
    layers = [let for let in module.main.body if isinstance(let.call.op, WeightedOp)]
    layers = [let for let in layers if let.source and "AveragePool" not in let.source.op_name]
    weights = [(let.call.op.name, let.call.args[1]) for let in layers]
    return [(op, arg.type.shape) for op, arg in weights if arg is not None]


def test_a_pad_is_the_padding_of_the_windows_behind_it(tmp_path: Path) -> None:
    """One between DequantizeLinear and QuantizeLinear ran in float32; one in front of a pool stayed a step,
    which held the whole image and ended a block."""
    given = np.random.default_rng(7).integers(-128, 128, (1, 14, 14, 3)).astype(np.int8)
    results: list[np.ndarray] = []
    for path in _files(tmp_path, padding, "int8"):
        module = load(path)
        assert "left_in_float" not in module.metadata
        reduced = run_passes(module, pipeline(codegen.Options(board="host")))
        folded = reduced.main
        pads = [len(_named(function, "PAD")) for function in (module.main, folded)]
        assert pads == [2, 0] and not _named(folded, "DEQUANTIZE")
        results += [evaluate(each, each.main, [given])[0] for each in (module, reduced)]
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[2], results[3])
    assert np.abs(results[0].astype(int) - results[2]).max() <= 3


def _named(function: Function, op: str) -> list[Let]:
    return [let for let in function.body if let.call.op.name == op]
