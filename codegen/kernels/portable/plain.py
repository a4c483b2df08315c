"""Portable kernels of PLAIN_CONVERT and PLAIN_PAIR: a C function each for every element type but float64.

float64 and float16 have functions of their own: without hardware for them, they are many instructions.
"""

from codegen.ir import DType, Let
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.plain import KINDS, TRUTHS, TYPES, ConvertAttrs, PlainAttrs
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
from codegen.kernels.base.walk import params
from codegen.kernels.call import PARAMS, RESULT, CStruct


class _Plain(PortableKernel):
    """Base of PLAIN_CONVERT and PLAIN_PAIR on any element type."""

    argument = result = None
    floats: DType | None = None
    """The type of float64 or float16 that the kernel is for."""

    @property
    def header(self) -> str:
        return "cg_kernels_qlinear.h"

    def numbers(self, let: Let) -> CStruct:
        """The parameter struct."""
        raise NotImplementedError

    def check(self, let: Let) -> None:
        """Refuse more than five nested loops, and floats of another kernel (float64, float16)."""
        if _other_floats(let) is not self.floats:
            kind = "integers and float32" if self.floats is None else self.floats.value
            raise ValueError(f"the kernel {self.name} is for {kind}")
        self.numbers(let)


def _other_floats(let: Let) -> DType | None:
    """float64 or float16, if the step computes with one."""
    attrs = let.call.attrs
    if isinstance(attrs, ConvertAttrs) and attrs.bits:
        return None
    types = (arg_type(let, 0).dtype, let.var.type.dtype)
    return next((kind for kind in (DType.FLOAT64, DType.FLOAT16) if kind in types), None)


_UNSIGNED = {1: DType.UINT8, 2: DType.UINT16, 4: DType.UINT32, 8: DType.UINT64}


class PlainConvert(_Plain):
    """PLAIN_CONVERT."""

    op, stem, name = "PLAIN_CONVERT", "plain_convert", "plain_convert_portable"

    def numbers(self, let: Let) -> CStruct:
        source, target = arg_type(let, 0).dtype, let.var.type.dtype
        if narrow(let.call.attrs, ConvertAttrs).bits:
            source = target = _UNSIGNED[source.size_bytes]
        return params(
            "cg_plain_convert_params",
            ("from", TYPES.index(source)),
            ("to", TYPES.index(target)),
            ("count", let.var.type.elements),
        )

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        value, linked = value_argument(let, 0, "argument", constants)
        return Parts(structs=(self.numbers(let),), call_args=(PARAMS, value, RESULT), constants=linked)


class PlainPair(_Plain):
    """PLAIN_PAIR."""

    op, stem, name = "PLAIN_PAIR", "plain_pair", "plain_pair_portable"

    def numbers(self, let: Let) -> CStruct:
        return params(
            "cg_plain_params",
            ("shape", broadcast_fields(let)),
            ("kind", tuple(KINDS).index(narrow(let.call.attrs, PlainAttrs).kind)),
            ("type", TYPES.index(arg_type(let, 0).dtype)),
        )

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        whole = [index for index in (0, 1) if arg_type(let, index).elements == let.var.type.elements]
        wide = narrow(let.call.attrs, PlainAttrs).kind in TRUTHS
        return pair_parts(let, constants, self.numbers(let), sharing=() if wide else in_place(let, *whole))


class PlainConvertDouble(PlainConvert):
    """PLAIN_CONVERT from or to float64."""

    stem, name, floats = "plain_convert_f64", "plain_convert_f64_portable", DType.FLOAT64


class PlainConvertHalf(PlainConvert):
    """PLAIN_CONVERT from or to float16."""

    stem, name, floats = "plain_convert_f16", "plain_convert_f16_portable", DType.FLOAT16


class PlainPairDouble(PlainPair):
    """PLAIN_PAIR of float64."""

    stem, name, floats = "plain_pair_f64", "plain_pair_f64_portable", DType.FLOAT64


register(PlainConvert())
register(PlainPair())
register(PlainConvertDouble())
register(PlainConvertHalf())
register(PlainPairDouble())
