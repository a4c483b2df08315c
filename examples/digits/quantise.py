"""Post-training quantisation of the example's network, written as a `.tflite` file.

Scheme of the TFLite quantisation specification: int8 activations with a zero point, symmetric int8 weights
(per channel in convolutions), int32 biases at the product of the scales of image and weights.
"""

from dataclasses import dataclass

import network
import numpy as np

from codegen.importers.tflite.writing.writer import ModelBuilder

IMAGE_SCALE = 1 / 128
IMAGE_ZERO_POINT = -128
BRIGHTEST = 16
"""Pixels are 0 to 16; the network sees pixel / 16, which is (8 * pixel - 128) in int8, exactly."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Affine:
    """real = scale * (stored - zero_point)."""

    scale: float
    zero_point: int


def stored_images(pixels: np.ndarray) -> np.ndarray:
    """Pixels 0 to 16 of shape (n, 8, 8) as the network's int8 input (n, 8, 8, 1)."""
    return (pixels[..., np.newaxis].astype(np.int32) * (128 // BRIGHTEST) - 128).astype(np.int8)


def calibrate(values: np.ndarray) -> Affine:
    """The quantisation that spans all values and 0."""
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    scale = float(np.float32((high - low) / 255))
    return Affine(scale=scale, zero_point=int(np.clip(np.rint(-128 - low / scale), -128, 127)))


class _Graph:
    """The file under construction: tensors by layer name."""

    def __init__(self, weights: network.Weights, calibration: network.Values) -> None:
        self.model = ModelBuilder(description="handwritten digits")
        self._weights = weights
        self._calibration = calibration
        self._affine: dict[str, Affine] = {}

    def tensor(self, name: str, shape: tuple[int, ...], affine: Affine | None = None) -> int:
        """An int8 result, quantised as its calibration values demand unless said otherwise."""
        affine = affine or calibrate(self._calibration[name])
        self._affine[name] = affine
        return self.model.tensor(name, shape, scale=affine.scale, zero_point=affine.zero_point)

    def affine(self, name: str) -> Affine:
        """Quantisation of a tensor added before."""
        return self._affine[name]

    def constants(self, layer: str, source: str, order: tuple[int, ...], channels: int | None) -> list[int]:
        """Weights of a layer in the file's axis order, per channel along `channels`, and its bias."""
        real = self._weights[layer].transpose(order) if layer != "depthwise" else self._weights[layer][None]
        others = tuple(axis for axis in range(real.ndim) if axis != channels)
        largest = np.abs(real).max(others if channels is not None else None)
        scales = np.maximum(np.atleast_1d(largest) / 127, 1e-8).astype(np.float32)
        spread = scales.reshape([-1 if axis == channels else 1 for axis in range(real.ndim)])
        stored = np.rint(real / spread).clip(-127, 127).astype(np.int8)
        bias_scales = scales * np.float32(self._affine[source].scale)
        bias = np.rint(self._weights[f"{layer}_bias"] / bias_scales).astype(np.int32)
        return [
            self.model.tensor(f"{layer}/weights", real.shape, scale=scales, axis=channels or 0, data=stored),
            self.model.tensor(f"{layer}/bias", bias.shape, "int32", scale=bias_scales, data=bias),
        ]


def write_model(weights: network.Weights, images: np.ndarray) -> bytes:
    """The quantised network as a `.tflite` file, calibrated on float images of shape (n, 8, 8, 1)."""
    graph = _Graph(weights, network.forward(weights, images))
    model = graph.model
    features, deep = network.FEATURES, network.DEEP_FEATURES
    image = graph.tensor("image", (1, 8, 8, 1), Affine(scale=IMAGE_SCALE, zero_point=IMAGE_ZERO_POINT))
    stem = graph.tensor("stem", (1, 8, 8, features))
    operands = [image, *graph.constants("stem", "image", (3, 0, 1, 2), 0)]
    model.op("CONV_2D", operands, [stem], padding="SAME", activation="relu")
    depthwise = graph.tensor("depthwise", (1, 8, 8, features))
    operands = [stem, *graph.constants("depthwise", "stem", (), 3)]
    model.op("DEPTHWISE_CONV_2D", operands, [depthwise], padding="SAME", activation="relu")
    pointwise = graph.tensor("pointwise", (1, 8, 8, features))
    operands = [depthwise, *graph.constants("pointwise", "depthwise", (3, 0, 1, 2), 0)]
    model.op("CONV_2D", operands, [pointwise], padding="SAME", activation="relu")
    total = graph.tensor("sum", (1, 8, 8, features))
    model.op("ADD", [stem, pointwise], [total])
    pool = graph.tensor("pool", (1, 4, 4, features), graph.affine("sum"))
    sizes = {"filter_height": 2, "filter_width": 2, "stride_h": 2, "stride_w": 2}
    model.op("AVERAGE_POOL_2D", [total], [pool], padding="VALID", **sizes)
    deeper = graph.tensor("deep", (1, 2, 2, deep))
    operands = [pool, *graph.constants("deep", "pool", (3, 0, 1, 2), 0)]
    model.op("CONV_2D", operands, [deeper], padding="VALID", activation="relu")
    row = graph.tensor("row", (1, 4 * deep), graph.affine("deep"))
    model.op("RESHAPE", [deeper, model.constant("row/shape", [1, 4 * deep])], [row], new_shape=(1, 4 * deep))
    classes = graph.tensor("classes", (1, network.CLASSES))
    operands = [row, *graph.constants("classes", "row", (1, 0), None)]
    model.op("FULLY_CONNECTED", operands, [classes])
    odds = graph.tensor("odds", (1, network.CLASSES), Affine(scale=1 / 256, zero_point=-128))
    model.op("SOFTMAX", [classes], [odds], beta=1.0)
    model.inputs(image)
    model.outputs(odds)
    return model.build()
