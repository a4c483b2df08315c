"""CONV_2D on images of three channels or one, as first layers are, on cores with the DSP extension.

The windows of a tile share the words of a widened row, and one output channel is computed at a time: three
channels, 3x3, stride 2; one channel, stride 2 across.
"""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.tiles import tiled_below, tiling
from codegen.kernels.base.weighted import Scaling, WeightedLayer, conv_params
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.dsp.convolution import HEADER, DspTiled
from codegen.kernels.dsp.packing import ACCUMULATOR_LIMIT, JOINED_STREAM, long_reason, near_scaling
from codegen.kernels.portable.convolution import CONV_2D_S8
from codegen.kernels.primfunc import PrimFunc


class FirstLayer(DspTiled):
    """A first layer in tiles of pixels of a row; no activation that clamps, scales below one half."""

    layout: str
    """Layout of the stream, for people."""
    argument_alignment = 1

    def __init__(self, kind: str, pixels: int) -> None:
        super().__init__(CONV_2D_S8, 4, JOINED_STREAM)
        self.name, self.fast_form, self.pixels = f"conv2d_{kind}_s8_dsp", kind, pixels
        self.sources = (f"kernels/dsp/tile{pixels}_{kind}_s8_dsp.S", f"kernels/dsp/{self.name}.c")

    @abstractmethod
    def window_reason(self, window: WindowShape) -> str | None:
        """Why it does not do a window or an image."""

    @abstractmethod
    def stream(self, layer: WeightedLayer, near: Scaling, zero: int) -> NDArray[np.int32] | None:
        """The stream that the header describes, by multipliers, right shifts and the result's zero point;
        None if a bias is too large."""

    @abstractmethod
    def rows_bytes(self, window: WindowShape) -> int:
        """Bytes of the workspace."""

    @abstractmethod
    def predicted(self, window: WindowShape) -> int:
        """Instructions of a call."""

    def other_reason(self, let: Let) -> str | None:
        """Refuse what `DspTiled` refuses, another window or image, and scales that need the long
        requantization."""
        reason = self.window_reason(self.operator.window(let))
        return reason or super().other_reason(let) or long_reason(let, self.operator)

    def bind_layer(self, let: Let, layer: WeightedLayer, name: str) -> PrimFunc:
        """Bind a call. Where a bias or accumulator is too large, bind the kernel for any window."""
        window, stream = layer.window, self._packed(layer, let.var.type.zero_point)
        if stream is None:
            return DspTiled(self.weighted, self.most, self.weights).bind_layer(let, layer, name)
        pixel_tiles = tiling(window, self.pixels, joins_rows=False)
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=f"cg_{self.name}",
            sources=self.sources,
            headers=(HEADER,),
            argument_alignment=self.argument_alignment,
            workspaces=(Workspace(name="rows", size_bytes=self.rows_bytes(window)),),
            constants=(LinkedConstant(role="stream", data=stream, alignment=4, layout=self.layout),),
            sharing=forward_sharing(let, 0, tiled_below(window, pixel_tiles)),
            structs=(conv_params(let, window),),
            call_args=(PARAMS, ConstantArg(role="stream"), WorkspaceArg(name="rows"), ARGUMENT, RESULT),
            instructions=self.predicted(window),
        )

    def _packed(self, layer: WeightedLayer, zero: int) -> NDArray[np.int32] | None:
        weights, bias = layer.weights.astype(np.int64), layer.folded_bias
        near = near_scaling(layer.every, bias, weights)
        reach = np.abs(bias) + 128 * np.abs(weights).sum(axis=1)
        if near is None or bool((reach >= ACCUMULATOR_LIMIT).any()):
            return None
        return self.stream(layer, near, zero)


RGB_PIXELS, RGB_ROW_BYTES = 4, 56
"""Pixels of a tile; bytes of a widened row that the windows of a tile cover."""
RGB_ORDER = ((2, 0), (3, 1), (4, 5), (8, 6), (9, 7))
"""Values of a row of a window, the tenth of which is none: lower and upper halves of words."""
_RGB_LAYER, _RGB_RESULT_ROW, _RGB_TILE, _RGB_CHANNEL = 90, 60, 129, 104
"""Instructions of each call, row of results, tile, and channel of a tile."""


