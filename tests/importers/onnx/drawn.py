"""Random quantised networks of one layer, as QDQ and, of layers with weights, as the QLinear node of the same
numbers: the first is what is imported, the second what onnxruntime computes in integers."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.random import Generator
from onnx import helper, numpy_helper

INPUTS = 2


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Network:
    """A network, and what it is asked with."""

    kind: str
    qdq: bytes
    integer: bytes | None
    """The same layer as one QLinear node; None where the QDQ form says what is computed."""
    inputs: tuple[dict[str, np.ndarray], ...]


Builder = Callable[[Generator, int], Network]
"""Draws a network of a kind; the second number says how often the first extent is repeated."""


def make_node(op: str, inputs: list[str], outputs: list[str], **more: Any) -> Any:
    return helper.make_node(op, inputs, outputs, **more)


class Draft:
    """A graph under construction."""

    def __init__(self, rng: Generator, batch: int, dtype: Any = None) -> None:
        """`dtype`: of images and results, drawn unless it is given."""
        self.rng, self.batch = rng, batch
        self.dtype: Any = (np.uint8 if rng.random() < 0.5 else np.int8) if dtype is None else dtype
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}
        self.inputs: dict[str, tuple[int, ...]] = {}

    def scale(self, low: float, high: float) -> np.float32:
        return np.float32(2.0 ** self.rng.uniform(low, high))

    def zero(self) -> int:
        info = np.iinfo(self.dtype)
        kinds = [
            int(info.min),
            (int(info.min) + int(info.max) + 1) // 2,
            int(self.rng.integers(info.min, info.max)),
        ]
        return kinds[int(self.rng.integers(3))]

    def meaning(self, name: str, scale: np.float32 | np.ndarray, zero: int, dtype: Any = None) -> None:
        scale = np.asarray(scale, np.float32)
        self.constants[f"{name}_s"] = scale
        self.constants[f"{name}_z"] = np.full(scale.shape, zero, dtype or self.dtype)

    def integers(self, name: str, shape: tuple[int, ...], scale: np.float32) -> None:
        """A graph input of integers, and its real numbers `<name>_r`."""
        self.inputs[name] = shape
        self.meaning(name, scale, self.zero())
        self.real(name)

    def real(self, name: str, axis: int | None = None) -> None:
        more = {} if axis is None else {"axis": axis}
        self.nodes.append(
            make_node("DequantizeLinear", [name, f"{name}_s", f"{name}_z"], [f"{name}_r"], **more)
        )

    def without_bias(self) -> None:
        """Take the bias out again."""
        self.nodes = [node for node in self.nodes if node.output[0] != "b_r"]
        for name in ("b", "b_s", "b_z"):
            del self.constants[name]

    def model(self, nodes: list[Any], constants: dict[str, np.ndarray]) -> bytes:
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))
        opset = 14 if np.dtype(self.dtype).itemsize == 1 else 21
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info(name, kind, list(shape)) for name, shape in self.inputs.items()],
            [helper.make_tensor_value_info("y", kind, None)],
            [numpy_helper.from_array(data, name) for name, data in constants.items()],
        )
        sets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(
            graph, opset_imports=sets, ir_version=8 if opset == 14 else 10
        ).SerializeToString()

    def finish(self, kind: str, *integer: Any) -> Network:
        """`integer`: nodes that compute the same layer in integers, of most kinds one."""
        qdq = [*self.nodes, make_node("QuantizeLinear", ["real", "y_s", "y_z"], ["y"])]
        info = np.iinfo(self.dtype)
        return Network(
            kind=kind,
            qdq=self.model(qdq, {name: data for name, data in self.constants.items() if name != "b32"}),
            integer=self.model(list(integer), self.constants) if integer else None,
            inputs=tuple(
                {
                    name: self.rng.integers(info.min, info.max, shape, self.dtype, endpoint=True)
                    for name, shape in self.inputs.items()
                }
                for _ in range(INPUTS)
            ),
        )


def _activation(draft: Draft, wanted: bool) -> str:
    """Where the operator's result goes: through a Relu, or at once."""
    if wanted:
        draft.nodes.append(make_node("Relu", ["before"], ["real"]))
        return "before"
    return "real"


