"""Operators that take several pixels for one: AVERAGE_POOL_2D, MAX_POOL_2D, MEAN, RESIZE_BILINEAR."""

from collections.abc import Iterator, Sequence

import numpy as np

from codegen.ir.dataflow import Links, Range, RowReads, RowSpan, same_channels
from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.activation import activated, stored_limits
from codegen.ir.ops.base.attrs import MeanAttrs, PoolAttrs, ResizeAttrs
from codegen.ir.ops.base.fixed_point import INT32_MAX, multiply_by_quantized_multiplier
from codegen.ir.ops.base.float_steps import scaled, stored
from codegen.ir.ops.base.operands import (
    narrow,
    need_count,
    need_dtype,
    need_elements,
    need_one_type,
    need_quantized,
    need_quantized_or_float,
    need_rank,
    need_same_quantization,
    operand,
    present,
    span_padded,
    window_extents,
    window_reads,
)
from codegen.ir.ops.base.parameters import mean_multiplier
from codegen.ir.ops.base.rounding import HalvesUp, OnnxRounding, rounding_of
from codegen.ir.ops.base.taps import Meeting, axes_of, meetings
from codegen.ir.types import DType, TensorType


def average_pool(attrs: PoolAttrs, values: Arrays, result: TensorType) -> np.ndarray:
    """AVERAGE_POOL_2D: elements inside the image, summed and counted; integers round half away from zero, or
    up."""
    image = present(values, 0, "image")
    wide = np.int64 if result.dtype.is_integer else np.float32
    wider, total = image.astype(wide), np.zeros(result.shape, wide)
    count = np.zeros((1, *result.shape[1:3], 1), np.int64)
    for tap in _taps(attrs, image):
        total[tap.results] += wider[tap.elements]
        count[tap.results] += 1
    if not result.dtype.is_integer:
        return activated(total / count.astype(np.float32), attrs, result)
    if isinstance(attrs.rounding, HalvesUp):
        return activated((total + count // 2) // count, attrs, result)
    magnitude = (np.abs(total) + count // 2) // count
    return activated(np.sign(total) * magnitude, attrs, result)


def max_pool(attrs: PoolAttrs, values: Arrays, result: TensorType) -> np.ndarray:
    """MAX_POOL_2D: padding never wins."""
    image = present(values, 0, "image")
    lowest = result.dtype.numpy.type(result.dtype.limits[0] if result.dtype.is_integer else -np.inf)
    largest = np.full(result.shape, lowest)
    for tap in _taps(attrs, image):
        np.maximum(largest[tap.results], image[tap.elements], out=largest[tap.results])
    return activated(largest, attrs, result)


def mean(attrs: MeanAttrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
    """MEAN. int8: the sum less the zero points, times one multiplier that holds both scales and 1 / count.

    int32 has no scale: its quotient goes towards zero.
    Equal quantisations on both sides, and 4-D images over axes 1 and 2, are no special cases for int8.
    Source: reference_ops::QuantizedMeanOrSum of TFLite 2.14 and of tflite-micro alike.
    """
    value, argument = present(values, 0, "argument"), operand(args, 0, "argument")
    if result.dtype is DType.FLOAT32:
        average = value.astype(np.float64).mean(axis=attrs.axes, keepdims=attrs.keep_dims)
        return np.asarray(average, np.float32).reshape(result.shape)
    count = value.size // result.elements
    if result.dtype is DType.INT32:
        total = value.astype(np.int64).sum(axis=attrs.axes)
        return (np.sign(total) * (np.abs(total) // count)).astype(np.int32).reshape(result.shape)
    total = (
        value.astype(np.int64).sum(axis=attrs.axes, keepdims=attrs.keep_dims) - argument.zero_point * count
    )
    multiplier, shift = mean_multiplier(argument, result, count)
    scaled = multiply_by_quantized_multiplier(total, multiplier, shift) + result.zero_point
    return np.clip(scaled, *result.dtype.limits).astype(result.dtype.numpy).reshape(result.shape)


def _taps(attrs: PoolAttrs, image: np.ndarray) -> Iterator[Meeting]:
    """The positions in the window that meet the image."""
    extents = (image.shape[1], image.shape[2])
    return meetings(*axes_of(extents, attrs.window, stride=attrs.stride, padding=attrs.padding))


class _PoolOperator(Op):
    """Shape rule and type rule of both pools."""

    attrs_type = PoolAttrs
    is_monotone = True
    any_zero: bool = False
    """True if the zero point of int16 may be another than 0."""

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

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """Windows along rows or columns."""
        del result
        pool = narrow(attrs, PoolAttrs)
        return window_reads(pool, pool.window, (1, 1), axis, len(args))

    def of_rows(self, attrs: Attrs, span: RowSpan) -> Attrs:
        """With the padding that these rows read."""
        return span_padded(narrow(attrs, PoolAttrs), span)

    def channel_links(self, attrs: Attrs, args: Types, result: TensorType) -> Links:
        """Channel by channel."""
        del attrs
        return same_channels(args, result)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8 or int16 with the argument's quantisation, or float32."""
        super().check(attrs, args, result)
        image = operand(args, 0, "image")
        need_elements(result)
        need_quantized_or_float([("image", image), ("result", result)], any_zero=self.any_zero)
        if image.dtype is not DType.FLOAT32:
            need_same_quantization(image, result, "image and result")
            stored_limits(attrs, result)


class AveragePool2D(_PoolOperator):
    """AVERAGE_POOL_2D(image NHWC) -> NHWC; padding is not counted."""

    name = "AVERAGE_POOL_2D"
    short = "avgpool"

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Check a pool. With ONNX's rounding int8 and int16 may have any scales: one factor converts sums."""
        rounding = rounding_of(attrs)
        if not isinstance(rounding, OnnxRounding):
            super().check(attrs, args, result)
            return
        Op.check(self, attrs, args, result)
        need_elements(result)
        for what, type_ in (("image", operand(args, 0, "image")), ("result", result)):
            need_dtype(type_, what, DType.INT8, DType.INT16)
            need_dtype(type_, what, result.dtype)
            need_quantized(type_, what, any_zero=True)
        if len(rounding.scales) != 1:
            raise ValueError(f"there are {len(rounding.scales)} scales, an average has one")
        stored_limits(attrs, result)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_integer_ops::AveragePool; with `HalvesUp` reference_ops::AveragePool. As ONNX
        rounds it a sum, whose padding counts as zero, times its factor in float32."""
        pool, rounding = narrow(attrs, PoolAttrs), rounding_of(attrs)
        if isinstance(rounding, OnnxRounding):
            centred = present(values, 0, "image").astype(np.int64) - operand(args, 0, "image").zero_point
            sums = np.zeros(result.shape, np.int64)
            for tap in _taps(pool, centred):
                sums[tap.results] += centred[tap.elements]
            units = scaled(sums, np.array(rounding.scales, np.float32))
            return stored(units, result, stored_limits(attrs, result))
        return average_pool(narrow(attrs, PoolAttrs), values, result)


class MaxPool2D(_PoolOperator):
    """MAX_POOL_2D(image NHWC) -> NHWC."""

    any_zero = True
    name = "MAX_POOL_2D"
    short = "maxpool"

    def takes_as_padding(self, attrs: Attrs, image: TensorType, value: float, least: float) -> bool:
        """Padding never wins, as nothing does that no element is below."""
        del attrs, image
        return value <= least

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_integer_ops::MaxPool."""
        del args
        return max_pool(narrow(attrs, PoolAttrs), values, result)


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

    def value_range(
        self, attrs: Attrs, ranges: Sequence[Range], args: Types, result: TensorType
    ) -> Range | None:
        """MEAN is monotone unless its left shift wraps."""
        argument = operand(args, 0, "argument")
        if argument.dtype is not DType.INT8:
            return None
        count = argument.elements // result.elements
        _, shift = mean_multiplier(argument, result, count)
        if (255 * count) << max(shift, 0) > INT32_MAX:
            return None
        return self.at_both_ends(attrs, ranges, args, result)

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """Row by row, along an axis that it does not go over."""
        del result
        mean = narrow(attrs, MeanAttrs)
        rank = len(operand(args, 0, "argument").shape)
        left = [place for place in range(rank) if place not in mean.axes]
        place = axis if mean.keep_dims else left[axis]
        return None if place in mean.axes else RowReads(axes=(place,))

    def channel_links(self, attrs: Attrs, args: Types, result: TensorType) -> Links:
        """Channel by channel, unless it goes over channels."""
        last = len(operand(args, 0, "argument").shape) - 1
        return None if last in narrow(attrs, MeanAttrs).axes else same_channels(args, result)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8, int16, int32 without a scale or float32, at least one element in each mean."""
        super().check(attrs, args, result)
        argument = operand(args, 0, "argument")
        need_elements(argument)
        if argument.dtype is DType.INT32:
            need_dtype(result, "result", DType.INT32)
            return
        need_quantized_or_float([("argument", argument), ("result", result)])
        if argument.dtype is not DType.FLOAT32:
            mean_multiplier(argument, result, argument.elements // result.elements)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::QuantizedMeanOrSum and reference_integer_ops::Mean, see `mean`."""
        return mean(narrow(attrs, MeanAttrs), values, args, result)


RESIZE_BITS = 10
"""Bits of an int8 RESIZE_BILINEAR's places and weights behind the point."""


def resize_step(extent: int, size: int, attrs: ResizeAttrs) -> tuple[int, int]:
    """(step, start) along an axis: result i is at i * step + start, in units of 2^-10 of a pixel.

    Source: ResizeBilinearInteger.
    """
    if attrs.align_corners and size > 1:
        extent, size = extent - 1, size - 1
    step = ((extent << RESIZE_BITS) + size // 2) // size
    return step, step // 2 - (1 << (RESIZE_BITS - 1)) if attrs.half_pixel_centers else 0


def resize_scale(extent: int, size: int, attrs: ResizeAttrs) -> float:
    """Pixels of the image for one of the result along an axis, a float32. Source: ResizeBilinear."""
    if attrs.align_corners and size > 1:
        extent, size = extent - 1, size - 1
    return float(np.float32(extent) / np.float32(size))


class ResizeBilinear(Op):
    """RESIZE_BILINEAR(image NHWC) -> NHWC; each pixel from the four around its place."""

    name = "RESIZE_BILINEAR"
    short = "resize"
    attrs_type = ResizeAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """[N, *size, C]."""
        resize = narrow(attrs, ResizeAttrs)
        need_count(args, 1, 1)
        image = operand(args, 0, "image")
        need_rank(image, 4, "image")
        if min(resize.size) < 1:
            raise ValueError(f"size {resize.size} must be positive")
        return (image.shape[0], *resize.size, image.shape[3])

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8 or float32: stored numbers are mixed, whatever their scale; places fit 31 bits."""
        super().check(attrs, args, result)
        image = operand(args, 0, "image")
        need_elements(image)
        need_one_type([("image", image), ("result", result)], DType.INT8)
        if max(*image.shape[1:3], *result.shape[1:3]) >= 1 << (30 - RESIZE_BITS):
            raise ValueError(f"an image of {image.shape[1]} x {image.shape[2]} pixels is too large to resize")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::ResizeBilinear, ResizeBilinearInteger."""
        del args
        resize, image = narrow(attrs, ResizeAttrs), present(values, 0, "image")
        places = [_places(image.shape[1 + axis], resize, axis, result.dtype) for axis in (0, 1)]
        (top, bottom, down), (left, right, beside) = places
        whole = np.float32(1) if result.dtype is DType.FLOAT32 else np.int64(1 << RESIZE_BITS)
        down, beside = down[:, None, None], beside[:, None]
        wide = image.astype(np.float32 if result.dtype is DType.FLOAT32 else np.int64)
        mixed = wide[:, top][:, :, left] * (whole - down) * (whole - beside)
        mixed = mixed + wide[:, bottom][:, :, left] * down * (whole - beside)
        mixed = mixed + wide[:, top][:, :, right] * (whole - down) * beside
        mixed = mixed + wide[:, bottom][:, :, right] * down * beside
        if result.dtype is DType.FLOAT32:
            return mixed.astype(np.float32)
        half = 1 << (2 * RESIZE_BITS - 1)
        magnitude = (np.abs(mixed) + half) >> (2 * RESIZE_BITS)
        return (np.sign(mixed) * magnitude).astype(np.int8)


def _places(
    extent: int, attrs: ResizeAttrs, axis: int, dtype: DType
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(pixel in front, pixel behind, weight of the one behind) of every result along an axis.

    In front of the first pixel and behind the last the weight is 0: there TFLite takes one pixel twice.
    """
    size = attrs.size[axis]
    if dtype is DType.FLOAT32:
        scale, half = np.float32(resize_scale(extent, size, attrs)), np.float32(0.5)
        numbers = np.arange(size).astype(np.float32)
        at = (numbers + half) * scale - half if attrs.half_pixel_centers else numbers * scale
        low = np.clip(np.floor(at).astype(np.int64), 0, extent - 1)
        high = np.minimum(np.ceil(at).astype(np.int64), extent - 1)
        return low, np.maximum(high, 0), at - low.astype(np.float32)
    step, start = resize_step(extent, size, attrs)
    place = np.clip(np.arange(size, dtype=np.int64) * step + start, 0, (extent - 1) << RESIZE_BITS)
    low = place >> RESIZE_BITS
    weight = place - (low << RESIZE_BITS)
    return low, np.minimum(low + 1, extent - 1), weight


OPERATORS: tuple[Op, ...] = (AveragePool2D(), MaxPool2D(), Mean(), ResizeBilinear())
"""All of this family."""
