"""Random quantised networks of int16 and uint16, weights of int8 and int16: as QDQ, and with sums of float64.

onnxruntime has no kernels of these types: it computes the QDQ form in float32, whose sums lose what float32
has no room for. In the second form it sums whole numbers in float64, which is exact, and goes on as it does
with integers: float32 of the sum, times the scale, to the nearest even, plus the zero point, within the type.
"""

import math
from typing import Any

import numpy as np
from numpy.random import Generator
from onnx import helper

from tests.importers.onnx.drawn import Builder, Draft, Network, make_node

SUFFIX = "_16"
"""Of their kinds."""
_IMAGE = (6, 7)


def _draft(rng: Generator, batch: int) -> Draft:
    return Draft(rng, batch, np.uint16 if rng.random() < 0.5 else np.int16)


def _weights(draft: Draft, shape: tuple[int, ...], axis: int, image: np.float32) -> np.ndarray:
    """Weights and bias; the scale of the result spreads it over 16 bits. The scales of sums."""
    rng, channels = draft.rng, shape[axis]
    dtype = np.int16 if rng.random() < 0.4 else np.int8
    most = int(np.iinfo(dtype).max)
    scales = (np.float32(2.0) ** rng.uniform(-12, -3, channels)).astype(np.float32)
    draft.constants["w"] = rng.integers(-most, most, shape, dtype, endpoint=True)
    draft.meaning("w", scales, 0, dtype)
    draft.constants["b"] = rng.integers(-9_000_000, 9_000_000, channels).astype(np.int32)
    draft.meaning("b", np.float32(image) * scales, 0, np.int32)
    taps = math.prod(shape) // channels
    result = np.float32(image * scales.max() * most * taps**0.5 * 2.0 ** rng.uniform(-3, 3))
    draft.meaning("y", result, draft.zero())
    draft.real("w", axis)
    draft.real("b", 0)
    return np.float32(image) * scales / result


def _exact(
    draft: Draft, taps: np.ndarray, weights: np.ndarray, scales: np.ndarray, shape: list[int]
) -> list[Any]:
    """Nodes of the second form. `taps` [G, K, P]: elements of the flat image (one more: 0), of each group and
    position; `weights` [G, O, K]."""
    held, info = draft.constants, np.iinfo(draft.dtype)
    held["e_taps"], held["e_w"] = taps, weights.astype(np.float64)
    held["e_b"] = held["b"].astype(np.float64).reshape(*weights.shape[:2], 1)
    held["e_flat"], held["e_zero"] = np.array([shape[0], -1]), held["x_z"].astype(np.float64)
    held["e_padding"], held["e_s"] = np.zeros((shape[0], 1)), scales.reshape(*weights.shape[:2], 1)
    held["e_shape"], held["e_yz"] = np.array(shape), held["y_z"].astype(np.float32)
    held["e_low"], held["e_high"] = np.array(info.min, np.float32), np.array(info.max, np.float32)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(draft.dtype))
    steps: list[tuple[str, str, str, dict[str, Any]]] = [
        ("Cast", "x", "e0", {"to": 11}),
        ("Sub", "e0 e_zero", "e1", {}),
        ("Reshape", "e1 e_flat", "e2", {}),
        ("Concat", "e2 e_padding", "e3", {"axis": 1}),
        ("Gather", "e3 e_taps", "e4", {"axis": 1}),
        ("MatMul", "e_w e4", "e5", {}),
        ("Add", "e5 e_b", "e6", {}),
        ("Cast", "e6", "e7", {"to": 1}),
        ("Mul", "e7 e_s", "e8", {}),
        ("Round", "e8", "e9", {}),
        ("Add", "e9 e_yz", "e10", {}),
        ("Clip", "e10 e_low e_high", "e11", {}),
        ("Cast", "e11", "e12", {"to": kind}),
        ("Reshape", "e12 e_shape", "y", {}),
    ]
    return [make_node(op, inputs.split(), [output], **more) for op, inputs, output, more in steps]


