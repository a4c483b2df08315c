"""Nodes that put elements into others by known indices, each a choice from both; padding by elements."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx import arranging
from codegen.importers.onnx.arithmetic import calculated
from codegen.importers.onnx.composed.choosing import flat_taken, flattened, stacked, taken
from codegen.importers.onnx.layouts import Known, Value
from codegen.importers.onnx.node_site import Site, value_type
from codegen.importers.reporting import Refused

_OPERATORS = {"add": "ADD", "mul": "MUL", "max": "MAXIMUM", "min": "MINIMUM"}

MAX_ROUNDS = 64
"""How often one element may be written."""


def placed(site: Site, value: Value, updates: Value, places: np.ndarray, reduction: str) -> Value:
    """`value` with update i at place `places[i]` of its own order; the last one wins, or all are reduced."""
    if reduction not in ("none", *_OPERATORS):
        raise Refused("E301", f"reduction {reduction} is not supported")
    count, shape = math.prod(value.shape), value.shape
    places = places.reshape(-1)
    steps = site.steps
    flat, flat_updates = steps.reshape(value, (count,)), steps.reshape(updates, (places.size,))
    if reduction == "none":
        chosen = np.arange(count)
        chosen[places] = count + np.arange(places.size)
        return steps.reshape(taken(site, stacked(site, [flat, flat_updates], 0), chosen, 0), shape)
    neutral = Known(data=np.array([_neutral(reduction, value_type(value))], value_type(value)))
    pool = stacked(site, [flat_updates, neutral], 0)
    turn = np.zeros(places.size, np.int64)
    seen: dict[int, int] = {}
    for number, place in enumerate(places.tolist()):
        turn[number] = seen[place] = seen.get(place, -1) + 1
    if turn.max(initial=0) >= MAX_ROUNDS:
        raise Refused("E301", f"an element is written more than {MAX_ROUNDS} times")
    for number in range(int(turn.max(initial=-1)) + 1):
        chosen = np.full(count, places.size)
        in_round = turn == number
        chosen[places[in_round]] = np.flatnonzero(in_round)
        flat = calculated(site, _OPERATORS[reduction], [flat, taken(site, pool, chosen, 0)])
    return steps.reshape(flat, shape)


def _neutral(reduction: str, kind: str) -> float | int:
    if reduction in ("add", "mul"):
        return 0 if reduction == "add" else 1
    if kind == "float32":
        return -np.inf if reduction == "max" else np.inf
    limits = np.iinfo(kind)
    return int(limits.min if reduction == "max" else limits.max)


def _inside(indices: np.ndarray, extent: int) -> np.ndarray:
    if np.any((indices < -extent) | (indices >= extent)):
        raise Refused("E303", f"an index is outside an axis of {extent}")
    return np.where(indices < 0, indices + extent, indices)


def _scatter_elements(site: Site) -> Value:
    value, indices = site.value(0), site.known(1, "the list of indices").astype(np.int64)
    axis = site.axis(site.integer("axis", 0), len(value.shape))
    if indices.ndim != len(value.shape) or indices.shape != site.value(2).shape:
        raise Refused("E303", f"indices {list(indices.shape)} do not fit {list(value.shape)}")
    grid = np.indices(indices.shape)
    grid[axis] = _inside(indices, value.shape[axis])
    places = flattened(list(grid), value.shape)
    return placed(site, value, site.value(2), places, site.word("reduction", "none"))


def _scatter_nd(site: Site) -> Value:
    value, indices = site.value(0), site.known(1, "the list of indices").astype(np.int64)
    depth = indices.shape[-1] if indices.ndim else 0
    if not 1 <= depth <= len(value.shape):
        raise Refused("E303", f"indices {list(indices.shape)} do not fit {list(value.shape)}")
    parts = [_inside(indices[..., along], value.shape[along]) for along in range(depth)]
    rest = math.prod(value.shape[depth:])
    places = flattened(parts, value.shape[:depth])[..., None] * rest + np.arange(rest)
    return placed(site, value, site.value(2), places, site.word("reduction", "none"))


def _tensor_scatter(site: Site) -> Value:
    value, update = site.value(0), site.value(1)
    rank = len(value.shape)
    axis, mode = site.axis(site.integer("axis", -2), rank), site.word("mode", "linear")
    starts = np.zeros(value.shape[0], np.int64)
    if site.has(2):
        starts = site.known(2, "the list of indices").reshape(-1).astype(np.int64)
    grid = np.indices(update.shape)
    grid[axis] += starts[grid[0]]
    if mode == "circular":
        grid[axis] %= value.shape[axis]
    elif np.any(grid[axis] >= value.shape[axis]):
        raise Refused("E303", "an update reaches beyond the end")
    return placed(site, value, update, flattened(list(grid), value.shape), "none")


def _max_unpool(site: Site) -> Value:
    value, indices = site.value(0), site.known(1, "the list of indices")
    window, strides = site.integers("kernel_shape"), site.integers("strides", (1,) * (len(value.shape) - 2))
    pads = site.integers("pads", (0,) * (2 * len(window)))
    spatial = tuple(
        (extent - 1) * step + size - pads[axis] - pads[axis + len(window)]
        for axis, (extent, step, size) in enumerate(zip(value.shape[2:], strides, window, strict=True))
    )
    unpooled = (*value.shape[:2], *spatial)
    shape = site.numbers(2, "the shape") if site.has(2) else unpooled
    flat = flattened(np.unravel_index(indices, unpooled), shape)
    empty = Known(data=np.zeros(shape, value_type(value)))
    return placed(site, empty, value, flat, "none")


def _columns(site: Site) -> Value:
    """Col2Im: each image is the sum of its columns."""
    value = site.value(0)
    image, block = site.numbers(1, "the shape"), site.numbers(2, "the block")
    rank = len(image)
    dilations, strides = (site.integers(name, (1,) * rank) for name in ("dilations", "strides"))
    pads = site.integers("pads", (0,) * (2 * rank))
    channels = value.shape[1] // math.prod(block)
    counts = [
        (image[a] + pads[a] + pads[a + rank] - dilations[a] * (block[a] - 1) - 1) // strides[a] + 1
        for a in range(rank)
    ]
    if math.prod(counts) != value.shape[2]:
        raise Refused("E303", f"{value.shape[2]} columns do not fit an image of {list(image)}")
    grid = np.indices((value.shape[0], channels, *block, *counts))
    spots = [grid[2 + a] * dilations[a] + grid[2 + rank + a] * strides[a] - pads[a] for a in range(rank)]
    inside = np.all([(spot >= 0) & (spot < image[a]) for a, spot in enumerate(spots)], axis=0)
    shape = (value.shape[0], channels, *image)
    spots = [np.clip(spot, 0, image[a] - 1) for a, spot in enumerate(spots)]
    places = flattened((grid[0], grid[1], *spots), shape)[inside]
    used = flat_taken(site, value, np.flatnonzero(inside))
    return placed(site, Known(data=np.zeros(shape, np.float32)), used, places, "add")


def _pad(site: Site) -> Value:
    """Pad: one number around, or elements again; less than nothing cuts."""
    mode, value = site.word("mode", "constant"), site.value(0)
    if mode == "constant":
        return arranging.pad(site)
    if mode not in ("edge", "reflect", "wrap"):
        raise Refused("E303", f"attribute mode is {mode}")
    rank = len(value.shape)
    pads = site.numbers(1, "the padding") if site.opset >= 11 else site.integers("pads")
    axes = tuple(range(rank))
    if site.has(3):
        axes = tuple(site.axis(axis, rank) for axis in site.numbers(3, "the list of axes"))
    if len(pads) != 2 * len(axes):
        raise Refused("E303", f"padding {list(pads)} of {len(axes)} axes")
    for index, axis in enumerate(axes):
        before, after = pads[index], pads[index + len(axes)]
        line = np.arange(value.shape[axis])
        site.steps.count_known((max(before, 0) + max(after, 0) + line.size,))
        wide = np.pad(line, (max(before, 0), max(after, 0)), mode=mode)
        value = taken(site, value, wide[max(-before, 0) : wide.size - max(-after, 0)], axis)
    return value


def _non_zero(site: Site) -> Value:
    """NonZero: how many there are has to be known, so the places are too."""
    data = np.atleast_1d(site.known(0, "what may be zero"))
    site.steps.count_known((data.ndim, data.size))
    return Known(data=np.array(np.nonzero(data), np.int64))


NODES: Mapping[str, Callable[[Site], Value]] = MappingProxyType(
    {
        "Col2Im": _columns,
        "MaxUnpool": _max_unpool,
        "NonZero": _non_zero,
        "Pad": _pad,
        "Scatter": _scatter_elements,
        "ScatterElements": _scatter_elements,
        "ScatterND": _scatter_nd,
        "TensorScatter": _tensor_scatter,
    }
)
