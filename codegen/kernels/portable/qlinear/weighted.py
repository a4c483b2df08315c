"""Portable kernels of CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED, rounded as ONNX does."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from codegen.ir import DType, Let
from codegen.ir.ops import FullyConnectedAttrs, OnnxRounding
from codegen.ir.ops.base.weighted import WeightedOp
from codegen.ir.ops.rounded.as_onnx import layer_scales
from codegen.kernels.base.c_kernel import ConstantData, PortableKernel, arg_type
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import limits_of
from codegen.kernels.base.walk import Fields
from codegen.kernels.base.weighted import (
    QLINEAR_CONVOLUTION,
    QLINEAR_DEPTHWISE,
    QLINEAR_FULLY_CONNECTED,
    bias_data,
    folded_biases,
    need_constant_weights,
    weight_data,
)
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.portable.convolution import Conv2D, DepthwiseConv2D, FullyConnected
from codegen.kernels.portable.qlinear.step_proof import Rounding, all_by_float, roundings


class RoundsEven(PortableKernel):
    """A kernel that `cg_kernels_qlinear.h` declares, or its namesake for int16."""

    @property
    def header(self) -> str:
        return "cg_kernels_qlinear_s16.h" if self.result is DType.INT16 else "cg_kernels_qlinear.h"


def sums_of(let: Let, constants: ConstantData) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(least, most) sum of each channel, whatever the image holds; a tap in the padding adds nothing."""
    op, weights = let.call.op, weight_data(let, constants).astype(np.int64)
    assert isinstance(op, WeightedOp), "it has weights"
    rows = np.moveaxis(weights, op.weights_axis, 0).reshape(let.var.type.shape[-1], -1)
    image = arg_type(let, 0)
    low, high = (limit - image.zero_point for limit in image.dtype.limits)
    positive, negative = np.maximum(rows, 0).sum(axis=1), np.minimum(rows, 0).sum(axis=1)
    bias = bias_data(let, constants)
    return bias + positive * low + negative * high, bias + positive * high + negative * low


def rounding_of(let: Let, constants: ConstantData) -> Rounding:
    """How each channel of a layer is rounded."""
    scales = layer_scales(let.call.attrs)
    return roundings(scales, sums_of(let, constants), let.var.type.zero_point, limits_of(let))


def is_wide(let: Let, constants: ConstantData) -> bool:
    """True if some channel of a layer has sums that 32 bits do not hold."""
    least, most = sums_of(let, constants)
    return bool(least.min(initial=0) < -(1 << 31) or most.max(initial=0) >= 1 << 31)


class _QLinear(RoundsEven):
    """Layers that round as ONNX does: a base to name before the TFLite class, whose methods it overrides."""

    rounding = OnnxRounding
    folds: bool

    def check(self, let: Let) -> None:
        """Weights and bias must be constants."""
        need_constant_weights(let)

    def scale_step(self, let: Let) -> int:
        """A rounding a channel."""
        del let
        return 1

    def by_channel(self, let: Let, constants: ConstantData) -> Rounding:
        """How each channel is rounded."""
        return rounding_of(let, constants)

    def packed(self, let: Let, constants: ConstantData) -> tuple[LinkedConstant, ...]:
        """Weights as they are, bias (with the image's zero point folded in if it `folds`), roundings."""
        total = folded_biases(let, constants) if self.folds else bias_data(let, constants)
        rounding = self.by_channel(let, constants)
        flat = np.array(weight_data(let, constants)).reshape(-1)
        layout = "one a channel"
        return (
            LinkedConstant(role="weight", data=flat, alignment=1, layout="the last axis fastest"),
            LinkedConstant(
                role="bias", data=total.astype(np.int32), alignment=4, layout=layout, is_plain=True
            ),
            LinkedConstant(role="multiplier", data=rounding.factors, alignment=4, layout=layout),
            LinkedConstant(
                role="shift",
                is_plain=True,
                data=rounding.shifts,
                alignment=1,
                layout=layout,
                rounded=(rounding.proved, len(total) - rounding.proved),
            ),
        )


class QLinearConv2D(_QLinear, Conv2D):
    """CONV_2D, any stride, dilation, padding and groups."""

    operator = QLINEAR_CONVOLUTION

    def __init__(self) -> None:
        super().__init__("qlinear_conv2d_s8", DType.INT8)
        self.reverse_stem = ""


