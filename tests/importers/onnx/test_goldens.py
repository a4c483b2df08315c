"""The shared ONNX models against the outputs of onnxruntime (all optimisations off), case by case."""

import numpy as np
import pytest

import codegen
from codegen.errors import CodegenError
from codegen.importers import load
from codegen.ir import Module
from codegen.ir.evaluate import evaluate
from codegen.ir.verify import verify
from tests.testdata import golden, index, model_path

KEYS = sorted(key for key, row in index().items() if row["file"].endswith(".onnx") and row["golden"])
CONV = "benchmarks_benchmark_conv"
RUNTIME_WEIGHTS = tuple(
    f"{CONV}_{name}" for name in ("fits_128k", *(f"yolov6n_{part}conv" for part in ("biggest", "last")))
)
LARGE_MACS = 5_000_000
"""Evaluated in the long tests only."""


def _module(key: str) -> Module | None:
    try:
        return verify(load(model_path(key)))
    except CodegenError as error:
        assert all(message.code in ("E301", "E303", "E305", "E306") for message in error.messages)
        return None


def _compare(key: str, module: Module) -> None:
    arrays, main = golden(key), module.main
    cases = {name.rsplit("_", 1)[0] for name in arrays if name.endswith("_x0")}
    for case in sorted(cases):
        inputs = [arrays[f"{case}_x{index}"] for index in range(len(main.params))]
        for number, found in enumerate(evaluate(module, main, inputs)):
            wanted = arrays[f"{case}_y{number}"]
            assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype), f"{key} {case}"
            largest = np.max(np.abs(wanted.astype(np.float64)), initial=1e-30)
            difference = np.abs(found.astype(np.float64) - wanted.astype(np.float64))
            assert np.all(difference <= 1e-5 * largest), f"{key} {case}: {np.max(difference)} of {largest}"


def test_every_model_is_right_or_refused(request: pytest.FixtureRequest) -> None:
    """None is wrong; the number of those that run only ever grows."""
    right = 0
    for key in KEYS:
        module = _module(key)
        if module is None:
            continue
        if int(index()[key]["macs"] or 0) <= LARGE_MACS or request.config.getoption("--long"):
            _compare(key, module)
        right += 1
    assert right >= 118


def test_all_networks_run_but_those_that_are_named() -> None:
    refused = {key for key in KEYS if key.startswith(("onnx2c/", "onnx_light/")) and _module(key) is None}
    assert refused == {
        *(f"onnx2c/{name}" for name in (*RUNTIME_WEIGHTS, "lstm_k1_b1_r1", "lstm_k1_b1_r1_relu")),
        "onnx_light/light_zfnet512",  # too large
    }


@pytest.mark.qemu
def test_mnist_on_a_board() -> None:
    """A network of the model zoo: onnx2c takes 60,416 bytes and 6.74 M instructions for it."""
    key = "onnx2c/mnist"
    arrays = golden(key)
    cases = [
        codegen.Case(name=case, inputs=(arrays[f"{case}_x0"],), expected=(arrays[f"{case}_y0"],))
        for case in ("a", "repo0")
    ]
    report = codegen.run(model_path(key), codegen.Options(board="mps2-an386"), cases={"mnist": cases})
    assert report.run is not None
    assert report.plan is not None
    assert all(output.matches for output in report.run.outputs)
    assert report.plan.peak_bytes <= 9_000
    assert report.run.instructions is not None
    assert report.run.instructions <= 1_700_000
