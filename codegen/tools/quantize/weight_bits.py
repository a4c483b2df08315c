"""4 or 8 bits for the weights of each layer: as many of 8 as a budget of flash lets stay, by measured loss.

Each layer by itself is tried with int4 weights on samples of the calibration. Layers that lose least for a
byte that they save come first, and one is added to another until the budget is met.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from codegen.api import CodegenError, Message, Progress
from codegen.tools.quantize.evaluation import session
from codegen.tools.quantize.samples import Samples

_OPSET, _IR_VERSION = 21, 10
"""The first that have int4."""
_SAMPLES = 64
"""Samples that a loss is measured on, at most."""
_LOW, _HIGH = -8, 7
_JOINED = "_QuantizeLinear_Input"
"""Suffix of onnxruntime's quantiser for a result that becomes integers."""
_SHARES = np.linspace(0.6, 1.0, 9)
"""Parts of a channel's largest weight that become 7: the one with the least error of squares is taken."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """Weights of these layers, and of those in front of it, in 4 bits."""

    layer: str
    """The layer that this point adds; empty: none is int4."""
    loss: float
    """Error of the outputs, relative to the float model's: root of the mean squares."""
    weight_bytes: int
    """Bytes of all weights and biases."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BitChoice:
    """Loss against bytes, and how many layers became int4."""

    budget_bytes: int
    points: tuple[Point, ...]
    chosen: int
    """Index of the point that was taken."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Layer:
    """A convolution or product, and the numbers of its weights in the quantised model."""

    node: str
    weights: np.ndarray
    """Weights of the float model."""
    axis: int | None
    """The channels', where each has a scale."""
    names: tuple[str, str, str]
    """Initializers: weights, scale, zero point."""
    image_scale: float
    bias_names: tuple[str, str] | None
    """Initializers of the bias: numbers, scale."""

    @property
    def saved_bytes(self) -> int:
        """Bytes that 4 bits save."""
        return self.weights.size - (self.weights.size + 1) // 2


def choose_bits(
    packages: tuple[Any, Any],
    files: tuple[Path, Path],
    samples: Samples,
    budget: int,
    weight_bytes: int,
    progress: Progress,
) -> BitChoice:
    """Rewrite the quantised file, the second one, so that weights and biases take `budget` bytes at most.

    `packages`: onnx, onnxruntime. `files`: the float model and the quantised one, whose weights and biases
    take `weight_bytes`. Raises CodegenError E408 where 4 bits for every layer take more.
    """
    onnx, onnxruntime = packages
    real, made = (onnx.load_model(str(path)) for path in files)
    layers = _layers(onnx, real, made)
    smallest = weight_bytes - sum(layer.saved_bytes for layer in layers)
    if budget < smallest:
        text = f"weights and biases take {smallest:,} bytes with 4 bits in all {len(layers)} layers that can"
        help_ = (
            f"the smallest budget is --budget flash={smallest}; depthwise layers and biases stay as they are"
        )
        raise CodegenError(Message(code="E408", where=f"--budget flash={budget}", text=text, help=help_))
    made = onnx.version_converter.convert_version(made, _OPSET) if _opset(made) < _OPSET else made
    made.ir_version = max(made.ir_version, _IR_VERSION)
    loss_of = _Loss(onnxruntime, real, samples)
    base = loss_of(made)
    alone: list[float] = []
    for index, layer in enumerate(layers):
        progress("try 4 bits", index, 2 * len(layers))
        alone.append(loss_of(_with_int4(onnx, made, [layer])))
    order = sorted(
        range(len(layers)),
        key=lambda index: (alone[index] ** 2 - base**2) / max(1, layers[index].saved_bytes),
    )
    points = [Point(layer="", loss=base, weight_bytes=weight_bytes)]
    taken: list[_Layer] = []
    for count, index in enumerate(order):
        progress("try 4 bits", len(layers) + count, 2 * len(layers))
        taken.append(layers[index])
        left = points[-1].weight_bytes - layers[index].saved_bytes
        loss = loss_of(_with_int4(onnx, made, taken))
        points.append(Point(layer=layers[index].node, loss=loss, weight_bytes=left))
    chosen = next(place for place, point in enumerate(points) if point.weight_bytes <= budget)
    if chosen:
        onnx.save_model(_with_int4(onnx, made, taken[:chosen]), str(files[1]))
    return BitChoice(budget_bytes=budget, points=tuple(points), chosen=chosen)


def _opset(model: Any) -> int:
    return next(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))


