"""Rows and columns of integers mixed as real numbers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.float_steps import dequantized, quantized
from codegen.ir.ops.base.operands import (
    narrow,
    need_count,
    need_dtype,
    need_elements,
    need_quantized,
    operand,
    present,
)
from codegen.ir.types import DType, TensorType


@dataclass(frozen=True, kw_only=True, slots=True)
class TableResizeAttrs(Attrs):
    """TABLE_RESIZE: rows are along `axis` (not negative), columns along the next."""

    axis: int


class TableResize(Op):
    """TABLE_RESIZE(int8, rows int32 [R], shares [R, 2], columns int32 [C], shares [C, 2]) -> int8.

    `rows`: the one in front of each row of the result; `shares`: float32, of it and of the one behind it,
    which is the same where it is the last. Columns likewise.
    """

    name = "TABLE_RESIZE"
    short = "tresize"
    attrs_type = TableResizeAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The argument's, with R rows of C columns."""
        axis = narrow(attrs, TableResizeAttrs).axis
        need_count(args, 5, 5)
        shape = operand(args, 0, "image").shape
        if not 0 <= axis < len(shape) - 1:
            raise ValueError(f"rows along axis {axis} and columns behind it need more than {len(shape)} axes")
        sizes: list[int] = []
        for index, what in ((1, "rows"), (3, "columns")):
            places, shares = operand(args, index, what), operand(args, index + 1, "shares")
            if len(places.shape) != 1 or shares.shape != (*places.shape, 2):
                raise ValueError(f"{what} {list(places.shape)} and shares {list(shares.shape)} do not fit")
            sizes.append(places.shape[0])
        return (*shape[:axis], *sizes, *shape[axis + 2 :])

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8 in and out."""
        super().check(attrs, args, result)
        need_elements(result)
        need_elements(operand(args, 0, "image"))
        for what, type_ in (("image", operand(args, 0, "image")), ("result", result)):
            need_dtype(type_, what, DType.INT8)
            need_quantized(type_, what)
        for index, what in ((1, "rows"), (3, "columns")):
            need_dtype(operand(args, index, what), what, DType.INT32)
            need_dtype(operand(args, index + 1, "shares"), f"shares of {what}", DType.FLOAT32)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: onnxruntime, Upsample (UpsampleBilinear), between DequantizeLinear and QuantizeLinear."""
        axis = narrow(attrs, TableResizeAttrs).axis
        real = dequantized(present(values, 0, "image"), operand(args, 0, "image"))
        tail = (1,) * (real.ndim - axis - 2)
        top, (above, below) = present(values, 1, "rows"), present(values, 2, "shares").T
        left, (before, after) = present(values, 3, "columns"), present(values, 4, "shares").T
        bottom, right = _next(top, real.shape[axis]), _next(left, real.shape[axis + 1])
        mixed: NDArray[np.float32] | None = None
        for rows, down in ((top, above), (bottom, below)):
            line = np.take(real, rows, axis)
            for columns, beside in ((left, before), (right, after)):
                share = (beside * down[:, None]).reshape(down.size, beside.size, *tail)
                part = share * np.take(line, columns, axis + 1)
                mixed = part if mixed is None else mixed + part
        assert mixed is not None, "four parts"
        return quantized(mixed, result, result.dtype.limits)


def _next(places: np.ndarray, extent: int) -> np.ndarray:
    return np.minimum(places + 1, extent - 1)


OPERATORS: tuple[Op, ...] = (TableResize(),)
"""All of this module."""
