"""Operators that make images larger or smaller: RESIZE_NEAREST_NEIGHBOR, RESIZE_BILINEAR, TRANSPOSE_CONV.

All but RESIZE_BILINEAR become steps that exist. A TRANSPOSE_CONV of stride s is s convolutions along each
axis, one for each place in a block of s results, whose results are then put side by side: they run on the
kernels of CONV_2D, and no sum is kept in memory, as TFLite keeps one for each result.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from tflite.Padding import Padding

from codegen.importers.limits import MAX_SIDE
from codegen.importers.reporting import Refused
from codegen.importers.tflite.operators.rearranging import reshaped, sliced, transposed
from codegen.importers.tflite.operators.site import InnerStep, Site, Translated
from codegen.importers.tflite.operators.stored_options import StoredOptions
from codegen.importers.tflite.operators.windows import extents_of, positive, same_padding
from codegen.ir import Arg, DType, TensorType
from codegen.ir.ops import (
    BroadcastToAttrs,
    ConcatAttrs,
    ConvAttrs,
    GatherAttrs,
    PadAttrs,
    Padding2D,
    ResizeAttrs,
    StridedSliceAttrs,
)
from codegen.ir.ops.base.taps import WindowAxis
from codegen.ir.ops.base.weighted import weight_zero_point

_Value = Arg | InnerStep


def _resize(site: Site) -> tuple[Arg, ResizeAttrs]:
    site.need_inputs(2, 2)
    value, size = site.arg(0), site.numbers(1, "the new size")
    extents_of(value.type, "image")
    if len(size) != 2:
        raise Refused("E303", f"the new size has {len(size)} numbers, needs rows and columns")
    positive((size[0], size[1]), "size")
    if max(size) > MAX_SIDE:
        raise Refused("E305", f"resizes to {size[0]:,} x {size[1]:,}, up to {MAX_SIDE:,} are imported")
    return value, site.attributes(ResizeAttrs, size=(size[0], size[1]))


def resize_bilinear(site: Site) -> Translated:
    """RESIZE_BILINEAR to a constant size."""
    value, attrs = _resize(site)
    if attrs.align_corners and attrs.half_pixel_centers:
        raise Refused("E303", "has both align_corners and half_pixel_centers")
    return Translated(op="RESIZE_BILINEAR", args=(value,), attrs=attrs)


def resize_nearest(site: Site) -> Translated:
    """RESIZE_NEAREST_NEIGHBOR to a constant size: pixels are repeated, or every so many is taken, or they
    are gathered; the axis that shrinks most comes first."""
    value, attrs = _resize(site)
    batch, height, width, channels = value.type.shape
    chosen = [_nearest(attrs, axis, extent) for axis, extent in enumerate((height, width))]
    times = [size // extent for size, extent in zip(attrs.size, (height, width), strict=True)]
    repeats = [
        indices == [index // times_ for index in range(times_ * extent)] if times_ else False
        for indices, times_, extent in zip(chosen, times, (height, width), strict=True)
    ]
    if all(repeats):
        spread = reshaped(value, (batch, height, 1, width, 1, channels))
        wider = (batch, height, times[0], width, times[1], channels)
        repeated = InnerStep(
            op="BROADCAST_TO",
            args=(spread,),
            attrs=BroadcastToAttrs(shape=wider),
            type=replace(spread.type, shape=wider),
        )
        return reshaped(repeated, (batch, *attrs.size, channels))
    order = sorted((0, 1), key=lambda axis: len(chosen[axis]) / value.type.shape[1 + axis])
    result: _Value = value
    for axis in order:
        result = _taken(site, result, 1 + axis, chosen[axis])
    return result if isinstance(result, InnerStep) else reshaped(result, result.type.shape)


def _nearest(attrs: ResizeAttrs, axis: int, extent: int) -> list[int]:
    """The row or column that each of the result is, in float32. Source: GetNearestNeighbor."""
    size = attrs.size[axis]
    scale = np.float32(extent) / np.float32(size)
    if attrs.align_corners and size > 1:
        scale = np.float32(extent - 1) / np.float32(size - 1)
    places = np.arange(size).astype(np.float32)
    if attrs.half_pixel_centers:
        places = places + np.float32(0.5)
    places = places * scale
    if attrs.align_corners:  # half away from zero; none is negative
        whole = np.floor(places)
        places = np.where(places - whole >= np.float32(0.5), whole + 1, whole)
    return np.clip(np.floor(places).astype(np.int64), 0, extent - 1).tolist()


def _taken(site: Site, value: _Value, axis: int, indices: Sequence[int]) -> _Value:
    """The rows or columns `indices` of an image."""
    shape = value.type.shape
    if list(indices) == list(range(shape[axis])):
        return value
    counts = (*shape[:axis], len(indices), *shape[axis + 1 :])
    step = indices[1] - indices[0] if len(indices) > 1 else 1
    if step > 0 and list(indices) == [indices[0] + step * index for index in range(len(indices))]:
        attrs = StridedSliceAttrs(
            begins=tuple(indices[0] if index == axis else 0 for index in range(len(shape))),
            strides=tuple(step if index == axis else 1 for index in range(len(shape))),
            counts=counts,
            shape=counts,
        )
        return InnerStep(
            op="STRIDED_SLICE", args=(value,), attrs=attrs, type=replace(value.type, shape=counts)
        )
    listed = site.made(np.array(indices, np.int32))
    return InnerStep(
        op="GATHER",
        args=(value, listed),
        attrs=GatherAttrs(axis=axis),
        type=replace(value.type, shape=counts),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Phase:
    """Results at `place`, `place + stride`, ... along an axis, as a convolution of stride 1.

    Result q of them reads image elements q - before to q - before + taps - 1, through the weights `first`,
    `first - stride`, ..., of which those outside the window are zero.
    """

    first: int
    taps: int
    before: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _TransposedAxis:
    """One axis of a TRANSPOSE_CONV: result o gathers weight k of element i where o = i * stride + k - pad."""

    extent: int
    window: int
    stride: int
    pad: int
    result: int

    @property
    def count(self) -> int:
        """Results of each phase: enough for all, and for every element to be read by some."""
        return max(-(-self.result // self.stride), self.extent - self.pad // self.stride)

    def phase(self, place: int) -> _Phase:
        """The phase of result `place`."""
        later, rest = divmod(place + self.pad, self.stride)
        taps = max(-(-(self.window - rest) // self.stride), later + 1)
        return _Phase(first=rest + (taps - 1) * self.stride, taps=taps, before=taps - 1 - later)

    def after(self, phase: _Phase) -> int:
        """Padding behind the image that gives a phase its count."""
        return self.count - 1 + phase.taps - phase.before - self.extent


MOST_PHASES = 64
"""Convolutions that one TRANSPOSE_CONV may become: one for each element of its stride."""


def transpose_conv(site: Site) -> Translated:
    """TRANSPOSE_CONV: weights OHWI. The shape of the result is a constant; where an exporter left it to the
    caller, the one that the file states holds, as in tflite-micro."""
    options = site.fused_options()
    image, weights, bias = site.weighted((2, 1, 3))
    if bias is not None and image.type.dtype is DType.INT16 and bias.type.dtype is not DType.INT64:
        site.unsupported(f"an int16 image with a bias of {bias.type.dtype.value}, supported is int64")
    shape = site.result.shape if site.is_computed(0) else site.numbers(0, "the result's shape")
    if len(shape) != 4 or min(shape) < 1:
        raise Refused("E303", f"the result's shape {list(shape)} needs 4 positive extents")
    rows, columns = _transposed_axes(options, image.type, weights.type, (shape[1], shape[2]))
    if rows.stride * columns.stride > MOST_PHASES:
        stride = f"{rows.stride} by {columns.stride}"
        raise Refused("E301", f"has a stride of {stride}: supported are up to {MOST_PHASES} elements in all")
    batch, channels = image.type.shape[0], weights.type.shape[0]
    if (shape[0], shape[3]) != (batch, channels):
        raise Refused(
            "E303", f"the result's shape {list(shape)} has not {batch} images of {channels} channels"
        )
    convolution = _TransposedConvolution(
        image=image, weights=weights, bias=bias, attrs=site.activated(ConvAttrs()), result=site.result
    )
    phases = [
        convolution.phase(rows, columns, (row, column))
        for row in range(rows.stride)
        for column in range(columns.stride)
    ]
    if len(phases) == 1:
        return _cropped(phases[0], shape)
    parts = (1, batch, rows.count, columns.count, channels)
    whole = (rows.stride, columns.stride, *parts[1:])
    joined = InnerStep(
        op="CONCATENATION",
        args=tuple(reshaped(phase, parts) for phase in phases),
        attrs=ConcatAttrs(axis=0),
        type=replace(site.result, shape=(len(phases), *parts[1:])),
    )
    placed = transposed(reshaped(joined, whole), (2, 3, 0, 4, 1, 5))
    side = (batch, rows.count * rows.stride, columns.count * columns.stride, channels)
    return _cropped(reshaped(placed, side), shape)


def _cropped(value: InnerStep, shape: Sequence[int]) -> InnerStep:
    """The first rows and columns of it."""
    if value.type.shape == tuple(shape):
        return value
    return sliced(value, (0, 0, 0, 0), shape, tuple(shape))


def _transposed_axes(
    options: StoredOptions, image: TensorType, weights: TensorType, result: tuple[int, int]
) -> tuple[_TransposedAxis, _TransposedAxis]:
    """Rows and columns; SAME padding is that of a convolution of the result."""
    extents, window = extents_of(image, "image"), extents_of(weights, "weights")
    stride = positive((options.integer("stride_h"), options.integer("stride_w")), "stride")
    code = options.integer("padding")
    if code not in (Padding.VALID, Padding.SAME):
        raise Refused("E303", f"padding number {code} does not exist")
    pads = [
        same_padding(WindowAxis(extent=result[axis], window=window[axis], stride=stride[axis])).before
        if code == Padding.SAME
        else 0
        for axis in (0, 1)
    ]
    rows, columns = (
        _TransposedAxis(
            extent=extents[axis],
            window=window[axis],
            stride=stride[axis],
            pad=pads[axis],
            result=result[axis],
        )
        for axis in (0, 1)
    )
    if weights.shape[3] != image.shape[3]:
        raise Refused("E303", f"weights {list(weights.shape)} do not fit {image.shape[3]} channels")
    return rows, columns


@dataclass(frozen=True, kw_only=True, slots=True)
class _TransposedConvolution:
    """Operands of a TRANSPOSE_CONV; `result`: its type but the shape."""

    image: Arg
    weights: Arg
    bias: Arg | None
    attrs: ConvAttrs
    result: TensorType

    def phase(self, rows: _TransposedAxis, columns: _TransposedAxis, place: tuple[int, int]) -> InnerStep:
        """The CONV_2D whose results stand at `place` in a block."""
        down, beside = rows.phase(place[0]), columns.phase(place[1])
        padding = Padding2D(
            top=down.before, bottom=rows.after(down), left=beside.before, right=columns.after(beside)
        )
        weights = _turned(self.weights, (rows, columns), (down, beside))
        shape = (self.image.type.shape[0], rows.count, columns.count, weights.type.shape[0])
        return InnerStep(
            op="CONV_2D",
            args=(self.image, weights, self.bias),
            attrs=replace(self.attrs, padding=padding),
            type=replace(self.result, shape=shape),
        )


def _turned(
    weights: Arg, axes: tuple[_TransposedAxis, _TransposedAxis], phases: tuple[_Phase, _Phase]
) -> _Value:
    """The weights of one phase, last to first; zeros in front of those that the window does not have."""
    outputs, *_, inputs = weights.type.shape
    begins, counts, zeros = [0], [outputs], [(0, 0)]
    for axis, phase in zip(axes, phases, strict=True):
        missing = max(-(-(phase.first - axis.window + 1) // axis.stride), 0)
        if missing == phase.taps:  # a place that no weight reaches: any one, times zero
            return _nothing(weights, (phases[0].taps, phases[1].taps))
        begins.append(phase.first - missing * axis.stride)
        counts.append(phase.taps - missing)
        zeros.append((missing, 0))
    attrs = StridedSliceAttrs(
        begins=(*begins, 0),
        strides=(1, -axes[0].stride, -axes[1].stride, 1),
        counts=(*counts, inputs),
        shape=(*counts, inputs),
    )
    kept = InnerStep(
        op="STRIDED_SLICE",
        args=(weights,),
        attrs=attrs,
        type=replace(weights.type, shape=(*counts, inputs)),
    )
    if all(pair == (0, 0) for pair in zeros):
        return kept
    return _padded(kept, (*zeros, (0, 0)))


def _padded(value: InnerStep, paddings: tuple[tuple[int, int], ...]) -> InnerStep:
    shape = tuple(extent + sum(pair) for extent, pair in zip(value.type.shape, paddings, strict=True))
    attrs = PadAttrs(paddings=paddings, value=float(weight_zero_point(value.type)))
    return InnerStep(op="PAD", args=(value,), attrs=attrs, type=replace(value.type, shape=shape))


def _nothing(weights: Arg, taps: tuple[int, int]) -> InnerStep:
    """Zeros of the weights' type: one of them, made so by PADs and a slice of what was padded."""
    outputs, *_, inputs = weights.type.shape
    one = _first(weights, (outputs, 1, 1, inputs))
    wider = _padded(one, ((0, 0), (taps[0], 0), (taps[1], 0), (0, 0)))
    return _first(wider, (outputs, *taps, inputs))


def _first(value: _Value, counts: tuple[int, ...]) -> InnerStep:
    """The first elements of weights along each axis."""
    attrs = StridedSliceAttrs(
        begins=(0,) * len(counts), strides=(1,) * len(counts), counts=counts, shape=counts
    )
    return InnerStep(op="STRIDED_SLICE", args=(value,), attrs=attrs, type=replace(value.type, shape=counts))