class RgbConv(FirstLayer):
    """Windows of 3x3, stride 2, three channels whose rows begin on whole words, no padding at the left."""

    layout = "by channel: bias, weights in pairs of 16 bits, multiplier, half of the divisor, shift"
    argument_alignment = 4

    def window_reason(self, window: WindowShape) -> str | None:
        if window.window != (3, 3) or window.stride != (2, 2) or window.dilation != (1, 1):
            return f"the kernel {self.name} is for 3x3 windows of stride 2"
        width = window.image[2]
        if window.image[3] != 3 or width % 4 or window.padding.left or 2 * window.result[2] > width:
            return (
                f"the kernel {self.name} is for three channels, widths by the multiple of 4, no left padding"
            )
        return None

    def stream(self, layer: WeightedLayer, near: Scaling, zero: int) -> NDArray[np.int32]:
        channels = layer.outputs
        values = np.zeros((channels, 3, 10), np.int16)
        values[:, :, :9] = 2 * layer.weights.reshape(channels, 3, 9).astype(np.int16)
        words = np.ascontiguousarray(values[:, :, RGB_ORDER]).view("<i4").reshape(channels, -1)
        less = near[1].astype(np.int64) - 1
        half = (2 * zero + 1) << less
        columns = (2 * layer.folded_bias[:, None], words, near[0][:, None], half[:, None], less[:, None])
        return np.concatenate(columns, axis=1).reshape(-1).astype(np.int32)

    def rows_bytes(self, window: WindowShape) -> int:
        return RGB_ROW_BYTES * window.window[0]

    def predicted(self, window: WindowShape) -> int:
        batch, height, width, outputs = window.result
        tiles = -(-width // RGB_PIXELS)
        tile = _RGB_TILE + _RGB_CHANNEL * outputs
        return _RGB_LAYER + batch * height * (_RGB_RESULT_ROW + tiles * tile)


MONO_PIXELS, COLUMNS, ROW_BYTES = 5, 4, 24
"""Pixels of a tile; columns of a window, at most; bytes of a widened row that the windows of a tile cover."""
BIAS_LIMIT = 2**22
"""Limit of biases: 512 times them has 32 bits."""
_LAYER, _ROW, _TILE, _WIDENED, _KEPT = 60, 20, 210, 80, 12
"""Instructions in C for each call, row of results, tile, and row of a tile that is widened or kept."""


class MonoConv(FirstLayer):
    """Windows of three or four columns and any rows, one channel."""

    layout = "by channel: bias and shift, a word of weights a row of the window, multiplier"

    def window_reason(self, window: WindowShape) -> str | None:
        if window.image[3] != 1 or window.dilation != (1, 1):
            return f"the kernel {self.name} is for one channel, dilation 1"
        if window.window[1] not in (COLUMNS - 1, COLUMNS) or window.stride[1] != 2:
            return f"the kernel {self.name} is for windows of 3 or 4 columns, stride 2 across"
        return None

    def stream(self, layer: WeightedLayer, near: Scaling, zero: int) -> NDArray[np.int32] | None:
        del zero
        bias = layer.folded_bias
        if bool((np.abs(bias) >= BIAS_LIMIT).any()):
            return None
        rows, columns = layer.window.window
        taps = np.zeros((len(bias), rows, COLUMNS), np.int8)
        taps[:, :, :columns] = layer.weights.reshape(len(bias), rows, columns)
        words = np.ascontiguousarray(taps[:, :, (0, 2, 1, 3)]).view("<i4")[:, :, 0]
        first = (512 * bias + near[1] - 1).astype(np.int32)
        return np.concatenate((first[:, None], words, near[0][:, None]), axis=1).reshape(-1).astype(np.int32)

    def rows_bytes(self, window: WindowShape) -> int:
        return ROW_BYTES * window.window[0] * -(-window.result[2] // MONO_PIXELS)

    def predicted(self, window: WindowShape) -> int:
        batch, height, width, outputs = window.result
        rows, tiles = window.window[0], -(-width // MONO_PIXELS)
        further = rows - 1
        channel = 51 + 15 * further + 2 * (1 + further // 4)
        kept = max(rows - window.stride[0], 0)
        tile = _TILE + outputs * channel
        widened = rows + (height - 1) * (rows - kept)
        in_rows = _WIDENED * widened + _KEPT * (height - 1) * kept
        return batch * (_LAYER + height * (_ROW + tiles * tile) + tiles * in_rows)


register(RgbConv("rgb", RGB_PIXELS))
register(MonoConv("mono", MONO_PIXELS))
