"""Random layers of the operators on two or three arguments that choose, compare or divide."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from codegen.ir import DType, TensorType, ops
from codegen.ir.ops.elementwise import CASTS
from tests.kernels.layers import (
    Layer,
    Operand,
    activation,
    fill,
    int8_type,
    integer,
    integer_type,
    layer,
    random_operand,
)
from tests.kernels.signals import SIGNALS
from tests.tensor_types import REAL, tensor_type

QUANTISED = (DType.INT8, DType.INT16)
Builder = Callable[[Generator, DType], Layer]


def typed(rng: Generator, dtype: DType, scale: float | None = None) -> TensorType:
    """Quantised where `dtype` is so in networks; without a shape."""
    return integer_type(rng, dtype, (), scale) if dtype in QUANTISED else tensor_type((), dtype)


def filled(rng: Generator, type_: TensorType, shape: Sequence[int], *, constant: bool = False) -> Operand:
    """Random elements; plain integers small, so that pairs are equal at times."""
    type_ = replace(type_, shape=tuple(shape))
    if type_.dtype is DType.BOOL:
        data = rng.integers(0, 2, type_.shape).astype(np.bool_)
    elif type_.dtype in (DType.INT32, DType.INT64):
        reach = int(rng.choice([3, 1000, 2**30]))
        data = rng.integers(-reach, reach, type_.shape, np.int64, endpoint=True).astype(type_.dtype.numpy)
    else:
        data = fill(rng, type_)
    return Operand(type=type_, data=data, constant=constant)


def broadcast_shapes(rng: Generator, count: int = 2) -> list[tuple[int, ...]]:
    """Shapes that broadcast, at most of four axes, as TFLite's reference kernels take them."""
    shape = [integer(rng, 1, 5) for _ in range(integer(rng, 1, 4))]
    found = [tuple(shape)] * count
    if rng.random() < 0.6:
        found = [tuple(1 if rng.random() < 0.3 else extent for extent in shape) for _ in range(count)]
        cut = integer(rng, 0, count - 1)
        found[cut] = found[cut][integer(rng, 0, len(shape) - 1) :]
    return found


def _pair(rng: Generator, first: TensorType, second: TensorType) -> list[Operand]:
    """Both arguments, at times one of them a constant."""
    constant = integer(rng, 0, 3)
    shapes = broadcast_shapes(rng)
    return [
        filled(rng, type_, shape, constant=number == constant)
        for number, (type_, shape) in enumerate(zip((first, second), shapes, strict=True))
    ]


def extreme(op: str) -> Builder:
    def build(rng: Generator, dtype: DType) -> Layer:
        type_ = typed(rng, dtype)
        return layer(op, ops.Attrs(), _pair(rng, type_, type_), type_)

    return build


def compare(op: str) -> Builder:
    def build(rng: Generator, dtype: DType) -> Layer:
        first = second = typed(rng, dtype, 2.0 ** rng.uniform(-8, -1) if dtype is DType.INT8 else None)
        if dtype is DType.INT8 and rng.random() < 0.6:
            second = typed(rng, dtype, min(0.99, first.scale * 2.0 ** rng.uniform(-2, 2)))
        return layer(op, ops.Attrs(), _pair(rng, first, second), tensor_type((), DType.BOOL))

    return build


def _away_from_zero(operand: Operand) -> Operand:
    zero = operand.type.zero_point
    other = np.asarray(zero - 1 if zero > 0 else zero + 1, operand.data.dtype)
    return replace(operand, data=np.where(operand.data == zero, other, operand.data))


