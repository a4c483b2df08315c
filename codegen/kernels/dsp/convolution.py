"""CONV_2D and DEPTHWISE_CONV_2D of one channel on cores with the DSP extension."""

import itertools
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from codegen.ir import Let
from codegen.ir.ops import Padding2D
from codegen.ir.ops.base.fixed_point import wrap_int32
from codegen.ir.ops.base.weighted import weight_zero_point
from codegen.kernels.base.c_kernel import arg_type, row_kernel
from codegen.kernels.base.forms import SourceForm, register_form
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.tiles import tiled_below
from codegen.kernels.base.weighted import (
    FULLY_CONNECTED,
    TiledConv,
    WeightedLayer,
    conv_params,
    padding_pixel,
)
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantPointer, CStruct, StructArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.dsp.packing import (
    GROUP,
    INT4_STREAM,
    INT8_STREAM,
    JOINED_STREAM,
    UINT8_STREAM,
    Channels,
    WeightStream,
    channels_of,
    groups,
    sum_groups,
)
from codegen.kernels.dsp.price import conv_instructions
from codegen.kernels.dsp.tiles import (
    dsp_tiling,
    image_offsets,
    patch_offsets,
    reads_words,
    table_reach_bytes,
    workspace_bytes,
)
from codegen.kernels.portable.convolution import (
    CONV_2D_S8,
    CONV_2D_U8,
    DEPTHWISE_S8,
    FULLY_CONNECTED_U8,
    ONNX_CONV_2D_S8,
    ONNX_DEPTHWISE_S8,
    Conv2D,
    DepthwiseConv2D,
    FullyConnected,
)
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import DSP, ROUNDING_DSP

HEADER = "cg_conv_dsp.h"
PIXEL_SOURCES = (
    "kernels/dsp/gather_s8_dsp.S",
    "kernels/dsp/requantize_s8_dsp.c",
    "kernels/dsp/tile1_s8_dsp.S",
)
"""Sources for tiles of one pixel."""
INT4_PIXEL_SOURCES = (*PIXEL_SOURCES[:2], "kernels/dsp/tile1_s4_dsp.S")
"""Sources for tiles of one pixel and int4 weights."""
JOINED_PIXEL_SOURCES = (*PIXEL_SOURCES[:2], "kernels/dsp/tile1_joined_s8_dsp.S")
"""Sources for tiles of one pixel and a joined stream."""
_INT4_SOURCES = (
    *INT4_PIXEL_SOURCES,
    "kernels/dsp/tile2_s4_dsp.S",
    "kernels/dsp/gather4_s8_dsp.S",
    "kernels/dsp/tile4_s4_dsp.S",
)
_TILE_SOURCES: Mapping[int, tuple[str, ...]] = {
    1: PIXEL_SOURCES,
    2: (*PIXEL_SOURCES, "kernels/dsp/tile2_s8_dsp.S"),
    4: (
        *PIXEL_SOURCES,
        "kernels/dsp/tile2_s8_dsp.S",
        "kernels/dsp/gather4_s8_dsp.S",
        "kernels/dsp/tile4_s8_dsp.S",
    ),
}
"""By the most pixels of a tile."""
JOINED_TILE_SOURCES: Mapping[int, tuple[str, ...]] = {
    most: tuple(source.replace("_s8", "_joined_s8") if "/tile" in source else source for source in sources)
    for most, sources in _TILE_SOURCES.items()
}
EVEN_PIXEL_SOURCES = (
    "kernels/dsp/gather_s8_dsp.S",
    "kernels/dsp/requantize_even_s8_dsp.c",
    "kernels/dsp/tile1_even_s8_dsp.S",
)
"""Sources for tiles of one pixel, rounded as ONNX does."""
EVEN_INT4_PIXEL_SOURCES = (*EVEN_PIXEL_SOURCES[:2], "kernels/dsp/tile1_even_s4_dsp.S")
"""Sources for tiles of one pixel and int4 weights, rounded as ONNX does."""


def _even_sources(pixel: tuple[str, ...], suffix: str) -> tuple[str, ...]:
    return (
        *pixel,
        f"kernels/dsp/tile2_even_{suffix}_dsp.S",
        "kernels/dsp/gather4_s8_dsp.S",
        f"kernels/dsp/tile4_even_{suffix}_dsp.S",
        f"kernels/dsp/qlinear_conv2d_{suffix}_dsp.c",
    )


