"""CONV_2D on images of three channels or one, as first layers are, on cores with the DSP extension.

Three channels, 3x3, stride 2: windows gathered by words. One channel, stride 2 across: the windows of five
pixels share the words of a row.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.tiles import tiled_below, tiling
from codegen.kernels.base.weighted import CONVOLUTION, WeightedLayer, conv_params
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.dsp.convolution import HEADER, JOINED_TILE_SOURCES, DspTiled
from codegen.kernels.dsp.packing import ACCUMULATOR_LIMIT, JOINED_STREAM, long_reason, near_scaling
from codegen.kernels.dsp.tiles import reordered
from codegen.kernels.portable.convolution import CONV_2D_S8
from codegen.kernels.primfunc import PrimFunc

RGB_PIXELS = 4
"""Of a tile."""
RGB_ORDER = (*(9 * row + value for row in range(3) for value in (0, 1, 4, 5, 2, 3, 6, 7)), 8, 26, 17)
"""In which the values of a window are read: cg_conv2d_rgb_joined_s8_dsp."""
_SAVED, _RGB_ROW = 170, 12
"""Instructions that a tile inside the image takes less than by a table of offsets, and a row more."""


class RgbConv(DspTiled):
    """3x3, stride 2, three channels whose rows begin on whole words, no padding at the left."""

    def __init__(self) -> None:
        super().__init__(CONVOLUTION, CONV_2D_S8, RGB_PIXELS, JOINED_STREAM)
        self.name = "conv2d_rgb_joined_s8_dsp"
        self.symbol = f"cg_{self.name}"
        self.sources = (
            *JOINED_TILE_SOURCES[RGB_PIXELS],
            "kernels/dsp/gather_rgb_s8_dsp.S",
            f"kernels/dsp/{self.name}.c",
        )

    def other_reason(self, let: Let) -> str | None:
        """As `DspTiled`; another window or image."""
        window = self.operator.window(let)
        if window.window != (3, 3) or window.stride != (2, 2) or window.dilation != (1, 1):
            return f"the kernel {self.name} is for 3x3 windows of stride 2"
        if window.image[3] != 3 or window.image[2] % 4 or window.padding.left:
            return (
                f"the kernel {self.name} is for three channels, widths by the multiple of 4, no left padding"
            )
        return super().other_reason(let)

    def bind_layer(self, let: Let, layer: WeightedLayer, name: str) -> PrimFunc:
        """See `DspTiled.bind_layer`; where weights do not join, its plain kernel."""
        if not self.weights.holds(self.channels(let, layer)):
            return super().bind_layer(let, layer, name)
        found = super().bind_layer(let, replace(layer, weights=layer.weights[:, RGB_ORDER]), name)
        constants = tuple(
            replace(each, data=reordered(each.data, RGB_ORDER)) if each.role.endswith("_offsets") else each
            for each in found.constants
        )
        saved = _saved(layer.window)
        return replace(
            found,
            argument_alignment=4,
            constants=constants,
            instructions=None if found.instructions is None else found.instructions - saved,
            rows=None,
        )


def _saved(window: WindowShape) -> int:
    """Instructions less than the kernel for any window takes."""
    down, across = window.axes
    tiles = sum(across.is_inside) // RGB_PIXELS
    return window.image[0] * sum(down.is_inside) * (tiles * _SAVED - _RGB_ROW)


MONO_PIXELS, COLUMNS, ROW_BYTES = 5, 4, 24
"""Of a tile; of a window, at most; of a row that the windows of a tile cover, widened."""
BIAS_LIMIT = 2**22
"""Biases stay below: 512 times them has 32 bits."""
_LAYER, _ROW, _TILE, _WIDENED, _KEPT = 60, 20, 210, 80, 12
"""Instructions in C for each call, row of results, tile, and row of a tile that is widened or kept."""


class MonoConv(DspTiled):
    """Windows of three or four columns and any rows; no activation that clamps, scales below one half."""

    def __init__(self) -> None:
        super().__init__(CONVOLUTION, CONV_2D_S8, 4, JOINED_STREAM)
        self.name = "conv2d_mono_s8_dsp"

    def other_reason(self, let: Let) -> str | None:
        """As `DspTiled`; several channels, another window, stride or dilation, the long way."""
        window = self.operator.window(let)
        if window.image[3] != 1 or window.dilation != (1, 1):
            return f"the kernel {self.name} is for one channel, dilation 1"
        if window.window[1] not in (COLUMNS - 1, COLUMNS) or window.stride[1] != 2:
            return f"the kernel {self.name} is for windows of 3 or 4 columns, stride 2 across"
        return super().other_reason(let) or long_reason(let, self.operator)

    def bind_layer(self, let: Let, layer: WeightedLayer, name: str) -> PrimFunc:
        """See `DspTiled.bind_layer`; where a bias or accumulator is too large, the kernel for any window."""
        stream = _stream(layer)
        if stream is None:
            return DspTiled(self.operator, self.portable, self.most, self.weights).bind_layer(
                let, layer, name
            )
        window = layer.window
        tiles = -(-window.result[2] // MONO_PIXELS)
        space = Workspace(name="rows", size_bytes=ROW_BYTES * window.window[0] * tiles)
        found = tiling(window, MONO_PIXELS, joins_rows=False)
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=f"cg_{self.name}",
            sources=("kernels/dsp/tile5_mono_s8_dsp.S", f"kernels/dsp/{self.name}.c"),
            headers=(HEADER,),
            workspaces=(space,),
            constants=(
                LinkedConstant(
                    role="stream",
                    data=stream,
                    alignment=4,
                    layout="by channel: bias and shift, a word of weights a row of the window, multiplier",
                ),
            ),
            sharing=forward_sharing(let, 0, tiled_below(window, found)),
            structs=(conv_params(let, window),),
            call_args=(PARAMS, ConstantArg(role="stream"), WorkspaceArg(name="rows"), ARGUMENT, RESULT),
            instructions=_instructions(window),
        )


def _stream(layer: WeightedLayer) -> NDArray[np.int32] | None:
    """See `cg_conv2d_mono_s8_dsp`; None if a bias or an accumulator is too large."""
    weights, bias = layer.weights.astype(np.int64), layer.folded_bias
    near = near_scaling(layer.every, bias, weights)
    reach = np.abs(bias) + 128 * np.abs(weights).sum(axis=1)
    if near is None or bool((np.abs(bias) >= BIAS_LIMIT).any() or (reach >= ACCUMULATOR_LIMIT).any()):
        return None
    rows, columns = layer.window.window
    taps = np.zeros((len(bias), rows, COLUMNS), np.int8)
    taps[:, :, :columns] = layer.weights.reshape(len(bias), rows, columns)
    words = np.ascontiguousarray(taps[:, :, (0, 2, 1, 3)]).view("<i4")[:, :, 0]
    first = (512 * bias + near[1] - 1).astype(np.int32)
    return np.concatenate((first[:, None], words, near[0][:, None]), axis=1).reshape(-1).astype(np.int32)


def _instructions(window: WindowShape) -> int:
    """Predicted for a call."""
    batch, height, width, outputs = window.result
    rows, tiles = window.window[0], -(-width // MONO_PIXELS)
    further = rows - 1
    channel = 51 + 15 * further + 2 * (1 + further // 4)
    kept = max(rows - window.stride[0], 0)
    tile = _TILE + outputs * channel
    widened = rows + (height - 1) * (rows - kept)
    in_rows = _WIDENED * widened + _KEPT * (height - 1) * kept
    return batch * (_LAYER + height * (_ROW + tiles * tile) + tiles * in_rows)


register(RgbConv())
register(MonoConv())
