"""Operators that sum: reductions beside MEAN, products of matrices, running sums, norms of rows."""

from collections.abc import Callable

import numpy as np

from codegen.ir.dataflow import RowReads
from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.attrs import ArgAttrs, BatchMatMulAttrs, CumsumAttrs, MeanAttrs
from codegen.ir.ops.base.fixed_point import (
    INT32_MIN,
    exp_on_negative_values,
    inverse_root,
    log_from_one,
    multiply_by_quantized_multiplier,
    multiply_wide_by_quantized_multiplier,
    rounding_divide_by_power,
    wrap_int32,
)
from codegen.ir.ops.base.float_steps import scaled, stored
from codegen.ir.ops.base.operands import (
    broadcast,
    narrow,
    need_count,
    need_dtype,
    need_elements,
    need_fixed_quantization,
    need_one_type,
    need_quantized,
    need_quantized_or_float,
    need_same_quantization,
    operand,
    present,
)
from codegen.ir.ops.base.parameters import (
    fully_connected_multipliers,
    log_softmax_params,
    need_wide_shifts,
    rescale_multiplier,
    running_sum_multiplier,
)
from codegen.ir.ops.base.rounding import OnnxRounding, rounding_of
from codegen.ir.ops.elementwise import running_sum
from codegen.ir.ops.pooling import Mean
from codegen.ir.types import DType, TensorType


class ReduceSum(Mean):
    """SUM over axes: a MEAN that is not divided."""

    name = "SUM"
    short = "sum"

    value_range = Op.value_range  # that of a type: sums may wrap

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8, int16, int32 without a scale or float32."""
        Op.check(self, attrs, args, result)
        argument = operand(args, 0, "argument")
        need_elements(argument)
        if argument.dtype is DType.INT32:
            need_dtype(result, "result", DType.INT32)
            return
        need_quantized_or_float([("argument", argument), ("result", result)])
        if argument.dtype is not DType.FLOAT32:
            rescale_multiplier(argument, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::QuantizedMeanOrSum, ReduceGeneric."""
        axes, value = narrow(attrs, MeanAttrs).axes, present(values, 0, "argument")
        if result.dtype is DType.FLOAT32:
            return np.asarray(value.astype(np.float64).sum(axis=axes), np.float32).reshape(result.shape)
        argument = operand(args, 0, "argument")
        if result.dtype is DType.INT32:
            return wrap_int32(value.astype(np.int64).sum(axis=axes)).astype(np.int32).reshape(result.shape)
        total = (value.astype(np.int64) - argument.zero_point).sum(axis=axes)
        units = multiply_by_quantized_multiplier(wrap_int32(total), *rescale_multiplier(argument, result))
        integers = np.clip(units + result.zero_point, *result.dtype.limits)
        return integers.astype(result.dtype.numpy).reshape(result.shape)


class ReduceExtreme(Mean):
    """REDUCE_MAX and REDUCE_MIN: stored numbers, so both sides are quantised alike."""

    value_range = Op.value_range
    is_monotone = True

    def __init__(self, name: str, short: str, reduce: Callable[..., np.ndarray]) -> None:
        self.name, self.short, self._reduce = name, short, reduce

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Raise ValueError unless both types are int8, int16, int32, bool or float32, quantised alike."""
        Op.check(self, attrs, args, result)
        argument = operand(args, 0, "argument")
        need_elements(argument)
        if argument.dtype in (DType.INT32, DType.BOOL):
            need_dtype(result, "result", argument.dtype)
            return
        need_quantized_or_float([("argument", argument), ("result", result)])
        if argument.dtype is not DType.FLOAT32:
            need_same_quantization(argument, result, "argument and result")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::ReduceGeneric."""
        del args
        axes = narrow(attrs, MeanAttrs).axes
        return np.asarray(self._reduce(present(values, 0, "argument"), axis=axes)).reshape(result.shape)


