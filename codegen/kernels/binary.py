"""Portable kernels of ADD, SUB and MUL, with broadcasting; either argument may be a constant."""

from codegen.ir import DType, Let
from codegen.ir.ops import BinaryAttrs
from codegen.ir.ops.parameters import activation_range, add_params, mul_multiplier, sub_params
from codegen.ir.ops.rules import narrow
from codegen.kernels.overlap import in_place
from codegen.kernels.portable import (
    ConstantData,
    Parts,
    PortableKernel,
    arg_type,
    float_limits,
    row_kernel,
    value_argument,
)
from codegen.kernels.primfunc import CStruct, ResultArg, StructArg
from codegen.kernels.registry import register
from codegen.kernels.walk import Fields, axes, dense_strides, merge, params


def _broadcast(let: Let) -> Fields:
    """Fields of a `cg_broadcast`; without broadcasting it is one loop over all elements."""
    shape = let.var.type.shape
    steps: list[tuple[int, ...]] = []
    for index in (0, 1):
        given = arg_type(let, index).shape
        full = (1,) * (len(shape) - len(given)) + given
        steps.append(
            tuple(0 if extent == 1 else s for extent, s in zip(full, dense_strides(full), strict=True))
        )
    walk = merge(shape, *steps)
    return (
        ("extent", axes(walk.extents, 1)),
        ("lhs_step", axes(walk.steps[0], 0)),
        ("rhs_step", axes(walk.steps[1], 0)),
    )


class _Binary(PortableKernel):
    """Shared by all: the call (params, lhs, rhs, result), in place of what is not broadcast."""

    run_symbol: str | None = None
    """C function for a run of elements without broadcasting, for blocks."""

    def numbers(self, let: Let) -> CStruct:
        """The parameter struct; raises ValueError if a number is out of range."""
        low, high = float_limits(narrow(let.call.attrs, BinaryAttrs).activation)
        return params("cg_binary_params_f32", ("shape", _broadcast(let)), ("act_min", low), ("act_max", high))

    def check(self, let: Let) -> None:
        """Five nested loops at most, multipliers in range."""
        self.numbers(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """See `PortableKernel.parts`."""
        lhs, lhs_linked = value_argument(let, 0, "lhs", constants)
        rhs, rhs_linked = value_argument(let, 1, "rhs", constants)
        return Parts(
            structs=(self.numbers(let),),
            call_args=(StructArg(suffix="params"), lhs, rhs, ResultArg()),
            constants=(*lhs_linked, *rhs_linked),
            sharing=in_place(let, 0, 1),
            rows=row_kernel(let, self.run_symbol) if self.run_symbol else None,
        )


class BinaryF32(_Binary):
    """ADD, SUB or MUL on float32."""

    argument = result = DType.FLOAT32

    def __init__(self, op: str, stem: str) -> None:
        self.op, self.stem, self.name = op, stem, f"{stem}_portable"


def _integer_head(let: Let) -> Fields:
    return (
        ("shape", _broadcast(let)),
        ("lhs_zero", arg_type(let, 0).zero_point),
        ("rhs_zero", arg_type(let, 1).zero_point),
        ("out_zero", let.var.type.zero_point),
    )


def _integer_tail(let: Let) -> Fields:
    low, high = activation_range(narrow(let.call.attrs, BinaryAttrs).activation, let.var.type)
    return (("act_min", low), ("act_max", high))


class AddS8(_Binary):
    """ADD on int8, and SUB by a negated multiplier: both are one C function, as in TFLite."""

    stem = "add_s8"
    run_symbol = "cg_add_s8_run"
    argument = result = DType.INT8

    def __init__(self, op: str) -> None:
        self.op, self.name = op, f"{op.lower()}_s8_portable"

    def numbers(self, let: Let) -> CStruct:
        """See `_Binary.numbers`."""
        rule = add_params if self.op == "ADD" else sub_params
        found = rule(arg_type(let, 0), arg_type(let, 1), let.var.type)
        scaling: Fields = (
            ("left_shift", found.left_shift),
            ("lhs_multiplier", found.first_multiplier),
            ("rhs_multiplier", found.second_multiplier),
            ("out_multiplier", found.result_multiplier),
            ("lhs_shift", found.first_shift),
            ("rhs_shift", found.second_shift),
            ("out_shift", found.result_shift),
        )
        return params("cg_add_params", *_integer_head(let), *scaling, *_integer_tail(let))


class MulS8(_Binary):
    """MUL on int8."""

    op, stem, name = "MUL", "mul_s8", "mul_s8_portable"
    argument = result = DType.INT8

    def numbers(self, let: Let) -> CStruct:
        """See `_Binary.numbers`."""
        multiplier, shift = mul_multiplier(arg_type(let, 0), arg_type(let, 1), let.var.type)
        scaling: Fields = (("multiplier", multiplier), ("shift", shift))
        return params("cg_mul_params", *_integer_head(let), *scaling, *_integer_tail(let))


register(AddS8("ADD"))
register(BinaryF32("ADD", "add_f32"))
register(AddS8("SUB"))
register(BinaryF32("SUB", "sub_f32"))
register(MulS8())
register(BinaryF32("MUL", "mul_f32"))
