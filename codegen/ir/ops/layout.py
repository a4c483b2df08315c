"""Operators that move elements and compute nothing: CONCATENATION, PAD, TRANSPOSE and such."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from codegen.ir.dataflow import (
    ChannelLink,
    Links,
    RowReads,
    RowSpan,
    aligned_axis,
    channels,
    same_channels,
    with_extent,
)
from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.attrs import (
    BroadcastToAttrs,
    ConcatAttrs,
    PadAttrs,
    ReshapeAttrs,
    StridedSliceAttrs,
    TransposeAttrs,
)
from codegen.ir.ops.base.operands import (
    broadcast,
    narrow,
    need_count,
    need_elements,
    operand,
    present,
)
from codegen.ir.types import DType, TensorType


class MovingOp(Op):
    """One argument; the result has its element type."""

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Any element type, the same on both sides."""
        super().check(attrs, args, result)
        need_elements(result)
        for index in range(len(args)):
            argument = operand(args, index, f"input {index}")
            if argument.dtype is not result.dtype:
                raise ValueError(f"input {index} is {argument.dtype.value}, the result {result.dtype.value}")


class Concatenation(MovingOp):
    """CONCATENATION of all arguments along an axis."""

    name = "CONCATENATION"
    short = "concat"
    attrs_type = ConcatAttrs
    is_monotone = True

    def channel_links(self, attrs: Attrs, args: Types, result: TensorType) -> Links:
        """Along the last axis those of one argument follow those of another."""
        if narrow(attrs, ConcatAttrs).axis != len(result.shape) - 1:
            return same_channels(args, result)
        links: list[ChannelLink] = []
        start = 0
        for index in range(len(args)):
            every = np.arange(channels(operand(args, index, f"input {index}").shape))
            links.append(ChannelLink(argument=index, source=every, result=every + start))
            start += len(every)
        return tuple(links)

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """Row by row, along another axis than its own."""
        del result
        return None if axis == narrow(attrs, ConcatAttrs).axis else RowReads(axes=(axis,) * len(args))

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


class Pad(MovingOp):
    """PAD and PADV2: a constant around the argument."""

    name = "PAD"
    short = "pad"
    attrs_type = PadAttrs
    is_monotone = True

    def channel_links(self, attrs: Attrs, args: Types, result: TensorType) -> Links:
        """Behind those that are put in front of them."""
        paddings = narrow(attrs, PadAttrs).paddings
        if not paddings:
            return None
        every = np.arange(channels(operand(args, 0, "argument").shape))
        return (ChannelLink(argument=0, source=every, result=every + paddings[-1][0]),)

    def of_channels(self, attrs: Attrs, links: Links, kept: NDArray[np.bool_]) -> Attrs:
        """With those of the channels around that are kept."""
        pad = narrow(attrs, PadAttrs)
        if not links:
            return pad
        first, stop = int(links[0].result[0]), int(links[0].result[-1]) + 1
        around = (int(kept[:first].sum()), int(kept[stop:].sum()))
        return replace(pad, paddings=(*pad.paddings[:-1], around))

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """Row by row, behind those that are put in front."""
        del args, result
        return RowReads(axes=(axis,), front=narrow(attrs, PadAttrs).paddings[axis][0])

    def of_rows(self, attrs: Attrs, span: RowSpan) -> Attrs:
        """With the padding around these rows."""
        pad, axis = narrow(attrs, PadAttrs), span.axis
        around = (span.front, span.back)
        return replace(pad, paddings=(*pad.paddings[:axis], around, *pad.paddings[axis + 1 :]))

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


class Reshape(MovingOp):
    """RESHAPE: the same elements in the same order; signed and unsigned numbers of one width are the same."""

    name = "RESHAPE"
    short = "reshape"
    attrs_type = ReshapeAttrs
    is_monotone = True

    def channel_links(self, attrs: Attrs, args: Types, result: TensorType) -> Links:
        """Element e is of channel e % C on one side, e % L on the other: one must divide the other."""
        del attrs
        source = operand(args, 0, "argument").shape
        before, after = channels(source), channels(result.shape)
        if not source or not result.shape or (before % after and after % before):
            return None
        every = np.arange(max(before, after))
        return (ChannelLink(argument=0, source=every % before, result=every % after),)

    def of_channels(self, attrs: Attrs, links: Links, kept: NDArray[np.bool_]) -> Attrs:
        """With as many as are kept."""
        shape = narrow(attrs, ReshapeAttrs).shape
        return ReshapeAttrs(shape=(*shape[:-1], int(kept.sum()))) if links else attrs

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """Row by row of an axis of as many rows, with as many elements in front of it."""
        del attrs
        shape, extent = operand(args, 0, "argument").shape, result.shape[axis]
        before = math.prod(result.shape[:axis])
        places = [place for place in range(len(shape)) if math.prod(shape[:place]) == before]
        alike = [place for place in places if shape[place] == extent]
        return RowReads(axes=(alike[-1],)) if alike else None

    def of_rows(self, attrs: Attrs, span: RowSpan) -> Attrs:
        """With so many rows."""
        shape = narrow(attrs, ReshapeAttrs).shape
        return ReshapeAttrs(shape=with_extent(shape, span.axis, span.rows))

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


