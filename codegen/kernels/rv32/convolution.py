"""CONV_2D, DEPTHWISE_CONV_2D of one channel and FULLY_CONNECTED of several rows on RV32IM cores."""

from collections.abc import Mapping

import numpy as np

from codegen.ir import Let
from codegen.kernels.base.c_kernel import PortableKernel
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import Fields
from codegen.kernels.base.weighted import (
    CONVOLUTION,
    DEPTHWISE,
    FULLY_CONNECTED,
    TiledConv,
    WeightedLayer,
    WeightedOperator,
    padding_pixel,
)
from codegen.kernels.call import ConstantPointer
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.portable.convolution import CONV_2D_S8, DEPTHWISE_S8, FULLY_CONNECTED_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rv32.packing import (
    GROUP,
    HEADER,
    RV32,
    Channels,
    Chunks,
    channels_of,
    chunks_of,
    fits,
    scale_reason,
)
from codegen.kernels.rv32.packing import stream as stream_of
from codegen.kernels.rv32.price import conv_instructions
from codegen.kernels.rv32.tiles import TILE, tiling_of
from codegen.kernels.rv32.windowed import WindowedCall, tiled

VALUE_BYTES = 16
"""Bytes of a value of six packed pixels."""
STREAM_LAYOUT = "by four channels, value after value a weight of each, then their requantization"


class Rv32Tiled(TiledConv):
    """A convolution whose windows are packed first, six pixels together, three of them in two words."""

    kernel_set = RV32

    def __init__(self, operator: WeightedOperator, portable: PortableKernel) -> None:
        super().__init__(operator, portable, 4)

    def layer_reason(self, let: Let) -> str | None:
        """Refuse a scale that is not requantized in four instructions."""
        return scale_reason(let, self.operator)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind a call. Where a sum or shift is too large, bind the portable kernel."""
        layer = self.operator.layer(let, constants)
        if not fits(layer):
            return self.portable.bind(let, constants, name)
        return self.bind_layer(let, layer, name)

    def bind_layer(self, let: Let, layer: WeightedLayer, name: str) -> PrimFunc:
        channels = channels_of(layer, let.var.type)
        window, chunks = layer.window, chunks_of(channels.weights)
        form = "chunked_" if chunks.count > 1 else "least_" if channels.ends_at_zero else ""
        tiles = tiling_of(window)
        space = Workspace(
            name="pixels",
            size_bytes=VALUE_BYTES * channels.weights.shape[1],
            reads=tiles.count * len(channels.bias) / GROUP,
            writes=float(tiles.count),
        )
        stream = LinkedConstant(
            role="stream",
            data=stream_of(channels, chunks),
            alignment=4,
            layout=STREAM_LAYOUT,
        )
        call = WindowedCall(
            symbol=f"cg_conv2d_{form}s8_rv32",
            sources=(
                f"kernels/rv32/conv2d_{form}s8_rv32.c",
                f"kernels/rv32/conv_tile_{form}s8_rv32.S",
                "kernels/rv32/gather_s8_rv32.S",
            ),
            header=HEADER,
            space=space,
            constants=(stream, padding_pixel(let, window.image[3], role="pad")),
            struct="cg_conv_params_rv32",
            fields=(
                ("products", products_fields(channels, channels.weights.shape[1], chunks, layer.limits)),
                ("stream", ConstantPointer(role="stream")),
                ("pad", ConstantPointer(role="pad")),
            ),
            instructions=conv_instructions(window, channels, chunks),
        )
        return tiled(call.bound(self, let, name, window), window, tiles, TILE)


def products_fields(channels: Channels, values: int, chunks: Chunks, limits: tuple[int, int]) -> Fields:
    """Fields of a `cg_products_rv32`; `values` lie one behind the other."""
    outputs = len(channels.bias)
    starts = (chunks.offset + (chunks.offset << bits) & 0xFFFFFFFF for bits in (21, 10))
    return (
        ("values", values),
        ("fours", outputs // GROUP),
        ("singles", outputs % GROUP),
        *zip(("start1", "start2"), starts, strict=True),
        ("range", (("act_min", limits[0]), ("act_max", limits[1]))),
        ("first", chunks.first),
        ("chunk", chunks.size),
    )


register(Rv32Tiled(CONVOLUTION, CONV_2D_S8))
register(Rv32Tiled(DEPTHWISE, DEPTHWISE_S8))
register(Rv32Tiled(FULLY_CONNECTED, FULLY_CONNECTED_S8))
