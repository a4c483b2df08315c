"""Functions of one int8 as a table of 256 results."""

import dataclasses

import numpy as np

from codegen.ir import DType, Let
from codegen.ir.ops import POINTWISE
from codegen.kernels.base.c_kernel import (
    ConstantData,
    Parts,
    PortableKernel,
    arg_type,
    element_rows,
    row_kernel,
    value_argument,
)
from codegen.kernels.base.overlap import in_place
from codegen.kernels.base.registry import register
from codegen.kernels.call import RESULT, ConstantArg, LiteralArg
from codegen.kernels.contract import LinkedConstant

TABLE_LEN = 256
"""Values an int8 can have."""

CALL, EACH = 20, 4
"""Instructions of a call and of each element, whose C loop takes four a turn."""


def every_byte() -> np.ndarray:
    """All arguments int8[256] in the order of a table, which the argument's byte indexes as unsigned."""
    return np.arange(TABLE_LEN, dtype=np.uint8).view(np.int8)


class ResultTable(PortableKernel):
    """Any function of one int8: its 256 results, as the operator's reference evaluates them, in a table."""

    stem = "lut_s8"
    argument = result = DType.INT8

    def __init__(self, op: str) -> None:
        self.op, self.name = op, f"{op.lower()}_s8_table"

    def check(self, let: Let) -> None:
        """Refuse quantisations with which the operator cannot compute."""
        self.table(let)

    def table(self, let: Let) -> np.ndarray:
        """Results int8[256], indexed by the argument's byte read as unsigned."""
        argument = dataclasses.replace(arg_type(let, 0), shape=(TABLE_LEN,))
        result = dataclasses.replace(let.var.type, shape=(TABLE_LEN,))
        return let.call.op.evaluate(let.call.attrs, (every_byte(),), (argument,), result)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        value, linked = value_argument(let, 0, "argument", constants)
        table = LinkedConstant(
            role="table",
            is_plain=True,
            data=self.table(let),
            alignment=1,
            reads=let.var.type.elements / TABLE_LEN,
            layout="results for arguments from -128 to 127",
        )
        count = LiteralArg(value=let.var.type.elements)
        return Parts(
            call_args=(ConstantArg(role="table"), value, RESULT, count),
            constants=(table, *linked),
            sharing=in_place(let, 0),
            instructions=CALL + EACH * let.var.type.elements,
            rows=row_kernel(let, self.symbol),
        )


class TableLookup(PortableKernel):
    """LOOKUP, whose table is an argument, in place."""

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


register(TableLookup())
TABLES = tuple(ResultTable(op.name) for op in POINTWISE if DType.INT8 in op.integers)
for _table in TABLES:
    register(_table)
