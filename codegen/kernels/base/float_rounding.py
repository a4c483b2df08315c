"""Layers that ONNX rounds by float32: the sums there can be, and fixed points proved equal to scales."""

import numpy as np
from numpy.typing import NDArray

from codegen.ir import DType, Let
from codegen.ir.ops.base.weighted import WeightedOp
from codegen.ir.ops.rounded.as_onnx import layer_scales
from codegen.kernels.base.c_kernel import ConstantData, arg_type
from codegen.kernels.base.result_limits import limits_of
from codegen.kernels.base.step_proof import ProvedScaling, all_by_float, proved_scalings
from codegen.kernels.base.weighted import bias_data, weight_data


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


def has_wide_sums(let: Let, constants: ConstantData) -> bool:
    """True if some channel of a layer has sums that 32 bits do not hold."""
    least, most = sums_of(let, constants)
    return bool(least.min(initial=0) < -(1 << 31) or most.max(initial=0) >= 1 << 31)


def proved_scaling(let: Let, constants: ConstantData) -> ProvedScaling:
    """Factors and shifts of a layer's channels. If a channel of int16 needs more than 32 bits, C multiplies
    all by float32."""
    scales = layer_scales(let.call.attrs)
    if arg_type(let, 0).dtype is DType.INT16 and has_wide_sums(let, constants):
        return all_by_float(scales)
    return proved_scalings(scales, sums_of(let, constants), let.var.type.zero_point, limits_of(let))
