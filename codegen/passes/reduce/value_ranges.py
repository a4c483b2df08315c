"""Value ranges: the smallest and largest integer that every element of every int8 value can hold.

Bounds are per element, so that padding, positions and flattened columns need no special cases. They come from
the operators' own reference arithmetic: exact tables for functions of one element, both ends for monotone
operators, sums of products split by the weights' sign for operators with weights. Where an accumulator may
wrap in 32 bits the result is only bounded by its clamp.

Bounds of an image are mostly alike from row to row and from column to column: a clamp is the same everywhere,
and only the border differs from the inside. Results of a convolution that read the same bounds are computed
once: of rows whose windows read rows with the same content one is chosen, of columns too. Their windows, laid
side by side, are a small image: a convolution whose steps are as long as its window, without padding, takes
it to the chosen results.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Arg, ConstRef, DType, Function, Let, Module, TensorType
from codegen.ir.dataflow import Range
from codegen.ir.evaluate import evaluate_let
from codegen.ir.operator import NO_PADDING
from codegen.ir.ops import Attrs, ConvAttrs, DepthwiseConvAttrs
from codegen.ir.ops.base.activation import stored_limits
from codegen.ir.ops.base.operands import effort
from codegen.ir.ops.base.taps import WindowAxis, axes_of
from codegen.ir.ops.base.weighted import WeightedOp, weight_zero_point

MAX_EFFORT = 1 << 30
"""Effort of all steps whose ranges are worked out, in elementary operations (`ir.ops.base.effort`)."""

MAX_ELEMENTS = 2 << 20
"""Elements of the largest step whose range is worked out: it takes up to 100 bytes each."""


def ranges(module: Module, function: Function) -> dict[str, Range]:
    """Ranges of all variables that have one: int8 values, and whatever depends on no parameter.

    Steps beyond `MAX_ELEMENTS` or, all together, `MAX_EFFORT` are bounded by their types alone.
    """
    known = {param.name: limits(param.type) for param in function.params if param.type.dtype is DType.INT8}
    left = MAX_EFFORT
    for let in function.body:
        work = _effort(let)
        if work is None or work > left:
            result = _unknown(let)
        else:
            left -= work
            result = _transfer(let, [_known(module, arg, known) for arg in let.call.args])
        if result is not None:
            known[let.var.name] = result
    return known


def limits(type_: TensorType, attrs: Attrs | None = None) -> Range:
    """Return the smallest and largest value that an int8 result of a step with `attrs` can store."""
    ends = type_.dtype.limits
    if attrs is not None and type_.quantization is not None:
        ends = stored_limits(attrs, type_)
    low, high = (np.broadcast_to(np.int8(end), type_.shape) for end in ends)  # of one byte each
    return Range(low=low, high=high)


def _effort(let: Let) -> int | None:
    """Return the effort of evaluating a step, None if a value has more than `MAX_ELEMENTS`."""
    types = let.call.types
    largest = max(type_.elements for type_ in (let.var.type, *types) if type_ is not None)
    return effort(let.call.op, let.call.attrs, types, let.var.type) if largest <= MAX_ELEMENTS else None


def _unknown(let: Let) -> Range | None:
    """Return the range that the type and a fused activation allow a result, None if it is not int8."""
    if let.var.type.dtype is not DType.INT8:
        return None
    return limits(let.var.type, let.call.attrs)


def _known(module: Module, arg: Arg | None, known: Mapping[str, Range]) -> Range | None:
    if isinstance(arg, ConstRef):
        return Range.of(module.array(arg))
    return None if arg is None else known.get(arg.name)


def _transfer(let: Let, args: Sequence[Range | None]) -> Range | None:
    """Range of the step's result, None if it is neither int8 nor known exactly."""
    missing = [bounds is None for arg, bounds in zip(let.call.args, args, strict=True) if arg is not None]
    if not any(missing) and all(bounds is None or bounds.exact for bounds in args):
        data = evaluate_let(let, [None if bounds is None else bounds.low for bounds in args])
        return Range(low=data, high=data)
    if let.var.type.dtype is not DType.INT8:
        return None
    ranges = [bounds for bounds in args if bounds is not None]
    bounded = None if any(missing) or not ranges else _bounded(let, ranges)
    return _unknown(let) if bounded is None else bounded


def _bounded(let: Let, ranges: Sequence[Range]) -> Range | None:
    """By the rule of the operator; of a convolution at few rows and columns, if they show all there is."""
    image = let.call.args[0] if is_foldable(let) else None
    ends = (ranges[0].low, ranges[0].high)
    fewer = None if image is None else condensed(let, ends, image.type.zero_point)
    if fewer is None:
        return _by_rule(let, ranges)
    known = _by_rule(fewer.let, (Range(low=fewer.images[0], high=fewer.images[1]), *ranges[1:]))
    return known and Range(low=fewer.spread(known.low), high=fewer.spread(known.high))


def _by_rule(let: Let, ranges: Sequence[Range]) -> Range | None:
    return let.call.op.value_range(let.call.attrs, ranges, let.call.types, let.var.type)


