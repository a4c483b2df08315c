"""Portable kernels of LOOKUP, and of QUANTIZE, ADD, SUB and MUL as ONNX rounds them."""

from codegen.ir import DType, Let
from codegen.ir.ops import OnnxRounding
from codegen.kernels.base.broadcast import broadcast_fields
from codegen.kernels.base.c_kernel import (
    ConstantData,
    Parts,
    PortableKernel,
    arg_type,
    element_rows,
    pair_parts,
    row_kernel,
    value_argument,
)
from codegen.kernels.base.overlap import in_place
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import limit_fields
from codegen.kernels.base.walk import params
from codegen.kernels.call import RESULT, CStruct, LiteralArg
from codegen.kernels.portable.pointwise import QuantizeF32
from codegen.kernels.portable.qlinear.weighted import RoundsEven


class QuantizeLinear(RoundsEven, QuantizeF32):
    """QUANTIZE of float32."""

    rounding = OnnxRounding


class TableLookup(PortableKernel):
    """LOOKUP, in place."""

    op, stem, name = "LOOKUP", "lut_s8", "lookup_s8_portable"

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        value, linked = value_argument(let, 0, "argument", constants)
        table, table_linked = value_argument(let, 1, "table", constants)
        return Parts(
            call_args=(table, value, RESULT, LiteralArg(value=let.var.type.elements)),
            constants=(*table_linked, *linked),
            sharing=in_place(let, 0),
            rows=element_rows(let, self.symbol),
        )


class QLinearPair(RoundsEven):
    """ADD, SUB (a sum with a negated scale) or MUL, with broadcasting."""

    rounding = OnnxRounding

    def __init__(self, op: str, stem: str, sign: float, dtype: DType = DType.INT8) -> None:
        kind = "s8" if dtype is DType.INT8 else "s16"
        self.op, self.stem, self.name, self._sign = (
            op,
            f"{stem}_{kind}",
            f"qlinear_{op.lower()}_{kind}_portable",
            sign,
        )
        self.argument = self.result = dtype

    def numbers(self, let: Let) -> CStruct:
        """The parameter struct; raises ValueError for shapes of too many axes."""
        first, second, result = arg_type(let, 0), arg_type(let, 1), let.var.type
        return params(
            "cg_qlinear_pair_params",
            ("shape", broadcast_fields(let)),
            ("lhs_zero", first.zero_point),
            ("rhs_zero", second.zero_point),
            ("out_zero", result.zero_point),
            ("lhs_scale", first.scale),
            ("rhs_scale", second.scale * self._sign),
            ("out_scale", result.scale),
            *limit_fields(let),
        )

    def check(self, let: Let) -> None:
        """Refuse more than five nested loops."""
        self.numbers(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        rows = row_kernel(let, f"{self.symbol}_run")
        return pair_parts(let, constants, self.numbers(let), sharing=in_place(let, 0, 1), rows=rows)


register(QuantizeLinear("quantize_linear_f32_s8", DType.INT8))
register(QuantizeLinear("quantize_linear_f32_s16", DType.INT16))
register(TableLookup())
for _dtype in (DType.INT8, DType.INT16):
    register(QLinearPair("ADD", "qlinear_add", 1.0, _dtype))
    register(QLinearPair("SUB", "qlinear_add", -1.0, _dtype))
    register(QLinearPair("MUL", "qlinear_mul", 1.0, _dtype))
