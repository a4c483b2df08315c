"""CONV_2D and DEPTHWISE_CONV_2D of one channel on cores with the DSP extension."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from codegen.ir import DType, Let, Target, Var
from codegen.ir.fixed_point import wrap_int32
from codegen.ir.ops import Activation, ConvAttrs, DepthwiseConvAttrs, Padding2D
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
from codegen.kernels.base.forms import Form, register_form
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import Kernel, register
from codegen.kernels.base.walk import params
from codegen.kernels.base.window import WindowShape, nhwc
from codegen.kernels.call import ConstantPointer, CStruct, ResultArg, StructArg, ValueArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.dsp.packing import Channels, stream
from codegen.kernels.dsp.price import conv_instructions
from codegen.kernels.dsp.tiles import (
    image_offsets,
    patch_offsets,
    reads_words,
    table_reach_bytes,
    tile_count,
    tiled_below,
    workspace_bytes,
)
from codegen.kernels.portable.convolution import Conv2D, DepthwiseConv2D
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import DSP
from codegen.targets.families import runs

HEADER = "cg_conv_dsp.h"
PIXEL_SOURCES = (
    "kernels/dsp/gather_s8_dsp.S",
    "kernels/dsp/requantize_s8_dsp.c",
    "kernels/dsp/tile1_s8_dsp.S",
)
"""Of tiles of one pixel."""
_TILE_SOURCES: Mapping[int, tuple[str, ...]] = {
    1: PIXEL_SOURCES,
    2: (*PIXEL_SOURCES, "kernels/dsp/tile2_s8_dsp.S"),
    4: (
        *PIXEL_SOURCES,
        "kernels/dsp/tile2_s8_dsp.S",
        "kernels/dsp/gather4_s8_dsp.S",
        "kernels/dsp/tile4_s8_dsp.S",
    ),
}
"""By the most pixels of a tile."""
_SOURCE = "kernels/dsp/conv2d_s8_dsp.c"
REACH_BYTES = 32767
"""Windows read by bytes go by a table of 16-bit offsets."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Conv:
    """What convolutions and rows of a fully connected layer have in common."""

    window: WindowShape
    activation: Activation
    weights: NDArray[np.int8]
    """[O, K]: per output channel the weights of a window, in the order in which its values are read."""
    bias: NDArray[np.int64]
    multipliers: NDArray[np.int32]
    shifts: NDArray[np.int32]

    def channels(self, let: Let) -> Channels:
        """Everything of an output channel, as results of type `let.var.type` want it."""
        image, result = arg_type(let, 0), let.var.type
        count = len(self.weights)
        folded = self.bias - image.zero_point * self.weights.sum(axis=1, dtype=np.int64)
        return Channels(
            weights=self.weights,
            bias=wrap_int32(folded).astype(np.int32),
            multipliers=np.broadcast_to(self.multipliers, count),
            shifts=np.broadcast_to(self.shifts, count),
            is_clamped=activation_range(self.activation, result) != result.dtype.limits,
        )


class DspKernel(Kernel):
    """Shared by all: a core with the DSP extension, weights in a stream."""

    portable: PortableKernel
    """The kernel whose conditions hold here too."""

    def refusal(self, let: Let, target: Target) -> str | None:
        """A core without SMLAD, or numbers the kernel cannot apply."""
        if not runs(target, DSP):
            return f"the kernel {self.name} needs a core with the DSP extension"
        reason = self.portable.refusal(let, target)
        if reason is None and not isinstance(let.call.args[0], Var):
            reason = "the image is constant"
        return self.other_reason(let) if reason is None else reason

    @abstractmethod
    def other_reason(self, let: Let) -> str | None:
        """What the portable kernel can and this one cannot, or None."""


def weight_data(let: Let, constants: ConstantData) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
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