def div(rng: Generator, dtype: DType) -> Layer:
    attrs = ops.BinaryAttrs(activation=activation(rng))
    if dtype is not DType.INT8:
        type_ = tensor_type((), dtype)
        dividend, divisor = _pair(rng, type_, type_)
        return layer("DIV", attrs, (dividend, _away_from_zero(divisor)), type_)
    first, second = typed(rng, dtype), typed(rng, dtype)
    dividend, divisor = _pair(rng, first, second)
    bits = integer(rng, 1, 6)  # scales that make TFLite's shifts defined: tests/opgen/families/pairwise.py
    reach = (1 << bits) - 1
    data = np.clip(rng.integers(-reach, reach + 1, divisor.data.shape) + second.zero_point, -128, 127)
    divisor = _away_from_zero(replace(divisor, data=data.astype(np.int8)))
    scale = first.scale / second.scale / 2.0 ** rng.uniform(bits, bits + 1)
    return layer("DIV", attrs, (dividend, divisor), int8_type(rng, (), scale))


def squared_difference(rng: Generator, dtype: DType) -> Layer:
    first, second = typed(rng, dtype), typed(rng, dtype)
    result = first
    if dtype in QUANTISED:
        largest = max(first.scale, second.scale)
        result = typed(rng, dtype, largest * largest * dtype.limits[1] * 2.0 ** rng.uniform(-2, 2))
    return layer("SQUARED_DIFFERENCE", ops.Attrs(), _pair(rng, first, second), result)


def floor_of(op: str) -> Builder:
    def build(rng: Generator, dtype: DType) -> Layer:
        dividend, divisor = _pair(rng, tensor_type((), dtype), tensor_type((), dtype))
        if dtype is DType.INT32:
            return layer(op, ops.Attrs(), (dividend, _away_from_zero(divisor)), tensor_type((), dtype))
        factor = np.float32(10.0 ** rng.uniform(-2, 4))
        if rng.random() < 0.5:  # multiples, of which nothing is left
            dividend = replace(dividend, data=np.round(dividend.data * 20).astype(np.float32))
            divisor = replace(divisor, data=np.round(divisor.data * 4).astype(np.float32))
        dividend = replace(dividend, data=dividend.data * factor)
        return layer(op, ops.Attrs(), (dividend, _away_from_zero(divisor)), tensor_type((), dtype))

    return build


def prelu(rng: Generator, dtype: DType) -> Layer:
    shape = [integer(rng, 1, 5) for _ in range(integer(rng, 1, 4))]
    own = [1 if rng.random() < 0.4 else extent for extent in shape][integer(rng, 0, len(shape) - 1) :]
    value = random_operand(rng, dtype, shape)
    slope, result = REAL, REAL
    if dtype in QUANTISED:
        slope = int8_type(rng, (), 2.0 ** rng.uniform(-9, -5))
        result = typed(rng, dtype, value.type.scale * 2.0 ** rng.uniform(-2, 2))
    constant = bool(rng.random() < 0.8)
    return layer("PRELU", ops.Attrs(), (value, filled(rng, slope, own, constant=constant)), result)


def select(rng: Generator, dtype: DType) -> Layer:
    type_ = typed(rng, dtype)
    shapes = broadcast_shapes(rng, 3)
    operands = [
        filled(rng, each, shape, constant=bool(rng.random() < 0.2))
        for each, shape in zip((tensor_type((), DType.BOOL), type_, type_), shapes, strict=True)
    ]
    return layer("SELECT_V2", ops.Attrs(), operands, type_)


def logical_not(rng: Generator, dtype: DType) -> Layer:
    argument = filled(rng, tensor_type((), dtype), [integer(rng, 1, 9) for _ in range(integer(rng, 1, 3))])
    return layer("LOGICAL_NOT", ops.Attrs(), (argument,), tensor_type((), dtype))


def arg(op: str) -> Builder:
    def build(rng: Generator, dtype: DType) -> Layer:
        shape = [integer(rng, 1, 6) for _ in range(integer(rng, 1, 4))]
        argument = random_operand(rng, dtype, shape)
        if rng.random() < 0.5:  # equal ones, of which the first counts
            argument = replace(argument, data=np.round(argument.data / 2).astype(dtype.numpy))
        attrs = ops.ArgAttrs(axis=integer(rng, 0, len(shape) - 1))
        return layer(op, attrs, (argument,), tensor_type((), DType.INT32))

    return build


