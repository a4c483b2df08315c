"""Images of one or three axes, transposed convolutions, other sizes: as layers of two axes and matrices."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx import spatial
from codegen.importers.onnx.arithmetic import convert, pair
from codegen.importers.onnx.composed.choosing import taken
from codegen.importers.onnx.composed.element_functions import MAX_POWER, Real, products
from codegen.importers.onnx.composed.integers import centred, need_exact
from codegen.importers.onnx.file.records import Attribute
from codegen.importers.onnx.layouts import Known, Value, identity
from codegen.importers.onnx.matrices import multiplied
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused
from codegen.ir.ops import PadAttrs

MAX_TAPS = 1024
"""Elements of a pool's window along one axis; each is a step, where the kernels have no such pool."""


def part(site: Site, values: Sequence[Value], attributes: Mapping[str, Attribute]) -> Site:
    """A site like this one, of other inputs and attributes."""
    names = tuple(f"{number}" for number in range(len(values)))
    node = replace(site.node, inputs=names, attributes=attributes)
    return Site(node, site.opset, dict(zip(names, values, strict=True)), {}, site.steps)


@dataclass(frozen=True, kw_only=True, slots=True)
class Geometry:
    """A window in any number of axes; padding is resolved."""

    window: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]

    def attributes(self, axes: Sequence[int]) -> dict[str, Attribute]:
        """Attributes for two of the axes; an axis -1 stands for one of extent 1 that is not there."""

        def of(numbers: tuple[int, ...], other: int) -> tuple[int, ...]:
            return tuple(other if axis < 0 else numbers[axis] for axis in axes)

        return {
            "kernel_shape": of(self.window, 1),
            "strides": of(self.strides, 1),
            "dilations": of(self.dilations, 1),
            "pads": (*of(self.before, 0), *of(self.after, 0)),
        }


