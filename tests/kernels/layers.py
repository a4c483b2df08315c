"""Layers: one call of an operator with its data, and random types and operands to build them from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from codegen.ir import Call, ConstRef, DType, Let, TensorType, Var
from codegen.ir.ops import (
    TFLITE,
    Activation,
    Attrs,
    ConvAttrs,
    DepthwiseConvAttrs,
    FullyConnectedAttrs,
    HalvesUp,
    PoolAttrs,
    find_op,
)
from tests.tensor_types import per_tensor, tensor_type


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """A call, the data of its constants, and the values of its arguments (None: left out)."""

    let: Let
    constants: Mapping[str, np.ndarray]
    values: tuple[np.ndarray | None, ...]

    @property
    def expected(self) -> np.ndarray:
        types = self.let.call.types
        call = self.let.call
        return call.op.evaluate(call.attrs, self.values, types, self.let.var.type)


@dataclass(frozen=True, kw_only=True, slots=True)
class Operand:
    """One argument: its type and data, and whether it is a constant."""

    type: TensorType
    data: np.ndarray
    constant: bool = False


def layer(op: str, attrs: Attrs, operands: Sequence[Operand | None], result: TensorType) -> Layer:
    """The call of `op` with result type `result` (its shape is the operator's); its rule must accept it."""
    declared = find_op(op)
    assert declared is not None, op
    types = [None if operand is None else operand.type for operand in operands]
    result = replace(result, shape=declared.result_shape(attrs, types))
    declared.check(attrs, types, result)
    args: list[Var | ConstRef | None] = []
    constants: dict[str, np.ndarray] = {}
    for index, operand in enumerate(operands):
        if operand is None:
            args.append(None)
        elif operand.constant:
            constants[f"c{index}"] = operand.data
            args.append(ConstRef(id=f"c{index}", type=operand.type))
        else:
            args.append(Var(name=f"in{index}", type=operand.type))
    call = Call(op=declared, args=tuple(args), attrs=attrs)
    let = Let(var=Var(name=f"{declared.short}0", type=result), call=call)
    return Layer(let=let, constants=constants, values=tuple(None if o is None else o.data for o in operands))


def integer(rng: Generator, low: int, high: int) -> int:
    """Uniform in [low, high]."""
    return int(rng.integers(low, high, endpoint=True))


def float32(value: float) -> float:
    return float(np.float32(value))


def zero_point(rng: Generator) -> int:
    """Both ends, the middle, anything."""
    return int(rng.choice([-128, 127, 0, integer(rng, -128, 127)]))


def int8_type(rng: Generator, shape: Sequence[int], scale: float | None = None) -> TensorType:
    chosen = float32(scale if scale is not None else 2.0 ** rng.uniform(-8, 0))
    quantization = per_tensor(chosen, zero_point(rng))
    return tensor_type(shape, quantization=quantization)


def int16_type(rng: Generator, shape: Sequence[int], scale: float | None = None) -> TensorType:
    chosen = float32(scale if scale is not None else 2.0 ** rng.uniform(-16, -8))
    quantization = per_tensor(chosen)
    return tensor_type(shape, DType.INT16, quantization=quantization)


def integer_type(
    rng: Generator, dtype: DType, shape: Sequence[int], scale: float | None = None
) -> TensorType:
    """int8 or int16."""
    return (int16_type if dtype is DType.INT16 else int8_type)(rng, shape, scale)


def random_type(rng: Generator, dtype: DType, shape: Sequence[int]) -> TensorType:
    return tensor_type(shape, DType.FLOAT32) if dtype is DType.FLOAT32 else integer_type(rng, dtype, shape)


def fill(rng: Generator, type_: TensorType) -> np.ndarray:
    if type_.dtype is DType.FLOAT32:
        return rng.standard_normal(type_.shape).astype(np.float32)
    low, high = type_.dtype.limits
    return rng.integers(low, high, type_.shape, type_.dtype.numpy, endpoint=True)


def random_operand(rng: Generator, dtype: DType, shape: Sequence[int], *, constant: bool = False) -> Operand:
    type_ = random_type(rng, dtype, shape)
    return Operand(type=type_, data=fill(rng, type_), constant=constant)


def of_small_powers(rng: Generator, argument: Operand) -> Operand:
    """exp of it over the smallest scale of a result has 32 bits; beyond, engines give what the host does."""
    if argument.type.dtype is DType.FLOAT32:
        return replace(argument, data=np.clip(argument.data, -80, 80))
    return replace(argument, type=int8_type(rng, argument.type.shape, 2.0 ** rng.uniform(-8, -5)))


def activation(rng: Generator) -> Activation:
    return list(Activation)[integer(rng, 0, 3)]


def with_zero_point(rng: Generator, weights: Operand) -> Operand:
    """The same weights with a zero point, as those of uint8 have one."""
    quantization = weights.type.quantization
    assert quantization is not None and len(quantization.scales) == 1
    zero = int(rng.choice([-128, 127, integer(rng, -30, -1), integer(rng, 1, 30)]))
    type_ = replace(weights.type, quantization=replace(quantization, zero_points=(zero,)))
    return replace(weights, type=type_)


def symmetric(layer: Layer) -> Layer:
    """The layer by weights without a zero point, and with averages as int8 has them."""
    call = layer.let.call
    attrs, args = call.attrs, call.args
    weights = args[1] if len(args) > 1 else None
    if isinstance(attrs, PoolAttrs) and isinstance(attrs.rounding, HalvesUp):
        attrs = replace(attrs, rounding=TFLITE)
    elif isinstance(attrs, ConvAttrs | DepthwiseConvAttrs | FullyConnectedAttrs) and weights is not None:
        meaning = weights.type.quantization
        if meaning is None or not any(meaning.zero_points):
            return layer
        plain = replace(weights.type, quantization=replace(meaning, zero_points=(0,)))
        args = (*args[:1], replace(weights, type=plain), *args[2:])
    else:
        return layer
    return replace(layer, let=replace(layer.let, call=replace(call, attrs=attrs, args=args)))


def as_int4(weights: Operand) -> Operand:
    """The upper half of each int8 weight, sixteen times its scale; as they are for a matrix by channel, which
    no engine takes with int4."""
    quantization = weights.type.quantization
    assert quantization is not None
    if len(weights.type.shape) == 2 and len(quantization.scales) > 1:
        return weights
    scales = tuple(16 * scale for scale in quantization.scales)
    type_ = replace(weights.type, dtype=DType.INT4, quantization=replace(quantization, scales=scales))
    return Operand(type=type_, data=weights.data >> 4, constant=True)
