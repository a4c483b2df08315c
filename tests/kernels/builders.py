"""Random layers of every operator, over all options its kernels have."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.random import Generator

from codegen.ir import DType, TensorType, ops
from tests.kernels.conversions import changed, dequantize, int32_type, narrowed
from tests.kernels.detections import detections
from tests.kernels.layers import (
    Layer,
    Operand,
    activation,
    as_int4,
    float32,
    int8_type,
    int16_type,
    integer,
    integer_type,
    layer,
    of_small_powers,
    random_operand,
    symmetric,
    with_zero_point,
)
from tests.kernels.layouts import (
    LAYOUT_TYPES,
    broadcast_to,
    concat,
    gather,
    gather_nd,
    pad,
    reshape,
    strided_slice,
    transpose,
)
from tests.kernels.pairs import PAIRS, filled
from tests.tensor_types import REAL, per_channel, per_tensor, tensor_type


def _weights(rng: Generator, dtype: DType, shape: Sequence[int], axis: int) -> Operand:
    if dtype is DType.FLOAT32:
        return random_operand(rng, dtype, shape, constant=True)
    channels = shape[axis] if rng.random() < 0.6 else 1
    scales = tuple(float32(2.0 ** rng.uniform(-9, -5)) for _ in range(channels))
    quantization = per_channel(scales, axis)
    type_ = tensor_type(shape, quantization=quantization)
    data = rng.integers(-127, 128, shape, np.int8)
    if rng.random() < 0.2:
        data[...] = rng.choice([-128, 127])
    weights = Operand(type=type_, data=data, constant=True)
    if dtype is DType.INT8 and rng.random() < 0.2:
        return as_int4(weights)
    is_asymmetric = dtype is DType.INT8 and channels == 1 and rng.random() < 0.25
    return with_zero_point(rng, weights) if is_asymmetric else weights


def _bias(
    rng: Generator, image: Operand, weights: Operand, channels: int, *, wide: bool = False
) -> Operand | None:
    """int32, or for int16 images int64 (`wide`: always)."""
    is_optional = weights.type.quantization is None or not any(weights.type.quantization.zero_points)
    if rng.random() < 0.25 and is_optional:  # no engine has uint8 without a bias
        return None
    if weights.type.quantization is None:
        return random_operand(rng, DType.FLOAT32, (channels,), constant=True)
    scales = tuple(float32(image.type.scale * scale) for scale in weights.type.quantization.scales)
    quantization = per_channel(scales)
    reach = 2**31 - 1 if rng.random() < 0.15 else 20_000  # the first: accumulators that wrap
    dtype = DType.INT32
    if image.type.dtype is DType.INT16:
        reach *= 200
        dtype = DType.INT64 if wide or rng.random() < 0.6 else DType.INT32
        if dtype is DType.INT32:
            reach = min(reach, 2**31 - 1)
    data = rng.integers(-reach, reach, channels, np.int64, endpoint=True).astype(dtype.numpy)
    type_ = tensor_type((channels,), dtype, quantization=quantization)
    return Operand(type=type_, data=data, constant=True)


LEAST_SCALE = 2.8e-9
"""Of a result: 32 bits hold a limit of 6 in its steps."""


def _weighted_result(rng: Generator, dtype: DType, image: Operand, weights: Operand, taps: int) -> TensorType:
    """A scale at which results spread over int8 or int16, or make the shift positive or the multiplier 0."""
    if dtype is DType.FLOAT32:
        return REAL
    assert weights.type.quantization is not None
    product = image.type.scale * max(weights.type.quantization.scales)
    kind = rng.random()
    if kind < 0.1:
        return integer_type(rng, dtype, (), max(LEAST_SCALE, product / 2.0 ** rng.uniform(0, 5)))
    if kind < 0.15:
        return integer_type(rng, dtype, (), product * 2.0**33)
    return integer_type(rng, dtype, (), product * 73 * 73 * taps**0.5 / 2.0 ** rng.uniform(4, 7))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Window:
    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    padding: ops.Padding2D
    image: tuple[int, int]


def _window(rng: Generator, *, dilate: bool, pad: int) -> _Window:
    """Padding of up to `pad` elements a side (0: also windows that lie in the padding altogether)."""
    kernel = (integer(rng, 1, 4), integer(rng, 1, 4))
    if rng.random() < 0.25:
        kernel = (1, 1)
    dilation = (integer(rng, 1, 3), integer(rng, 1, 3)) if dilate and rng.random() < 0.4 else (1, 1)
    low_pad = [0, 0, 0, 0]
    if rng.random() < 0.7:
        limits = [pad or kernel[0] + 1, pad or kernel[0] + 1, pad or kernel[1] + 1, pad or kernel[1] + 1]
        low_pad = [integer(rng, 0, limit) for limit in limits]
    if pad:  # pools: every window must meet the image
        low_pad = [min(value, kernel[side // 2] - 1) for side, value in enumerate(low_pad)]
    padding = ops.Padding2D(top=low_pad[0], bottom=low_pad[1], left=low_pad[2], right=low_pad[3])
    reach = [(kernel[axis] - 1) * dilation[axis] + 1 for axis in (0, 1)]
    needs = (
        max(1, reach[0] - padding.top - padding.bottom),
        max(1, reach[1] - padding.left - padding.right),
    )
    image = (needs[0] + integer(rng, 0, 6), needs[1] + integer(rng, 0, 6))
    stride = (integer(rng, 1, 3), integer(rng, 1, 3))
    return _Window(kernel=kernel, stride=stride, dilation=dilation, padding=padding, image=image)


def conv(rng: Generator, dtype: DType) -> Layer:
    groups = integer(rng, 2, 3) if rng.random() < 0.2 else 1
    inputs, outputs = integer(rng, 1, 9), groups * integer(rng, 1, 5)
    window = _window(rng, dilate=True, pad=0)
    image = random_operand(rng, dtype, (integer(rng, 1, 2), *window.image, groups * inputs))
    weights = _weights(rng, dtype, (outputs, *window.kernel, inputs), 0)
    attrs = ops.ConvAttrs(
        stride=window.stride, dilation=window.dilation, padding=window.padding, activation=activation(rng)
    )
    taps = window.kernel[0] * window.kernel[1] * inputs
    result = _weighted_result(rng, dtype, image, weights, taps)
    return layer("CONV_2D", attrs, (image, weights, _bias(rng, image, weights, outputs)), result)


def depthwise(rng: Generator, dtype: DType) -> Layer:
    channels, multiplier = integer(rng, 1, 9), int(rng.choice([1, 1, 2, 3, 8]))
    window = _window(rng, dilate=True, pad=0)
    image = random_operand(rng, dtype, (integer(rng, 1, 2), *window.image, channels))
    weights = _weights(rng, dtype, (1, *window.kernel, channels * multiplier), 3)
    attrs = ops.DepthwiseConvAttrs(
        multiplier=multiplier,
        stride=window.stride,
        dilation=window.dilation,
        padding=window.padding,
        activation=activation(rng),
    )
    result = _weighted_result(rng, dtype, image, weights, window.kernel[0] * window.kernel[1])
    bias = _bias(rng, image, weights, channels * multiplier, wide=True)
    return layer("DEPTHWISE_CONV_2D", attrs, (image, weights, bias), result)


def depthwise_same_size(rng: Generator, dtype: DType = DType.INT8) -> Layer:
    """One output an input channel, stride 1, a result as large as the image, padding split anyhow; half of
    the float ones of a multiple of four channels."""
    kernel = (integer(rng, 1, 5), integer(rng, 1, 5))
    dilation = (integer(rng, 1, 2), integer(rng, 1, 2))
    spread = [(kernel[axis] - 1) * dilation[axis] for axis in (0, 1)]
    top, left = (integer(rng, 0, spread[axis]) for axis in (0, 1))
    channels = integer(rng, 1, 9)
    if dtype is DType.FLOAT32 and rng.random() < 0.5:
        channels = 4 * integer(rng, 1, 3)
    image = random_operand(rng, dtype, (integer(rng, 1, 2), integer(rng, 1, 9), integer(rng, 1, 9), channels))
    weights = _weights(rng, dtype, (1, *kernel, channels), 3)
    attrs = ops.DepthwiseConvAttrs(
        multiplier=1,
        stride=(1, 1),
        dilation=dilation,
        padding=ops.Padding2D(top=top, bottom=spread[0] - top, left=left, right=spread[1] - left),
        activation=activation(rng),
    )
    result = _weighted_result(rng, dtype, image, weights, kernel[0] * kernel[1])
    bias = _bias(rng, image, weights, channels)
    return symmetric(layer("DEPTHWISE_CONV_2D", attrs, (image, weights, bias), result))


def fully_connected(rng: Generator, dtype: DType) -> Layer:
    inputs, outputs = integer(rng, 1, 70), integer(rng, 1, 12)
    image = random_operand(rng, dtype, (integer(rng, 1, 3), inputs))
    weights = _weights(rng, dtype, (outputs, inputs), 0)
    attrs = ops.FullyConnectedAttrs(activation=activation(rng))
    result = _weighted_result(rng, dtype, image, weights, inputs)
    return layer("FULLY_CONNECTED", attrs, (image, weights, _bias(rng, image, weights, outputs)), result)


def pool(op: str) -> Callable[[Generator, DType], Layer]:
    def build(rng: Generator, dtype: DType) -> Layer:
        window = _window(rng, dilate=False, pad=3)
        shape = (integer(rng, 1, 2), *window.image, integer(rng, 1, 7))
        image = random_operand(rng, dtype, shape)
        attrs = ops.PoolAttrs(
            window=window.kernel, stride=window.stride, padding=window.padding, activation=activation(rng)
        )
        if dtype is DType.INT8 and op == "AVERAGE_POOL_2D" and rng.random() < 0.3:
            attrs = replace(attrs, rounding=ops.HalvesUp())
        return layer(op, attrs, (image,), image.type)

    return build


def resize_bilinear(rng: Generator, dtype: DType) -> Layer:
    shape = (integer(rng, 1, 2), *(integer(rng, 1, 9) for _ in range(3)))
    kind = integer(rng, 0, 3)
    size = (integer(rng, 1, 14), integer(rng, 1, 14))
    if rng.random() < 0.4:  # channels and weights that are mixed by words
        shape = (shape[0], *(integer(rng, 1, 4) for _ in range(2)), 4 * integer(rng, 1, 4))
        size = (shape[1] * int(rng.choice([1, 2, 4])), shape[2] * int(rng.choice([2, 4, 8])))
    image = random_operand(rng, dtype, shape)
    attrs = ops.ResizeAttrs(size=size, align_corners=kind == 0, half_pixel_centers=kind == 1)
    return layer("RESIZE_BILINEAR", attrs, (image,), image.type)


def mean(rng: Generator, dtype: DType, op: str = "MEAN") -> Layer:
    shape = tuple(integer(rng, 1, 6) for _ in range(integer(rng, 1, 5)))
    axes = tuple(axis for axis in range(len(shape)) if rng.random() < 0.5)
    attrs = ops.MeanAttrs(axes=axes, keep_dims=bool(rng.random() < 0.5))
    if dtype in (DType.INT32, DType.BOOL):
        argument = filled(rng, tensor_type((), dtype), shape)
    else:
        argument = random_operand(rng, dtype, shape)
    result = argument.type
    if op in ("MEAN", "SUM") and dtype in (DType.INT8, DType.INT16) and rng.random() < 0.8:
        result = integer_type(rng, dtype, (), argument.type.scale * 2.0 ** rng.uniform(-4, 2))
    return layer(op, attrs, (argument,), result)


def binary(op: str) -> Callable[[Generator, DType], Layer]:
    def build(rng: Generator, dtype: DType) -> Layer:
        shape = [integer(rng, 1, 5) for _ in range(integer(rng, 1, 5))]
        shapes = [list(shape), list(shape)]
        if rng.random() < 0.6:  # broadcast some axes of either, leave out leading ones of one
            for which in shapes:
                for axis in range(len(which)):
                    if rng.random() < 0.3:
                        which[axis] = 1
            cut = integer(rng, 0, 1)
            shapes[cut] = shapes[cut][integer(rng, 0, len(shape) - 1) :]
        constant = integer(rng, 0, 3)  # 0: the first is a constant, 1: the second, else neither
        operands = [
            filled(rng, tensor_type((), dtype), which, constant=index == constant)
            if dtype is DType.INT32
            else random_operand(rng, dtype, which, constant=index == constant)
            for index, which in enumerate(shapes)
        ]
        result = tensor_type((), dtype)
        if dtype in (DType.INT8, DType.INT16):
            scales = [operand.type.scale for operand in operands]
            wide = scales[0] * scales[1] * dtype.limits[1] if op == "MUL" else max(scales)
            result = integer_type(rng, dtype, (), wide * 2.0 ** rng.uniform(-2, 1.5))
        return layer(op, ops.BinaryAttrs(activation=activation(rng)), operands, result)

    return build


_ACTIVE = {
    DType.INT8: tensor_type(scale=1 / 256, zero=-128),
    DType.INT16: tensor_type((), DType.INT16, scale=1 / 32768),
}
"""Of SOFTMAX's results."""


