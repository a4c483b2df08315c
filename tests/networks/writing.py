"""A float network as a `.tflite` file, quantised as TFLite's converter does it.

Values have the range of the calibration, zero included. Weights are symmetric, with a scale a channel in
convolutions and one scale in FULLY_CONNECTED. A bias has the product of both scales. int16 is symmetric.
uint8 files are of the older kind: weights are uint8 with a zero point, and one scale a tensor.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from codegen.importers.tflite.writing.writer import ModelBuilder
from tests.networks.layers import Layer, Network

_FIXED = ("SOFTMAX", "LOGISTIC")
"""Operators whose result has the range [0, 1)."""
_SHARED = ("RESHAPE", "AVERAGE_POOL_2D", "MAX_POOL_2D", "PAD")
"""Operators whose result is quantised as their argument."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scale:
    """Quantisation of a value."""

    scale: float
    zero_point: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """Element types of a file: of values, of weights (empty: that of values), and of its edges.

    `float_edges`: inputs and outputs are float32, with QUANTIZE and DEQUANTIZE beside them.
    """

    values: str = "int8"
    weights: str = ""
    float_edges: bool = False
    open_batch: bool = True
    """Files of a converter leave the batch open: their shapes have -1 there, beside the 1."""
    is_onnx: bool = False
    """An ONNX file of QuantizeLinear and DequantizeLinear (`qdq`) in place of a `.tflite` file."""

    @property
    def is_float(self) -> bool:
        """True if the file has no quantisation."""
        return self.values == "float32"


def value_scale(data: np.ndarray, dtype: str) -> Scale:
    """Quantisation of a value that takes the numbers of `data`."""
    low, high = min(float(data.min()), 0.0), max(float(data.max()), 0.0)
    if dtype == "int16":
        return Scale(scale=float(np.float32(max(-low, high) / 32767)), zero_point=0)
    smallest = np.iinfo(dtype).min
    scale = float(np.float32((high - low) / 255))
    return Scale(
        scale=scale, zero_point=int(np.clip(round(smallest - low / scale), smallest, smallest + 255))
    )


def quantised(data: np.ndarray, scale: Scale, dtype: str) -> np.ndarray:
    """`data` in steps of `scale`."""
    steps = np.round(data / scale.scale) + scale.zero_point
    return np.clip(steps, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)


