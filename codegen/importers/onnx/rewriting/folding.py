"""Nodes whose inputs are all known are computed when the file is read: what a model says of its own shapes.

Numbers of any type that NumPy has, float32 only where no operator of ours computes the node.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.layouts import Known
from codegen.importers.onnx.no_elements import reduced_none
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused, whole_number
from codegen.ir.ops.base.operands import broadcast

_Arrays = Sequence[np.ndarray]
_Elementwise = Callable[..., np.ndarray]
_Fold = Callable[[Site, _Arrays], np.ndarray]


def folded(site: Site, *, is_translated: bool) -> tuple[Known, ...] | None:
    """The node's results, if its inputs are known and NumPy computes it; `is_translated`: an operator does
    too, which has float32. Raises Refused where the inputs do not fit."""
    node = site.node
    fold = None if node.domain else _FOLDS.get(node.op)
    if fold is None or not node.inputs or len(node.outputs) != 1:
        return None
    values = [site.known_data(index) for index in range(len(node.inputs)) if site.has(index)]
    known = [array for array in values if array is not None]
    if len(known) != len(values) or not known:
        return None
    if is_translated and all(array.dtype == np.float32 for array in known) and node.op not in _ANY_FLOATS:
        return None
    try:
        with np.errstate(all="ignore"):
            folded_data = np.asarray(fold(site, known))
    except (ValueError, TypeError, IndexError) as error:
        raise Refused("E303", f"its constants do not fit each other: {error}") from error
    site.need_no_more()
    return (Known(data=folded_data),)


def _elementwise(function: _Elementwise) -> _Fold:
    def fold(site: Site, values: _Arrays) -> np.ndarray:
        shape: tuple[int, ...] = ()
        for value in values:
            shape = broadcast(shape, value.shape)
        site.steps.count_known(shape)
        return function(*values)

    return fold


def _several(function: _Elementwise) -> _Fold:
    """Two by two, of any number."""

    def all_of(*values: np.ndarray) -> np.ndarray:
        result = values[0]
        for value in values[1:]:
            result = function(result, value)
        return result

    return _elementwise(all_of)


def _quotient(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Towards zero of integers, as ONNX has it."""
    if not np.issubdtype(first.dtype, np.integer):
        return first / second
    if not np.all(second):
        raise ValueError("a division by zero")
    rest = np.fmod(first, second)
    return (first - rest) // second


def _modulo(site: Site, values: _Arrays) -> np.ndarray:
    if np.issubdtype(values[1].dtype, np.integer) and not np.all(values[1]):
        raise ValueError("a division by zero")
    return _elementwise(np.fmod if site.integer("fmod", 0) else np.mod)(site, values)


