"""Nodes that compute element by element, reduce or multiply matrices."""

from collections.abc import Callable

import numpy as np

from codegen.importers.onnx.layouts import Computed, Known, Value, identity, moved
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused
from codegen.ir import DType
from codegen.ir.ops import (
    Attrs,
    BatchMatMulAttrs,
    BinaryAttrs,
    FullyConnectedAttrs,
    LeakyReluAttrs,
    MeanAttrs,
    SoftmaxAttrs,
)
from codegen.ir.ops.base.operands import broadcast

Translator = Callable[[Site], Value]


def unary(op: str) -> Translator:
    """An operator on each element by itself."""
    return lambda site: _unary(site, op, site.value(0), Attrs())


def _unary(site: Site, op: str, value: Value, attrs: Attrs) -> Value:
    site.need_float(value)
    axes = value.axes if isinstance(value, Computed) else identity(len(value.shape))
    return site.steps.step(op, [site.steps.stored(value, axes)], attrs, axes=axes)


def _pair(site: Site, op: str, values: list[Value], dtype: DType | None = None) -> Value:
    attrs = BinaryAttrs() if op in ("ADD", "SUB", "MUL", "DIV") else Attrs()
    args, axes = site.together(values)
    return site.steps.step(op, args, attrs, axes=axes, dtype=dtype)


def binary(op: str, of: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None) -> Translator:
    """An operator on two float32 values that broadcast; `of`: on integers that the file knows (shapes)."""

    def translate(site: Site) -> Value:
        first, second = site.value(0), site.value(1)
        known = _extents(first, second)
        if of is not None and known is not None:
            site.steps.count_known(_shape(first, second))
            return Known(data=np.asarray(of(*known)))
        site.need_float(first, second)
        if op in ("ADD", "SUB") and _is_bias(site, op, first, second):
            return first
        if op == "ADD" and _is_bias(site, op, second, first):
            return second
        return _pair(site, op, [first, second])

    return translate


def _shape(first: Value, second: Value) -> tuple[int, ...]:
    try:
        return broadcast(first.shape, second.shape)
    except ValueError as error:
        raise Refused("E306", str(error)) from error


def _extents(first: Value, second: Value) -> tuple[np.ndarray, np.ndarray] | None:
    """Both as numbers of the file, if they count something (int64); else None."""
    if isinstance(first, Known) and isinstance(second, Known):
        both = first.data, second.data
        return both if all(data.dtype == np.int64 for data in both) else None
    return None


def _is_bias(site: Site, op: str, value: Value, other: Value) -> bool:
    """Whether the sum was taken into the bias of the step that computes `value`."""
    if not isinstance(other, Known) or not isinstance(value, Computed):
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
    """An operator on any number of float32 values, two by two in their order."""

    def translate(site: Site) -> Value:
        values = site.all_values()
        site.need_float(*values)
        found = values[0]
        for value in values[1:]:
            found = _pair(site, op, [found, value])
        return found

    return translate


def compare(op: str, *, swapped: bool = False) -> Translator:
    """A comparison; its result is bool."""

    def translate(site: Site) -> Value:
        values = [site.value(1), site.value(0)] if swapped else [site.value(0), site.value(1)]
        return _pair(site, op, values, DType.BOOL)

    return translate


def where(site: Site) -> Value:
    """Where: one of two values by a condition."""
    values = [site.value(0), site.value(1), site.value(2)]
    args, axes = site.together(values)
    dtype = args[1].type.dtype
    return site.steps.step("SELECT_V2", args, Attrs(), axes=axes, dtype=dtype)


def logical_not(site: Site) -> Value:
    """Not of each element."""
    value = site.value(0)
    axes = value.axes if isinstance(value, Computed) else identity(len(value.shape))
    return site.steps.step("LOGICAL_NOT", [site.steps.stored(value, axes)], Attrs(), axes=axes)


def _number(site: Site, number: float, value: Value) -> Known:
    del site
    return Known(data=np.full((1,) * len(value.shape), number, np.float32))


def reciprocal(site: Site) -> Value:
    """Reciprocal: 1 divided by each element."""
    value = site.value(0)
    site.need_float(value)
    return _pair(site, "DIV", [_number(site, 1.0, value), value])


