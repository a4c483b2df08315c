"""Nodes that choose elements: by indices, by a condition."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from codegen.importers.limits import RAISE
from codegen.importers.onnx.arithmetic import convert, pair, reduced
from codegen.importers.onnx.composed.element_functions import choice
from codegen.importers.onnx.layouts import Known, Value
from codegen.importers.onnx.node_site import Site, value_type
from codegen.importers.reporting import Refused
from codegen.ir import DType
from codegen.ir.ops import ConcatAttrs, GatherAttrs, StridedSliceAttrs


def taken(site: Site, value: Value, indices: np.ndarray, axis: int) -> Value:
    """Elements along an axis by known indices, none negative."""
    if isinstance(value, Known):
        site.steps.count_known((*value.shape[:axis], *indices.shape, *value.shape[axis + 1 :]))
        return Known(data=np.take(value.data, indices, axis))
    steps = site.steps
    if indices.size and indices.ndim == 1 and np.array_equal(indices, np.arange(value.shape[axis])):
        return value
    return steps.step(
        "GATHER", [steps.dense(value), steps.constant(indices.astype(np.int32))], GatherAttrs(axis=axis)
    )


def flat_taken(site: Site, value: Value, places: np.ndarray) -> Value:
    """Elements by their places in the value's own order; the result has the shape of `places`."""
    flat = site.steps.reshape(value, (math.prod(value.shape),))
    return site.steps.reshape(taken(site, flat, places.reshape(-1), 0), places.shape)


def flattened(indices: Iterable[Any], shape: Sequence[int]) -> np.ndarray:
    """Places in a row of all elements, of one index an axis."""
    return np.asarray(np.ravel_multi_index(tuple(indices), tuple(shape)))


def indices_of(site: Site, position: int, extent: int) -> Value:
    """Input `position` as int32 indices of an axis, those from its end counted from its begin."""
    value = site.value(position)
    if "int" not in value_type(value):
        raise Refused("E303", f"indices are {value_type(value)}, they have to be whole numbers")
    if isinstance(value, Known):
        data = value.data.astype(np.int64)
        if np.any((data < -extent) | (data >= extent)):
            raise Refused("E303", f"an index is outside an axis of {extent}")
        return Known(data=np.where(data < 0, data + extent, data).astype(np.int32))
    return _from_begin(site, convert(site, value, "int32"), extent)


def _from_begin(site: Site, indices: Value, extent: int) -> Value:
    def number(n: int) -> Value:
        return Known(data=np.full((1,) * len(indices.shape), n, np.int32))

    if value_type(site.value(1)).startswith("u"):
        return indices
    below = pair(site, "LESS", [indices, number(0)], DType.BOOL)
    return choice(site, below, pair(site, "ADD", [indices, number(extent)]), indices)


def gather(site: Site) -> Value:
    """Gather; computed indices beyond the axis are clamped."""
    value = site.value(0)
    axis = site.axis(site.integer("axis", 0), len(value.shape))
    indices = indices_of(site, 1, value.shape[axis])
    if isinstance(indices, Known):
        return taken(site, value, indices.data, axis)
    steps = site.steps
    return steps.step("GATHER", [steps.dense(value), steps.dense(indices)], GatherAttrs(axis=axis))


def _features(site: Site) -> Value:
    """ArrayFeatureExtractor: elements along the last axis; of a row it makes a matrix."""
    value = site.value(0)
    value = site.steps.reshape(value, (1, *value.shape)) if len(value.shape) < 2 else value
    axis = len(value.shape) - 1
    indices = indices_of(site, 1, value.shape[axis])
    indices = site.steps.reshape(indices, (math.prod(indices.shape),))
    if isinstance(indices, Known):
        return taken(site, value, indices.data, axis)
    args = [site.steps.dense(value), site.steps.dense(indices)]
    return site.steps.step("GATHER", args, GatherAttrs(axis=axis))