class Arg(Op):
    """ARG_MAX and ARG_MIN: the first index of the largest or smallest element along an axis, int32."""

    attrs_type = ArgAttrs

    def __init__(self, name: str, short: str, find: Callable[..., np.ndarray]) -> None:
        self.name, self.short, self._find = name, short, find

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The argument's shape without the axis."""
        axis = narrow(attrs, ArgAttrs).axis
        need_count(args, 1, 1)
        shape = operand(args, 0, "argument").shape
        if not 0 <= axis < len(shape):
            raise ValueError(f"axis {axis} does not fit shape {list(shape)}")
        return (*shape[:axis], *shape[axis + 1 :])

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8 or float32 in, int32 out."""
        super().check(attrs, args, result)
        need_elements(operand(args, 0, "argument"))
        need_dtype(operand(args, 0, "argument"), "argument", DType.INT8, DType.FLOAT32)
        need_dtype(result, "result", DType.INT32)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::ArgMinMax."""
        del args
        indices = self._find(present(values, 0, "argument"), axis=narrow(attrs, ArgAttrs).axis)
        return np.asarray(indices, np.int32).reshape(result.shape)


class BatchMatMul(Op):
    """BATCH_MATMUL(first, second): products of matrices, the last two axes; the others are broadcast."""

    name = "BATCH_MATMUL"
    short = "matmul"
    attrs_type = BatchMatMulAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The broadcast axes, rows of the first, columns of the second."""
        need_count(args, 2, 2)
        first, second = self.matrices(attrs, args)
        if first[-1] != second[-2]:
            raise ValueError(f"rows of {first[-1]} do not fit columns of {second[-2]}")
        return (*broadcast(first[:-2], second[:-2]), first[-2], second[-1])

    def matrices(self, attrs: Attrs, args: Types) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shapes [..., rows, depth] and [..., depth, columns], transposed as the attributes say."""
        both = narrow(attrs, BatchMatMulAttrs)
        shapes = [operand(args, index, "argument").shape for index in (0, 1)]
        if min(len(shape) for shape in shapes) < 2:
            raise ValueError(f"shapes {list(shapes[0])} and {list(shapes[1])} are no matrices")
        first, second = (
            (*shape[:-2], shape[-1], shape[-2]) if turned else shape
            for shape, turned in zip(shapes, (both.adj_x, both.adj_y), strict=True)
        )
        return first, second

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8, int16 or float32 throughout; int8 where sums are rounded as ONNX does."""
        super().check(attrs, args, result)
        need_elements(result)
        first, second = operand(args, 0, "first argument"), operand(args, 1, "second argument")
        rounding = rounding_of(attrs)
        if isinstance(rounding, OnnxRounding):
            for type_ in (first, second, result):
                need_dtype(type_, "a matrix", DType.INT8)
                need_quantized(type_, "matrix", any_zero=True)
            if len(rounding.scales) != 1:
                raise ValueError(f"{len(rounding.scales)} scales of sums, needs 1")
            return
        need_quantized_or_float([("first argument", first), ("second argument", second), ("result", result)])
        if result.dtype is not DType.FLOAT32:
            _, shifts = fully_connected_multipliers(first.scale, [second.scale], result.scale)
            if result.dtype is DType.INT16:
                need_wide_shifts(shifts)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::BatchMatMul; floats are summed one product after the other."""
        both = narrow(attrs, BatchMatMulAttrs)
        first, second = present(values, 0, "first argument"), present(values, 1, "second argument")
        first = np.swapaxes(first, -1, -2) if both.adj_x else first
        second = np.swapaxes(second, -1, -2) if both.adj_y else second
        if result.dtype is DType.FLOAT32:
            total = np.zeros(result.shape, np.float32)
            for place in range(first.shape[-1]):
                total += first[..., :, place, None] * second[..., None, place, :]
            return total
        types = operand(args, 0, "first argument"), operand(args, 1, "second argument")
        wide = [
            value.astype(np.int64) - type_.zero_point
            for value, type_ in zip((first, second), types, strict=True)
        ]
        sums = np.matmul(wide[0], wide[1])
        rounding = rounding_of(attrs)
        if isinstance(rounding, OnnxRounding):
            units = scaled(wrap_int32(sums), np.array(rounding.scales, np.float32))
            return stored(units, result, result.dtype.limits)
        multipliers, shifts = fully_connected_multipliers(types[0].scale, [types[1].scale], result.scale)
        if result.dtype is DType.INT16:
            units = multiply_wide_by_quantized_multiplier(sums, int(multipliers[0]), int(shifts[0]))
            return np.clip(units, *result.dtype.limits).astype(np.int16)
        units = multiply_by_quantized_multiplier(wrap_int32(sums), int(multipliers[0]), int(shifts[0]))
        return np.clip(units + result.zero_point, *result.dtype.limits).astype(np.int8)

    def macs(self, attrs: Attrs, args: Types, result: TensorType) -> int:
        """One for each product."""
        return result.elements * self.matrices(attrs, args)[0][-1]