def batch_matmul(rng: Generator, dtype: DType) -> Layer:
    rows, depth, columns = integer(rng, 1, 6), integer(rng, 1, 20), integer(rng, 1, 6)
    outer = [integer(rng, 1, 3) for _ in range(integer(rng, 0, 2))]
    batches = [[1 if rng.random() < 0.25 else extent for extent in outer] for _ in range(2)]
    adj_x, adj_y = bool(rng.random() < 0.5), bool(rng.random() < 0.5)
    shapes = (
        (*batches[0], depth, rows) if adj_x else (*batches[0], rows, depth),
        (*batches[1], columns, depth) if adj_y else (*batches[1], depth, columns),
    )
    constant = bool(rng.random() < 0.3)
    first = random_operand(rng, dtype, shapes[0])
    second = random_operand(rng, dtype, shapes[1], constant=constant)
    result = REAL
    if dtype in QUANTISED:
        reach = 73 if dtype is DType.INT8 else 18918
        scale = first.type.scale * second.type.scale * reach * depth**0.5 * 2.0 ** rng.uniform(-1, 3)
        result = typed(rng, dtype, scale)
    attrs = ops.BatchMatMulAttrs(adj_x=adj_x, adj_y=adj_y)
    return layer("BATCH_MATMUL", attrs, (first, second), result)


def add_n(rng: Generator, dtype: DType) -> Layer:
    shape = [integer(rng, 1, 6) for _ in range(integer(rng, 1, 4))]
    type_ = typed(rng, dtype)
    count = integer(rng, 2, 6)
    operands = [filled(rng, type_, shape, constant=bool(rng.random() < 0.15)) for _ in range(count)]
    result = typed(rng, dtype, type_.scale * 2.0 ** rng.uniform(-1, 3)) if dtype is DType.INT8 else type_
    return layer("ADD_N", ops.Attrs(), operands, result)


def cumsum(rng: Generator, dtype: DType) -> Layer:
    shape = [integer(rng, 1, 6) for _ in range(integer(rng, 1, 4))]
    axis = integer(rng, 0, len(shape) - 1)
    shape[axis] = integer(rng, 1, 20)
    if dtype is DType.INT32:
        data = rng.integers(-(1 << 19), 1 << 19, shape, np.int32)
        argument = Operand(type=tensor_type(shape, dtype), data=data)
    else:
        argument = random_operand(rng, dtype, shape)
    result = (
        typed(rng, dtype, argument.type.scale * 2.0 ** rng.uniform(-1, 4))
        if dtype is DType.INT8
        else argument.type
    )
    attrs = ops.CumsumAttrs(axis=axis, exclusive=bool(rng.random() < 0.4), reverse=bool(rng.random() < 0.4))
    return layer("CUMSUM", attrs, (argument,), result)


def l2_normalization(rng: Generator, dtype: DType) -> Layer:
    shape = [*(integer(rng, 1, 4) for _ in range(integer(rng, 1, 3))), integer(rng, 1, 24)]
    argument = random_operand(rng, dtype, shape)
    if dtype is DType.INT8 and rng.random() < 0.4:  # short rows, of small numbers
        zero = argument.type.zero_point
        near = np.clip(rng.integers(zero - 2, zero + 3, shape), -128, 127)
        argument = replace(argument, data=near.astype(np.int8))
    result = tensor_type(scale=1 / 128) if dtype is DType.INT8 else argument.type
    return layer("L2_NORMALIZATION", ops.Attrs(), (argument,), result)


def log_softmax(rng: Generator, dtype: DType) -> Layer:
    shape = [*(integer(rng, 1, 4) for _ in range(integer(rng, 0, 2))), integer(rng, 1, 30)]
    argument = filled(
        rng,
        int8_type(rng, (), 2.0 ** rng.uniform(-8, 1)) if dtype is DType.INT8 else REAL,
        shape,
    )
    if dtype is DType.FLOAT32:
        argument = replace(argument, data=argument.data * np.float32(2.0 ** rng.uniform(-3, 4)))
    result = tensor_type(scale=1 / 16, zero=127) if dtype is DType.INT8 else argument.type
    return layer("LOG_SOFTMAX", ops.Attrs(), (argument,), result)


