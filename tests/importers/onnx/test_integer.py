"""Integer networks against onnxruntime, bit by bit; and that a fixed point that is called proved is right."""

import warnings

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from codegen.importers.onnx import import_onnx
from codegen.ir import Module
from codegen.ir.evaluate import evaluate
from codegen.ir.verify import verify
from codegen.kernels.base.step_proof import proved_scalings
from tests.importers.onnx import drawn_reals
from tests.importers.onnx.drawn import Network, network
from tests.importers.onnx.integers import RECORD, digest
from tests.importers.onnx.record import ask


def _outputs(module: Module, net: Network) -> list[np.ndarray]:
    names = [param.origin for param in module.main.params]
    return [evaluate(module, module.main, [given[name] for name in names])[0] for given in net.inputs]


def _imported(model: bytes) -> Module:
    return verify(import_onnx(model, "m.onnx"))


def test_drawn_networks_are_what_onnxruntime_gives() -> None:
    """Conv, Gemm, MatMul, sums, products, tables, pools and joins of int8 and uint8, per tensor and channel,
    scales over six decades: as QDQ, and as the QLinear node of the same numbers."""
    recorded = np.load(RECORD)["digests"]
    assert len(recorded) >= 300
    for seed, wanted in enumerate(recorded):
        net = network(seed)
        for model in (net.qdq, net.integer):
            if model is not None:
                module = _imported(model)
                assert digest(_outputs(module, net)) == wanted, f"{net.kind} {seed}"
                assert "left_in_float" not in module.metadata
                assert not any("float32" in str(let.var.type) for let in module.main.body)


def test_networks_of_other_operators_are_what_onnxruntime_gives() -> None:
    """Resize, Softmax, curves, weights with a zero point: unfused, all optimisations off.

    `python -m tests.importers.onnx.volume` compares ten million elements of these and the other networks.
    """
    recorded = np.load(RECORD)["reals"]
    for seed, wanted in zip(range(drawn_reals.EXACT), recorded, strict=True):
        net = drawn_reals.network(seed)
        assert digest(_outputs(_imported(net.qdq), net)) == wanted, f"{net.kind} {seed}"


