"""What the float kernels share: their refusals, packed weights, parameters."""

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let, Target
from codegen.ir.ops import Activation
from codegen.ir.ops.base.parameters import float_activation_range
from codegen.kernels.base.c_kernel import ConstantData, FastKernel, constant_data, float_limits
from codegen.kernels.base.walk import params
from codegen.kernels.base.weighted import WeightedOperator, weight_data
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import CStruct
from codegen.kernels.fpu.tiles import BLOCK
from codegen.targets.arm import FLOAT_MVE, FPU
from codegen.targets.families import runs

Reals = NDArray[np.float32]

LOW, HIGH = 1, 2
"""CG_CLAMP_LOW, CG_CLAMP_HIGH."""


class FloatKernel(FastKernel):
    """For float Helium, or for a Cortex-M with an FPU and without that, as the same C calls other loops where
    there is Helium."""

    operator: WeightedOperator

    @property
    def is_vector(self) -> bool:
        """Whether it is for float Helium."""
        return self.kernel_set is FLOAT_MVE

    @property
    def suffix(self) -> str:
        """Of the name in the registry."""
        return "mve" if self.is_vector else "fpu"

    def core_reason(self, target: Target) -> str | None:
        """No FPU, or another one."""
        if not runs(target, FPU) and not runs(target, FLOAT_MVE):
            return f"the kernel {self.name} needs a Cortex-M with an FPU"
        return super().core_reason(target)


def weights_and_bias(operator: WeightedOperator, let: Let, constants: ConstantData) -> tuple[Reals, Reals]:
    """([O, K], [O]); biases of zero where there are none."""
    bias = constant_data(let, 2, constants)
    rows = operator.rows(weight_data(let, constants)).astype(np.float32, copy=False)
    if bias is None:
        return rows, np.zeros(len(rows), np.float32)
    return rows, np.asarray(bias, np.float32).reshape(-1)


def blocks_of(weights: Reals, bias: Reals) -> Reals:
    """Whole blocks of four channels: weights value by value, then biases. Flat."""
    both = np.concatenate((weights, bias[:, None]), axis=1)
    return both.reshape(-1, BLOCK, both.shape[1]).transpose(0, 2, 1).reshape(-1)


def product_stream(weights: Reals, bias: Reals) -> Reals:
    """Blocks, then channels that are left one by one, each with its bias behind it."""
    whole = len(weights) // BLOCK * BLOCK
    rest = np.concatenate((weights[whole:], bias[whole:, None]), axis=1)
    return np.concatenate((blocks_of(weights[:whole], bias[:whole]), rest.reshape(-1)))


def depthwise_stream(weights: Reals, bias: Reals) -> Reals:
    """Blocks, the last one counted back from the last channel."""
    count = len(weights)
    order = [min(start, count - BLOCK) + i for start in range(0, count, BLOCK) for i in range(BLOCK)]
    return blocks_of(weights[order], bias[order])


def clamp_of(activation: Activation) -> int:
    """Which limits it has: LOW | HIGH."""
    low, high = float_activation_range(activation)
    return (LOW if np.isfinite(low) else 0) | (HIGH if np.isfinite(high) else 0)


def limits_of(activation: Activation) -> int:
    """How many limits it has."""
    return clamp_of(activation).bit_count()


def conv_params(window: WindowShape, activation: Activation) -> CStruct:
    """A `cg_conv_params_fpu`."""
    low, high = float_limits(activation)
    return params(
        "cg_conv_params_fpu",
        ("window", window.fields),
        ("clamp", clamp_of(activation)),
        ("act_min", low),
        ("act_max", high),
    )
