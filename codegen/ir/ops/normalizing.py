"""Rows of integers less their mean, over their deviation."""

import numpy as np

from codegen.ir.dataflow import RowReads
from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.attrs import LayerNormAttrs
from codegen.ir.ops.base.integer_rows import norm_numbers, normalised_rows
from codegen.ir.ops.base.operands import (
    narrow,
    need_count,
    need_dtype,
    need_elements,
    need_quantized,
    operand,
    present,
)
from codegen.ir.ops.base.rounding import OnnxRounding, rounding_of
from codegen.ir.types import DType, TensorType


class LayerNormalization(Op):
    """LAYER_NORMALIZATION(int8 [..., N], weights float32 [N], bias float32 [N]) -> int8; rows are the last
    axis."""

    name = "LAYER_NORMALIZATION"
    short = "layernorm"
    attrs_type = LayerNormAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The argument's shape."""
        narrow(attrs, LayerNormAttrs)
        need_count(args, 3, 3)
        shape = operand(args, 0, "argument").shape
        if not shape:
            raise ValueError("the argument has no axis")
        for index, what in ((1, "weights"), (2, "bias")):
            if operand(args, index, what).shape != shape[-1:]:
                raise ValueError(f"{what} {list(operand(args, index, what).shape)} do not fit {list(shape)}")
        return shape

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """Row by row, along any axis but the last."""
        del attrs, args
        return None if axis == len(result.shape) - 1 else RowReads(axes=(axis, None, None))

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8 in and out, rounded as ONNX does."""
        super().check(attrs, args, result)
        need_elements(result)
        for what, type_ in (("argument", operand(args, 0, "argument")), ("result", result)):
            need_dtype(type_, what, DType.INT8)
            need_quantized(type_, what)
        for index, what in ((1, "weights"), (2, "bias")):
            need_dtype(operand(args, index, what), what, DType.FLOAT32)
        if not isinstance(rounding_of(attrs), OnnxRounding):
            raise ValueError("the layer is not rounded as ONNX does")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """By integers alone: `codegen.ir.ops.base.integer_rows`."""
        weights, bias = present(values, 1, "weights"), present(values, 2, "bias")
        epsilon = narrow(attrs, LayerNormAttrs).epsilon
        numbers = norm_numbers(operand(args, 0, "argument"), epsilon, weights, bias, result)
        return normalised_rows(present(values, 0, "argument").astype(np.int64), numbers)


OPERATORS: tuple[Op, ...] = (LayerNormalization(),)
"""All of this module."""
