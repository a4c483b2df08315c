"""Layers of dynamic range: a float32 image is quantised while the model runs, results are float32.

The image is quantised row by row of FULLY_CONNECTED, image by image of a convolution.
"""

import numpy as np

from codegen.ir.operator import Arrays, Attrs, Types
from codegen.ir.ops.base.activation import activated
from codegen.ir.ops.base.operands import need_bias, need_dtype, need_elements, operand, present
from codegen.ir.ops.base.products import sums_of
from codegen.ir.ops.base.rounding import HybridRounding, rounding_of
from codegen.ir.ops.base.weighted import WeightedOp, WeightedRule, checked_scales, weight_scales
from codegen.ir.ops.rounded.image_rounding import quantised
from codegen.ir.types import DType, TensorType


class Hybrid(WeightedRule):
    """An image of float32, weights of int8 without a zero point, a bias of float32."""

    def check(self, op: WeightedOp, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Types, and one scale or one a channel."""
        need_elements(result)
        weights = operand(args, 1, "weights")
        need_dtype(operand(args, 0, "image"), "image", DType.FLOAT32)
        need_dtype(weights, "weights", DType.INT8)
        need_dtype(result, "result", DType.FLOAT32)
        channels = result.shape[-1]
        need_bias(args, channels, DType.FLOAT32)
        checked_scales(weights, channels, op.weights_axis)

    def evaluate(
        self, op: WeightedOp, attrs: Attrs, values: Arrays, args: Types, result: TensorType
    ) -> np.ndarray:
        """Sums are exact; scales and bias are applied in float32, in TFLite's order."""
        image, weights = present(values, 0, "image"), present(values, 1, "weights")
        asymmetric = is_asymmetric(attrs)
        parts = [quantised(part, asymmetric=asymmetric) for part in op.images(image, args)]
        centred = np.stack([part for part, _ in parts]).reshape(image.shape)
        sums = sums_of(attrs, centred, weights.astype(np.float64), result)
        units = sums.astype(np.float32).reshape(len(parts), -1, result.shape[-1])
        scales = np.array(weight_scales(operand(args, 1, "weights")), np.float32)
        steps = np.array([scale for _, scale in parts], np.float32)[:, None, None]
        by_channel_first = is_scaled_by_channel_first(op, args)
        reals = units * scales * steps if by_channel_first else units * (steps * scales)
        bias = values[2] if len(values) > 2 else None
        if bias is not None:
            reals = reals + bias.reshape(-1)
        return activated(reals, attrs, result).reshape(result.shape)


def is_asymmetric(attrs: Attrs) -> bool:
    """True if the quantised image gets a zero point."""
    rounding = rounding_of(attrs)
    return isinstance(rounding, HybridRounding) and rounding.asymmetric


def is_scaled_by_channel_first(op: WeightedOp, args: Types) -> bool:
    """True if a sum takes the channel's scale, then the image's; else their product."""
    return op.scales_channels_first and len(weight_scales(operand(args, 1, "weights"))) > 1
