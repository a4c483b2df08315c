"""CONV_2D of 3x3 by Winograd on cores with the DSP extension: when it can run, what it is bound to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from codegen.ir import Let
from codegen.kernels.base.c_kernel import FastKernel, row_kernel
from codegen.kernels.base.overlap import forward_sharing, striped_below
from codegen.kernels.base.registry import register
from codegen.kernels.base.weighted import CONVOLUTION, conv_params, padding_pixel
from codegen.kernels.base.window import WindowShape
from codegen.kernels.block import RowKernel, Span
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantPointer, CStruct, StructArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.dsp.packing import GROUP, INT8_STREAM, Channels, channels_of
from codegen.kernels.dsp.winograd.filters import narrow, stream
from codegen.kernels.dsp.winograd.price import (
    instructions,
    narrow_instructions,
    narrow_row_instructions,
    row_instructions,
)
from codegen.kernels.dsp.winograd.proof import fits
from codegen.kernels.dsp.winograd.tiles import F2, F4, Tile, narrow_workspace_bytes
from codegen.kernels.portable.convolution import CONV_2D_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import DSP


@dataclass(frozen=True, kw_only=True, slots=True)
class Packed:
    """A layer as a form of the kernel takes it: packed weights, workspace, predicted instructions."""

    weights: CStruct
    constants: tuple[LinkedConstant, ...]
    workspace_bytes: int
    columns: int
    """Columns of the result that are computed together, as `Tile.rows` rows are."""
    instructions: int
    row_price: Callable[[int, Span], int]
    """Instructions as in `RowKernel.price`."""


class WinogradConv(FastKernel):
    """A convolution of 3x3, stride 1. Where a sum is not proved to fit, the portable kernel is bound."""

    op, kernel_set = CONVOLUTION.op, DSP
    portable = CONV_2D_S8
    parts: tuple[str, ...]
    """Parts of the names of its assembly files."""

    def __init__(self, tile: Tile, form: str = "") -> None:
        """`form`: behind `winograd` in the names of its C functions and files."""
        self.tile, self.form, self.parts = tile, form, (form,)
        self.name = f"winograd{form}_s8_dsp"
        self.fast_form = f"winograd{form}"

    def other_reason(self, let: Let) -> str | None:
        """Refuse another window, stride, padding or type of weights; several groups."""
        condition = CONVOLUTION.condition(let)
        if condition is not None:
            return f"the kernel {self.name} is for {condition}"
        window = CONVOLUTION.window(let)
        if window.window != (3, 3) or window.stride != (1, 1) or window.dilation != (1, 1):
            return f"the kernel {self.name} is for windows of 3x3, stride 1 and dilation 1"
        if max(window.padding.top, window.padding.left) > 1:
            return f"the kernel {self.name} is for at most one row and column of padding in front"
        return INT8_STREAM.refusal(let)

    def packed(self, let: Let, window: WindowShape, channels: Channels) -> Packed:
        """Pack the transformed weights; `NarrowWinogradConv` keeps them as they are."""
        inputs, tile = window.image[3], self.tile
        linked = LinkedConstant(
            role="stream",
            data=stream(channels, inputs, tile),
            alignment=4,
            layout="by four channels: biases, transformed weights as int16 pairs, requantization",
        )
        return Packed(
            weights=CStruct(
                suffix="weights",
                c_type="cg_winograd_weights_dsp",
                fields=(
                    ("stream", ConstantPointer(role="stream")),
                    ("padding", ConstantPointer(role="padding")),
                ),
            ),
            constants=(linked, padding_pixel(let, (tile.columns + 2) * inputs, alignment=4)),
            workspace_bytes=tile.workspace_bytes(window),
            columns=tile.columns,
            instructions=instructions(window, channels, tile),
            row_price=partial(row_instructions, window, channels, tile),
        )

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        layer = CONVOLUTION.layer(let, constants)
        window, inputs, tile = layer.window, layer.window.image[3], self.tile
        channels = channels_of(layer, let.var.type)
        if not fits(channels, inputs, tile):
            return self.portable.bind(let, constants, name)
        layer_parts = self.packed(let, window, channels)
        below = striped_below(window, rows=tile.rows, columns=layer_parts.columns, channels=inputs)
        space = Workspace(name="pixels", size_bytes=layer_parts.workspace_bytes)
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=f"cg_{self.name}",
            sources=(*_SOURCES, *(_part(form) for form in self.parts), f"kernels/dsp/{self.name}.c"),
            headers=("cg_winograd_dsp.h",),
            argument_alignment=4 if inputs % GROUP == 0 or window.result[3] % GROUP == 0 else 1,
            reads=(window.reads(inputs),),
            workspaces=(space,),
            constants=layer_parts.constants,
            sharing=forward_sharing(let, 0, below),
            structs=(conv_params(let, window), layer_parts.weights),
            call_args=(PARAMS, StructArg(suffix="weights"), WorkspaceArg(name="pixels"), ARGUMENT, RESULT),
            pixels_at_once=tile.rows * tile.columns,
            instructions=layer_parts.instructions,
            rows=self._rows(let, window, space, layer_parts),
        )

    def _rows(self, let: Let, window: WindowShape, space: Workspace, packed: Packed) -> RowKernel | None:
        """Row kernel that computes a band of tiles in each call."""
        rows = row_kernel(let, f"cg_{self.name}_row", window)
        if rows is None:
            return None
        return replace(
            rows,
            workspace=space,
            reads_row_last=True,
            turn_rows=self.tile.rows,
            price=packed.row_price,
        )


class NarrowWinogradConv(WinogradConv):
    """Winograd by weights that stay int8 in flash: each band of rows of tiles transforms them."""

    def __init__(self, tile: Tile) -> None:
        super().__init__(tile, "_narrow")
        self.parts = ("", self.form)

    def packed(self, let: Let, window: WindowShape, channels: Channels) -> Packed:
        """Pack the weights as they are: each call transforms them."""
        del let
        weights, numbers = narrow(channels, window.image[3])
        linked = (
            LinkedConstant(
                role="weights",
                data=weights,
                alignment=4,
                layout="by four channels, by four inputs: channel by channel the taps of these",
            ),
            LinkedConstant(
                role="numbers", data=numbers, alignment=4, layout="by four channels: biases, requantization"
            ),
        )
        fields = (
            *((constant.role, ConstantPointer(role=constant.role)) for constant in linked),
            ("rows", self.tile.rows),
        )
        return Packed(
            weights=CStruct(suffix="weights", c_type="cg_winograd_narrow_dsp", fields=fields),
            constants=linked,
            workspace_bytes=narrow_workspace_bytes(window, self.tile),
            columns=window.result[2],
            instructions=narrow_instructions(window, channels, self.tile),
            row_price=partial(narrow_row_instructions, window, channels, self.tile),
        )


_SOURCES = ("kernels/dsp/requantize_s8_dsp.c", "kernels/dsp/winograd_blocks_s8_dsp.c")


def _part(form: str) -> str:
    return f"kernels/dsp/winograd{form}_parts_s8_dsp.S"


register(WinogradConv(F2))
register(WinogradConv(F4, "4"))
register(NarrowWinogradConv(F2))