def power(site: Site) -> Value:
    """Pow by a constant that a cheaper operator computes."""
    value, exponent = site.value(0), site.known(1, "the exponent")
    site.need_float(value)
    number = float(exponent.reshape(-1)[0]) if exponent.size == 1 else None
    if exponent.ndim > len(value.shape) or number not in (0.5, 1.0, 2.0, 3.0):
        raise Refused("E301", "a power other than 0.5, 1, 2 or 3 is not supported")
    if number == 0.5:
        return _unary(site, "SQRT", value, Attrs())
    found = value
    for _ in range(int(number) - 1):
        found = _pair(site, "MUL", [found, value])
    return found


def leaky_relu(site: Site) -> Value:
    """LeakyRelu."""
    return _unary(site, "LEAKY_RELU", site.value(0), LeakyReluAttrs(alpha=site.real("alpha", 0.01)))


def elu(site: Site) -> Value:
    """Elu with its usual factor of 1."""
    if site.real("alpha", 1.0) != 1.0:
        raise Refused("E301", "an alpha other than 1 is not supported")
    return _unary(site, "ELU", site.value(0), Attrs())


def hard_sigmoid(site: Site) -> Value:
    """HardSigmoid: a line between 0 and 1."""
    value = site.value(0)
    site.need_float(value)
    line = _pair(site, "MUL", [value, _number(site, site.real("alpha", 0.2), value)])
    return _bounded(site, _pair(site, "ADD", [line, _number(site, site.real("beta", 0.5), value)]), 0.0, 1.0)


def clip(site: Site) -> Value:
    """Clip between two numbers, of which each may be left out."""
    value = site.value(0)
    site.need_float(value)
    bounds: list[float | None] = [None, None]
    for place, name in enumerate(("min", "max")):
        if site.opset < 11:
            bounds[place] = site.real(name, 0.0) if site.has_attribute(name) else None
        elif site.has(place + 1):
            given = site.known(place + 1, f"the bound {name}")
            if given.size != 1:
                raise Refused(
                    "E303", f"the bound {name} has shape {list(given.shape)}, it has to be one number"
                )
            bounds[place] = float(given.reshape(-1)[0])
    return _bounded(site, value, *bounds)


def _bounded(site: Site, value: Value, low: float | None, high: float | None) -> Value:
    if low == 0.0 and high in (None, 6.0):
        return _unary(site, "RELU" if high is None else "RELU6", value, Attrs())
    if low is not None:
        value = _pair(site, "MAXIMUM", [value, _number(site, low, value)])
    if high is not None:
        value = _pair(site, "MINIMUM", [value, _number(site, high, value)])
    return value


def softmax(site: Site) -> Value:
    """Softmax along one axis; before opset 13 over everything from an axis on."""
    value, steps = site.value(0), site.steps
    site.need_float(value)
    rank, shape = len(value.shape), value.shape
    axis = site.axis(site.integer("axis", -1 if site.opset >= 13 else 1), max(rank, 1))
    if site.opset < 13 and axis != rank - 1 and any(extent != 1 for extent in shape[axis + 1 :]):
        rows = int(np.prod(shape[:axis]))
        flat = steps.reshape(value, (rows, int(np.prod(shape[axis:]))))
        return steps.reshape(steps.step("SOFTMAX", [steps.dense(flat)], SoftmaxAttrs()), shape)
    axes = value.axes if isinstance(value, Computed) else identity(rank)
    if axes[axis] != rank - 1:
        others = iter(range(rank - 1))
        axes = tuple(rank - 1 if each == axis else next(others) for each in range(rank))
    return steps.step("SOFTMAX", [steps.stored(value, axes)], SoftmaxAttrs(), axes=axes)


def reduction(op: str, since: int) -> Translator:
    """A reduction over axes, which are an input from opset `since` on, an attribute before."""

    def translate(site: Site) -> Value:
        value, rank = site.value(0), len(site.value(0).shape)
        keep = site.integer("keepdims", 1)
        if site.opset >= since:
            axes = site.numbers(1, "the list of axes") if site.has(1) else ()
            if not axes and site.integer("noop_with_empty_axes", 0):
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


