"""Nodes that reduce or normalise: means, products, running sums, norms."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.arithmetic import batch_normalization, calculated, number_like, pair, reduced
from codegen.importers.onnx.composed.choosing import flipped, stacked, taken
from codegen.importers.onnx.composed.element_functions import Real
from codegen.importers.onnx.layouts import Known, Value
from codegen.importers.onnx.node_site import Site, value_type
from codegen.importers.reporting import Refused
from codegen.ir.ops import CumsumAttrs

_FLOAT32 = 1
"""ONNX's number of the element type float32."""
MAX_TERMS = 64
"""Steps of a running sum that no kernel has."""


def _mean(site: Site) -> Value:
    values = site.all_values()
    site.need_float(*values)
    total = values[0]
    for value in values[1:]:
        total = pair(site, "ADD", [total, value])
    return total if len(values) == 1 else pair(site, "DIV", [total, number_like(float(len(values)), total)])


def _product(site: Site) -> Value:
    """ReduceProd: halves times halves."""
    value, rank = site.value(0), len(site.value(0).shape)
    keep = site.integer("keepdims", 1)
    if site.opset >= 18:
        keeps_all = site.integer("noop_with_empty_axes", 0)
        axes = site.numbers(1, "the list of axes") if site.has(1) else ()
        if not axes and keeps_all:
            return value
    else:
        axes = site.integers("axes", ())
    places = site.axes(axes or tuple(range(rank)), rank)
    for axis in places:
        if not value.shape[axis]:
            shape = (*value.shape[:axis], 1, *value.shape[axis + 1 :])
            value = Known(data=np.ones(shape, value_type(value)))
        while (extent := value.shape[axis]) > 1:
            half = extent // 2
            first = taken(site, value, np.arange(half), axis)
            second = taken(site, value, np.arange(half, 2 * half), axis)
            both = calculated(site, "MUL", [first, second])
            rest = [taken(site, value, np.array([extent - 1]), axis)] if extent % 2 else []
            value = stacked(site, [both, *rest], axis)
    if keep:
        return value
    return site.steps.reshape(value, tuple(e for axis, e in enumerate(value.shape) if axis not in places))


def _running(op: str, first: int) -> Callable[[Site], Value]:
    """CumSum and CumProd: float32 sums by their kernel, others one by one."""

    def translate(site: Site) -> Value:
        value = site.value(0)
        axis = site.axis(site.whole(1, "the axis"), len(value.shape))
        exclusive, reverse = bool(site.integer("exclusive", 0)), bool(site.integer("reverse", 0))
        if op == "ADD" and value_type(value) == "float32":
            attrs = CumsumAttrs(axis=axis, exclusive=exclusive, reverse=reverse)
            return site.steps.step("CUMSUM", [site.steps.dense(value)], attrs)
        if value.shape[axis] > MAX_TERMS:
            raise Refused("E301", f"more than {MAX_TERMS} terms of {value_type(value)} are not supported")
        value = flipped(site, value, axis) if reverse else value
        parts = [taken(site, value, np.array([place]), axis) for place in range(value.shape[axis])]
        if exclusive:
            parts = [Known(data=np.full(parts[0].shape, first, value_type(value))), *parts[:-1]]
        sums = [parts[0]]
        for part in parts[1:]:
            sums.append(calculated(site, op, [sums[-1], part]))
        running = stacked(site, sums, axis)
        return flipped(site, running, axis) if reverse else running

    return translate


def _statistics(site: Site, value: Value, axes: tuple[int, ...]) -> tuple[Real, Real, Real]:
    """Mean, distances from it, and variance as the mean of their squares.

    ONNX defines some nodes by a difference, of the mean square and the squared mean: it cancels where the
    mean is large.
    """
    mean = Real(site, reduced(site, "MEAN", value, axes, keep=True))
    distances = Real(site, value) - mean
    squares = (distances * distances).value
    return mean, distances, Real(site, reduced(site, "MEAN", squares, axes, keep=True))


def _normalised(site: Site, value: Value, axes: tuple[int, ...], epsilon: float) -> Real:
    """(value - mean) / sqrt(variance + epsilon)."""
    _, distances, variance = _statistics(site, value, axes)
    return distances / (variance + epsilon).of("SQRT")


def _channels(site: Site, position: int, value: Value) -> Real:
    data = site.value(position)
    return Real(site, site.steps.reshape(data, (1, value.shape[1], *[1] * (len(value.shape) - 2))))


def _instance(site: Site) -> Value:
    value = site.value(0)
    site.need_float(value)
    if len(value.shape) < 3:
        raise Refused("E303", f"a value {list(value.shape)} has no axes behind its channels")
    axes = tuple(range(2, len(value.shape)))
    x = _normalised(site, value, axes, site.real("epsilon", 1e-5))
    return (x * _channels(site, 1, value) + _channels(site, 2, value)).value


def _layer(site: Site) -> tuple[Value, ...]:
    """LayerNormalization over the last axes, with its mean and inverse deviation."""
    value, rank = site.value(0), len(site.value(0).shape)
    _need_float32_statistics(site)
    axes = tuple(range(site.axis(site.integer("axis", -1), rank), rank))
    mean, distances, variance = _statistics(site, value, axes)
    deviation = (variance + site.real("epsilon", 1e-5)).of("SQRT")
    x = distances / deviation * Real(site, site.value(1))
    normed = (x + Real(site, site.value(2)) if site.has(2) else x).value
    if normed.shape != value.shape:
        raise Refused("E303", f"scale or bias do not fit a value {list(value.shape)}")
    return normed, mean.value, *([(1.0 / deviation).value] if site.is_used(2) else [])


