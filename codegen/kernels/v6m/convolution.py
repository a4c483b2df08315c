"""CONV_2D, and DEPTHWISE_CONV_2D of one channel, on ARMv6-M."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from codegen.ir import DType, Let, Target, Var
from codegen.ir.ops import Activation, ConvAttrs, DepthwiseConvAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.base.parameters import activation_range, conv_multipliers
from codegen.kernels.base.c_kernel import (
    ConstantData,
    PortableKernel,
    arg_type,
    arg_types,
    constant_data,
    row_kernel,
)
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import Kernel, register
from codegen.kernels.base.walk import params
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ConstantPointer, CStruct, ResultArg, StructArg, ValueArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.portable.convolution import Conv2D, DepthwiseConv2D, window_of
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.v6m.packing import Channels, packed, padded, stream
from codegen.kernels.v6m.price import conv_instructions
from codegen.kernels.v6m.requantize import Integers, Scale
from codegen.kernels.v6m.tiles import rows_of, tiled_below
from codegen.targets.arm import V6M
from codegen.targets.families import runs

HEADER = "cg_conv_v6m.h"
TILE_SOURCES = ("kernels/v6m/pair_s8_v6m.S", "kernels/v6m/requantize_s8_v6m.c", "kernels/v6m/tile_s8_v6m.S")


@dataclass(frozen=True, kw_only=True, slots=True)
class Conv:
    """What convolutions and fully connected layers have in common."""

    window: WindowShape
    activation: Activation
    weights: NDArray[np.int8]
    """[O, K]: per output channel the weights of a window, in the order in which its values are read."""
    bias: Integers
    multipliers: NDArray[np.int32]
    shifts: NDArray[np.int32]

    def channels(self, let: Let) -> Channels:
        """Everything of an output channel, as results of type `let.var.type` want it."""
        image, result = arg_type(let, 0), let.var.type
        count = len(self.weights)
        low, high = activation_range(self.activation, result)
        return Channels(
            weights=self.weights,
            bias=self.bias - image.zero_point * self.weights.sum(axis=1, dtype=np.int64),
            scale=Scale(
                multipliers=np.broadcast_to(self.multipliers, count).astype(np.int64),
                shifts=np.broadcast_to(self.shifts, count).astype(np.int64),
                zero=result.zero_point,
                low=low,
                high=high,
            ),
        )


class V6mKernel(Kernel):
    """Shared by all: a core that has MULS and nothing longer."""

    portable: PortableKernel
    """The kernel whose conditions hold here too."""

    def refusal(self, let: Let, target: Target) -> str | None:
        """Another core, or numbers the kernel cannot apply."""
        if not runs(target, V6M):
            return f"the kernel {self.name} is for cores of ARMv6-M and Cortex-M23"
        reason = self.portable.refusal(let, target)
        if reason is None and not isinstance(let.call.args[0], Var):
            reason = "the image is constant"
        return self.other_reason(let) if reason is None else reason

    @abstractmethod
    def other_reason(self, let: Let) -> str | None:
        """What the portable kernel can and this one cannot, or None."""


def weight_data(let: Let, constants: ConstantData) -> tuple[NDArray[np.int8], Integers]:
    """(weights as the file has them, bias or zeros)."""
    weights, bias = constant_data(let, 1, constants), constant_data(let, 2, constants)
    if weights is None:
        raise ValueError("the weights are missing")
    if bias is None:
        return weights, np.zeros(let.var.type.shape[-1], np.int64)
    return weights, bias.reshape(-1).astype(np.int64)


def weight_scales(let: Let) -> tuple[float, ...]:
    """Scales of the weights; raises ValueError if there are none."""
    quantization = arg_type(let, 1).quantization
    if quantization is None:
        raise ValueError("the weights are int8 without a scale")
    return quantization.scales


class TiledConv(V6mKernel):
    """A convolution in tiles of `most` pixels."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.name = f"{self.stem}_v6m" if most == 4 else f"{self.stem}_v6m_{most}"

    stem: str
    """Of the name in the registry."""

    @abstractmethod
    def conv(self, let: Let, constants: ConstantData) -> Conv:
        """The call as a convolution of one group."""

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        conv = self.conv(let, constants)
        window = conv.window
        channels = packed(conv.channels(let), lanes=True)
        linked = [
            LinkedConstant(
                role="stream",
                data=stream(channels),
                alignment=4,
                layout="channel by channel: bias, weights, requantization",
            )
        ]
        if window.is_padded:
            pixel = np.full(window.image[3], arg_type(let, 0).zero_point, np.int8)
            linked.append(
                LinkedConstant(
                    role="padding", data=pixel, alignment=1, layout="a pixel in the padding: zero points"
                )
            )
        rows, pixels = rows_of(window)
        turns = rows * -(-pixels // self.most)
        space = Workspace(
            name="pixels",
            size_bytes=2 * self.most * padded(conv.weights.shape[1]),
            reads=float(turns * len(conv.weights)),
            writes=float(turns),
        )
        by_row = row_kernel(let, "cg_conv2d_s8_v6m_row", window)
        low, high = activation_range(conv.activation, let.var.type)
        numbers = params(
            "cg_conv_params",
            ("window", window.fields),
            ("groups", 1),
            ("in_zero", arg_type(let, 0).zero_point),
            ("out_zero", let.var.type.zero_point),
            ("act_min", low),
            ("act_max", high),
        )
        weights = CStruct(
            suffix="weights",
            c_type="cg_conv_weights_v6m",
            fields=(
                ("stream", ConstantPointer(role="stream")),
                ("padding", ConstantPointer(role="padding") if window.is_padded else None),
                ("tile", self.most),
                ("middle", conv.channels(let).scale.middle),
            ),
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_conv2d_s8_v6m",
            sources=(*TILE_SOURCES, "kernels/v6m/conv2d_s8_v6m.c"),
            headers=(HEADER,),
            reads=(window.reads(window.image[3]), *(1.0 for _ in let.call.args[1:])),
            workspaces=(space,),
            constants=tuple(linked),
            sharing=forward_sharing(let, 0, tiled_below(window, self.most)),
            structs=(numbers, weights),
            call_args=(
                StructArg(suffix="params"),
                StructArg(suffix="weights"),
                WorkspaceArg(name="pixels"),
                ValueArg(index=0),
                ResultArg(),
            ),
            macs=let.call.op.macs(let.call.attrs, arg_types(let), let.var.type),
            pixels_at_once=self.most,
            instructions=conv_instructions(window, channels, self.most),
            rows=None if by_row is None else replace(by_row, workspace=space),
        )


class V6mConv2D(TiledConv):
    """CONV_2D, one group."""

    op, stem = "CONV_2D", "conv2d_s8"
    portable = Conv2D("conv2d_s8", DType.INT8)

    def other_reason(self, let: Let) -> str | None:
        """Several groups."""
        if arg_type(let, 1).shape[3] != arg_type(let, 0).shape[3]:
            return f"the kernel {self.name} is for one group"
        return None

    def conv(self, let: Let, constants: ConstantData) -> Conv:
        """See `TiledConv.conv`."""
        attrs = narrow(let.call.attrs, ConvAttrs)
        weights, bias = weight_data(let, constants)
        scales = arg_type(let, 0).scale, weight_scales(let), let.var.type.scale
        multipliers, shifts = conv_multipliers(*scales)
        return Conv(
            window=window_of(let, attrs),
            activation=attrs.activation,
            weights=weights.reshape(len(weights), -1),
            bias=bias,
            multipliers=multipliers,
            shifts=shifts,
        )


class V6mDepthwise(TiledConv):
    """DEPTHWISE_CONV_2D of an image of one channel: a convolution whose weights are transposed."""

    op, stem = "DEPTHWISE_CONV_2D", "depthwise_conv2d_1_s8"
    portable = DepthwiseConv2D("depthwise_conv2d_s8", DType.INT8)

    def other_reason(self, let: Let) -> str | None:
        """More than one channel."""
        if arg_type(let, 0).shape[3] != 1:
            return f"the kernel {self.name} is for images of one channel"
        return None

    def conv(self, let: Let, constants: ConstantData) -> Conv:
        """See `TiledConv.conv`."""
        attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
        weights, bias = weight_data(let, constants)
        scales = arg_type(let, 0).scale, weight_scales(let), let.var.type.scale
        multipliers, shifts = conv_multipliers(*scales)
        return Conv(
            window=window_of(let, attrs),
            activation=attrs.activation,
            weights=np.ascontiguousarray(weights.reshape(-1, weights.shape[-1]).T),
            bias=bias,
            multipliers=multipliers,
            shifts=shifts,
        )


for most in (4, 2):
    register(V6mConv2D(most))
    register(V6mDepthwise(most))
