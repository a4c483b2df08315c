"""CONV_2D, 3x3 of stride 2 on three channels, on cores with the DSP extension: windows gathered by words."""

from dataclasses import replace

from codegen.ir import Let
from codegen.kernels.base.registry import register
from codegen.kernels.base.weighted import CONVOLUTION, WeightedLayer
from codegen.kernels.base.window import WindowShape
from codegen.kernels.dsp.convolution import JOINED_TILE_SOURCES, DspTiled
from codegen.kernels.dsp.packing import JOINED_STREAM
from codegen.kernels.dsp.tiles import reordered
from codegen.kernels.portable.convolution import CONV_2D_S8
from codegen.kernels.primfunc import PrimFunc

PIXELS = 4
"""Of a tile."""
ORDER = (*(9 * row + value for row in range(3) for value in (0, 1, 4, 5, 2, 3, 6, 7)), 8, 26, 17)
"""In which the values of a window are read: cg_conv2d_rgb_joined_s8_dsp."""
_SAVED, _ROW = 170, 12
"""Instructions that a tile inside the image takes less than by a table of offsets, and a row more."""


class RgbConv(DspTiled):
    """3x3, stride 2, three channels whose rows begin on whole words, no padding at the left."""

    def __init__(self) -> None:
        super().__init__(CONVOLUTION, CONV_2D_S8, PIXELS, JOINED_STREAM)
        self.name = "conv2d_rgb_joined_s8_dsp"
        self.symbol = f"cg_{self.name}"
        self.sources = (
            *JOINED_TILE_SOURCES[PIXELS],
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
        found = super().bind_layer(let, replace(layer, weights=layer.weights[:, ORDER]), name)
        constants = tuple(
            replace(each, data=reordered(each.data, ORDER)) if each.role.endswith("_offsets") else each
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
    tiles = sum(across.is_inside) // PIXELS
    return window.image[0] * sum(down.is_inside) * (tiles * _SAVED - _ROW)


register(RgbConv())
