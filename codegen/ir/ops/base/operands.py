"""Rules that several operators share: arguments, element types, quantisation, broadcasting, windows.

What evaluating a step in NumPy costs, known from shapes alone: what is bounded before it is begun.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from codegen.ir.dataflow import RowReads, RowSpan
from codegen.ir.operator import Arrays, Attrs, Op, Padding2D, Types
from codegen.ir.ops.base.attrs import (
    ConvAttrs,
    DepthwiseConvAttrs,
    FullyConnectedAttrs,
    PaddedAttrs,
    PoolAttrs,
)
from codegen.ir.ops.base.fixed_point import INT32_MAX
from codegen.ir.ops.base.taps import axes_of
from codegen.ir.types import DType, TensorType

_A = TypeVar("_A", bound=Attrs)

_SCALE_TOLERANCE = 1e-6
"""Largest difference of two scales that count as one. Source: TFLite kernels/pooling.cc."""


def narrow(attrs: Attrs, kind: type[_A]) -> _A:
    """`attrs` as the operator's own attribute set; a ValueError names the one it was given instead."""
    if not isinstance(attrs, kind):
        raise ValueError(f"attributes are {type(attrs).__name__}, the operator takes {kind.__name__}")
    return attrs


def operand(args: Types, index: int, what: str) -> TensorType:
    """Argument `index`; raises ValueError if it was left out."""
    type_ = args[index] if index < len(args) else None
    if type_ is None:
        raise ValueError(f"the {what} is missing")
    return type_


def optional(args: Types, index: int) -> TensorType | None:
    """Argument `index`, None if it was left out."""
    return args[index] if index < len(args) else None


def present(values: Arrays, index: int, what: str) -> np.ndarray:
    """Data of argument `index`; raises ValueError if it was left out."""
    data = values[index] if index < len(values) else None
    if data is None:
        raise ValueError(f"the {what} is missing")
    return data


def need_bias(args: Types, channels: int, *dtypes: DType) -> None:
    """Raise ValueError unless argument 2 was left out, or is of one of `dtypes`, one element a channel."""
    bias = optional(args, 2)
    if bias is None:
        return
    need_dtype(bias, "bias", *dtypes)
    if bias.elements != channels:
        raise ValueError(f"the bias has {bias.elements} elements for {channels} output channels")


def need_count(args: Types, low: int, high: int) -> None:
    """Raise ValueError unless there are `low` to `high` arguments."""
    if not low <= len(args) <= high:
        count = str(low) if low == high else f"{low} to {high}"
        raise ValueError(f"has {len(args)} inputs, needs {count}")


def need_rank(value: TensorType, rank: int, what: str) -> None:
    """Raise ValueError unless `value` has `rank` dimensions."""
    if len(value.shape) != rank:
        raise ValueError(f"the {what} has shape {list(value.shape)}, needs {rank} dimensions")


def need_elements(result: TensorType) -> None:
    """Raise ValueError for an empty result: nothing on a board could use it."""
    if result.elements == 0:
        raise ValueError(f"result shape {list(result.shape)} has no elements")


def need_dtype(value: TensorType, what: str, *allowed: DType) -> None:
    """Raise ValueError unless the element type of `value` is one of `allowed`."""
    if value.dtype not in allowed:
        names = " or ".join(dtype.value for dtype in allowed)
        raise ValueError(f"the {what} is {value.dtype.value}, supported is {names}")


def need_quantized(value: TensorType, what: str, *, any_zero: bool = False) -> None:
    """Raise ValueError unless `value` is quantised per tensor with a zero point its type can hold; that of 16
    bits and more is 0, unless `any_zero`."""
    if value.quantization is None:
        raise ValueError(f"the {what} is {value.dtype.value} without a scale")
    if len(value.quantization.scales) != 1:
        raise ValueError(f"the {what} is quantised per channel, supported is per tensor")
    low, high = value.dtype.limits
    if not low <= value.zero_point <= high:
        raise ValueError(f"zero point {value.zero_point} of the {what} is outside {value.dtype.value}")
    if value.dtype in (DType.INT16, DType.INT32) and value.zero_point and not any_zero:
        raise ValueError(
            f"the {what} is {value.dtype.value} with zero point {value.zero_point}, supported is 0, "
            "as TFLite has it for 16 bits and more"
        )


def need_one_type(values: Sequence[tuple[str, TensorType]], *integers: DType, any_zero: bool = False) -> None:
    """All of one type, one of `integers` quantised per tensor or float32; raises ValueError otherwise."""
    first = values[0][1]
    for what, value in values:
        need_dtype(value, what, *integers, DType.FLOAT32)
        if value.dtype is not first.dtype:
            raise ValueError(f"the {what} is {value.dtype.value}, the {values[0][0]} {first.dtype.value}")
        if value.dtype is not DType.FLOAT32:
            need_quantized(value, what, any_zero=any_zero)