def weighted(draft: Draft, shape: tuple[int, ...], axis: int, image: np.float32, taps: int) -> None:
    """Symmetric weights, a bias in units of the products, and the result's scale."""
    channels = shape[axis]
    wide = channels if draft.rng.random() < 0.6 else 1
    scales = np.float32(2.0) ** draft.rng.uniform(-12, -3, wide).astype(np.float32)
    scales = scales if wide > 1 else scales.reshape(())
    draft.constants["w"] = draft.rng.integers(-127, 127, shape, np.int8, endpoint=True)
    draft.meaning("w", scales, 0, np.int8)
    product = np.broadcast_to(np.float32(image) * scales, (channels,)).astype(np.float32)
    draft.constants["b"] = draft.rng.integers(-9000, 9000, channels).astype(np.int32)
    draft.meaning("b", product if wide > 1 else product[0], 0, np.int32)
    reach = np.float32(product.max()) * np.float32(73 * 73 * taps**0.5)
    kind = draft.rng.random()
    if kind < 0.2:  # powers of two: halves occur
        scale = 2.0 ** round(math.log2(reach / 64))
        draft.constants["w_s"] = (np.float32(2.0) ** np.round(np.log2(scales))).astype(np.float32)
        image_scale = np.float32(2.0 ** round(math.log2(image)))
        draft.constants["x_s"] = np.asarray(image_scale, np.float32)
        draft.constants["b_s"] = np.asarray(image_scale * draft.constants["w_s"], np.float32)
    else:
        scale = float(reach / np.float32(2.0 ** draft.rng.uniform(3, 8)))
    draft.meaning("y", np.float32(scale), draft.zero())
    draft.real("w", axis if wide > 1 else None)
    draft.real("b", 0 if wide > 1 else None)


def _conv(rng: Generator, batch: int, *, depthwise: bool) -> Network:
    draft = Draft(rng, batch)
    inputs, outputs = int(rng.integers(2, 7)), int(rng.integers(1, 9))
    kernel = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    group, shape = 1, (outputs, inputs, *kernel)
    if depthwise:
        group, shape = inputs, (inputs * int(rng.integers(1, 3)), 1, *kernel)
    image = draft.scale(-12, 2)
    draft.integers("x", (batch, inputs, 6, 7), image)
    weighted(draft, shape, 0, image, shape[1] * kernel[0] * kernel[1])
    pads = [int(rng.integers(0, kernel[side % 2])) for side in range(4)]
    strides = [int(rng.integers(1, 3)) for _ in range(2)]
    more = {"pads": pads, "strides": strides, "group": group, "kernel_shape": list(kernel)}
    draft.nodes.append(make_node("Conv", ["x_r", "w_r", "b_r"], ["real"], **more))
    names = ["x", "x_s", "x_z", "w", "w_s", "w_z", "y_s", "y_z", "b"]
    integer = make_node("QLinearConv", names, ["y"], **more)
    return draft.finish("depthwise" if depthwise else "conv", integer)


def _gemm(rng: Generator, batch: int) -> Network:
    draft = Draft(rng, batch)
    inputs, outputs = int(rng.integers(3, 60)), int(rng.integers(2, 9))
    image = draft.scale(-12, 2)
    draft.integers("x", (3 * batch, inputs), image)
    weighted(draft, (outputs, inputs), 0, image, inputs)
    draft.nodes.append(make_node("Gemm", ["x_r", "w_r", "b_r"], ["real"], transB=1))
    names = ["x", "x_s", "x_z", "w", "w_s", "w_z", "b", "y_s", "y_z"]
    integer = make_node("QGemm", names, ["y"], domain="com.microsoft", transB=1)
    return draft.finish("gemm", integer)


def _matmul(rng: Generator, batch: int) -> Network:
    draft = Draft(rng, batch)
    inputs, outputs = int(rng.integers(3, 60)), int(rng.integers(2, 9))
    image = draft.scale(-12, 2)
    draft.integers("x", (2 * batch, 3, inputs), image)
    weighted(draft, (inputs, outputs), 1, image, inputs)
    draft.without_bias()
    draft.nodes.append(make_node("MatMul", ["x_r", "w_r"], ["real"]))
    names = ["x", "x_s", "x_z", "w", "w_s", "w_z", "y_s", "y_z"]
    return draft.finish("matmul", make_node("QLinearMatMul", names, ["y"]))


