"""DEPTHWISE_CONV_2D, 3x3, of one channel on cores with the DSP extension: its lines serve all results."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from codegen.ir import Let
from codegen.kernels.base.c_kernel import FastKernel, arg_type, row_kernel
from codegen.kernels.base.overlap import forward_sharing, striped_below
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import params
from codegen.kernels.base.weighted import DEPTHWISE
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, WorkspaceArg
from codegen.kernels.contract import Workspace
from codegen.kernels.dsp.depthwise.channels import HEADER, channel_numbers, ends_at_zero, lines_reason
from codegen.kernels.dsp.depthwise.stripes import ROW_LINES, ColumnTile, row_tile, words
from codegen.kernels.dsp.depthwise.window3x3 import LEAST_SOURCES, SOURCES, fields, packed
from codegen.kernels.dsp.packing import long_reason
from codegen.kernels.portable.convolution import DEPTHWISE_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import DSP

_ROW, _LINE, _CHANNEL = 150, 22, 43
"""Instructions around each row of results, each of its lines, and each channel of it."""


class DepthwisePlane(FastKernel):
    """DEPTHWISE_CONV_2D of one channel, any number of results, 3x3, stride 1 or 2."""

    op, name = DEPTHWISE.op, "depthwise_plane_s8_dsp"
    kernel_set, portable = DSP, DEPTHWISE_S8

    def other_reason(self, let: Let) -> str | None:
        """Refuse several channels; another window or stride; a scale or range that takes the long way."""
        if arg_type(let, 0).shape[3] != 1:
            return f"the kernel {self.name} is for images of one channel"
        reason = lines_reason(let, self.name)
        return reason or long_reason(let, DEPTHWISE)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind a call. Where weights could overflow an accumulator, bind the portable kernel."""
        channels = packed(channel_numbers(let, constants))
        if channels is None:
            return self.portable.bind(let, constants, name)
        window, is_least = DEPTHWISE.window(let), ends_at_zero(let)
        tile = row_tile(window, planes=1)
        symbol = f"cg_depthwise_plane_{'least_' if is_least else ''}s8_dsp"
        space = Workspace(name="lines", size_bytes=tile.workspace_bytes)
        predict = partial(_instructions, tile=tile, is_least=is_least)
        rows = row_kernel(let, f"{symbol}_row", window, predict)
        products = LEAST_SOURCES[1] if is_least else SOURCES[0]
        below = striped_below(window, rows=1, columns=tile.columns, channels=1)
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=symbol,
            sources=("kernels/dsp/widen_single_dsp.S", products, f"kernels/dsp/{symbol[3:]}.c"),
            headers=(HEADER,),
            workspaces=(space,),
            constants=(channels,),
            sharing=forward_sharing(let, 0, below),
            structs=(params("cg_dw3x3_params", *fields(let, window, tile, DEPTHWISE)),),
            call_args=(PARAMS, WorkspaceArg(name="lines"), ARGUMENT, RESULT),
            instructions=predict(window),
            rows=None if rows is None else replace(rows, workspace=space, reads_row_last=True),
        )


def _instructions(window: WindowShape, tile: ColumnTile, *, is_least: bool) -> int:
    """Predicted instructions of a call: lines widened and results computed, by row and stripe."""
    batch, height, width, depth = window.result
    total = 0
    for left in range(0, width, tile.columns):
        columns = min(tile.columns, width - left)
        widened = ROW_LINES * (_LINE + 6 * words(columns, window.stride[1]))
        total += _ROW + widened + depth * (_CHANNEL + -(-columns // 4) * (56 if is_least else 61))
    return batch * height * total


register(DepthwisePlane())
