"""CONV_2D of 3x3 by Winograd on cores with the DSP extension: when it can run, what it is bound to."""

from collections.abc import Mapping

import numpy as np

from codegen.ir import Let
from codegen.ir.ops.base.parameters import activation_range
from codegen.kernels.base.c_kernel import FastKernel
from codegen.kernels.base.overlap import forward_sharing, striped_below
from codegen.kernels.base.registry import register
from codegen.kernels.base.weighted import CONVOLUTION, conv_params, padding_pixel
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantPointer, CStruct, StructArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.dsp.packing import GROUP, INT8_STREAM, channels_of
from codegen.kernels.dsp.winograd.filters import stream
from codegen.kernels.dsp.winograd.price import instructions
from codegen.kernels.dsp.winograd.proof import fits
from codegen.kernels.dsp.winograd.tiles import F2, F4, Tile
from codegen.kernels.portable.convolution import CONV_2D_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import DSP


class WinogradConv(FastKernel):
    """3x3, stride 1, where every sum is proved to fit; else the portable kernel is bound."""

    op, kernel_set = CONVOLUTION.op, DSP
    portable = CONV_2D_S8

    def __init__(self, tile: Tile, form: str = "") -> None:
        """`form`: behind `winograd` in the names of its C functions and files."""
        self.tile, self.form = tile, form
        self.name = f"winograd{form}_s8_dsp"

    def other_reason(self, let: Let) -> str | None:
        """Another window, stride, padding or type of weights; several groups."""
        condition = CONVOLUTION.condition(let)
        if condition is not None:
            return f"the kernel {self.name} is for {condition}"
        window = CONVOLUTION.window(let)
        if window.window != (3, 3) or window.stride != (1, 1) or window.dilation != (1, 1):
            return f"the kernel {self.name} is for windows of 3x3, stride 1 and dilation 1"
        if max(window.padding.top, window.padding.left) > 1:
            return f"the kernel {self.name} is for at most one row and column of padding in front"
        return INT8_STREAM.refusal(let)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        layer = CONVOLUTION.layer(let, constants)
        window, inputs, tile = layer.window, layer.window.image[3], self.tile
        channels = channels_of(layer, let.var.type)
        if not fits(channels, inputs, tile):
            return self.portable.bind(let, constants, name)
        limits = activation_range(layer.activation, let.var.type)
        weights = CStruct(
            suffix="weights",
            c_type="cg_winograd_weights_dsp",
            fields=(("stream", ConstantPointer(role="stream")), ("padding", ConstantPointer(role="padding"))),
        )
        linked = (
            LinkedConstant(
                role="stream",
                data=stream(channels, inputs, tile),
                alignment=4,
                layout="by four channels: biases, transformed weights as int16 pairs, requantization",
            ),
            padding_pixel(let, (tile.columns + 2) * inputs, alignment=4),
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=f"cg_{self.name}",
            sources=_sources(self.form),
            headers=("cg_winograd_dsp.h",),
            argument_alignment=4 if inputs % GROUP == 0 or window.result[3] % GROUP == 0 else 1,
            reads=(window.reads(inputs),),
            workspaces=(Workspace(name="pixels", size_bytes=tile.workspace_bytes(window)),),
            constants=linked,
            sharing=forward_sharing(
                let, 0, striped_below(window, rows=tile.rows, columns=tile.columns, channels=inputs)
            ),
            structs=(conv_params(let, window, limits), weights),
            call_args=(PARAMS, StructArg(suffix="weights"), WorkspaceArg(name="pixels"), ARGUMENT, RESULT),
            pixels_at_once=tile.rows * tile.columns,
            instructions=instructions(window, channels, tile),
        )


def _sources(form: str) -> tuple[str, ...]:
    return (
        "kernels/dsp/requantize_s8_dsp.c",
        "kernels/dsp/winograd_blocks_s8_dsp.c",
        f"kernels/dsp/winograd{form}_parts_s8_dsp.S",
        f"kernels/dsp/winograd{form}_s8_dsp.c",
    )


register(WinogradConv(F2))
register(WinogradConv(F4, "4"))