class Cumsum(Op):
    """CUMSUM along an axis. int8: TFLite begins each sum with minus the zero point once too often."""

    name = "CUMSUM"
    short = "cumsum"
    attrs_type = CumsumAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The argument's shape."""
        axis = narrow(attrs, CumsumAttrs).axis
        need_count(args, 1, 1)
        shape = operand(args, 0, "argument").shape
        if not 0 <= axis < len(shape):
            raise ValueError(f"axis {axis} is outside {len(shape)} dimensions")
        return shape

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8, float32, or int32 without a scale."""
        super().check(attrs, args, result)
        need_elements(result)
        argument = operand(args, 0, "argument")
        if result.dtype is DType.INT32:
            need_dtype(argument, "argument", DType.INT32)
            return
        need_one_type([("argument", argument), ("result", result)], DType.INT8)
        if result.dtype is not DType.FLOAT32:
            running_sum_multiplier(argument, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::CumSum."""
        cumsum, value = narrow(attrs, CumsumAttrs), present(values, 0, "argument")
        argument = operand(args, 0, "argument")
        wide = value
        if result.dtype is not DType.FLOAT32:
            wide = value.astype(np.int64) - (argument.zero_point if result.dtype is DType.INT8 else 0)
        wide = np.moveaxis(wide, cumsum.axis, -1)
        wide = wide[..., ::-1] if cumsum.reverse else wide
        if cumsum.exclusive:
            wide = np.concatenate([np.zeros_like(wide[..., :1]), wide[..., :-1]], axis=-1)
        sums = np.add.accumulate(wide, axis=-1)
        sums = np.moveaxis(sums[..., ::-1] if cumsum.reverse else sums, -1, cumsum.axis)
        if result.dtype is DType.FLOAT32:
            return np.ascontiguousarray(sums + np.float32(0))
        if result.dtype is DType.INT32:
            return np.ascontiguousarray(wrap_int32(sums).astype(np.int32))
        return np.ascontiguousarray(running_sum(sums - argument.zero_point, argument, result))


LEAST_NORM = 1e-6
"""That rows of floats are divided by."""


