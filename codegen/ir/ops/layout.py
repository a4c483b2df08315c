"""Operators that move elements and compute nothing: CONCATENATION, PAD, TRANSPOSE, GATHER and such."""

import math
from dataclasses import replace

import numpy as np

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.attrs import (
    BroadcastToAttrs,
    ConcatAttrs,
    GatherAttrs,
    PadAttrs,
    ReshapeAttrs,
    StridedSliceAttrs,
    TransposeAttrs,
)
from codegen.ir.ops.base.operands import (
    broadcast,
    narrow,
    need_count,
    need_dtype,
    need_elements,
    operand,
    present,
)
from codegen.ir.types import DType, TensorType


class _Layout(Op):
    """One argument; the result has its element type."""

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Any element type, the same on both sides."""
        super().check(attrs, args, result)
        need_elements(result)
        for index in range(len(args)):
            argument = operand(args, index, f"input {index}")
            if argument.dtype is not result.dtype:
                raise ValueError(f"input {index} is {argument.dtype.value}, the result {result.dtype.value}")


class Concatenation(_Layout):
    """CONCATENATION of all arguments along an axis."""

    name = "CONCATENATION"
    short = "concat"
    attrs_type = ConcatAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The arguments' common shape, extents along `axis` summed."""
        axis = narrow(attrs, ConcatAttrs).axis
        shapes = [operand(args, index, f"input {index}").shape for index in range(len(args))]
        if not shapes or not 0 <= axis < len(shapes[0]):
            raise ValueError(f"axis {axis} does not fit {len(shapes)} inputs")
        rest = {(*shape[:axis], *shape[axis + 1 :]) for shape in shapes if len(shape) == len(shapes[0])}
        if len(rest) != 1 or any(len(shape) != len(shapes[0]) for shape in shapes):
            listed = ", ".join(str(list(shape)) for shape in shapes)
            raise ValueError(f"shapes {listed} differ in more than axis {axis}")
        first = shapes[0]
        return (*first[:axis], sum(shape[axis] for shape in shapes), *first[axis + 1 :])

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Any element type; integers must all have the result's quantisation, as TFLite demands of int8."""
        super().check(attrs, args, result)
        if not result.dtype.is_integer:
            return
        for index in range(len(args)):
            argument = operand(args, index, f"input {index}")
            if argument.quantization != result.quantization:
                raise ValueError(
                    f"input {index} is not quantised as the result is; a requantizing "
                    "CONCATENATION of integers is not supported"
                )

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Copies the arguments side by side."""
        del args, result
        parts = [present(values, index, f"input {index}") for index in range(len(values))]
        return np.concatenate(parts, axis=narrow(attrs, ConcatAttrs).axis)


class Pad(_Layout):
    """PAD and PADV2: a constant around the argument."""

    name = "PAD"
    short = "pad"
    attrs_type = PadAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """Each extent plus what is added before and after."""
        pad = narrow(attrs, PadAttrs)
        need_count(args, 1, 1)
        shape = operand(args, 0, "argument").shape
        if len(pad.paddings) != len(shape) or any(min(pair) < 0 for pair in pad.paddings):
            raise ValueError(
                f"paddings {[list(pair) for pair in pad.paddings]} do not fit shape {list(shape)}"
            )
        return tuple(
            before + extent + after for extent, (before, after) in zip(shape, pad.paddings, strict=True)
        )

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Any element type that can hold the value."""
        super().check(attrs, args, result)
        value = narrow(attrs, PadAttrs).value
        if result.dtype.is_integer:
            low, high = result.dtype.limits
            if value != int(value) or not low <= value <= high:
                raise ValueError(f"pad value {value:g} is no {result.dtype.value}")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """The argument inside a frame of `value`."""
        del args
        pad = narrow(attrs, PadAttrs)
        value = result.dtype.numpy.type(int(pad.value) if result.dtype.is_integer else pad.value)
        return np.pad(present(values, 0, "argument"), pad.paddings, constant_values=value)


SAME_BITS = (frozenset({DType.INT32, DType.UINT32}), frozenset({DType.INT64, DType.UINT64}))
"""Element types of which one is cast to the other by looking at the same bits."""


