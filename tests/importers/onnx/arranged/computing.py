"""Layers of random graphs that compute with a value."""

import math
from collections.abc import Sequence
from typing import Any

from onnx import helper

from tests.importers.onnx.arranged.graph import MOST_ELEMENTS, Graph, Layer, Value, with_extent


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
    shape = with_extent(value.shape, axis, count)
    largest = Value(name=f"v{len(graph.values)}", shape=shape)
    graph.values.append(largest)
    names, results = [value.name, graph.integers(count)], [largest.name, f"places_{largest.name}"]
    graph.nodes.append(helper.make_node("TopK", names, results, axis=axis))
    return True


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
"""As often as they are drawn."""
