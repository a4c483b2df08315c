"""Operators whose result has its argument's shape, or the shape that two arguments broadcast to."""

from codegen.ir.dataflow import RowReads, aligned_axis
from codegen.ir.operator import Attrs, Op, Types
from codegen.ir.ops.base.operands import broadcast, narrow, need_count, operand
from codegen.ir.types import TensorType


def broadcast_rows(args: Types, result: TensorType, axis: int) -> RowReads:
    """Row by row of each argument that is not repeated along `axis`."""
    return RowReads(
        axes=tuple(None if arg is None else aligned_axis(arg.shape, result.shape, axis) for arg in args)
    )


class SameShape(Op):
    """The result has the first argument's shape."""

    arguments = 1
    """How many there are."""

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The argument's."""
        narrow(attrs, self.attrs_type)
        need_count(args, self.arguments, self.arguments)
        return operand(args, 0, "argument").shape

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """Row by row, along any axis."""
        del attrs, result
        return RowReads(axes=(axis, *(None for _ in args[1:])))


class BroadcastShape(Op):
    """Two arguments, and a result of the shape that they broadcast to."""

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The broadcast shape of both arguments."""
        narrow(attrs, self.attrs_type)
        need_count(args, 2, 2)
        return broadcast(operand(args, 0, "first argument").shape, operand(args, 1, "second argument").shape)

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """Row by row, along any axis."""
        del attrs
        return broadcast_rows(args, result, axis)
