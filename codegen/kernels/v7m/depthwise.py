"""DEPTHWISE_CONV_2D, any window, on ARMv7-M cores without the DSP extension."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.ir.ops import DepthwiseConvAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import FastKernel, arg_type, row_kernel
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import params
from codegen.kernels.base.weighted import DEPTHWISE, output_fields, padding_pixel
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantPointer, CStruct, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.portable.convolution import DEPTHWISE_IN_PLACE_S8, DEPTHWISE_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.v7m.packing import HEADER, LAST, NEXT_INPUT, Channels, channels_of
from codegen.kernels.v7m.price import depthwise_instructions, in_place_instructions
from codegen.kernels.v7m.tiles import blocks_below
from codegen.targets.arm import V7M

SOURCES = (
    "kernels/v7m/depthwise_block_s8_v7m.S",
    "kernels/v7m/depthwise_s8_v7m.c",
    "kernels/v7m/requantize_s8_v7m.c",
)
ADDRESS_BYTES = 16
"""Bytes of the table of addresses for each tap: four pixels."""
RING_BYTES = 368
"""Most bytes of the rows kept in place, if one channel's do not take more."""


def channel_words(channels: Channels, multiplier: int, group: int) -> NDArray[np.int32]:
    """The first bias, then CG_DW_WORDS_V7M words of every channel; the last of `group` each is marked."""
    count = len(channels.bias)
    output = np.arange(count)
    is_last = ((output + 1) % group == 0) | (output == count - 1)
    is_next = (output + 1) % multiplier == 0
    bits = is_last.astype(np.int64) * LAST + is_next.astype(np.int64) * NEXT_INPUT
    next_bias = np.append(channels.bias[1:], np.int32(0))[:, None]
    words = np.concatenate((channels.requantization.words(bits), next_bias), axis=1)
    return np.concatenate((channels.bias[:1], words.reshape(-1)))


class V7mDepthwise(FastKernel):
    """Depthwise convolution, any window, stride, dilation, padding and multiplier."""

    op, name = "DEPTHWISE_CONV_2D", "depthwise_s8_v7m"
    kernel_set, portable = V7M, DEPTHWISE_S8

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
        layer = DEPTHWISE.layer(let, constants)
        window, channels = layer.window, channels_of(layer, let.var.type)
        count = len(channels.bias)
        space = Workspace(name="taps", size_bytes=ADDRESS_BYTES * math.prod(window.window))
        row = row_kernel(let, "cg_depthwise_s8_v7m_row", window)
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_depthwise_s8_v7m",
            sources=SOURCES,
            headers=(HEADER,),
            reads=(window.reads(count),),
            workspaces=(space,),
            constants=_linked(let, channels, group=count),
            sharing=forward_sharing(let, 0, blocks_below(window, attrs.multiplier)),
            structs=(_numbers(let, window, group=count),),
            call_args=(PARAMS, WorkspaceArg(name=space.name), ARGUMENT, RESULT),
            instructions=depthwise_instructions(window, channels),
            rows=None if row is None else replace(row, workspace=space, reads_row_last=True),
        )


class V7mDepthwiseInPlace(FastKernel):
    """Depthwise convolution whose result replaces its image: stride 1, same size, multiplier 1."""

    op, name = "DEPTHWISE_CONV_2D", "depthwise_s8_v7m_in_place"
    kernel_set, portable = V7M, DEPTHWISE_IN_PLACE_S8
    is_in_place = True

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        layer = DEPTHWISE.layer(let, constants)
        window, channels = layer.window, channels_of(layer, let.var.type)
        group = group_of(window)
        size = ADDRESS_BYTES * math.prod(window.window) + ring_bytes(window) * group
        space = Workspace(
            name="ring",
            size_bytes=size,
            reads=math.prod(window.image) * math.prod(window.window) / size,
            writes=math.prod(window.image) / size,
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_depthwise_in_place_s8_v7m",
            sources=SOURCES,
            headers=(HEADER,),
            workspaces=(space,),
            constants=_linked(let, channels, group=group),
            structs=(_numbers(let, window, group=group),),
            call_args=(PARAMS, WorkspaceArg(name=space.name), RESULT),
            instructions=in_place_instructions(window, channels, group),
            in_place=0,
        )


def ring_bytes(window: WindowShape) -> int:
    """Bytes of one channel in as many padded rows as a window spans."""
    rows, columns = ((window.window[axis] - 1) * window.dilation[axis] for axis in (0, 1))
    return (rows + 1) * (window.image[2] + columns)


def group_of(window: WindowShape) -> int:
    """Channels whose rows are kept together: as few groups as `RING_BYTES` allows, alike."""
    depth = window.image[3]
    most = max(1, RING_BYTES // ring_bytes(window))
    return -(-depth // -(-depth // most))


def _linked(let: Let, channels: Channels, *, group: int) -> tuple[LinkedConstant, ...]:
    multiplier = narrow(let.call.attrs, DepthwiseConvAttrs).multiplier
    return (
        LinkedConstant(
            role="weights",
            data=channels.weights.reshape(-1),
            alignment=1,
            layout="channel by channel, the taps of each row by row",
        ),
        LinkedConstant(
            role="channels",
            data=channel_words(channels, multiplier, group),
            alignment=4,
            layout="the first bias, then of each channel its requantization and the next bias",
        ),
        padding_pixel(let, min(group, arg_type(let, 0).shape[3]), role="pad"),
    )


def _numbers(let: Let, window: WindowShape, *, group: int) -> CStruct:
    return params(
        "cg_dw_params_v7m",
        ("window", window.fields),
        ("weights", ConstantPointer(role="weights")),
        ("channels", ConstantPointer(role="channels")),
        ("pad", ConstantPointer(role="pad")),
        ("range", output_fields(let)),
        ("group", group),
    )


register(V7mDepthwise())
register(V7mDepthwiseInPlace())
