"""STRIDED_SLICE, SPLIT, SPLIT_V: all resolved to first index, step and count per axis."""

from collections.abc import Sequence
from typing import Any

from tflite.StridedSliceOptions import StridedSliceOptions

from codegen.importers.limits import MAX_PARTS
from codegen.importers.tflite.operators.site import Site, Translated
from codegen.importers.tflite.problems import Refused
from codegen.ir import Arg
from codegen.ir.ops import StridedSliceAttrs

_Axis = tuple[int, int, int]
"""First index, step, count."""


def strided_slice(site: Site) -> Translated:
    """Source: StridedSliceStartForAxis, StridedSliceEndForAxis of TFLite's strided_slice_logic.h."""
    site.need_inputs(4, 4)
    options: Any = site.options(StridedSliceOptions)
    for mask, name in ((options.EllipsisMask(), "ellipsis_mask"), (options.NewAxisMask(), "new_axis_mask")):
        if int(mask) != 0:
            site.unsupported(f"option {name} is not supported", "slice every axis by begin, end and stride")
    if bool(options.Offset()):
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
    masks = int(options.BeginMask()), int(options.EndMask()), int(options.ShrinkAxisMask())
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
    found: list[Translated] = []
    begin = 0
    for size in sizes:
        if size == 0:
            raise Refused("E303", f"a part of axis {axis} is empty")
        counts = (*shape[:axis], size, *shape[axis + 1 :])
        begins = (*zeros[:axis], begin, *zeros[axis + 1 :])
        attrs = StridedSliceAttrs(begins=begins, strides=ones, counts=counts, shape=counts)
        found.append(Translated(op="STRIDED_SLICE", args=(value,), attrs=attrs))
        begin += size
    return tuple(found)
