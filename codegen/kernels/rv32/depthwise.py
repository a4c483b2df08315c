"""DEPTHWISE_CONV_2D, 3x3, on RV32IM cores: through three rows of the image with their padding."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.kernels.base.c_kernel import arg_type
from codegen.kernels.base.overlap import NOTHING
from codegen.kernels.base.registry import register
from codegen.kernels.base.row_price import RowPrice
from codegen.kernels.base.weighted import DEPTHWISE
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ConstantPointer
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.portable.convolution import DEPTHWISE_IN_PLACE_S8, DEPTHWISE_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rows import safe_distance
from codegen.kernels.rv32.packing import (
    GROUP,
    HEADER,
    RV32,
    Channels,
    channels_of,
    fits,
)
from codegen.kernels.rv32.price import depthwise_instructions
from codegen.kernels.rv32.windowed import KeptRowsDepthwise, WindowedCall, by_kept_rows

LINES = 3
ROWS = {1: 2, 2: 1}
"""By stride: rows of results at a time."""
RING_BYTES = 1024
"""Most bytes of the rows kept in place, if four channels' do not take more."""


class Rv32Depthwise(KeptRowsDepthwise):
    """Weights in registers, four pixels at a time."""

    name = "depthwise3x3_s8_rv32"
    kernel_set, portable = RV32, DEPTHWISE_S8

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind a call. Where a sum or shift is too large, bind the portable kernel."""
        layer = DEPTHWISE.layer(let, constants)
        if not fits(layer):
            return self.portable.bind(let, constants, name)
        window, channels = layer.window, channels_of(layer, let.var.type)
        group = self.group_of(window)
        symbol = f"cg_depthwise3x3_{'least_' if channels.ends_at_zero else ''}s8_rv32"
        file = f"kernels/rv32/{symbol.removeprefix('cg_')}"
        stream = LinkedConstant(
            role="stream",
            data=stream_of(channels),
            alignment=4,
            layout="channel by channel: weights, twice as large, in 16 bits, then requantization",
        )
        call = WindowedCall(
            symbol=symbol,
            sources=(
                f"{file}.c",
                f"{file.replace('s8', 'pairs_s8')}.S",
                f"{file.replace('s8', 'rows_s8')}.S",
                "kernels/rv32/keep_pairs_s8_rv32.S",
            ),
            header=HEADER,
            space=kept_rows(window, workspace_bytes(window, group, whole_lines(window))),
            constants=(stream,),
            struct="cg_depthwise_params_rv32",
            fields=(
                ("stream", ConstantPointer(role="stream")),
                ("in_zero", arg_type(let, 0).zero_point),
                ("range", (("act_min", layer.limits[0]), ("act_max", layer.limits[1]))),
                ("group", group),
            ),
            instructions=depthwise_instructions(window, channels, group, is_row=False),
        )
        bound = call.bound(self, let, name, window)
        if bound.rows is not None:
            space = kept_rows(window, workspace_bytes(window, group, LINES))
            price = RowPrice(
                window=window,
                predict=lambda row: depthwise_instructions(row, channels, group, is_row=True),
            )
            bound = replace(bound, rows=replace(bound.rows, workspace=space, price=price))
        return by_kept_rows(bound, rows_below(window, ROWS[window.stride[0]]))


class Rv32DepthwiseInPlace(Rv32Depthwise):
    """A convolution whose result replaces its image: stride 1, same size, few channels at a time."""

    name, portable = "depthwise3x3_s8_rv32_in_place", DEPTHWISE_IN_PLACE_S8
    is_in_place = True

    def group_of(self, window: WindowShape) -> int:
        """Channels of a group: as few groups as `RING_BYTES` allow, alike."""
        fours = -(-window.image[3] // GROUP)
        most = max(1, RING_BYTES // workspace_bytes(window, GROUP, whole_lines(window)))
        return GROUP * -(-fours // -(-fours // most))


def columns_of(window: WindowShape) -> int:
    """Columns of a row that is kept."""
    return (window.result[2] - 1) * window.stride[1] + window.window[1]


def kept_rows(window: WindowShape, size_bytes: int) -> Workspace:
    """The workspace of rows that are kept."""
    return Workspace(
        name="rows",
        size_bytes=size_bytes,
        reads=float(window.result[1]),
        writes=window.image[1] / LINES,
    )


def whole_lines(window: WindowShape) -> int:
    """Rows that are kept where all rows of results are computed."""
    return LINES + ROWS[window.stride[0]] - 1


def workspace_bytes(window: WindowShape, channels: int, lines: int) -> int:
    """Bytes of `lines` rows: a word a column of each four channels."""
    return lines * 4 * columns_of(window) * -(-channels // GROUP)


def stream_of(channels: Channels) -> NDArray[np.int16]:
    """The `stream` of a `cg_depthwise_params_rv32`."""
    weights = np.pad(2 * channels.weights.astype(np.int16), ((0, 0), (0, 1)))
    return np.concatenate((weights, channels.words().view(np.int16)), axis=1).reshape(-1)


def rows_below(window: WindowShape, turn: int = 1) -> int | None:
    """Least safe distance in elements, as `tiled_below`: each row of the image is read once, before the first
    `turn` rows of results that need it."""
    batch, height, width, depth = window.image
    line, result_line = width * depth, math.prod(window.result[2:])
    down = window.axes[0]
    ends: list[int] = []
    lows: list[int] = []
    for image in range(batch):
        read = 0
        for y in range(0, down.count, turn):
            stop = min(y + turn, down.count)
            if read <= down.lasts[stop - 1]:
                lows.append((image * height + read) * line)
                ends.append(0)
                read = down.lasts[stop - 1] + 1
            lows.append(NOTHING)
            ends.append((image * down.count + stop) * result_line)
    return safe_distance(np.array(ends), np.array(lows))


register(Rv32Depthwise())
register(Rv32DepthwiseInPlace())
