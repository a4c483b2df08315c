"""Operators whose result has its argument's shape, or the shape that two arguments broadcast to."""

from codegen.ir.operator import Attrs, Op, Types
from codegen.ir.ops.base.operands import broadcast, narrow, need_count, operand


class SameShape(Op):
    """The result has the first argument's shape."""

    arguments = 1
    """How many there are."""

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The argument's."""
        narrow(attrs, self.attrs_type)
        need_count(args, self.arguments, self.arguments)
        return operand(args, 0, "argument").shape


class BroadcastShape(Op):
    """Two arguments, and a result of the shape that they broadcast to."""

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The broadcast shape of both arguments."""
        narrow(attrs, self.attrs_type)
        need_count(args, 2, 2)
        return broadcast(operand(args, 0, "first argument").shape, operand(args, 1, "second argument").shape)