def _power(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.power(first.astype(np.float64), second.astype(np.float64)).astype(first.dtype)


def _range(site: Site, values: _Arrays) -> np.ndarray:
    start, limit, step = (array.reshape(-1)[0] for array in values)
    if step == 0:
        raise ValueError("steps of 0")
    count = max(whole_number(math.ceil, (float(limit) - float(start)) / float(step), "the count of Range"), 0)
    site.steps.count_known((count,))
    return (np.arange(count) * step + start).astype(values[0].dtype)


def _slice(site: Site, values: _Arrays) -> np.ndarray:
    if site.opset < 10:
        raise Refused("E301", "a part of integers is supported from opset 10 on")
    value, starts, ends = values[0], *(array.reshape(-1).tolist() for array in values[1:3])
    axes = values[3].reshape(-1).tolist() if len(values) > 3 else list(range(len(starts)))
    steps = values[4].reshape(-1).tolist() if len(values) > 4 else [1] * len(starts)
    parts = [slice(None)] * value.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        end = None if step < 0 and end < -value.shape[axis] else end
        parts[site.axis(axis, value.ndim)] = slice(start, end, step)
    return value[tuple(parts)]


def _concat(site: Site, values: _Arrays) -> np.ndarray:
    site.steps.count_known((sum(array.size for array in values),))
    return np.concatenate(values, site.axis(site.integer("axis"), values[0].ndim))


def _cumulated(function: Callable[..., np.ndarray], first: int) -> _Fold:
    def fold(site: Site, values: _Arrays) -> np.ndarray:
        value, axis = values[0], site.axis(int(values[1].reshape(-1)[0]), values[0].ndim)
        turned = np.flip(value, axis) if site.integer("reverse", 0) else value
        if site.integer("exclusive", 0):
            begin = np.full_like(np.take(turned, [0], axis), first)
            turned = np.concatenate([begin, np.delete(turned, -1, axis)], axis)
        sums = function(turned, axis=axis, dtype=value.dtype)
        return np.flip(sums, axis) if site.integer("reverse", 0) else sums

    return fold


def _reduced(function: Callable[..., np.ndarray], since: int, of_none: str = "") -> _Fold:
    """`of_none`: our operator, where NumPy has no result of a value without elements."""

    def fold(site: Site, values: _Arrays) -> np.ndarray:
        keep, rank = bool(site.integer("keepdims", 1)), values[0].ndim
        if site.opset >= since:
            keeps_all = site.integer("noop_with_empty_axes", 0)
            axes = tuple(values[1].reshape(-1).tolist()) if len(values) > 1 else ()
            if keeps_all and not axes:
                return values[0]
        else:
            axes = site.integers("axes", ())
        places = site.axes(axes or tuple(range(rank)), rank)
        if of_none and not values[0].size:
            return reduced_none(of_none, values[0], places, keep=keep)
        return function(values[0], axis=places, keepdims=keep).astype(values[0].dtype)

    return fold


def _tile(site: Site, values: _Arrays) -> np.ndarray:
    repeats = tuple(values[1].reshape(-1).tolist())
    if len(repeats) != values[0].ndim:
        raise ValueError(f"{len(repeats)} repeats of {values[0].ndim} axes")
    site.steps.count_known((values[0].size, *repeats))
    return np.tile(values[0], repeats)


def _trilu(site: Site, values: _Arrays) -> np.ndarray:
    diagonal = int(values[1].reshape(-1)[0]) if len(values) > 1 else 0
    return (np.triu if site.integer("upper", 1) else np.tril)(values[0], diagonal)


def _expand(site: Site, values: _Arrays) -> np.ndarray:
    shape = broadcast(values[0].shape, tuple(values[1].reshape(-1).tolist()))
    site.steps.count_known(shape)
    return np.array(np.broadcast_to(values[0], shape))


def _shift(site: Site, values: _Arrays) -> np.ndarray:
    return (np.left_shift if site.word("direction", "") == "LEFT" else np.right_shift)(*values)


_FOLDS: Mapping[str, _Fold] = MappingProxyType(
    {
        "Abs": _elementwise(np.abs),
        "Add": _elementwise(np.add),
        "And": _elementwise(np.logical_and),
        "BitShift": _shift,
        "BitwiseAnd": _elementwise(np.bitwise_and),
        "BitwiseNot": _elementwise(np.bitwise_not),
        "BitwiseOr": _elementwise(np.bitwise_or),
        "BitwiseXor": _elementwise(np.bitwise_xor),
        "Ceil": _elementwise(np.ceil),
        "Concat": _concat,
        "Cos": _elementwise(np.cos),
        "CumProd": _cumulated(np.cumprod, 1),
        "CumSum": _cumulated(np.cumsum, 0),
        "Div": _elementwise(_quotient),
        "Equal": _elementwise(np.equal),
        "Exp": _elementwise(np.exp),
        "Expand": _expand,
        "Floor": _elementwise(np.floor),
        "Greater": _elementwise(np.greater),
        "GreaterOrEqual": _elementwise(np.greater_equal),
        "IsNaN": _elementwise(np.isnan),
        "Less": _elementwise(np.less),
        "LessOrEqual": _elementwise(np.less_equal),
        "Log": _elementwise(np.log),
        "Max": _several(np.maximum),
        "Min": _several(np.minimum),
        "Mod": _modulo,
        "Mul": _elementwise(np.multiply),
        "Neg": _elementwise(np.negative),
        "Not": _elementwise(np.logical_not),
        "Or": _elementwise(np.logical_or),
        "Pow": _elementwise(_power),
        "Range": _range,
        "Reciprocal": _elementwise(np.reciprocal),
        "ReduceMax": _reduced(np.max, 18, "REDUCE_MAX"),
        "ReduceMin": _reduced(np.min, 18, "REDUCE_MIN"),
        "ReduceProd": _reduced(np.prod, 18),
        "ReduceSum": _reduced(np.sum, 13),
        "Round": _elementwise(np.round),
        "Sign": _elementwise(np.sign),
        "Sin": _elementwise(np.sin),
        "Slice": _slice,
        "Sqrt": _elementwise(np.sqrt),
        "Sub": _elementwise(np.subtract),
        "Sum": _several(np.add),
        "Tile": _tile,
        "Trilu": _trilu,
        "Where": _elementwise(np.where),
        "Xor": _elementwise(np.logical_xor),
    }
)

_ANY_FLOATS = frozenset({"Pow", "Range"})
"""Node types for which an operator computes few cases only."""
