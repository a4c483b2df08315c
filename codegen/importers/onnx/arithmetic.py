"""Nodes that compute element by element, reduce or multiply matrices."""

import math
from collections.abc import Callable

import numpy as np

from codegen.importers.onnx.layouts import Axes, Computed, Known, StoredAs, Value, identity, moved
from codegen.importers.onnx.no_elements import reduced_none
from codegen.importers.onnx.node_site import Site, value_type
from codegen.importers.reporting import Refused
from codegen.ir import DType
from codegen.ir.ops import (
    Attrs,
    BinaryAttrs,
    ConvertAttrs,
    LeakyReluAttrs,
    MeanAttrs,
    PlainAttrs,
)
from codegen.ir.ops.plain import TRUTHS

Translator = Callable[[Site], Value]


def unary(op: str) -> Translator:
    """An operator on each element by itself."""
    return lambda site: each_element(site, op, site.value(0), Attrs())


_NONE = Attrs()


def each_element(site: Site, op: str, value: Value, attrs: Attrs = _NONE) -> Value:
    """A float32 operator on each element of a value."""
    site.need_float(value)
    axes = value.axes if isinstance(value, Computed) else identity(len(value.shape))
    return site.steps.step(op, [site.steps.stored(value, axes)], attrs, axes=axes)


def pair(site: Site, op: str, values: list[Value], dtype: DType | None = None) -> Value:
    """An operator on values that broadcast, stored as the largest of them is."""
    attrs = BinaryAttrs(unbounded=True) if op in ("ADD", "SUB", "MUL", "DIV") else Attrs()
    args, axes = site.together(values)
    return site.steps.step(op, args, attrs, axes=axes, stored=StoredAs(dtype=dtype))


_FLOAT_OR_INT32 = ("float32", "int32")
_ORDERED = (*_FLOAT_OR_INT32, "int64")
_KERNELS = {
    **{"ADD": ("add", _FLOAT_OR_INT32), "SUB": ("sub", _FLOAT_OR_INT32), "MUL": ("mul", _FLOAT_OR_INT32)},
    **{"DIV": ("div", _FLOAT_OR_INT32), "LESS": ("less", _ORDERED), "LESS_EQUAL": ("lessequal", _ORDERED)},
    "FLOOR_MOD": ("mod", _FLOAT_OR_INT32),
    "EQUAL": ("equal", (*_ORDERED, "bool")),
    "MAXIMUM": ("max", (*_ORDERED, "bool")),
    "MINIMUM": ("min", (*_ORDERED, "bool")),
}
"""By operator: the kind of PLAIN_PAIR, and the element types (without scales) of its own kernels."""


def calculated(site: Site, op: str, values: list[Value]) -> Value:
    """One of `_KERNELS` on two values of one element type, whichever it is."""
    kinds = {value_type(value) for value in values}
    kind, dtypes = _KERNELS[op]
    if len(kinds) > 1:
        raise Refused("E303", f"works on {' and '.join(sorted(kinds))}, which have to be of one type")
    truth = DType.BOOL if kind in TRUTHS else None
    return pair(site, op, values, truth) if kinds <= {*dtypes} else plain(site, kind, values)


def plain(site: Site, kind: str, values: list[Value]) -> Value:
    """PLAIN_PAIR of two integers."""
    args, axes = site.together(values)
    dtype = DType.BOOL if kind in TRUTHS else None
    return site.steps.step("PLAIN_PAIR", args, PlainAttrs(kind=kind), axes=axes, stored=StoredAs(dtype=dtype))


def convert(site: Site, value: Value, name: str, *, bits: bool = False) -> Value:
    """The value as another element type; `bits`: the same bits, looked at as that."""
    if name == value_type(value):
        return value
    if isinstance(value, Known):
        site.steps.count_known(value.shape)
        with np.errstate(all="ignore"):
            return Known(data=value.data.view(name) if bits else value.data.astype(name))
    try:
        dtype = DType(name)
    except ValueError:
        raise Refused("E301", f"from {value_type(value)} to {name} is not supported") from None
    attrs = ConvertAttrs(bits=bits)
    return site.steps.step("PLAIN_CONVERT", [value.var], attrs, axes=value.axes, stored=StoredAs(dtype=dtype))