class L2Normalization(Op):
    """L2_NORMALIZATION over the last axis: each row by the root of its sum of squares."""

    name = "L2_NORMALIZATION"
    short = "l2norm"

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The argument's shape."""
        narrow(attrs, Attrs)
        need_count(args, 1, 1)
        shape = operand(args, 0, "argument").shape
        if not shape:
            raise ValueError("the argument has no axis")
        return shape

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """One row of the argument for each row of the result, along any axis but the last."""
        del attrs, args
        return None if axis == len(result.shape) - 1 else RowReads(axes=(axis,))

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8 or float32; an int8 result has scale 1/128, zero point 0. Sums of squares fit 31 bits."""
        super().check(attrs, args, result)
        need_elements(result)
        need_one_type([("argument", operand(args, 0, "argument")), ("result", result)], DType.INT8)
        if result.dtype is not DType.FLOAT32:
            need_fixed_quantization(result, 1 / 128, 0)
            if result.shape[-1] * 255 * 255 >= 1 << 31:
                raise ValueError(f"rows of {result.shape[-1]} int8 elements overflow TFLite's sum of squares")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Elements as TFLite computes them: float32 sums in order, int8 in fixed point.

        Source: TFLite, reference_ops::L2Normalization, reference_integer_ops::L2Normalization.
        """
        del attrs
        value = present(values, 0, "argument")
        rows = value.reshape(-1, value.shape[-1])
        if result.dtype is DType.FLOAT32:
            total = np.zeros(len(rows), np.float32)
            for column in rows.T:
                total += column * column
            norms = np.maximum(np.sqrt(total), np.float32(LEAST_NORM))
            return (rows / norms[:, None]).astype(np.float32).reshape(result.shape)
        wide = rows.astype(np.int64) - operand(args, 0, "argument").zero_point
        roots = np.array([inverse_root(int(square)) for square in (wide * wide).sum(axis=1)], np.int64)
        scaled = multiply_by_quantized_multiplier(wide, roots[:, :1], roots[:, 1:] + 7)
        return np.clip(scaled, *result.dtype.limits).astype(np.int8).reshape(result.shape)


class LogSoftmax(L2Normalization):
    """LOG_SOFTMAX over the last axis: each element minus the logarithm of its row's sum of exponentials."""

    name = "LOG_SOFTMAX"
    short = "logsoftmax"

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8 or float32; an int8 result has scale 16/256, zero point 127."""
        Op.check(self, attrs, args, result)
        need_elements(result)
        need_one_type([("argument", operand(args, 0, "argument")), ("result", result)], DType.INT8)
        if result.dtype is not DType.FLOAT32:
            need_fixed_quantization(result, 1 / 16, 127)
            log_softmax_params(operand(args, 0, "argument"))

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Elements as TFLite computes them: float32 by float64, int8 in fixed point.

        Source: TFLite, reference_ops::LogSoftmax.
        """
        del attrs
        value = present(values, 0, "argument")
        if result.dtype is DType.FLOAT32:
            wide = value.astype(np.float64) - value.max(axis=-1, keepdims=True)
            return (wide - np.log(np.exp(wide).sum(axis=-1, keepdims=True))).astype(np.float32)
        params, (divisor, shift) = log_softmax_params(operand(args, 0, "argument"))
        below = value.astype(np.int64) - value.max(axis=-1, keepdims=True)
        counts = below >= params.least_difference
        counted = np.where(counts, below, 0)
        scaled = multiply_by_quantized_multiplier(counted, params.multiplier, params.left_shift)
        powers = rounding_divide_by_power(exp_on_negative_values(scaled), 12)
        logarithm = log_from_one(np.where(counts, powers, 0).sum(axis=-1, keepdims=True))
        least = multiply_by_quantized_multiplier(logarithm + INT32_MIN, divisor, shift)
        stored = rounding_divide_by_power(scaled - logarithm, 22) + 127
        kept = below > np.maximum(params.least_difference - 1, least)
        return np.where(kept, np.clip(stored, -128, 127), -128).astype(np.int8)


EXTREMES = (
    ReduceExtreme("REDUCE_MAX", "reducemax", np.max),
    ReduceExtreme("REDUCE_MIN", "reducemin", np.min),
)
ARGS = (Arg("ARG_MAX", "argmax", np.argmax), Arg("ARG_MIN", "argmin", np.argmin))
"""Both in the order of the C kernels' kinds."""

OPERATORS: tuple[Op, ...] = (
    ReduceSum(),
    *EXTREMES,
    *ARGS,
    BatchMatMul(),
    Cumsum(),
    L2Normalization(),
    LogSoftmax(),
)
"""All of this family."""