class Transpose(MovingOp):
    """TRANSPOSE: result axis i is argument axis `permutation[i]`."""

    name = "TRANSPOSE"
    short = "transpose"
    attrs_type = TransposeAttrs
    is_monotone = True

    def channel_links(self, attrs: Attrs, args: Types, result: TensorType) -> Links:
        """Channel by channel where the last axis stays the last."""
        stays = narrow(attrs, TransposeAttrs).permutation[-1:] == (len(result.shape) - 1,)
        return same_channels(args, result) if stays else None

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """Row by row of the axis that becomes this one."""
        del args, result
        return RowReads(axes=(narrow(attrs, TransposeAttrs).permutation[axis],))

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


class StridedSlice(MovingOp):
    """STRIDED_SLICE with everything resolved: first index, step and count of every argument axis."""

    name = "STRIDED_SLICE"
    short = "slice"
    attrs_type = StridedSliceAttrs
    is_monotone = True

    def channel_links(self, attrs: Attrs, args: Types, result: TensorType) -> Links:
        """Channel by channel where all of them are taken."""
        part, extent = narrow(attrs, StridedSliceAttrs), channels(operand(args, 0, "argument").shape)
        takes_all = (part.begins[-1:], part.strides[-1:], part.counts[-1:]) == ((0,), (1,), (extent,))
        return same_channels(args, result) if takes_all and part.shape[-1:] == (extent,) else None

    def of_channels(self, attrs: Attrs, links: Links, kept: NDArray[np.bool_]) -> Attrs:
        """With as many as are kept."""
        part, left = narrow(attrs, StridedSliceAttrs), int(kept.sum())
        if not links:
            return part
        return replace(part, counts=(*part.counts[:-1], left), shape=(*part.shape[:-1], left))

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """Every so many rows, where no axis is dropped."""
        del args, result
        part = narrow(attrs, StridedSliceAttrs)
        if part.shape != part.counts or part.strides[axis] < 1:
            return None
        return RowReads(axes=(axis,), stride=part.strides[axis], front=-part.begins[axis])

    def of_rows(self, attrs: Attrs, span: RowSpan) -> Attrs:
        """From the first row on that is there."""
        part, axis = narrow(attrs, StridedSliceAttrs), span.axis
        counts = with_extent(part.counts, axis, span.rows)
        return replace(part, begins=with_extent(part.begins, axis, 0), counts=counts, shape=counts)

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


class BroadcastTo(MovingOp):
    """BROADCAST_TO: axes of extent 1 repeated, axes added in front."""

    name = "BROADCAST_TO"
    short = "broadcast"
    is_monotone = True
    attrs_type = BroadcastToAttrs

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """Row by row of an argument that is not repeated along the axis."""
        del attrs
        return RowReads(axes=(aligned_axis(operand(args, 0, "argument").shape, result.shape, axis),))

    def of_rows(self, attrs: Attrs, span: RowSpan) -> Attrs:
        """With so many rows."""
        shape = narrow(attrs, BroadcastToAttrs).shape
        return BroadcastToAttrs(shape=with_extent(shape, span.axis, span.rows))

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The attribute's shape, if the argument broadcasts to it."""
        shape = narrow(attrs, BroadcastToAttrs).shape
        need_count(args, 1, 1)
        argument_shape = operand(args, 0, "argument").shape
        if len(argument_shape) > len(shape) or broadcast(argument_shape, shape) != shape:
            raise ValueError(f"shape {list(argument_shape)} does not broadcast to {list(shape)}")
        return shape

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """The argument's elements, repeated."""
        del attrs, args
        return np.ascontiguousarray(np.broadcast_to(present(values, 0, "argument"), result.shape))


RESHAPE, TRANSPOSE = Reshape(), Transpose()
CONCATENATION, STRIDED_SLICE = Concatenation(), StridedSlice()
"""Operators that passes put in place of steps that rename bytes, and at edges of another layout."""

OPERATORS: tuple[Op, ...] = (
    CONCATENATION,
    Pad(),
    RESHAPE,
    TRANSPOSE,
    STRIDED_SLICE,
    BroadcastTo(),
)
"""All of this family."""