def _conv(rng: Generator, batch: int, *, depthwise: bool) -> Network:
    draft = _draft(rng, batch)
    inputs, outputs = int(rng.integers(2, 7)), int(rng.integers(1, 9))
    rows, columns = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    group = inputs if depthwise else 1
    outputs = inputs * int(rng.integers(1, 3)) if depthwise else outputs
    shape = (outputs, inputs // group, rows, columns)
    image = draft.scale(-12, 2)
    draft.integers("x", (batch, inputs, *_IMAGE), image)
    scales = _weights(draft, shape, 0, image)
    pads = [int(rng.integers(0, extent)) for extent in (rows, columns, rows, columns)]
    stride = int(rng.integers(1, 3))
    more = {"pads": pads, "strides": [stride] * 2, "group": group, "kernel_shape": [rows, columns]}
    draft.nodes.append(make_node("Conv", ["x_r", "w_r", "b_r"], ["real"], **more))
    flat = np.arange(inputs * math.prod(_IMAGE)).reshape(inputs, *_IMAGE)
    wide = np.pad(flat, ((0, 0), (pads[0], pads[2]), (pads[1], pads[3])), constant_values=flat.size)
    windows = np.lib.stride_tricks.sliding_window_view(wide, (rows, columns), (1, 2))[:, ::stride, ::stride]
    height, width = windows.shape[1:3]
    taps = windows.transpose(0, 3, 4, 1, 2).reshape(group, -1, height * width)
    weights = draft.constants["w"].reshape(group, outputs // group, -1)
    nodes = _exact(draft, taps, weights, scales, [batch, outputs, height, width])
    return draft.finish(f"{'depthwise' if depthwise else 'conv'}{SUFFIX}", *nodes)


def _rows(rng: Generator, batch: int, *, op: str) -> Network:
    draft = _draft(rng, batch)
    inputs, outputs = int(rng.integers(3, 60)), int(rng.integers(2, 9))
    image, axis = draft.scale(-12, 2), 0 if op == "Gemm" else 1
    draft.integers("x", (3 * batch, inputs), image)
    scales = _weights(draft, (outputs, inputs) if op == "Gemm" else (inputs, outputs), axis, image)
    if op == "Gemm":
        draft.nodes.append(make_node(op, ["x_r", "w_r", "b_r"], ["real"], transB=1))
    else:
        draft.without_bias()
        draft.nodes.append(make_node(op, ["x_r", "w_r"], ["real"]))
        draft.constants["b"] = np.zeros(outputs, np.int32)
    weights = draft.constants["w"] if op == "Gemm" else draft.constants["w"].T
    nodes = _exact(
        draft, np.arange(inputs).reshape(1, inputs, 1), weights[None], scales, [3 * batch, outputs]
    )
    return draft.finish(f"{op.lower()}{SUFFIX}", *nodes)


def _pair(op: str) -> Builder:
    def build(rng: Generator, batch: int) -> Network:
        draft = _draft(rng, batch)
        shape = (batch, 5, 4, 6)
        first, second = draft.scale(-16, -6), draft.scale(-16, -6)
        draft.integers("x", shape, first)
        draft.integers("x2", shape if rng.random() < 0.6 else (5, 1, 1), second)
        spread = {"Mul": first * second * 16384, "Add": max(first, second), "Sub": max(first, second)}
        draft.meaning("y", np.float32(spread[op] * 2.0 ** rng.uniform(-1, 3)), draft.zero())
        relu = bool(rng.random() < 0.3)
        draft.nodes.append(make_node(op, ["x_r", "x2_r"], ["before" if relu else "real"]))
        if relu:
            draft.nodes.append(make_node("Relu", ["before"], ["real"]))
        return draft.finish(f"{op.lower()}{SUFFIX}")

    return build


def _alone(op: str, **more: Any) -> Builder:
    """One operator that takes an image as it is."""

    def build(rng: Generator, batch: int) -> Network:
        draft = _draft(rng, batch)
        draft.integers("x", (batch, 3, 7, 8), draft.scale(-14, -4))
        for what in ("s", "z"):
            draft.constants[f"y_{what}"] = draft.constants[f"x_{what}"]
        if rng.random() < 0.6:
            draft.meaning("y", draft.scale(-14, -4), draft.zero())
        draft.nodes.append(make_node(op, ["x_r"], ["real"], **more))
        return draft.finish(f"{op.lower()}{SUFFIX}")

    return build


def _concat(rng: Generator, batch: int) -> Network:
    draft = _draft(rng, batch)
    draft.integers("x", (batch, 2, 4, 5), draft.scale(-14, -4))
    draft.integers("x2", (batch, 3, 4, 5), draft.scale(-14, -4))
    draft.meaning("y", draft.scale(-14, -4), draft.zero())
    draft.nodes.append(make_node("Concat", ["x_r", "x2_r"], ["real"], axis=1))
    return draft.finish(f"concat{SUFFIX}")


BUILDERS: tuple[Builder, ...] = (
    lambda rng, batch: _conv(rng, batch, depthwise=False),
    lambda rng, batch: _conv(rng, batch, depthwise=True),
    lambda rng, batch: _rows(rng, batch, op="Gemm"),
    lambda rng, batch: _rows(rng, batch, op="MatMul"),
    *(_pair(op) for op in ("Add", "Sub", "Mul")),
    _alone("Relu"),
    _alone("MaxPool", kernel_shape=[2, 3], strides=[2, 1], pads=[1, 1, 0, 1]),
    _alone("Transpose", perm=[0, 2, 3, 1]),
    _concat,
)


def network(seed: int, batch: int = 1) -> Network:
    """Network number `seed`; kinds follow each other. Its images are `batch` times as many."""
    return BUILDERS[seed % len(BUILDERS)](np.random.default_rng([16, seed]), batch)
