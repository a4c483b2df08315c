"""CONV_2D, DEPTHWISE_CONV_2D of one channel and FULLY_CONNECTED on RV32IM cores with vectors."""

import math

from codegen.ir import Let
from codegen.kernels.base.c_kernel import PortableKernel
from codegen.kernels.base.registry import register
from codegen.kernels.base.tiles import PixelTiling, patch_line_bytes
from codegen.kernels.base.weighted import (
    CONVOLUTION,
    DEPTHWISE,
    FULLY_CONNECTED,
    TiledConv,
    WeightedLayer,
    WeightedOperator,
)
from codegen.kernels.base.window import WindowShape
from codegen.kernels.contract import Workspace
from codegen.kernels.portable.convolution import CONV_2D_S8, DEPTHWISE_S8, FULLY_CONNECTED_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rv32.packing import scale_reason
from codegen.kernels.rv32.windowed import WindowedCall, tiled
from codegen.kernels.zve32x.channels import HEADER, ZVE32X, linked_channels, products_fields
from codegen.kernels.zve32x.price import conv_instructions

FEW_CHANNELS = 16
"""Up to these six pixels are computed at a time, with half as many channels in a vector."""


class Zve32xTiled(TiledConv):
    """Windows of a few pixels are copied first, then multiplied by vectors of weights."""

    kernel_set = ZVE32X

    def __init__(self, operator: WeightedOperator, portable: PortableKernel) -> None:
        super().__init__(operator, portable, 4)

    def other_reason(self, let: Let) -> str | None:
        """Several groups; a scale that is not requantized by rounding shifts. One row is a pixel."""
        return self.layer_reason(let) if self.operator.takes_rows else super().other_reason(let)

    def layer_reason(self, let: Let) -> str | None:
        """A dilation of columns; a scale of one half and more."""
        if self.operator.window(let).dilation[1] != 1:
            return f"the kernel {self.name} is for windows without a dilation of columns"
        return scale_reason(let, self.operator)

    def bind_layer(self, let: Let, layer: WeightedLayer, name: str) -> PrimFunc:
        window = layer.window
        pixels = 6 if layer.outputs <= FEW_CHANNELS else 3
        tiles = tiling_of(window, pixels)
        space = Workspace(
            name="pixels",
            size_bytes=workspace_bytes(window, pixels),
            reads=tiles.count * layer.outputs / FEW_CHANNELS,
            writes=float(tiles.count),
        )
        call = WindowedCall(
            symbol="cg_conv2d_s8_zve32x",
            sources=(
                "kernels/zve32x/conv2d_s8_zve32x.c",
                "kernels/zve32x/copy_s8_zve32x.S",
                "kernels/zve32x/products_s8_zve32x.S",
            ),
            header=HEADER,
            space=space,
            constants=linked_channels(layer),
            struct="cg_conv_params_zve32x",
            fields=(
                ("products", products_fields(layer, let.var.type.zero_point)),
                ("in_zero", layer.in_zero),
                ("pixels", pixels),
            ),
            instructions=conv_instructions(window, pixels, tiles),
        )
        return tiled(call.bound(self, let, name, window), window, tiles, pixels)


def tiling_of(window: WindowShape, most: int) -> PixelTiling:
    """Tiles of `most` pixels of a row, or of all where only pixels are read; then single ones."""
    batch, height, width, _ = window.result
    is_one_row = window.is_pointwise
    rows, pixels = (1, batch * height * width) if is_one_row else (batch * height, width)
    tiles = (most,) * (pixels // most) + (1,) * (pixels % most)
    return PixelTiling(rows=rows, tiles=tiles, is_one_row=is_one_row)


def workspace_bytes(window: WindowShape, pixels: int) -> int:
    """Rows and columns that a tile of so many pixels reads."""
    pixels = min(pixels, math.prod(window.result[:3]) if window.is_pointwise else window.result[2])
    return window.window[0] * patch_line_bytes(window, pixels)


register(Zve32xTiled(CONVOLUTION, CONV_2D_S8))
register(Zve32xTiled(DEPTHWISE, DEPTHWISE_S8))
register(Zve32xTiled(FULLY_CONNECTED, FULLY_CONNECTED_S8))