class Reshape(_Layout):
    """RESHAPE: the same elements in the same order; signed and unsigned numbers of one width are the same."""

    name = "RESHAPE"
    short = "reshape"
    attrs_type = ReshapeAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The attribute's shape, if it has as many elements."""
        shape = narrow(attrs, ReshapeAttrs).shape
        need_count(args, 1, 1)
        argument = operand(args, 0, "argument")
        if math.prod(shape) != argument.elements:
            raise ValueError(f"shape {list(argument.shape)} cannot become {list(shape)}")
        return shape

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """One element type on both sides, or two of `SAME_BITS`."""
        argument = operand(args, 0, "argument")
        is_same = frozenset({argument.dtype, result.dtype}) in SAME_BITS
        super().check(attrs, (replace(argument, dtype=result.dtype),) if is_same else args, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """The argument's elements."""
        del attrs, args
        value = present(values, 0, "argument").reshape(result.shape)
        return value if value.dtype == result.dtype.numpy else value.astype(result.dtype.numpy)


class Transpose(_Layout):
    """TRANSPOSE: result axis i is argument axis `permutation[i]`."""

    name = "TRANSPOSE"
    short = "transpose"
    attrs_type = TransposeAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The argument's extents, permuted."""
        permutation = narrow(attrs, TransposeAttrs).permutation
        need_count(args, 1, 1)
        shape = operand(args, 0, "argument").shape
        if sorted(permutation) != list(range(len(shape))):
            raise ValueError(f"{list(permutation)} is no permutation of the axes of {list(shape)}")
        return tuple(shape[axis] for axis in permutation)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """The argument with its axes permuted, dense."""
        del args, result
        return np.ascontiguousarray(
            np.transpose(present(values, 0, "argument"), narrow(attrs, TransposeAttrs).permutation)
        )


class StridedSlice(_Layout):
    """STRIDED_SLICE with everything resolved: first index, step and count of every argument axis."""

    name = "STRIDED_SLICE"
    short = "slice"
    attrs_type = StridedSliceAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The attribute's shape, if indices stay inside and the elements agree."""
        part = narrow(attrs, StridedSliceAttrs)
        need_count(args, 1, 1)
        shape = operand(args, 0, "argument").shape
        if not len(part.begins) == len(part.strides) == len(part.counts) == len(shape):
            raise ValueError(f"slice of {len(part.begins)} axes does not fit shape {list(shape)}")
        for extent, begin, stride, count in zip(shape, part.begins, part.strides, part.counts, strict=True):
            last = begin + (count - 1) * stride
            if stride == 0 or count < 1 or not (0 <= begin < extent and 0 <= last < extent):
                raise ValueError(f"slice {begin}:{last} in steps of {stride} leaves an axis of {extent}")
        if math.prod(part.counts) != math.prod(part.shape):
            raise ValueError(f"slice of {list(part.counts)} elements cannot have shape {list(part.shape)}")
        return part.shape

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """The chosen elements, dense."""
        del args
        part = narrow(attrs, StridedSliceAttrs)
        value = present(values, 0, "argument")
        for axis, (begin, stride, count) in enumerate(
            zip(part.begins, part.strides, part.counts, strict=True)
        ):
            value = value.take(begin + stride * np.arange(count), axis=axis)
        return np.ascontiguousarray(value).reshape(result.shape)


class BroadcastTo(_Layout):
    """BROADCAST_TO: axes of extent 1 repeated, axes added in front."""

    name = "BROADCAST_TO"
    short = "broadcast"
    attrs_type = BroadcastToAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The attribute's shape, if the argument broadcasts to it."""
        shape = narrow(attrs, BroadcastToAttrs).shape
        need_count(args, 1, 1)
        given = operand(args, 0, "argument").shape
        if len(given) > len(shape) or broadcast(given, shape) != shape:
            raise ValueError(f"shape {list(given)} does not broadcast to {list(shape)}")
        return shape

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """The argument's elements, repeated."""
        del attrs, args
        return np.ascontiguousarray(np.broadcast_to(present(values, 0, "argument"), result.shape))


class _Gather(_Layout):
    """Values chosen by indices, which may be known only while the model runs.

    TFLite refuses to run with an index beyond its axis; here it is clamped. Of an int64 the low word counts.
    """

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Any element type, the same in values and result; indices of int32 or int64."""
        Op.check(self, attrs, args, result)
        need_elements(result)
        values = operand(args, 0, "values")
        need_dtype(operand(args, 1, "indices"), "indices", DType.INT32, DType.INT64)
        if values.dtype is not result.dtype:
            raise ValueError(f"the values are {values.dtype.value}, the result {result.dtype.value}")


class Gather(_Gather):
    """GATHER(values, indices) along an axis."""

    name = "GATHER"
    short = "gather"
    attrs_type = GatherAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """Extents of the values, the indices' in place of the axis (their batch axes are there already)."""
        gather = narrow(attrs, GatherAttrs)
        need_count(args, 2, 2)
        values, indices = operand(args, 0, "values").shape, operand(args, 1, "indices").shape
        axis, shared = gather.axis, gather.batch_axes
        fits = 0 <= shared <= min(axis, len(indices)) and axis < len(values)
        if not fits or values[:shared] != indices[:shared]:
            raise ValueError(
                f"axis {axis} with {shared} batch axes does not fit values {list(values)}, "
                f"indices {list(indices)}"
            )
        return (*values[:axis], *indices[shared:], *values[axis + 1 :])

    def domain(self, attrs: Attrs, args: Types, position: int) -> tuple[float, float] | None:
        """Indices of the axis."""
        axis = narrow(attrs, GatherAttrs).axis
        return (0, operand(args, 0, "values").shape[axis] - 1) if position == 1 else None

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::Gather."""
        del args
        gather = narrow(attrs, GatherAttrs)
        data, indices = present(values, 0, "values"), present(values, 1, "indices")
        shape, axis, shared = data.shape, gather.axis, gather.batch_axes
        batches = int(np.prod(shape[:shared], dtype=np.int64))
        rows = data.reshape(batches, -1, shape[axis], int(np.prod(shape[axis + 1 :], dtype=np.int64)))
        chosen = np.clip(indices.astype(np.int32), 0, shape[axis] - 1).reshape(batches, -1)
        taken = [rows[batch].take(chosen[batch], axis=1) for batch in range(batches)]
        return np.ascontiguousarray(np.stack(taken)).reshape(result.shape)


class GatherNd(_Gather):
    """GATHER_ND(values, indices): the last axis of the indices holds one index for each leading axis."""

    name = "GATHER_ND"
    short = "gathernd"

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """Extents of the indices but the last, then those of the values that no index is for."""
        narrow(attrs, Attrs)
        need_count(args, 2, 2)
        values, indices = operand(args, 0, "values").shape, operand(args, 1, "indices").shape
        if not indices or not 1 <= indices[-1] <= len(values):
            raise ValueError(f"indices {list(indices)} do not fit values {list(values)}")
        return (*indices[:-1], *values[indices[-1] :])

    def domain(self, attrs: Attrs, args: Types, position: int) -> tuple[float, float] | None:
        """Indices that every one of the leading axes has."""
        del attrs
        depth = operand(args, 1, "indices").shape[-1]
        return (0, min(operand(args, 0, "values").shape[:depth]) - 1) if position == 1 else None

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::GatherNd."""
        del attrs, args
        data, indices = present(values, 0, "values"), present(values, 1, "indices")
        depth = indices.shape[-1]
        places = np.clip(indices.astype(np.int32), 0, np.array(data.shape[:depth]) - 1).reshape(-1, depth)
        return np.ascontiguousarray(data[tuple(places.T)]).reshape(result.shape)


class DynamicUpdateSlice(Op):
    """DYNAMIC_UPDATE_SLICE(value, part, starts): the value with the part in it.

    Starts are clamped so that it lies inside.
    """

    name = "DYNAMIC_UPDATE_SLICE"
    short = "update"

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The value's shape."""
        narrow(attrs, Attrs)
        need_count(args, 3, 3)
        shape, part = operand(args, 0, "value").shape, operand(args, 1, "part").shape
        starts = operand(args, 2, "starts").shape
        fits = len(part) == len(shape) and all(own <= whole for own, whole in zip(part, shape, strict=True))
        if not shape or not fits or starts != (len(shape),):
            raise ValueError(
                f"a part {list(part)} at starts {list(starts)} does not fit a value {list(shape)}"
            )
        return shape

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Any element type, the same in value, part and result; starts of int32 or int64."""
        super().check(attrs, args, result)
        need_elements(operand(args, 1, "part"))
        need_dtype(operand(args, 2, "starts"), "starts", DType.INT32, DType.INT64)
        for index, what in enumerate(("value", "part")):
            need_dtype(operand(args, index, what), what, result.dtype)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::DynamicUpdateSlice."""
        del attrs, args, result
        found, part = present(values, 0, "value").copy(), present(values, 1, "part")
        room = np.array(found.shape) - np.array(part.shape)
        starts = np.clip(present(values, 2, "starts").astype(np.int64), 0, room).tolist()
        found[tuple(slice(at, at + n) for at, n in zip(starts, part.shape, strict=True))] = part
        return found


OPERATORS: tuple[Op, ...] = (
    Concatenation(),
    Pad(),
    Reshape(),
    Transpose(),
    StridedSlice(),
    BroadcastTo(),
    Gather(),
    GatherNd(),
    DynamicUpdateSlice(),
)
"""All of this family."""