def _gather_elements(site: Site) -> Value:
    """Places in a row of all elements: those of an index's own position, with the index along the axis."""
    value = site.value(0)
    rank = len(value.shape)
    axis = site.axis(site.integer("axis", 0), rank)
    indices = indices_of(site, 1, value.shape[axis])
    if len(indices.shape) != rank or not rank:
        raise Refused("E303", f"indices {list(indices.shape)} do not fit {list(value.shape)}")
    return taken_along(site, value, indices, axis)


def taken_along(site: Site, value: Value, indices: Value, axis: int) -> Value:
    """Elements along an axis, each index for its own position in the other axes; none negative."""
    rank = len(value.shape)
    steps = [math.prod(value.shape[along + 1 :]) for along in range(rank)]
    grid = np.indices(indices.shape, np.int32)
    base = np.zeros(indices.shape, np.int32)
    for along in range(rank):
        base += grid[along] * steps[along] if along != axis else 0
    if isinstance(indices, Known):
        return flat_taken(site, value, base + indices.data * steps[axis])
    flat = site.steps.reshape(value, (math.prod(value.shape),))
    scaled = pair(site, "MUL", [indices, Known(data=np.full((1,) * rank, steps[axis], np.int32))])
    places = pair(site, "ADD", [scaled, Known(data=base.astype(np.int32))])
    args = [site.steps.dense(flat), site.steps.dense(places)]
    return site.steps.step("GATHER", args, GatherAttrs(axis=0))


def _gather_nd(site: Site) -> Value:
    value, indices = site.value(0), site.known(1, "the list of indices").astype(np.int64)
    shared = site.integer("batch_dims", 0)
    depth = indices.shape[-1] if indices.ndim else 0
    if not 0 <= shared <= len(value.shape) - depth or not depth or indices.ndim <= shared:
        raise Refused("E303", f"indices {list(indices.shape)} do not fit {list(value.shape)}")
    chosen = value.shape[shared : shared + depth]
    if np.any((indices < -np.array(chosen)) | (indices >= np.array(chosen))):
        raise Refused("E303", f"an index is outside {list(chosen)}")
    indices = np.where(indices < 0, indices + np.array(chosen), indices)
    rows = list(np.indices(indices.shape[:-1])[:shared]) if shared else list[np.ndarray]()
    row = flattened([*rows, *np.moveaxis(indices, -1, 0)], value.shape[: shared + depth])
    rest = math.prod(value.shape[shared + depth :])
    places = row[..., None] * rest + np.arange(rest)
    return flat_taken(site, value, places.reshape(*row.shape, *value.shape[shared + depth :]))


def line(extent: int, axis: int, rank: int) -> Known:
    """0 to `extent` along an axis."""
    shape = [1] * rank
    shape[axis] = extent
    return Known(data=np.arange(extent, dtype=np.int32).reshape(shape))


def flipped(site: Site, value: Value, axis: int) -> Value:
    """The value with an axis from its end."""
    if isinstance(value, Known):
        return Known(data=np.flip(value.data, axis))
    shape = value.shape
    attrs = StridedSliceAttrs(
        begins=tuple(extent - 1 if along == axis else 0 for along, extent in enumerate(shape)),
        strides=tuple(-1 if along == axis else 1 for along in range(len(shape))),
        counts=shape,
        shape=shape,
    )
    return site.steps.step("STRIDED_SLICE", [site.steps.dense(value)], attrs)


def from_ends(site: Site, value: Value, lengths: np.ndarray | None) -> Value:
    """[moments, batch, ...]: each sequence of the batch from its own end, what is behind it stays."""
    if lengths is None:
        return flipped(site, value, 0)
    shape = value.shape
    places = np.arange(shape[0] * shape[1]).reshape(shape[:2])
    for sequence, length in enumerate(lengths.tolist()):
        places[:length, sequence] = places[:length, sequence][::-1].copy()
    rows = site.steps.reshape(value, (shape[0] * shape[1], *shape[2:]))
    return site.steps.reshape(taken(site, rows, places.reshape(-1), 0), shape)


