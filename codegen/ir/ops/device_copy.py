"""DEVICE_COPY: the same value in another memory. Only the search (and text) makes it."""

import numpy as np

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.operands import operand
from codegen.ir.types import TensorType


class DeviceCopy(Op):
    """DEVICE_COPY of one value. It is no operator of files: `OPS` does not list it.

    Where its argument and its result lie is said by their virtual devices, not by an attribute.
    """

    name = "DEVICE_COPY"
    short = "copy"

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The argument's."""
        del attrs
        if len(args) != 1:
            raise ValueError(f"{len(args)} arguments, the operator takes one")
        return operand(args, 0, "value").shape

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """The result has the argument's type in every part."""
        self.result_shape(attrs, args)
        if result != operand(args, 0, "value"):
            raise ValueError(f"the result is {result}, a copy is of its argument's type, {args[0]}")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """The argument."""
        del attrs, args, result
        (value,) = values
        if value is None:
            raise ValueError("a copy of nothing")
        return value.copy()


DEVICE_COPY = DeviceCopy()