def reduced(site: Site, op: str, value: Value, axes: tuple[int, ...], *, keep: bool) -> Value:
    """A reduction over axes of the model's order; the value stays stored as it is."""
    site.need_float(value)
    places = value.axes if isinstance(value, Computed) else identity(len(value.shape))
    there = tuple(sorted(places[axis] for axis in axes))
    found = site.steps.step(
        op, [site.steps.stored(value, places)], MeanAttrs(axes=there, keep_dims=True), axes=places
    )
    if keep:
        return found
    return site.steps.reshape(
        found, tuple(extent for axis, extent in enumerate(value.shape) if axis not in axes)
    )


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
    if any(each.shape != (channels,) for each in (scale, offset, average, variance)):
        raise Refused("E303", f"statistics do not have the shape [{channels}]")
    with np.errstate(all="ignore"):
        factor = scale / np.sqrt(variance + np.float32(site.real("epsilon", 1e-5)))
        shift = (offset - average * factor).astype(np.float32)
    row = factor.astype(np.float32)
    last = isinstance(value, Computed) and value.axes[1] == len(value.shape) - 1
    if last and site.is_only_use(0) and site.steps.scaled(value, row, shift):
        return value
    shape = (1, channels) + (1,) * (len(value.shape) - 2)
    product = _pair(site, "MUL", [value, Known(data=row.reshape(shape))])
    return _pair(site, "ADD", [product, Known(data=shift.reshape(shape))])


def gemm(site: Site) -> Value:
    """Gemm: alpha * A * B + beta * C, each matrix transposed if so said."""
    first, second = site.value(0), site.value(1)
    site.need_float(first, second)
    if len(first.shape) != 2 or len(second.shape) != 2:
        raise Refused("E303", f"multiplies {list(first.shape)} by {list(second.shape)}, needs matrices")
    alpha, beta = np.float32(site.real("alpha", 1.0)), np.float32(site.real("beta", 1.0))
    first = _turned(first) if site.integer("transA", 0) else first
    second = _turned(second) if site.integer("transB", 0) else second
    addend = site.value(2) if site.has(2) else None
    if isinstance(second, Known):
        bias = None
        if (
            isinstance(addend, Known)
            and addend.data.size in (1, second.shape[1])
            and addend.shape[:-1]
            in (
                (),
                (1,),
            )
        ):
            bias = Known(data=np.broadcast_to(addend.data.reshape(-1) * beta, second.shape[1:]))
            addend = None
        found = _by_weights(site, first, second.data * alpha, bias)
    else:
        found = _product(site, first, second)
        if alpha != 1:
            found = _pair(site, "MUL", [found, _number(site, float(alpha), found)])
    if addend is None:
        return found
    site.need_float(addend)
    if isinstance(addend, Known):
        addend = Known(data=addend.data * beta)
    elif beta != 1:
        addend = _pair(site, "MUL", [addend, _number(site, float(beta), addend)])
    return _pair(site, "ADD", [found, addend])


def matmul(site: Site) -> Value:
    """MatMul: by constant weights a fully connected layer, else a product of matrices in batches."""
    first, second = site.value(0), site.value(1)
    site.need_float(first, second)
    if not first.shape or not second.shape:
        raise Refused("E303", "multiplies a number, which has no axis")
    steps, rows, columns = site.steps, len(first.shape) == 1, len(second.shape) == 1
    first = steps.reshape(first, (1, *first.shape)) if rows else first
    second = steps.reshape(second, (*second.shape, 1)) if columns else second
    if isinstance(second, Known) and len(second.shape) == 2 and isinstance(first, Computed):
        found = _by_weights(site, first, second.data, None)
    else:
        found = _product(site, first, second)
    shape = found.shape[:-1] if columns else found.shape
    if rows:
        shape = (*shape[:-2], *shape[-1:]) if not columns else shape[:-1]
    return steps.reshape(found, shape)


def _turned(value: Value) -> Value:
    if isinstance(value, Known):
        return Known(data=value.data.T)
    return Computed(var=value.var, axes=(value.axes[1], value.axes[0]))


def _by_weights(site: Site, value: Value, weights: np.ndarray, bias: Known | None) -> Value:
    if value.shape[-1] != weights.shape[0]:
        raise Refused("E303", f"multiplies {list(value.shape)} by {list(weights.shape)}")
    steps = site.steps
    args = [
        steps.dense(value),
        steps.constant(weights.T),
        None if bias is None else steps.constant(bias.data),
    ]
    return steps.step("FULLY_CONNECTED", args, FullyConnectedAttrs(keep_num_dims=True))


def _product(site: Site, first: Value, second: Value) -> Value:
    steps = site.steps
    return steps.step("BATCH_MATMUL", [steps.dense(first), steps.dense(second)], BatchMatMulAttrs())