def _one_hot(site: Site) -> Value:
    depth = site.whole(1, "the depth")
    if depth < 1:
        raise Refused("E303", f"a depth of {depth}")
    if depth * math.prod(site.value(0).shape) > site.steps.limits.constants:
        raise Refused("E305", f"a depth of {depth} makes too large a value", RAISE)
    indices, values = convert(site, site.value(0), "int32"), site.value(2)
    rank = len(indices.shape) + 1
    axis = site.axis(site.integer("axis", -1), rank)
    below = pair(site, "LESS", [indices, Known(data=np.zeros((1,) * (rank - 1), np.int32))], DType.BOOL)
    wide = Known(data=np.full((1,) * (rank - 1), depth, np.int32))
    indices = choice(site, below, pair(site, "ADD", [indices, wide]), indices)
    kept = site.steps.reshape(indices, (*indices.shape[:axis], 1, *indices.shape[axis:]))
    hot = pair(site, "EQUAL", [kept, line(depth, axis, rank)], DType.BOOL)
    off, on = (taken(site, values, np.array([place]), 0) for place in (0, 1))
    return choice(site, hot, site.steps.reshape(on, (1,) * rank), site.steps.reshape(off, (1,) * rank))


def _triangle(site: Site) -> Value:
    value = site.value(0)
    diagonal = site.whole(1, "the diagonal") if site.has(1) else 0
    rows = np.ones(value.shape[-2:], np.bool_)
    mask = np.triu(rows, diagonal) if site.integer("upper", 1) else np.tril(rows, diagonal)
    mask = mask.reshape((1,) * (len(value.shape) - 2) + mask.shape)
    zero = Known(data=np.zeros((1,) * len(value.shape), value_type(value)))
    return choice(site, Known(data=mask), value, zero)


def _compress(site: Site) -> Value:
    value, condition = site.value(0), site.known(1, "the condition")
    places = np.flatnonzero(condition)
    if site.has_attribute("axis"):
        return taken(site, value, places, site.axis(site.integer("axis"), len(value.shape)))
    return flat_taken(site, value, places)


def _reverse_sequence(site: Site) -> Value:
    value, lengths = site.value(0), site.known(1, "the lengths").reshape(-1)
    batch, time = site.integer("batch_axis", 1), site.integer("time_axis", 0)
    grid = np.indices(value.shape)
    length = lengths[grid[batch]]
    grid[time] = np.where(grid[time] < length, length - 1 - grid[time], grid[time])
    return flat_taken(site, value, flattened(list(grid), value.shape))


def _tile(site: Site) -> Value:
    value, repeats = site.value(0), site.numbers(1, "the repeats")
    if len(repeats) != len(value.shape) or min(repeats, default=1) < 1:
        raise Refused("E303", f"repeats {list(repeats)} do not fit {list(value.shape)}")
    if math.prod((*value.shape, *repeats)) > site.steps.limits.constants:
        text = f"repeats {list(repeats)} of {list(value.shape)} make too large a value"
        raise Refused("E305", text, RAISE)
    for axis, count in enumerate(repeats):
        value = taken(site, value, np.tile(np.arange(value.shape[axis]), count), axis)
    return value


def stacked(site: Site, values: list[Value], axis: int) -> Value:
    """Values one behind the other along an axis."""
    steps = site.steps
    if len(values) == 1:
        return values[0]
    return steps.step("CONCATENATION", [steps.dense(member) for member in values], ConcatAttrs(axis=axis))