def _group(site: Site) -> Value:
    """GroupNormalization: scale and bias are by group until opset 21, then by channel."""
    value, groups = site.value(0), site.integer("num_groups")
    _need_float32_statistics(site)
    if len(value.shape) < 2:
        raise Refused("E303", f"works on {list(value.shape)}, needs channels")
    images, channels, *spatial = value.shape
    if groups < 1 or channels % groups:
        raise Refused("E303", f"{channels} channels cannot be {groups} groups")
    rows = site.steps.reshape(value, (images, groups, channels // groups * math.prod(spatial)))
    x = _normalised(site, rows, (2,), site.real("epsilon", 1e-5))
    if site.opset < 21:
        x = x * _channels(site, 1, rows) + _channels(site, 2, rows)
        return site.steps.reshape(x.value, value.shape)
    x = Real(site, site.steps.reshape(x.value, value.shape))
    return (x * _channels(site, 1, value) + _channels(site, 2, value)).value


def _mean_variance(site: Site) -> Value:
    """MeanVarianceNormalization; by the deviation and a little more, as ONNX defines it."""
    value = site.value(0)
    site.need_float(value)
    axes = site.axes(site.integers("axes", (0, 2, 3)), len(value.shape))
    _, distances, variance = _statistics(site, value, axes)
    return (distances / (variance.of("SQRT") + 1e-9)).value


def _need_float32_statistics(site: Site) -> None:
    site.need_float(site.value(0))
    if site.integer("stash_type", 1) != _FLOAT32:
        raise Refused("E301", "computes statistics of another type than float32, which is not supported")


def _batch(site: Site) -> Value | tuple[Value, ...]:
    """BatchNormalization; in training by the statistics of this batch, which move the running ones."""
    if not site.integer("training_mode", 0) or site.opset < 14:
        return batch_normalization(site)
    value, share = site.value(0), site.real("momentum", 0.9)
    site.need_float(value)
    if len(value.shape) < 2:
        raise Refused("E303", f"works on {list(value.shape)}, needs channels")
    if 0 in value.shape:
        raise Refused("E301", f"works on {list(value.shape)}, which has no statistics")
    axes = (0, *range(2, len(value.shape)))
    mean, distances, variance = _statistics(site, value, axes)
    x = distances / (variance + site.real("epsilon", 1e-5)).of("SQRT")
    running = [
        _channels(site, position, value) * share + now * (1 - share)
        for position, now in ((3, mean), (4, variance))
    ]
    normed = x * _channels(site, 1, value) + _channels(site, 2, value)
    return normed.value, *(site.steps.reshape(statistic.value, (value.shape[1],)) for statistic in running)


def _lp(site: Site) -> Value:
    """LpNormalization; a norm of 0 gives 0."""
    value, power = site.value(0), site.integer("p", 2)
    site.need_float(value)
    axis = site.axis(site.integer("axis", -1), len(value.shape))
    x = Real(site, value)
    if power not in (1, 2):
        raise Refused("E303", f"attribute p is {power}, it has to be 1 or 2")
    size = (x.of("ABS") if power == 1 else x * x).value
    norm = Real(site, reduced(site, "SUM", size, (axis,), keep=True))
    norm = norm if power == 1 else norm.of("SQRT")
    return (x / norm.at_least(float(np.finfo(np.float32).tiny))).value


def _lrn(site: Site) -> Value:
    """LRN: by the squares of neighbouring channels."""
    value, size = site.value(0), site.integer("size")
    site.need_float(value)
    alpha, beta, bias = site.real("alpha", 1e-4), site.real("beta", 0.75), site.real("bias", 1.0)
    channels = value.shape[1]
    if not 0 < size <= MAX_TERMS:
        raise Refused("E301", f"{size} channels together are not supported, up to {MAX_TERMS} are")
    x = Real(site, value)
    squares = (x * x).value
    before = (size - 1) // 2
    zeros = Known(data=np.zeros((value.shape[0], 1, *value.shape[2:]), np.float32))
    wide = stacked(site, [*[zeros] * before, squares, *[zeros] * (size - 1 - before)], 1)
    total: Value | None = None
    for start in range(size):
        part = taken(site, wide, np.arange(start, start + channels), 1)
        total = part if total is None else pair(site, "ADD", [total, part])
    assert total is not None, "the size is positive"
    power = ((Real(site, total) * (alpha / size) + bias).of("LOG") * -beta).of("EXP")
    return (x * power).value


def _global_lp(site: Site) -> Value:
    """GlobalLpPool."""
    value, power = site.value(0), site.integer("p", 2)
    site.need_float(value)
    axes = tuple(range(2, len(value.shape)))
    x = Real(site, value).of("ABS")
    if power == 1:
        return reduced(site, "SUM", x.value, axes, keep=True)
    if power == 2:
        return Real(site, reduced(site, "SUM", (x * x).value, axes, keep=True)).of("SQRT").value
    raise Refused("E301", f"p = {power} is not supported, 1 and 2 are")


NODES: Mapping[str, Callable[[Site], Value | tuple[Value, ...]]] = MappingProxyType(
    {
        "BatchNormalization": _batch,
        "CumProd": _running("MUL", 1),
        "CumSum": _running("ADD", 0),
        "GlobalLpPool": _global_lp,
        "GroupNormalization": _group,
        "InstanceNormalization": _instance,
        "LRN": _lrn,
        "LayerNormalization": _layer,
        "LpNormalization": _lp,
        "Mean": _mean,
        "MeanVarianceNormalization": _mean_variance,
        "ReduceProd": _product,
    }
)
