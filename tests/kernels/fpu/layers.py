"""Random float32 layers for the FPU kernels: the builders', and wider ones with several tiles in a row."""

import numpy as np
from numpy.random import Generator

from codegen.ir import DType
from codegen.ir.ops import Activation, ConvAttrs, DepthwiseConvAttrs, FullyConnectedAttrs, Padding2D
from tests.kernels.builders import random_layer
from tests.kernels.layers import Layer, Operand, activation, fill, float_type, integer, layer

OPS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


def float_layer(seed: int) -> Layer:
    """Layer number `seed`: every third as the builders draw it (small, all options), the others wider."""
    op = OPS[seed // 3 % 3]
    if seed % 3 == 0:
        return random_layer(op, DType.FLOAT32, seed)
    rng = np.random.default_rng([seed, 31])
    if op == "FULLY_CONNECTED":
        rows, inputs, outputs = int(rng.choice([1, 1, 2, 5, 9])), integer(rng, 1, 90), integer(rng, 1, 30)
        return connected(rng, rows, inputs, outputs, activation(rng))
    return _sliding(rng, is_depthwise=op != "CONV_2D")


def operand(rng: Generator, shape: tuple[int, ...], *, constant: bool = False) -> Operand:
    """Normal numbers."""
    type_ = float_type(shape)
    return Operand(type=type_, data=fill(rng, type_), constant=constant)


def connected(rng: Generator, rows: int, inputs: int, outputs: int, active: Activation) -> Layer:
    """FULLY_CONNECTED."""
    operands = (
        operand(rng, (rows, inputs)),
        operand(rng, (outputs, inputs), constant=True),
        operand(rng, (outputs,), constant=True),
    )
    return layer("FULLY_CONNECTED", FullyConnectedAttrs(activation=active), operands, float_type(()))


def _sliding(rng: Generator, *, is_depthwise: bool) -> Layer:
    kernel = [(1, 1), (3, 3), (integer(rng, 1, 4), integer(rng, 1, 5))][integer(rng, 0, 2)]
    dilation = (integer(rng, 1, 2), integer(rng, 1, 3)) if rng.random() < 0.25 else (1, 1)
    spans = [(kernel[axis] - 1) * dilation[axis] + 1 for axis in (0, 1)]
    pads = [integer(rng, 0, spans[side // 2]) if rng.random() < 0.6 else 0 for side in range(4)]
    extents = [max(1, spans[axis] - pads[2 * axis] - pads[2 * axis + 1]) for axis in (0, 1)]
    image = (integer(rng, 1, 2), extents[0] + integer(rng, 0, 4), extents[1] + integer(rng, 0, 12))
    attrs = ConvAttrs(
        stride=(integer(rng, 1, 2), integer(rng, 1, 3)) if rng.random() < 0.5 else (1, 1),
        dilation=dilation,
        padding=Padding2D(top=pads[0], bottom=pads[1], left=pads[2], right=pads[3]),
        activation=activation(rng),
    )
    inputs = 1 if rng.random() < 0.2 else integer(rng, 1, 19)
    if is_depthwise:
        return depthwise(rng, (*image, inputs), kernel, attrs)
    return convolution(rng, (*image, inputs), kernel, integer(rng, 1, 15), attrs)


def convolution(
    rng: Generator, image: tuple[int, ...], kernel: tuple[int, int], outputs: int, attrs: ConvAttrs
) -> Layer:
    """CONV_2D of an image NHWC."""
    x = operand(rng, image)
    weights = operand(rng, (outputs, *kernel, image[3]), constant=True)
    bias = operand(rng, (outputs,), constant=True)
    return layer("CONV_2D", attrs, (x, weights, bias), float_type(()))


def depthwise(rng: Generator, image: tuple[int, ...], kernel: tuple[int, int], like: ConvAttrs) -> Layer:
    """DEPTHWISE_CONV_2D of an image NHWC, one output channel an input channel, with the options of `like`."""
    x = operand(rng, image)
    weights = operand(rng, (1, *kernel, image[3]), constant=True)
    bias = operand(rng, (image[3],), constant=True)
    attrs = DepthwiseConvAttrs(
        multiplier=1,
        stride=like.stride,
        dilation=like.dilation,
        padding=like.padding,
        activation=like.activation,
    )
    return layer("DEPTHWISE_CONV_2D", attrs, (x, weights, bias), float_type(()))