def _layers(onnx: Any, real: Any, made: Any) -> list[_Layer]:
    """Layers whose weights can be int4: convolutions of one group, and products by a matrix."""
    numbers = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in real.graph.initializer}
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in made.graph.initializer}
    maker = {output: node for node in made.graph.node for output in node.output}
    readers = [name for node in made.graph.node for name in node.input]
    layers: list[_Layer] = []
    for node in made.graph.node:
        groups = next((entry.i for entry in node.attribute if entry.name == "group"), 1)
        if node.op_type not in ("Conv", "Gemm", "MatMul") or groups != 1:
            continue
        parts = [maker[name] for name in node.input if name in maker]
        if [part.op_type for part in parts] != ["DequantizeLinear"] * len(node.input):
            continue
        image, weights, *bias = parts
        name = weights.input[0].removesuffix("_quantized")
        is_alone = readers.count(weights.output[0]) == readers.count(weights.input[0]) == 1
        if name not in numbers or not is_alone or len(weights.input) < 3 or image.input[1] not in stored:
            continue
        axis = next((entry.i for entry in weights.attribute if entry.name == "axis"), 1)
        layers.append(
            _Layer(
                node=node.name or node.output[0].removesuffix(_JOINED),
                weights=numbers[name],
                axis=axis if stored[weights.input[1]].ndim else None,
                names=tuple(weights.input),
                image_scale=float(stored[image.input[1]]),
                bias_names=(bias[0].input[0], bias[0].input[1]) if bias else None,
            )
        )
    return layers


def _int4(layer: _Layer) -> tuple[np.ndarray, np.ndarray]:
    """Weights in 4 bits, and the scale of each channel or the one scale."""
    weights = layer.weights.astype(np.float64)
    axes = tuple(axis for axis in range(weights.ndim) if axis != layer.axis)
    largest = np.abs(weights).max(axis=axes, keepdims=True)
    tried = [np.where(largest > 0, largest * share / _HIGH, 1.0).astype(np.float32) for share in _SHARES]
    rounded = [np.clip(np.rint(weights / scale), _LOW, _HIGH) for scale in tried]
    errors = np.stack(
        [
            ((whole * scale - weights) ** 2).sum(axis=axes, keepdims=True)
            for whole, scale in zip(rounded, tried, strict=True)
        ]
    )
    scales = np.take_along_axis(np.stack(tried), errors.argmin(axis=0)[None], axis=0)[0]
    whole = np.clip(np.rint(weights / scales), _LOW, _HIGH).astype(np.int64)
    return whole, scales.reshape(-1) if layer.axis is not None else scales.reshape(())


def _with_int4(onnx: Any, made: Any, layers: Sequence[_Layer]) -> Any:
    """The quantised model with int4 weights in these layers; biases are scaled anew."""
    model = onnx.ModelProto()
    model.CopyFrom(made)
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    for layer in layers:
        whole, scales = _int4(layer)
        weights, scale, zero = (tensors[name] for name in layer.names)
        int4 = onnx.TensorProto.INT4
        nothing = np.zeros(scales.size, np.int64).tolist()
        _replace(weights, onnx.helper.make_tensor("", int4, whole.shape, whole.reshape(-1).tolist()))
        _replace(scale, onnx.numpy_helper.from_array(scales))
        _replace(zero, onnx.helper.make_tensor("", int4, scales.shape, nothing))
        if layer.bias_names is not None:
            bias, bias_scale = (tensors[name] for name in layer.bias_names)
            real = onnx.numpy_helper.to_array(bias) * onnx.numpy_helper.to_array(bias_scale).astype(
                np.float64
            )
            products = (np.float32(layer.image_scale) * scales).astype(np.float32)
            numbers = np.clip(np.rint(real / products), -(2**31), 2**31 - 1).astype(np.int32)
            _replace(bias, onnx.numpy_helper.from_array(numbers))
            _replace(bias_scale, onnx.numpy_helper.from_array(products))
    return model


def _replace(tensor: Any, other: Any) -> None:
    """Another tensor in its place, under its name."""
    name = tensor.name
    tensor.CopyFrom(other)
    tensor.name = name


class _Loss:
    """Error of a quantised model's outputs over some samples."""

    def __init__(self, onnxruntime: Any, real: Any, samples: Samples) -> None:
        self._onnxruntime = onnxruntime
        self._rows: Sequence[Mapping[str, np.ndarray]] = samples.rows[:_SAMPLES]
        self._exact = self._outputs(real)

    def __call__(self, model: Any) -> float:
        """Root of the mean of each output's squared errors over its squares."""
        shares = [
            float(((exact - got) ** 2).sum() / max(float((exact**2).sum()), 1e-30))
            for exact, got in zip(self._exact, self._outputs(model), strict=True)
        ]
        return math.sqrt(sum(shares) / len(shares))

    def _outputs(self, model: Any) -> list[np.ndarray]:
        one = session(self._onnxruntime, model)
        runs = [one.run(None, dict(row)) for row in self._rows]
        return [
            np.stack([np.asarray(run[index], np.float64) for run in runs]) for index in range(len(runs[0]))
        ]
