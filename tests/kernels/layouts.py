"""Random layers of the operators that move elements: any element type."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from codegen.ir import DType, TensorType
from codegen.ir.ops import (
    Attrs,
    BroadcastToAttrs,
    ConcatAttrs,
    GatherAttrs,
    PadAttrs,
    ReshapeAttrs,
    StridedSliceAttrs,
    TransposeAttrs,
)
from tests.kernels.layers import Layer, Operand, fill, int8_type, integer, layer
from tests.tensor_types import tensor_type

LAYOUT_TYPES = (DType.INT8, DType.INT16, DType.INT32, DType.FLOAT32)


def concat(rng: Generator, dtype: DType) -> Layer:
    shape = [integer(rng, 1, 5) for _ in range(integer(rng, 1, 4))]
    axis = integer(rng, 0, len(shape) - 1)
    first = _layout_type(rng, dtype, shape)
    operands: list[Operand] = []
    for _ in range(integer(rng, 1, 5)):
        shape[axis] = integer(rng, 1, 4)
        type_ = replace(first, shape=tuple(shape))
        operands.append(Operand(type=type_, data=fill(rng, type_), constant=bool(rng.random() < 0.2)))
    return layer("CONCATENATION", ConcatAttrs(axis=axis), operands, first)


def _layout_type(rng: Generator, dtype: DType, shape: Sequence[int]) -> TensorType:
    if dtype is DType.INT8:
        return int8_type(rng, shape)
    return tensor_type(shape, dtype)


def _layout_operand(rng: Generator, dtype: DType, shape: Sequence[int]) -> Operand:
    type_ = _layout_type(rng, dtype, shape)
    return Operand(type=type_, data=fill(rng, type_))


def pad(rng: Generator, dtype: DType) -> Layer:
    shape = [integer(rng, 1, 5) for _ in range(integer(rng, 1, 5))]
    argument = _layout_operand(rng, dtype, shape)
    paddings = tuple((integer(rng, 0, 2), integer(rng, 0, 2)) for _ in shape)
    value = float(fill(rng, replace(argument.type, shape=(1,)))[0])
    attrs = PadAttrs(paddings=paddings, value=value if rng.random() < 0.7 else 0.0)
    return layer("PAD", attrs, (argument,), argument.type)


def transpose(rng: Generator, dtype: DType) -> Layer:
    shape = [integer(rng, 1, 5) for _ in range(integer(rng, 1, 5))]
    argument = _layout_operand(rng, dtype, shape)
    permutation = tuple(int(axis) for axis in rng.permutation(len(shape)))
    return layer("TRANSPOSE", TransposeAttrs(permutation=permutation), (argument,), argument.type)


def strided_slice(rng: Generator, dtype: DType) -> Layer:
    shape = [integer(rng, 1, 6) for _ in range(integer(rng, 1, 5))]
    argument = _layout_operand(rng, dtype, shape)
    begins: list[int] = []
    strides: list[int] = []
    counts: list[int] = []
    for extent in shape:
        begin, stride = integer(rng, 0, extent - 1), int(rng.choice([1, 1, 2, 3, -1, -2]))
        most = (extent - 1 - begin) // stride + 1 if stride > 0 else begin // -stride + 1
        begins.append(begin)
        strides.append(stride)
        counts.append(integer(rng, 1, most))
    attrs = StridedSliceAttrs(
        begins=tuple(begins), strides=tuple(strides), counts=tuple(counts), shape=tuple(counts)
    )
    return layer("STRIDED_SLICE", attrs, (argument,), argument.type)


def reshape(rng: Generator, dtype: DType) -> Layer:
    argument = _layout_operand(rng, dtype, (integer(rng, 1, 4), integer(rng, 1, 4)))
    return layer("RESHAPE", ReshapeAttrs(shape=(argument.type.elements,)), (argument,), argument.type)


def broadcast_to(rng: Generator, dtype: DType) -> Layer:
    wanted = tuple(integer(rng, 1, 5) for _ in range(integer(rng, 1, 5)))
    given = [1 if rng.random() < 0.4 else extent for extent in wanted][integer(rng, 0, len(wanted) - 1) :]
    argument = _layout_operand(rng, dtype, given)
    return layer("BROADCAST_TO", BroadcastToAttrs(shape=wanted), (argument,), argument.type)


def gather(rng: Generator, dtype: DType) -> Layer:
    shape = [integer(rng, 1, 5) for _ in range(integer(rng, 1, 4))]
    axis = integer(rng, 0, len(shape) - 1)
    batch_axes = integer(rng, 0, axis) if rng.random() < 0.4 else 0
    own = [integer(rng, 1, 4) for _ in range(integer(rng, 0 if batch_axes else 1, 2))]
    values = _layout_operand(rng, dtype, shape)
    indices = _indices(rng, (*shape[:batch_axes], *own), shape[axis])
    attrs = GatherAttrs(axis=axis, batch_axes=batch_axes)
    return layer("GATHER", attrs, (values, indices), values.type)


def gather_nd(rng: Generator, dtype: DType) -> Layer:
    shape = [integer(rng, 1, 5) for _ in range(integer(rng, 1, 4))]
    depth = integer(rng, 1, len(shape))
    places = [integer(rng, 1, 4) for _ in range(integer(rng, 1, 2))]
    values = _layout_operand(rng, dtype, shape)
    indices = _indices(rng, (*places, depth), np.array(shape[:depth]))
    return layer("GATHER_ND", Attrs(), (values, indices), values.type)


def _indices(rng: Generator, shape: Sequence[int], extents: int | np.ndarray) -> Operand:
    """int32 or int64, constant or not."""
    dtype = DType.INT64 if rng.random() < 0.3 else DType.INT32
    data = rng.integers(0, extents, shape).astype(dtype.numpy)
    type_ = tensor_type(shape, dtype)
    return Operand(type=type_, data=data, constant=bool(rng.random() < 0.3))
