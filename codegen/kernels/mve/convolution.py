"""CONV_2D, FULLY_CONNECTED and DEPTHWISE_CONV_2D of one channel with Helium: matrix products of pixels."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir import Let
from codegen.kernels.base.c_kernel import FastKernel, row_kernel
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import params
from codegen.kernels.base.window import WindowShape
from codegen.kernels.block import RowKernel
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, CallArg, CStruct, Reverse, StructArg, WorkspaceArg
from codegen.kernels.contract import Sharing, Workspace
from codegen.kernels.mve.packing import (
    channels_of,
    product_scales,
    product_struct,
    product_weights,
    rounding_in,
)
from codegen.kernels.mve.pixel_groups import CHUNK, grouped_sharing
from codegen.kernels.mve.price import few_pixels_instructions, pointwise_instructions, windows_instructions
from codegen.kernels.mve.rounding_forms import form_of
from codegen.kernels.portable.convolution import (
    CONV_2D_S8,
    DEPTHWISE_S8,
    FULLY_CONNECTED_S8,
    Conv2D,
    DepthwiseConv2D,
    FullyConnected,
)
from codegen.kernels.portable.qlinear.weighted import (
    QLINEAR_CONV_2D_S8,
    QLINEAR_DEPTHWISE_S8,
    QLINEAR_FULLY_CONNECTED_S8,
)
from codegen.kernels.primfunc import PrimFunc

HEADER = "cg_kernels_mve.h"
GROUP = 3
"""Pixels computed together."""
QUAD = 4
"""Channels of theirs that are written together."""
STATE_BYTES = 156
"""Of `conv_state` in conv2d_s8_mve.c, behind the windows."""
FEW = 2
"""Pixels up to which one at a time is faster."""


def conv_params(window: WindowShape, in_zero: int) -> CStruct:
    """A `cg_conv_params_mve`."""
    return params(
        "cg_conv_params_mve",
        ("window", window.fields),
        ("in_zero", in_zero),
        ("is_padded", int(window.is_padded)),
    )


class _Product(FastKernel):
    """Shared by all: refusal, constants, parameter structs."""

    group: int
    """Channels in a group of weights."""
    way: str
    """Last part of the name in the registry."""

    def __init__(self, portable: Conv2D | DepthwiseConv2D | FullyConnected) -> None:
        self.op, self.portable, self.operator = portable.op, portable, portable.operator
        self.form = form_of(self.operator)
        self.kernel_set = self.form.kernel_set
        self.name = f"{self.op.lower()}_s8_mve_{self.way}"

    def other_reason(self, let: Let) -> str | None:
        """Several groups or channels, or windows that are not for this way of computing."""
        is_rows = isinstance(self.portable, FullyConnected)
        condition = None if is_rows else self.operator.condition(let)
        if condition is not None:
            return f"the kernel {self.name} is for {condition}"
        return self.shape_reason(self.operator.window(let))

    @abstractmethod
    def shape_reason(self, window: WindowShape) -> str | None:
        """Why the layer is not for this way of computing, or None."""

    def rounding(self, let: Let) -> int:
        """Which requantization the kernel takes."""
        return rounding_in(let, self.operator)

    def call(
        self,
        let: Let,
        constants: Mapping[str, np.ndarray],
        name: str,
        stem: str,
        loop: str,
        image_reads: float,
        leading: tuple[CallArg, ...] = (),
    ) -> PrimFunc:
        """The PrimFunc as far as all have it in common: (params, product, `leading`, image, result)."""
        layer = self.operator.layer(let, constants)
        channels = channels_of(layer)
        limits = layer.limits
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=self.form.symbol(stem),
            sources=self.form.sources(stem, loop),
            headers=(HEADER,),
            reads=(image_reads,),
            constants=(product_weights(channels, self.group), product_scales(channels)),
            structs=(
                conv_params(layer.window, layer.in_zero),
                product_struct(channels, let.var.type.zero_point, limits),
            ),
            call_args=(PARAMS, StructArg(suffix="product"), *leading, ARGUMENT, RESULT),
        )


class FewPixels(_Product):
    """One or two pixels, one after the other, four channels at a time."""

    group, way = 4, "few"

    def shape_reason(self, window: WindowShape) -> str | None:
        """See `_Product.shape_reason`."""
        return None if window.is_pointwise and _pixels(window) <= FEW else "more than two pixels"

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        window = self.operator.window(let)
        reads = float(-(-window.result[3] // self.group))
        prim = self.call(let, constants, name, "few_pixels", "product1", reads)
        rules = grouped_sharing(let, window, pixels=1, chunk=CHUNK)
        return replace(
            prim,
            sharing=tuple(Sharing(argument=0, below=rule.below) for rule in rules if rule.below is not None),
            instructions=few_pixels_instructions(window, self.rounding(let)),
        )


class PointwiseConv(_Product):
    """Windows of one pixel, stride 1: three pixels at a time where they lie."""

    group, way = 2, "pointwise"

    def shape_reason(self, window: WindowShape) -> str | None:
        """See `_Product.shape_reason`."""
        return None if window.is_pointwise else "the windows are not the pixels"

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        window = self.operator.window(let)
        reads = float(-(-window.result[3] // self.group))
        prim = self.call(let, constants, name, "pointwise", "product3", reads)
        sharing = grouped_sharing(let, window, pixels=GROUP, chunk=QUAD)
        return replace(
            prim,
            sharing=sharing,
            pixels_at_once=GROUP,
            reverse=reverse_of(prim, sharing, self.form.symbol("pointwise_reverse")),
            instructions=pointwise_instructions(window, self.rounding(let)),
            rows=_pointwise_rows(let, prim.symbol, window),
        )


class Windows(_Product):
    """Any window: three pixels' windows are copied to a workspace first."""

    group, way = 2, "windows"

    def shape_reason(self, window: WindowShape) -> str | None:
        """See `_Product.shape_reason`."""
        return "the windows are the pixels" if window.is_pointwise else None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        window = self.operator.window(let)
        space = _space(window, _pixels(window))
        leading = (WorkspaceArg(name=space.name),)
        reads = window.reads(window.image[3])
        prim = self.call(let, constants, name, "conv2d", "product3", reads, leading)
        sharing = grouped_sharing(let, window, pixels=GROUP)
        return replace(
            prim,
            workspaces=(space,),
            sharing=sharing,
            pixels_at_once=GROUP,
            reverse=reverse_of(prim, sharing, self.form.symbol("conv2d_reverse")),
            instructions=windows_instructions(window, self.rounding(let)),
            rows=_rows(let, prim.symbol, window),
        )


