"""Operators that multiply by weights: CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED.

Sums of products are in `base/products.py`; here are bias, rescaling and activation, and what fits what.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.activation import activated, stored_limits
from codegen.ir.ops.base.attrs import ConvAttrs, DepthwiseConvAttrs, FullyConnectedAttrs
from codegen.ir.ops.base.fixed_point import (
    Integers,
    multiply_by_quantized_multiplier,
    multiply_wide_by_quantized_multiplier,
    wrap_int32,
)
from codegen.ir.ops.base.operands import (
    narrow,
    need_bias,
    need_count,
    need_dtype,
    need_elements,
    need_quantized,
    need_rank,
    operand,
    optional,
    present,
    window_extents,
)
from codegen.ir.ops.base.parameters import (
    connected_rule,
    conv_multipliers,
    has_wide_accumulator,
    need_matching_bias,
    need_wide_shifts,
)
from codegen.ir.ops.base.products import Reals, sums_of
from codegen.ir.types import DType, Quantization, TensorType

Multipliers = Callable[[float, Sequence[float], float], tuple[NDArray[np.int32], NDArray[np.int32]]]


def _evaluated(
    attrs: Attrs, values: Arrays, args: Types, result: TensorType, multipliers: Multipliers
) -> np.ndarray:
    total = sums_of(attrs, *_operands(values, args), result)
    return _finish(total, attrs, values, args, result, multipliers).reshape(result.shape)


def _operands(values: Arrays, args: Types) -> tuple[Reals, Reals]:
    """Image less its zero point (so that padding with 0 is padding with the zero point), weights less theirs.

    Both float64 if they are integers, so that sums are exact, else float32.
    """
    image, weights = present(values, 0, "image"), present(values, 1, "weights")
    type_ = operand(args, 0, "image")
    if type_.dtype is DType.FLOAT32:
        return image, weights
    centred = weights.astype(np.float64) - weight_zero_point(operand(args, 1, "weights"))
    return image.astype(np.float64) - type_.zero_point, centred


def weight_zero_point(weights: TensorType) -> int:
    """The zero point of weights; those with a scale by channel have none."""
    return 0 if weights.quantization is None else weights.quantization.zero_points[0]


def _finish(
    total: Reals,
    attrs: Attrs,
    values: Arrays,
    args: Types,
    result: TensorType,
    multipliers: Multipliers,
) -> np.ndarray:
    """Add the bias, rescale integers, apply the activation."""
    bias = values[2] if len(values) > 2 else None
    if result.dtype is DType.FLOAT32:
        biased = total if bias is None else total + bias.reshape(-1)
        return activated(biased, attrs, result)
    sums = total.astype(np.int64)
    if bias is not None:
        sums = sums + bias.reshape(-1)
    return requantized(sums, attrs, args, result, multipliers)


def requantized(
    sums: Integers, attrs: Attrs, args: Types, result: TensorType, multipliers: Multipliers
) -> np.ndarray:
    """Integer results of `sums` [..., O], bias included; they wrap to 32 bits first, as in C, or are 64 bits
    wide (`has_wide_accumulator`)."""
    scales = _scales(operand(args, 1, "weights").quantization)
    factors, shifts = multipliers(operand(args, 0, "image").scale, scales, result.scale)
    if has_wide_accumulator(args):
        scaled = multiply_wide_by_quantized_multiplier(sums, factors, shifts)
    else:
        scaled = multiply_by_quantized_multiplier(wrap_int32(sums), factors, shifts) + result.zero_point
    return activated(scaled, attrs, result)


def _scales(quantization: Quantization | None) -> tuple[float, ...]:
    if quantization is None:
        raise ValueError("the weights have no scale")
    return quantization.scales


def _check_weighted(
    args: Types, result: TensorType, axis: int, attrs: Attrs, multipliers: Multipliers
) -> None:
    """Types of image, weights, bias and result; `axis` is the weights' axis of result channels."""
    image, weights, channels = operand(args, 0, "image"), operand(args, 1, "weights"), result.shape[-1]
    need_elements(result)
    need_dtype(image, "image", *_BIAS_TYPES)
    need_dtype(weights, "weights", *_WEIGHT_TYPES[image.dtype])
    need_dtype(result, "result", image.dtype)
    need_bias(args, channels, *_BIAS_TYPES[image.dtype])
    if image.dtype is not DType.FLOAT32:
        need_quantized(image, "image")
        need_quantized(result, "result")
        scales = checked_scales(weights, channels, axis, may_be_asymmetric=image.dtype is DType.INT8)
        _, shifts = multipliers(image.scale, scales, result.scale)
        if has_wide_accumulator(args):
            need_wide_shifts(shifts)
        stored_limits(attrs, result)


