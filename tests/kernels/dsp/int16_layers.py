"""Random int16 convolutions and fully connected layers for the DSP kernels, wider than what builders draw."""

import numpy as np
from numpy.random import Generator

from codegen.ir import DType, TensorType
from codegen.ir.ops import ConvAttrs, FullyConnectedAttrs, Padding2D
from tests.kernels.builders import random_layer
from tests.kernels.dsp.conv_layers import random_weights
from tests.kernels.layers import Layer, Operand, activation, int16_type, integer, layer
from tests.tensor_types import tensor_type


def int16_layer(seed: int) -> Layer:
    """Layer number `seed`: every fourth as the builders draw it (small, all options)."""
    rng = np.random.default_rng([seed, 1616])
    op = ("CONV_2D", "FULLY_CONNECTED")[seed // 2 % 2]
    if seed % 4 == 0:
        return random_layer(("CONV_2D", "FULLY_CONNECTED")[seed // 4 % 2], DType.INT16, seed)
    return _conv(rng) if op == "CONV_2D" else _rows(rng)


def shaped(
    rows_columns: tuple[int, int],
    inputs: int,
    kernel: tuple[int, int],
    outputs: int,
    *,
    pad: int = 0,
    stride: int = 1,
) -> Layer:
    """A convolution of one shape that the DSP kernel takes."""
    rng = np.random.default_rng([*rows_columns, inputs, outputs])
    image = _image(rng, (1, *rows_columns, inputs))
    weights = random_weights(rng, (outputs, *kernel, inputs), 0, extreme=0)
    attrs = ConvAttrs(stride=(stride, stride), padding=Padding2D(top=pad, bottom=pad, left=pad, right=pad))
    operands = (image, weights, _bias(rng, outputs, 100_000))
    return layer("CONV_2D", attrs, operands, _result(rng, image, weights, 2.0**12))


def shaped_rows(rows: int, inputs: int, outputs: int) -> Layer:
    """A fully connected layer of one shape that the DSP kernels take."""
    rng = np.random.default_rng([rows, inputs, outputs])
    image, weights = _image(rng, (rows, inputs)), random_weights(rng, (outputs, inputs), 0, extreme=0)
    operands = (image, weights, None)
    return layer("FULLY_CONNECTED", FullyConnectedAttrs(), operands, _result(rng, image, weights, 2.0**12))


def _image(rng: Generator, shape: tuple[int, ...]) -> Operand:
    type_ = int16_type(rng, shape)
    return Operand(type=type_, data=rng.integers(-32768, 32768, shape, np.int16))


def _bias(rng: Generator, channels: int, reach: int) -> Operand:
    """The scale says nothing to these layers."""
    type_ = tensor_type((channels,), DType.INT64)
    data = rng.integers(-reach, reach, channels, np.int64, endpoint=True)
    return Operand(type=type_, data=data, constant=True)


def _result(rng: Generator, image: Operand, weights: Operand, ratio: float) -> TensorType:
    """A result step is `ratio` steps of the sum of the channel with the largest scale."""
    assert weights.type.quantization is not None
    return int16_type(rng, (), image.type.scale * max(weights.type.quantization.scales) * ratio)


def _ratio(rng: Generator, taps: int) -> float:
    """Results spread over int16; one in ten with scales too large for the DSP kernels."""
    if rng.random() < 0.1:
        return 2.0 ** rng.uniform(-2, 3)
    return 73 * 18918 * taps**0.5 / 2.0 ** rng.uniform(12, 15)


def _conv(rng: Generator) -> Layer:
    kernel = [(1, 1), (3, 3), (integer(rng, 1, 4), integer(rng, 1, 5))][integer(rng, 0, 2)]
    inputs, outputs = integer(rng, 1, 60 if kernel == (1, 1) else 14), integer(rng, 1, 13)
    dilation = (integer(rng, 1, 2), integer(rng, 1, 3)) if rng.random() < 0.3 else (1, 1)
    reach = [(kernel[axis] - 1) * dilation[axis] + 1 for axis in (0, 1)]
    pads = [integer(rng, 0, kernel[side // 2]) if rng.random() < 0.5 else 0 for side in range(4)]
    extents = [
        max(1, reach[axis] - pads[2 * axis] - pads[2 * axis + 1]) + integer(rng, 0, 8) for axis in (0, 1)
    ]
    image = _image(rng, (integer(rng, 1, 2), *extents, inputs))
    weights = random_weights(rng, (outputs, *kernel, inputs), 0, extreme=0.2)
    attrs = ConvAttrs(
        stride=(integer(rng, 1, 3), integer(rng, 1, 3)) if rng.random() < 0.4 else (1, 1),
        dilation=dilation,
        padding=Padding2D(top=pads[0], bottom=pads[1], left=pads[2], right=pads[3]),
        activation=activation(rng),
    )
    bias = _bias(rng, outputs, 2**33 if rng.random() < 0.05 else 1_000_000) if rng.random() < 0.8 else None
    ratio = _ratio(rng, kernel[0] * kernel[1] * inputs)
    return layer("CONV_2D", attrs, (image, weights, bias), _result(rng, image, weights, ratio))


def _rows(rng: Generator) -> Layer:
    rows, inputs, outputs = integer(rng, 1, 9), integer(rng, 1, 200), integer(rng, 1, 20)
    image, weights = _image(rng, (rows, inputs)), random_weights(rng, (outputs, inputs), 0, extreme=0.2)
    attrs = FullyConnectedAttrs(activation=activation(rng))
    return layer(
        "FULLY_CONNECTED", attrs, (image, weights, None), _result(rng, image, weights, _ratio(rng, inputs))
    )