def _product(rng: Generator, batch: int) -> Network:
    """Two matrices that are computed both."""
    draft = Draft(rng, batch)
    rows, depth, columns = (int(rng.integers(1, most)) for most in (7, 60, 9))
    scales = draft.scale(-12, 2), draft.scale(-8, -2)
    draft.integers("x", (2 * batch, 3, rows, depth), scales[0])
    draft.integers(
        "x2", (3, depth, columns) if rng.random() < 0.5 else (2 * batch, 1, depth, columns), scales[1]
    )
    reach = np.float32(73 * math.sqrt(depth) * 2.0 ** rng.uniform(-1, 3))
    draft.meaning("y", np.float32(scales[0] * scales[1] * reach), draft.zero())
    draft.nodes.append(make_node("MatMul", ["x_r", "x2_r"], ["real"]))
    names = ["x", "x_s", "x_z", "x2", "x2_s", "x2_z", "y_s", "y_z"]
    return draft.finish("product", make_node("QLinearMatMul", names, ["y"]))


def _pair(op: str) -> Builder:
    def build(rng: Generator, batch: int) -> Network:
        draft = Draft(rng, batch)
        shape = (batch, 5, 4, 6)
        first, second = draft.scale(-10, 0), draft.scale(-10, 0)
        draft.integers("x", shape, first)
        draft.integers("x2", shape if rng.random() < 0.6 else (5, 1, 1), second)
        sums = {"Mul": first * second * 64, "Add": max(first, second), "Sub": max(first, second)}
        draft.meaning("y", np.float32(sums[op] * 2.0 ** rng.uniform(-1, 3)), draft.zero())
        relu = bool(rng.random() < 0.3)
        draft.nodes.append(make_node(op, ["x_r", "x2_r"], ["before" if relu else "real"]))
        _activation(draft, relu)
        return draft.finish(op.lower())

    return build


def _table(op: str) -> Builder:
    def build(rng: Generator, batch: int) -> Network:
        draft = Draft(rng, batch)
        scale = draft.scale(-7, -3)
        draft.integers("x", (2 * batch, 3, 50), scale)
        draft.meaning("y", draft.scale(-8, -3), draft.zero())
        draft.nodes.append(make_node(op, ["x_r"], ["real"]))
        return draft.finish(op.lower())

    return build


def _max_pool(rng: Generator, batch: int) -> Network:
    draft = Draft(rng, batch)
    draft.integers("x", (batch, 3, 7, 8), draft.scale(-6, 0))
    for what in ("s", "z"):
        draft.constants[f"y_{what}"] = draft.constants[f"x_{what}"]
    if rng.random() < 0.5:
        draft.meaning("y", draft.scale(-6, 0), draft.zero())
    more = {"kernel_shape": [2, 3], "strides": [2, 1], "pads": [1, 1, 0, 1]}
    draft.nodes.append(make_node("MaxPool", ["x_r"], ["real"], **more))
    return draft.finish("maxpool")


def _mean(rng: Generator, batch: int) -> Network:
    draft = Draft(rng, batch)
    scale = draft.scale(-6, 0)
    draft.integers("x", (batch, 5, 6, 7), scale)
    draft.meaning("y", np.float32(scale * 2.0 ** rng.uniform(-3, 1)), draft.zero())
    names = ["x", "x_s", "x_z", "y_s", "y_z"]
    if rng.random() < 0.5:
        draft.nodes.append(make_node("GlobalAveragePool", ["x_r"], ["real"]))
        integer = make_node("QLinearGlobalAveragePool", names, ["y"], domain="com.microsoft")
        return draft.finish("globalaveragepool", integer)
    more = {"kernel_shape": [3, 2], "strides": [1, 2]}
    draft.nodes.append(make_node("AveragePool", ["x_r"], ["real"], **more))
    integer = make_node("QLinearAveragePool", names, ["y"], domain="com.microsoft", **more)
    return draft.finish("averagepool", integer)


def _concat(rng: Generator, batch: int) -> Network:
    draft = Draft(rng, batch)
    draft.integers("x", (batch, 2, 4, 5), draft.scale(-6, 0))
    draft.integers("x2", (batch, 3, 4, 5), draft.scale(-6, 0))
    draft.meaning("y", draft.scale(-6, 0), draft.zero())
    draft.nodes.append(make_node("Concat", ["x_r", "x2_r"], ["real"], axis=1))
    return draft.finish("concat")


