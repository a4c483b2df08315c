"""Layers to fuzz with: what the builders draw (small, all options), and wider ones with several tiles."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np
from numpy.random import Generator

from codegen.ir import DType, Quantization, TensorType, ops
from tests.fuzz.rounded import WITHOUT_ENGINE, made_of, types_without_engine
from tests.fuzz.ties import is_tied, tied
from tests.kernels.builders import BUILDERS, CASES, any_layer, depthwise_same_size
from tests.kernels.fpu.test_on_target import float_layer
from tests.kernels.layers import (
    Layer,
    Operand,
    activation,
    as_int4,
    fill,
    float32,
    int8_type,
    integer,
    layer,
    random_operand,
    with_zero_point,
)
from tests.tensor_types import per_channel, per_tensor, tensor_type

WEIGHTED = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")
SUMS = ("ADD", "SUB")
REDUCTIONS = ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN")


@cache
def dtypes_of(op: str) -> tuple[DType, ...]:
    """Element types that layers of `op` are drawn with; empty if nothing draws it."""
    if op in WITHOUT_ENGINE:
        return types_without_engine(op)
    return tuple(dtype for name, dtype in CASES if name == op)


@lru_cache(maxsize=8192)
def drawn(op: str, dtype: DType, seed: int) -> Layer:
    """Layer number `seed` of `op` on `dtype`, the same at every call: every third as the builders draw it,
    others wider where there are such. Each kernel of an operator asks for the same ones: they are kept, and
    their data cannot be written to. Every third has scales that are simple fractions of each other."""
    found = _drawn(op, dtype, seed)
    found = tied(op, found, seed) if is_tied(op, seed) else found
    for data in (*found.constants.values(), *found.values):
        if data is not None:
            data.setflags(write=False)
    return found


def _drawn(op: str, dtype: DType, seed: int) -> Layer:
    if op in WITHOUT_ENGINE:
        return made_of(op, drawn(WITHOUT_ENGINE[op], dtype, seed), seed)
    if op not in BUILDERS:
        raise ValueError(f"no builder draws {op}")
    found = _for_one_kernel(op, seed) if dtype is DType.INT8 else None
    if found is not None:
        return found
    if seed % 3 and op in WEIGHTED and dtype is DType.INT8:
        return _wide(np.random.default_rng([seed, 1234, *op.encode()]), op)
    if seed % 6 == 3 and op in SUMS and dtype is DType.INT8:
        return _beside_constant(np.random.default_rng([seed, 1238, *op.encode()]), op)
    if seed % 3 and op in SUMS and dtype is DType.INT8:
        return _sum(np.random.default_rng([seed, 1235, *op.encode()]), op)
    if seed % 3 == 2 and op == "DEPTHWISE_CONV_2D" and dtype is DType.FLOAT32:
        return depthwise_same_size(np.random.default_rng([seed, 1236]), dtype)
    if seed % 3 and op in WEIGHTED and dtype is DType.FLOAT32:
        return float_layer(9 * (seed // 3) + 3 * WEIGHTED.index(op) + seed % 3)
    return any_layer(op, dtype, seed)


def _for_one_kernel(op: str, seed: int) -> Layer | None:
    """An int8 layer that kernels of a narrow condition take, if it is the turn of one."""
    if seed % 6 == 1 and op == "FULLY_CONNECTED":
        return _connected(_Numbers(np.random.default_rng([seed, 1237]), plain=False), is_single=True)
    if seed % 12 == 10 and op == "DEPTHWISE_CONV_2D":
        return _int4_window(np.random.default_rng([seed, 1239]))
    if seed % 6 == 2 and op == "DEPTHWISE_CONV_2D":
        return _square_window(np.random.default_rng([seed, 1240]), 5 if seed % 12 == 2 else 7)
    if seed % 12 == 9 and op == "CONV_2D":
        return _rgb(np.random.default_rng([seed, 1241]))
    if seed % 12 == 3 and op == "CONV_2D":
        return _mono(np.random.default_rng([seed, 1243]))
    if seed % 12 == 6 and op == "CONV_2D":
        return _whole_vectors(np.random.default_rng([seed, 1242]))
    if seed % 3 == 1 and op in REDUCTIONS:
        return _reduction(np.random.default_rng([seed, 1244, *op.encode()]), op)
    return None


def _sum(rng: Generator, op: str) -> Layer:
    """Two arguments of one shape, sizes around multiples of 4 and 16; scales equal, or one up to a thousand
    times the other, on either side; mostly no activation."""
    shape = (1, integer(rng, 1, 6), integer(rng, 1, 6), _count(rng, 20))
    scales = [0.05 * float(rng.choice([1.0, 1.0, rng.uniform(0.001, 1.0)])) for _ in range(2)]
    types = [int8_type(rng, shape, scale) for scale in scales]
    operands: list[Operand] = []
    for type_ in types:
        is_extreme = rng.random() < 0.2
        ends = rng.choice(np.array([-128, 127], np.int8), shape)
        operands.append(Operand(type=type_, data=ends if is_extreme else fill(rng, type_)))
    attrs = ops.BinaryAttrs(activation=ops.Activation.NONE if rng.random() < 0.8 else activation(rng))
    return layer(op, attrs, operands, int8_type(rng, (), 0.05 * 2.0 ** rng.uniform(-1, 2)))


def _reduction(rng: Generator, op: str) -> Layer:
    """Neighbouring axes of a tensor of three, of sizes around multiples of 4 and 16."""
    shape = (integer(rng, 1, 3), integer(rng, 1, 12), _count(rng, 70))
    axes = ((0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2))[integer(rng, 0, 5)]
    argument = random_operand(rng, DType.INT8, shape)
    if rng.random() < 0.2:
        argument = replace(argument, data=rng.choice(np.array([-128, 127], np.int8), shape))
    attrs = ops.MeanAttrs(axes=axes, keep_dims=bool(rng.random() < 0.5))
    result = argument.type
    if op in ("MEAN", "SUM") and rng.random() < 0.8:
        result = int8_type(rng, (), argument.type.scale * 2.0 ** rng.uniform(-4, 2))
    return layer(op, attrs, (argument,), result)


def _int4_window(rng: Generator) -> Layer:
    """A 3x3 depthwise convolution by int4 weights, stride 1 or 2, as fast kernels want it; half of them with
    a result as large as the image."""
    numbers = _Numbers(rng, plain=True, is_int4=True)
    channels = 4 * integer(rng, 1, 5) if rng.random() < 0.7 else integer(rng, 4, 21)
    image = (1, integer(rng, 3, 9), integer(rng, 3, 9), channels)
    stride = 1 if rng.random() < 0.6 else 2
    pads = (1, 1, 1, 1) if rng.random() < 0.5 else tuple(integer(rng, 0, 1) for _ in range(4))
    padding = ops.Padding2D(top=pads[0], bottom=pads[1], left=pads[2], right=pads[3])
    attrs = ops.DepthwiseConvAttrs(
        multiplier=1,
        stride=(stride, stride),
        dilation=(1, 1),
        padding=padding,
        activation=ops.Activation.NONE,
    )
    operands = numbers.operands(image, (1, 3, 3, channels), 3)
    result = numbers.result(9)
    if rng.random() < 0.4:
        result = replace(result, quantization=per_tensor(result.scale, -128))
    return layer("DEPTHWISE_CONV_2D", attrs, operands, result)


def _square_window(rng: Generator, taps: int) -> Layer:
    """A depthwise convolution of stride 1 by a window of so many taps a side, as fast kernels want it; half
    of them with a result as large as the image."""
    numbers = _Numbers(rng, plain=True)
    channels = 4 * integer(rng, 1, 3) if rng.random() < 0.5 else integer(rng, 4, 13)
    half = taps // 2
    pads = [half] * 4
    if rng.random() < 0.5:
        pads = [
            integer(rng, 0, taps - 1),
            integer(rng, 0, taps - 1),
            integer(rng, 0, half),
            integer(rng, 0, half),
        ]
    least = [max(1, taps - pads[2 * axis] - pads[2 * axis + 1]) for axis in (0, 1)]
    image = (1, least[0] + integer(rng, 0, 8), least[1] + integer(rng, 0, 11), channels)
    attrs = ops.DepthwiseConvAttrs(
        multiplier=1,
        stride=(1, 1),
        dilation=(1, 1),
        padding=ops.Padding2D(top=pads[0], bottom=pads[1], left=pads[2], right=pads[3]),
        activation=ops.Activation.NONE,
    )
    operands = numbers.operands(image, (1, taps, taps, channels), 3)
    result = numbers.result(taps * taps)
    if rng.random() < 0.4:
        result = replace(result, quantization=per_tensor(result.scale, -128))
    return layer("DEPTHWISE_CONV_2D", attrs, operands, result)


def _rgb(rng: Generator) -> Layer:
    """A 3x3 convolution of stride 2 on three channels, as first layers are: rows of whole words."""
    numbers = _Numbers(rng, plain=True)
    pads = [integer(rng, 0, 2), integer(rng, 0, 2), 0, integer(rng, 0, 2)]
    image = (integer(rng, 1, 2), integer(rng, 3, 9), 4 * integer(rng, 1, 8), 3)
    attrs = ops.ConvAttrs(
        stride=(2, 2),
        dilation=(1, 1),
        padding=ops.Padding2D(top=pads[0], bottom=pads[1], left=pads[2], right=pads[3]),
        activation=ops.Activation.NONE,
    )
    return layer("CONV_2D", attrs, numbers.operands(image, (_count(rng, 20), 3, 3, 3), 0), numbers.result(27))


def _mono(rng: Generator) -> Layer:
    """A convolution on one channel, stride 2 across, windows of three or four columns: of sound, say."""
    numbers = _Numbers(rng, plain=bool(rng.random() < 0.9))
    kernel, stride = (integer(rng, 1, 11), integer(rng, 3, 4)), (integer(rng, 1, 3), 2)
    pads = [integer(rng, 0, kernel[axis // 2] - 1) for axis in range(4)]
    image = (integer(rng, 1, 2), integer(rng, kernel[0], 14), integer(rng, kernel[1], 24), 1)
    attrs = ops.ConvAttrs(
        stride=stride,
        dilation=(1, 1),
        padding=ops.Padding2D(top=pads[0], bottom=pads[1], left=pads[2], right=pads[3]),
        activation=ops.Activation.NONE,
    )
    operands = numbers.operands(image, (_count(rng, 20), *kernel, 1), 0)
    return layer("CONV_2D", attrs, operands, numbers.result(kernel[0] * kernel[1]))


def _whole_vectors(rng: Generator) -> Layer:
    """A 1x1 convolution of whole 32 bytes to whole fours of channels."""
    numbers = _Numbers(rng, plain=bool(rng.random() < 0.7))
    depth = 32 * integer(rng, 1, 4)
    image = (integer(rng, 1, 2), integer(rng, 1, 4), integer(rng, 1, 5), depth)
    attrs = ops.ConvAttrs(
        stride=(1, 1),
        dilation=(1, 1),
        padding=ops.Padding2D(top=0, bottom=0, left=0, right=0),
        activation=ops.Activation.NONE if rng.random() < 0.6 else activation(rng),
    )
    weights = (4 * integer(rng, 1, 6), 1, 1, depth)
    return layer("CONV_2D", attrs, numbers.operands(image, weights, 0), numbers.result(depth))


def _beside_constant(rng: Generator, op: str) -> Layer:
    """A sum with a constant on either side: one number, or one for each of a few channels."""
    shape = (1, integer(rng, 1, 5), integer(rng, 1, 5), integer(rng, 2, 5))
    few = (1,) if rng.random() < 0.4 else shape[-1:]
    types = [int8_type(rng, shape, 0.05), int8_type(rng, few, 0.05 * rng.uniform(0.1, 9.0))]
    operands = [
        Operand(type=type_, data=fill(rng, type_), constant=number == 1) for number, type_ in enumerate(types)
    ]
    if rng.random() < 0.5:
        operands.reverse()
    attrs = ops.BinaryAttrs(activation=ops.Activation.NONE if rng.random() < 0.8 else activation(rng))
    return layer(op, attrs, operands, int8_type(rng, (), 0.05 * 2.0 ** rng.uniform(-1, 2)))


def _wide(rng: Generator, op: str) -> Layer:
    """Channels around multiples of what kernels take at once; weights and pixels at the ends at times. Half
    of them plain, as fast kernels want them: results spread over int8, no activation."""
    numbers = _Numbers(rng, plain=bool(rng.random() < 0.5))
    if op == "FULLY_CONNECTED":
        return _connected(numbers)
    options, kernel, size = _geometry(rng, numbers, is_depthwise=op != "CONV_2D")
    shape = (2 if rng.random() < 0.1 else 1, *size)
    if op == "CONV_2D":
        inputs, outputs = _count(rng, 70 if kernel == (1, 1) else 24), _count(rng, 36)
        operands = numbers.operands((*shape, inputs), (outputs, *kernel, inputs), 0)
        return layer(op, options, operands, numbers.result(kernel[0] * kernel[1] * inputs))
    channels = 1 if rng.random() < 0.25 else _count(rng, 60)
    multiplier = integer(rng, 1, 11) if channels == 1 else 1
    operands = numbers.operands((*shape, channels), (1, *kernel, channels * multiplier), 3)
    attrs = ops.DepthwiseConvAttrs(
        multiplier=multiplier,
        stride=options.stride,
        dilation=options.dilation,
        padding=options.padding,
        activation=options.activation,
    )
    return layer(op, attrs, operands, numbers.result(kernel[0] * kernel[1]))


def _connected(numbers: "_Numbers", *, is_single: bool = False) -> Layer:
    """Half of them of one row, half with inputs by the multiple of four; `is_single`: of one output."""
    rng = numbers.rng
    inputs, outputs = _count(rng, 200), 1 if is_single else _count(rng, 40)
    if rng.random() < 0.5:
        inputs = -(-inputs // 4) * 4
    rows = 1 if is_single else int(rng.choice([1, 1, 1, 2, 3, 4, 5, 9]))
    operands = numbers.operands((rows, inputs), (outputs, inputs), 0)
    attrs = ops.FullyConnectedAttrs(activation=numbers.activation())
    return layer("FULLY_CONNECTED", attrs, operands, numbers.result(inputs))


def _geometry(
    rng: Generator, numbers: "_Numbers", *, is_depthwise: bool
) -> tuple[ops.ConvAttrs, tuple[int, int], tuple[int, int]]:
    """(options, window, image's height and width). Some keep the size of the image, at times 3x3."""
    most = 7 if rng.random() < 0.2 else 5
    kernel = (integer(rng, 1, most), integer(rng, 1, most))
    if rng.random() < 0.65:
        kernel = (3, 3) if is_depthwise or rng.random() < 0.5 else (1, 1)
    dilation, stride = (1, 1), (1, 1)
    if kernel == (1, 1) and rng.random() < 0.6:
        pads = [0, 0, 0, 0]
        size = (1, integer(rng, 1, 2)) if rng.random() < 0.3 else (integer(rng, 1, 6), integer(rng, 1, 9))
    elif rng.random() < (0.5 if is_depthwise else 0.2):
        split = [integer(rng, 0, extent - 1) for extent in kernel]
        pads = [split[0], kernel[0] - 1 - split[0], split[1], kernel[1] - 1 - split[1]]
        pads = [1, 1, 1, 1] if kernel == (3, 3) and rng.random() < 0.7 else pads
        stride = (2, 2) if rng.random() < 0.2 else stride
        size = (integer(rng, 1, 9), integer(rng, 1, 14))
    else:
        dilation = (integer(rng, 1, 3), integer(rng, 1, 3)) if rng.random() < 0.35 else dilation
        stride = (integer(rng, 1, 3), integer(rng, 1, 3)) if rng.random() < 0.4 else stride
        spans = [(kernel[axis] - 1) * dilation[axis] + 1 for axis in (0, 1)]
        pads = [integer(rng, 0, spans[side // 2]) if rng.random() < 0.5 else 0 for side in range(4)]
        if dilation[1] > 1 and rng.random() < 0.5:  # the first column may lie between taps
            pads[2] = integer(rng, 1, dilation[1] - 1)
        least = [max(1, spans[axis] - pads[2 * axis] - pads[2 * axis + 1]) for axis in (0, 1)]
        size = (least[0] + integer(rng, 0, 4), least[1] + integer(rng, 0, 9))
    padding = ops.Padding2D(top=pads[0], bottom=pads[1], left=pads[2], right=pads[3])
    active = numbers.activation()
    return ops.ConvAttrs(stride=stride, dilation=dilation, padding=padding, activation=active), kernel, size


def _count(rng: Generator, most: int) -> int:
    """Channels: any number, or one near a multiple of 4, 8 or 16."""
    if rng.random() < 0.5:
        return integer(rng, 1, most)
    return max(1, min(most, int(rng.choice([4, 8, 16, 32])) * integer(rng, 1, 3) + integer(rng, -1, 1)))


class _Numbers:
    """Quantisation and data of one layer."""

    def __init__(self, rng: Generator, *, plain: bool, is_int4: bool = False) -> None:
        """`is_int4`: all weights are, else now and then."""
        self.rng, self._plain, self._is_int4 = rng, plain, is_int4
        self._product = 1.0

    def activation(self) -> ops.Activation:
        """None where the layer is plain."""
        return ops.Activation.NONE if self._plain else activation(self.rng)

    def operands(
        self, image: tuple[int, ...], weights: tuple[int, ...], axis: int
    ) -> tuple[Operand, Operand, Operand]:
        """Image, weights and bias; `axis` is the weights' axis of result channels."""
        pixels = random_operand(self.rng, DType.INT8, image)
        if self.rng.random() < 0.15:
            data = self.rng.choice(np.array([-128, 127], np.int8), image)
            pixels = Operand(type=pixels.type, data=data)
        factors = self._weights(weights, axis)
        assert factors.type.quantization is not None
        scales = tuple(float32(pixels.type.scale * scale) for scale in factors.type.quantization.scales)
        self._product = max(scales)
        return pixels, factors, self._bias(scales, weights[axis])

    def _weights(self, shape: tuple[int, ...], axis: int) -> Operand:
        """Per channel or per tensor; now and then a scale that makes a multiplier of 0."""
        rng = self.rng
        count = shape[axis] if rng.random() < 0.7 else 1
        scales = [float32(2.0 ** rng.uniform(-9, -6)) for _ in range(count)]
        if count > 1 and rng.random() < 0.1:
            scales[integer(rng, 0, count - 1)] = float32(2.0**-60)
        type_ = tensor_type(shape, quantization=_symmetric(scales, axis))
        low = -128 if rng.random() < 0.3 else -127
        data = rng.integers(low, 128, shape, np.int8)
        if not self._plain and rng.random() < 0.15:
            data = np.full(shape, rng.choice([-128, 127]), np.int8)
        weights = Operand(type=type_, data=data, constant=True)
        if self._is_int4 or rng.random() < 0.2:
            return as_int4(weights)
        return with_zero_point(rng, weights) if count == 1 and rng.random() < 0.3 else weights

    def _bias(self, scales: tuple[float, ...], channels: int) -> Operand:
        """At times with accumulators that wrap."""
        reach = 20_000 if self._plain else int(self.rng.choice([20_000, 3, 2**31 - 1]))
        data = self.rng.integers(-reach, reach, channels, np.int32, endpoint=True)
        type_ = tensor_type((channels,), DType.INT32, quantization=_symmetric(scales, 0))
        return Operand(type=type_, data=data, constant=True)

    def result(self, taps: int) -> TensorType:
        """Results spread over int8; at times shifts to the left, or none, or all results one."""
        kind = 1.0 if self._plain else self.rng.random()
        if kind < 0.3:
            return int8_type(self.rng, (), self._product / 2.0 ** self.rng.uniform(-2, 6))
        if kind < 0.35:
            return int8_type(self.rng, (), self._product * 2.0**33)
        spread = 73 * 73 * taps**0.5 / 2.0 ** self.rng.uniform(4, 7)
        return int8_type(self.rng, (), self._product * spread)


def _symmetric(scales: Sequence[float], axis: int) -> Quantization:
    return per_channel(scales, axis)
