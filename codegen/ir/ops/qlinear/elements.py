"""A function of one byte."""

import numpy as np

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.operands import (
    need_dtype,
    need_elements,
    operand,
    present,
)
from codegen.ir.ops.base.shape_rules import SameShape
from codegen.ir.types import DType, TensorType

TABLE_LEN = 256


class TableLookup(SameShape):
    """LOOKUP(value, table int8[256]) -> table[value's byte read as unsigned], byte for byte."""

    name = "LOOKUP"
    short = "lookup"

    arguments = 2

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Bytes in and out, a table of 256."""
        super().check(attrs, args, result)
        need_elements(result)
        table = operand(args, 1, "table")
        need_dtype(operand(args, 0, "argument"), "argument", DType.INT8, DType.UINT8)
        need_dtype(table, "table", DType.INT8)
        need_dtype(result, "result", DType.INT8, DType.UINT8)
        if table.shape != (TABLE_LEN,):
            raise ValueError(f"the table has shape {list(table.shape)}, needs [{TABLE_LEN}]")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """The elements of the table."""
        del attrs, args
        value, table = present(values, 0, "argument"), present(values, 1, "table")
        return table[value.view(np.uint8)].view(result.dtype.numpy)


OPERATORS: tuple[Op, ...] = (TableLookup(),)
"""All of this module."""