def _pixels(window: WindowShape) -> int:
    """Of the result, batches included."""
    return window.result[0] * window.result[1] * window.result[2]


def _space(window: WindowShape, pixels: int) -> Workspace:
    """For windows of three of `pixels` pixels at a time; each is read for every pair of channels."""
    depth = window.window[0] * window.window[1] * window.image[3]
    groups = float(-(-pixels // GROUP))
    return Workspace(
        name="windows",
        size_bytes=-(-min(GROUP, pixels) * depth // 4) * 4 + STATE_BYTES,
        reads=groups * -(-window.result[3] // 2),
        writes=groups,
    )


def reverse_of(prim: PrimFunc, sharing: tuple[Sharing, ...], symbol: str) -> Reverse | None:
    """`symbol`, in the same sources, if `sharing` permits it somewhere."""
    if any(rule.above is not None for rule in sharing):
        return Reverse(symbol=symbol, sources=prim.sources)
    return None


def _rows(let: Let, symbol: str, window: WindowShape) -> RowKernel | None:
    """Windows are copied three pixels at a time, so these are read before they are written."""
    found = row_kernel(let, f"{symbol}_row", window)
    return None if found is None else replace(found, workspace=_space(window, window.result[2]))


def _pointwise_rows(let: Let, symbol: str, window: WindowShape) -> RowKernel | None:
    """Pixels are read where they lie, while the first of their channels are written."""
    found = row_kernel(let, f"{symbol}_row", window)
    return None if found is None else replace(found, reads_row_last=True)


for _portable in (CONV_2D_S8, FULLY_CONNECTED_S8, QLINEAR_CONV_2D_S8, QLINEAR_FULLY_CONNECTED_S8):
    register(FewPixels(_portable))
    register(PointwiseConv(_portable))
for _portable in (CONV_2D_S8, DEPTHWISE_S8, QLINEAR_CONV_2D_S8, QLINEAR_DEPTHWISE_S8):
    register(Windows(_portable))