def binary(op: str) -> Translator:
    """An operator on two values that broadcast."""

    def translate(site: Site) -> Value:
        first, second = site.value(0), site.value(1)
        if op in ("ADD", "SUB") and _is_bias(site, op, first, second):
            return first
        if op == "ADD" and _is_bias(site, op, second, first):
            return second
        return calculated(site, op, [first, second])

    return translate


def prelu(site: Site) -> Value:
    """PRelu."""
    values = [site.value(0), site.value(1)]
    site.need_float(*values)
    return pair(site, "PRELU", values)


def _is_bias(site: Site, op: str, value: Value, other: Value) -> bool:
    """True if the sum was taken into the bias of the step that computes `value`."""
    if not isinstance(other, Known) or not isinstance(value, Computed) or other.data.dtype != np.float32:
        return False
    position = 0 if site.value(0) is value else 1
    if len(other.shape) > len(value.shape) or not site.is_only_use(position):
        return False
    data = moved(other.data.reshape((1,) * (len(value.shape) - len(other.shape)) + other.shape), value.axes)
    if any(extent != 1 for extent in data.shape[:-1]) or data.shape[-1:] not in (
        (1,),
        value.var.type.shape[-1:],
    ):
        return False
    row = data.reshape(-1)
    return site.steps.scaled(value, None, row if op == "ADD" else -row)


def several(op: str) -> Translator:
    """An operator on any number of values, two by two in their order."""

    def translate(site: Site) -> Value:
        values = site.all_values()
        total = values[0]
        for value in values[1:]:
            total = calculated(site, op, [total, value])
        return total

    return translate


def logical(op: str) -> Translator:
    """And, Or and Xor of bool."""
    return lambda site: pair(site, op, [site.value(0), site.value(1)], DType.BOOL)


def compare(op: str, *, swapped: bool = False) -> Translator:
    """A comparison; its result is bool."""

    def translate(site: Site) -> Value:
        values = [site.value(1), site.value(0)] if swapped else [site.value(0), site.value(1)]
        answer = _infinite(site, values) if op == "EQUAL" else None
        return answer or calculated(site, op, values)

    return translate


def _infinite(site: Site, values: list[Value]) -> Value | None:
    """A comparison with infinity: sums of float32 end at the largest number, what reaches it equals it."""
    for value, other in (values, reversed(values)):
        if isinstance(value, Known) and value.data.dtype == np.float32 and value.data.size == 1:
            number = float(value.data.reshape(-1)[0])
            if np.isinf(number):
                largest = Known(
                    data=np.full(value.shape, np.copysign(np.finfo(np.float32).max, number), np.float32)
                )
                return pair(
                    site, "LESS_EQUAL", [largest, other] if number > 0 else [other, largest], DType.BOOL
                )
    return None


def where(site: Site) -> Value:
    """Translate Where: one of two values by a condition."""
    values = [site.value(0), site.value(1), site.value(2)]
    args, axes = site.together(values)
    dtype = args[1].type.dtype
    return site.steps.step("SELECT_V2", args, Attrs(), axes=axes, stored=StoredAs(dtype=dtype))


def logical_not(site: Site) -> Value:
    """Not of each element."""
    value = site.value(0)
    axes = value.axes if isinstance(value, Computed) else identity(len(value.shape))
    return site.steps.step("LOGICAL_NOT", [site.steps.stored(value, axes)], Attrs(), axes=axes)


def number_like(number: float, value: Value) -> Known:
    """One float32 number, of as many axes as `value`."""
    return Known(data=np.full((1,) * len(value.shape), number, np.float32))


def reciprocal(site: Site) -> Value:
    """Reciprocal: 1 divided by each element."""
    value = site.value(0)
    site.need_float(value)
    return pair(site, "DIV", [number_like(1.0, value), value])