def test_a_layer_whose_result_is_moved_before_it_is_quantised_is_told() -> None:
    """As PyTorch's pooling to one pixel and its Flatten become: it stayed in float without a word."""
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["r"]),
        helper.make_node("Flatten", ["r"], ["f"]),
        helper.make_node("ReduceMean", ["f"], ["m"], axes=[1], keepdims=1),
        helper.make_node("Squeeze", ["m"], ["v"]),
        helper.make_node("QuantizeLinear", ["v", "s", "z"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", onnx.TensorProto.INT8, [2, 3, 4])
    y = helper.make_tensor_value_info("y", onnx.TensorProto.INT8, [2])
    held = [
        numpy_helper.from_array(np.array(0.1, np.float32), "s"),
        numpy_helper.from_array(np.array(3, np.int8), "z"),
    ]
    graph = helper.make_graph(nodes, "g", [x], [y], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    found = _imported(model.SerializeToString()).metadata["left_in_float"]
    assert found == 'op 2 ReduceMean "m": no QuantizeLinear is right behind it'


@pytest.mark.parametrize(
    ("how", "shape", "reason"),
    [
        ({"mode": "cubic"}, [1, 2, 3, 4], "a Resize of mode cubic has no integer form"),
        (
            {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"},
            [1, 2, 3, 4],
            "a linear Resize has an integer form for align_corners, asymmetric, half_pixel, "
            "pytorch_half_pixel, without antialias",
        ),
        (
            {"mode": "linear"},
            [2, 3, 4],
            "a linear Resize has an integer form along the rows and columns of 2 or 4 dimensions",
        ),
    ],
)
def test_a_resize_without_an_integer_form_is_told(how: dict[str, str], shape: list[int], reason: str) -> None:
    """Linear ones were all left in float, where 431 of 300,960 elements rounded otherwise than onnxruntime's:
    halves, told by the order of the sums."""
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["r"]),
        helper.make_node("Resize", ["r", "", "times"], ["big"], **how),
        helper.make_node("QuantizeLinear", ["big", "s", "z"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", onnx.TensorProto.INT8, shape)
    y = helper.make_tensor_value_info("y", onnx.TensorProto.INT8, None)
    times = np.array([1] * (len(shape) - 2) + [2, 2], np.float32)
    held = [
        numpy_helper.from_array(np.array(0.1, np.float32), "s"),
        numpy_helper.from_array(np.array(3, np.int8), "z"),
        numpy_helper.from_array(times, "times"),
    ]
    graph = helper.make_graph(nodes, "g", [x], [y], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=8)
    found = _imported(model.SerializeToString()).metadata["left_in_float"]
    assert found == f'op 1 Resize "y": {reason}'


@pytest.mark.parametrize("reach", [2**12, 2**17, 2**20])
def test_a_proved_fixed_point_is_equal_for_every_sum(reach: int) -> None:
    """Each sum is looked at; and where nothing is proved, that is for a reason: halves round to even."""
    rng = np.random.default_rng(reach)
    scales = (2.0 ** rng.uniform(-9, -2, 12) * 2**12 / reach).astype(np.float32)
    ends = np.full(12, -reach), np.full(12, reach)
    found = proved_scalings(scales.tolist(), ends, 3, (-100, 127))
    sums = np.arange(-reach, reach + 1, dtype=np.int64)
    for scale, factor, shift in zip(scales, found.factors, found.shifts, strict=True):
        real = np.clip(np.rint(sums.astype(np.float32) * scale) + 3, -100, 127)
        if shift:
            fixed = (((sums * int(factor)) >> 32) + (1 << (int(shift) - 1))) >> int(shift)
            np.testing.assert_array_equal(np.clip(fixed + 3, -100, 127), real)
        else:
            assert np.array(factor, np.int32).view(np.float32) == scale
    assert found.proved > 0


def test_powers_of_two_are_never_proved() -> None:
    """Their halves are rounded to even, up and down in turn, which no fixed point does."""
    scales = 2.0 ** -np.arange(3, 12.0)
    ends = np.full(9, -(2**16)), np.full(9, 2**16)
    assert proved_scalings(scales.tolist(), ends, 0, (-128, 127)).proved == 0


def test_one_scale_and_a_zero_point_a_channel() -> None:
    """Weights that stay real numbers: found by the fuzz, a traceback in place of the product."""
    rng = np.random.default_rng(3)
    weights, zeros = rng.integers(-128, 128, (4, 5)).astype(np.int8), np.arange(5).astype(np.int8)
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["wr"], axis=1),
        helper.make_node("MatMul", ["x", "wr"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 4])
    y = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, 5])
    held = [
        numpy_helper.from_array(weights, "w"),
        numpy_helper.from_array(np.array(0.5, np.float32), "s"),
        numpy_helper.from_array(zeros, "z"),
    ]
    graph = helper.make_graph(nodes, "g", [x], [y], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    module = _imported(model.SerializeToString())
    given = rng.standard_normal((2, 4)).astype(np.float32)
    [found] = evaluate(module, module.main, [given])
    np.testing.assert_allclose(found, given @ ((weights - zeros.astype(np.int32)) * 0.5), rtol=1e-5)


def _four_bits(seed: int) -> Network:
    """A convolution by int4 weights, or by uint4 ones around 8; scales by channel."""
    rng = np.random.default_rng([21, seed])
    kind, zero = ((onnx.TensorProto.INT4, 0), (onnx.TensorProto.UINT4, 8))[seed % 2]
    weights = rng.integers(zero - 8, zero + 8, (4, 3, 3, 3))
    held = [
        helper.make_tensor("w", kind, weights.shape, weights.reshape(-1).tolist()),
        helper.make_tensor("wz", kind, [4], [zero] * 4),
        numpy_helper.from_array(rng.uniform(0.01, 0.1, 4).astype(np.float32), "ws"),
        numpy_helper.from_array(np.array(rng.uniform(0.01, 0.05), np.float32), "xs"),
        numpy_helper.from_array(np.array(rng.uniform(0.05, 0.3), np.float32), "ys"),
        numpy_helper.from_array(np.array(3, np.int8), "z"),
    ]
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "xs", "z"], ["xr"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wr"], axis=0),
        helper.make_node("Conv", ["xr", "wr"], ["r"]),
        helper.make_node("QuantizeLinear", ["r", "ys", "z"], ["y"]),
    ]
    shape = (1, 3, 20, 20)
    x = helper.make_tensor_value_info("x", onnx.TensorProto.INT8, shape)
    y = helper.make_tensor_value_info("y", onnx.TensorProto.INT8, [1, 4, 18, 18])
    graph = helper.make_graph(nodes, "g", [x], [y], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    images = ({"x": rng.integers(-128, 128, shape).astype(np.int8)},)
    return Network(kind="four bits", qdq=model.SerializeToString(), integer=None, inputs=images)


def test_weights_of_four_bits_are_what_onnxruntime_gives() -> None:
    """Less their zero point they fit int8: an integer step like any other."""
    nets = [_four_bits(seed) for seed in range(8)]
    for net, [[wanted]] in zip(nets, ask([(net.qdq, net) for net in nets]), strict=True):
        module = _imported(net.qdq)
        [ours] = _outputs(module, net)
        np.testing.assert_array_equal(ours, wanted)
        assert "left_in_float" not in module.metadata
        assert len(np.unique(ours)) > 20


def test_a_scale_far_beyond_any_multiplier_is_multiplied_as_float32() -> None:
    """What no integer holds was made one before it was left aside: a warning of NumPy (mutant of the fuzz,
    seed 70001)."""
    sums = (np.array([-100, -100]), np.array([100, 100]))
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        found = proved_scalings([1e30, 0.01], sums, 0, (-128, 127))
    assert found.shifts[0] == 0 and found.factors[:1].view(np.float32)[0] == np.float32(1e30)
    assert found.proved == 1