BUILDERS: tuple[Builder, ...] = (
    lambda rng, batch: _conv(rng, batch, depthwise=False),
    lambda rng, batch: _conv(rng, batch, depthwise=True),
    _gemm,
    _matmul,
    _product,
    *(_pair(op) for op in ("Add", "Sub", "Mul")),
    *(_table(op) for op in ("Sigmoid", "Tanh", "LeakyRelu", "Relu")),
    _max_pool,
    _mean,
    _concat,
)


def network(seed: int, batch: int = 1) -> Network:
    """Network number `seed`; kinds follow each other. Its images are `batch` times as many."""
    return BUILDERS[seed % len(BUILDERS)](np.random.default_rng([17, seed]), batch)


_CHAIN: tuple[tuple[str, str, str, dict[str, Any], tuple[int, ...] | None], ...] = (
    ("Conv", "x0", "x1", {"pads": [1, 1, 1, 1]}, (8, 3, 3, 3)),
    ("Relu", "x1", "x2", {}, None),
    ("Conv", "x2", "x3", {"pads": [1, 1, 1, 1], "group": 8}, (8, 1, 3, 3)),
    ("Add", "x2 x3", "x4", {}, None),
    ("MaxPool", "x4", "x5", {"kernel_shape": [2, 2], "strides": [2, 2]}, None),
    ("Resize", "x5", "x6", {"mode": "linear"}, None),
    ("Conv", "x6", "x7", {}, (12, 8, 1, 1)),
    ("Sigmoid", "x7", "x8", {}, None),
    ("Mul", "x7 x8", "x9", {}, None),
    ("GlobalAveragePool", "x9", "x10", {}, None),
    ("Flatten", "x10", "x11", {}, None),
    ("Gemm", "x11", "x12", {"transB": 1}, (10, 12)),
)
_SCALES = (2.0**-6.3, 0, 0.061, 0.043, 0.087, 0.087, 0.08, 0.071, 2.0**-8, 0.05, 0.011, 0.011, 0.017)


def chain() -> Network:
    """A network of twelve layers: a float32 image in, real numbers of integers out."""
    rng = np.random.default_rng(5)
    draft = Draft(rng, 1)
    draft.dtype = np.int8
    unquantised = {"x1"}
    draft.nodes.append(make_node("QuantizeLinear", ["x", "x0_s", "x0_z"], ["x0"]))
    draft.meaning("x0", np.float32(_SCALES[0]), 3)
    draft.real("x0")
    for number, (op, inputs, output, attributes, shape) in enumerate(_CHAIN, 1):
        names = [name if name in unquantised else f"{name}_r" for name in inputs.split()]
        if op == "Resize":
            draft.constants["sizes"] = np.array([1, 8, 7, 5])
            names += ["", "", "sizes"]
        if shape is not None:
            source = draft.constants[f"{inputs}_s"]
            scales = (2.0 ** rng.uniform(-9, -7, shape[0])).astype(np.float32)
            draft.constants[f"w{number}"] = rng.integers(-127, 127, shape, np.int8, endpoint=True)
            draft.meaning(f"w{number}", scales, 0, np.int8)
            draft.constants[f"b{number}"] = rng.integers(-500, 500, shape[0]).astype(np.int32)
            draft.meaning(f"b{number}", source * scales, 0, np.int32)
            for name in (f"w{number}", f"b{number}"):
                draft.real(name, 0)
                names.append(f"{name}_r")
        if output in unquantised:
            draft.nodes.append(make_node(op, names, [output], **attributes))
            continue
        draft.nodes.append(make_node(op, names, [f"{output}_f"], **attributes))
        zero = {"x2": -128, "x8": -128}.get(output, 7)
        draft.meaning(output, np.float32(_SCALES[number]), zero)
        if op in ("MaxPool", "Flatten"):
            draft.constants[f"{output}_z"] = draft.constants[f"{inputs}_z"]
        draft.nodes.append(
            make_node("QuantizeLinear", [f"{output}_f", f"{output}_s", f"{output}_z"], [output])
        )
        draft.real(output)
    graph = helper.make_graph(
        draft.nodes,
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 3, 10, 8])],
        [helper.make_tensor_value_info("x12_r", onnx.TensorProto.FLOAT, [1, 10])],
        [numpy_helper.from_array(data, name) for name, data in draft.constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    images = tuple({"x": rng.standard_normal((1, 3, 10, 8)).astype(np.float32)} for _ in range(INPUTS))
    return Network(kind="chain", qdq=model.SerializeToString(), integer=None, inputs=images)
