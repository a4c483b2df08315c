"""int16 and uint16 as integer steps: against onnxruntime, as C, and that what stays in float is told."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from codegen.importers.onnx import import_onnx
from codegen.ir.evaluate import evaluate
from codegen.ir.verify import verify
from codegen.kernels.base.step_proof import proved_scalings
from tests.importers.onnx import official
from tests.importers.onnx.drawn import Network
from tests.importers.onnx.drawn_sixteen import BUILDERS, network
from tests.importers.onnx.record import ask

COUNT = 4 * len(BUILDERS)
FLOAT_SHARE = 0.01
"""Of elements of layers with weights that onnxruntime may give otherwise where it sums in float32."""


def _nets(count: int) -> list[Network]:
    return [network(seed) for seed in range(count)]


def test_drawn_networks_are_what_onnxruntime_gives() -> None:
    """In each bit of its sums of float64, and of what it does to single elements. Where it sums products
    in float32 it is 1 off now and then: it disagrees with itself there, and nowhere else do we."""
    nets = _nets(COUNT)
    exact, unfused = (ask([(model(net), net) for net in nets]) for model in (_second, _first))
    elements = others = 0
    for net, whole, real in zip(nets, exact, unfused, strict=True):
        module = verify(import_onnx(net.qdq, "m.onnx"))
        assert "left_in_float" not in module.metadata, net.kind
        assert not any("float32" in str(let.var.type) for let in module.main.body), net.kind
        names = [param.origin for param in module.main.params]
        for given, [wanted], [near] in zip(net.inputs, whole, real, strict=True):
            [ours] = evaluate(module, module.main, [given[name] for name in names])
            np.testing.assert_array_equal(ours, wanted, net.kind)
            apart = np.abs(near.astype(np.int64) - ours)
            assert apart.max() <= (1 if net.integer else 0), net.kind
            elements, others = elements + ours.size, others + int(np.count_nonzero(apart))
    assert elements > 10_000
    assert others <= FLOAT_SHARE * elements


def _first(net: Network) -> bytes:
    return net.qdq


def _second(net: Network) -> bytes:
    return net.integer or net.qdq


def _tests(nets: list[Network]) -> list[official.NodeTest]:
    answers = ask([(_second(net), net) for net in nets])
    return [
        official.NodeTest(
            name=f"{net.kind} {seed}",
            operator=net.kind,
            model=onnx.ModelProto.FromString(net.qdq),
            inputs=net.inputs[0],
            outputs=tuple(outputs[0]),
            relative=0.0,
            absolute=0.0,
        )
        for seed, (net, outputs) in enumerate(zip(nets, answers, strict=True))
    ]


@pytest.mark.qemu
def test_they_are_the_same_on_a_core_with_floats(tmp_path: Path) -> None:
    outcomes = [official.outcome(test) for test in _tests(_nets(2 * len(BUILDERS)))]
    found = official.on_board(outcomes, tmp_path, "mps2-an386")
    assert [each.test.name for each in found if not each.is_right] == []


@pytest.mark.long
@pytest.mark.qemu
@pytest.mark.parametrize("board", ["host", "mps2-an385", "microbit", "mps3-an547"])
def test_they_are_the_same_on_other_cores(board: str, tmp_path: Path) -> None:
    outcomes = [official.outcome(test) for test in _tests(_nets(len(BUILDERS)))]
    found = official.on_board(outcomes, tmp_path, board)
    assert [each.test.name for each in found if not each.is_right] == []


def _around(op: str, held: dict[str, np.ndarray], *, to: Any = np.int16, **more: Any) -> bytes:
    """An operator between DequantizeLinear of int16 and QuantizeLinear."""
    held = {"s": np.array(0.001, np.float32), "z": np.array(3, np.int16), "yz": np.array(1, to), **held}
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["r"]),
        helper.make_node(
            op, ["r", *(name for name in held if name.startswith("in") or not name)], ["m"], **more
        ),
        helper.make_node("QuantizeLinear", ["m", "s", "yz"], ["y"]),
    ]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(to))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.INT16, [1, 2, 4, 4])],
        [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(data, name) for name, data in held.items() if name],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return model.SerializeToString()


_SIZES = {"": np.zeros(0), "in_times": np.array([1, 1, 2, 2], np.float32)}
_WIDE = {"in_w": np.ones((1, 2, 1, 1), np.float32)}


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (_around("Sigmoid", {}), "as a function of 16 bits it would be a table of 128 KiB"),
        (_around("Resize", _SIZES, mode="linear"), "a linear Resize has an integer form of 8 bits"),
        (
            _around("MaxPool", {}, to=np.int8, kernel_shape=[2, 2]),
            "it takes int16 to int8, supported are integers as wide",
        ),
        (
            _around("GlobalAveragePool", {}, to=np.int8),
            "it takes int16 to int8, supported are integers as wide",
        ),
    ],
)
def test_what_stays_in_float_is_told(model: bytes, reason: str) -> None:
    module = verify(import_onnx(model, "m.onnx"))
    [left] = module.metadata["left_in_float"].split("\n")
    assert left.endswith(f": {reason}")
    [given] = evaluate(module, module.main, [np.arange(32, dtype=np.int16).reshape(1, 2, 4, 4) * 3])
    assert np.unique(given).size > 1


@pytest.mark.parametrize("reach", [2**12, 2**15, 2**17])
def test_a_proved_fixed_point_of_many_steps_is_equal_for_every_sum(reach: int) -> None:
    """Scales at which thousands of results are met; every sum is looked at. Where nothing is proved, the last
    bits of float32 and halves are the reason."""
    rng = np.random.default_rng(reach)
    scales = (2.0 ** rng.uniform(-9, -3, 24)).astype(np.float32)
    ends = np.full(24, -reach), np.full(24, reach)
    found = proved_scalings(scales.tolist(), ends, 3, (-32768, 32767))
    sums = np.arange(-reach, reach + 1, dtype=np.int64)
    for scale, factor, shift in zip(scales, found.factors, found.shifts, strict=True):
        if not shift:
            assert np.array(factor, np.int32).view(np.float32) == scale
            continue
        real = np.clip(np.rint(sums.astype(np.float32) * scale) + 3, -32768, 32767)
        fixed = (((sums * int(factor)) >> 32) + (1 << (int(shift) - 1))) >> int(shift)
        np.testing.assert_array_equal(np.clip(fixed + 3, -32768, 32767), real)
    assert found.proved > 0 or reach > 2**12


def test_sums_beyond_32_bits_are_never_proved() -> None:
    ends = np.array([-(2**31), -(2**31) - 1]), np.array([2**31 - 1, 5])
    assert not proved_scalings([1e-6, 1e-6], ends, 0, (-1, 1)).shifts[1]


def test_unsigned_integers_that_others_read_are_as_the_file_has_them() -> None:
    """A Cast behind a QuantizeLinear of uint8 was 128 too small: the integers are held as int8."""
    for dtype, zero in ((np.uint8, 100), (np.uint16, 40_000)):
        held = [
            numpy_helper.from_array(np.array(0.1, np.float32), "s"),
            numpy_helper.from_array(np.array(zero, dtype), "z"),
        ]
        nodes = [
            helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
            helper.make_node("Transpose", ["q"], ["t"]),
            helper.make_node("Cast", ["t"], ["y"], to=1),
            helper.make_node("DequantizeLinear", ["t", "s", "z"], ["r"]),
        ]
        infos = [helper.make_tensor_value_info(name, 1, None) for name in ("y", "r")]
        given = helper.make_tensor_value_info("x", 1, [2, 3])
        graph = helper.make_graph(nodes, "g", [given], infos, held)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        module = verify(import_onnx(model.SerializeToString(), "m.onnx"))
        numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
        stored, real = evaluate(module, module.main, [numbers])
        np.testing.assert_array_equal(stored, numbers.T * 10 + zero)
        np.testing.assert_allclose(real, numbers.T, rtol=1e-6)


def test_a_move_of_reals_keeps_the_quantisation_behind_it() -> None:
    """A DequantizeLinear by a scale that is an integer gives reals; the step took them for integers. Found by
    the fuzz, as a traceback."""
    model = onnx.ModelProto.FromString(_around("MaxPool", {}, kernel_shape=[2, 2]))
    model.graph.node[0].input[1:] = ["two"]
    model.graph.initializer.append(numpy_helper.from_array(np.array(2, np.uint16), "two"))
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.UINT16
    module = verify(import_onnx(model.SerializeToString(), "m.onnx"))
    given = np.arange(32, dtype=np.uint16).reshape(1, 2, 4, 4)
    [found] = evaluate(module, module.main, [given])
    largest = np.lib.stride_tricks.sliding_window_view(given, (2, 2), (2, 3)).max((-2, -1))
    np.testing.assert_array_equal(
        found, np.rint(largest * np.float32(2) / np.float32(0.001)).clip(max=32766) + 1
    )
    assert "an argument is not quantised" in module.metadata["left_in_float"]
