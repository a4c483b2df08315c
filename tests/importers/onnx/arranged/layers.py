"""Layers of random graphs: those that only rearrange a value, and those that compute with it."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from onnx import helper

from tests.importers.onnx.arranged.graph import MOST_ELEMENTS, MOST_RANK, Graph, Shape, Value

Layer = Callable[[Graph, Value], bool]
"""Adds nodes that read the value; False where the value has no axes for it."""


def _permutation(graph: Graph, rank: int) -> list[int]:
    return [int(axis) for axis in graph.rng.permutation(rank)]


def transpose(graph: Graph, value: Value) -> bool:
    """Axes in any order."""
    perm = _permutation(graph, value.rank)
    graph.add("Transpose", [value.name], tuple(value.shape[axis] for axis in perm), perm=perm)
    return True


def turn_twice(graph: Graph, value: Value) -> bool:
    """Two Transposes of one value."""
    return transpose(graph, value) and transpose(graph, value)


def reshape(graph: Graph, value: Value) -> bool:
    """Other extents of as many elements."""
    count, shape = math.prod(value.shape), list[int]()
    for _ in range(graph.below(4)):
        shape.append(graph.one_of([extent for extent in range(1, count + 1) if count % extent == 0]))
        count //= shape[-1]
    shape.insert(graph.below(len(shape) + 1), count)
    said = list(shape)
    if graph.chance(0.3):
        said[graph.below(len(said))] = -1
    graph.add("Reshape", [value.name, graph.integers(*said)], tuple(shape))
    return True


def flatten(graph: Graph, value: Value) -> bool:
    """Two axes of all."""
    axis = graph.below(value.rank + 1)
    shape = math.prod(value.shape[:axis]), math.prod(value.shape[axis:])
    graph.add("Flatten", [value.name], shape, axis=axis)
    return True


def squeeze(graph: Graph, value: Value) -> bool:
    """One axis of one element less."""
    ones = [axis for axis, extent in enumerate(value.shape) if extent == 1]
    if not ones or value.rank == 1:
        return False
    axis = graph.one_of(ones)
    shape = (*value.shape[:axis], *value.shape[axis + 1 :])
    graph.add("Squeeze", [value.name, graph.integers(axis)], shape)
    return True


def unsqueeze(graph: Graph, value: Value) -> bool:
    """One axis of one element more."""
    if value.rank == MOST_RANK:
        return False
    axis = graph.below(value.rank + 1)
    shape = (*value.shape[:axis], 1, *value.shape[axis:])
    graph.add("Unsqueeze", [value.name, graph.integers(axis)], shape)
    return True


def identity(graph: Graph, value: Value) -> bool:
    """A second name."""
    graph.add("Identity", [value.name], value.shape)
    return True


def _with_extent(shape: Shape, axis: int, extent: int) -> Shape:
    return (*shape[:axis], extent, *shape[axis + 1 :])


def concat(graph: Graph, value: Value) -> bool:
    """With a value of one shape, or with itself."""
    if math.prod(value.shape) * 2 > MOST_ELEMENTS:
        return False
    like = [second for second in graph.values if second.shape == value.shape]
    names, axis = [value.name, graph.one_of(like).name], graph.below(value.rank)
    graph.rng.shuffle(names)
    graph.add("Concat", names, _with_extent(value.shape, axis, 2 * value.shape[axis]), axis=axis)
    return True


def split(graph: Graph, value: Value) -> bool:
    """Two parts along an axis."""
    axis = graph.below(value.rank)
    extent = value.shape[axis]
    if extent < 2:
        return False
    head = graph.below(extent, 1)
    shapes = [_with_extent(value.shape, axis, part) for part in (head, extent - head)]
    graph.add("Split", [value.name, graph.integers(head, extent - head)], *shapes, axis=axis)
    return True


def slice_(graph: Graph, value: Value) -> bool:
    """A range along an axis, of each or of every second place."""
    axis = graph.below(value.rank)
    extent = value.shape[axis]
    start, step = graph.below(extent), graph.below(3, 1)
    stop = graph.below(extent + 1, start + 1)
    parts = [graph.integers(number) for number in (start, stop, axis, step)]
    graph.add("Slice", [value.name, *parts], _with_extent(value.shape, axis, -(-(stop - start) // step)))
    return True


def gather(graph: Graph, value: Value) -> bool:
    """Chosen places along an axis."""
    axis = graph.below(value.rank)
    chosen = [graph.below(value.shape[axis]) for _ in range(graph.below(4, 1))]
    shape = _with_extent(value.shape, axis, len(chosen))
    graph.add("Gather", [value.name, graph.integers(*chosen)], shape, axis=axis)
    return True


def pad(graph: Graph, value: Value) -> bool:
    """Zeros, edges or mirrored places around."""
    before, after = ([graph.below(2) for _ in value.shape] for _ in range(2))
    extents = zip(value.shape, before, after, strict=True)
    shape = tuple(extent + low + high for extent, low, high in extents)
    if math.prod(shape) > MOST_ELEMENTS:
        return False
    mode = graph.one_of(("constant", "edge", "reflect") if min(value.shape) > 1 else ("constant", "edge"))
    graph.add("Pad", [value.name, graph.integers(*before, *after)], shape, mode=mode)
    return True


def expand(graph: Graph, value: Value) -> bool:
    """Axes of one element repeated."""
    shape = tuple(graph.below(4, 1) if extent == 1 else extent for extent in value.shape)
    if math.prod(shape) > MOST_ELEMENTS:
        return False
    graph.add("Expand", [value.name, graph.integers(*shape)], shape)
    return True


def depth_to_space(graph: Graph, value: Value) -> bool:
    """Channels to places, or places to channels."""
    if value.rank != 4:
        return False
    n, c, h, w = value.shape
    if c % 4 == 0:
        mode = graph.one_of(("DCR", "CRD"))
        shape = (n, c // 4, 2 * h, 2 * w)
        graph.add("DepthToSpace", [value.name], shape, blocksize=2, mode=mode)
        return True
    if h % 2 or w % 2:
        return False
    graph.add("SpaceToDepth", [value.name], (n, 4 * c, h // 2, w // 2), blocksize=2)
    return True


def _swept(extent: int, window: int, stride: int, padding: int) -> int:
    return (extent + padding - window) // stride + 1


def conv(graph: Graph, value: Value) -> bool:
    """Along one or two axes, of all channels or of each."""
    spatial = value.shape[2:]
    if len(spatial) not in (1, 2):
        return False
    channels, count = value.shape[1], graph.below(7, 1)
    group = channels if graph.chance(0.3) else 1
    count = count if group == 1 else channels * graph.below(3, 1)
    window = [graph.below(min(3, extent) + 1, 1) for extent in spatial]
    strides = [graph.below(3, 1) for _ in spatial]
    pads = [graph.below(window[side % len(spatial)]) for side in range(2 * len(spatial))]
    sizes = tuple(
        _swept(extent, window[axis], strides[axis], pads[axis] + pads[axis + len(spatial)])
        for axis, extent in enumerate(spatial)
    )
    if count * math.prod(sizes) * value.shape[0] > MOST_ELEMENTS:
        return False
    names = [
        value.name,
        graph.weights((count, channels // group, *window), channels // group * math.prod(window)),
    ]
    names += [graph.bias(count)] if graph.chance(0.7) else []
    more: dict[str, Any] = {"kernel_shape": window, "strides": strides, "pads": pads, "group": group}
    graph.add("Conv", names, (value.shape[0], count, *sizes), **more)
    return True


def conv_transpose(graph: Graph, value: Value) -> bool:
    """Of all channels, along rows and columns."""
    if value.rank != 4:
        return False
    channels, count, spatial = value.shape[1], graph.below(5, 1), value.shape[2:]
    window, strides = ([graph.below(3, 1) for _ in spatial] for _ in range(2))
    sizes = ((spatial[axis] - 1) * strides[axis] + window[axis] for axis in range(2))
    shape = (value.shape[0], count, *sizes)
    if math.prod(shape) > MOST_ELEMENTS:
        return False
    names = [
        value.name,
        graph.weights((channels, count, *window), channels * math.prod(window)),
        graph.bias(count),
    ]
    graph.add("ConvTranspose", names, shape, kernel_shape=window, strides=strides)
    return True


def pool(graph: Graph, value: Value) -> bool:
    """Windows along rows and columns, or over all of them."""
    if value.rank != 4:
        return False
    (n, c, *spatial), op = value.shape, graph.one_of(("MaxPool", "AveragePool", "GlobalAveragePool"))
    if op == "GlobalAveragePool":
        graph.add(op, [value.name], (n, c, 1, 1))
        return True
    window, strides = ([graph.below(min(3, extent) + 1, 1) for extent in spatial] for _ in range(2))
    sizes = (_swept(extent, window[axis], strides[axis], 0) for axis, extent in enumerate(spatial))
    graph.add(op, [value.name], (n, c, *sizes), kernel_shape=window, strides=strides)
    return True


def resize(graph: Graph, value: Value) -> bool:
    """Rows, columns or both, to the nearest or between them."""
    if value.rank != 4:
        return False
    sizes = [extent + graph.below(extent + 1) for extent in value.shape[2:]]
    shape = (*value.shape[:2], *sizes)
    if math.prod(shape) > MOST_ELEMENTS:
        return False
    how = {"mode": "linear"}
    if graph.chance(0.5):
        how = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    graph.add("Resize", [value.name, "", "", graph.integers(*shape)], shape, **how)
    return True


def matrix(graph: Graph, value: Value) -> bool:
    """A product by constant weights: MatMul, or Gemm of two axes."""
    if value.rank < 2:
        return False
    rows, count = value.shape[-1], graph.below(7, 1)
    shape = (*value.shape[:-1], count)
    if value.rank == 2 and graph.chance(0.5):
        weights, bias = graph.weights((count, rows), rows), graph.bias(count)
        graph.add("Gemm", [value.name, weights, bias], shape, transB=1)
        return True
    graph.add("MatMul", [value.name, graph.weights((rows, count), rows)], shape)
    return True


def product(graph: Graph, value: Value) -> bool:
    """A value by its Transpose, as attention has it; bounded, so that products of products stay small."""
    if value.rank < 2:
        return False
    kept = list(range(value.rank - 2))
    graph.rng.shuffle(kept)
    last = [value.rank - 1, value.rank - 2]
    sides = [[*kept, *last[::-1]], [*kept, *last]]
    if graph.chance(0.5):
        sides.reverse()
    shapes = [tuple(value.shape[axis] for axis in perm) for perm in sides]
    shape = (*shapes[0][:-1], shapes[1][-1])
    if math.prod(shape) > MOST_ELEMENTS:
        return False
    names = [
        value.name
        if perm == sorted(perm) and graph.chance(0.7)
        else graph.add("Transpose", [value.name], side, perm=perm).name
        for perm, side in zip(sides, shapes, strict=True)
    ]
    graph.add("Tanh", [graph.add("MatMul", names, shape).name], shape)
    return True


def pair(graph: Graph, value: Value) -> bool:
    """With another value of its shape, or with a constant for each channel, row or element."""
    op = graph.one_of(("Add", "Sub", "Mul", "Max", "Min"))
    like = [second for second in graph.values if second.shape == value.shape]
    name = graph.one_of(like).name
    if len(like) == 1 or graph.chance(0.3):
        shape = tuple(1 if graph.chance(0.4) else extent for extent in value.shape)
        name = graph.numbers(shape[graph.below(value.rank) :])
    names = [value.name, name]
    graph.rng.shuffle(names)
    result = graph.add(op, names, value.shape)
    if op == "Mul":
        graph.add("Tanh", [result.name], value.shape)
    return True


def element_function(graph: Graph, value: Value) -> bool:
    """A function of each element."""
    op = graph.one_of(("Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSwish", "Abs", "Neg", "Clip"))
    bounds = [graph.numbers((), 0.1, middle) for middle in (-0.5, 0.9)] if op == "Clip" else []
    graph.add(op, [value.name, *bounds], value.shape)
    return True


def prelu(graph: Graph, value: Value) -> bool:
    """Slopes a channel."""
    if value.rank < 2:
        return False
    slopes = graph.numbers((value.shape[1], *[1] * (value.rank - 2)), 0.1, 0.2)
    graph.add("PRelu", [value.name, slopes], value.shape)
    return True


def softmax(graph: Graph, value: Value) -> bool:
    """Along any axis."""
    axis = graph.below(value.rank, -value.rank)
    graph.add("Softmax", [value.name], value.shape, axis=axis)
    return True


def reduce(graph: Graph, value: Value) -> bool:
    """Over any axes, which stay or go."""
    op = graph.one_of(("ReduceMean", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"))
    axes = [axis for axis in range(value.rank) if graph.chance(0.4)] or [graph.below(value.rank)]
    keep = graph.chance(0.5) or len(axes) == value.rank
    extents = enumerate(value.shape)
    shape = tuple(1 if axis in axes else extent for axis, extent in extents if keep or axis not in axes)
    graph.add(op, [value.name, graph.integers(*axes)], shape, keepdims=int(keep))
    return True


def normalise(graph: Graph, value: Value) -> bool:
    """By constants a channel, or by means along axes."""
    if value.rank < 2:
        return False
    channels, op = value.shape[1], graph.one_of(("BatchNormalization", "LayerNormalization"))
    if op == "BatchNormalization":
        names = [graph.numbers((channels,), 0.1, middle) for middle in (1, 0, 0, 1)]
        graph.add(op, [value.name, *names], value.shape)
        return True
    names = [graph.numbers((value.shape[-1],), 0.1, middle) for middle in (1, 0)]
    graph.add(op, [value.name, *names], value.shape, axis=-1, epsilon=0.1)
    return True


def instances(graph: Graph, value: Value) -> bool:
    """By the mean of each image's channel."""
    if value.rank < 3:
        return False
    names = [graph.numbers((value.shape[1],), 0.1, middle) for middle in (1, 0)]
    graph.add("InstanceNormalization", [value.name, *names], value.shape, epsilon=0.1)
    return True


