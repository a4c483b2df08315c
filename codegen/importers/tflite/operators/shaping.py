"""Operators that change shape or choose elements; their shape operands become attributes.

STRIDED_SLICE, SPLIT and SPLIT_V are all resolved to first index, step and count per axis.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.importers.limits import MAX_PARTS, MAX_RANK
from codegen.importers.reporting import Refused
from codegen.importers.tflite.operators.site import InnerStep, Site, Translated
from codegen.ir import Arg, ConstRef, DType, TensorType
from codegen.ir.ops import (
    OPS,
    ArgAttrs,
    Attrs,
    BatchMatMulAttrs,
    ConcatAttrs,
    ConvertAttrs,
    CumsumAttrs,
    MeanAttrs,
    PadAttrs,
    ReshapeAttrs,
    StridedSliceAttrs,
    TransposeAttrs,
)
from codegen.ir.ops.base.fixed_point import round_half_away_array


def concatenation(site: Site) -> Translated:
    """CONCATENATION of all inputs."""
    options = site.fused_options()
    site.need_no_activation()
    args = site.args(len(site.operator.inputs))
    if not args:
        raise Refused("E303", "has no inputs")
    axis = axis_of(options.integer("axis"), len(args[0].type.shape))
    parts = tuple(
        _rescaled(site, arg) if site.is_unsigned(position) else arg for position, arg in enumerate(args)
    )
    return Translated(op="CONCATENATION", args=parts, attrs=ConcatAttrs(axis=axis))


def _rescaled(site: Site, value: Arg) -> Arg | InnerStep:
    """Bring an argument of another quantisation to that of a CONCATENATION of uint8: 256 results in float32.

    Source: reference_ops::ConcatenationWithScaling. Zero points are those of the file, 128 more.
    """
    was, becomes = value.type.quantization, site.result.quantization
    if was == becomes or was is None or becomes is None:
        return value
    scale = np.float32(was.scale) * (np.float32(1) / np.float32(becomes.scale))
    bias = np.float32(-(was.zero_point + 128)) * scale
    with np.errstate(all="ignore"):
        reals = np.arange(256).astype(np.float32) * scale + bias
    held = np.clip(round_half_away_array(reals).astype(np.float64) + becomes.zero_point, -128, 127)
    table = held.astype(np.int8)[np.arange(256) ^ 0x80]
    return InnerStep(
        op="LOOKUP",
        args=(value, site.made(table)),
        attrs=Attrs(),
        type=replace(value.type, quantization=becomes),
    )


def mean(site: Site) -> Translated:
    """MEAN and other reductions over constant axes; of bools all is the smallest, any the largest."""
    site.need_inputs(2, 2)
    value = site.arg(0)
    options = site.options(required=False)
    rank = len(value.type.shape)
    axes = tuple(sorted({axis_of(axis, rank) for axis in site.numbers(1, "the list of axes")}))
    keep_dims = options.flag("keep_dims")
    op = {"REDUCE_ALL": "REDUCE_MIN", "REDUCE_ANY": "REDUCE_MAX"}.get(site.operator.name, site.operator.name)
    return Translated(op=op, args=(value,), attrs=MeanAttrs(axes=axes, keep_dims=keep_dims))


def arg(site: Site) -> Translated:
    """ARG_MAX and ARG_MIN along a constant axis; places of 64 bits are those of 32 bits, converted."""
    site.need_inputs(2, 2)
    value, listed = site.arg(0), site.numbers(1, "the axis")
    if len(listed) != 1:
        raise Refused("E303", f"has {len(listed)} axes, needs one")
    axis = axis_of(listed[0], len(value.type.shape))
    index = Translated(op=site.operator.name, args=(value,), attrs=ArgAttrs(axis=axis))
    if site.result.dtype is not DType.INT64:
        return index
    shape = OPS[index.op].result_shape(index.attrs, (value.type,))
    places = index.giving(TensorType(shape=shape, dtype=DType.INT32))
    return Translated(op="PLAIN_CONVERT", args=(places,), attrs=ConvertAttrs())


def cumsum(site: Site) -> Translated:
    """CUMSUM along a constant axis."""
    site.need_inputs(2, 2)
    value, listed = site.arg(0), site.numbers(1, "the axis")
    if len(listed) != 1:
        raise Refused("E303", f"has {len(listed)} axes, needs one")
    axis = axis_of(listed[0], len(value.type.shape))
    return Translated(op="CUMSUM", args=(value,), attrs=site.attributes(CumsumAttrs, axis=axis))


def batch_matmul(site: Site) -> Translated:
    """BATCH_MATMUL, either argument transposed or not."""
    site.need_inputs(2, 2)
    return Translated(op="BATCH_MATMUL", args=site.args(2), attrs=site.attributes(BatchMatMulAttrs))


def pad(site: Site) -> Translated:
    """PAD: zeros, which are the zero point of a quantised tensor."""
    site.need_inputs(2, 2)
    value = site.arg(0)
    paddings = _paddings(site, len(value.type.shape))
    if value.type.quantization != site.result.quantization:
        raise Refused("E303", "argument and result are quantised differently")
    attrs = PadAttrs(paddings=paddings, value=float(_zero_point(site.result)))
    return Translated(op="PAD", args=(value,), attrs=attrs)


def pad_v2(site: Site) -> Translated:
    """PADV2: a constant of the tensor's type, in stored units."""
    site.need_inputs(3, 3)
    value, filler = site.arg(0), site.arg(2)
    if not isinstance(filler, ConstRef):
        raise Refused("E301", "the pad value is computed while the model runs, supported is a constant")
    if filler.type.elements != 1 or filler.type.dtype is not site.result.dtype:
        raise Refused("E303", f"the pad value is {filler.type}, needs one {site.result.dtype.value}")
    if len({value.type.quantization, filler.type.quantization, site.result.quantization}) != 1:
        raise Refused("E303", "argument, pad value and result are quantised differently")
    stored = site.constant_data(2)
    if not bool(np.all(np.isfinite(stored))):
        raise Refused("E301", f"the pad value is {stored.item()}, supported are finite numbers")
    attrs = PadAttrs(paddings=_paddings(site, len(value.type.shape)), value=float(stored.item()))
    return Translated(op="PAD", args=(value,), attrs=attrs)


