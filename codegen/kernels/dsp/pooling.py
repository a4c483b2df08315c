"""AVERAGE_POOL_2D of int8 on cores with the DSP extension: four channels at a time."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir import DType, Let
from codegen.kernels.base.c_kernel import FastKernel, row_kernel
from codegen.kernels.base.registry import register
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import Reverse
from codegen.kernels.portable.pooling import Pool2D, pool_window
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import DSP

_GROUP, _MOST_TAPS = 4, 256
"""Channels of a word; terms of int8 whose sum has 16 bits."""
_SOURCES = ("kernels/dsp/avg_pool2d_s8_dsp.c",)
_PIXEL, _CHANNELS, _ROW, _TAP, _BYTES_TAP = 70, 120, 15, 8, 13
"""Instructions: around a pixel; of four channels of it, or one, each row and each tap of their window, by
words or by bytes."""


class AveragePool(FastKernel):
    """AVERAGE_POOL_2D with sums of at most 256 taps."""

    op, name, symbol = "AVERAGE_POOL_2D", "avg_pool2d_s8_dsp", "cg_avg_pool2d_s8_dsp"
    kernel_set = DSP
    portable = Pool2D("AVERAGE_POOL_2D", "avg_pool2d_s8", DType.INT8)

    def other_reason(self, let: Let) -> str | None:
        """Refuse a large window."""
        if math.prod(pool_window(let).window) > _MOST_TAPS:
            return f"the kernel {self.name} is for windows of at most {_MOST_TAPS} taps"
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind a call. Overlap is safe where it is for the portable kernel: channel by channel."""
        prim, window = self.portable.bind(let, constants, name), pool_window(let)
        reverse = Reverse(symbol="cg_avg_pool2d_reverse_s8_dsp", sources=_SOURCES)
        return replace(
            prim,
            kernel=self.name,
            symbol=self.symbol,
            sources=_SOURCES,
            headers=("cg_pool_dsp.h",),
            argument_alignment=_GROUP if window.image[3] % _GROUP == 0 else 1,
            instructions=_instructions(window),
            rows=row_kernel(let, f"{self.symbol}_row", window, _instructions),
            reverse=prim.reverse and reverse,
        )


def _instructions(window: WindowShape) -> int:
    """Predicted instructions of a call."""
    down, across = window.axes
    taps_down = [end - first for first, end in (down.span(y, y + 1) for y in range(down.count))]
    taps_across = [end - first for first, end in (across.span(x, x + 1) for x in range(across.count))]
    batch, height, width, channels = window.result
    words, alone = divmod(channels, _GROUP)
    words, tap = words + alone, _TAP if alone == 0 else _BYTES_TAP
    around = height * width * (_PIXEL + words * _CHANNELS) + width * sum(taps_down) * words * _ROW
    return batch * (around + sum(taps_down) * sum(taps_across) * words * tap)


register(AveragePool())
