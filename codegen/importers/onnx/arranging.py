"""Nodes that move elements or say something about shapes; most of them take no step at all."""

import math

import numpy as np

from codegen.importers.onnx.arithmetic import convert
from codegen.importers.onnx.layouts import DOUBLE_ADVICE, Computed, Known, Value, identity
from codegen.importers.onnx.no_elements import without_elements
from codegen.importers.onnx.node_site import Site, value_type
from codegen.importers.reporting import Refused
from codegen.ir.ops import BroadcastToAttrs, ConcatAttrs, GatherAttrs, PadAttrs, StridedSliceAttrs
from codegen.ir.ops.base.operands import broadcast


def same(site: Site) -> Value:
    """Identity."""
    return site.value(0)


def has_element(site: Site) -> Value:
    """OptionalHasElement: whether there is an input; a tensor always is something."""
    if site.has(0):
        site.operand(0)
    return Known(data=np.array(site.has(0)))


def dropout(site: Site) -> Value | tuple[Value, ...]:
    """Dropout at inference, where nothing is dropped: the value, and a mask that is true everywhere."""
    ratio = site.real("ratio", 0.5)
    site.integer("seed", 0)
    if site.has(2) and bool(site.known(2, "training_mode").any()):
        ratio = site.number(1, "the ratio") if site.has(1) else ratio
        if ratio:
            raise Refused("E301", "training is not supported", "export the model for inference (eval())")
    value = site.value(0)
    if not site.is_used(1):
        return value
    site.steps.count_known(value.shape)
    return value, Known(data=np.ones(value.shape, np.bool_))


def range_(site: Site) -> Value:
    """Range of computed numbers: refused, for how many there are is not known."""
    for position, what in enumerate(("the start", "the limit", "the step")):
        site.known(position, what)
    raise Refused("E303", "has to have three inputs")


def eye_like(site: Site) -> Value:
    """EyeLike: ones on a diagonal, of the shape of the input."""
    value = site.value(0)
    if len(value.shape) != 2:
        raise Refused("E303", f"works on {list(value.shape)}, needs a matrix")
    kind = type_of_number(site, "dtype") if site.has_attribute("dtype") else value_type(value)
    site.steps.count_known(value.shape)
    return Known(data=np.eye(*value.shape, k=site.integer("k", 0), dtype=kind))


def constant(site: Site) -> Value:
    """Constant: numbers that the node states."""
    for name in ("value", "value_float", "value_floats", "value_int", "value_ints"):
        if site.has_attribute(name):
            return Known(data=site.array(name))
    raise Refused("E301", "holds a constant of a kind that is not supported")


def constant_of_shape(site: Site) -> Value:
    """ConstantOfShape: one number everywhere."""
    shape = site.numbers(0, "the shape")
    number = site.array("value").reshape(-1) if site.has_attribute("value") else np.zeros(1, np.float32)
    if number.size != 1 or any(extent < 0 for extent in shape):
        raise Refused("E303", f"cannot fill shape {list(shape)} with {number.size} numbers")
    site.steps.count_known(shape)
    return Known(data=np.full(shape, number[0]))


def shape_of(site: Site) -> Value:
    """Shape: the extents, which are known."""
    shape = site.value(0).shape
    start = site.integer("start", 0)
    end = site.integer("end", len(shape))
    return Known(data=np.array(shape[start:end], np.int64))


