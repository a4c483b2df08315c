"""One network written both ways: as `.tflite` by our writer and as `.onnx` by the `onnx` package's helper.

Values are N, H, W, C for the one; the other has N, C, H, W inside, behind a Transpose of its input. Integer
networks have the same scales and zero points; the other has them as DequantizeLinear and QuantizeLinear.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from codegen.importers.tflite.writing.writer import ModelBuilder

Shape = tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Value:
    """A value of both files."""

    tflite: int
    onnx: str
    """Real numbers, also of integer networks."""
    shape: Shape
    scale: float
    zero: int


class Twins:
    """Two files under construction; `image`: shape N, H, W, C of the only input.

    `dead`: of so many channels the weights of one are zeros."""

    def __init__(self, dtype: str, image: Shape, seed: int = 1, *, dead: int = 0) -> None:
        self.dead = dead
        self.rng, self.dtype = np.random.default_rng(seed), dtype
        self._tflite, self._nodes, self._constants = ModelBuilder(), list[Any](), dict[str, np.ndarray]()
        self._count = 0
        self.start = self._value(image, scale=0.03, zero=-5)
        self._tflite.inputs(self.start.tflite)
        self._image = image

    def _name(self) -> str:
        self._count += 1
        return f"v{self._count}"

    @property
    def is_integer(self) -> bool:
        """Whether values are int8."""
        return self.dtype == "int8"

    def _value(self, shape: Shape, scale: float, zero: int) -> Value:
        name = self._name()
        meaning: dict[str, Any] = {"scale": scale, "zero_point": zero} if self.is_integer else {}
        index = self._tflite.tensor(name, shape, self.dtype, **meaning)
        return Value(tflite=index, onnx=name, shape=shape, scale=scale, zero=zero)

    def _scaled(self, name: str, scale: Any, zero: Any) -> list[str]:
        self._constants[f"{name}_s"], self._constants[f"{name}_z"] = np.asarray(scale, np.float32), zero
        return [f"{name}_s", f"{name}_z"]

    def _add(self, op: str, names: list[str], result: Value, relu: bool = False, **attributes: Any) -> None:
        """A node, and what quantises its result."""
        real = result.onnx
        if self.is_integer:
            real = f"{result.onnx}_f"
        made = f"{real}_r" if relu else real
        self._nodes.append(helper.make_node(op, names, [made], **attributes))
        if relu:
            self._nodes.append(helper.make_node("Relu", [made], [real]))
        if self.is_integer:
            scale = self._scaled(result.onnx, result.scale, np.int8(result.zero))
            quantized = f"{result.onnx}_q"
            self._nodes.append(helper.make_node("QuantizeLinear", [real, *scale], [quantized]))
            self._nodes.append(helper.make_node("DequantizeLinear", [quantized, *scale], [result.onnx]))

    def _weights(
        self, value: Value, shape: Shape, axis: int, other: Shape, terms: int
    ) -> tuple[int, int, str, str]:
        """Weights of TFLite's `shape` with channels along `axis`, for ONNX moved by `other`; a bias."""
        name, count = self._name(), shape[axis]
        w, b = f"{name}_w", f"{name}_b"
        if not self.is_integer:
            data = (self.rng.standard_normal(shape) / math.sqrt(terms)).astype(np.float32)
            bias = (self.rng.standard_normal(count) * 0.1).astype(np.float32)
            self._constants[w], self._constants[b] = np.ascontiguousarray(np.transpose(data, other)), bias
            found = (
                self._tflite.tensor(w, shape, "float32", data=data),
                self._tflite.tensor(b, (count,), "float32", data=bias),
            )
            return *found, w, b
        scales = (0.01 / math.sqrt(terms) * self.rng.uniform(0.8, 1.25, count)).astype(np.float32)
        added = np.float32(value.scale) * scales
        data = self.rng.integers(-127, 128, shape).astype(np.int8)
        np.moveaxis(data, axis, 0)[: count // self.dead if self.dead else 0] = 0
        bias = self.rng.integers(-2_000, 2_000, count).astype(np.int32)
        held = np.ascontiguousarray(np.transpose(data, other))
        for part, numbers, scale in ((w, held, scales), (b, bias, added)):
            self._constants[f"{part}_q"] = numbers
            along = 0 if part == b or other.index(axis) == 0 else other.index(axis)
            names = [f"{part}_q", *self._scaled(part, scale, np.zeros(count, numbers.dtype))]
            self._nodes.append(helper.make_node("DequantizeLinear", names, [part], axis=along))
        zeros = [0] * count
        found = (
            self._tflite.tensor(
                w, shape, "int8", scale=scales.tolist(), zero_point=zeros, axis=axis, data=data
            ),
            self._tflite.tensor(b, (count,), "int32", scale=added.tolist(), zero_point=zeros, data=bias),
        )
        return *found, w, b

    def conv(self, value: Value, channels: int, window: int, stride: int = 1, *, relu: bool = True) -> Value:
        """Convolution, padded to keep extents (less the stride)."""
        before = value.shape[3]
        shape = (channels, window, window, before)
        *tflite, w, b = self._weights(value, shape, 0, (0, 3, 1, 2), window * window * before)
        result = self._value(_strided(value.shape, stride, channels), 0.03, -128 if relu else 4)
        options = _options(stride, relu)
        self._tflite.op("CONV_2D", [value.tflite, *tflite], [result.tflite], **options)
        self._add("Conv", [value.onnx, w, b], result, relu, **_geometry(value.shape, window, stride))
        return result

    def depthwise(self, value: Value, window: int, stride: int = 1) -> Value:
        """Depthwise convolution and Relu, padded alike."""
        channels = value.shape[3]
        shape = (1, window, window, channels)
        *tflite, w, b = self._weights(value, shape, 3, (3, 0, 1, 2), window * window)
        result = self._value(_strided(value.shape, stride, channels), 0.03, -128)
        inputs, options = [value.tflite, *tflite], _options(stride, True)
        self._tflite.op("DEPTHWISE_CONV_2D", inputs, [result.tflite], depth_multiplier=1, **options)
        more = _geometry(value.shape, window, stride) | {"group": channels}
        self._add("Conv", [value.onnx, w, b], result, True, **more)
        return result

    def add(self, first: Value, second: Value) -> Value:
        """Sum of two."""
        result = self._value(first.shape, 0.05, 3)
        self._tflite.op("ADD", [first.tflite, second.tflite], [result.tflite])
        self._add("Add", [first.onnx, second.onnx], result)
        return result

    def concat(self, first: Value, second: Value) -> Value:
        """Channels of two of one scale."""
        shape = (*first.shape[:3], first.shape[3] + second.shape[3])
        result = self._value(shape, first.scale, first.zero)
        self._tflite.op("CONCATENATION", [first.tflite, second.tflite], [result.tflite], axis=3)
        self._add("Concat", [first.onnx, second.onnx], result, axis=1)
        return result

    def padded(self, value: Value) -> Value:
        """A PAD of one element around the image; ONNX says nothing of its number, which is 0."""
        batch, height, width, channels = value.shape
        result = self._value((batch, height + 2, width + 2, channels), value.scale, value.zero)
        amounts = np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32)
        where = self._tflite.tensor(f"{result.onnx}_pads", amounts.shape, "int32", data=amounts)
        self._tflite.op("PAD", [value.tflite, where], [result.tflite])
        self._constants[f"{result.onnx}_around"] = np.array([0, 0, 1, 1, 0, 0, 1, 1])
        self._add("Pad", [value.onnx, f"{result.onnx}_around"], result)
        return result

    def max_pool(self, value: Value) -> Value:
        """2x2."""
        result = self._value(_strided(value.shape, 2, value.shape[3]), value.scale, value.zero)
        window: dict[str, Any] = {"filter_height": 2, "filter_width": 2, "stride_h": 2, "stride_w": 2}
        self._tflite.op("MAX_POOL_2D", [value.tflite], [result.tflite], padding="VALID", **window)
        self._add("MaxPool", [value.onnx], result, kernel_shape=[2, 2], strides=[2, 2])
        return result

    def classes(self, value: Value, count: int) -> Value:
        """The mean of each channel, and a product by a matrix."""
        channels = value.shape[3]
        mean = self._value((1, channels), 0.02, 7)
        axes = self._tflite.constant(f"{mean.onnx}_axes", [1, 2])
        self._tflite.op("MEAN", [value.tflite, axes], [mean.tflite])
        whole = Value(tflite=-1, onnx=self._name(), shape=(1, channels, 1, 1), scale=0.02, zero=7)
        self._add("GlobalAveragePool", [value.onnx], whole)
        self._add("Flatten", [whole.onnx], mean)
        *tflite, w, b = self._weights(mean, (count, channels), 0, (0, 1), channels)
        result = self._value((1, count), 0.05, 1)
        self._tflite.op("FULLY_CONNECTED", [mean.tflite, *tflite], [result.tflite])
        self._add("Gemm", [mean.onnx, w, b], result, transB=1)
        return result

    def files(self, result: Value) -> tuple[bytes, bytes]:
        """The `.tflite` and the `.onnx` that give `result`."""
        self._tflite.outputs(result.tflite)
        kind = onnx.TensorProto.INT8 if self.is_integer else onnx.TensorProto.FLOAT
        nodes = [helper.make_node("Transpose", ["image"], [self.start.onnx], perm=[0, 3, 1, 2])]
        output = result.onnx
        if self.is_integer:
            output = f"{result.onnx}_q"
            scale = self._scaled("image", self.start.scale, np.int8(self.start.zero))
            nodes = [
                helper.make_node("DequantizeLinear", ["image", *scale], ["real"]),
                helper.make_node("Transpose", ["real"], ["moved"], perm=[0, 3, 1, 2]),
                helper.make_node("QuantizeLinear", ["moved", *scale], ["moved_q"]),
                helper.make_node("DequantizeLinear", ["moved_q", *scale], [self.start.onnx]),
            ]
        graph = helper.make_graph(
            [*nodes, *self._nodes],
            "g",
            [helper.make_tensor_value_info("image", kind, list(self._image))],
            [helper.make_tensor_value_info(output, kind, list(result.shape))],
            [numpy_helper.from_array(np.asarray(data), name) for name, data in self._constants.items()],
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        return self._tflite.build(), made.SerializeToString()


def _strided(shape: Shape, stride: int, channels: int) -> Shape:
    return (shape[0], -(-shape[1] // stride), -(-shape[2] // stride), channels)


def _options(stride: int, relu: bool) -> dict[str, Any]:
    return {
        "padding": "SAME",
        "stride_h": stride,
        "stride_w": stride,
        "activation": "relu" if relu else "none",
    }


def _geometry(shape: Shape, window: int, stride: int) -> dict[str, Any]:
    """SAME padding, stated."""
    pads: list[int] = []
    for extent in shape[1:3]:
        whole = max(0, (-(-extent // stride) - 1) * stride + window - extent)
        pads.append(whole // 2)
        pads.append(whole - whole // 2)
    return {
        "kernel_shape": [window, window],
        "strides": [stride, stride],
        "pads": [pads[0], pads[2], pads[1], pads[3]],
    }


def plain(dtype: str) -> tuple[bytes, bytes]:
    """Three convolutions, a pool, classes."""
    twins = Twins(dtype, (1, 24, 24, 1))
    value = twins.conv(twins.start, 8, 3)
    value = twins.max_pool(value)
    value = twins.conv(value, 16, 3, 2)
    value = twins.conv(value, 24, 1)
    return twins.files(twins.classes(value, 10))


def mobile(dtype: str) -> tuple[bytes, bytes]:
    """Depthwise and 1x1 convolutions, as MobileNet has them."""
    twins = Twins(dtype, (1, 32, 32, 3))
    value = twins.conv(twins.start, 8, 3, 2)
    for channels, stride in ((16, 1), (24, 2), (32, 2)):
        value = twins.conv(twins.depthwise(value, 3, stride), channels, 1)
    return twins.files(twins.classes(value, 4))


def wide_windows(dtype: str) -> tuple[bytes, bytes]:
    """Depthwise convolutions of 5x5."""
    twins = Twins(dtype, (1, 20, 20, 3))
    value = twins.conv(twins.start, 16, 1)
    value = twins.conv(twins.depthwise(value, 5), 16, 1)
    value = twins.conv(twins.depthwise(value, 5, 2), 24, 1)
    return twins.files(twins.classes(value, 4))


def residual(dtype: str) -> tuple[bytes, bytes]:
    """Inverted blocks whose input is added."""
    twins = Twins(dtype, (1, 24, 24, 3))
    value = twins.conv(twins.start, 8, 3, 2)
    for _ in range(2):
        inner = twins.depthwise(twins.conv(value, 32, 1), 3)
        value = twins.add(value, twins.conv(inner, 8, 1, relu=False))
    return twins.files(twins.classes(value, 6))


def branches(dtype: str) -> tuple[bytes, bytes]:
    """A fire module: two convolutions of one value, joined."""
    twins = Twins(dtype, (1, 16, 16, 3))
    value = twins.conv(twins.start, 16, 3)
    for _ in range(2):
        narrow = twins.conv(value, 4, 1)
        value = twins.concat(twins.conv(narrow, 8, 1), twins.conv(narrow, 8, 3))
    return twins.files(twins.classes(value, 6))


def pruned(dtype: str) -> tuple[bytes, bytes]:
    """Every kind of layer with channels that are constant: a quarter of the weights' rows are zeros."""
    twins = Twins(dtype, (1, 16, 16, 3), dead=4)
    value = twins.max_pool(twins.conv(twins.start, 8, 3))
    value = twins.depthwise(twins.conv(value, 8, 1), 3)
    value = twins.add(value, twins.conv(value, 8, 1, relu=False))
    value = twins.concat(twins.conv(value, 8, 1), twins.conv(value, 8, 3))
    return twins.files(twins.classes(twins.conv(value, 16, 1), 4))


def padding(dtype: str) -> tuple[bytes, bytes]:
    """A PAD in front of a pool and of a convolution."""
    twins = Twins(dtype, (1, 14, 14, 3))
    value = twins.max_pool(twins.padded(twins.conv(twins.start, 8, 3)))
    value = twins.max_pool(twins.conv(twins.padded(value), 16, 3))
    return twins.files(twins.classes(value, 4))


def exported(data: bytes) -> bytes:
    """An int8 `.onnx` of these with the edges that exporters write: float32, N, C, H, W, `scores`."""
    made = onnx.load_from_string(data)
    graph, scales = made.graph, ["image_s", "image_z"]
    last = graph.node[-1]
    nodes = [
        helper.make_node("QuantizeLinear", ["image", *scales], ["image_q"]),
        helper.make_node("DequantizeLinear", ["image_q", *scales], [graph.node[3].output[0]]),
        *graph.node[4:-1],
        helper.make_node("DequantizeLinear", list(last.input), ["scores"]),
    ]
    shape = [extent.dim_value for extent in graph.input[0].type.tensor_type.shape.dim]
    count = graph.output[0].type.tensor_type.shape.dim[1].dim_value
    del graph.node[:], graph.input[:], graph.output[:]
    graph.node.extend(nodes)
    planes = [shape[0], shape[3], shape[1], shape[2]]
    graph.input.append(helper.make_tensor_value_info("image", onnx.TensorProto.FLOAT, planes))
    graph.output.append(helper.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, [1, count]))
    return made.SerializeToString()


Network = Callable[[str], tuple[bytes, bytes]]
"""(`.tflite`, `.onnx`) of an element type."""

NETWORKS: tuple[Network, ...] = (plain, mobile, wide_windows, residual, branches, pruned)