def softmax(rng: Generator, dtype: DType) -> Layer:
    shape = [integer(rng, 1, 3) for _ in range(integer(rng, 0, 2))] + [int(rng.choice([1, 2, 10, 37, 300]))]
    argument = random_operand(rng, dtype, shape)
    if rng.random() < 0.2:
        argument = replace(argument, data=np.full_like(argument.data, argument.data.flat[0]))
    attrs = ops.SoftmaxAttrs(beta=float32(rng.choice([1.0, 0.5, 3.0])))
    is_wider = dtype is DType.INT8 and rng.random() < 0.3
    result = (
        tensor_type((), DType.INT16, scale=1 / 65536, zero=-32768) if is_wider else _ACTIVE.get(dtype, REAL)
    )
    return layer("SOFTMAX", attrs, (argument,), result)


def unary(op: str) -> Callable[[Generator, DType], Layer]:
    def build(rng: Generator, dtype: DType) -> Layer:
        argument = random_operand(rng, dtype, [integer(rng, 1, 9) for _ in range(integer(rng, 1, 3))])
        if dtype is DType.FLOAT32:
            argument = replace(argument, data=argument.data * np.float32(10.0 ** rng.uniform(-3, 2)))
        if op in POSITIVE:
            argument = _positive(argument)
        if op == "EXP":  # beyond, floats end, and integers
            argument = of_small_powers(rng, argument)
        slope = {"alpha": float32(rng.uniform(-0.5, 1.5))} if op == "LEAKY_RELU" else {}
        attrs = ops.OPS[op].attrs_type(**slope)
        result = REAL
        if dtype is not DType.FLOAT32:
            fixed = {"LOGISTIC": tensor_type(scale=1 / 256, zero=-128), "TANH": tensor_type(scale=1 / 128)}
            fixed = dict.fromkeys(fixed, _ACTIVE[dtype]) if dtype is DType.INT16 else fixed
            free = integer_type(rng, dtype, (), argument.type.scale * 2.0 ** rng.uniform(-3, 2))
            result = fixed.get(op, free)
            if op == "RSQRT":  # the largest result, of one step, is near the end of int8
                root = 1.0 / argument.type.scale**0.5
                end = 0 if dtype is DType.INT8 else 8
                result = integer_type(rng, dtype, (), root * 2.0 ** rng.uniform(-8 - end, -4 - end))
            if op == "HARD_SWISH":
                result = integer_type(rng, dtype, (), argument.type.scale * 2.0 ** rng.uniform(-6, 2))
            if op in ("EXP", "LOG"):  # of LOG, engines are asked by way of floats: a power of two
                power = rng.uniform(-10, -2)
                result = integer_type(rng, dtype, (), 2.0 ** (round(power) if op == "LOG" else power))
        return layer(op, attrs, (argument,), result)

    return build