def _counted(site: Site) -> Value:
    """TfIdfVectorizer: how often each of the known sequences of numbers is there, gaps permitted."""
    value = convert(site, site.value(0), "int32")
    rank = len(value.shape)
    if rank not in (1, 2):
        raise Refused("E303", f"works on {list(value.shape)}, needs a row or rows")
    rows, extent = (1, *value.shape)[-2:]
    value = site.steps.reshape(value, (rows, extent))
    pool, starts = np.array(site.integers("pool_int64s")), [*site.integers("ngram_counts")]
    lengths = range(site.integer("min_gram_length"), site.integer("max_gram_length") + 1)
    places = np.array(site.integers("ngram_indexes"))
    parts: list[Value] = []
    known = 0
    for length, (start, stop) in enumerate(zip(starts, [*starts[1:], pool.size], strict=True), 1):
        if not 0 <= start <= stop <= pool.size or (stop - start) % length:
            raise Refused("E303", f"ngram_counts {starts} do not divide a pool of {pool.size} numbers")
        grams = pool[start:stop].reshape(-1, length).astype(np.int32)
        known += len(grams)
        if len(grams):
            skips = range(site.integer("max_skip_count") + 1 if length > 1 else 1)
            parts.append(_sequences(site, value, grams, skips if length in lengths else range(0)))
    if known != places.size or not parts:
        raise Refused("E303", f"{known} sequences with {places.size} indices")
    count = int(places.max()) + 1
    column = np.full(count, known)
    column[places] = np.arange(known)
    empty = Known(data=np.zeros((rows, 1), np.float32))
    counts = taken(site, stacked(site, [*parts, empty], 1), column, 1)
    return site.steps.reshape(_weighted(site, counts, places), (*site.value(0).shape[:-1], count))


def _sequences(site: Site, value: Value, grams: np.ndarray, skips: range) -> Value:
    """How often each of `grams` is in a row of `value`, its numbers 1 + skip apart: [rows, grams]."""
    rows, extent = value.shape
    size, length = (int(number) for number in grams.shape)
    total: Value = Known(data=np.zeros((rows, size), np.float32))
    for skip in skips:
        windows = _windows(extent, length, skip + 1)
        if not windows.size:
            break
        seen = site.steps.reshape(taken(site, value, windows.reshape(-1), 1), (rows, 1, *windows.shape))
        same = pair(site, "EQUAL", [seen, Known(data=grams.reshape(1, size, 1, length))], DType.BOOL)
        whole = convert(site, reduced(site, "REDUCE_MIN", same, (3,), keep=False), "float32")
        total = pair(site, "ADD", [total, reduced(site, "SUM", whole, (2,), keep=False)])
    return total


def _windows(extent: int, length: int, step: int) -> np.ndarray:
    """Places of the numbers of each sequence that fits, a row a sequence."""
    starts = np.arange(max(extent - (length - 1) * step, 0))
    return np.asarray(np.add.outer(starts, np.arange(length) * step))


def _weighted(site: Site, counts: Value, places: np.ndarray) -> Value:
    mode = site.word("mode", "")
    if mode not in ("TF", "IDF", "TFIDF"):
        raise Refused("E303", f"mode {mode}, it has to be TF, IDF or TFIDF")
    weights = np.ones(counts.shape[1], np.float32)
    if site.has_attribute("weights"):
        weights[places] = site.array("weights").astype(np.float32)
    if mode == "IDF":
        counts = pair(site, "MINIMUM", [counts, Known(data=np.ones((1, 1), np.float32))])
    return counts if mode == "TF" else pair(site, "MUL", [counts, Known(data=weights[None])])


NODES: Mapping[str, Callable[[Site], Value | tuple[Value, ...]]] = MappingProxyType(
    {
        "ai.onnx.ml.ArrayFeatureExtractor": _features,
        "Compress": _compress,
        "Gather": gather,
        "GatherElements": _gather_elements,
        "GatherND": _gather_nd,
        "OneHot": _one_hot,
        "ReverseSequence": _reverse_sequence,
        "TfIdfVectorizer": _counted,
        "Tile": _tile,
        "Trilu": _triangle,
    }
)
