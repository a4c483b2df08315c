"""CONV_2D and DEPTHWISE_CONV_2D of one channel on ARMv7-M cores without the DSP extension."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from codegen.ir import DType, Let
from codegen.ir.ops import Activation, ConvAttrs, DepthwiseConvAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.base.parameters import conv_multipliers
from codegen.kernels.base.c_kernel import ConstantData, arg_type, arg_types, row_kernel
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import params
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ConstantPointer, ResultArg, StructArg, ValueArg, WorkspaceArg
from codegen.kernels.contract import Workspace
from codegen.kernels.portable.convolution import Conv2D, DepthwiseConv2D, window_of
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.v7m.layer import (
    HEADER,
    Channels,
    V7mKernel,
    channels_of,
    range_fields,
    weight_data,
    weight_scales,
)
from codegen.kernels.v7m.packing import linked, runs_of
from codegen.kernels.v7m.price import conv_instructions
from codegen.kernels.v7m.tiles import patch_end, rows_of, tiled_below, workspace_bytes

SOURCES = (
    "kernels/v7m/conv2d_s8_v7m.c",
    "kernels/v7m/conv_tile_s8_v7m.S",
    "kernels/v7m/requantize_s8_v7m.c",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Conv:
    """What convolutions and rows of a fully connected layer have in common."""

    window: WindowShape
    activation: Activation
    channels: Channels


class TiledConv(V7mKernel):
    """A convolution of one group in tiles of `most` pixels, 4 or 2."""

    stem: str
    """Of the name in the registry."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.name = f"{self.stem}_v7m" if most == 4 else f"{self.stem}_v7m_{most}"

    @abstractmethod
    def conv(self, let: Let, constants: ConstantData) -> Conv:
        """The call as a convolution of one group."""

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        conv = self.conv(let, constants)
        window, channels = conv.window, conv.channels
        runs = runs_of(channels.weights)
        rows, pixels = rows_of(window)
        turns = rows * -(-pixels // self.most)
        space = Workspace(
            name="pixels",
            size_bytes=workspace_bytes(window, self.most),
            reads=float(turns * len(channels.weights)),
            writes=float(turns),
        )
        row = row_kernel(let, "cg_conv2d_s8_v7m_row", window)
        numbers = params(
            "cg_conv_params_v7m",
            ("window", window.fields),
            ("weights", ConstantPointer(role="weights")),
            ("channels", ConstantPointer(role="channels")),
            ("range", range_fields(let, conv.activation)),
            ("in_zero", arg_type(let, 0).zero_point),
            ("tile", self.most),
            ("patch_end", patch_end(window, self.most)),
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_conv2d_s8_v7m",
            sources=SOURCES,
            headers=(HEADER,),
            reads=(window.reads(window.image[3]), *(1.0 for _ in let.call.args[1:])),
            workspaces=(space,),
            constants=linked(channels, runs),
            sharing=forward_sharing(let, 0, tiled_below(window, self.most)),
            structs=(numbers,),
            call_args=(
                StructArg(suffix="params"),
                WorkspaceArg(name=space.name),
                ValueArg(index=0),
                ResultArg(),
            ),
            macs=let.call.op.macs(let.call.attrs, arg_types(let), let.var.type),
            pixels_at_once=self.most,
            instructions=conv_instructions(window, channels, runs, self.most),
            rows=None if row is None else replace(row, workspace=space),
        )


class V7mConv2D(TiledConv):
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
        weights = weight_data(let, constants)
        scaling = conv_multipliers(arg_type(let, 0).scale, weight_scales(let), let.var.type.scale)
        rows = weights.reshape(len(weights), -1)
        return Conv(
            window=window_of(let, attrs),
            activation=attrs.activation,
            channels=channels_of(let, constants, rows, scaling, attrs.activation),
        )


class V7mDepthwiseOne(TiledConv):
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
        weights = weight_data(let, constants)
        scaling = conv_multipliers(arg_type(let, 0).scale, weight_scales(let), let.var.type.scale)
        rows = np.ascontiguousarray(weights.reshape(-1, weights.shape[-1]).T)
        return Conv(
            window=window_of(let, attrs),
            activation=attrs.activation,
            channels=channels_of(let, constants, rows, scaling, attrs.activation),
        )


for most in (4, 2):
    register(V7mConv2D(most))
    register(V7mDepthwiseOne(most))
