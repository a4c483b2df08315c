"""Portable kernels of two or three arguments with broadcasting: a C function a family and element type."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.ir import DType, Let
from codegen.ir.ops.base.parameters import (
    compare_multiplier,
    div_multiplier,
    prelu_params,
    squared_difference_params,
)
from codegen.ir.ops.pairwise import COMPARISONS, EXTREMES
from codegen.kernels.base.broadcast import broadcast_fields
from codegen.kernels.base.c_kernel import (
    ConstantData,
    Parts,
    PortableKernel,
    arg_type,
    pair_parts,
    value_argument,
)
from codegen.kernels.base.overlap import in_place
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import limit_fields
from codegen.kernels.base.walk import Fields, axes, broadcast_steps, merge, params
from codegen.kernels.call import PARAMS, RESULT, CStruct, LiteralArg
from codegen.kernels.contract import LinkedConstant, Sharing
from codegen.kernels.portable.elementwise import integer_head, sum_fields

FAMILIES_HEADER = "cg_kernels_families.h"
_LETTERS = {
    DType.INT8: "s8",
    DType.BOOL: "u8",
    DType.INT16: "s16",
    DType.INT32: "s32",
    DType.INT64: "s64",
    DType.FLOAT32: "f32",
}


class FamilyKernel(PortableKernel):
    """A C function of a family, for one element type of the arguments."""

    @property
    def header(self) -> str:
        return FAMILIES_HEADER

    def __init__(self, op: str, family: str, argument: DType, result: DType | None = None) -> None:
        self.op, self.stem = op, f"{family}_{_LETTERS[argument]}"
        self.name = f"{op.lower()}_{_LETTERS[argument]}_portable"
        self.argument, self.result = argument, argument if result is None else result


def _in_step(let: Let, *arguments: int) -> tuple[Sharing, ...]:
    """Rule for results in place of arguments that are read element by element as they are written. A
    broadcast argument of as many bytes may have fewer, wider elements."""
    count = let.var.type.elements
    return in_place(let, *(index for index in arguments if arg_type(let, index).elements == count))


class _Pair(FamilyKernel):
    """Base with the call (params, lhs, rhs, result), in place of arguments that are not broadcast."""

    def numbers(self, let: Let) -> CStruct:
        """The parameter struct; raises ValueError if a number is out of range."""
        return params("cg_pair_params", ("shape", broadcast_fields(let)), ("kind", 0))

    def check(self, let: Let) -> None:
        """Refuse more than five nested loops, and numbers out of range."""
        self.numbers(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        return pair_parts(let, constants, self.numbers(let), sharing=_in_step(let, 0, 1))


class PairKind(_Pair):
    """One of several operators of a family; its number goes into the parameters."""

    def __init__(self, op: str, family: str, kind: int, argument: DType, result: DType | None = None) -> None:
        super().__init__(op, family, argument, result)
        self._kind = kind

    def numbers(self, let: Let) -> CStruct:
        return params("cg_pair_params", ("shape", broadcast_fields(let)), ("kind", self._kind))


class _CompareInt8(PairKind):
    """Comparisons of int8: both arguments are brought to one scale."""

    def numbers(self, let: Let) -> CStruct:
        first, second = arg_type(let, 0), arg_type(let, 1)
        lhs, rhs = compare_multiplier(first), compare_multiplier(second)
        return params(
            "cg_compare_params",
            ("shape", broadcast_fields(let)),
            ("kind", self._kind),
            ("lhs_zero", first.zero_point),
            ("rhs_zero", second.zero_point),
            ("lhs_multiplier", lhs[0]),
            ("rhs_multiplier", rhs[0]),
            ("lhs_shift", lhs[1]),
            ("rhs_shift", rhs[1]),
        )


class _ArithmeticInt32(PairKind):
    """Arithmetic on int32 without scales: one C function for all operators."""

    def numbers(self, let: Let) -> CStruct:
        shape = ("shape", broadcast_fields(let))
        return params("cg_arithmetic_params", shape, ("kind", self._kind), *limit_fields(let))


class _FloatPair(_Pair):
    """DIV and SQUARED_DIFFERENCE on float32."""

    def numbers(self, let: Let) -> CStruct:
        return params("cg_binary_params_f32", ("shape", broadcast_fields(let)), *limit_fields(let))


class _DivInt8(_Pair):
    """DIV on int8."""

    def numbers(self, let: Let) -> CStruct:
        multiplier, shift = div_multiplier(arg_type(let, 0), arg_type(let, 1), let.var.type)
        scaling: Fields = (("multiplier", multiplier), ("shift", shift))
        return params("cg_mul_params", *integer_head(let), *scaling, *limit_fields(let))


class _SquaredInteger(_Pair):
    """SQUARED_DIFFERENCE on int8 and int16."""

    def numbers(self, let: Let) -> CStruct:
        scales = squared_difference_params(arg_type(let, 0), arg_type(let, 1), let.var.type)
        return params("cg_add_params", *integer_head(let), *sum_fields(scales), *limit_fields(let))


class _PreluInteger(_Pair):
    """PRELU on int8 and int16."""

    def numbers(self, let: Let) -> CStruct:
        value, slope = arg_type(let, 0), arg_type(let, 1)
        scales = prelu_params(value, slope, let.var.type)
        return params(
            "cg_prelu_params",
            ("shape", broadcast_fields(let)),
            ("in_zero", value.zero_point),
            ("slope_zero", slope.zero_point),
            ("out_zero", let.var.type.zero_point),
            ("multiplier", scales.positive_multiplier),
            ("shift", scales.positive_shift),
            ("slope_multiplier", scales.negative_multiplier),
            ("slope_shift", scales.negative_shift),
            *limit_fields(let),
        )


def positive_table(let: Let) -> LinkedConstant:
    """Results of a PRELU for values from the zero point on, whatever their slope: a table for kernels of
    instruction sets."""
    value, slope = arg_type(let, 0), arg_type(let, 1)
    every = np.arange(-128, 128, dtype=np.int8)
    slopes = np.full(every.shape, slope.zero_point, np.int8)
    types = replace(value, shape=every.shape), replace(slope, shape=every.shape)
    result = replace(let.var.type, shape=every.shape)
    return LinkedConstant(
        role="positive",
        is_plain=True,
        data=let.call.op.evaluate(let.call.attrs, (every, slopes), types, result),
        alignment=1,
        reads=let.var.type.elements / every.size,
        layout="results of values from -128 on, where they are not below the zero point",
    )


class Select(PortableKernel):
    """SELECT_V2 on any element type."""

    op, stem, name = "SELECT_V2", "select", "select_portable"

    @property
    def header(self) -> str:
        return FAMILIES_HEADER

    def check(self, let: Let) -> None:
        """Refuse more than five nested loops."""
        self._fields(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        arguments = [
            value_argument(let, i, role, constants) for i, role in enumerate(("condition", "lhs", "rhs"))
        ]
        return Parts(
            structs=(params("cg_select_params", *self._fields(let)),),
            call_args=(PARAMS, *(passed for passed, _ in arguments), RESULT),
            constants=tuple(constant for _, linked in arguments for constant in linked),
            sharing=_in_step(let, 0, 1, 2),
        )

    def _fields(self, let: Let) -> Fields:
        shape, element = let.var.type.shape, let.var.type.dtype.size_bytes
        walk = merge(shape, *(_steps(let, index, shape) for index in range(3)))
        sizes = (1, element, element)
        moves = [
            axes([step * size for step in steps], 0) for steps, size in zip(walk.steps, sizes, strict=True)
        ]
        return (
            ("extent", axes(walk.extents, 1)),
            ("condition_step", moves[0]),
            ("lhs_step", moves[1]),
            ("rhs_step", moves[2]),
            ("element_bytes", element),
        )


def _steps(let: Let, index: int, shape: Sequence[int]) -> tuple[int, ...]:
    """How far each axis of the result moves in argument `index`, in elements; 0 where it is broadcast."""
    return broadcast_steps(arg_type(let, index).shape, len(shape))


class LogicalNot(PortableKernel):
    """LOGICAL_NOT."""

    op, stem, name = "LOGICAL_NOT", "logical_not", "logical_not_portable"
    argument = result = DType.BOOL

    @property
    def header(self) -> str:
        return FAMILIES_HEADER

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        value, linked = value_argument(let, 0, "argument", constants)
        return Parts(
            call_args=(value, RESULT, LiteralArg(value=let.var.type.elements)),
            constants=linked,
            sharing=in_place(let, 0),
        )


EXTREMES_S8: dict[str, PairKind] = {}
"""Portable kernels of MAXIMUM and MINIMUM of int8, by operator: fast kernels build on them."""
for _number, _extreme in enumerate(EXTREMES):
    for _dtype in _extreme.types:
        _kernel = PairKind(_extreme.name, "extreme", _number, _dtype)
        register(_kernel)
        if _dtype is DType.INT8:
            EXTREMES_S8[_extreme.name] = _kernel
for _number, _compare in enumerate(COMPARISONS):
    for _dtype in _compare.types:
        _class = _CompareInt8 if _dtype is DType.INT8 else PairKind
        register(_class(_compare.name, "compare", _number, _dtype, DType.BOOL))
for _number, _op in enumerate(("ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE")):
    register(_ArithmeticInt32(_op, "arithmetic", _number, DType.INT32))
register(_DivInt8("DIV", "div", DType.INT8))
register(_FloatPair("DIV", "div", DType.FLOAT32))
register(_SquaredInteger("SQUARED_DIFFERENCE", "squared_difference", DType.INT8))
register(_SquaredInteger("SQUARED_DIFFERENCE", "squared_difference", DType.INT16))
register(_FloatPair("SQUARED_DIFFERENCE", "squared_difference", DType.FLOAT32))
for _number, _op in enumerate(("FLOOR_DIV", "FLOOR_MOD")):
    register(PairKind(_op, "floor", _number, DType.INT32))
register(_Pair("FLOOR_DIV", "floor_div", DType.FLOAT32))
register(_Pair("FLOOR_MOD", "floor_mod", DType.FLOAT32))
PRELU_S8 = _PreluInteger("PRELU", "prelu", DType.INT8)
register(PRELU_S8)
register(_PreluInteger("PRELU", "prelu", DType.INT16))
register(_Pair("PRELU", "prelu", DType.FLOAT32))
register(Select())
register(LogicalNot())