def power(site: Site) -> Value:
    """Pow by a constant that a cheaper operator computes."""
    value, exponent = site.value(0), site.known(1, "the exponent")
    site.need_float(value)
    number = float(exponent.reshape(-1)[0]) if exponent.size == 1 else None
    if exponent.ndim > len(value.shape) or number not in (0.5, 1.0, 2.0, 3.0):
        raise Refused("E301", "a power other than 0.5, 1, 2 or 3 is not supported")
    if number == 0.5:
        return each_element(site, "SQRT", value, Attrs())
    product = value
    for _ in range(int(number) - 1):
        product = pair(site, "MUL", [product, value])
    return product


def leaky_relu(site: Site) -> Value:
    """LeakyRelu."""
    return each_element(site, "LEAKY_RELU", site.value(0), LeakyReluAttrs(alpha=site.real("alpha", 0.01)))


def elu(site: Site) -> Value:
    """Elu with its usual factor of 1."""
    if site.real("alpha", 1.0) != 1.0:
        raise Refused("E301", "an alpha other than 1 is not supported")
    return each_element(site, "ELU", site.value(0), Attrs())


def hard_sigmoid(site: Site) -> Value:
    """HardSigmoid: a line between 0 and 1."""
    value = site.value(0)
    site.need_float(value)
    line = pair(site, "MUL", [value, number_like(site.real("alpha", 0.2), value)])
    return _bounded(site, pair(site, "ADD", [line, number_like(site.real("beta", 0.5), value)]), 0.0, 1.0)


def clip(site: Site) -> Value:
    """Clip between two numbers, of which each may be left out."""
    value = site.value(0)
    if value_type(value) != "float32":
        return _clip_integers(site, value)
    bounds: list[float | None] = [None, None]
    for place, name in enumerate(("min", "max")):
        if site.opset < 11:
            bounds[place] = site.real(name, 0.0) if site.has_attribute(name) else None
        elif site.has(place + 1):
            bounds[place] = site.number(place + 1, f"the bound {name}")
    return _bounded(site, value, *bounds)


def _clip_integers(site: Site, value: Value) -> Value:
    for place, op in ((1, "MAXIMUM"), (2, "MINIMUM")):
        if site.has(place):
            value = calculated(site, op, [value, site.value(place)])
    return value


def _bounded(site: Site, value: Value, low: float | None, high: float | None) -> Value:
    if low == 0.0 and high in (None, 6.0):
        return each_element(site, "RELU" if high is None else "RELU6", value, Attrs())
    if low is not None:
        value = pair(site, "MAXIMUM", [value, number_like(low, value)])
    if high is not None:
        value = pair(site, "MINIMUM", [value, number_like(high, value)])
    return value


ONE_AXIS_SINCE = 13
"""Opset of which a Softmax is along one axis."""


def softmax(op: str, attrs: Attrs) -> Translator:
    """Softmax or LogSoftmax along one axis; before opset 13 over everything from an axis on."""
    return lambda site: _softmax(site, op, attrs)


def _softmax(site: Site, op: str, attrs: Attrs) -> Value:
    value, steps = site.value(0), site.steps
    site.need_float(value)
    rank, shape = len(value.shape), value.shape
    is_one = site.opset >= ONE_AXIS_SINCE
    axis = site.axis(site.integer("axis", -1 if is_one else 1), max(rank, 1))
    if not is_one and axis != rank - 1 and any(extent != 1 for extent in shape[axis + 1 :]):
        rows = int(np.prod(shape[:axis]))
        flat = steps.reshape(value, (rows, int(np.prod(shape[axis:]))))
        return steps.reshape(steps.step(op, [steps.dense(flat)], attrs), shape)
    axes = axes_of_lines(value, axis)
    return steps.step(op, [steps.stored(value, axes)], attrs, axes=axes)


def axes_of_lines(value: Value, axis: int) -> Axes:
    """Memory axes that have `axis` last: as they are, or moved."""
    rank = len(value.shape)
    axes = value.axes if isinstance(value, Computed) else identity(rank)
    if axes[axis] == rank - 1:
        return axes
    others = iter(range(rank - 1))
    return tuple(rank - 1 if place == axis else next(others) for place in range(rank))