def running_sum(graph: Graph, value: Value) -> bool:
    """Sums so far along an axis."""
    axis = graph.integers(graph.below(value.rank))
    graph.constants[axis] = graph.constants[axis].reshape(())
    graph.add("CumSum", [value.name, axis], value.shape, exclusive=graph.below(2), reverse=graph.below(2))
    return True


def recurrent(graph: Graph, value: Value) -> bool:
    """A GRU, LSTM or RNN along the leading axis: all states, and the last one."""
    if value.rank != 3:
        return False
    op, units, (steps, batch, width) = graph.one_of(("GRU", "LSTM", "RNN")), graph.below(4, 1), value.shape
    gates = {"GRU": 3, "LSTM": 4, "RNN": 1}[op]
    kernels = [graph.weights((1, gates * units, terms), terms) for terms in (width, units)]
    bias = graph.numbers((1, 2 * gates * units), 0.1)
    shapes = [(steps, 1, batch, units), (1, batch, units)]
    graph.add(op, [value.name, *kernels, bias], *shapes, hidden_size=units)
    return True


def top(graph: Graph, value: Value) -> bool:
    """The largest along an axis."""
    axis = graph.below(value.rank)
    count = graph.below(min(value.shape[axis], 16) + 1, 1)
    shape = _with_extent(value.shape, axis, count)
    largest = Value(name=f"v{len(graph.values)}", shape=shape)
    graph.values.append(largest)
    names, results = [value.name, graph.integers(count)], [largest.name, f"places_{largest.name}"]
    graph.nodes.append(helper.make_node("TopK", names, results, axis=axis))
    return True


MOVING: Sequence[Layer] = (
    *[transpose] * 4,
    *[turn_twice] * 2,
    *[reshape] * 4,
    *[flatten] * 2,
    squeeze,
    unsqueeze,
    identity,
    concat,
    concat,
    split,
    slice_,
    gather,
    pad,
    expand,
    depth_to_space,
)
COMPUTING: Sequence[Layer] = (
    *[conv] * 5,
    *[pool] * 2,
    *[resize] * 2,
    *[matrix] * 2,
    *[product] * 2,
    *[pair] * 4,
    *[element_function] * 2,
    prelu,
    *[softmax] * 2,
    *[reduce] * 3,
    *[normalise] * 2,
    conv_transpose,
    instances,
    running_sum,
    recurrent,
    top,
)
"""Layers as often as they are drawn."""
