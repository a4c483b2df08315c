"""Element by element: real numbers to integers, a function of one byte, two integers to one."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.activation import stored_limits
from codegen.ir.ops.base.attrs import BinaryAttrs
from codegen.ir.ops.base.float_steps import dequantized, quantized
from codegen.ir.ops.base.operands import (
    need_dtype,
    need_elements,
    need_quantized,
    operand,
    present,
)
from codegen.ir.ops.base.shape_rules import BroadcastShape, SameShape
from codegen.ir.types import DType, TensorType

TABLE_LEN = 256


class QuantizeLinear(SameShape):
    """QUANTIZE_LINEAR(float32) -> int8 or int16."""

    name = "QUANTIZE_LINEAR"
    short = "quantize"

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """float32 in, integers out."""
        super().check(attrs, args, result)
        need_elements(result)
        need_dtype(operand(args, 0, "argument"), "argument", DType.FLOAT32)
        need_dtype(result, "result", DType.INT8, DType.INT16)
        need_quantized(result, "result", any_zero=True)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: ONNX, QuantizeLinear: a float32 quotient, rounded to even, saturated."""
        del attrs, args
        return quantized(present(values, 0, "argument"), result, result.dtype.limits)


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


class QLinearPair(BroadcastShape):
    """Two int8 or int16 values that broadcast: as real numbers, `of` them in float32, quantised again."""

    attrs_type = BinaryAttrs

    def __init__(
        self,
        name: str,
        short: str,
        of: Callable[[NDArray[np.float32], NDArray[np.float32]], NDArray[np.float32]],
    ) -> None:
        self.name, self.short, self._of = name, short, of

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """One type throughout."""
        super().check(attrs, args, result)
        need_elements(result)
        first, second = operand(args, 0, "first argument"), operand(args, 1, "second argument")
        for what, type_ in (("first argument", first), ("second argument", second), ("result", result)):
            need_dtype(type_, what, *((DType.INT8, DType.INT16) if type_ is first else (first.dtype,)))
            need_quantized(type_, what, any_zero=True)
        stored_limits(attrs, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: ONNX, DequantizeLinear, the operator on float32, QuantizeLinear."""
        first, second = (
            dequantized(present(values, index, "argument"), operand(args, index, "argument"))
            for index in (0, 1)
        )
        limits = stored_limits(attrs, result)
        with np.errstate(all="ignore"):
            return quantized(self._of(first, second), result, limits)


OPERATORS: tuple[Op, ...] = (
    QuantizeLinear(),
    TableLookup(),
    QLinearPair("QLINEAR_ADD", "qadd", np.add),
    QLinearPair("QLINEAR_SUB", "qsub", np.subtract),
    QLinearPair("QLINEAR_MUL", "qmul", np.multiply),
)
"""All of this module."""