TYPES = {
    **{1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool"},
    **{10: "float32", 11: "float64", 12: "uint32", 13: "uint64"},
}
"""Element types by ONNX's number; float16 is computed as float32."""
_FLOAT16 = 10


def size_of(site: Site) -> Value:
    """Size: the number of elements."""
    return Known(data=np.array(math.prod(site.value(0).shape), np.int64))


def type_of_number(site: Site, attribute: str) -> str:
    """The element type that an attribute names. Raises Refused for one that no step has."""
    number = site.integer(attribute)
    if number not in TYPES:
        raise Refused("E301", f"type number {number} is not supported")
    return TYPES[number]


def cast(site: Site) -> Value:
    """Cast."""
    site.integer("saturate", 1)
    return convert(site, site.value(0), type_of_number(site, "to"))


def cast_like(site: Site) -> Value:
    """CastLike: to the type of another value."""
    site.integer("saturate", 1)
    return convert(site, site.value(0), value_type(site.value(1)))


def bit_cast(site: Site) -> Value:
    """BitCast: the same bits as another type of their size."""
    value, target = site.value(0), type_of_number(site, "to")
    if site.integer("to") == _FLOAT16 or np.dtype(value_type(value)).itemsize != np.dtype(target).itemsize:
        raise Refused("E301", f"bits of {value_type(value)} as type number {site.integer('to')}")
    return convert(site, value, target, bits=True)


def reshape(site: Site) -> Value:
    """Reshape: 0 keeps an extent, -1 is what is left."""
    value, extents = site.value(0), site.numbers(1, "the shape")
    keeps = not site.integer("allowzero", 0)
    if sum(extent == -1 for extent in extents) > 1 or any(extent < -1 for extent in extents):
        raise Refused("E303", f"shape {list(extents)} has several unknown extents")
    if keeps and any(extent == 0 and axis >= len(value.shape) for axis, extent in enumerate(extents)):
        raise Refused("E303", f"shape {list(extents)} keeps an axis that {list(value.shape)} has not")
    shape = [value.shape[axis] if not extent and keeps else extent for axis, extent in enumerate(extents)]
    if -1 in shape:
        rest = math.prod(extent for extent in shape if extent != -1)
        shape[shape.index(-1)] = math.prod(value.shape) // rest if rest else 0
    return reshaped(site, value, tuple(shape))


def reshaped(site: Site, value: Value, shape: tuple[int, ...]) -> Value:
    """The value with other extents; raises Refused where the elements do not fit."""
    if math.prod(shape) != math.prod(value.shape):
        raise Refused("E303", f"shape {list(value.shape)} cannot become {list(shape)}")
    return site.steps.reshape(value, shape)


def flatten(site: Site) -> Value:
    """Flatten to a matrix."""
    value, rank = site.value(0), len(site.value(0).shape)
    axis = site.integer("axis", 1)
    if not -rank <= axis <= rank:
        raise Refused("E303", f"axis {axis} is outside {rank} dimensions")
    axis += rank if axis < 0 else 0
    return reshaped(site, value, (math.prod(value.shape[:axis]), math.prod(value.shape[axis:])))


def _axes_of(site: Site, since: int, default: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """Axes: an attribute, from opset `since` on input 1."""
    if site.opset < since:
        return site.integers("axes", default)
    return site.numbers(1, "the list of axes") if site.has(1) or default is None else default


def squeeze(site: Site) -> Value:
    """Squeeze: without axes of extent 1."""
    value = site.value(0)
    ones = tuple(axis for axis, extent in enumerate(value.shape) if extent == 1)
    axes = site.axes(_axes_of(site, 13, ones), len(value.shape))
    return reshaped(site, value, tuple(extent for axis, extent in enumerate(value.shape) if axis not in axes))


def unsqueeze(site: Site) -> Value:
    """Unsqueeze: with more axes of extent 1."""
    value, listed = site.value(0), _axes_of(site, 13)
    rank = len(value.shape) + len(listed)
    axes = site.axes(listed, rank)
    if len(axes) < len(listed):
        raise Refused("E303", f"the list of axes {list(listed)} names one twice")
    rest = iter(value.shape)
    return reshaped(site, value, tuple(1 if axis in axes else next(rest) for axis in range(rank)))


def transpose(site: Site) -> Value:
    """Transpose: nothing moves, the value is read in another order."""
    value = site.value(0)
    rank = len(value.shape)
    order = site.integers("perm", tuple(reversed(range(rank))))
    if sorted(order) != list(range(rank)):
        raise Refused("E303", f"{list(order)} is no permutation of {rank} axes")
    if isinstance(value, Known):
        return Known(data=np.transpose(value.data, order))
    return Computed(var=value.var, axes=tuple(value.axes[axis] for axis in order))


def concat(site: Site) -> Value:
    """Concat along an axis; all parts are stored as the first computed one is."""
    return joined(site, site.all_values())


def joined(site: Site, values: list[Value]) -> Value:
    """Values, one behind the other along the node's axis; those without elements add nothing, also where
    their shape is [0]."""
    values = [value for value in values if value.shape != (0,)] or values[:1]
    rank = len(values[0].shape)
    if any(len(value.shape) != rank for value in values):
        raise Refused("E303", "joins values of several ranks")
    axis = site.axis(site.integer("axis"), rank)
    shapes = [value.shape for value in values]
    if len({(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}) > 1:
        text = f"joins {' and '.join(str(list(shape)) for shape in dict.fromkeys(shapes))} along axis {axis}"
        raise Refused("E303", text)
    full = [value for value in values if 0 not in value.shape]
    if not full:
        extent = sum(shape[axis] for shape in shapes)
        shape = (*shapes[0][:axis], extent, *shapes[0][axis + 1 :])
        return Known(data=without_elements(shape, value_type(values[0])))
    values = full
    whole = next((value for value in values if isinstance(value, Computed)), None)
    axes = identity(rank) if whole is None else whole.axes
    if len(values) == 1:
        return values[0]
    args = [site.steps.stored(value, axes) for value in values]
    meaning = None if whole is None else whole.var.type.quantization
    if meaning is not None:
        args = [site.steps.meaning(arg, meaning) for arg in args]
    return site.steps.step("CONCATENATION", args, ConcatAttrs(axis=axes[axis]), axes=axes)


def pad(site: Site) -> Value:
    """Pad with one number."""
    value, rank = site.value(0), len(site.value(0).shape)
    if site.word("mode", "constant") != "constant":
        raise Refused("E301", f"mode {site.word('mode', 'constant')} is not supported, only constant is")
    if site.opset < 11:
        pads, number = site.integers("pads"), site.real("value", 0.0)
    else:
        pads = site.numbers(1, "the padding")
        number = site.number(2, "the value") if site.has(2) else 0.0
    if value_type(value) == "float64" and number:
        raise Refused("E301", f"pads float64 with {number:g}, supported is 0", DOUBLE_ADVICE)
    axes = tuple(range(rank))
    if site.has(3):
        axes = tuple(site.axis(axis, rank) for axis in site.numbers(3, "the list of axes"))
    if len(pads) != 2 * len(axes) or any(count < 0 for count in pads):
        raise Refused("E301", f"padding {list(pads)} of {len(axes)} axes: supported is none that cuts")
    places = value.axes if isinstance(value, Computed) else identity(rank)
    around = [(0, 0)] * rank
    for index, axis in enumerate(axes):
        around[places[axis]] = (pads[index], pads[index + len(axes)])
    attrs = PadAttrs(paddings=tuple(around), value=site.as_held(number))
    return site.steps.step("PAD", [site.steps.stored(value, places)], attrs, axes=places)


def slice_(site: Site) -> Value:
    """Slice: from, to and step of some axes, beyond the ends where they say so."""
    value, rank = site.value(0), len(site.value(0).shape)
    if site.opset < 10:
        starts, ends = site.integers("starts"), site.integers("ends")
        axes, strides = site.integers("axes", tuple(range(len(starts)))), (1,) * len(starts)
    else:
        starts, ends = site.numbers(1, "the starts"), site.numbers(2, "the ends")
        axes = site.numbers(3, "the list of axes") if site.has(3) else tuple(range(len(starts)))
        strides = site.numbers(4, "the steps") if site.has(4) else (1,) * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(strides) or 0 in strides:
        raise Refused("E303", "starts, ends, axes and steps do not fit each other")
    parts = [slice(0, extent, 1) for extent in value.shape]
    for start, end, axis, stride in zip(starts, ends, axes, strides, strict=True):
        parts[site.axis(axis, rank)] = slice(start, end, stride)
    return part(site, value, parts)


def part(site: Site, value: Value, parts: list[slice]) -> Value:
    """The elements that one slice an axis of the model chooses."""
    resolved = [bounds.indices(extent) for bounds, extent in zip(parts, value.shape, strict=True)]
    counts = [len(range(*bounds)) for bounds in resolved]
    if 0 in counts:
        return Known(data=without_elements(counts, value_type(value)))
    places = value.axes if isinstance(value, Computed) else identity(len(value.shape))
    order = sorted(range(len(places)), key=lambda axis: places[axis])
    attrs = StridedSliceAttrs(
        begins=tuple(resolved[axis][0] for axis in order),
        strides=tuple(resolved[axis][2] for axis in order),
        counts=tuple(counts[axis] for axis in order),
        shape=tuple(counts[axis] for axis in order),
    )
    return site.steps.step("STRIDED_SLICE", [site.steps.stored(value, places)], attrs, axes=places)


def split(site: Site) -> tuple[Value, ...]:
    """Split along an axis: a step for each part."""
    value, rank = site.value(0), len(site.value(0).shape)
    axis, count = site.axis(site.integer("axis", 0), rank), site.integer("num_outputs", site.outputs)
    extent = value.shape[axis]
    if count != site.outputs:
        raise Refused("E303", f"attribute num_outputs is {count}, the node has {site.outputs}")
    if site.opset < 13:
        sizes = site.integers("split", ())
    else:
        sizes = site.numbers(1, "the sizes") if site.has(1) else ()
    size_of_each = -(-extent // count)
    sizes = sizes or (*((size_of_each,) * (count - 1)), extent - size_of_each * (count - 1))
    if len(sizes) != count or sum(sizes) != extent or min(sizes) < 0:
        raise Refused("E303", f"sizes {list(sizes)} do not divide {extent} among {count} outputs")
    pieces: list[Value] = []
    start = 0
    for size in sizes:
        parts = [slice(0, whole, 1) for whole in value.shape]
        parts[axis] = slice(start, start + size, 1)
        pieces.append(part(site, value, parts))
        start += size
    return tuple(pieces)


def gather(site: Site) -> Value:
    """Gather by constant indices; computed ones may be negative, which the kernel does not take."""
    value, indices = site.value(0), site.known(1, "the list of indices")
    axis = site.axis(site.integer("axis", 0), len(value.shape))
    extent = value.shape[axis]
    if not np.issubdtype(indices.dtype, np.integer) or np.any((indices < -extent) | (indices >= extent)):
        raise Refused("E303", f"an index is outside an axis of {extent}")
    if isinstance(value, Known):
        site.steps.count_known((*value.shape[:axis], *indices.shape, *value.shape[axis + 1 :]))
        return Known(data=np.take(value.data, indices, axis))
    steps = site.steps
    places = steps.constant(np.where(indices < 0, indices + extent, indices).astype(np.int32))
    return steps.step("GATHER", [steps.dense(value), places], GatherAttrs(axis=axis))


def expand(site: Site) -> Value:
    """Expand: repeated along axes of extent 1."""
    value, shape_asked = site.value(0), site.numbers(1, "the shape")
    try:
        shape = broadcast(value.shape, shape_asked)
    except ValueError as error:
        raise Refused("E303", str(error)) from error
    if shape == value.shape:
        return value
    return site.steps.step("BROADCAST_TO", [site.steps.dense(value)], BroadcastToAttrs(shape=shape))


def depth_to_space(site: Site) -> Value:
    """DepthToSpace: blocks of channels become pixels."""
    value, block = site.value(0), site.integer("blocksize")
    mode = site.word("mode", "DCR")
    if len(value.shape) != 4 or block < 1 or value.shape[1] % (block * block) or mode not in ("DCR", "CRD"):
        raise Refused("E303", f"blocks of {block} do not fit {list(value.shape)}")
    batch, channels, rows, columns = value.shape
    rest = channels // (block * block)
    middle = (block, block, rest) if mode == "DCR" else (rest, block, block)
    order = (0, 3, 4, 1, 5, 2) if mode == "DCR" else (0, 1, 4, 2, 5, 3)
    shape = (batch, rest, rows * block, columns * block)
    return _rearranged(site, value, (batch, *middle, rows, columns), order, shape)


def space_to_depth(site: Site) -> Value:
    """SpaceToDepth: blocks of pixels become channels."""
    value, block = site.value(0), site.integer("blocksize")
    mode = site.word("mode", "DCR")
    if (
        len(value.shape) != 4
        or block < 1
        or value.shape[2] % block
        or value.shape[3] % block
        or mode not in ("DCR", "CRD")
    ):
        raise Refused("E303", f"blocks of {block} do not fit {list(value.shape)}")
    batch, channels, rows, columns = value.shape
    apart = (batch, channels, rows // block, block, columns // block, block)
    shape = (batch, channels * block * block, rows // block, columns // block)
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    return _rearranged(site, value, apart, order, shape)


def _rearranged(
    site: Site, value: Value, apart: tuple[int, ...], order: tuple[int, ...], shape: tuple[int, ...]
) -> Value:
    """The value taken apart, its axes in another order, put together again."""
    divided = site.steps.reshape(value, apart)
    if isinstance(divided, Known):
        return Known(data=np.transpose(divided.data, order).reshape(shape))
    turned = Computed(var=divided.var, axes=tuple(divided.axes[axis] for axis in order))
    return site.steps.reshape(turned, shape)
