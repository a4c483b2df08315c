"""Layers to fuzz with: what the builders draw (small, all options), and wider ones with several tiles."""

import numpy as np
from numpy.random import Generator

from codegen.ir import DType, Quantization, TensorType
from codegen.ir.ops import ConvAttrs, DepthwiseConvAttrs, FullyConnectedAttrs, Padding2D
from tests.kernels.builders import BUILDERS, CASES, random_layer
from tests.kernels.fpu.layers import float_layer
from tests.kernels.layers import (
    Layer,
    Operand,
    activation,
    fill,
    float32,
    int8_type,
    integer,
    layer,
    random_operand,
)

WEIGHTED = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


def dtypes_of(op: str) -> tuple[DType, ...]:
    """Element types that layers of `op` are drawn with; empty if nothing draws it."""
    return tuple(dtype for name, dtype in CASES if name == op)


def drawn(op: str, dtype: DType, seed: int) -> Layer:
    """Layer number `seed` of `op` on `dtype`, the same at every call: every third as the builders draw it,
    others wider where there are such."""
    if op not in BUILDERS:
        raise ValueError(f"no builder draws {op}")
    if seed % 3 and op in WEIGHTED and dtype is DType.INT8:
        return _wide(np.random.default_rng([seed, 1234, *op.encode()]), op)
    if seed % 3 and op in WEIGHTED and dtype is DType.FLOAT32:
        return float_layer(9 * (seed // 3) + 3 * WEIGHTED.index(op) + seed % 3)
    return random_layer(op, dtype, seed)


def _wide(rng: Generator, op: str) -> Layer:
    """Channels around multiples of what kernels take at once; weights and pixels at the ends at times."""
    if op == "FULLY_CONNECTED":
        inputs, outputs = _count(rng, 200), _count(rng, 40)
        image = _image(rng, (int(rng.choice([1, 1, 2, 3, 4, 5, 9])), inputs))
        weights = _weights(rng, (outputs, inputs), 0)
        attrs = FullyConnectedAttrs(activation=activation(rng))
        result = _result(rng, image, weights, inputs)
        return layer(op, attrs, (image, weights, _bias(rng, image, weights, outputs)), result)
    kernel = [(1, 1), (3, 3), (integer(rng, 1, 5), integer(rng, 1, 6))][integer(rng, 0, 2)]
    dilation = (integer(rng, 1, 3), integer(rng, 1, 3)) if rng.random() < 0.2 else (1, 1)
    spans = [(kernel[axis] - 1) * dilation[axis] + 1 for axis in (0, 1)]
    pads = [integer(rng, 0, spans[side // 2]) if rng.random() < 0.5 else 0 for side in range(4)]
    extents = [max(1, spans[axis] - pads[2 * axis] - pads[2 * axis + 1]) for axis in (0, 1)]
    size = (extents[0] + integer(rng, 0, 4), extents[1] + integer(rng, 0, 9))
    batch = 2 if rng.random() < 0.1 else 1
    options = ConvAttrs(
        stride=(integer(rng, 1, 3), integer(rng, 1, 3)) if rng.random() < 0.4 else (1, 1),
        dilation=dilation,
        padding=Padding2D(top=pads[0], bottom=pads[1], left=pads[2], right=pads[3]),
        activation=activation(rng),
    )
    if op == "CONV_2D":
        inputs, outputs = _count(rng, 70 if kernel == (1, 1) else 24), _count(rng, 36)
        image = _image(rng, (batch, *size, inputs))
        weights = _weights(rng, (outputs, *kernel, inputs), 0)
        result = _result(rng, image, weights, kernel[0] * kernel[1] * inputs)
        return layer(op, options, (image, weights, _bias(rng, image, weights, outputs)), result)
    channels = 1 if rng.random() < 0.2 else _count(rng, 40)
    multiplier = integer(rng, 1, 11) if channels == 1 else 1
    image = _image(rng, (batch, *size, channels))
    weights = _weights(rng, (1, *kernel, channels * multiplier), 3)
    attrs = DepthwiseConvAttrs(
        multiplier=multiplier,
        stride=options.stride,
        dilation=options.dilation,
        padding=options.padding,
        activation=options.activation,
    )
    result = _result(rng, image, weights, kernel[0] * kernel[1])
    return layer(op, attrs, (image, weights, _bias(rng, image, weights, channels * multiplier)), result)


def _count(rng: Generator, most: int) -> int:
    """Channels: any number, or one near a multiple of 4, 8 or 16."""
    if rng.random() < 0.5:
        return integer(rng, 1, most)
    return max(1, min(most, int(rng.choice([4, 8, 16, 32])) * integer(rng, 1, 3) + integer(rng, -1, 1)))


def _image(rng: Generator, shape: tuple[int, ...]) -> Operand:
    found = random_operand(rng, DType.INT8, shape)
    if rng.random() < 0.15:
        found = Operand(type=found.type, data=rng.choice(np.array([-128, 127], np.int8), shape))
    return found


def _weights(rng: Generator, shape: tuple[int, ...], axis: int) -> Operand:
    """Per channel or per tensor; now and then a scale that makes a multiplier of 0."""
    count = shape[axis] if rng.random() < 0.7 else 1
    scales = [float32(2.0 ** rng.uniform(-9, -6)) for _ in range(count)]
    if count > 1 and rng.random() < 0.1:
        scales[integer(rng, 0, count - 1)] = float32(2.0**-60)
    quantization = Quantization(
        scales=tuple(scales), zero_points=(0,) * count, axis=axis if count > 1 else None
    )
    type_ = TensorType(shape=shape, dtype=DType.INT8, quantization=quantization)
    data = fill(rng, type_) if rng.random() < 0.3 else rng.integers(-127, 128, shape, np.int8)
    if rng.random() < 0.1:
        data = np.full(shape, rng.choice([-128, 127]), np.int8)
    return Operand(type=type_, data=data, constant=True)


def _bias(rng: Generator, image: Operand, weights: Operand, channels: int) -> Operand:
    assert weights.type.quantization is not None
    scales = tuple(float32(image.type.scale * scale) for scale in weights.type.quantization.scales)
    quantization = Quantization(
        scales=scales, zero_points=(0,) * len(scales), axis=0 if len(scales) > 1 else None
    )
    reach = int(rng.choice([20_000, 20_000, 20_000, 3, 2**31 - 1]))
    data = rng.integers(-reach, reach, channels, np.int32, endpoint=True)
    type_ = TensorType(shape=(channels,), dtype=DType.INT32, quantization=quantization)
    return Operand(type=type_, data=data, constant=True)


def _result(rng: Generator, image: Operand, weights: Operand, taps: int) -> TensorType:
    """Results spread over int8; at times shifts to the left, or none, or all results one."""
    assert weights.type.quantization is not None
    product = image.type.scale * max(weights.type.quantization.scales)
    kind = rng.random()
    if kind < 0.15:
        return int8_type(rng, (), product / 2.0 ** rng.uniform(-2, 6))
    if kind < 0.18:
        return int8_type(rng, (), product * 2.0**33)
    return int8_type(rng, (), product * 73 * 73 * taps**0.5 / 2.0 ** rng.uniform(4, 7))
