"""CONV_2D of 3x3 and stride 1 on RV32IM cores: rows of the image are packed once, and read side by side."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir import Let
from codegen.kernels.base.c_kernel import FastKernel
from codegen.kernels.base.registry import register
from codegen.kernels.base.row_price import RowPrice
from codegen.kernels.base.weighted import CONVOLUTION, padding_pixel
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ConstantPointer
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.portable.convolution import CONV_2D_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rv32.convolution import STREAM_LAYOUT, products_fields
from codegen.kernels.rv32.depthwise import LINES, rows_below
from codegen.kernels.rv32.packing import (
    HEADER,
    RV32,
    Channels,
    Chunks,
    channels_of,
    fits,
    reason_3x3,
    rows_of_taps,
    stream,
)
from codegen.kernels.rv32.price import conv3x3_instructions
from codegen.kernels.rv32.tiles import HALF, TILE, side_by_side
from codegen.kernels.rv32.windowed import WindowedCall, by_kept_rows

TAPS_BYTES = {TILE: 32, HALF: 24}
"""By pixels of a tile: bytes of a packed row of taps, for each channel of the image."""


class Rv32Conv3x3(FastKernel):
    """Convolution of 3x3, stride 1, result channels by the multiple of four, whose sums fit
    (`rows_of_taps`)."""

    op, name = CONVOLUTION.op, "conv3x3_s8_rv32"
    kernel_set, portable = RV32, CONV_2D_S8

    def other_reason(self, let: Let) -> str | None:
        """Refuse another window, stride or number of channels; a scale that is not requantized the short
        way."""
        return reason_3x3(let, self.name)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind a call. Where a sum or shift is too large, bind the portable kernel."""
        layer = CONVOLUTION.layer(let, constants)
        chunks = rows_of_taps(layer.weights)
        if chunks is None or not fits(layer):
            return self.portable.bind(let, constants, name)
        channels = channels_of(layer, let.var.type)
        return _bound(self, let, name, layer.window, (channels, chunks, layer.limits))


def _bound(
    kernel: FastKernel,
    let: Let,
    name: str,
    window: WindowShape,
    numbers: tuple[Channels, Chunks, tuple[int, int]],
) -> PrimFunc:
    channels, chunks, limits = numbers
    linked = LinkedConstant(role="stream", data=stream(channels, chunks), alignment=4, layout=STREAM_LAYOUT)
    call = WindowedCall(
        symbol="cg_conv3x3_s8_rv32",
        sources=(
            "kernels/rv32/conv3x3_s8_rv32.c",
            "kernels/rv32/conv3x3_tile_s8_rv32.S",
            "kernels/rv32/pack3x3_s8_rv32.S",
        ),
        header=HEADER,
        space=packed_rows(window, sum(map(TAPS_BYTES.__getitem__, side_by_side(window.result[2])))),
        constants=(linked, padding_pixel(let, window.image[3], role="pad")),
        struct="cg_conv_params_rv32",
        fields=(
            ("products", products_fields(channels, LINES * window.image[3], chunks, limits)),
            ("stream", ConstantPointer(role="stream")),
            ("pad", ConstantPointer(role="pad")),
        ),
        instructions=conv3x3_instructions(window, channels, chunks, is_row=False),
    )
    bound = by_kept_rows(call.bound(kernel, let, name, window), rows_below(window))
    if bound.rows is None:
        return bound
    price = RowPrice(
        window=window, predict=lambda row: conv3x3_instructions(row, channels, chunks, is_row=True)
    )
    return replace(
        bound, rows=replace(bound.rows, workspace=packed_rows(window, TAPS_BYTES[TILE]), price=price)
    )


def packed_rows(window: WindowShape, channel_bytes: int) -> Workspace:
    """The workspace of three packed rows of so many bytes for each channel."""
    return Workspace(
        name="rows",
        size_bytes=LINES * channel_bytes * window.image[3],
        reads=float(window.result[1]),
        writes=window.image[1] / LINES,
    )


register(Rv32Conv3x3())