_EVEN_SOURCES: Mapping[str, tuple[str, ...]] = {
    "plain": _even_sources(EVEN_PIXEL_SOURCES, "s8"),
    "int4": _even_sources(EVEN_INT4_PIXEL_SOURCES, "s4"),
}
"""By the kind of weights."""
REACH_BYTES = 32767
"""Windows read by bytes go by a table of 16-bit offsets."""


class DspTiled(TiledConv):
    """Windows are widened to 16 bits first, by words or by tables of offsets."""

    kernel_set = DSP

    def __init__(
        self, portable: Conv2D | DepthwiseConv2D | FullyConnected, most: int, weights: WeightStream
    ) -> None:
        rounds_even = portable.operator.rounds_even
        self.kernel_set = ROUNDING_DSP if rounds_even else DSP
        super().__init__(portable.operator, portable, most)
        self.name = self.name.replace("_s8_", f"_{weights.suffix}_")
        self.weighted, self.weights = portable, weights
        self.symbol = f"cg_conv2d_{weights.suffix}_dsp"
        by_kind = {"plain": _TILE_SOURCES[most], "joined": JOINED_TILE_SOURCES[most], "int4": _INT4_SOURCES}
        self.sources = (*by_kind[weights.kind], f"kernels/dsp/conv2d_{weights.suffix}_dsp.c")
        if rounds_even:
            self.symbol = f"cg_qlinear_conv2d_{weights.suffix}_dsp"
            self.sources = _EVEN_SOURCES[weights.kind]

    def layer_reason(self, let: Let) -> str | None:
        """Other weights, or a window that is too large to be read by bytes."""
        return self.weights.refusal(let) or self.reach_reason(let)

    def reach_reason(self, let: Let) -> str | None:
        """A window that is too large to be read by bytes."""
        window = self.operator.window(let)
        if not reads_words(window) and table_reach_bytes(window, self.most) > REACH_BYTES:
            return f"its window reaches over more than {REACH_BYTES} bytes"
        return None

    def channels(self, let: Let, layer: WeightedLayer) -> Channels:
        """Numbers of the output channels that the stream holds."""
        return channels_of(layer, let.var.type)

    def summed_words(self, window: WindowShape) -> int:
        """Words of a widened pixel whose values are summed."""
        del window
        return 0

    def space_bytes(self, window: WindowShape, *, is_row: bool) -> int:
        """The workspace, of a row by itself or of all."""
        return workspace_bytes(window, self.most, is_row=is_row)

    def bind_layer(self, let: Let, layer: WeightedLayer, name: str) -> PrimFunc:
        window = layer.window
        channels = self.channels(let, layer)
        if not self.weights.holds(channels):
            plain = DspTiled(self.weighted, self.most, INT8_STREAM)
            return plain.bind_layer(let, layer, name)
        pixel_tiles = dsp_tiling(window, self.most)
        by_words = reads_words(window)
        is_padded = window.padding != Padding2D()
        linked = [
            LinkedConstant(
                role="stream",
                data=self.weights.pack(channels),
                alignment=4,
                layout=self.weights.layout,
                rounded=channels.rounded,
            )
        ]
        if is_padded and by_words:
            linked.append(padding_pixel(let, window.image[3], alignment=4))
        elif is_padded:
            table = patch_offsets(window, self.most)
            linked.append(
                LinkedConstant(
                    role="patch_offsets",
                    is_plain=True,
                    data=table,
                    alignment=2,
                    layout="of each value of a window, in a patch of pixels",
                )
            )
        if not by_words:
            linked.append(
                LinkedConstant(
                    role="image_offsets",
                    is_plain=True,
                    data=image_offsets(window),
                    alignment=2,
                    layout="of each value of a window, in the image",
                )
            )
        roles = {constant.role for constant in linked}
        space = Workspace(
            name="pixels",
            size_bytes=self.space_bytes(window, is_row=False),
            reads=float(pixel_tiles.count * ((layer.outputs + 1) // 2)),
            writes=float(pixel_tiles.count),
        )
        predict = partial(
            conv_instructions,
            channels=channels,
            most=self.most,
            kind=self.weights.kind,
            summed_words=self.summed_words(window),
        )
        rows = row_kernel(let, f"{self.symbol}_row", window, predict)
        row_space = replace(space, size_bytes=self.space_bytes(window, is_row=True))
        numbers = conv_params(let, window)
        weights = CStruct(
            suffix="weights",
            c_type="cg_conv_weights_dsp",
            fields=(
                ("stream", ConstantPointer(role="stream")),
                *(
                    (role, ConstantPointer(role=role) if role in roles else None)
                    for role in ("padding", "patch_offsets", "image_offsets")
                ),
                ("tile", self.most),
            ),
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=f"{self.symbol}_pointwise" if pixel_tiles.is_one_row else self.symbol,
            sources=self.sources,
            headers=(HEADER,),
            argument_alignment=4 if by_words else 1,
            reads=(window.reads(window.image[3]),),
            workspaces=(space,),
            constants=tuple(linked),
            sharing=forward_sharing(let, 0, tiled_below(window, pixel_tiles)),
            structs=(numbers, weights),
            call_args=(PARAMS, StructArg(suffix="weights"), WorkspaceArg(name="pixels"), ARGUMENT, RESULT),
            pixels_at_once=self.most,
            instructions=predict(window),
            rows=None if rows is None else replace(rows, workspace=row_space),
        )


class DspTiledU8(DspTiled):
    """Convolution whose weights have a zero point z: each sum is corrected by -z times the sum of its window.
    That sum is a further value of the window, with weight -z."""

    def __init__(self, portable: Conv2D | FullyConnected) -> None:
        super().__init__(portable, 4, UINT8_STREAM)

    def other_reason(self, let: Let) -> str | None:
        """Refuse what `DspTiled` refuses. One row of FULLY_CONNECTED is taken: it is a pixel too."""
        is_row = self.operator is FULLY_CONNECTED
        return self.reach_reason(let) if is_row else super().other_reason(let)

    def reason_at_size(self, let: Let) -> str | None:
        return self.other_reason(let)

    def channels(self, let: Let, layer: WeightedLayer) -> Channels:
        channels, zero = channels_of(layer, let.var.type), weight_zero_point(arg_type(let, 1))
        outputs, values = layer.weights.shape
        whole = GROUP * (groups(values) + sum_groups(values))
        weights = np.full((outputs, whole), zero, np.int8)
        weights[:, :values] = layer.weights
        bias = layer.folded_bias + layer.in_zero * values * zero
        return replace(channels, weights=weights, bias=wrap_int32(bias).astype(np.int32))

    def summed_words(self, window: WindowShape) -> int:
        return 2 * groups(window.window[0] * window.window[1] * window.image[3])

    def space_bytes(self, window: WindowShape, *, is_row: bool) -> int:
        values = window.window[0] * window.window[1] * window.image[3]
        return super().space_bytes(window, is_row=is_row) + 8 * sum_groups(values) * self.most


for most in (4, 2, 1):
    register(DspTiled(ONNX_CONV_2D_S8, most, INT8_STREAM))
    register(DspTiled(ONNX_DEPTHWISE_S8, most, INT8_STREAM))
    register(DspTiled(CONV_2D_S8, most, INT8_STREAM))
    register(DspTiled(CONV_2D_S8, most, JOINED_STREAM))
    register(DspTiled(DEPTHWISE_S8, most, INT8_STREAM))
register(DspTiled(CONV_2D_S8, 4, INT4_STREAM))
register(DspTiled(ONNX_CONV_2D_S8, 4, INT4_STREAM))
register(DspTiledU8(CONV_2D_U8))
register(DspTiledU8(FULLY_CONNECTED_U8))

for most, (suffix, tiles) in itertools.product(
    (1, 2), {INT8_STREAM.suffix: _TILE_SOURCES, JOINED_STREAM.suffix: JOINED_TILE_SOURCES}.items()
):
    register_form(
        SourceForm(
            largest=f"kernels/dsp/conv2d_{suffix}_dsp.c",
            source=f"kernels/dsp/conv2d_{most}_{suffix}_dsp.c",
            without=frozenset(tiles[4]) - frozenset(tiles[most]),
            names={
                f"cg_conv2d_{suffix}_dsp{end}": f"cg_conv2d_{most}_{suffix}_dsp{end}"
                for end in ("", "_row", "_pointwise")
            },
        )
    )