def is_foldable(let: Let) -> bool:
    """True if the step has an int8 image, constant int8 weights and a constant bias or none."""
    args = let.call.args
    if not isinstance(let.call.op, WeightedOp) or len(args) < 2 or args[0] is None:
        return False
    constant = all(arg is None or isinstance(arg, ConstRef) for arg in args[1:])
    weights = args[1]
    return (
        constant
        and weights is not None
        and args[0].type.dtype is weights.type.dtype is let.var.type.dtype is DType.INT8
        and weight_zero_point(weights.type) == 0
    )


Indices = NDArray[np.int64]


_Arg = TypeVar("_Arg", bound=Arg)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Condensed:
    """A step for the chosen rows and columns alone. `images`: those given, as this step reads them."""

    let: Let
    images: tuple[np.ndarray, ...]
    rows: Indices
    """Per row of the whole result: the row here that is the same."""
    columns: Indices

    def spread(self, result: np.ndarray) -> np.ndarray:
        """The whole result."""
        return result[:, self.rows][:, :, self.columns]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _ChosenAxis:
    chosen: Indices
    """Positions that windows of the chosen results read, window after window; `extent` for padding."""
    same: Indices
    """Per result: which of the chosen ones is the same."""


def condensed(let: Let, images: Sequence[np.ndarray], fill: int) -> Condensed | None:
    """A convolution of `images` (int8, each of its first argument's shape) for one result of each kind; None
    if that is no less work. `fill` is what padding holds, the zero point."""
    attrs, (image, weights, *_) = let.call.attrs, let.call.args
    if not isinstance(attrs, ConvAttrs | DepthwiseConvAttrs) or image is None or weights is None:
        return None
    _, height, width, channels = image.type.shape
    window = (weights.type.shape[1], weights.type.shape[2])
    result = let.var.type.shape
    where = axes_of(
        (height, width), window, stride=attrs.stride, padding=attrs.padding, dilation=attrs.dilation
    )
    kinds = _kinds(images, 1)
    axes = [_axis(where[0], result[1], kinds)]
    # Of rows that are the same one says how columns differ.
    _, once = np.unique(kinds, return_index=True)
    axes.append(_axis(where[1], result[2], _kinds([image[:, once] for image in images], 2)))
    rows, columns = (axis.chosen for axis in axes)
    if len(rows) * len(columns) >= height * width:
        return None
    small = (result[0], len(rows) // window[0], len(columns) // window[1], result[3])
    shape = (result[0], len(rows), len(columns), channels)
    close = replace(attrs, stride=window, dilation=(1, 1), padding=NO_PADDING)
    args = (_shaped(image, shape), *let.call.args[1:])
    return Condensed(
        let=replace(let, var=_shaped(let.var, small), call=replace(let.call, args=args, attrs=close)),
        images=tuple(_taken(image, rows, columns, fill) for image in images),
        rows=axes[0].same,
        columns=axes[1].same,
    )


def _kinds(images: Sequence[np.ndarray], axis: int) -> Indices:
    """Per position along the axis a number: equal where all images hold the same there."""
    # Copied to one line a position first: to gather each by itself takes ten times as long.
    lines = [
        np.ascontiguousarray(np.moveaxis(image, axis, 0)).reshape(image.shape[axis], -1) for image in images
    ]
    starts, run_of = _runs(lines)
    seen: dict[bytes, int] = {}
    kinds = [seen.setdefault(b"".join(line[at].tobytes() for line in lines), len(seen)) for at in starts]
    return np.array(kinds, np.int64)[run_of]


def _runs(lines: Sequence[np.ndarray]) -> tuple[Indices, Indices]:
    """Begins of runs of equal rows (equal in all of `lines`), and the run of each row.
    Most rows repeat the row before them, so runs are few.
    """
    begins = np.ones(len(lines[0]), bool)
    begins[1:] = np.logical_or.reduce([(line[1:] != line[:-1]).any(axis=1) for line in lines])
    return np.flatnonzero(begins), np.cumsum(begins) - 1


def _axis(axis: WindowAxis, count: int, kinds: Indices) -> _ChosenAxis:
    results, taps = np.arange(count)[:, None], np.arange(axis.window)
    read = results * axis.stride - axis.before + taps * axis.dilation
    read[(read < 0) | (read >= axis.extent)] = axis.extent
    reads = np.append(kinds, -1)[read]
    starts, run_of = _runs([reads])
    _, chosen, same = np.unique(reads[starts], axis=0, return_index=True, return_inverse=True)
    return _ChosenAxis(chosen=read[starts[chosen]].reshape(-1), same=same.reshape(-1)[run_of])


def _shaped(arg: _Arg, shape: tuple[int, ...]) -> _Arg:
    return replace(arg, type=replace(arg.type, shape=shape))


def _taken(image: np.ndarray, rows: Indices, columns: Indices, fill: int) -> np.ndarray:
    """These rows and columns; those behind the last one are padding."""
    inside = image[:, np.minimum(rows, image.shape[1] - 1)][:, :, np.minimum(columns, image.shape[2] - 1)]
    inside[:, rows == image.shape[1]] = fill
    inside[:, :, columns == image.shape[2]] = fill
    return inside
