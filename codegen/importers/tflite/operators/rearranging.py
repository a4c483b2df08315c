"""Operators that put elements elsewhere, written as a few steps that do.

PACK is a CONCATENATION of RESHAPEs, SPACE_TO_DEPTH a TRANSPOSE between two, and so on: no kernel of their
own, every element type, and where the plan can lay the parts side by side no copy either.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from tflite.MirrorPadMode import MirrorPadMode

from codegen.importers.limits import MAX_RANK
from codegen.importers.reporting import Refused
from codegen.importers.tflite.operators.shaping import axis_of
from codegen.importers.tflite.operators.site import InnerStep, Site, Translated
from codegen.ir import Arg
from codegen.ir.ops import (
    Attrs,
    BroadcastToAttrs,
    ConcatAttrs,
    GatherAttrs,
    PadAttrs,
    ReshapeAttrs,
    StridedSliceAttrs,
    TransposeAttrs,
)

_Value = Arg | InnerStep
Shape = tuple[int, ...]


def _shaped(op: str, value: _Value, attrs: Attrs, shape: Shape) -> InnerStep:
    """A step on one value that keeps its element type."""
    quantization = value.type.quantization
    if quantization is not None and quantization.axis is not None:
        raise Refused("E301", "its operand is quantised per channel, supported is per tensor")
    if min(shape, default=1) < 1:
        raise Refused("E303", f"shape {list(value.type.shape)} cannot become {list(shape)}")
    return InnerStep(op=op, args=(value,), attrs=attrs, type=replace(value.type, shape=shape))


def reshaped(value: _Value, shape: Shape) -> InnerStep:
    """`value` in another shape."""
    return _shaped("RESHAPE", value, ReshapeAttrs(shape=shape), shape)


def transposed(value: _Value, permutation: Sequence[int]) -> InnerStep:
    """`value` with its axes in another order."""
    shape = tuple(value.type.shape[axis] for axis in permutation)
    return _shaped("TRANSPOSE", value, TransposeAttrs(permutation=tuple(permutation)), shape)


def sliced(value: _Value, begins: Sequence[int], counts: Sequence[int], shape: Shape) -> InnerStep:
    """`counts` neighbours of `value` along each axis, in `shape`."""
    strides = (1,) * len(counts)
    attrs = StridedSliceAttrs(begins=tuple(begins), strides=strides, counts=tuple(counts), shape=shape)
    return _shaped("STRIDED_SLICE", value, attrs, shape)


def pack(site: Site) -> Translated:
    """PACK along a new axis: a CONCATENATION of values that have it already."""
    values = site.args(len(site.operator.inputs))
    if not values or len({value.type for value in values}) != 1:
        raise Refused("E303", f"packs {len(values)} tensors, which have to be alike and at least one")
    options = site.options()
    shape = values[0].type.shape
    axis = axis_of(options.integer("axis"), len(shape) + 1)
    wider = (*shape[:axis], 1, *shape[axis:])
    args = tuple(reshaped(value, wider) for value in values)
    return Translated(op="CONCATENATION", args=args, attrs=ConcatAttrs(axis=axis))


def unpack(site: Site) -> tuple[Translated, ...]:
    """UNPACK along an axis: a slice without this axis for each output."""
    site.need_inputs(1, 1)
    value, count = site.arg(0), len(site.operator.outputs)
    options = site.options()
    shape = value.type.shape
    axis = axis_of(options.integer("axis"), len(shape))
    if shape[axis] != count:
        raise Refused("E303", f"axis {axis} has {shape[axis]} elements, not to be unpacked into {count}")
    counts = (*shape[:axis], 1, *shape[axis + 1 :])
    parts = (tuple(part if index == axis else 0 for index in range(len(shape))) for part in range(count))
    return tuple(sliced(value, begins, counts, (*shape[:axis], *shape[axis + 1 :])) for begins in parts)


def slice_(site: Site) -> Translated:
    """SLICE: begins and extents; an extent of -1 goes to the end."""
    site.need_inputs(3, 3)
    value = site.arg(0)
    shape = value.type.shape
    begins, sizes = site.numbers(1, "begin"), site.numbers(2, "the list of sizes")
    if not len(begins) == len(sizes) == len(shape):
        raise Refused("E303", f"{len(begins)} begins and {len(sizes)} sizes do not fit shape {list(shape)}")
    pairs = zip(shape, begins, sizes, strict=True)
    counts = tuple(extent - begin if size == -1 else size for extent, begin, size in pairs)
    return sliced(value, begins, counts, counts)


def reverse(site: Site) -> Translated:
    """REVERSE_V2: the listed axes from their last element to the first."""
    site.need_inputs(2, 2)
    value = site.arg(0)
    shape = value.type.shape
    axes = {axis_of(axis, len(shape)) for axis in site.numbers(1, "the list of axes")}
    return _reversed(value, axes)


def _reversed(value: _Value, axes: set[int]) -> InnerStep:
    shape = value.type.shape
    attrs = StridedSliceAttrs(
        begins=tuple(extent - 1 if axis in axes else 0 for axis, extent in enumerate(shape)),
        strides=tuple(-1 if axis in axes else 1 for axis in range(len(shape))),
        counts=shape,
        shape=shape,
    )
    return _shaped("STRIDED_SLICE", value, attrs, shape)


def _image(site: Site, block: int) -> tuple[Arg, Shape]:
    site.need_inputs(1, 1)
    value = site.arg(0)
    shape = value.type.shape
    if len(shape) != 4 or block < 1:
        raise Refused("E303", f"a block of {block} does not fit shape {list(shape)}")
    return value, shape


def space_to_depth(site: Site) -> Translated:
    """SPACE_TO_DEPTH: the pixels of a block become channels."""
    options = site.options()
    block = options.integer("block_size")
    value, (batch, rows, columns, channels) = _image(site, block)
    if rows % block or columns % block:
        raise Refused("E303", f"blocks of {block} do not fill {rows} x {columns} pixels")
    split = reshaped(value, (batch, rows // block, block, columns // block, block, channels))
    shape = (batch, rows // block, columns // block, block * block * channels)
    return reshaped(transposed(split, (0, 1, 3, 2, 4, 5)), shape)


def depth_to_space(site: Site) -> Translated:
    """DEPTH_TO_SPACE: groups of channels become the pixels of a block."""
    options = site.options()
    block = options.integer("block_size")
    value, (batch, rows, columns, channels) = _image(site, block)
    if channels % (block * block):
        raise Refused("E303", f"{channels} channels do not make blocks of {block} x {block} pixels")
    split = reshaped(value, (batch, rows, columns, block, block, channels // (block * block)))
    shape = (batch, rows * block, columns * block, channels // (block * block))
    return reshaped(transposed(split, (0, 1, 3, 2, 4, 5)), shape)


def _blocks(site: Site, what: str) -> tuple[Arg, Shape, tuple[tuple[int, int], ...]]:
    """(value, extents of a block, what is added to or cut off each of its axes)."""
    site.need_inputs(3, 3)
    value = site.arg(0)
    blocks, amounts = site.numbers(1, "the block's shape"), site.numbers(2, what, 2 * MAX_RANK)
    rank = len(value.type.shape)
    if len(amounts) != 2 * len(blocks) or len(blocks) >= rank or min((*blocks, 1)) < 1 or min(amounts) < 0:
        raise Refused(
            "E303", f"blocks {list(blocks)} and {what} {list(amounts)} do not fit {rank} dimensions"
        )
    return value, blocks, tuple(zip(amounts[::2], amounts[1::2], strict=True))


def space_to_batch(site: Site) -> Translated:
    """SPACE_TO_BATCH_ND: padded, then one batch for each place in a block."""
    value, blocks, paddings = _blocks(site, "paddings")
    batch, *extents = value.type.shape
    rest = extents[len(blocks) :]
    padded = tuple(extent + sum(pair) for extent, pair in zip(extents, paddings, strict=False))
    if any(extent % block for extent, block in zip(padded, blocks, strict=True)):
        raise Refused("E303", f"blocks {list(blocks)} do not fill extents {list(padded)}")
    attrs = PadAttrs(
        paddings=((0, 0), *paddings, *(((0, 0),) * len(rest))), value=float(value.type.zero_point)
    )
    image = _shaped("PAD", value, attrs, (batch, *padded, *rest))
    parts = [part for pair in zip(padded, blocks, strict=True) for part in (pair[0] // pair[1], pair[1])]
    split = reshaped(image, (batch, *parts, *rest))
    count = len(blocks)
    inner, outer = range(2, 2 * count + 1, 2), range(1, 2 * count + 1, 2)
    moved = transposed(split, (*inner, 0, *outer, *range(2 * count + 1, 2 * count + 1 + len(rest))))
    block_counts = tuple(extent // block for extent, block in zip(padded, blocks, strict=True))
    return reshaped(moved, (batch * math.prod(blocks), *block_counts, *rest))


def batch_to_space(site: Site) -> Translated:
    """BATCH_TO_SPACE_ND: batches become places in a block, then the crops are cut off."""
    value, blocks, crops = _blocks(site, "crops")
    batch, *extents = value.type.shape
    rest = extents[len(blocks) :]
    if batch % math.prod(blocks):
        raise Refused("E303", f"{batch} batches do not make blocks {list(blocks)}")
    count, batch = len(blocks), batch // math.prod(blocks)
    split = reshaped(value, (*blocks, batch, *extents))
    order = [axis for block in range(count) for axis in (count + 1 + block, block)]
    moved = transposed(split, (count, *order, *range(2 * count + 1, 2 * count + 1 + len(rest))))
    whole = tuple(extent * block for extent, block in zip(extents, blocks, strict=False))
    image = reshaped(moved, (batch, *whole, *rest))
    begins = (0, *(pair[0] for pair in crops), *(0 for _ in rest))
    kept = tuple(extent - sum(pair) for extent, pair in zip(whole, crops, strict=True))
    counts = (batch, *kept, *rest)
    return sliced(image, begins, counts, counts)


def mirror_pad(site: Site) -> Translated:
    """MIRROR_PAD, axis by axis: what lies in front and behind is a slice from back to front."""
    site.need_inputs(2, 2)
    options = site.options()
    mode = options.integer("mode")
    if mode not in (MirrorPadMode.REFLECT, MirrorPadMode.SYMMETRIC):
        raise Refused("E303", f"mode number {mode} does not exist")
    apart = 0 if mode == MirrorPadMode.SYMMETRIC else 1
    value: _Value = site.arg(0)
    shape = value.type.shape
    amounts = site.numbers(1, "the list of paddings", 2 * MAX_RANK)
    if len(amounts) != 2 * len(shape) or min(amounts, default=0) < 0:
        raise Refused("E303", f"paddings {list(amounts)} do not fit {len(shape)} dimensions")
    for axis, (before, after) in enumerate(zip(amounts[::2], amounts[1::2], strict=True)):
        if max(before, after) > shape[axis] - apart:
            raise Refused(
                "E303", f"axis {axis} has {shape[axis]} elements, too few to mirror {before}, {after}"
            )
        value = _mirrored(value, axis, (before, after), apart)
    return value if isinstance(value, InnerStep) else reshaped(value, shape)


def _mirrored(value: _Value, axis: int, amounts: tuple[int, int], apart: int) -> _Value:
    shape = value.type.shape
    firsts = (apart + amounts[0] - 1, shape[axis] - 1 - apart)
    front, back = (
        _backwards(value, axis, first, count) if count else None
        for first, count in zip(firsts, amounts, strict=True)
    )
    parts = tuple(part for part in (front, value, back) if part is not None)
    if len(parts) == 1:
        return value
    result = replace(value.type, shape=(*shape[:axis], shape[axis] + sum(amounts), *shape[axis + 1 :]))
    return InnerStep(op="CONCATENATION", args=parts, attrs=ConcatAttrs(axis=axis), type=result)


def _backwards(value: _Value, axis: int, first: int, count: int) -> InnerStep:
    shape = value.type.shape
    counts = (*shape[:axis], count, *shape[axis + 1 :])
    attrs = StridedSliceAttrs(
        begins=tuple(first if index == axis else 0 for index in range(len(shape))),
        strides=tuple(-1 if index == axis else 1 for index in range(len(shape))),
        counts=counts,
        shape=counts,
    )
    return _shaped("STRIDED_SLICE", value, attrs, counts)


def broadcast_to(site: Site) -> Translated:
    """BROADCAST_TO a constant shape."""
    site.need_inputs(2, 2)
    shape = site.numbers(1, "the new shape")
    return Translated(op="BROADCAST_TO", args=(site.arg(0),), attrs=BroadcastToAttrs(shape=shape))


def tile(site: Site) -> Translated:
    """TILE, axis by axis: a new axis in front of it, broadcast."""
    site.need_inputs(2, 2)
    value: _Value = site.arg(0)
    shape, counts = value.type.shape, site.numbers(1, "the list of multiples")
    if len(counts) != len(shape) or min(counts, default=1) < 1:
        raise Refused("E303", f"multiples {list(counts)} do not fit shape {list(shape)}")
    for axis, count in enumerate(counts):
        if count > 1:
            rows, block = math.prod(shape[:axis]), math.prod(shape[axis:])
            repeated = BroadcastToAttrs(shape=(rows, count, block))
            value = _shaped("BROADCAST_TO", reshaped(value, (rows, 1, block)), repeated, repeated.shape)
            shape = (*shape[:axis], shape[axis] * count, *shape[axis + 1 :])
    return reshaped(value, shape)


def fill(site: Site) -> Translated:
    """FILL of a constant shape with one value: it is broadcast."""
    site.need_inputs(2, 2)
    value, shape = site.arg(1), site.numbers(0, "the shape")
    if value.type.elements != 1:
        raise Refused("E303", f"fills with {value.type}, needs one value")
    scalar: _Value = value if not value.type.shape else reshaped(value, ())
    return Translated(op="BROADCAST_TO", args=(scalar,), attrs=BroadcastToAttrs(shape=shape))


def gather(site: Site) -> Translated:
    """GATHER along an axis."""
    site.need_inputs(2, 2)
    value, indices = site.args(2)
    options = site.options(required=False)
    axis = axis_of(options.integer("axis"), len(value.type.shape))
    batch_axes = options.integer("batch_dims")
    if batch_axes < 0:
        batch_axes += len(indices.type.shape)
    return Translated(op="GATHER", args=(value, indices), attrs=GatherAttrs(axis=axis, batch_axes=batch_axes))


def gather_nd(site: Site) -> Translated:
    """GATHER_ND: places by all their indices."""
    site.need_inputs(2, 2)
    return Translated(op="GATHER_ND", args=site.args(2), attrs=Attrs())


def embedding_lookup(site: Site) -> Translated:
    """EMBEDDING_LOOKUP: a GATHER of rows, its operands the other way round."""
    site.need_inputs(2, 2)
    indices, table = site.args(2)
    return Translated(op="GATHER", args=(table, indices), attrs=GatherAttrs(axis=0))
