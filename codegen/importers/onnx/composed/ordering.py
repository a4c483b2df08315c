"""Nodes that compare elements along an axis: the largest, the smallest, so many of them in order."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.arithmetic import calculated, convert, pair, reduced
from codegen.importers.onnx.composed.choosing import flipped, line, stacked, taken_along
from codegen.importers.onnx.composed.element_functions import choice
from codegen.importers.onnx.layouts import Known, StoredAs, Value
from codegen.importers.onnx.node_site import Site, value_type
from codegen.importers.reporting import Refused
from codegen.ir import DType
from codegen.ir.ops import ArgAttrs

MAX_PAIRS = 1 << 16
"""Integers that are compared with each other at once."""


def _best(op: str) -> Callable[[Site], Value]:
    """ArgMax and ArgMin, int64; the last of equal ones by looking from the end."""

    def translate(site: Site) -> Value:
        value = site.value(0)
        rank = len(value.shape)
        axis = site.axis(site.integer("axis", 0), rank)
        keep, last = site.integer("keepdims", 1), site.integer("select_last_index", 0)
        index = best(site, op, flipped(site, value, axis) if last else value, axis)
        if last:
            end = Known(data=np.full((1,) * (rank - 1), value.shape[axis] - 1, np.int32))
            index = pair(site, "SUB", [end, index])
        if keep:
            index = site.steps.reshape(index, (*value.shape[:axis], 1, *value.shape[axis + 1 :]))
        return convert(site, index, "int64")

    return translate


def best(site: Site, op: str, value: Value, axis: int) -> Value:
    """Places of the largest or smallest elements along an axis, int32, without that axis."""
    if value_type(value) not in ("float32",):
        raise Refused("E301", f"works on {value_type(value)}, supported is float32")
    steps = site.steps
    return steps.step(op, [steps.dense(value)], ArgAttrs(axis=axis), stored=StoredAs(dtype=DType.INT32))


def _hardmax(site: Site) -> Value:
    value = site.value(0)
    site.need_float(value)
    shape, rank = value.shape, len(value.shape)
    axis = site.axis(site.integer("axis", -1 if site.opset >= 13 else 1), rank)
    if site.opset < 13:
        value = site.steps.reshape(value, (math.prod(shape[:axis]), math.prod(shape[axis:])))
        axis, rank = 1, 2
    first = best(site, "ARG_MAX", value, axis)
    kept = site.steps.reshape(first, (*value.shape[:axis], 1, *value.shape[axis + 1 :]))
    is_first = pair(site, "EQUAL", [kept, line(value.shape[axis], axis, rank)], DType.BOOL)
    return site.steps.reshape(convert(site, is_first, "float32"), shape)


def top(site: Site) -> tuple[Value, Value]:
    """TopK: of float32 one by one, each the best of what is left. A few of them."""
    value, count = site.value(0), site.whole(1, "the number of elements")
    site.integer("sorted", 1)
    axis, largest = site.axis(site.integer("axis", -1), len(value.shape)), site.integer("largest", 1)
    extent, rank = value.shape[axis], len(value.shape)
    if value_type(value) != "float32":
        return _ranked(site, value, axis, count, largest=bool(largest))
    if not 0 < count <= min(extent, 16):
        raise Refused("E301", f"{count} of {extent} elements: supported are up to 16")
    worst = Known(data=np.full((1,) * rank, -np.inf if largest else np.inf, np.float32))
    reduce_ = "REDUCE_MAX" if largest else "REDUCE_MIN"
    places: list[Value] = []
    bests: list[Value] = []
    for _ in range(count):
        place = best(site, "ARG_MAX" if largest else "ARG_MIN", value, axis)
        kept = site.steps.reshape(place, (*value.shape[:axis], 1, *value.shape[axis + 1 :]))
        bests.append(reduced(site, reduce_, value, (axis,), keep=True))
        places.append(kept)
        is_it = pair(site, "EQUAL", [kept, line(extent, axis, rank)], DType.BOOL)
        value = choice(site, is_it, worst, value)
    return stacked(site, bests, axis), convert(site, stacked(site, places, axis), "int64")


def _ranked(site: Site, value: Value, axis: int, count: int, *, largest: bool) -> tuple[Value, Value]:
    """TopK of integers: each is compared with all others, how many go before it is its place."""
    shape = value.shape
    extent, rank = shape[axis], len(shape)
    if not 0 < count <= extent or math.prod(shape) * extent > MAX_PAIRS:
        text = f"{count} of {list(shape)} integers: supported are up to {MAX_PAIRS} comparisons"
        raise Refused("E301", text, "export the model with float32 values there, or fewer of them")
    element = site.steps.reshape(value, (*shape[: axis + 1], 1, *shape[axis + 1 :]))
    other = site.steps.reshape(value, (*shape[:axis], 1, *shape[axis:]))
    is_better = calculated(site, "LESS", [element, other] if largest else [other, element])
    earlier = np.tri(extent, k=-1, dtype=np.bool_).reshape((extent, extent) + (1,) * (rank - axis - 1))
    is_alike = pair(
        site,
        "MINIMUM",
        [calculated(site, "EQUAL", [element, other]), Known(data=earlier[(None,) * axis])],
        DType.BOOL,
    )
    is_before = pair(site, "MAXIMUM", [is_better, is_alike], DType.BOOL)
    place = reduced(site, "SUM", convert(site, is_before, "int32"), (axis + 1,), keep=True)
    is_place = pair(site, "EQUAL", [place, line(count, axis + 1, rank + 1)], DType.BOOL)
    numbers = pair(site, "MUL", [convert(site, is_place, "int32"), line(extent, axis, rank + 1)])
    indices = reduced(site, "SUM", numbers, (axis,), keep=False)
    return taken_along(site, value, indices, axis), convert(site, indices, "int64")


NODES: Mapping[str, Callable[[Site], Value | tuple[Value, ...]]] = MappingProxyType(
    {"ArgMax": _best("ARG_MAX"), "ArgMin": _best("ARG_MIN"), "Hardmax": _hardmax, "TopK": top}
)
