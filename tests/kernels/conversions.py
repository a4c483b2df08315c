"""Random layers that change the element type of integers, or make them real numbers."""

from dataclasses import replace

import numpy as np
from numpy.random import Generator

from codegen.ir import DType, Quantization, TensorType, ops
from tests.kernels.layers import (
    Layer,
    Operand,
    fill,
    float32,
    int8_type,
    int16_type,
    integer,
    layer,
    random_operand,
)
from tests.tensor_types import REAL, tensor_type


def changed(rng: Generator, same: Layer) -> Layer:
    """A QUANTIZE from int8 to int16, int32 or uint8, from uint8 to int8, or from int16 to int8 or int32."""
    argument = same.let.call.args[0]
    assert argument is not None
    data = same.values[0]
    assert data is not None
    if rng.random() < 0.2:
        result = int32_type(argument.type.scale * 2.0 ** rng.uniform(-12, 4))
        return layer("QUANTIZE", ops.RoundedAttrs(), (Operand(type=argument.type, data=data),), result)
    if argument.type.dtype is DType.INT8 and rng.random() < 0.7:
        is_same = rng.random() < 0.4
        near = int8_type(rng, (), argument.type.scale * 2.0 ** rng.uniform(-2, 2))
        meaning = replace(argument.type, shape=()) if is_same else near
        if rng.random() < 0.5:
            unsigned = Operand(type=_unsigned(argument.type), data=data.view(np.uint8) ^ 0x80)
            return layer("QUANTIZE", ops.RoundedAttrs(), (unsigned,), meaning)
        result = _unsigned(meaning)
    elif argument.type.dtype is DType.INT8:
        result = int16_type(rng, (), argument.type.scale * 2.0 ** rng.uniform(-9, 2))
    else:
        result = int8_type(rng, (), argument.type.scale * 2.0 ** rng.uniform(-1, 10))
    return layer("QUANTIZE", ops.RoundedAttrs(), (Operand(type=argument.type, data=data),), result)


def int32_type(scale: float) -> TensorType:
    """Quantised int32."""
    return tensor_type((), DType.INT32, scale=float32(scale))


def narrowed(rng: Generator) -> Layer:
    """A QUANTIZE from int32; to int32 of numbers that the engine's way there has room for."""
    type_ = replace(int32_type(2.0 ** rng.uniform(-30, -20)), shape=(integer(rng, 1, 60),))
    if rng.random() < 0.3:
        data = rng.integers(-32768, 32768, type_.shape, np.int32)
        result = int32_type(type_.scale * 2.0 ** rng.uniform(-12, 8))
        return layer("QUANTIZE", ops.RoundedAttrs(), (Operand(type=type_, data=data),), result)
    scale = type_.scale * 2.0 ** rng.uniform(12, 26)
    result = int16_type(rng, (), scale) if rng.random() < 0.5 else int8_type(rng, (), scale)
    return layer("QUANTIZE", ops.RoundedAttrs(), (Operand(type=type_, data=fill(rng, type_)),), result)


def _unsigned(type_: TensorType) -> TensorType:
    """The uint8 type that stands for the same numbers as an int8 type."""
    zero_points = (type_.zero_point + 128,)
    return replace(
        type_,
        dtype=DType.UINT8,
        quantization=Quantization(scales=(type_.scale,), zero_points=zero_points),
    )


def dequantize(rng: Generator, dtype: DType) -> Layer:
    operand = random_operand(rng, DType.INT16 if dtype is DType.INT32 else dtype, (integer(rng, 1, 60),))
    if dtype is DType.INT32:  # below 2^24, which the engine's way there is exact to
        data = operand.data.astype(np.int32) * 255
        operand = Operand(type=replace(operand.type, dtype=dtype), data=data)
    return layer("DEQUANTIZE", ops.Attrs(), (operand,), REAL)
