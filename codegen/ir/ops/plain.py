"""Numbers without scales, of any element type: conversions, and operators on two integers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.operands import (
    narrow,
    need_dtype,
    need_elements,
    operand,
    present,
)
from codegen.ir.ops.base.shape_rules import BroadcastShape, SameShape
from codegen.ir.types import DType, TensorType

TYPES: tuple[DType, ...] = (
    *(DType.BOOL, DType.INT8, DType.UINT8, DType.INT16, DType.UINT16),
    *(DType.INT32, DType.UINT32, DType.INT64, DType.UINT64, DType.FLOAT32, DType.FLOAT64),
    DType.FLOAT16,
)
"""In the order of the C kernels' numbers (CG_PLAIN_...)."""

INTEGERS = tuple(type_ for type_ in TYPES if type_.is_integer)


@dataclass(frozen=True, kw_only=True, slots=True)
class ConvertAttrs(Attrs):
    """PLAIN_CONVERT; `bits`: the same bits, seen as another type of that size."""

    bits: bool = False


class PlainConvert(SameShape):
    """PLAIN_CONVERT: the same numbers as another element type.

    Floats towards zero; beyond 64 bits the nearest there is, 0 for no number; of that what there is room for.
    """

    name = "PLAIN_CONVERT"
    short = "convert"
    attrs_type = ConvertAttrs

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Any two of `TYPES`; of one size if bits are kept."""
        super().check(attrs, args, result)
        need_elements(result)
        argument = operand(args, 0, "argument")
        need_dtype(argument, "argument", *TYPES)
        need_dtype(result, "result", *TYPES)
        halves = [kind for kind in (argument, result) if kind.dtype is DType.FLOAT16]
        if len(halves) == 1 and not narrow(attrs, ConvertAttrs).bits:
            need_dtype(argument, "argument", DType.FLOAT16, DType.FLOAT32)
            need_dtype(result, "result", DType.FLOAT16, DType.FLOAT32)
        if narrow(attrs, ConvertAttrs).bits and argument.dtype.size_bytes != result.dtype.size_bytes:
            raise ValueError(f"{argument.dtype.value} and {result.dtype.value} differ in size")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: ONNX, Cast and BitCast."""
        del args
        value, dtype = present(values, 0, "argument"), result.dtype.numpy
        if narrow(attrs, ConvertAttrs).bits:
            return np.ascontiguousarray(value).view(dtype).reshape(value.shape)
        if value.dtype.kind != "f" or dtype.kind in "bf":
            with np.errstate(all="ignore"):  # beyond float32: infinity
                return value.astype(dtype)
        return _whole(value, dtype)


def _whole(value: np.ndarray, dtype: np.dtype[np.generic]) -> np.ndarray:
    most = (1 << 64 if dtype == np.uint64 else 1 << 63) - 1
    numbers = [_cut(number, most) for number in value.reshape(-1).tolist()]
    return _wrapped(numbers, np.empty(value.shape, dtype))


def _cut(number: float, most: int) -> int:
    if number != number:
        return 0
    if number >= most:
        return most
    return int(number) if number >= -(2.0**63) else -(1 << 63)


def _wrapped(numbers: list[int], like: np.ndarray) -> np.ndarray:
    """The lowest bits of `numbers` in the type and shape of `like`."""
    bits = np.array([number % (1 << 64) for number in numbers], np.uint64)
    return bits.astype(like.dtype).reshape(like.shape)


@dataclass(frozen=True, kw_only=True, slots=True)
class PlainAttrs(Attrs):
    """PLAIN_PAIR: which of `KINDS`."""

    kind: str


_Numbers = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _divided(first: int, second: int) -> int:
    """The quotient rounded towards zero; 0 for a divisor of 0."""
    if second == 0:
        return 0
    size = abs(first) // abs(second)
    return size if (first < 0) == (second < 0) else -size


def _each(function: Callable[[int, int], int]) -> _Numbers:
    """Apply `function` to pairs of elements, exactly; results keep the low bits of their type."""

    def all_of(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        pairs = zip(first.reshape(-1).tolist(), second.reshape(-1).tolist(), strict=True)
        return _wrapped([function(a, b) for a, b in pairs], first)

    return all_of


def _power(first: int, second: int) -> int:
    if second < 0:
        return _divided(1, first**-second)
    return pow(first, second, 1 << 64)


KINDS: Mapping[str, _Numbers] = MappingProxyType(
    {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "div": _each(_divided),
        "mod": _each(lambda a, b: a % b if b else 0),
        "fmod": _each(lambda a, b: a - b * _divided(a, b) if b else 0),
        "pow": _each(_power),
        "max": np.maximum,
        "min": np.minimum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
        "shl": _each(lambda a, b: a << b if 0 <= b < 64 else 0),
        "shr": _each(lambda a, b: a >> (b if 0 <= b < 64 else 64)),
        "equal": np.equal,
        "less": np.less,
        "lessequal": np.less_equal,
    }
)
"""In the order of the C kernel's kinds; the last three give bool."""

TRUTHS = frozenset({"equal", "less", "lessequal"})

DOUBLES: Mapping[str, _Numbers] = MappingProxyType(
    {
        **{"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide},
        "max": lambda a, b: np.where((a > b) | np.isnan(a), a, b),
        "min": lambda a, b: np.where((a < b) | np.isnan(a), a, b),
        **{kind: KINDS[kind] for kind in TRUTHS},
    }
)
"""Kinds of float64, as IEEE 754 has them; no number stays none, of equal numbers (zeros) it is the second."""


class PlainPair(BroadcastShape):
    """PLAIN_PAIR(first, second) with broadcasting; integers that do not fit wrap."""

    name = "PLAIN_PAIR"
    short = "pair"
    attrs_type = PlainAttrs

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Integers of a type, bool or float64 on all sides; a bool result where something is said of them."""
        super().check(attrs, args, result)
        need_elements(result)
        kind = narrow(attrs, PlainAttrs).kind
        if kind not in KINDS:
            raise ValueError(f"there is no kind {kind}")
        first = operand(args, 0, "first argument")
        need_dtype(first, "first argument", DType.BOOL, *INTEGERS, DType.FLOAT64)
        if first.dtype is DType.FLOAT64 and kind not in DOUBLES:
            raise ValueError(f"there is no kind {kind} of float64")
        need_dtype(operand(args, 1, "second argument"), "second argument", first.dtype)
        need_dtype(result, "result", DType.BOOL if kind in TRUTHS else first.dtype)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Elements as ONNX specifies each operator on integers and on float64."""
        del args
        both = np.broadcast_arrays(
            present(values, 0, "first argument"), present(values, 1, "second argument")
        )
        if both[0].dtype == np.bool_:
            both = [data.view(np.uint8) for data in map(np.ascontiguousarray, both)]
        kinds = DOUBLES if both[0].dtype == np.float64 else KINDS
        with np.errstate(all="ignore"):
            results = kinds[narrow(attrs, PlainAttrs).kind](*both)
        return np.ascontiguousarray(results.astype(result.dtype.numpy))


OPERATORS: tuple[Op, ...] = (PlainConvert(), PlainPair())
"""All of this family."""