class Writer:
    """Writes one network in one form."""

    def __init__(self, network: Network, form: Form) -> None:
        self._network, self._form = network, form
        self._model = ModelBuilder()
        self.scales: dict[int, Scale] = {} if form.is_float else self._value_scales()
        self._tensors: dict[int, int] = {}

    def build(self, finish: Callable[[ModelBuilder, Sequence[int]], Sequence[int]] | None = None) -> bytes:
        """The file. `finish` adds operators behind the network's outputs, and gives the file's own."""
        edges = [self._edge(value) for value in self._network.inputs]
        for layer in self._network.layers:
            self._write(layer)
        self._model.inputs(*edges)
        outputs = [self._left(value) for value in self._network.outputs]
        self._model.outputs(*(finish(self._model, outputs) if finish else outputs))
        return self._model.build()

    def inputs(self, samples: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        """One sample an input, in the element type of the file's edges."""
        form = self._form
        if form.is_float or form.float_edges or form.is_onnx:
            return tuple(sample[None].astype(np.float32) for sample in samples)
        return tuple(
            quantised(sample[None], self.scales[value], form.values)
            for value, sample in zip(self._network.inputs, samples, strict=True)
        )

    def _value_scales(self) -> dict[int, Scale]:
        """Like a converter: an average pool reads what it also gives, so both have the argument's range."""
        network, dtype = self._network, self._form.values
        scales = {value: value_scale(network.values[value], dtype) for value in range(len(network.values))}
        for layer in network.layers:
            if layer.name in _SHARED:
                scales[layer.result] = scales[layer.inputs[0]]
            elif layer.name in _FIXED:
                scales[layer.result] = (
                    Scale(scale=1 / 32768, zero_point=0)
                    if dtype == "int16"
                    else Scale(scale=1 / 256, zero_point=int(np.iinfo(dtype).min))
                )
        return scales

    def _tensor(self, value: int, dtype: str = "") -> int:
        meaning: dict[str, Any] = {}
        if not self._form.is_float and not dtype:
            scale = self.scales[value]
            meaning = {"scale": scale.scale, "zero_point": scale.zero_point}
        shape = self._network.shape(value)
        if self._form.open_batch:
            meaning["shape_signature"] = (-1, *shape[1:])
        name = self._name(value) if not dtype else f"{self._name(value)}_{dtype}"
        return self._model.tensor(name, shape, dtype or self._form.values, **meaning)

    def _name(self, value: int) -> str:
        inputs = self._network.inputs
        return f"input_{inputs.index(value) + 1}" if value in inputs else f"v{value}"

    def _edge(self, value: int) -> int:
        self._tensors[value] = self._tensor(value)
        if not self._form.float_edges:
            return self._tensors[value]
        edge = self._tensor(value, "float32")
        self._model.op("QUANTIZE", [edge], [self._tensors[value]])
        return edge

    def _left(self, value: int) -> int:
        if not self._form.float_edges:
            return self._tensors[value]
        edge = self._tensor(value, "float32")
        self._model.op("DEQUANTIZE", [self._tensors[value]], [edge])
        return edge

    def _write(self, layer: Layer) -> None:
        inputs = [self._tensors[value] for value in layer.inputs]
        self._tensors[layer.result] = result = self._tensor(layer.result)
        name = f"v{layer.result}"
        if layer.weights is not None and layer.bias is not None:
            inputs += self._weights(name, layer, layer.weights, layer.bias)
        inputs += [
            self._model.constant(f"{name}_{number}", data) for number, data in enumerate(layer.constants)
        ]
        self._model.op(layer.name, inputs, [result], **layer.options)

    def _weights(self, name: str, layer: Layer, weights: np.ndarray, bias: np.ndarray) -> list[int]:
        model, form = self._model, self._form
        if form.is_float:
            parts = (("w", weights), ("b", bias))
            return [
                model.tensor(f"{name}_{part}", data.shape, "float32", data=data.astype(np.float32))
                for part, data in parts
            ]
        before = self.scales[layer.inputs[0]].scale
        if form.values == "uint8":
            scale = value_scale(weights, "uint8")
            steps, scales, axis = quantised(weights, scale, "uint8"), np.array([scale.scale]), 0
            meaning: dict[str, Any] = {"scale": scale.scale, "zero_point": scale.zero_point}
        else:
            axis = 3 if layer.name == "DEPTHWISE_CONV_2D" else 0
            steps, scales = symmetric(weights, axis, layer.name, form.weights or "int8")
            meaning = {"scale": scales.tolist(), "zero_point": [0] * len(scales), "axis": axis}
        held = model.tensor(
            f"{name}_w", weights.shape, form.weights or str(steps.dtype), data=steps, **meaning
        )
        sums = (scales.astype(np.float32) * np.float32(before)).astype(np.float64)
        dtype = "int64" if form.values == "int16" else "int32"
        added = np.round(bias / sums).astype(dtype)
        more: dict[str, Any] = {"scale": sums.tolist(), "zero_point": [0] * len(sums)}
        return [held, model.tensor(f"{name}_b", bias.shape, dtype, data=added, **more)]


def symmetric(weights: np.ndarray, axis: int, name: str, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Steps and scales: of each channel along `axis`, or of the whole tensor in FULLY_CONNECTED."""
    largest = 7 if dtype == "int4" else 127
    over = None if name == "FULLY_CONNECTED" else tuple(at for at in range(weights.ndim) if at != axis)
    extent: np.ndarray = np.abs(weights).max(axis=over, keepdims=True)
    scales = (extent / largest).astype(np.float32)
    steps: np.ndarray = np.clip(np.round(weights / scales), -largest, largest).astype(np.int8)
    return steps, scales.reshape(-1).astype(np.float64)