POSITIVE = ("LOG", "RSQRT", "SQRT")
"""Operators of numbers above zero."""


def _positive(argument: Operand) -> Operand:
    if argument.type.dtype is DType.FLOAT32:
        return replace(argument, data=np.abs(argument.data) + np.float32(1e-6))
    if argument.type.dtype is DType.INT16:
        return replace(argument, data=np.maximum(argument.data, 0))
    quantization = replace(argument.type.quantization or _NONE, zero_points=(-128,))
    return replace(argument, type=replace(argument.type, quantization=quantization))


_NONE = per_tensor(1.0)


def quantize(rng: Generator, dtype: DType) -> Layer:
    if dtype is DType.INT32:
        return narrowed(rng)
    if dtype is not DType.FLOAT32:
        same = unary("QUANTIZE")(rng, dtype)
        return same if rng.random() < 0.5 else changed(rng, same)
    argument = random_operand(rng, DType.FLOAT32, (integer(rng, 1, 300),))
    result = int8_type(rng, ())
    if rng.random() < 0.4:
        result = int16_type(rng, ())
    elif rng.random() < 0.4:  # of numbers that an int16 has room for, as the engine is asked
        result = int32_type(2.0 ** rng.uniform(-11, -4))
    if rng.random() < 0.5:  # halves of a step, where rounding decides
        steps = rng.integers(-300, 300, argument.type.shape).astype(np.float32) / 2
        argument = replace(argument, data=(steps * np.float32(result.scale)).astype(np.float32))
    return layer("QUANTIZE", ops.RoundedAttrs(), (argument,), result)


