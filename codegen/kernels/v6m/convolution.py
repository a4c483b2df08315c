"""CONV_2D, and DEPTHWISE_CONV_2D of one channel, on ARMv6-M."""

from dataclasses import replace
from functools import partial

from codegen.ir import Let
from codegen.kernels.base.c_kernel import row_kernel
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.tiles import tiled_below, tiling
from codegen.kernels.base.weighted import (
    CONVOLUTION,
    DEPTHWISE,
    TiledConv,
    WeightedLayer,
    conv_params,
    padding_pixel,
)
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantPointer, CStruct, StructArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.portable.convolution import CONV_2D_S8, DEPTHWISE_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.v6m.packing import channels_of, packed, padded, stream
from codegen.kernels.v6m.price import conv_instructions
from codegen.targets.arm import V6M

HEADER = "cg_conv_v6m.h"
TILE_SOURCES = ("kernels/v6m/pair_s8_v6m.S", "kernels/v6m/requantize_s8_v6m.c", "kernels/v6m/tile_s8_v6m.S")


class V6mTiled(TiledConv):
    """A convolution whose windows are copied in pairs of pixels first."""

    kernel_set = V6M

    def bind_layer(self, let: Let, layer: WeightedLayer, name: str) -> PrimFunc:
        window, pixel_tiles = layer.window, tiling(layer.window, self.most)
        described = channels_of(layer, let.var.type)
        channels = packed(described, lanes=True)
        linked = [
            LinkedConstant(
                role="stream",
                data=stream(channels),
                alignment=4,
                layout="channel by channel: bias, weights, requantization",
            )
        ]
        if window.is_padded:
            linked.append(padding_pixel(let, window.image[3]))
        space = Workspace(
            name="pixels",
            size_bytes=2 * self.most * padded(layer.weights.shape[1]),
            reads=float(pixel_tiles.count * layer.outputs),
            writes=float(pixel_tiles.count),
        )
        predict = partial(conv_instructions, channels=channels, most=self.most)
        by_row = row_kernel(let, "cg_conv2d_s8_v6m_row", window, predict)
        weights = CStruct(
            suffix="weights",
            c_type="cg_conv_weights_v6m",
            fields=(
                ("stream", ConstantPointer(role="stream")),
                ("padding", ConstantPointer(role="padding") if window.is_padded else None),
                ("tile", self.most),
                ("middle", described.scale.middle),
            ),
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_conv2d_s8_v6m",
            sources=(*TILE_SOURCES, "kernels/v6m/conv2d_s8_v6m.c"),
            headers=(HEADER,),
            reads=(window.reads(window.image[3]),),
            workspaces=(space,),
            constants=tuple(linked),
            sharing=forward_sharing(let, 0, tiled_below(window, pixel_tiles)),
            structs=(conv_params(let, window), weights),
            call_args=(PARAMS, StructArg(suffix="weights"), WorkspaceArg(name="pixels"), ARGUMENT, RESULT),
            pixels_at_once=self.most,
            instructions=predict(window),
            rows=None if by_row is None else replace(by_row, workspace=space),
        )


for most in (4, 2):
    register(V6mTiled(CONVOLUTION, CONV_2D_S8, most))
    register(V6mTiled(DEPTHWISE, DEPTHWISE_S8, most))