_WEIGHT_TYPES = {
    DType.INT8: (DType.INT8, DType.INT4),
    DType.INT16: (DType.INT8,),
    DType.FLOAT32: (DType.FLOAT32,),
}
"""Element types of weights, by that of the image."""

_BIAS_TYPES = {
    DType.INT8: (DType.INT32,),
    DType.INT16: (DType.INT64, DType.INT32),
    DType.FLOAT32: (DType.FLOAT32,),
}
"""Element types of a bias, by that of the image."""


def checked_scales(
    weights: TensorType, channels: int, axis: int, *, may_be_asymmetric: bool = False
) -> tuple[float, ...]:
    """Scales of weights, one or one a channel, along `axis`; raises ValueError for others."""
    quantization = weights.quantization
    if quantization is None:
        raise ValueError(f"the weights are {weights.dtype.value} without a scale")
    if len(quantization.scales) not in (1, channels):
        raise ValueError(f"the weights have {len(quantization.scales)} scales for {channels} output channels")
    if len(quantization.scales) > 1 and quantization.axis != axis:
        raise ValueError(f"the weights are quantised along axis {quantization.axis}, supported is {axis}")
    may_be_asymmetric &= weights.dtype is DType.INT8 and len(quantization.scales) == 1
    if any(quantization.zero_points) and not may_be_asymmetric:
        raise ValueError(f"{weights.dtype.value} weights have a zero point other than 0")
    return quantization.scales


class Conv2D(Op):
    """CONV_2D(image NHWC, weights OHWI, bias O or None) -> NHWC; grouped when I divides the image's C."""

    name = "CONV_2D"
    short = "conv"
    attrs_type = ConvAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """[N, rows, columns, O]."""
        conv = narrow(attrs, ConvAttrs)
        image, weights = _image_and_weights(args)
        batch, height, width, channels = image.shape
        outputs, rows, columns, inputs = weights.shape
        groups = channels // inputs if inputs else 0
        if groups < 1 or channels % inputs or outputs % groups:
            raise ValueError(f"weights {list(weights.shape)} do not fit an image of {channels} channels")
        extents = window_extents(
            (height, width), (rows, columns), stride=conv.stride, padding=conv.padding, dilation=conv.dilation
        )
        return (batch, *extents, outputs)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8 image and int8 or int4 weights, int16 and int8 (per tensor or output channel), or float32."""
        super().check(attrs, args, result)
        _check_weighted(args, result, 0, narrow(attrs, ConvAttrs), conv_multipliers)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_integer_ops::ConvPerChannel, reference_ops::Conv."""
        return _evaluated(narrow(attrs, ConvAttrs), values, args, result, conv_multipliers)

    def macs(self, attrs: Attrs, args: Types, result: TensorType) -> int:
        """Result elements times taps times input channels of a group."""
        del attrs
        return result.elements * math.prod(operand(args, 1, "weights").shape[1:])


