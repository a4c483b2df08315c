"""What the float kernels share: their refusals, how an operator is a convolution, packed weights."""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from codegen.ir import DType, Let, Target, Var
from codegen.ir.ops import Activation, ConvAttrs, DepthwiseConvAttrs, FullyConnectedAttrs, Padding2D
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.base.parameters import float_activation_range
from codegen.kernels.base.c_kernel import ConstantData, arg_type, constant_data, float_limits
from codegen.kernels.base.walk import params
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import CStruct
from codegen.kernels.fpu.tiles import BLOCK
from codegen.kernels.portable.convolution import (
    Conv2D,
    DepthwiseConv2D,
    DepthwiseInPlace,
    FullyConnected,
    window_of,
)
from codegen.targets.arm import FLOAT_MVE, FPU
from codegen.targets.families import runs

Reals = NDArray[np.float32]

LOW, HIGH = 1, 2
"""CG_CLAMP_LOW, CG_CLAMP_HIGH."""


class Source:
    """How an operator is a convolution of one group, or a depthwise one."""

    op: str
    stem: str
    """Of the name in the registry."""
    portable: Conv2D | DepthwiseConv2D | DepthwiseInPlace | FullyConnected
    """The kernel whose conditions hold here too."""

    @abstractmethod
    def other_reason(self, let: Let) -> str | None:
        """Why a call is none, beyond the portable kernel's conditions; or None."""

    @abstractmethod
    def window(self, let: Let) -> WindowShape:
        """The call's geometry."""

    @abstractmethod
    def activation(self, let: Let) -> Activation:
        """The activation that is fused to it."""

    def rows_of_weights(self, weights: Reals) -> Reals:
        """Weights as the file has them, as [O, K] in the order in which a window is read."""
        return weights.reshape(weights.shape[0], -1)

    def refusal(self, let: Let, target: Target, name: str, *, is_vector: bool) -> str | None:
        """Why kernel `name` cannot run `let`, or None; `is_vector`: it is for float Helium, else for a
        Cortex-M with an FPU and without that, as the same C calls other loops where there is Helium."""
        if not runs(target, FPU) and not runs(target, FLOAT_MVE):
            return f"the kernel {name} needs a Cortex-M with an FPU"
        if is_vector != runs(target, FLOAT_MVE):
            return f"the kernel {name} is for cores {'with' if is_vector else 'without'} float Helium"
        reason = self.portable.refusal(let, target)
        if reason is None and not isinstance(let.call.args[0], Var):
            reason = "the image is constant"
        return self.other_reason(let) if reason is None else reason


class ConvSource(Source):
    """CONV_2D."""

    op, stem, portable = "CONV_2D", "conv2d_f32", Conv2D("conv2d_f32", DType.FLOAT32)

    def other_reason(self, let: Let) -> str | None:
        """Groups."""
        one = arg_type(let, 1).shape[3] == arg_type(let, 0).shape[3]
        return None if one else "the convolution has groups"

    def window(self, let: Let) -> WindowShape:
        """See `Source.window`."""
        return window_of(let, narrow(let.call.attrs, ConvAttrs))

    def activation(self, let: Let) -> Activation:
        """See `Source.activation`."""
        return narrow(let.call.attrs, ConvAttrs).activation


class DepthwiseSource(Source):
    """DEPTHWISE_CONV_2D of four channels or more, one output channel an input channel."""

    op, stem = "DEPTHWISE_CONV_2D", "depthwise_conv2d_f32"
    portable = DepthwiseConv2D("depthwise_conv2d_f32", DType.FLOAT32)

    def other_reason(self, let: Let) -> str | None:
        """A multiplier, or few channels."""
        channels = arg_type(let, 0).shape[3]
        if narrow(let.call.attrs, DepthwiseConvAttrs).multiplier != 1:
            return "an input channel has several output channels"
        return None if channels >= BLOCK else f"the image has less than {BLOCK} channels"

    def window(self, let: Let) -> WindowShape:
        """See `Source.window`."""
        return window_of(let, narrow(let.call.attrs, DepthwiseConvAttrs))

    def activation(self, let: Let) -> Activation:
        """See `Source.activation`."""
        return narrow(let.call.attrs, DepthwiseConvAttrs).activation

    def rows_of_weights(self, weights: Reals) -> Reals:
        """See `Source.rows_of_weights`."""
        return np.ascontiguousarray(weights.reshape(-1, weights.shape[3]).T)


class DepthwiseInPlaceSource(DepthwiseSource):
    """DEPTHWISE_CONV_2D of stride 1 whose result is as large as its image."""

    portable = DepthwiseInPlace("f32", DType.FLOAT32)

    def other_reason(self, let: Let) -> str | None:
        """Channels that make no blocks of four."""
        rest = arg_type(let, 0).shape[3] % BLOCK
        return f"the channels are no multiple of {BLOCK}" if rest else None


class OneChannelSource(DepthwiseSource):
    """DEPTHWISE_CONV_2D of an image of one channel: a convolution."""

    stem = "depthwise_conv2d_1_f32"

    def other_reason(self, let: Let) -> str | None:
        """Several channels."""
        return None if arg_type(let, 0).shape[3] == 1 else "the image has several channels"


class FullyConnectedSource(Source):
    """FULLY_CONNECTED: every row of the image is a pixel."""

    op, stem = "FULLY_CONNECTED", "fully_connected_f32"
    portable = FullyConnected("fully_connected_f32", DType.FLOAT32)

    def other_reason(self, let: Let) -> str | None:
        """None: all can be."""
        del let
        return None

    def window(self, let: Let) -> WindowShape:
        """See `Source.window`."""
        outputs, inputs = arg_type(let, 1).shape
        rows = arg_type(let, 0).elements // inputs
        return WindowShape(
            image=(1, 1, rows, inputs),
            result=(1, 1, rows, outputs),
            window=(1, 1),
            stride=(1, 1),
            dilation=(1, 1),
            padding=Padding2D(),
        )

    def activation(self, let: Let) -> Activation:
        """See `Source.activation`."""
        return narrow(let.call.attrs, FullyConnectedAttrs).activation


def weights_and_bias(source: Source, let: Let, constants: ConstantData) -> tuple[Reals, Reals]:
    """([O, K], [O]); biases of zero where there are none."""
    weights, bias = constant_data(let, 1, constants), constant_data(let, 2, constants)
    if weights is None:
        raise ValueError("the weights are missing")
    rows = source.rows_of_weights(np.asarray(weights, np.float32))
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