def gelu(rng: Generator, dtype: DType) -> Layer:
    argument = random_operand(rng, dtype, [integer(rng, 1, 9) for _ in range(integer(rng, 1, 3))])
    result = argument.type
    if dtype is DType.INT8:
        result = typed(rng, dtype, argument.type.scale * 2.0 ** rng.uniform(-2, 1))
    else:
        argument = replace(argument, data=argument.data * np.float32(2.0 ** rng.uniform(-3, 3)))
    return layer("GELU", ops.GeluAttrs(approximate=bool(rng.random() < 0.5)), (argument,), result)


def update_slice(rng: Generator, dtype: DType) -> Layer:
    shape = [integer(rng, 1, 5) for _ in range(integer(rng, 1, 4))]
    part = [integer(rng, 1, extent) for extent in shape]
    index = DType.INT64 if dtype is DType.INT16 and rng.random() < 0.5 else DType.INT32  # as engines take it
    drawn = rng.integers(-2, 7, len(shape), np.int64)
    if index is DType.INT64 and rng.random() < 0.3:
        drawn = drawn * np.int64(2**31)
    starts = drawn.astype(index.numpy)
    type_ = typed(rng, dtype)
    operands = [
        filled(rng, type_, shape, constant=bool(rng.random() < 0.2)),
        filled(rng, type_, part, constant=bool(rng.random() < 0.2)),
        Operand(type=tensor_type(starts.shape, index), data=starts, constant=bool(rng.random() < 0.2)),
    ]
    return layer("DYNAMIC_UPDATE_SLICE", ops.Attrs(), operands, type_)


_ALL = (DType.INT8, DType.INT16, DType.INT32, DType.INT64, DType.BOOL, DType.FLOAT32)


def cast(rng: Generator, dtype: DType) -> Layer:
    pairs = [other for one, other in CASTS if one is dtype]
    operand = Operand(type=tensor_type((integer(rng, 1, 60),), dtype), data=np.zeros(0))
    operand = replace(operand, data=fill(rng, operand.type))
    return layer("CAST", ops.Attrs(), (operand,), tensor_type((), pairs[integer(rng, 0, len(pairs) - 1)]))


PAIRS = {
    **{name: (extreme(name), _ALL) for name in ("MAXIMUM", "MINIMUM")},
    **{name: (compare(name), _ALL) for name in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL")},
    "DIV": (div, (DType.INT8, DType.INT32, DType.FLOAT32)),
    "SQUARED_DIFFERENCE": (squared_difference, (*QUANTISED, DType.INT32, DType.FLOAT32)),
    **{name: (floor_of(name), (DType.INT32, DType.FLOAT32)) for name in ("FLOOR_DIV", "FLOOR_MOD")},
    "PRELU": (prelu, (*QUANTISED, DType.FLOAT32)),
    "SELECT_V2": (select, _ALL),
    "LOGICAL_NOT": (logical_not, (DType.BOOL,)),
    **{name: (arg(name), (DType.INT8, DType.FLOAT32)) for name in ("ARG_MAX", "ARG_MIN")},
    **SIGNALS,
    "CAST": (cast, tuple(dict.fromkeys(one for one, _ in CASTS))),
    "BATCH_MATMUL": (batch_matmul, (*QUANTISED, DType.FLOAT32)),
    "ADD_N": (add_n, (DType.INT8, DType.INT32, DType.FLOAT32)),
    "CUMSUM": (cumsum, (DType.INT8, DType.INT32, DType.FLOAT32)),
    "LOG_SOFTMAX": (log_softmax, (DType.INT8, DType.FLOAT32)),
    "GELU": (gelu, (DType.INT8, DType.FLOAT32)),
    "DYNAMIC_UPDATE_SLICE": (update_slice, _ALL),
    "L2_NORMALIZATION": (l2_normalization, (DType.INT8, DType.FLOAT32)),
}
"""By operator: how to draw one, on which types."""
