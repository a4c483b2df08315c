"""Made-up networks of the size that mobile vision and sound networks have, with random weights.

The real ones are not among the shared models; planning, building and the reference cost as much with these.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from codegen.importers.tflite.writing.writer import ModelBuilder


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """`expand` times the channels by 1x1 (0: not at all), depthwise `window`x`window`, 1x1 to `channels`.

    Where stride and channels allow it, the input is added.
    """

    channels: int
    stride: int = 1
    window: int = 3
    expand: int = 0


@dataclass(kw_only=True, slots=True)
class _Layers:
    dtype: str
    seed: int = 1
    model: ModelBuilder = field(default_factory=ModelBuilder)

    def value(self, shape: Sequence[int]) -> int:
        quantised: dict[str, Any] = {"scale": 0.05, "zero_point": -3} if self.dtype == "int8" else {}
        return self.model.tensor(f"t{self.model.tensors}", shape, self.dtype, **quantised)

    def weights(self, shape: tuple[int, ...], axis: int, terms: int) -> tuple[int, int]:
        """Weights and bias; sums of `terms` products keep about the spread of the input."""
        self.seed += 1
        generator, count = np.random.default_rng(self.seed), shape[axis]
        w, b = f"w{self.model.tensors}", f"b{self.model.tensors}"
        if self.dtype == "float32":
            data = (generator.standard_normal(shape) / math.sqrt(terms)).astype(np.float32)
            bias = generator.standard_normal(count).astype(np.float32) * 0.1
            return (
                self.model.tensor(w, shape, "float32", data=data),
                self.model.tensor(b, (count,), "float32", data=bias.astype(np.float32)),
            )
        scales = [float(s) for s in (0.01 / math.sqrt(terms)) * generator.uniform(0.8, 1.25, count)]
        data = generator.integers(-127, 128, shape).astype(np.int8)
        bias = generator.integers(-2_000, 2_000, count).astype(np.int32)
        added = [0.05 * scale for scale in scales]
        zeros = [0] * count
        return (
            self.model.tensor(w, shape, "int8", scale=scales, zero_point=zeros, axis=axis, data=data),
            self.model.tensor(b, (count,), "int32", scale=added, zero_point=zeros, data=bias),
        )

    def conv(self, value: int, shape: Sequence[int], channels: int, window: int, stride: int) -> int:
        before = shape[3]
        filters, bias = self.weights((channels, window, window, before), 0, window * window * before)
        result = self.value(strided(shape, stride, channels))
        options: dict[str, Any] = {
            "padding": "SAME",
            "stride_h": stride,
            "stride_w": stride,
            "activation": "relu",
        }
        self.model.op("CONV_2D", [value, filters, bias], [result], **options)
        return result

    def depthwise(self, value: int, shape: Sequence[int], window: int, stride: int) -> int:
        filters, bias = self.weights((1, window, window, shape[3]), 3, window * window)
        result = self.value(strided(shape, stride, shape[3]))
        options: dict[str, Any] = {
            "padding": "SAME",
            "stride_h": stride,
            "stride_w": stride,
            "activation": "relu",
        }
        self.model.op("DEPTHWISE_CONV_2D", [value, filters, bias], [result], depth_multiplier=1, **options)
        return result

    def block(self, value: int, shape: Sequence[int], block: Block) -> int:
        inner, wide = value, shape
        if block.expand:
            wide = (*shape[:3], shape[3] * block.expand)
            inner = self.conv(value, shape, wide[3], 1, 1)
        inner = self.depthwise(inner, wide, block.window, block.stride)
        result_shape = strided(wide, block.stride, block.channels)
        inner = self.conv(inner, strided(wide, block.stride, wide[3]), block.channels, 1, 1)
        if not block.expand or tuple(result_shape) != tuple(shape):
            return inner
        result = self.value(result_shape)
        self.model.op("ADD", [value, inner], [result])
        return result


def strided(shape: Sequence[int], stride: int, channels: int) -> tuple[int, ...]:
    """NHWC after a window of SAME padding."""
    return (shape[0], -(-shape[1] // stride), -(-shape[2] // stride), channels)


def mobile(
    dtype: str, image: tuple[int, int, int], stem: int, blocks: Sequence[Block], classes: int
) -> bytes:
    """A `.tflite` file: a 3x3 convolution of stride 2 to `stem` channels, the blocks, the mean of each
    channel, `classes` results."""
    layers = _Layers(dtype=dtype)
    shape: tuple[int, ...] = (1, *image)
    start = value = layers.value(shape)
    layers.model.inputs(start)
    value, shape = layers.conv(value, shape, stem, 3, 2), strided(shape, 2, stem)
    for block in blocks:
        value = layers.block(value, shape, block)
        shape = strided(shape, block.stride, block.channels)
    mean = layers.value((1, shape[3]))
    axes = layers.model.constant("axes", [1, 2])
    layers.model.op("MEAN", [value, axes], [mean], keep_dims=False)
    filters, bias = layers.weights((classes, shape[3]), 0, shape[3])
    result = layers.value((1, classes))
    layers.model.op("FULLY_CONNECTED", [mean, filters, bias], [result])
    layers.model.outputs(result)
    return layers.model.build()


def sound(dtype: str) -> bytes:
    """As large as YAMNet: MobileNet v1 on 96x64, 13 blocks up to 1,024 channels, 521 classes."""
    widths = [
        (64, 1),
        (128, 2),
        (128, 1),
        (256, 2),
        (256, 1),
        (512, 2),
        *[(512, 1)] * 5,
        (1024, 2),
        (1024, 1),
    ]
    return mobile(dtype, (96, 64, 1), 32, [Block(channels=c, stride=s) for c, s in widths], 521)


def vision(dtype: str) -> bytes:
    """As large as MCUNetV2's large network: inverted residuals on 224x224 with windows of 3, 5 and 7."""
    stages = [(16, 1, 2), (24, 2, 3), (40, 2, 3), (80, 2, 4), (96, 1, 3), (160, 2, 3), (320, 1, 1)]
    blocks = [
        Block(
            channels=channels,
            stride=stride if again == 0 else 1,
            window=(7, 3, 5, 3)[(number + again) % 4],
            expand=(6, 3, 5, 4)[(number * 3 + again) % 4],
        )
        for number, (channels, stride, repeats) in enumerate(stages)
        for again in range(repeats)
    ]
    return mobile(dtype, (224, 224, 3), 16, blocks, 1000)
