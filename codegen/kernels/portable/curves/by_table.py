"""Portable kernels on int16 by tables: LOGISTIC, TANH, SOFTMAX."""

import numpy as np

from codegen.ir import DType, Let
from codegen.ir.ops import SoftmaxAttrs
from codegen.ir.ops.base.curves import (
    curve_scaling,
    sigmoid_table,
    softmax_scaling,
    softmax_tables,
)
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.nonlinear import CURVE_POWERS
from codegen.kernels.base.c_kernel import ConstantData, Parts, PortableKernel, arg_type, value_argument
from codegen.kernels.base.overlap import in_place
from codegen.kernels.base.walk import params
from codegen.kernels.call import PARAMS, RESULT, ConstantArg, CStruct
from codegen.kernels.contract import LinkedConstant

_LONGEST = 65535
"""Elements of a row, at most: 32 bits hold their sum of exponentials."""


class _ByTables(PortableKernel):
    """Base with the call (params, tables, argument, result), in place."""

    argument = result = DType.INT16
    tables: dict[str, str]
    """Roles and layouts of the tables."""

    def numbers(self, let: Let) -> CStruct:
        """The parameter struct; raises ValueError if a number is out of range."""
        raise NotImplementedError

    def data(self) -> tuple[np.ndarray, ...]:
        """Contents of the tables."""
        raise NotImplementedError

    def check(self, let: Let) -> None:
        self.numbers(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        value, linked = value_argument(let, 0, "argument", constants)
        reads = let.var.type.elements / len(self.data()[0])
        tables = tuple(
            LinkedConstant(role=role, data=data, alignment=2, reads=reads, layout=layout, is_plain=True)
            for (role, layout), data in zip(self.tables.items(), self.data(), strict=True)
        )
        return Parts(
            structs=(self.numbers(let),),
            call_args=(PARAMS, *(ConstantArg(role=role) for role in self.tables), value, RESULT),
            constants=(*tables, *linked),
            sharing=in_place(let, 0),
        )


class CurveS16(_ByTables):
    """LOGISTIC or TANH on int16, by one table."""

    stem = "curve_s16"

    def __init__(self, op: str) -> None:
        self.op, self.name = op, f"{op.lower()}_s16_portable"
        self.tables = {"sigmoid": "2^16 / (1 + exp(-i / 24))"}

    def data(self) -> tuple[np.ndarray, ...]:
        return (sigmoid_table(),)

    def numbers(self, let: Let) -> CStruct:
        multiplier, shift = curve_scaling(arg_type(let, 0), *CURVE_POWERS[self.op])
        fields = (
            ("count", let.var.type.elements),
            ("kind", int(self.op == "TANH")),
            ("multiplier", multiplier),
            ("shift", shift),
        )
        return params("cg_curve_params", *fields)


class SoftmaxS16(_ByTables):
    """SOFTMAX on int16."""

    op, stem, name = "SOFTMAX", "softmax_s16", "softmax_s16_portable"

    def __init__(self) -> None:
        self.tables = {"exponential": "exp on [-10, 0]", "reciprocal": "1 / (1 + x) on [0, 1]"}

    def data(self) -> tuple[np.ndarray, ...]:
        return softmax_tables()

    def numbers(self, let: Let) -> CStruct:
        depth = let.var.type.shape[-1]
        if depth > _LONGEST:
            raise ValueError(f"a softmax over {depth} int16 elements, supported are up to {_LONGEST}")
        multiplier, shift = softmax_scaling(narrow(let.call.attrs, SoftmaxAttrs).beta, arg_type(let, 0))
        return params(
            "cg_softmax_s16_params",
            ("rows", let.var.type.elements // depth),
            ("depth", depth),
            ("multiplier", multiplier),
            ("shift", shift),
        )


KERNELS = (CurveS16("LOGISTIC"), CurveS16("TANH"), SoftmaxS16())
"""The kernels by tables; `pointwise` registers them behind those of int8."""
