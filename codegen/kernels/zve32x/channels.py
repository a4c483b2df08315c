"""Weights and requantization as the Zve32x kernels read them (runtime_c/include/cg_kernels_zve32x.h)."""

import numpy as np

from codegen.kernels.base.walk import Fields
from codegen.kernels.base.weighted import WeightedLayer
from codegen.kernels.call import ConstantPointer
from codegen.kernels.contract import LinkedConstant
from codegen.targets.families import kernel_set

ZVE32X = kernel_set("zve32x")
HEADER = "cg_kernels_zve32x.h"
LEAST_SHIFT = 1
"""Shift of channels whose multiplier is 0: any one that is rounded."""


def linked_channels(layer: WeightedLayer) -> tuple[LinkedConstant, LinkedConstant]:
    """The weights by value, and the numbers of each channel."""
    multipliers, shifts = (numbers.astype(np.int64) for numbers in layer.every)
    shifts = np.where(multipliers == 0, LEAST_SHIFT, -shifts)
    numbers = np.stack((layer.folded_bias, multipliers, shifts)) & 0xFFFFFFFF
    weights = LinkedConstant(
        role="weights",
        data=np.ascontiguousarray(layer.weights.T).reshape(-1),
        alignment=1,
        layout="value after value of a window, one weight of each channel",
    )
    channels = LinkedConstant(
        role="channels",
        data=numbers.astype(np.uint32).view(np.int32).reshape(-1),
        alignment=4,
        layout="all biases, all multipliers, all shifts",
    )
    return weights, channels


def products_fields(layer: WeightedLayer, out_zero: int) -> Fields:
    """Fields of a `cg_products_zve32x`."""
    outputs, values = layer.weights.shape
    low, high = layer.limits
    return (
        ("weights", ConstantPointer(role="weights")),
        ("channels", ConstantPointer(role="channels")),
        ("values", values),
        ("outputs", outputs),
        ("out_zero", out_zero),
        ("act_min", low),
        ("act_max", high),
    )
