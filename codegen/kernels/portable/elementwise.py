"""Portable kernels of ADD, SUB and MUL, with broadcasting, either argument may be a constant; of CAST."""

from dataclasses import replace

from codegen.ir import DType, Let, Var
from codegen.ir.ops import OnnxRounding
from codegen.ir.ops.base.parameters import AddParams, add_params, mul_multiplier, sub_params
from codegen.ir.ops.elementwise import CASTS
from codegen.kernels.base.broadcast import broadcast_fields
from codegen.kernels.base.c_kernel import (
    ConstantData,
    Parts,
    PortableKernel,
    arg_type,
    pair_parts,
    row_kernel,
    value_argument,
)
from codegen.kernels.base.overlap import in_place
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import limit_fields
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.call import RESULT, CStruct, LiteralArg
from codegen.kernels.contract import Sharing
from codegen.kernels.primfunc import PrimFunc


class _Binary(PortableKernel):
    """Base with the call (params, lhs, rhs, result), in place of arguments that are not broadcast."""

    run_symbol: str | None = None
    """C function for a run of elements without broadcasting, for blocks."""

    def numbers(self, let: Let) -> CStruct:
        """The parameter struct; raises ValueError if a number is out of range."""
        return params("cg_binary_params_f32", ("shape", broadcast_fields(let)), *limit_fields(let))

    def check(self, let: Let) -> None:
        """Refuse more than five nested loops, and multipliers out of range."""
        self.numbers(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        rows = row_kernel(let, self.run_symbol) if self.run_symbol else None
        return pair_parts(let, constants, self.numbers(let), sharing=in_place(let, 0, 1), rows=rows)


class BinaryF32(_Binary):
    """ADD, SUB or MUL on float32."""

    argument = result = DType.FLOAT32

    def __init__(self, op: str, stem: str) -> None:
        self.op, self.stem, self.name = op, stem, f"{stem}_portable"
        self.run_symbol = f"{self.symbol}_run"


def integer_head(let: Let) -> Fields:
    """First fields of an integer call: how its arguments broadcast, and all zero points."""
    return (
        ("shape", broadcast_fields(let)),
        ("lhs_zero", arg_type(let, 0).zero_point),
        ("rhs_zero", arg_type(let, 1).zero_point),
        ("out_zero", let.var.type.zero_point),
    )


def sum_fields(numbers: AddParams) -> Fields:
    """Fields that rescale both arguments and their sum."""
    return (
        ("left_shift", numbers.left_shift),
        ("lhs_multiplier", numbers.first_multiplier),
        ("rhs_multiplier", numbers.second_multiplier),
        ("out_multiplier", numbers.result_multiplier),
        ("lhs_shift", numbers.first_shift),
        ("rhs_shift", numbers.second_shift),
        ("out_shift", numbers.result_shift),
    )


_KINDS = {DType.INT8: "s8", DType.INT16: "s16"}
_CAST_KINDS = {**_KINDS, DType.INT32: "s32"}


class AddInteger(_Binary):
    """ADD on int8 or int16, and SUB by a negated multiplier: both are one C function, as in TFLite."""

    def __init__(self, op: str, dtype: DType) -> None:
        kind = _KINDS[dtype]
        self.op, self.stem, self.name = op, f"add_{kind}", f"{op.lower()}_{kind}_portable"
        self.argument = self.result = dtype
        self.run_symbol = "cg_add_s8_run" if dtype is DType.INT8 else None

    def numbers(self, let: Let) -> CStruct:
        rule = add_params if self.op == "ADD" else sub_params
        numbers = rule(arg_type(let, 0), arg_type(let, 1), let.var.type)
        return params("cg_add_params", *integer_head(let), *sum_fields(numbers), *limit_fields(let))


class MulInteger(_Binary):
    """MUL on int8 or int16."""

    op = "MUL"

    def __init__(self, dtype: DType) -> None:
        self.stem = f"mul_{_KINDS[dtype]}"
        self.name = f"{self.stem}_portable"
        self.argument = self.result = dtype

    def numbers(self, let: Let) -> CStruct:
        multiplier, shift = mul_multiplier(arg_type(let, 0), arg_type(let, 1), let.var.type)
        scaling: Fields = (("multiplier", multiplier), ("shift", shift))
        return params("cg_mul_params", *integer_head(let), *scaling, *limit_fields(let))


class FloatRounded(_Binary):
    """ADD, SUB (a sum with a negated scale) or MUL of integers, rounded as ONNX does."""

    rounding = OnnxRounding

    def __init__(self, op: str, base: str, sign: float, dtype: DType) -> None:
        kind = _KINDS[dtype]
        self.op, self.stem, self.name = op, f"{base}_{kind}", f"qlinear_{op.lower()}_{kind}_portable"
        self.argument = self.result = dtype
        self.run_symbol, self._sign = f"{self.symbol}_run", sign

    def numbers(self, let: Let) -> CStruct:
        scales = (
            ("lhs_scale", arg_type(let, 0).scale),
            ("rhs_scale", arg_type(let, 1).scale * self._sign),
            ("out_scale", let.var.type.scale),
        )
        return params("cg_qlinear_pair_params", *integer_head(let), *scales, *limit_fields(let))


class Cast(PortableKernel):
    """CAST of one pair of element types, front to back: a C function each, all in one file."""

    op = "CAST"

    def __init__(self, argument: DType, result: DType) -> None:
        pair = f"{_CAST_KINDS[argument]}_{_CAST_KINDS[result]}"
        self.stem, self.name = f"cast_{pair}", f"cast_{pair}_portable"
        self.argument, self.result = argument, result

    @property
    def header(self) -> str:
        return "cg_kernels_families.h"

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """Parts of a call. A wider result runs ahead of the argument, by the difference in bytes for each
        element."""
        value, linked = value_argument(let, 0, "argument", constants)
        argument, result = arg_type(let, 0), let.var.type
        ahead = (result.elements - 1) * (result.dtype.size_bytes - argument.dtype.size_bytes)
        sharing = ()
        if isinstance(let.call.args[0], Var) and ahead < result.size_bytes:
            sharing = (Sharing(argument=0, below=max(ahead, 0)),)
        return Parts(
            call_args=(value, RESULT, LiteralArg(value=result.elements)), constants=linked, sharing=sharing
        )

    def bind(self, let: Let, constants: ConstantData, name: str) -> PrimFunc:
        return replace(super().bind(let, constants, name), sources=("kernels/portable/cast.c",))


for _pair in CASTS:
    register(Cast(*_pair))
register(AddInteger("ADD", DType.INT8))
register(AddInteger("ADD", DType.INT16))
register(BinaryF32("ADD", "add_f32"))
register(AddInteger("SUB", DType.INT8))
register(AddInteger("SUB", DType.INT16))
register(BinaryF32("SUB", "sub_f32"))
MUL_S8 = MulInteger(DType.INT8)
register(MUL_S8)
register(MulInteger(DType.INT16))
register(BinaryF32("MUL", "mul_f32"))
for _dtype in _KINDS:
    register(FloatRounded("ADD", "qlinear_add", 1.0, _dtype))
    register(FloatRounded("SUB", "qlinear_add", -1.0, _dtype))
    register(FloatRounded("MUL", "qlinear_mul", 1.0, _dtype))
