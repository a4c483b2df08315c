"""A function of one byte."""

from collections.abc import Sequence

import numpy as np

from codegen.ir.dataflow import Links, Range, same_channels
from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.byte_tables import BYTES, range_of_table
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

    def value_range(
        self, attrs: Attrs, ranges: Sequence[Range], args: Types, result: TensorType
    ) -> Range | None:
        """By the table, if that is known and gives int8 for int8."""
        is_int8 = operand(args, 0, "argument").dtype is result.dtype is DType.INT8 and ranges[1].exact
        return range_of_table(ranges[1].low[BYTES.view(np.uint8)], ranges[0]) if is_int8 else None

    def channel_links(self, attrs: Attrs, args: Types, result: TensorType) -> Links:
        """Channel by channel; the table is one for all."""
        del attrs
        return same_channels(args[:1], result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """The elements of the table."""
        del attrs, args
        value, table = present(values, 0, "argument"), present(values, 1, "table")
        return table[value.view(np.uint8)].view(result.dtype.numpy)


OPERATORS: tuple[Op, ...] = (TableLookup(),)
"""All of this module."""