class DepthwiseConv2D(Op):
    """DEPTHWISE_CONV_2D(image NHWC, weights 1HWO, bias O or None) -> NHWC."""

    name = "DEPTHWISE_CONV_2D"
    short = "dw"
    attrs_type = DepthwiseConvAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """[N, rows, columns, C * multiplier]."""
        conv = narrow(attrs, DepthwiseConvAttrs)
        image, weights = _image_and_weights(args)
        batch, height, width, channels = image.shape
        one, rows, columns, outputs = weights.shape
        if one != 1 or conv.multiplier < 1 or outputs != channels * conv.multiplier:
            raise ValueError(
                f"weights {list(weights.shape)} do not fit an image of {channels} channels "
                f"and a multiplier of {conv.multiplier}"
            )
        extents = window_extents(
            (height, width), (rows, columns), stride=conv.stride, padding=conv.padding, dilation=conv.dilation
        )
        return (batch, *extents, outputs)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8 image and int8 or int4 weights, int16 and int8 (per tensor or output channel), or float32."""
        super().check(attrs, args, result)
        _check_weighted(args, result, 3, narrow(attrs, DepthwiseConvAttrs), conv_multipliers)
        bias = optional(args, 2)
        if result.dtype is DType.INT16 and bias is not None:
            need_dtype(bias, "bias", DType.INT64)  # TFLite has no other form of this operator

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_integer_ops::DepthwiseConvPerChannel, reference_ops::DepthwiseConv."""
        return _evaluated(narrow(attrs, DepthwiseConvAttrs), values, args, result, conv_multipliers)

    def macs(self, attrs: Attrs, args: Types, result: TensorType) -> int:
        """Result elements times taps."""
        del attrs
        return result.elements * math.prod(operand(args, 1, "weights").shape[1:3])


class FullyConnected(Op):
    """FULLY_CONNECTED(image flattened to rows of I, weights [O, I], bias O or None) -> [rows, O]."""

    name = "FULLY_CONNECTED"
    short = "fc"
    attrs_type = FullyConnectedAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """[rows, O]; with `keep_num_dims` the image's shape with its last extent replaced by O."""
        connected = narrow(attrs, FullyConnectedAttrs)
        need_count(args, 2, 3)
        image, weights = operand(args, 0, "image"), operand(args, 1, "weights")
        need_rank(weights, 2, "weights")
        outputs, inputs = weights.shape
        if inputs == 0 or image.elements % inputs:
            raise ValueError(
                f"weights {list(weights.shape)} do not fit an image of {image.elements} elements"
            )
        if not connected.keep_num_dims:
            return (image.elements // inputs, outputs)
        if not image.shape or image.shape[-1] != inputs:
            raise ValueError(
                f"weights {list(weights.shape)} do not fit an image of shape {list(image.shape)}"
            )
        return (*image.shape[:-1], outputs)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8 image and int8 or int4 weights, int16 and int8 (per tensor or output channel), or float32."""
        super().check(attrs, args, result)
        _check_weighted(args, result, 0, narrow(attrs, FullyConnectedAttrs), connected_rule(args))
        if result.dtype is not DType.FLOAT32:
            self._check_bias_scale(args, result)

    def _check_bias_scale(self, args: Types, result: TensorType) -> None:
        weights, bias = operand(args, 1, "weights"), optional(args, 2)
        if bias is None or weights.quantization is None or len(weights.quantization.scales) > 1:
            return
        single = bias.quantization is not None and len(bias.quantization.scales) == 1
        bias_scale = bias.scale if single else 0.0
        need_matching_bias(operand(args, 0, "image").scale, weights.scale, bias_scale, result.scale)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_integer_ops::FullyConnected, reference_ops::FullyConnected.

        Per channel with `keep_num_dims` and more than 2 dimensions as tflite-micro has it: TFLite 2.14 takes
        the second extent for the number of channels there and leaves part of the result unwritten.
        """
        own = narrow(attrs, FullyConnectedAttrs)
        return _evaluated(own, values, args, result, connected_rule(args))

    def macs(self, attrs: Attrs, args: Types, result: TensorType) -> int:
        """Result elements times I."""
        del attrs
        return result.elements * operand(args, 1, "weights").shape[1]


def _image_and_weights(args: Types) -> tuple[TensorType, TensorType]:
    need_count(args, 2, 3)
    image, weights = operand(args, 0, "image"), operand(args, 1, "weights")
    need_rank(image, 4, "image")
    need_rank(weights, 4, "weights")
    return image, weights


OPERATORS: tuple[Op, ...] = (Conv2D(), DepthwiseConv2D(), FullyConnected())
"""All of this family."""