class TiledConv(DspKernel):
    """A convolution in tiles of `most` pixels."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.name = f"{self.stem}_dsp" if most == 4 else f"{self.stem}_dsp_{most}"

    stem: str
    """Of the name in the registry."""

    @abstractmethod
    def conv(self, let: Let, constants: ConstantData) -> Conv:
        """The call as a convolution of one group."""

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        conv = self.conv(let, constants)
        window = conv.window
        by_words = reads_words(window)
        is_padded = window.padding != Padding2D()
        channels = conv.channels(let)
        linked = [
            LinkedConstant(
                role="stream",
                data=stream(channels),
                alignment=4,
                layout="by two channels: biases, weights {a0 b0 a2 b2} {a1 b1 a3 b3}, requantization",
            )
        ]
        if is_padded and by_words:
            pixel = np.full(window.image[3], arg_type(let, 0).zero_point, np.int8)
            linked.append(
                LinkedConstant(
                    role="padding", data=pixel, alignment=4, layout="a pixel in the padding: zero points"
                )
            )
        elif is_padded:
            table = patch_offsets(window, self.most)
            linked.append(
                LinkedConstant(
                    role="patch_offsets",
                    data=table,
                    alignment=2,
                    layout="of each value of a window, in a patch of pixels",
                )
            )
        if not by_words:
            linked.append(
                LinkedConstant(
                    role="image_offsets",
                    data=image_offsets(window),
                    alignment=2,
                    layout="of each value of a window, in the image",
                )
            )
        roles = {constant.role for constant in linked}
        turns = tile_count(window, self.most)
        space = Workspace(
            name="pixels",
            size_bytes=workspace_bytes(window, self.most),
            reads=float(turns * ((len(conv.weights) + 1) // 2)),
            writes=float(turns),
        )
        rows = row_kernel(let, "cg_conv2d_s8_dsp_row", window)
        row_space = replace(space, size_bytes=workspace_bytes(window, self.most, is_row=True))
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
            c_type="cg_conv_weights_dsp",
            fields=(
                ("stream", ConstantPointer(role="stream")),
                *(
                    (role, ConstantPointer(role=role) if role in roles else None)
                    for role in ("padding", "patch_offsets", "image_offsets")
                ),
                ("tile", self.most),
            ),
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_conv2d_s8_dsp",
            sources=(*_TILE_SOURCES[self.most], _SOURCE),
            headers=(HEADER,),
            argument_alignment=4 if by_words else 1,
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
            rows=None if rows is None else replace(rows, workspace=row_space),
        )


def _far(window: WindowShape, most: int) -> str | None:
    if not reads_words(window) and table_reach_bytes(window, most) > REACH_BYTES:
        return f"its window reaches over more than {REACH_BYTES} bytes"
    return None


class DspConv2D(TiledConv):
    """CONV_2D, one group."""

    op, stem = "CONV_2D", "conv2d_s8"
    portable = Conv2D("conv2d_s8", DType.INT8)

    def other_reason(self, let: Let) -> str | None:
        """Several groups, or a window that is too large to be read by bytes."""
        if arg_type(let, 1).shape[3] != arg_type(let, 0).shape[3]:
            return f"the kernel {self.name} is for one group"
        return _far(self._window(let), self.most)

    def _window(self, let: Let) -> WindowShape:
        attrs = narrow(let.call.attrs, ConvAttrs)
        return _window(let, attrs, arg_type(let, 1).shape)

    def conv(self, let: Let, constants: ConstantData) -> Conv:
        """See `TiledConv.conv`."""
        weights, bias = weight_data(let, constants)
        scales = arg_type(let, 0).scale, weight_scales(let), let.var.type.scale
        multipliers, shifts = conv_multipliers(*scales)
        return Conv(
            window=self._window(let),
            activation=narrow(let.call.attrs, ConvAttrs).activation,
            weights=weights.reshape(len(weights), -1),
            bias=bias,
            multipliers=multipliers,
            shifts=shifts,
        )


class DspDepthwise(TiledConv):
    """DEPTHWISE_CONV_2D of an image of one channel: a convolution whose weights are transposed."""

    op, stem = "DEPTHWISE_CONV_2D", "depthwise_conv2d_1_s8"
    portable = DepthwiseConv2D("depthwise_conv2d_s8", DType.INT8)

    def other_reason(self, let: Let) -> str | None:
        """More than one channel, or a window that is too large to be read by bytes."""
        if arg_type(let, 0).shape[3] != 1:
            return f"the kernel {self.name} is for images of one channel"
        return _far(self._window(let), self.most)

    def _window(self, let: Let) -> WindowShape:
        attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
        return _window(let, attrs, arg_type(let, 1).shape)

    def conv(self, let: Let, constants: ConstantData) -> Conv:
        """See `TiledConv.conv`."""
        weights, bias = weight_data(let, constants)
        scales = arg_type(let, 0).scale, weight_scales(let), let.var.type.scale
        multipliers, shifts = conv_multipliers(*scales)
        return Conv(
            window=self._window(let),
            activation=narrow(let.call.attrs, DepthwiseConvAttrs).activation,
            weights=np.ascontiguousarray(weights.reshape(-1, weights.shape[-1]).T),
            bias=bias,
            multipliers=multipliers,
            shifts=shifts,
        )


def _window(let: Let, attrs: ConvAttrs | DepthwiseConvAttrs, weights: tuple[int, ...]) -> WindowShape:
    return WindowShape(
        image=nhwc(arg_type(let, 0).shape),
        result=nhwc(let.var.type.shape),
        window=(weights[1], weights[2]),
        stride=attrs.stride,
        dilation=attrs.dilation,
        padding=attrs.padding,
    )


for most in (4, 2, 1):
    register(DspConv2D(most))
    register(DspDepthwise(most))

for most in (1, 2):
    register_form(
        Form(
            largest=_SOURCE,
            source=f"kernels/dsp/conv2d_{most}_s8_dsp.c",
            without=frozenset(_TILE_SOURCES[4]) - frozenset(_TILE_SOURCES[most]),
            names={f"cg_conv2d_s8_dsp{end}": f"cg_conv2d_{most}_s8_dsp{end}" for end in ("", "_row")},
        )
    )
