"""Random layers of the operators on two or three arguments that choose, compare or divide."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from codegen.ir import DType, TensorType, ops
from tests.kernels.layers import (
    Layer,
    Operand,
    activation,
    fill,
    float_type,
    int8_type,
    integer,
    integer_type,
    layer,
    random_operand,
)

QUANTISED = (DType.INT8, DType.INT16)
Builder = Callable[[Generator, DType], Layer]


def plain_type(dtype: DType, shape: Sequence[int] = ()) -> TensorType:
    """A type without quantisation."""
    return TensorType(shape=tuple(shape), dtype=dtype)


def typed(rng: Generator, dtype: DType, scale: float | None = None) -> TensorType:
    """Quantised where `dtype` is so in networks; without a shape."""
    return integer_type(rng, dtype, (), scale) if dtype in QUANTISED else plain_type(dtype)


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
        return layer(op, ops.Attrs(), _pair(rng, first, second), plain_type(DType.BOOL))

    return build


def _away_from_zero(operand: Operand) -> Operand:
    zero = operand.type.zero_point
    other = np.asarray(zero - 1 if zero > 0 else zero + 1, operand.data.dtype)
    return replace(operand, data=np.where(operand.data == zero, other, operand.data))


def div(rng: Generator, dtype: DType) -> Layer:
    attrs = ops.BinaryAttrs(activation=activation(rng))
    if dtype is not DType.INT8:
        type_ = plain_type(dtype)
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
        dividend, divisor = _pair(rng, plain_type(dtype), plain_type(dtype))
        factor = np.float32(10.0 ** rng.uniform(-2, 4))
        if rng.random() < 0.5:  # multiples, of which nothing is left
            dividend = replace(dividend, data=np.round(dividend.data * 20).astype(np.float32))
            divisor = replace(divisor, data=np.round(divisor.data * 4).astype(np.float32))
        dividend = replace(dividend, data=dividend.data * factor)
        return layer(op, ops.Attrs(), (dividend, _away_from_zero(divisor)), plain_type(dtype))

    return build


def prelu(rng: Generator, dtype: DType) -> Layer:
    shape = [integer(rng, 1, 5) for _ in range(integer(rng, 1, 4))]
    own = [1 if rng.random() < 0.4 else extent for extent in shape][integer(rng, 0, len(shape) - 1) :]
    value = random_operand(rng, dtype, shape)
    slope, result = float_type(()), float_type(())
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
        for each, shape in zip((plain_type(DType.BOOL), type_, type_), shapes, strict=True)
    ]
    return layer("SELECT_V2", ops.Attrs(), operands, type_)


def logical_not(rng: Generator, dtype: DType) -> Layer:
    argument = filled(rng, plain_type(dtype), [integer(rng, 1, 9) for _ in range(integer(rng, 1, 3))])
    return layer("LOGICAL_NOT", ops.Attrs(), (argument,), plain_type(dtype))


def arg(op: str) -> Builder:
    def build(rng: Generator, dtype: DType) -> Layer:
        shape = [integer(rng, 1, 6) for _ in range(integer(rng, 1, 4))]
        argument = random_operand(rng, dtype, shape)
        if rng.random() < 0.5:  # equal ones, of which the first counts
            argument = replace(argument, data=np.round(argument.data / 2).astype(dtype.numpy))
        attrs = ops.ArgAttrs(axis=integer(rng, 0, len(shape) - 1))
        return layer(op, attrs, (argument,), plain_type(DType.INT32))

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
    result = float_type(())
    if dtype is DType.INT8:
        scale = first.type.scale * second.type.scale * 73 * depth**0.5 * 2.0 ** rng.uniform(-1, 3)
        result = int8_type(rng, (), scale)
    attrs = ops.BatchMatMulAttrs(adj_x=adj_x, adj_y=adj_y)
    return layer("BATCH_MATMUL", attrs, (first, second), result)


_ALL = (DType.INT8, DType.INT16, DType.INT32, DType.INT64, DType.BOOL, DType.FLOAT32)


def signal_window(rng: Generator, dtype: DType) -> Layer:
    assert dtype is DType.INT16
    frames, size = integer(rng, 1, 4), integer(rng, 1, 40)
    values = [
        Operand(
            type=TensorType(shape=shape, dtype=dtype),
            data=rng.integers(-32768, 32768, shape).astype(np.int16),
        )
        for shape in ((frames, size), (size,))
    ]
    attrs = ops.WindowAttrs(shift=integer(rng, 0, 16))
    return layer("SIGNAL_WINDOW", attrs, values, values[0].type)


PAIRS = {
    **{name: (extreme(name), _ALL) for name in ("MAXIMUM", "MINIMUM")},
    **{name: (compare(name), _ALL) for name in ("EQUAL", "NOT_EQUAL")},
    **{
        name: (compare(name), tuple(d for d in _ALL if d is not DType.BOOL))
        for name in ("LESS", "LESS_EQUAL")
    },
    "DIV": (div, (DType.INT8, DType.INT32, DType.FLOAT32)),
    "SQUARED_DIFFERENCE": (squared_difference, (*QUANTISED, DType.INT32, DType.FLOAT32)),
    **{name: (floor_of(name), (DType.FLOAT32,)) for name in ("FLOOR_DIV", "FLOOR_MOD")},
    "PRELU": (prelu, (*QUANTISED, DType.FLOAT32)),
    "SELECT_V2": (select, _ALL),
    "LOGICAL_NOT": (logical_not, (DType.BOOL,)),
    **{name: (arg(name), (DType.INT8, DType.FLOAT32)) for name in ("ARG_MAX", "ARG_MIN")},
    "SIGNAL_WINDOW": (signal_window, (DType.INT16,)),
    "BATCH_MATMUL": (batch_matmul, (DType.INT8, DType.FLOAT32)),
}
"""By operator: how to draw one, on which types."""
