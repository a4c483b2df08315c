"""A float network as an ONNX file of QuantizeLinear and DequantizeLinear, with its `.tflite` twin's scales.

Images are N, C, H, W, inputs and outputs float32, as exporters write it. Every value and every weight goes
through a DequantizeLinear; what is between are operators on real numbers.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tests.networks.layers import Layer, Network
from tests.networks.writing import Writer, symmetric

_CHANNELS_BEFORE = (0, 3, 1, 2)
"""Axes of an image's or of a weight's last axis put behind its first."""


def channels_first(data: np.ndarray) -> np.ndarray:
    """An image as ONNX has it; data of other ranks stay."""
    return np.ascontiguousarray(data.transpose(_CHANNELS_BEFORE)) if data.ndim == 4 else data


class QdqWriter:
    """Writes one network, quantised as `writer` does it."""

    def __init__(self, network: Network, writer: Writer) -> None:
        self._network, self._scales = network, writer.scales
        self._nodes: list[Any] = []
        self._constants: dict[str, np.ndarray] = {}

    def build(self) -> bytes:
        """The file."""
        network = self._network
        for value in network.inputs:
            self._quantise(f"x{value}", value)
        for layer in network.layers:
            self._write(layer)
        graph = helper.make_graph(
            self._nodes,
            "network",
            [self._info(f"x{value}", value) for value in network.inputs],
            [self._info(f"v{value}", value) for value in network.outputs],
            [numpy_helper.from_array(data, name) for name, data in self._constants.items()],
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        return made.SerializeToString()

    def _info(self, name: str, value: int) -> Any:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, self._shape(value))

    def _shape(self, value: int) -> list[int]:
        shape = self._network.shape(value)
        return [shape[axis] for axis in _CHANNELS_BEFORE] if len(shape) == 4 else list(shape)

    def _constant(self, name: str, data: np.ndarray) -> str:
        self._constants[name] = data
        return name

    def _quantise(self, real: str, value: int) -> None:
        """`real` in steps of the value's scale, and those as real numbers again: `v<value>`."""
        scale = self._scales[value]
        names = [
            self._constant(f"v{value}_scale", np.array(scale.scale, np.float32)),
            self._constant(f"v{value}_zero", np.array(scale.zero_point, np.int8)),
        ]
        steps = f"v{value}_steps"
        self._nodes.append(helper.make_node("QuantizeLinear", [real, *names], [steps]))
        self._nodes.append(helper.make_node("DequantizeLinear", [steps, *names], [f"v{value}"]))

    def _dequantised(self, name: str, steps: np.ndarray, scales: np.ndarray) -> str:
        """A constant as real numbers; several scales are those along its first axis."""
        zeros = np.zeros(scales.shape, steps.dtype)
        several = scales.size > 1
        names = [
            self._constant(f"{name}_steps", steps),
            self._constant(f"{name}_scale", scales if several else scales.reshape(())),
            self._constant(f"{name}_zero", zeros if several else zeros.reshape(())),
        ]
        axis: dict[str, Any] = {"axis": 0} if several else {}
        self._nodes.append(helper.make_node("DequantizeLinear", names, [name], **axis))
        return name

    def _write(self, layer: Layer) -> None:
        names = [f"v{value}" for value in layer.inputs]
        result, real = layer.result, f"v{layer.result}_real"
        activation = layer.options.get("activation", "none")
        sums = real if activation == "none" else f"{real}_sums"
        if layer.weights is not None and layer.bias is not None:
            names += self._weights(layer, layer.weights, layer.bias)
        op, more, attributes = self._operator(layer)
        if op == "Gemm" and len(self._network.shape(layer.inputs[0])) == 4:
            self._nodes.append(helper.make_node("Flatten", names[:1], [f"{real}_flat"]))
            names[0] = f"{real}_flat"
        self._nodes.append(helper.make_node(op, [*names, *more], [sums], **attributes))
        if activation != "none":
            limits = [self._constant(f"{real}_{at}", np.array(at, np.float32)) for at in (0, 6)]
            name, bounds = ("Relu", []) if activation == "relu" else ("Clip", limits)
            self._nodes.append(helper.make_node(name, [sums, *bounds], [real]))
        self._quantise(real, result)

    def _weights(self, layer: Layer, weights: np.ndarray, bias: np.ndarray) -> list[str]:
        """Weights and bias: a scale a channel, one scale in a Gemm."""
        axis = 3 if layer.name == "DEPTHWISE_CONV_2D" else 0
        steps, scales = symmetric(weights, axis, layer.name, "int8")
        if layer.name == "CONV_2D":
            steps = channels_first(steps)
        elif axis == 3:
            steps = steps.transpose(3, 0, 1, 2)
        else:
            shape = self._network.shape(layer.inputs[0])[1:]
            image = steps.reshape(-1, *shape)
            steps = channels_first(image).reshape(steps.shape)
        both = scales.astype(np.float32) * np.float32(self._scales[layer.inputs[0]].scale)
        name = f"v{layer.result}"
        return [
            self._dequantised(f"{name}_w", np.ascontiguousarray(steps), scales.astype(np.float32)),
            self._dequantised(f"{name}_b", np.round(bias / both.astype(np.float64)).astype(np.int32), both),
        ]

    def _operator(self, layer: Layer) -> tuple[str, list[str], dict[str, Any]]:
        """An operator by its ONNX name, the inputs behind values and weights, its attributes."""
        options, shape = layer.options, self._network.shape(layer.inputs[0])
        match layer.name:
            case "CONV_2D" | "DEPTHWISE_CONV_2D":
                assert layer.weights is not None
                window = layer.weights.shape[1:3]
                groups = shape[3] if layer.name == "DEPTHWISE_CONV_2D" else 1
                return "Conv", [], _windowed(window, shape, options) | {"group": groups}
            case "AVERAGE_POOL_2D" | "MAX_POOL_2D":
                window = (options["filter_height"], options["filter_width"])
                name = "AveragePool" if layer.name.startswith("AVERAGE") else "MaxPool"
                return name, [], _windowed(window, shape, options)
            case "PAD":
                (sides,) = layer.constants
                amounts = sides[list(_CHANNELS_BEFORE)].T.reshape(-1).astype(np.int64)
                return "Pad", [self._constant(f"v{layer.result}_pads", amounts)], {}
            case "RESHAPE":
                extents = np.array(self._shape(layer.result), np.int64)
                return "Reshape", [self._constant(f"v{layer.result}_shape", extents)], {}
            case "FULLY_CONNECTED":
                return "Gemm", [], {"transB": 1}
            case name:
                return {"ADD": "Add", "SOFTMAX": "Softmax", "LOGISTIC": "Sigmoid"}[name], [], {}


def _windowed(window: Sequence[int], shape: Sequence[int], options: Mapping[str, Any]) -> dict[str, Any]:
    """A window's attributes; padding stated as numbers."""
    strides = [options["stride_h"], options["stride_w"]]
    missing = [0, 0]
    if options["padding"] == "SAME":
        missing = [
            max((math.ceil(extent / stride) - 1) * stride + size - extent, 0)
            for extent, stride, size in zip(shape[1:3], strides, window, strict=True)
        ]
    pads = [*(each // 2 for each in missing), *(each - each // 2 for each in missing)]
    return {"kernel_shape": list(window), "strides": strides, "pads": pads}