def need_quantized_or_float(values: Sequence[tuple[str, TensorType]], *, any_zero: bool = False) -> None:
    """Raise ValueError unless all are float32, int8 or int16 alike (int16 with zero point 0, unless
    `any_zero`).
    """
    need_one_type(values, DType.INT8, DType.INT16, any_zero=any_zero)


def need_same_quantization(first: TensorType, second: TensorType, what: str) -> None:
    """Raise ValueError unless both integer types mean the same real numbers."""
    scale_differs = abs(first.scale - second.scale) > _SCALE_TOLERANCE
    if scale_differs or first.zero_point != second.zero_point:
        raise ValueError(
            f"{what} must be quantised alike: scale {first.scale:g} zero point {first.zero_point} "
            f"and scale {second.scale:g} zero point {second.zero_point}"
        )


def need_fixed_quantization(
    value: TensorType, scale: float, zero_point: int, *, tolerance: float = 0.0
) -> None:
    """Raise ValueError unless the result has the one quantisation its integer kernel can produce, a scale
    within a part `tolerance` of it."""
    if abs(value.scale - scale) > tolerance * scale or value.zero_point != zero_point:
        raise ValueError(
            f"the result has scale {value.scale:g} zero point {value.zero_point}, "
            f"an {value.dtype.value} result has scale 1/{round(1 / scale)} zero point {zero_point}"
        )


def broadcast(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of an elementwise operation, extents of 1 stretched; raises ValueError if shapes do not fit."""
    rank = max(len(first), len(second))
    left = (1,) * (rank - len(first)) + first
    right = (1,) * (rank - len(second)) + second
    if any(a != b and 1 not in (a, b) for a, b in zip(left, right, strict=True)):
        raise ValueError(f"shapes {list(first)} and {list(second)} do not broadcast")
    return tuple(b if a == 1 else a for a, b in zip(left, right, strict=True))


def window_extents(
    image: tuple[int, int],
    window: tuple[int, int],
    *,
    stride: tuple[int, int],
    padding: Padding2D,
    dilation: tuple[int, int] = (1, 1),
) -> tuple[int, int]:
    """Rows and columns of the result of sliding `window` over `image`, all in elements.

    floor((extent + padding - ((window - 1) * dilation + 1)) / stride) + 1; for TFLite's SAME padding made
    explicit this is its ceil(extent / stride). Raises ValueError if no window fits, or if one reaches further
    than C's int32_t counts.
    """
    if min(*window, *stride, *dilation) < 1:
        raise ValueError(f"window {window}, stride {stride} and dilation {dilation} must be positive")
    rows, columns = axes_of(image, window, stride=stride, padding=padding, dilation=dilation)
    reach = f"a window of {rows.reach}x{columns.reach}"
    if min(rows.room, columns.room) < 0:
        raise ValueError(f"{reach} does not fit an image of {image[0]}x{image[1]}")
    if max(rows.padded, columns.padded) > INT32_MAX:
        raise ValueError(f"{reach} with padding {padding} reaches further than {INT32_MAX} elements")
    return rows.count, columns.count


def window_reads(
    attrs: ConvAttrs | DepthwiseConvAttrs | PoolAttrs,
    window: tuple[int, int],
    dilation: tuple[int, int],
    axis: int,
    count: int,
) -> RowReads | None:
    """Rows (axis 1) or columns (2) that a sliding window reads of the first of `count` arguments."""
    if axis not in (1, 2):
        return None
    padding, along = attrs.padding, axis - 1
    return RowReads(
        axes=(axis, *(None for _ in range(count - 1))),
        taps=window[along],
        stride=attrs.stride[along],
        dilation=dilation[along],
        front=(padding.top, padding.left)[along],
    )


def span_padded(attrs: PaddedAttrs, span: RowSpan) -> PaddedAttrs:
    """The attributes with the padding that part of a result reads."""
    if span.axis == 1:
        return replace(attrs, padding=replace(attrs.padding, top=span.front, bottom=span.back))
    return replace(attrs, padding=replace(attrs.padding, left=span.front, right=span.back))


_ROUND = 1 << 12
"""Elements that NumPy handles in the time of one round of a loop in Python."""


def effort(op: Op, attrs: Attrs, args: Types, result: TensorType) -> int:
    """Elements read, computed and multiplied; rounds of loops over a window or over input channels (of
    floats) count as the elements that would take as long. Memory goes with it: some 100 bytes each."""
    elements = result.elements + sum(arg.elements for arg in args if arg is not None)
    if isinstance(attrs, PoolAttrs):
        taps = math.prod(attrs.window)
        return elements + taps * (result.elements + _ROUND)
    macs = op.macs(attrs, args, result)
    rounds = macs // result.elements if result.elements else 0
    weights = args[1] if len(args) > 1 else None
    mixes = isinstance(attrs, ConvAttrs | FullyConnectedAttrs)
    if mixes and weights is not None and weights.dtype is not DType.FLOAT32:
        rounds //= max(weights.shape[-1], 1)  # integers take all input channels in one matrix product
    return elements + macs + rounds * _ROUND