def geometry(site: Site, image: tuple[int, ...], window: tuple[int, ...]) -> Geometry:
    """Read and check a node's window, strides, dilations and padding."""
    rank = len(image)
    strides, dilations = (site.integers(name, (1,) * rank) for name in ("strides", "dilations"))
    pads, auto = site.integers("pads", (0,) * (2 * rank)), site.word("auto_pad", "NOTSET")
    if not len(window) == len(strides) == len(dilations) == rank or len(pads) != 2 * rank:
        raise Refused("E303", f"attributes do not fit an image of {rank} axes")
    if min((*window, *strides, *dilations)) < 1 or min(pads) < 0:
        raise Refused("E303", "windows, strides and dilations have to be positive, padding not negative")
    before, after = pads[:rank], pads[rank:]
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        totals = [
            max((-(-extent // step) - 1) * step + (size - 1) * dilation + 1 - extent, 0)
            for extent, step, size, dilation in zip(image, strides, window, dilations, strict=True)
        ]
        small, large = tuple(n // 2 for n in totals), tuple(n - n // 2 for n in totals)
        before, after = (small, large) if auto == "SAME_UPPER" else (large, small)
    elif auto == "VALID":
        before = after = (0,) * rank
    elif auto != "NOTSET":
        raise Refused("E303", f"attribute auto_pad is {auto}")
    return Geometry(window=window, strides=strides, dilations=dilations, before=before, after=after)


def counted(shape: Geometry, image: tuple[int, int]) -> tuple[int, int]:
    """Rows and columns of what a window of two axes gives."""
    counts = [
        (image[axis] + shape.before[axis] + shape.after[axis] - (size - 1) * shape.dilations[axis] - 1)
        // shape.strides[axis]
        + 1
        for axis, size in enumerate(shape.window)
    ]
    if min(counts) < 1:
        raise Refused("E303", f"a window {list(shape.window)} does not fit {list(image)}")
    return counts[0], counts[1]


def conv(site: Site) -> Value:
    """Conv of one, two or three axes."""
    value = site.value(0)
    if len(value.shape) == 4:
        return spatial.conv(site)
    site.need_float(value)
    weights = site.known(1, "the weights")
    bias = [Known(data=site.known(2, "the bias"))] if site.has(2) else []
    if weights.ndim != len(value.shape) or weights.ndim not in (3, 5):
        raise Refused("E301", f"works on {list(value.shape)}, supported are images of 1 to 3 axes")
    if site.integers("kernel_shape", weights.shape[2:]) != weights.shape[2:]:
        raise Refused("E303", f"attribute kernel_shape is not that of the weights {list(weights.shape)}")
    shape = geometry(site, value.shape[2:], weights.shape[2:])
    return _conv(site, value, weights, bias, shape, site.integer("group", 1))


def _conv(
    site: Site, value: Value, weights: np.ndarray, bias: list[Known], shape: Geometry, group: int
) -> Value:
    steps = site.steps
    if len(shape.window) == 1:
        rows = steps.reshape(value, (*value.shape[:2], 1, value.shape[2]))
        attributes = {**shape.attributes((-1, 0)), "group": group}
        convolved = spatial.conv(part(site, [rows, Known(data=weights[:, :, None]), *bias], attributes))
        return steps.reshape(convolved, (*convolved.shape[:2], convolved.shape[3]))
    return _conv_of_three(site, value, weights, bias, shape, group)


def _conv_of_three(
    site: Site, value: Value, weights: np.ndarray, bias: list[Known], shape: Geometry, group: int
) -> Value:
    """The sum over the window's first axis of convolutions in the other two."""
    steps = site.steps
    frames = padded(site, value, 2, shape.before[0], shape.after[0])
    reach = (shape.window[0] - 1) * shape.dilations[0]
    count = (frames.shape[2] - 1 - reach) // shape.strides[0] + 1
    attributes = {**shape.attributes((1, 2)), "group": group}
    total: Value | None = None
    for tap in range(shape.window[0]):
        slices = taken(site, frames, tap * shape.dilations[0] + shape.strides[0] * np.arange(count), 2)
        slices = turned(slices, (0, 2, 1, 3, 4))
        images = steps.reshape(slices, (value.shape[0] * count, value.shape[1], *value.shape[3:]))
        operands = [images, Known(data=weights[:, :, tap]), *(bias if tap == 0 else [])]
        term = spatial.conv(part(site, operands, attributes))
        total = term if total is None else pair(site, "ADD", [total, term])
    assert total is not None, "a window has a tap"
    apart = steps.reshape(total, (value.shape[0], count, *total.shape[1:]))
    return turned(apart, (0, 2, 1, 3, 4))


def turned(value: Value, order: tuple[int, ...]) -> Value:
    """The value with its axes in another order."""
    if isinstance(value, Known):
        return Known(data=np.transpose(value.data, order))
    return replace(value, axes=tuple(value.axes[axis] for axis in order))


def padded(site: Site, value: Value, axis: int, before: int, after: int, number: float = 0.0) -> Value:
    """The value with more elements before and after an axis."""
    if not before and not after:
        return value
    around = [(0, 0)] * len(value.shape)
    around[axis] = (before, after)
    attrs = PadAttrs(paddings=tuple(around), value=number)
    return site.steps.step("PAD", [site.steps.stored(value, identity(len(value.shape)))], attrs)


@dataclass(frozen=True, kw_only=True, slots=True)
class _PoolRule:
    """Arithmetic of a pool."""

    name: str
    """ONNX's operator."""
    counted: bool
    """True if an average counts padding too, not only the elements inside."""
    ceil: bool
    """True if the last window may end outside."""


def pool(two: Callable[[Site], Value], name: str) -> Callable[[Site], Value]:
    """A pool of one or three axes, one axis after the other; `two`: that of two axes, without dilations."""

    def translate(site: Site) -> Value:
        value = site.value(0)
        dilated = max(site.integers("dilations", (1,)), default=1) > 1
        if len(value.shape) == 4 and not dilated:
            return two(site)
        site.need_float(value)
        window = site.integers("kernel_shape")
        shape = geometry(site, value.shape[2:], window)
        counted = bool(site.integer("count_include_pad", 0)) if name == "AveragePool" else True
        if not 3 <= len(value.shape) <= 5:
            raise Refused("E301", f"works on {list(value.shape)}, supported are images of 1 to 3 axes")
        rule = _PoolRule(name=name, counted=counted, ceil=bool(site.integer("ceil_mode", 0)))
        for axis in range(len(window)):
            value = _pool_axis(site, value, axis, shape, rule)
        return value

    return translate


def count_of(shape: Geometry, axis: int, extent: int, *, ceil: bool) -> int:
    """How many windows there are along an axis."""
    size, step, before = shape.window[axis], shape.strides[axis], shape.before[axis]
    room = extent + before + shape.after[axis] - (size - 1) * shape.dilations[axis] - 1
    count = (-(-room // step) if ceil else room // step) + 1
    if ceil and (count - 1) * step >= extent + before:
        count -= 1
    if count < 1:
        raise Refused("E303", f"a window of {size} does not fit {extent}")
    return count


def _pool_axis(site: Site, value: Value, axis: int, shape: Geometry, rule: _PoolRule) -> Value:
    """Elements of each tap along one axis, reduced."""
    extent, size, step = value.shape[2 + axis], shape.window[axis], shape.strides[axis]
    dilation, before, after = shape.dilations[axis], shape.before[axis], shape.after[axis]
    count = count_of(shape, axis, extent, ceil=rule.ceil)
    if size > MAX_TAPS:
        raise Refused("E305", f"a window of {size} elements along an axis, up to {MAX_TAPS} are supported")
    site.steps.count_known((count, size))
    starts = np.arange(count) * step - before
    places = starts + dilation * np.arange(size)[:, None]
    inside = (places >= 0) & (places < extent)
    lowest = -float(np.finfo(np.float32).max) if rule.name == "MaxPool" else 0.0
    beyond = max(0, int(places.max()) - extent + 1)
    wide = padded(site, value, 2 + axis, before, beyond, lowest)
    total: Value | None = None
    for row in places + before:
        tap = taken(site, wide, row, 2 + axis)
        op = "MAXIMUM" if rule.name == "MaxPool" else "ADD"
        total = tap if total is None else pair(site, op, [total, tap])
    assert total is not None, "a window has a tap"
    if rule.name != "AveragePool":
        return total
    within = (places >= -before) & (places < extent + after) if rule.counted else inside
    divisors = within.sum(axis=0).astype(np.float32)
    line = [1] * len(value.shape)
    line[2 + axis] = count
    return pair(site, "DIV", [total, Known(data=divisors.reshape(line))])


def _lp_pool(site: Site) -> Value:
    """LpPool: a root of a sum of powers."""
    power = site.integer("p", 2)
    if not 0 < power <= MAX_POWER:
        raise Refused("E301", f"p = {power} is not supported, 1 to {MAX_POWER} are")
    value = site.value(0)
    site.need_float(value)
    x = Real(site, value).of("ABS")
    shape = geometry(site, value.shape[2:], site.integers("kernel_shape"))
    rule = _PoolRule(name="LpPool", counted=True, ceil=bool(site.integer("ceil_mode", 0)))
    total = products(site, x.value, np.array(power))
    for axis in range(len(shape.window)):
        total = _pool_axis(site, total, axis, shape, rule)
    if power in (1, 2):
        return total if power == 1 else Real(site, total).of("SQRT").value
    return (Real(site, total).of("LOG") * (1 / power)).of("EXP").value


def _conv_integer(site: Site) -> Value:
    """ConvInteger: exact in float32, or refused."""
    weights = site.known(1, "the weights").astype(np.float32)
    need_exact(math.prod(weights.shape[1:]))
    if site.has(3):
        zeros = site.known(3, "the zero points of weights").astype(np.float32)
        if zeros.size not in (1, len(weights)):
            raise Refused("E303", f"zero points {list(zeros.shape)} of {len(weights)} output channels")
        weights = weights - zeros.reshape(-1, *[1] * (weights.ndim - 1))
    convolved = conv(part(site, [centred(site, 0, 2), Known(data=weights)], site.node.attributes))
    for name in site.node.attributes:
        site.has_attribute(name)
    return convert(site, convolved, "int32")


def _conv_transpose(site: Site) -> Value:
    """ConvTranspose: a convolution of the image with zeros between its elements, by turned weights."""
    value, weights = site.value(0), site.known(1, "the weights")
    site.need_float(value)
    rank, group = len(value.shape) - 2, site.integer("group", 1)
    window = weights.shape[2:]
    if weights.ndim != len(value.shape) or rank not in (1, 2, 3) or value.shape[1] % max(group, 1):
        raise Refused("E303", f"weights {list(weights.shape)} do not fit {list(value.shape)}")
    if site.integers("kernel_shape", window) != window:
        raise Refused("E303", f"attribute kernel_shape is not that of the weights {list(weights.shape)}")
    strides, dilations = (site.integers(name, (1,) * rank) for name in ("strides", "dilations"))
    more = site.integers("output_padding", (0,) * rank)
    reach = [(size - 1) * step for size, step in zip(window, dilations, strict=True)]
    before, after = _cut_ends(site, value.shape[2:], strides, reach, more)
    for axis in range(rank):
        value = _stretched(site, value, 2 + axis, strides[axis])
        edges = reach[axis] - before[axis], reach[axis] - after[axis] + more[axis]
        value = padded(site, value, 2 + axis, max(edges[0], 0), max(edges[1], 0))
        if min(edges) < 0:
            low, high = max(-edges[0], 0), value.shape[2 + axis] - max(-edges[1], 0)
            value = taken(site, value, np.array(range(low, high)), 2 + axis)
    shape = Geometry(
        window=window, strides=(1,) * rank, dilations=dilations, before=(0,) * rank, after=(0,) * rank
    )
    inputs, outputs = weights.shape[0] // group, weights.shape[1]
    grouped = weights.reshape(group, inputs, outputs, *window)
    turned: np.ndarray = np.flip(np.swapaxes(grouped, 1, 2), tuple(range(3, 3 + rank)))
    bias = [Known(data=site.known(2, "the bias"))] if site.has(2) else []
    flat = np.ascontiguousarray(turned.reshape(group * outputs, inputs, *window))
    if rank == 2:
        attributes = {**shape.attributes((0, 1)), "group": group}
        return spatial.conv(part(site, [value, Known(data=flat), *bias], attributes))
    return _conv(site, value, flat, bias, shape, group)


def _cut_ends(
    site: Site, image: tuple[int, ...], strides: Sequence[int], reach: Sequence[int], more: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Elements that are cut from the ends of a ConvTranspose's whole result."""
    rank = len(image)
    pads, auto = site.integers("pads", (0,) * (2 * rank)), site.word("auto_pad", "NOTSET")
    whole = [(n - 1) * step + far + 1 for n, step, far in zip(image, strides, reach, strict=True)]
    extents: Sequence[int] | None = None
    if site.has_attribute("output_shape"):
        extents = site.integers("output_shape")[-rank:]
    elif auto in ("SAME_UPPER", "SAME_LOWER"):
        extents = [n * step for n, step in zip(image, strides, strict=True)]
    if extents is None:
        return pads[:rank], pads[rank:]
    totals = [full + extra - out for full, extra, out in zip(whole, more, extents, strict=True)]
    small, large = tuple(n // 2 for n in totals), tuple(n - n // 2 for n in totals)
    return (small, large) if auto == "SAME_UPPER" else (large, small)


def _stretched(site: Site, value: Value, axis: int, stride: int) -> Value:
    """Zeros between the elements of an axis."""
    if stride == 1 or value.shape[axis] == 1:
        return value
    steps, shape = site.steps, value.shape
    apart = steps.reshape(value, (*shape[: axis + 1], 1, *shape[axis + 1 :]))
    wide = padded(site, apart, axis + 1, 0, stride - 1)
    joined = steps.reshape(wide, (*shape[:axis], shape[axis] * stride, *shape[axis + 1 :]))
    return taken(site, joined, np.arange((shape[axis] - 1) * stride + 1), axis)


def along(site: Site, value: Value, matrix: np.ndarray, axis: int) -> Value:
    """Each line along an axis times a constant matrix [result, line]."""
    order = (*(index for index in range(len(value.shape)) if index != axis), axis)
    lines = turned(value, order)
    mapped = multiplied(site, lines, Known(data=np.ascontiguousarray(matrix.T.astype(np.float32))))
    back = tuple(order.index(index) for index in range(len(order)))
    return turned(mapped, back)


NODES: Mapping[str, Callable[[Site], Value]] = MappingProxyType(
    {
        "AveragePool": pool(spatial.average_pool, "AveragePool"),
        "ConvInteger": _conv_integer,
        "ConvTranspose": _conv_transpose,
        "LpPool": _lp_pool,
    }
)