_THREE = (DType.INT8, DType.INT16, DType.FLOAT32)
_FIVE = (*_THREE, DType.INT32, DType.BOOL)

BUILDERS: Mapping[str, tuple[Callable[[Generator, DType], Layer], tuple[DType, ...]]] = {
    "CONV_2D": (conv, _THREE),
    "DEPTHWISE_CONV_2D": (depthwise, _THREE),
    "FULLY_CONNECTED": (fully_connected, _THREE),
    "AVERAGE_POOL_2D": (pool("AVERAGE_POOL_2D"), _THREE),
    "MAX_POOL_2D": (pool("MAX_POOL_2D"), _THREE),
    "RESIZE_BILINEAR": (resize_bilinear, (DType.INT8, DType.FLOAT32)),
    **{name: (partial(mean, op=name), (*_THREE, DType.INT32)) for name in ("MEAN", "SUM")},
    **{name: (partial(mean, op=name), _FIVE) for name in ("REDUCE_MAX", "REDUCE_MIN")},
    **{name: (binary(name), (*_THREE, DType.INT32)) for name in ("ADD", "SUB", "MUL")},
    **PAIRS,
    "CONCATENATION": (concat, LAYOUT_TYPES),
    "PAD": (pad, LAYOUT_TYPES),
    "RESHAPE": (reshape, LAYOUT_TYPES),
    "TRANSPOSE": (transpose, LAYOUT_TYPES),
    "STRIDED_SLICE": (strided_slice, LAYOUT_TYPES),
    "BROADCAST_TO": (broadcast_to, LAYOUT_TYPES),
    "GATHER": (gather, LAYOUT_TYPES),
    "GATHER_ND": (gather_nd, LAYOUT_TYPES),
    "SOFTMAX": (softmax, _THREE),
    "DETECTION_POST_PROCESS": (detections, (DType.INT8, DType.FLOAT32)),
    **{
        op.name: (unary(op.name), (*op.integers, DType.FLOAT32))
        for op in ops.POINTWISE
        if op.floats and op.name not in PAIRS  # the others change the type
    },
    "QUANTIZE": (quantize, (*_THREE, DType.INT32)),
    "DEQUANTIZE": (dequantize, (DType.INT8, DType.INT16, DType.INT32)),
}

CASES = tuple((op, dtype) for op, (_, dtypes) in BUILDERS.items() for dtype in dtypes)


def any_layer(op: str, dtype: DType, seed: int) -> Layer:
    """Layer number `seed` of operator `op` on `dtype`; the same at every call."""
    build = BUILDERS[op][0]
    return build(np.random.default_rng([seed, *op.encode(), *dtype.value.encode()]), dtype)


def random_layer(op: str, dtype: DType, seed: int) -> Layer:
    """The same without what only uint8 has, which most kernels refuse."""
    return symmetric(any_layer(op, dtype, seed))