def reduction(op: str, since: int) -> Translator:
    """A reduction over axes, which are an input from opset `since` on, an attribute before."""

    def translate(site: Site) -> Value:
        value, rank = site.value(0), len(site.value(0).shape)
        keep = site.integer("keepdims", 1)
        if site.opset >= since:
            keeps_all = site.integer("noop_with_empty_axes", 0)
            axes = site.numbers(1, "the list of axes") if site.has(1) else ()
            if not axes and keeps_all:
                return value
        else:
            axes = site.integers("axes", ())
        return reduced(site, op, value, site.axes(axes or tuple(range(rank)), rank), keep=bool(keep))

    return translate


def whole_image(op: str) -> Translator:
    """GlobalAveragePool and GlobalMaxPool: a reduction over the spatial axes."""

    def translate(site: Site) -> Value:
        value = site.value(0)
        if len(value.shape) < 3:
            raise Refused("E303", f"works on {list(value.shape)}, needs spatial axes")
        return reduced(site, op, value, tuple(range(2, len(value.shape))), keep=True)

    return translate


LONG_SUM = 4096
"""Terms of one float32 sum; beyond that axes are summed one by one, which loses fewer bits."""

_REDUCED = {"SUM": ("int32",), "REDUCE_MAX": ("int32", "bool"), "REDUCE_MIN": ("int32", "bool")}
"""Element types without a scale that a reduction takes beside float32."""


def reduced(site: Site, op: str, value: Value, axes: tuple[int, ...], *, keep: bool) -> Value:
    """A reduction over axes of the model's order; the value stays stored as it is."""
    if not axes and op != "MEAN":
        return value
    if value_type(value) not in _REDUCED.get(op, ()):
        site.need_float(value)
    if isinstance(value, Known) and 0 in value.shape:
        return Known(data=reduced_none(op, value.data, axes, keep=keep))
    if op in ("MEAN", "SUM") and len(axes) > 1 and math.prod(value.shape[axis] for axis in axes) > LONG_SUM:
        value = reduced(site, op, value, axes[-1:], keep=True)
        inner = reduced(site, op, value, axes[:-1], keep=True)
        return inner if keep else site.steps.reshape(inner, _without(inner.shape, axes))
    places = value.axes if isinstance(value, Computed) else identity(len(value.shape))
    there = tuple(sorted(places[axis] for axis in axes))
    reduced_value = site.steps.step(
        op, [site.steps.stored(value, places)], MeanAttrs(axes=there, keep_dims=True), axes=places
    )
    if keep:
        return reduced_value
    return site.steps.reshape(reduced_value, _without(value.shape, axes))


def _without(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(extent for axis, extent in enumerate(shape) if axis not in axes)


def batch_normalization(site: Site) -> Value:
    """BatchNormalization: into the weights before it where it can go, else a product and a sum."""
    if site.integer("training_mode", 0) or any(site.is_used(output) for output in range(1, site.outputs)):
        raise Refused("E301", "training is not supported", "export the model for inference (eval())")
    site.real("momentum", 0.9)
    if not site.integer("spatial", 1):
        raise Refused("E301", "statistics a pixel (spatial = 0) are not supported")
    value = site.value(0)
    site.need_float(value)
    scale, offset, average, variance = (
        site.known(position, what).astype(np.float64)
        for position, what in enumerate(("the scale", "the offset", "the mean", "the variance"), 1)
    )
    channels = value.shape[1] if len(value.shape) > 1 else 0
    if any(statistic.shape != (channels,) for statistic in (scale, offset, average, variance)):
        raise Refused("E303", f"statistics do not have the shape [{channels}]")
    with np.errstate(all="ignore"):
        factor = scale / np.sqrt(variance + np.float32(site.real("epsilon", 1e-5)))
        shift = (offset - average * factor).astype(np.float32)
    row = factor.astype(np.float32)
    last = isinstance(value, Computed) and value.axes[1] == len(value.shape) - 1
    if last and site.is_only_use(0) and site.steps.scaled(value, row, shift):
        return value
    shape = (1, channels) + (1,) * (len(value.shape) - 2)
    product = pair(site, "MUL", [value, Known(data=row.reshape(shape))])
    return pair(site, "ADD", [product, Known(data=shift.reshape(shape))])
