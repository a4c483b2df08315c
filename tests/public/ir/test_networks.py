"""Public networks and every step of them against TFLite's reference kernels (testdata's README)."""

from typing import Any, cast

import numpy as np
import pytest
import tflite

from codegen.importers import load
from codegen.ir.evaluate import evaluate, steps
from tests.engines import TFLITE_RUNTIME, Request, available
from tests.engines import evaluate as engine_answers
from tests.public.testdata import TESTDATA, golden, index, model_path

INTEGER = (
    "mlperf_tiny/ad01_int8",
    "mlperf_tiny/kws_ref_model",
    "mlperf_tiny/vww_96_int8",
    "mlperf_tiny/pretrainedResnet_quant",
    "mlperf_tiny/pretrainedResnet_large_int8",
    "mlperf_tiny/str_ww_ref_model",
    "mlperf_tiny/model_ToyCar_quant_fullint",
    "tflm/hello_world_int8",
    "tflm/micro_speech_quantized",
    "tflm/person_detect",
    "tflm/simple_add_model",
    "tinyengine/vww",
)
FLOAT = (
    "mlperf_tiny/ad01_fp32",
    "mlperf_tiny/pretrainedResnet",
    "mlperf_tiny/pretrainedResnet_large_float",
    "mlperf_tiny/vww_96_float",
    "tflm/hello_world_float",
)
SINGLE = tuple(key for key in sorted(index()) if key.startswith("seanet_"))
"""One operator on int16 (weights int8)."""
OVERWRITTEN = {
    "mlperf_tiny/pretrainedResnet": (2, 6, 10),
    "mlperf_tiny/pretrainedResnet_large_float": (2, 6, 10),
    "mlperf_tiny/pretrainedResnet_quant": (2, 6, 10),
    "mlperf_tiny/pretrainedResnet_large_int8": (2, 6, 10),
    "tinyengine/vww": (11, 15, 23, 27, 35, 42, 49, 53),
}
"""Operators whose stored tensor is not their result: the engine that wrote it let the ADD after them work in
place, so it holds the ADD's result. Asked for these tensors alone, the engines give ours (see below)."""
SKIPPED_CASES = ("alt", "seq", "sa", "sb", "sc")
"""Other engines' answers and runs with state kept."""


def assert_equal(got: np.ndarray, expected: np.ndarray, what: str) -> None:
    """Integers bit by bit, floats by max|d| <= 1e-5 * max|y|."""
    assert got.dtype == expected.dtype, what
    assert got.shape == expected.shape, what
    if got.dtype == np.float32:
        assert np.abs(got - expected).max() <= 1e-5 * np.abs(expected).max(), what
    else:
        assert np.count_nonzero(got != expected) == 0, what


def cases(arrays: dict[str, np.ndarray]) -> list[str]:
    found = {name.removesuffix("_x0") for name in arrays if name.endswith("_x0")}
    return sorted(case for case in found if case.split("_")[0] not in SKIPPED_CASES)


def runs(
    arrays: dict[str, np.ndarray], case: str, shape: tuple[int, ...]
) -> list[tuple[list[Any], list[Any]]]:
    """(inputs, outputs) of a case; a case of several samples has one more axis in front."""
    inputs = [arrays[f"{case}_x{i}"] for i in range(len(arrays)) if f"{case}_x{i}" in arrays]
    outputs = [arrays[f"{case}_y{i}"] for i in range(len(arrays)) if f"{case}_y{i}" in arrays]
    if inputs[0].shape == shape:
        return [(inputs, outputs)]
    samples = range(len(inputs[0]))
    return [([item[k] for item in inputs], [item[k] for item in outputs]) for k in samples]


@pytest.mark.parametrize("key", INTEGER + FLOAT + SINGLE)
def test_networks_give_the_golden_outputs(key: str) -> None:
    module, arrays = load(model_path(key)), golden(key)
    found = cases(arrays)
    assert {"a", "b", "c"} <= set(found)
    for case in found:
        for inputs, expected in runs(arrays, case, module.main.params[0].type.shape):
            assert expected, case
            for got, want in zip(evaluate(module, module.main, inputs), expected, strict=True):
                assert_equal(got, want, f"{key} case {case}")


def result_tensors(key: str) -> dict[int, int]:
    """Tensor index of every operator's first result, by operator index in the file."""
    model = cast(Any, tflite).Model.GetRootAs(model_path(key).read_bytes(), 0)
    graph = model.Subgraphs(0)
    return {op: int(graph.Operators(op).Outputs(0)) for op in range(graph.OperatorsLength())}


@pytest.mark.parametrize("key", [k for k in INTEGER + FLOAT if k != "tflm/person_detect"])
def test_every_step_gives_the_golden_tensor(key: str) -> None:
    """Each step from our own earlier steps: with bit-equal steps before it, a difference is its own."""
    module, arrays, tensors = load(model_path(key)), golden(key), result_tensors(key)
    path = TESTDATA / index()[key]["golden"].replace(".npz", ".tensors_b.npz")
    with np.load(path) as stored:
        expected = {name: stored[name] for name in stored.files}
    compared: set[str] = set()
    inputs = [arrays[f"b_x{i}"] for i in range(len(module.main.params))]
    for let, got in steps(module, module.main, inputs):
        assert let.source is not None
        step = let.source.op_index
        name = f"t{tensors[step]}"
        compared.add(name)
        if step in OVERWRITTEN.get(key, ()):
            np.testing.assert_array_equal(expected[name], expected[f"t{tensors[step + 1]}"])
        else:
            assert_equal(got.reshape(expected[name].shape), expected[name], f"{key} {let.where}")
    assert compared == set(expected)


def with_output(model: bytes, tensor: int) -> bytes:
    """The model with its one graph output replaced by another tensor."""
    changed = bytearray(model)
    graph = cast(Any, tflite).Model.GetRootAs(changed, 0).Subgraphs(0)
    assert graph.OutputsLength() == 1
    at = graph._tab.Vector(graph._tab.Offset(8))  # field 2 of SubGraph: outputs
    changed[at : at + 4] = tensor.to_bytes(4, "little")
    return bytes(changed)


@pytest.mark.parametrize("key", sorted(OVERWRITTEN))
def test_overwritten_tensors_against_the_engine(key: str) -> None:
    if TFLITE_RUNTIME not in available():
        pytest.skip("tflite-runtime is not installed")
    module, arrays, tensors = load(model_path(key)), golden(key), result_tensors(key)
    inputs = tuple(arrays[f"b_x{i}"] for i in range(len(module.main.params)))
    data, chosen = model_path(key).read_bytes(), OVERWRITTEN[key]
    requests = [
        Request(engine=TFLITE_RUNTIME, model=with_output(data, tensors[step]), inputs=(inputs,))
        for step in chosen
    ]
    ours = {let.source.op_index: got for let, got in steps(module, module.main, inputs) if let.source}
    for step, answer in zip(chosen, engine_answers(requests), strict=True):
        assert not answer.error
        assert_equal(ours[step], answer.outputs[0][0].reshape(ours[step].shape), f"{key} op {step}")