class QLinearDepthwiseConv2D(_QLinear, DepthwiseConv2D):
    """DEPTHWISE_CONV_2D, any multiplier, stride, dilation and padding."""

    operator = QLINEAR_DEPTHWISE

    def __init__(self) -> None:
        super().__init__("qlinear_depthwise_conv2d_s8", DType.INT8)
        self.reverse_stem = ""


class QLinearFullyConnected(_QLinear, FullyConnected):
    """FULLY_CONNECTED, any number of rows."""

    operator = QLINEAR_FULLY_CONNECTED

    def __init__(self) -> None:
        super().__init__("qlinear_fully_connected_s8", DType.INT8)


class _QLinear16(_QLinear):
    """Images of int16 by weights of int8 or int16: sums of 64 bits, of the image minus its zero point."""

    folds = False
    base: str
    """The function's name without types."""

    def __init__(self, weights: DType) -> None:
        self.stem = f"{self.base}_{'s16' if weights is DType.INT8 else 's16w16'}"
        self.name, self.reverse_stem = f"{self.stem}_portable", ""
        self.argument = self.result = DType.INT16
        self._weights = weights

    def check(self, let: Let) -> None:
        """Weights and bias must be constants, weights of the kernel's type."""
        super().check(let)
        weights = arg_type(let, 1).dtype
        if weights is not self._weights:
            raise ValueError(
                f"the kernel {self.name} is for weights of {self._weights.value}, not {weights.value}"
            )

    def weights_fields(self, let: Let, constants: ConstantData) -> tuple[str, Fields]:
        """Type and fields of the weights' struct: `wide` where a sum may need more than 32 bits."""
        c_type = "cg_conv_weights_s16" if self._weights is DType.INT8 else "cg_conv_weights_s16w16"
        return c_type, (("scale_step", 1), ("wide", int(is_wide(let, constants))))

    def by_channel(self, let: Let, constants: ConstantData) -> Rounding:
        """Rounding of the channels. If one of them needs more than 32 bits, C multiplies all by float32."""
        if is_wide(let, constants):
            return all_by_float(layer_scales(let.call.attrs))
        return rounding_of(let, constants)

    def packed(self, let: Let, constants: ConstantData) -> tuple[LinkedConstant, ...]:
        """Weights, biases of 64 bits and roundings. Windows may reach into padding: their biases are not
        folded."""
        weights, bias, *scaling = super().packed(let, constants)
        is_rows = isinstance(let.call.attrs, FullyConnectedAttrs)
        total = folded_biases(let, constants) if is_rows else bias_data(let, constants)
        weights = replace(weights, alignment=self._weights.size_bytes)
        return (weights, replace(bias, data=total, alignment=8), *scaling)


class QLinearConv2D16(_QLinear16, QLinearConv2D):
    """CONV_2D of int16."""

    base = "qlinear_conv2d"


class QLinearDepthwiseConv2D16(_QLinear16, QLinearDepthwiseConv2D):
    """DEPTHWISE_CONV_2D of int16."""

    base = "qlinear_depthwise_conv2d"


class QLinearFullyConnected16(_QLinear16, QLinearFullyConnected):
    """FULLY_CONNECTED of int16."""

    base = "qlinear_fully_connected"


QLINEAR_CONV_2D_S8 = QLinearConv2D()
QLINEAR_DEPTHWISE_S8 = QLinearDepthwiseConv2D()
QLINEAR_FULLY_CONNECTED_S8 = QLinearFullyConnected()

for _kernel in (QLINEAR_CONV_2D_S8, QLINEAR_DEPTHWISE_S8, QLINEAR_FULLY_CONNECTED_S8):
    register(_kernel)
QLINEAR_CONV_2D_S16 = QLinearConv2D16(DType.INT8)
QLINEAR_DEPTHWISE_S16 = QLinearDepthwiseConv2D16(DType.INT8)
QLINEAR_FULLY_CONNECTED_S16 = QLinearFullyConnected16(DType.INT8)

for _kernel in (
    *(QLINEAR_CONV_2D_S16, QLinearConv2D16(DType.INT16)),
    *(QLINEAR_DEPTHWISE_S16, QLinearDepthwiseConv2D16(DType.INT16)),
    *(QLINEAR_FULLY_CONNECTED_S16, QLinearFullyConnected16(DType.INT16)),
):
    register(_kernel)
