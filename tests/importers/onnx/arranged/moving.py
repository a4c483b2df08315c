"""Layers of random graphs that only rearrange a value."""

import math
from collections.abc import Sequence

from tests.importers.onnx.arranged.graph import MOST_ELEMENTS, MOST_RANK, Graph, Layer, Value, with_extent


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


def concat(graph: Graph, value: Value) -> bool:
    """With a value of one shape, or with itself."""
    if math.prod(value.shape) * 2 > MOST_ELEMENTS:
        return False
    like = [second for second in graph.values if second.shape == value.shape]
    names, axis = [value.name, graph.one_of(like).name], graph.below(value.rank)
    graph.rng.shuffle(names)
    graph.add("Concat", names, with_extent(value.shape, axis, 2 * value.shape[axis]), axis=axis)
    return True


def split(graph: Graph, value: Value) -> bool:
    """Two parts along an axis."""
    axis = graph.below(value.rank)
    extent = value.shape[axis]
    if extent < 2:
        return False
    head = graph.below(extent, 1)
    shapes = [with_extent(value.shape, axis, part) for part in (head, extent - head)]
    graph.add("Split", [value.name, graph.integers(head, extent - head)], *shapes, axis=axis)
    return True


def slice_(graph: Graph, value: Value) -> bool:
    """A range along an axis, of each or of every second place."""
    axis = graph.below(value.rank)
    extent = value.shape[axis]
    start, step = graph.below(extent), graph.below(3, 1)
    stop = graph.below(extent + 1, start + 1)
    parts = [graph.integers(number) for number in (start, stop, axis, step)]
    graph.add("Slice", [value.name, *parts], with_extent(value.shape, axis, -(-(stop - start) // step)))
    return True


def gather(graph: Graph, value: Value) -> bool:
    """Chosen places along an axis."""
    axis = graph.below(value.rank)
    chosen = [graph.below(value.shape[axis]) for _ in range(graph.below(4, 1))]
    shape = with_extent(value.shape, axis, len(chosen))
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
"""As often as they are drawn."""
