"""Operators on numbers without quantisation, whose element types are given."""

from codegen.ir.operator import Attrs, Op, Types
from codegen.ir.ops.base.operands import narrow, need_count, need_dtype, need_elements, operand
from codegen.ir.types import DType, TensorType


class TypedOp(Op):
    """Arguments and result each of one element type."""

    takes: tuple[tuple[str, DType], ...]
    """Name in messages and element type of each argument."""
    gives: DType
    """Element type of the result."""

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The first argument's."""
        narrow(attrs, self.attrs_type)
        need_count(args, len(self.takes), len(self.takes))
        return operand(args, 0, self.takes[0][0]).shape

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Its element types."""
        super().check(attrs, args, result)
        need_elements(result)
        for index, (what, dtype) in enumerate(self.takes):
            need_dtype(operand(args, index, what), what, dtype)
        need_dtype(result, "result", self.gives)


def need_within(what: str, value: int, low: int, high: int) -> None:
    """Raise ValueError for a number outside [low, high]."""
    if not low <= value <= high:
        raise ValueError(f"{what} {value} is not within {low} and {high}")