def _paddings(site: Site, rank: int) -> tuple[tuple[int, int], ...]:
    numbers = site.numbers(1, "the list of paddings", 2 * MAX_RANK)
    if len(numbers) != 2 * rank or any(number < 0 for number in numbers):
        raise Refused("E303", f"paddings {list(numbers)} do not fit {rank} dimensions")
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))


def _zero_point(value: TensorType) -> int:
    if value.quantization is not None and len(value.quantization.scales) != 1:
        raise Refused("E301", "the result is quantised per channel, supported is per tensor")
    return value.zero_point


def reshape(site: Site) -> Translated:
    """RESHAPE: the shape operand decides, the options where it is left out; one extent may be -1.

    Source: GetOutputShape, TFLite kernels/reshape.cc.
    """
    site.need_inputs(1, 2)
    value = site.arg(0)
    if site.has(1):
        extents = site.numbers(1, "the new shape")
    else:
        extents = site.options().integers("new_shape")
        if len(extents) > MAX_RANK:
            raise Refused("E303", f"the new shape has {len(extents)} dimensions")
        extents = () if extents == (0,) else extents  # how old files say scalar
    shape = _resolved(extents, value.type.elements)
    return Translated(op="RESHAPE", args=(value,), attrs=ReshapeAttrs(shape=shape))


