"""Random convolutions and fully connected layers for the DSP kernels: what builders draw, and wider ones."""

import numpy as np
from numpy.random import Generator

from codegen.ir import Constant, ConstRef, DType, Function, Module, TensorType, Var
from codegen.ir.ops import ConvAttrs, DepthwiseConvAttrs, FullyConnectedAttrs, Padding2D
from tests.kernels.builders import random_layer
from tests.kernels.layers import (
    Layer,
    Operand,
    activation,
    float32,
    int8_type,
    integer,
    layer,
    random_operand,
)
from tests.tensor_types import per_channel, tensor_type

OPS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


def conv_layer(seed: int) -> Layer:
    """Layer number `seed`: every third as the builders draw it (small, all options), the others wider."""
    rng = np.random.default_rng([seed, 77])
    op = OPS[seed % 7 // 3 if seed % 7 < 6 else 2] if seed % 3 else OPS[seed % 5 // 2]
    if seed % 3 == 0:
        found = random_layer(op, DType.INT8, seed)
        return found if op != "DEPTHWISE_CONV_2D" else _one_channel(rng)
    if op == "CONV_2D":
        return _wide(rng)
    return _one_channel(rng) if op == "DEPTHWISE_CONV_2D" else _rows(rng)


def random_weights(rng: Generator, shape: tuple[int, ...], axis: int, *, extreme: float = 0.15) -> Operand:
    """Per channel or per tensor; one scale in fifty makes a multiplier of 0. `extreme`: how often all are at
    an end of their range."""
    count = shape[axis] if rng.random() < 0.7 else 1
    scales = [float32(2.0 ** rng.uniform(-9, -6)) for _ in range(count)]
    if count > 1 and rng.random() < 0.2:
        scales[integer(rng, 0, count - 1)] = float32(2.0**-60)
    quantization = per_channel(scales, axis)
    type_ = tensor_type(shape, quantization=quantization)
    data = rng.integers(-128, 128, shape, np.int8)
    if extreme and rng.random() < extreme:
        data[...] = rng.choice([-128, 127])
    return Operand(type=type_, data=data, constant=True)


def _bias(rng: Generator, image: Operand, weights: Operand, channels: int) -> Operand:
    assert weights.type.quantization is not None
    scales = tuple(float32(image.type.scale * scale) for scale in weights.type.quantization.scales)
    quantization = per_channel(scales)
    reach = 2**31 - 1 if rng.random() < 0.1 else 30_000
    data = rng.integers(-reach, reach, channels, np.int32, endpoint=True)
    return Operand(
        type=tensor_type((channels,), DType.INT32, quantization=quantization),
        data=data,
        constant=True,
    )


def _result(rng: Generator, image: Operand, weights: Operand, taps: int) -> TensorType:
    """Results spread over int8; one in six with scales of about 1 and more: no shift, shifts left."""
    assert weights.type.quantization is not None
    product = image.type.scale * max(weights.type.quantization.scales)
    if rng.random() < 1 / 6:
        return int8_type(rng, (), product / 2.0 ** rng.uniform(-2, 4))
    return int8_type(rng, (), product * 73 * 73 * taps**0.5 / 2.0 ** rng.uniform(5, 7))


def _wide(rng: Generator) -> Layer:
    kernel = [(1, 1), (3, 3), (integer(rng, 1, 4), integer(rng, 1, 5))][integer(rng, 0, 2)]
    most = 70 if kernel == (1, 1) else 20
    inputs, outputs = integer(rng, 1, most), integer(rng, 1, 21)
    if rng.random() < 0.5:
        inputs = -(-inputs // 4) * 4
    dilation = (integer(rng, 1, 2), integer(rng, 1, 2)) if rng.random() < 0.2 else (1, 1)
    pads = [integer(rng, 0, kernel[side // 2]) if rng.random() < 0.6 else 0 for side in range(4)]
    spans = [(kernel[axis] - 1) * dilation[axis] + 1 for axis in (0, 1)]
    extents = [max(1, spans[axis] - pads[2 * axis] - pads[2 * axis + 1]) for axis in (0, 1)]
    image = random_operand(
        rng,
        DType.INT8,
        (integer(rng, 1, 2), extents[0] + integer(rng, 0, 5), extents[1] + integer(rng, 0, 9), inputs),
    )
    weights = random_weights(rng, (outputs, *kernel, inputs), 0)
    attrs = ConvAttrs(
        stride=(integer(rng, 1, 2), integer(rng, 1, 3)) if rng.random() < 0.5 else (1, 1),
        dilation=dilation,
        padding=Padding2D(top=pads[0], bottom=pads[1], left=pads[2], right=pads[3]),
        activation=activation(rng),
    )
    result = _result(rng, image, weights, kernel[0] * kernel[1] * inputs)
    return layer("CONV_2D", attrs, (image, weights, _bias(rng, image, weights, outputs)), result)


def _one_channel(rng: Generator) -> Layer:
    kernel, multiplier = (integer(rng, 1, 10), integer(rng, 1, 8)), integer(rng, 1, 11)
    pads = [integer(rng, 0, kernel[side // 2]) for side in range(4)]
    shape = (integer(rng, 1, 2), kernel[0] + integer(rng, 0, 5), kernel[1] + integer(rng, 0, 9), 1)
    image = random_operand(rng, DType.INT8, shape)
    weights = random_weights(rng, (1, *kernel, multiplier), 3)
    attrs = DepthwiseConvAttrs(
        multiplier=multiplier,
        stride=(integer(rng, 1, 3), integer(rng, 1, 3)),
        dilation=(1, 1),
        padding=Padding2D(top=pads[0], bottom=pads[1], left=pads[2], right=pads[3]),
        activation=activation(rng),
    )
    result = _result(rng, image, weights, kernel[0] * kernel[1])
    bias = _bias(rng, image, weights, multiplier)
    return layer("DEPTHWISE_CONV_2D", attrs, (image, weights, bias), result)


def _rows(rng: Generator) -> Layer:
    inputs, outputs = integer(rng, 1, 200), integer(rng, 1, 30)
    image = random_operand(rng, DType.INT8, (int(rng.choice([1, 1, 2, 5])), inputs))
    weights = random_weights(rng, (outputs, inputs), 0)
    attrs = FullyConnectedAttrs(activation=activation(rng))
    result = _result(rng, image, weights, inputs)
    return layer("FULLY_CONNECTED", attrs, (image, weights, _bias(rng, image, weights, outputs)), result)


def module_of(drawn: Layer) -> Module:
    """The layer alone: its image in, its result out."""
    args = drawn.let.call.args
    refs = {arg.id: arg for arg in args if isinstance(arg, ConstRef)}
    constants = {id_: Constant(id=id_, type=ref.type, data=drawn.constants[id_]) for id_, ref in refs.items()}
    function = Function(
        name="main",
        params=tuple(arg for arg in args if isinstance(arg, Var)),
        body=(drawn.let,),
        results=(drawn.let.var,),
    )
    metadata = {"format": "test", "sha256": "0" * 64, "file": "layer"}
    return Module(functions={"main": function}, constants=constants, metadata=metadata)


def shaped_layer(
    *, image: tuple[int, int, int], kernel: tuple[int, int], outputs: int, stride: int = 1, pad: int = 0
) -> Layer:
    """A CONV_2D of this shape whose channels are all requantized the short way."""
    rng = np.random.default_rng(outputs)
    taps = kernel[0] * kernel[1] * image[2]
    argument = random_operand(rng, DType.INT8, (1, *image))
    quantization = per_channel((float32(0.01),) * outputs)
    shape = (outputs, *kernel, image[2])
    weights = Operand(
        type=tensor_type(shape, quantization=quantization),
        data=rng.integers(-127, 128, shape, np.int8),
        constant=True,
    )
    attrs = ConvAttrs(stride=(stride, stride), padding=Padding2D(top=pad, bottom=pad, left=pad, right=pad))
    result = int8_type(rng, (), argument.type.scale * 0.01 * 73 * 73 * taps**0.5 / 64)
    return layer("CONV_2D", attrs, (argument, weights, _bias(rng, argument, weights, outputs)), result)
