"""DEPTHWISE_CONV_2D, 5x5 and 7x7 of stride 1, on cores with the DSP extension: through int16 lines."""

from collections.abc import Mapping

import numpy as np

from codegen.ir import Let
from codegen.kernels.base.c_kernel import arg_type
from codegen.kernels.base.overlap import forward_sharing, striped_below
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import params
from codegen.kernels.base.weighted import DEPTHWISE
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantPointer, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.dsp.depthwise.channels import (
    GROUP,
    HEADER,
    ChannelNumbers,
    DspDepthwise,
    alignment,
    channel_numbers,
    int16_pairs,
)
from codegen.kernels.dsp.depthwise.stripes import widened
from codegen.kernels.portable.convolution import DEPTHWISE_S8
from codegen.kernels.primfunc import PrimFunc

LINES = 8
"""Image rows in the workspace."""
ROWS = {5: 4, 7: 2}
"""Result rows computed together, by the side of the window."""
LIMIT_BYTES = 4096
"""Largest workspace: wider images are computed tap by tap."""
_QUAD = {5: 118, 7: 187}
"""Instructions of four results."""
_BAND, _GROUP, _CHANNEL, _ROW = 190, 50, 17, 11
"""Instructions for each band, for each group of four channels of it, for each channel, and for each row of
that."""


class DepthwiseWide(DspDepthwise):
    """Square windows of `taps` a side; at least four channels, any width that fits the workspace."""

    weighted = DEPTHWISE_S8

    def __init__(self, taps: int) -> None:
        self.taps, self.base = taps, f"depthwise{taps}x{taps}_s8_dsp"
        super().__init__()
        self.sources = (
            "kernels/dsp/depthwise3x3_parts_dsp.S",
            "kernels/dsp/depthwise_wide_parts_dsp.S",
            f"kernels/dsp/{self.name}.c",
        )

    def other_reason(self, let: Let) -> str | None:
        """Refuse what `DspDepthwise` refuses, another window, stride or dilation, and a result that is too
        wide."""
        window = DEPTHWISE.window(let)
        sides = (self.taps, self.taps)
        if window.window != sides or window.stride != (1, 1) or window.dilation != (1, 1):
            return f"the kernel {self.name} is for {self.taps}x{self.taps} windows, stride and dilation 1"
        if window.padding.left > self.taps // 2:
            return f"the kernel {self.name} is for at most {self.taps // 2} columns of padding in front"
        if workspace_bytes(window) > LIMIT_BYTES:
            return f"the kernel {self.name} would take more than {LIMIT_BYTES} bytes of workspace"
        return super().other_reason(let)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind a call. Where weights could overflow an accumulator, bind the portable kernel."""
        numbers = channel_numbers(let, constants)
        if numbers is None:
            return self.portable.bind(let, constants, name)
        window = DEPTHWISE.window(let)
        below = striped_below(window, rows=ROWS[self.taps], columns=window.result[2], channels=GROUP)
        fields = (
            ("window", window.fields),
            ("channels", ConstantPointer(role="channels")),
            ("in_zero", arg_type(let, 0).zero_point),
            ("out_zero", 2 * let.var.type.zero_point + 1),
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=f"cg_{self.name}",
            sources=self.sources,
            headers=(HEADER,),
            argument_alignment=alignment(window),
            workspaces=(Workspace(name="lines", size_bytes=workspace_bytes(window)),),
            constants=(packed(numbers, self.taps),),
            sharing=forward_sharing(let, 0, below),
            structs=(params("cg_dw_wide_params", *fields),),
            call_args=(PARAMS, WorkspaceArg(name="lines"), ARGUMENT, RESULT),
            instructions=instructions(window),
        )


def packed(numbers: ChannelNumbers, taps: int) -> LinkedConstant:
    """Constants of a depthwise convolution of `taps` x `taps` through lines, channel by channel."""
    rows = 2 * numbers.weights.reshape(-1, taps, taps)
    pairs = np.stack([int16_pairs(rows[:, :, at : at + 2]) for at in range(taps - 1)], axis=2)
    columns = (
        2 * numbers.bias[:, None],
        numbers.multipliers[:, None],
        numbers.right_shifts[:, None] - 1,
        pairs.reshape(len(rows), -1),
    )
    return LinkedConstant(
        role="channels",
        data=np.concatenate(columns, axis=1).astype(np.int32).reshape(-1),
        alignment=4,
        layout="channel by channel: bias, requantization, weights in pairs of 16 bits",
    )


def _words(window: WindowShape) -> int:
    """Words of a line."""
    return 2 * -(-window.result[2] // 4) + window.window[1] // 2


def _lines(rows: int, taps: int) -> int:
    """Image rows that `rows` result rows read, by twos."""
    return (rows + taps) // 2 * 2


def workspace_bytes(window: WindowShape) -> int:
    """Bytes of all lines; an image with fewer rows lacks the last ones."""
    taps = window.window[0]
    lines = _lines(min(ROWS[taps], window.result[1]), taps)
    return 4 * (GROUP * LINES * _words(window) - (LINES - lines))


def instructions(window: WindowShape) -> int:
    """Predicted instructions of a call: lines widened and results computed, by band, group and channel."""
    batch, height, width, depth = window.result
    taps, left = window.window[0], window.padding.left
    pixels = left % 2 + min(window.image[2], width - 1 + taps - left)
    pairs = (pixels + 1) // 2
    behind = _words(window) - left // 2 - pairs
    groups = -(-depth // GROUP)
    total = 0
    for top in range(0, height, ROWS[taps]):
        rows = min(ROWS[taps], height - top)
        channel = _CHANNEL + rows * (_ROW + -(-width // 4) * _QUAD[taps])
        lined = widened(_lines(rows, taps), pairs, depth, behind)
        total += _BAND + groups * (_GROUP + lined) + depth * channel
    return batch * total


for side in ROWS:
    register(DepthwiseWide(side))
