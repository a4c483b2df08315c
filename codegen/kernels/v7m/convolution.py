"""CONV_2D and DEPTHWISE_CONV_2D of one channel on ARMv7-M cores without the DSP extension."""

from dataclasses import replace
from functools import partial

from codegen.ir import Let
from codegen.kernels.base.c_kernel import arg_type, row_kernel
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.tiles import tiled_below, tiling
from codegen.kernels.base.walk import params
from codegen.kernels.base.weighted import CONVOLUTION, DEPTHWISE, TiledConv, WeightedLayer, output_fields
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantPointer, CStruct, WorkspaceArg
from codegen.kernels.contract import Workspace
from codegen.kernels.portable.convolution import CONV_2D_S8, DEPTHWISE_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.v7m.packing import HEADER, channels_of, linked, runs_of
from codegen.kernels.v7m.price import conv_instructions
from codegen.kernels.v7m.tiles import patch_end, workspace_bytes
from codegen.targets.arm import V7M

SOURCES = (
    "kernels/v7m/conv2d_s8_v7m.c",
    "kernels/v7m/conv_tile_s8_v7m.S",
    "kernels/v7m/requantize_s8_v7m.c",
)


def conv_params(let: Let, window: WindowShape, most: int) -> CStruct:
    """A `cg_conv_params_v7m`, of tiles of `most` pixels."""
    return params(
        "cg_conv_params_v7m",
        ("window", window.fields),
        ("weights", ConstantPointer(role="weights")),
        ("channels", ConstantPointer(role="channels")),
        ("range", output_fields(let)),
        ("in_zero", arg_type(let, 0).zero_point),
        ("tile", most),
        ("patch_end", patch_end(window, most)),
    )


class V7mTiled(TiledConv):
    """A convolution whose windows are copied in pairs of pixels first."""

    kernel_set = V7M

    def bind_layer(self, let: Let, layer: WeightedLayer, name: str) -> PrimFunc:
        window, pixel_tiles = layer.window, tiling(layer.window, self.most)
        channels = channels_of(layer, let.var.type)
        runs = runs_of(channels.weights)
        space = Workspace(
            name="pixels",
            size_bytes=workspace_bytes(window, self.most),
            reads=float(pixel_tiles.count * len(channels.weights)),
            writes=float(pixel_tiles.count),
        )
        predict = partial(conv_instructions, channels=channels, runs=runs, most=self.most)
        row = row_kernel(let, "cg_conv2d_s8_v7m_row", window, predict)
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_conv2d_s8_v7m",
            sources=SOURCES,
            headers=(HEADER,),
            reads=(window.reads(window.image[3]),),
            workspaces=(space,),
            constants=linked(channels, runs),
            sharing=forward_sharing(let, 0, tiled_below(window, pixel_tiles)),
            structs=(conv_params(let, window, self.most),),
            call_args=(PARAMS, WorkspaceArg(name=space.name), ARGUMENT, RESULT),
            pixels_at_once=self.most,
            instructions=predict(window),
            rows=None if row is None else replace(row, workspace=space),
        )


for most in (4, 2):
    register(V7mTiled(CONVOLUTION, CONV_2D_S8, most))
    register(V7mTiled(DEPTHWISE, DEPTHWISE_S8, most))
