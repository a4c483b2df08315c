"""Node types that take a line or two each: official tests of them on a board, and what those leave out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from codegen.importers.onnx import import_onnx
from codegen.ir.evaluate import evaluate
from tests.importers.onnx import official
from tests.importers.onnx.models import complaint, model, node

MODULES = {
    "ai_onnx_ml.array_feature_extractor": "test_ai_onnx_ml_array_feature_extractor",
    "ai_onnx_ml.binarizer": "test_ai_onnx_ml_binarizer",
    "convinteger": "test_convinteger_with_padding",
    "melweightmatrix": "test_melweightmatrix",
    "nonzero": "test_nonzero_example",
    "not_": "test_not_2d",
    "optionalgetelement": "test_optional_get_element_tensor",
    "optionalhaselement": "test_optional_has_element_empty_no_input_tensor_input",
    "qlinearconv": "test_qlinearconv",
    "qlinearmatmul": "test_qlinearmatmul_2D_uint8_float16",
    "rangeop": "test_range_float_type_positive_delta_expanded",
    "scan": "test_scan_sum",
}
"""By module of the package, the test."""


def _graph(
    nodes: list[Any], values: dict[str, tuple[int, ...]], constants: dict[str, Any], opset: int
) -> Any:
    """Inputs of float32 by shape, those of uint8 are called u; an output y."""
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.UINT8 if name == "u" else TensorProto.FLOAT, shape)
        for name, shape in values.items()
    ]
    names = [name for name in nodes[0].output if name]
    kind = TensorProto.UINT8 if "u" in values else TensorProto.FLOAT
    outputs = [helper.make_tensor_value_info(name, kind, None) for name in names]
    known = [numpy_helper.from_array(np.asarray(data), name) for name, data in constants.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, known)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def _results(made: Any, *inputs: np.ndarray) -> list[np.ndarray]:
    module = import_onnx(made.SerializeToString(), "m.onnx")
    return list(evaluate(module, module.main, inputs))


@pytest.mark.qemu
def test_official_tests_of_small_nodes_pass_on_a_board(tmp_path: Path) -> None:
    tests = [each for each in official.collected(*MODULES) if each.name in MODULES.values()]
    assert len(tests) == len(MODULES)
    outcomes = [official.outcome(each) for each in tests]
    assert [each.reason for each in outcomes if each.module is None] == []
    found = official.on_board(outcomes, tmp_path, "mps2-an386")
    assert [each.test.name for each in found if not each.is_right] == []


@pytest.mark.parametrize("scales", [np.float32(0.02), np.array([0.02, 0.003, 0.4], np.float32)])
def test_a_convolution_of_weights_of_nine_bits_is_exact(scales: np.ndarray) -> None:
    """0 to 255 less 100: float32 holds each sum, up to 2^24; scaled as decision 052 says."""
    rng = np.random.default_rng(4)
    image = rng.integers(0, 256, (1, 4, 5, 5)).astype(np.uint8)
    weights, bias = rng.integers(0, 256, (3, 4, 1, 1)).astype(np.uint8), np.array([9, -3000, 70], np.int32)
    weights[0, :2, 0, 0] = 0, 255
    zero, y_scale = np.full(scales.shape, 100, np.uint8), np.float32(1.7)
    constants = {"s": np.float32(0.05), "z": np.uint8(120), "w": weights, "ws": scales, "wz": zero}
    constants |= {"t": y_scale, "q": np.uint8(130), "b": bias}
    made = _graph([node("QLinearConv", "u s z w ws wz t q b", "y")], {"u": image.shape}, constants, 14)
    whole = [each.astype(np.int64) for each in (image, weights)]
    sums = np.einsum("nchw,oc->nohw", whole[0] - 120, whole[1][:, :, 0, 0] - 100) + bias[:, None, None]
    factor = (np.float32(0.05) * scales / y_scale).reshape(-1, 1, 1)
    wanted = np.clip(np.rint(sums.astype(np.float32) * factor) + 130, 0, 255).astype(np.uint8)
    [found] = _results(made, image)
    np.testing.assert_array_equal(found, wanted)


def test_sums_that_float32_does_not_hold_are_refused(tmp_path: Path) -> None:
    weights = np.full((1, 300, 1, 1), 255, np.uint8)
    constants = {"s": np.float32(1), "z": np.uint8(0), "w": weights, "ws": np.float32(1), "wz": np.uint8(1)}
    constants |= {"t": np.float32(1)}
    made = _graph([node("QLinearConv", "u s z w ws wz t z", "y")], {"u": (1, 300, 2, 2)}, constants, 14)
    assert complaint(tmp_path, made) == (
        'error[E301] op 0 QLinearConv "y": sums of 300 products of 8 bits are not exact in float32\n'
        "help: quantise with QDQ nodes: their layers run in integers of any length"
    )


def _scan(more: str = "", **attributes: Any) -> Any:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("s", "x", "t", "o")]
    nodes = [node("Sub", "x s", "t"), node("Identity", "t", "o")]
    body = helper.make_graph(nodes, "body", values[:2], values[2:])
    scan = node("Scan", "", "last all", body=body, num_scan_inputs=1, **attributes)
    scan.input.extend([more, "start", "x"])
    return _graph([scan], {"start": (3, 2), "x": (3, 4, 2)}, {"n": np.array([4, 4, 2], np.int64)}, 8)


@pytest.mark.parametrize("backward", [False, True])
def test_a_scan_of_opset_8_goes_through_each_batch(backward: bool) -> None:
    rng = np.random.default_rng(2)
    start, x = (rng.integers(-9, 9, shape).astype(np.float32) for shape in ((3, 2), (3, 4, 2)))
    state, shown = start, list[np.ndarray]()
    for turn in range(4):
        state = x[:, 3 - turn if backward else turn] - state
        shown.append(state)
    last, every = _results(_scan(directions=[int(backward)]), start, x)
    np.testing.assert_array_equal(last, state)
    np.testing.assert_array_equal(every, np.stack(shown, 1))


def test_what_is_refused_of_a_scan_of_opset_8(tmp_path: Path) -> None:
    assert complaint(tmp_path, _scan("n")) == (
        'error[E301] op 0 Scan "last": lengths of sequences are not supported\n'
        "help: export the model with opset 9 or newer"
    )
    assert "attribute directions has 2 numbers for 1 values" in complaint(tmp_path, _scan(directions=[0, 0]))


def test_an_older_opset_whose_nodes_mean_the_same(tmp_path: Path) -> None:
    """Relu has had its meaning since opset 6; Add has an attribute more before, of which nothing is read."""
    x = np.array([[[[-1.0, 2.0]]]], np.float32)
    assert _results(model(node("Relu", "x", "y"), x=(1, 1, 1, 2), opset=6), x)[0].tolist() == [[[[0.0, 2.0]]]]
    text = complaint(tmp_path, model(node("Relu", "x", "a"), node("Add", "a x", "y"), opset=5))
    assert "error[E301] m.onnx: the model uses opset 5, supported are 7 to " in text


@pytest.mark.parametrize(("row", "attributes"), [((2,), {"axis": 1}), ((3,), {}), ((2, 1), {"axis": 1})])
def test_opset_6_says_where_a_second_value_lies(row: tuple[int, ...], attributes: dict[str, int]) -> None:
    """Its axes are those of the first from `axis` on, the last ones without it."""
    x = np.arange(6, dtype=np.float32).reshape(1, 2, 1, 3)
    k = np.arange(1, 1 + np.prod(row), dtype=np.float32).reshape(row)
    made = model(node("Mul", "x k", "y", broadcast=1, **attributes), x=x.shape, constants={"k": k}, opset=6)
    wanted = x * (k if not attributes else k.reshape(2, 1, 1))
    np.testing.assert_array_equal(_results(made, x)[0], wanted)


def test_training_in_opset_6_is_refused(tmp_path: Path) -> None:
    made = model(node("Dropout", "x", "y"), opset=6)
    assert "training is not supported" in complaint(tmp_path, made)


def test_places_of_numbers_that_are_not_zero_have_to_be_known(tmp_path: Path) -> None:
    made = model(node("NonZero", "x", "y"))
    assert complaint(tmp_path, made) == (
        'error[E301] op 0 NonZero "y": "x" (what may be zero) is computed while the model runs\n'
        "help: export the model with fixed shapes, so that this is a constant"
    )
