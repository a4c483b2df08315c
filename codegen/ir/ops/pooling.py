"""Operators that reduce: AVERAGE_POOL_2D, MAX_POOL_2D, MEAN."""

import numpy as np

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops import reduce
from codegen.ir.ops.base.attrs import MeanAttrs, PoolAttrs
from codegen.ir.ops.base.operands import (
    narrow,
    need_count,
    need_elements,
    need_quantized_or_float,
    need_rank,
    need_same_quantization,
    operand,
    window_extents,
)
from codegen.ir.ops.base.parameters import activation_range, mean_multiplier
from codegen.ir.types import DType, TensorType


class _Pool(Op):
    """What both pools share: shape rule and type rule."""

    attrs_type = PoolAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """[N, rows, columns, C]; every window must hold at least one element of the image."""
        pool = narrow(attrs, PoolAttrs)
        need_count(args, 1, 1)
        image = operand(args, 0, "image")
        need_rank(image, 4, "image")
        batch, height, width, channels = image.shape
        rows, columns = window_extents((height, width), pool.window, stride=pool.stride, padding=pool.padding)
        starts = (-pool.padding.top, -pool.padding.left)
        lasts = ((rows - 1) * pool.stride[0] + starts[0], (columns - 1) * pool.stride[1] + starts[1])
        ends = (starts[0] + pool.window[0], starts[1] + pool.window[1])
        if min(ends) <= 0 or lasts[0] >= height or lasts[1] >= width:
            raise ValueError(f"padding {pool.padding} leaves a window of {pool.window} without any element")
        return (batch, rows, columns, channels)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8 or int16 with the argument's quantisation, or float32."""
        super().check(attrs, args, result)
        image = operand(args, 0, "image")
        need_elements(result)
        need_quantized_or_float([("image", image), ("result", result)])
        if image.dtype is not DType.FLOAT32:
            need_same_quantization(image, result, "image and result")
            activation_range(narrow(attrs, PoolAttrs).activation, result)


class AveragePool2D(_Pool):
    """AVERAGE_POOL_2D(image NHWC) -> NHWC; padding is not counted."""

    name = "AVERAGE_POOL_2D"
    short = "avgpool"

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Integers round half away from zero. Source: reference_integer_ops::AveragePool."""
        del args
        return reduce.average_pool(narrow(attrs, PoolAttrs), values, result)


class MaxPool2D(_Pool):
    """MAX_POOL_2D(image NHWC) -> NHWC."""

    name = "MAX_POOL_2D"
    short = "maxpool"

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_integer_ops::MaxPool."""
        del args
        return reduce.max_pool(narrow(attrs, PoolAttrs), values, result)


class Mean(Op):
    """MEAN over axes."""

    name = "MEAN"
    short = "mean"
    attrs_type = MeanAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The argument's shape without `axes`, or with 1 in their place if `keep_dims`."""
        mean = narrow(attrs, MeanAttrs)
        need_count(args, 1, 1)
        shape = operand(args, 0, "argument").shape
        if list(mean.axes) != sorted(set(mean.axes)) or any(not 0 <= axis < len(shape) for axis in mean.axes):
            raise ValueError(f"axes {list(mean.axes)} do not fit shape {list(shape)}")
        if mean.keep_dims:
            return tuple(1 if axis in mean.axes else extent for axis, extent in enumerate(shape))
        return tuple(extent for axis, extent in enumerate(shape) if axis not in mean.axes)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8, int16 or float32, at least one element in each mean."""
        super().check(attrs, args, result)
        argument = operand(args, 0, "argument")
        need_elements(argument)
        need_quantized_or_float([("argument", argument), ("result", result)])
        if argument.dtype is not DType.FLOAT32:
            mean_multiplier(argument, result, argument.elements // result.elements)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::QuantizedMeanOrSum and reference_integer_ops::Mean, see `reduce.mean`."""
        return reduce.mean(narrow(attrs, MeanAttrs), values, args, result)


OPERATORS: tuple[Op, ...] = (AveragePool2D(), MaxPool2D(), Mean())
"""All of this family."""
