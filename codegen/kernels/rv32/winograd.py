"""CONV_2D of 3x3 by Winograd's F(2x2, 3x3) on RV32IM cores: exact, in integers.

Source: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, arXiv 1509.09308.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.kernels.base.c_kernel import FastKernel, arg_type
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import params
from codegen.kernels.base.weighted import CONVOLUTION
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantPointer, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.portable.convolution import CONV_2D_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rv32.depthwise import rows_below
from codegen.kernels.rv32.packing import (
    GROUP,
    HEADER,
    RV32,
    channels_of,
    fits,
    reason_3x3,
)
from codegen.kernels.rv32.price import winograd_instructions

ROWS, COLUMNS, LINES, MARGIN = 2, 8, 4, 2
"""Results of a block; rows of the image that they read, and how many more these are."""
SUMS_BYTES, CHANNEL_BYTES = 1024, 128
"""Parts of the workspace: sums of a block, its transformed pixels of each channel."""
TRANSFORM = np.array(((2, 0, 0), (1, 1, 1), (1, -1, 1), (0, 0, 2)), np.int64)
"""Winograd's matrix G, doubled."""


class Rv32Winograd(FastKernel):
    """Convolution of 3x3, stride 1, result channels by the multiple of four."""

    op, name, fast_form = CONVOLUTION.op, "winograd_s8_rv32", "winograd"
    kernel_set, portable = RV32, CONV_2D_S8

    def other_reason(self, let: Let) -> str | None:
        """Refuse another window, stride or number of channels; a scale that is not requantized the short
        way."""
        return reason_3x3(let, self.name)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind a call. Where a sum or shift is too large, bind the portable kernel."""
        layer = CONVOLUTION.layer(let, constants)
        if not fits(layer):
            return self.portable.bind(let, constants, name)
        window, channels = layer.window, channels_of(layer, let.var.type)
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_winograd_s8_rv32",
            sources=("kernels/rv32/winograd_parts_s8_rv32.S", "kernels/rv32/winograd_s8_rv32.c"),
            headers=(HEADER,),
            workspaces=(Workspace(name="pixels", size_bytes=workspace_bytes(window)),),
            constants=(
                LinkedConstant(
                    role="filters",
                    data=filters_of(channels.weights, window.image[3]),
                    alignment=4,
                    layout="by four channels: transformed weights in 16 bits",
                ),
                LinkedConstant(
                    role="channels",
                    data=channels.words(scale=2).reshape(-1),
                    alignment=4,
                    layout="of each channel four words of requantization",
                ),
            ),
            sharing=forward_sharing(let, 0, rows_below(window, ROWS)),
            structs=(
                params(
                    "cg_winograd_params_rv32",
                    ("window", window.fields),
                    ("filters", ConstantPointer(role="filters")),
                    ("channels", ConstantPointer(role="channels")),
                    ("in_zero", arg_type(let, 0).zero_point),
                    ("range", (("act_min", layer.limits[0]), ("act_max", layer.limits[1]))),
                ),
            ),
            call_args=(PARAMS, WorkspaceArg(name="pixels"), ARGUMENT, RESULT),
            pixels_at_once=ROWS * COLUMNS,
            instructions=winograd_instructions(window),
        )


def workspace_bytes(window: WindowShape) -> int:
    """Bytes of a block's sums and transformed pixels, and of four rows of the image."""
    depth = window.image[3]
    line = (COLUMNS * -(-window.result[2] // COLUMNS) + MARGIN) * depth
    return SUMS_BYTES + CHANNEL_BYTES * GROUP * -(-depth // GROUP) + LINES * line


def filters_of(weights: NDArray[np.int8], inputs: int) -> NDArray[np.int16]:
    """The `filters` of a `cg_winograd_params_rv32` from weights [O, 9 * C]."""
    window = weights.reshape(len(weights), 3, 3, inputs).astype(np.int64)
    filters = np.einsum("ia,jb,oabc->ijco", TRANSFORM, TRANSFORM, window).reshape(16, inputs, -1, GROUP)
    padded = np.pad(filters, ((0, 0), (0, -inputs % GROUP), (0, 0), (0, 0)))
    return np.ascontiguousarray(padded.transpose(2, 0, 1, 3)).reshape(-1).astype(np.int16)


register(Rv32Winograd())
