"""What the ARMv7-M kernels share: when they can run, and the numbers of every output channel."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let, Target, Var
from codegen.ir.fixed_point import wrap_int32
from codegen.ir.ops import Activation
from codegen.ir.ops.base.parameters import activation_range
from codegen.kernels.base.c_kernel import ConstantData, PortableKernel, arg_type, constant_data
from codegen.kernels.base.registry import Kernel
from codegen.kernels.base.walk import Fields
from codegen.kernels.v7m.requantize import Requantization, requantization
from codegen.targets.arm import V7M
from codegen.targets.families import runs

HEADER = "cg_kernels_v7m.h"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Channels:
    """Every output channel, O of them with K weights each."""

    weights: NDArray[np.int8]
    """[O, K], in the order in which the kernel meets them."""
    bias: NDArray[np.int32]
    """[O], the image's zero point folded in, modulo 2^32 as accumulators are."""
    requantization: Requantization


class V7mKernel(Kernel):
    """Shared by all: a core without the DSP extension, a run-time image, what the portable kernel demands."""

    portable: PortableKernel
    """The kernel whose conditions hold here too."""

    def refusal(self, let: Let, target: Target) -> str | None:
        """Another core, or numbers the kernel cannot apply."""
        if not runs(target, V7M):
            return f"the kernel {self.name} is for ARMv7-M cores without the DSP extension"
        reason = self.portable.refusal(let, target)
        if reason is None and not isinstance(let.call.args[0], Var):
            reason = "the image is constant"
        return self.other_reason(let) if reason is None else reason

    @abstractmethod
    def other_reason(self, let: Let) -> str | None:
        """What the portable kernel can and this one cannot, or None."""


def weight_data(let: Let, constants: ConstantData) -> NDArray[np.int8]:
    """The weights as the file has them; raises ValueError if there are none."""
    weights = constant_data(let, 1, constants)
    if weights is None:
        raise ValueError("the weights are missing")
    return weights


def weight_scales(let: Let) -> tuple[float, ...]:
    """Scales of the weights; raises ValueError if there are none."""
    quantization = arg_type(let, 1).quantization
    if quantization is None:
        raise ValueError("the weights are int8 without a scale")
    return quantization.scales


def channels_of(
    let: Let,
    constants: ConstantData,
    weights: NDArray[np.int8],
    scaling: tuple[NDArray[np.int32], NDArray[np.int32]],
    activation: Activation,
) -> Channels:
    """Weights [O, K] of `let` with their biases and requantization; `scaling`: (multipliers, shifts), one for
    each channel or one for all."""
    bias = constant_data(let, 2, constants)
    count = len(weights)
    given = np.zeros(count, np.int64) if bias is None else bias.reshape(-1).astype(np.int64)
    folded = given - arg_type(let, 0).zero_point * weights.sum(axis=1, dtype=np.int64)
    result = let.var.type
    multipliers, shifts = scaling
    return Channels(
        weights=weights,
        bias=wrap_int32(folded).astype(np.int32),
        requantization=requantization(
            np.broadcast_to(multipliers, count),
            np.broadcast_to(shifts, count),
            highest=highest_sums(weights, folded),
            zero_point=result.zero_point,
            is_clamped=activation_range(activation, result) != result.dtype.limits,
        ),
    )


def highest_sums(weights: NDArray[np.int8], bias: NDArray[np.int64]) -> NDArray[np.int64]:
    """Per channel the largest accumulator over all images; the largest int32 where one may wrap."""
    wide = weights.astype(np.int64)
    high = bias + np.maximum(127 * wide, -128 * wide).sum(axis=1)
    low = bias + np.minimum(127 * wide, -128 * wide).sum(axis=1)
    # Partial sums wrap with it and back: only where the end lies counts.
    wraps = (high > 2**31 - 1) | (low < -(2**31))
    return np.where(wraps, 2**31 - 1, high)


def range_fields(let: Let, activation: Activation) -> Fields:
    """Fields of a `cg_range_v7m`."""
    low, high = activation_range(activation, let.var.type)
    return (("out_zero", let.var.type.zero_point), ("act_min", low), ("act_max", high))
