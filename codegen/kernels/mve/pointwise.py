"""1x1 CONV_2D and FULLY_CONNECTED with Helium: matrix products of pixels where they lie."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir import Let
from codegen.kernels.base.c_kernel import row_kernel
from codegen.kernels.base.registry import register
from codegen.kernels.base.window import WindowShape
from codegen.kernels.block import RowKernel
from codegen.kernels.contract import Sharing
from codegen.kernels.mve.convolution import GROUP, Product, Quads, pixels_of, reverse_of
from codegen.kernels.mve.packing import (
    LANES,
    WIDE,
    channels_of,
    dense_stream,
    narrow_stream,
)
from codegen.kernels.mve.pixel_groups import CHUNK, grouped_sharing, striped_sharing
from codegen.kernels.mve.price import (
    dense_instructions,
    few_pixels_instructions,
    narrow_instructions,
    pointwise_instructions,
)
from codegen.kernels.portable.convolution import (
    CONV_2D_S8,
    FULLY_CONNECTED_S8,
    ONNX_CONV_2D_S8,
    ONNX_FULLY_CONNECTED_S8,
)
from codegen.kernels.primfunc import PrimFunc

QUAD = 4
"""Channels of a pixel that are written together."""
FEW = 2
"""Pixels up to which one at a time is faster."""


class FewPixels(Product):
    """Product of one or two pixels, one after the other, four channels at a time."""

    group, way, fast_form = 4, "few", "few"
    c_name, loop = "few_pixels", "product1"

    def shape_reason(self, window: WindowShape) -> str | None:
        return None if window.is_pointwise and pixels_of(window) <= FEW else "more than two pixels"

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        window = self.operator.window(let)
        reads = float(-(-window.result[3] // self.group))
        prim = self.call(let, constants, name, reads)
        rules = grouped_sharing(let, window, pixels=1, chunk=CHUNK)
        return replace(
            prim,
            sharing=tuple(Sharing(argument=0, below=rule.below) for rule in rules if rule.below is not None),
            instructions=few_pixels_instructions(window, self.requantization(let)),
        )


class _BelowHalf(Quads):
    """Base of 1x1 convolutions by whole fours of channels, without a shift to the left."""

    group = 4

    def other_reason(self, let: Let) -> str | None:
        """Refuse also a shift to the left."""
        reason = super().other_reason(let)
        if reason is None and self.requantization(let) == WIDE:
            return "a channel's scale is not below one half"
        return reason


class NarrowPointwise(_BelowHalf):
    """1x1 convolution on pixels of few bytes, any stride: three of them stay in vectors."""

    way = fast_form = c_name = "narrow"
    loop = "narrow_run"

    def shape_reason(self, window: WindowShape) -> str | None:
        if window.window != (1, 1) or window.is_padded or window.image[3] > LANES:
            return f"the kernel {self.name} is for 1x1 windows of at most {LANES} bytes"
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        layer = self.operator.layer(let, constants)
        window = layer.window
        prim = self.quads(let, layer, window.image[3], name)
        sharing = striped_sharing(let, window, GROUP, chunk=None)
        if window.is_pointwise:
            sharing = grouped_sharing(let, window, pixels=GROUP)
        return replace(
            prim,
            reads=(window.reads(window.image[3]),),
            constants=(narrow_stream(channels_of(layer)),),
            sharing=sharing,
            instructions=narrow_instructions(window, self.requantization(let)),
            reverse=reverse_of(prim, sharing, self.form.symbol("narrow_reverse")),
            rows=row_kernel(let, f"{prim.symbol}_row", window),
        )


class Dense(_BelowHalf):
    """1x1 convolution by whole fours of channels, pixels of whole pairs of vectors."""

    way = fast_form = c_name = "dense"
    loop = "dense3"

    def shape_reason(self, window: WindowShape) -> str | None:
        if not window.is_pointwise:
            return "the windows are not the pixels"
        if window.image[3] % (2 * LANES) or window.result[3] % QUAD:
            return f"the kernel {self.name} is for whole {2 * LANES} bytes and whole fours of channels"
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        layer = self.operator.layer(let, constants)
        window = layer.window
        prim = self.quads(let, layer, window.image[3], name)
        sharing = grouped_sharing(let, window, pixels=GROUP, chunk=QUAD)
        return replace(
            prim,
            reads=(float(window.result[3] // 2),),
            constants=(dense_stream(channels_of(layer)),),
            sharing=sharing,
            instructions=dense_instructions(window, self.requantization(let)),
            reverse=reverse_of(prim, sharing, self.form.symbol("dense_reverse")),
            rows=_pointwise_rows(let, prim.symbol, window),
        )


class PointwiseConv(Product):
    """1x1 convolution, stride 1: three pixels at a time where they lie."""

    group, way, c_name, loop = 2, "pointwise", "pointwise", "product3"

    def shape_reason(self, window: WindowShape) -> str | None:
        return None if window.is_pointwise else "the windows are not the pixels"

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        window = self.operator.window(let)
        reads = float(-(-window.result[3] // self.group))
        prim = self.call(let, constants, name, reads)
        sharing = grouped_sharing(let, window, pixels=GROUP, chunk=QUAD)
        return replace(
            prim,
            sharing=sharing,
            pixels_at_once=GROUP,
            reverse=reverse_of(prim, sharing, self.form.symbol("pointwise_reverse")),
            instructions=pointwise_instructions(window, self.requantization(let)),
            rows=_pointwise_rows(let, prim.symbol, window),
        )


def _pointwise_rows(let: Let, symbol: str, window: WindowShape) -> RowKernel | None:
    """Row kernel: pixels are read where they lie, while the first of their channels are written."""
    rows = row_kernel(let, f"{symbol}_row", window)
    return None if rows is None else replace(rows, reads_row_last=True)


for _portable in (CONV_2D_S8, FULLY_CONNECTED_S8, ONNX_CONV_2D_S8, ONNX_FULLY_CONNECTED_S8):
    register(FewPixels(_portable))
    register(PointwiseConv(_portable))
for _portable in (CONV_2D_S8, ONNX_CONV_2D_S8):
    register(NarrowPointwise(_portable))
    register(Dense(_portable))
