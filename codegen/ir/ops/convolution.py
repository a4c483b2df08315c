"""Operators that multiply by weights: CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED.

Sums of products are in `base/products.py`, how they are rounded in `rounded`; here is what fits what.
"""

import math
from collections.abc import Sequence

import numpy as np

from codegen.ir.dataflow import ChannelLink, Links, Range, RowReads, RowSpan, channels
from codegen.ir.operator import Arrays, Attrs, Types
from codegen.ir.ops.base.attrs import ConvAttrs, DepthwiseConvAttrs, FullyConnectedAttrs, PaddedAttrs
from codegen.ir.ops.base.operands import (
    narrow,
    need_count,
    need_dtype,
    need_rank,
    operand,
    optional,
    span_padded,
    window_extents,
    window_reads,
)
from codegen.ir.ops.base.parameters import connected_rule, need_matching_bias
from codegen.ir.ops.base.products import ends_of_sums
from codegen.ir.ops.base.rounding import TFLITE, HybridRounding, rounding_of
from codegen.ir.ops.base.weighted import Multipliers, WeightedOp, WeightedRule, weight_zero_point
from codegen.ir.ops.rounded import RULES
from codegen.ir.types import DType, TensorType


def rule_of(attrs: Attrs) -> WeightedRule:
    """The rule by which a layer with `attrs` is rounded."""
    return RULES[type(rounding_of(attrs))]


class _Weighted(WeightedOp):
    """A layer that is rounded as its attributes say."""

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """The shape, and what the rounding permits."""
        super().check(attrs, args, result)
        rule_of(attrs).check(self, attrs, args, result)

    def value_range(
        self, attrs: Attrs, ranges: Sequence[Range], args: Types, result: TensorType
    ) -> Range | None:
        """Range of int8 results with known weights, by the smallest and the largest sums."""
        image, weights = operand(args, 0, "image"), operand(args, 1, "weights")
        is_int8 = {image.dtype, weights.dtype, result.dtype} == {DType.INT8}
        if not is_int8 or weight_zero_point(weights) or not all(range_.exact for range_ in ranges[1:]):
            return None
        ends = ends_of_sums(attrs, ranges[0], ranges[1:], image.zero_point, result)
        return rule_of(attrs).range_of(self, attrs, args, result, ends)

    def takes_as_padding(self, attrs: Attrs, image: TensorType, value: float, least: float) -> bool:
        """Padding is the zero point."""
        del least
        return isinstance(attrs, PaddedAttrs) and value == image.zero_point

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """By the rule of its rounding."""
        return rule_of(attrs).evaluate(self, narrow(attrs, self.attrs_type), values, args, result)


class _Convolution(_Weighted):
    """A layer whose window slides over an image."""

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """Windows along rows or columns, unless all of the image decides on its scale at run time."""
        del result
        assert isinstance(attrs, ConvAttrs | DepthwiseConvAttrs)
        if isinstance(rounding_of(attrs), HybridRounding):
            return None
        rows, columns = operand(args, 1, "weights").shape[1:3]
        return window_reads(attrs, (rows, columns), attrs.dilation, axis, len(args))

    def of_rows(self, attrs: Attrs, span: RowSpan) -> Attrs:
        """With the padding that these rows read."""
        return span_padded(narrow(attrs, PaddedAttrs), span)


class Conv2D(_Convolution):
    """CONV_2D(image NHWC, weights OHWI, bias O or None) -> NHWC; grouped when I divides the image's C."""

    name = "CONV_2D"
    may_hold_halves = True
    short = "conv"
    attrs_type = ConvAttrs
    scales_channels_first = True
    mixes_channels = True

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

    def macs(self, attrs: Attrs, args: Types, result: TensorType) -> int:
        """Result elements times taps times input channels of a group."""
        del attrs
        return result.elements * math.prod(operand(args, 1, "weights").shape[1:])


class DepthwiseConv2D(_Convolution):
    """DEPTHWISE_CONV_2D(image NHWC, weights 1HWO, bias O or None) -> NHWC."""

    name = "DEPTHWISE_CONV_2D"
    short = "dw"
    attrs_type = DepthwiseConvAttrs
    weights_axis = 3

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
        """Check a layer with weights; TFLite's int16 has a bias of 64 bits and no other form."""
        super().check(attrs, args, result)
        bias = optional(args, 2)
        if rounding_of(attrs) == TFLITE and result.dtype is DType.INT16 and bias is not None:
            need_dtype(bias, "bias", DType.INT64)

    def channel_links(self, attrs: Attrs, args: Types, result: TensorType) -> Links:
        """All results of an image channel stay or go together: the multiplier is one for all."""
        every = np.arange(channels(result.shape))
        source = every // narrow(attrs, DepthwiseConvAttrs).multiplier
        return (ChannelLink(argument=0, source=source, result=every),)

    def macs(self, attrs: Attrs, args: Types, result: TensorType) -> int:
        """Result elements times taps."""
        del attrs
        return result.elements * math.prod(operand(args, 1, "weights").shape[1:3])


class FullyConnected(_Weighted):
    """FULLY_CONNECTED(image flattened to rows of I, weights [O, I], bias O or None) -> [rows, O]."""

    name = "FULLY_CONNECTED"
    may_hold_halves = True
    short = "fc"
    attrs_type = FullyConnectedAttrs
    mixes_channels = True

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """Row by row of the image."""
        image = operand(args, 0, "image")
        if axis == len(result.shape) - 1 or image.shape[-1] != operand(args, 1, "weights").shape[1]:
            return None
        alike = [place for place, extent in enumerate(image.shape[:-1]) if extent == result.shape[axis]]
        same_rank = axis if len(image.shape) == len(result.shape) else None
        place = same_rank if same_rank is not None else alike[0] if len(alike) == 1 else None
        return None if place is None else RowReads(axes=(place, *(None for _ in args[1:])))

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

    def multipliers(self, args: Types) -> Multipliers:
        """One scale for all channels is rounded to float32 with the image's."""
        return connected_rule(args)

    def images(self, image: np.ndarray, args: Types) -> np.ndarray:
        """Rows."""
        return image.reshape(-1, operand(args, 1, "weights").shape[1])

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Check a layer with weights; the one scale of a bias is the product of those of image and weights.

        Per channel with `keep_num_dims` and more than 2 dimensions as tflite-micro has it: TFLite 2.14 takes
        the second extent for the number of channels there and leaves part of the result unwritten.
        """
        super().check(attrs, args, result)
        weights, bias = operand(args, 1, "weights"), optional(args, 2)
        is_integer = rounding_of(attrs) == TFLITE and result.dtype is not DType.FLOAT32
        if (
            not is_integer
            or bias is None
            or weights.quantization is None
            or len(weights.quantization.scales) > 1
        ):
            return
        single = bias.quantization is not None and len(bias.quantization.scales) == 1
        bias_scale = bias.scale if single else 0.0
        need_matching_bias(operand(args, 0, "image").scale, weights.scale, bias_scale, result.scale)

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


DEPTHWISE = DepthwiseConv2D()
"""Averages that ONNX rounds become it."""

OPERATORS: tuple[WeightedOp, ...] = (Conv2D(), DEPTHWISE, FullyConnected())
"""All of this family."""