def _resolved(extents: tuple[int, ...], elements: int) -> tuple[int, ...]:
    known = math.prod(extent for extent in extents if extent != -1)
    if extents.count(-1) > 1 or any(extent < -1 for extent in extents) or (-1 in extents and known == 0):
        raise Refused("E303", f"{list(extents)} is not a shape")
    if -1 not in extents:
        return extents
    if elements % known:
        raise Refused("E303", f"{elements} elements do not fill shape {list(extents)}")
    return tuple(elements // known if extent == -1 else extent for extent in extents)


def squeeze(site: Site) -> Translated:
    """SQUEEZE as a RESHAPE: drops the listed axes, all axes of extent 1 if none is listed."""
    site.need_inputs(1, 1)
    value = site.arg(0)
    shape = value.type.shape
    listed = {axis_of(axis, len(shape)) for axis in _listed_axes(site, len(shape))}
    dropped = listed or {axis for axis, extent in enumerate(shape) if extent == 1}
    if any(shape[axis] != 1 for axis in dropped):
        raise Refused("E303", f"axes {sorted(dropped)} of shape {list(shape)} are not all of extent 1")
    squeezed = tuple(extent for axis, extent in enumerate(shape) if axis not in dropped)
    return Translated(op="RESHAPE", args=(value,), attrs=ReshapeAttrs(shape=squeezed))


def _listed_axes(site: Site, rank: int) -> tuple[int, ...]:
    axes = site.options(required=False).integers("squeeze_dims")
    if len(axes) > rank:
        raise Refused("E303", f"lists {len(axes)} axes of {rank} dimensions")
    return axes


def expand_dims(site: Site) -> Translated:
    """EXPAND_DIMS as a RESHAPE: a new axis of extent 1."""
    site.need_inputs(2, 2)
    value = site.arg(0)
    shape = value.type.shape
    listed = site.numbers(1, "the axis")
    if len(listed) != 1:
        raise Refused("E303", f"has {len(listed)} axes, needs one")
    axis = axis_of(listed[0], len(shape) + 1)
    expanded = (*shape[:axis], 1, *shape[axis:])
    return Translated(op="RESHAPE", args=(value,), attrs=ReshapeAttrs(shape=expanded))


def transpose(site: Site) -> Translated:
    """TRANSPOSE by a constant permutation; negative axes count from the end."""
    site.need_inputs(2, 2)
    value = site.arg(0)
    rank = len(value.type.shape)
    permutation = tuple(axis_of(axis, rank) for axis in site.numbers(1, "the permutation"))
    return Translated(op="TRANSPOSE", args=(value,), attrs=TransposeAttrs(permutation=permutation))


def axis_of(axis: int, rank: int) -> int:
    """The axis numbered `axis`, which counts from the end if it is negative."""
    if not -rank <= axis < rank:
        raise Refused("E303", f"axis {axis} is outside {rank} dimensions")
    return axis % rank


_Axis = tuple[int, int, int]
"""First index, step, count."""


def strided_slice(site: Site) -> Translated:
    """Source: StridedSliceStartForAxis, StridedSliceEndForAxis of TFLite's strided_slice_logic.h."""
    site.need_inputs(4, 4)
    options = site.options()
    for name in ("ellipsis_mask", "new_axis_mask"):
        if options.integer(name) != 0:
            site.unsupported(f"option {name} is not supported", "slice every axis by begin, end and stride")
    if options.flag("offset"):
        site.unsupported("option offset (ends counted from the begins) is not supported")
    value = site.arg(0)
    shape = value.type.shape
    begins, ends, strides = (
        site.numbers(position, what) for position, what in ((1, "begin"), (2, "end"), (3, "strides"))
    )
    if not len(begins) == len(ends) == len(strides) <= len(shape):
        raise Refused(
            "E303",
            f"begin, end and strides have {len(begins)}, {len(ends)} and {len(strides)} numbers "
            f"for shape {list(shape)}",
        )
    masks = options.integer("begin_mask"), options.integer("end_mask"), options.integer("shrink_axis_mask")
    axes: list[_Axis] = []
    kept: list[int] = []
    for axis, extent in enumerate(shape):
        if axis >= len(begins):
            axes.append((0, 1, extent))
            kept.append(extent)
            continue
        numbers = begins[axis], ends[axis], strides[axis]
        begin_mask, end_mask, shrink = (bool(mask & (1 << axis)) for mask in masks)
        if shrink:
            axes.append(_one(axis, extent, numbers, begin_mask))
        else:
            axes.append(_range(axis, extent, numbers, (begin_mask, end_mask)))
            kept.append(axes[-1][2])
    attrs = StridedSliceAttrs(
        begins=tuple(axis[0] for axis in axes),
        strides=tuple(axis[1] for axis in axes),
        counts=tuple(axis[2] for axis in axes),
        shape=tuple(kept),
    )
    return Translated(op="STRIDED_SLICE", args=(value,), attrs=attrs)


def _one(axis: int, extent: int, numbers: tuple[int, int, int], begin_mask: bool) -> _Axis:
    """An axis that the result does not have: one index of it."""
    begin, _, stride = numbers
    if stride < 1:
        raise Refused("E303", f"axis {axis} is reduced to one index, its stride cannot be {stride}")
    first = 0 if begin_mask else begin + extent if begin < 0 else begin
    if not 0 <= first < extent:
        raise Refused("E303", f"index {begin} is outside axis {axis}, which has {extent} elements")
    return first, 1, 1


def _range(axis: int, extent: int, numbers: tuple[int, int, int], masks: tuple[bool, bool]) -> _Axis:
    begin, end, stride = numbers
    if stride == 0:
        raise Refused("E303", f"the stride of axis {axis} is 0")
    low, high = (0, extent) if stride > 0 else (-1, extent - 1)
    lowest_first = stride > 0
    first = (low if lowest_first else high) if masks[0] else _clamped(begin, extent, low, high)
    stop = (high if lowest_first else low) if masks[1] else _clamped(end, extent, low, high)
    count = max(0, -(-(stop - first) // stride))
    if count == 0:
        raise Refused("E303", f"the slice {begin}:{end}:{stride} of axis {axis} ({extent} elements) is empty")
    return first, stride, count


def _clamped(index: int, extent: int, low: int, high: int) -> int:
    return min(max(index + extent if index < 0 else index, low), high)


def split(site: Site) -> tuple[Translated, ...]:
    """SPLIT into as many equal parts as there are outputs, each a STRIDED_SLICE."""
    site.need_inputs(2, 2)
    value, count = site.arg(1), len(site.operator.outputs)
    axis = _split_axis(site, 0, value)
    extent = value.type.shape[axis]
    if not count or extent % count:
        raise Refused("E303", f"axis {axis} has {extent} elements, not to be split into {count} equal parts")
    return _parts(value, axis, [extent // count] * count)


def split_v(site: Site) -> tuple[Translated, ...]:
    """SPLIT_V into parts of given extents, one of which may be -1: what the others leave."""
    site.need_inputs(3, 3)
    value, count = site.arg(0), len(site.operator.outputs)
    axis = _split_axis(site, 2, value)
    extent = value.type.shape[axis]
    listed = site.numbers(1, "the list of sizes", MAX_PARTS)
    rest = extent - sum(size for size in listed if size != -1)
    sizes = [rest if size == -1 else size for size in listed]
    if len(sizes) != count or listed.count(-1) > 1 or min(sizes, default=0) < 0 or sum(sizes) != extent:
        raise Refused(
            "E303", f"sizes {list(listed)} do not split axis {axis} ({extent} elements) into {count} outputs"
        )
    return _parts(value, axis, sizes)


def _split_axis(site: Site, position: int, value: Arg) -> int:
    rank = len(value.type.shape)
    listed = site.numbers(position, "the axis")
    if len(listed) != 1 or not -rank <= listed[0] < rank:
        raise Refused("E303", f"axis {list(listed)} is not one of {rank} dimensions")
    return listed[0] % rank


def _parts(value: Arg, axis: int, sizes: Sequence[int]) -> tuple[Translated, ...]:
    """One slice a part along `axis`, the other axes whole."""
    shape = value.type.shape
    ones, zeros = (1,) * len(shape), (0,) * len(shape)
    slices: list[Translated] = []
    begin = 0
    for size in sizes:
        if size == 0:
            raise Refused("E303", f"a part of axis {axis} is empty")
        counts = (*shape[:axis], size, *shape[axis + 1 :])
        begins = (*zeros[:axis], begin, *zeros[axis + 1 :])
        attrs = StridedSliceAttrs(begins=begins, strides=ones, counts=counts, shape=counts)
        slices.append(Translated(op="STRIDED_SLICE", args=(value,), attrs=attrs))
        begin += size
    return tuple(slices)
