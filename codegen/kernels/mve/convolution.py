"""CONV_2D, FULLY_CONNECTED and DEPTHWISE_CONV_2D of one channel with Helium: matrix products of pixels."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from codegen.ir import DType, Let, Target, Var
from codegen.ir.ops import Activation, ConvAttrs, DepthwiseConvAttrs, FullyConnectedAttrs, Padding2D
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.base.parameters import activation_range
from codegen.kernels.base.c_kernel import ConstantData, arg_type, arg_types, constant_data, row_kernel
from codegen.kernels.base.registry import Kernel, register
from codegen.kernels.base.walk import params
from codegen.kernels.base.window import WindowShape
from codegen.kernels.block import RowKernel
from codegen.kernels.call import CallArg, CStruct, ResultArg, Reverse, StructArg, ValueArg, WorkspaceArg
from codegen.kernels.contract import Sharing, Workspace
from codegen.kernels.mve.groups import CHUNK, grouped_sharing
from codegen.kernels.mve.packing import (
    Channels,
    folded,
    product_scales,
    product_struct,
    product_weights,
    rounding_of,
    scaling_of,
)
from codegen.kernels.mve.price import few_pixels_instructions, pointwise_instructions, windows_instructions
from codegen.kernels.portable.convolution import Conv2D, DepthwiseConv2D, FullyConnected, window_of
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import MVE
from codegen.targets.families import runs

HEADER = "cg_kernels_mve.h"
GROUP = 3
"""Pixels computed together."""
QUAD = 4
"""Channels of theirs that are written together."""
STATE_BYTES = 156
"""Of `conv_state` in conv2d_s8_mve.c, behind the windows."""
FEW = 2
"""Pixels up to which one at a time is faster."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """A call as a convolution without groups, as far as types tell."""

    window: WindowShape
    activation: Activation

    @property
    def pixels(self) -> int:
        """Of the result, batches included."""
        return self.window.result[0] * self.window.result[1] * self.window.result[2]

    @property
    def is_pointwise(self) -> bool:
        """Every result pixel reads the image pixel in its place."""
        window = self.window
        return window.window == (1, 1) and window.stride == (1, 1) and window.padding == Padding2D()


class Source:
    """How an operator is such a convolution."""

    op: str
    portable: Conv2D | DepthwiseConv2D | FullyConnected
    """The kernel whose conditions hold here too."""

    def other_reason(self, let: Let) -> str | None:
        """Why a call is none, beyond the portable kernel's conditions."""
        del let
        return None

    @abstractmethod
    def layer(self, let: Let) -> Layer:
        """The call's geometry."""

    def rows_of_weights(self, weights: NDArray[np.int8]) -> NDArray[np.int8]:
        """Weights as the file has them, as [O, K]."""
        return weights.reshape(weights.shape[0], -1)


class ConvSource(Source):
    """CONV_2D."""

    op, portable = "CONV_2D", Conv2D("conv2d_s8", DType.INT8)

    def other_reason(self, let: Let) -> str | None:
        """Groups."""
        if arg_type(let, 1).shape[3] != arg_type(let, 0).shape[3]:
            return "the convolution has groups"
        return None

    def layer(self, let: Let) -> Layer:
        """See `Source.layer`."""
        attrs = narrow(let.call.attrs, ConvAttrs)
        return Layer(window=window_of(let, attrs), activation=attrs.activation)


class DepthwiseSource(Source):
    """DEPTHWISE_CONV_2D of an image with one channel."""

    op, portable = "DEPTHWISE_CONV_2D", DepthwiseConv2D("depthwise_conv2d_s8", DType.INT8)

    def other_reason(self, let: Let) -> str | None:
        """Several channels."""
        return None if arg_type(let, 0).shape[3] == 1 else "the image has several channels"

    def layer(self, let: Let) -> Layer:
        """See `Source.layer`."""
        attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
        return Layer(window=window_of(let, attrs), activation=attrs.activation)

    def rows_of_weights(self, weights: NDArray[np.int8]) -> NDArray[np.int8]:
        """See `Source.rows_of_weights`."""
        return np.ascontiguousarray(weights.reshape(-1, weights.shape[3]).T)


class FullyConnectedSource(Source):
    """FULLY_CONNECTED: every row of the image is a pixel."""

    op, portable = "FULLY_CONNECTED", FullyConnected("fully_connected_s8", DType.INT8)

    def layer(self, let: Let) -> Layer:
        """See `Source.layer`."""
        outputs, inputs = arg_type(let, 1).shape
        rows = arg_type(let, 0).elements // inputs
        window = WindowShape(
            image=(rows, 1, 1, inputs),
            result=(rows, 1, 1, outputs),
            window=(1, 1),
            stride=(1, 1),
            dilation=(1, 1),
            padding=Padding2D(),
        )
        return Layer(window=window, activation=narrow(let.call.attrs, FullyConnectedAttrs).activation)


def conv_params(window: WindowShape, in_zero: int) -> CStruct:
    """A `cg_conv_params_mve`."""
    return params(
        "cg_conv_params_mve",
        ("window", window.fields),
        ("in_zero", in_zero),
        ("is_padded", int(window.is_padded)),
    )


class _Product(Kernel):
    """Shared by all: refusal, constants, parameter structs."""

    group: int
    """Channels in a group of weights."""

    def __init__(self, source: Source) -> None:
        self.op, self.source = source.op, source
        self.name = f"{source.op.lower()}_s8_mve_{self.way}"

    way: str
    """Last part of the name in the registry."""

    def refusal(self, let: Let, target: Target) -> str | None:
        """A core without Helium, a computed image only, and what the portable kernel refuses."""
        if not runs(target, MVE):
            return f"the kernel {self.name} needs a core with Helium (MVE)"
        reason = self.source.portable.refusal(let, target)
        if reason is None and not isinstance(let.call.args[0], Var):
            reason = "the image is constant"
        reason = reason or self.source.other_reason(let)
        return reason or self.shape_reason(self.source.layer(let))

    @abstractmethod
    def shape_reason(self, layer: Layer) -> str | None:
        """Why the layer is not for this way of computing, or None."""

    def channels(self, let: Let, constants: ConstantData) -> Channels:
        """The output channels' numbers."""
        weights, bias = constant_data(let, 1, constants), constant_data(let, 2, constants)
        if weights is None:
            raise ValueError("the weights are missing")
        rows = self.source.rows_of_weights(weights)
        multipliers, shifts = scaling_of(self.source.portable.multipliers(let))
        total = None if bias is None else bias.reshape(-1).astype(np.int64)
        return Channels(
            weights=rows,
            bias=folded(total, rows, arg_type(let, 0).zero_point),
            multipliers=multipliers,
            shifts=shifts,
        )

    def rounding(self, let: Let) -> int:
        """Which requantization the kernel takes."""
        low, _ = activation_range(self.source.layer(let).activation, let.var.type)
        return rounding_of(scaling_of(self.source.portable.multipliers(let))[1], let.var.type.zero_point, low)

    def call(
        self,
        let: Let,
        constants: Mapping[str, np.ndarray],
        name: str,
        symbol: str,
        sources: tuple[str, ...],
        image_reads: float,
        leading: tuple[CallArg, ...] = (),
    ) -> PrimFunc:
        """The PrimFunc as far as all have it in common: (params, product, `leading`, image, result)."""
        layer = self.source.layer(let)
        channels = self.channels(let, constants)
        limits = activation_range(layer.activation, let.var.type)
        zero = arg_type(let, 0).zero_point
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=symbol,
            sources=tuple(f"kernels/mve/{source}" for source in sources),
            headers=(HEADER,),
            reads=(image_reads, *(1.0 for _ in let.call.args[1:])),
            constants=(product_weights(channels, self.group), product_scales(channels)),
            structs=(
                conv_params(layer.window, zero),
                product_struct(channels, let.var.type.zero_point, limits),
            ),
            call_args=(
                StructArg(suffix="params"),
                StructArg(suffix="product"),
                *leading,
                ValueArg(index=0),
                ResultArg(),
            ),
            macs=let.call.op.macs(let.call.attrs, arg_types(let), let.var.type),
        )


class FewPixels(_Product):
    """One or two pixels, one after the other, four channels at a time."""

    group, way = 4, "few"

    def shape_reason(self, layer: Layer) -> str | None:
        """See `_Product.shape_reason`."""
        return None if layer.is_pointwise and layer.pixels <= FEW else "more than two pixels"

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        layer = self.source.layer(let)
        sources = ("few_pixels_s8_mve.c", "product1_s8_mve.S")
        reads = float(-(-layer.window.result[3] // self.group))
        prim = self.call(let, constants, name, "cg_few_pixels_s8_mve", sources, reads)
        rules = grouped_sharing(let, layer.window, pixels=1, chunk=CHUNK)
        return replace(
            prim,
            sharing=tuple(Sharing(argument=0, below=rule.below) for rule in rules if rule.below is not None),
            instructions=few_pixels_instructions(layer.window, self.rounding(let)),
        )


class Pointwise(_Product):
    """Windows of one pixel, stride 1: three pixels at a time where they lie."""

    group, way = 2, "pointwise"

    def shape_reason(self, layer: Layer) -> str | None:
        """See `_Product.shape_reason`."""
        return None if layer.is_pointwise else "the windows are not the pixels"

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        window = self.source.layer(let).window
        sources = ("pointwise_s8_mve.c", "product3_s8_mve.S")
        reads = float(-(-window.result[3] // self.group))
        prim = self.call(let, constants, name, "cg_pointwise_s8_mve", sources, reads)
        sharing = grouped_sharing(let, window, pixels=GROUP, chunk=QUAD)
        return replace(
            prim,
            sharing=sharing,
            pixels_at_once=GROUP,
            reverse=reverse_of(prim, sharing, "cg_pointwise_reverse_s8_mve"),
            instructions=pointwise_instructions(window, self.rounding(let)),
            rows=_pointwise_rows(let, window),
        )


class Windows(_Product):
    """Any window: three pixels' windows are copied to a workspace first."""

    group, way = 2, "windows"

    def shape_reason(self, layer: Layer) -> str | None:
        """See `_Product.shape_reason`."""
        return "the windows are the pixels" if layer.is_pointwise else None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        window = self.source.layer(let).window
        space = _space(window, self.source.layer(let).pixels)
        leading = (WorkspaceArg(name=space.name),)
        reads = window.reads(window.image[3])
        sources = ("conv2d_s8_mve.c", "product3_s8_mve.S")
        prim = self.call(let, constants, name, "cg_conv2d_s8_mve", sources, reads, leading)
        sharing = grouped_sharing(let, window, pixels=GROUP)
        return replace(
            prim,
            workspaces=(space,),
            sharing=sharing,
            pixels_at_once=GROUP,
            reverse=reverse_of(prim, sharing, "cg_conv2d_reverse_s8_mve"),
            instructions=windows_instructions(window, self.rounding(let)),
            rows=_rows(let, window),
        )


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


def _rows(let: Let, window: WindowShape) -> RowKernel | None:
    """Windows are copied three pixels at a time, so these are read before they are written."""
    found = row_kernel(let, "cg_conv2d_s8_mve_row", window)
    return None if found is None else replace(found, workspace=_space(window, window.result[2]))


def _pointwise_rows(let: Let, window: WindowShape) -> RowKernel | None:
    """Pixels are read where they lie, while the first of their channels are written."""
    found = row_kernel(let, "cg_pointwise_s8_mve_row", window)
    return None if found is None else replace(found, reads_row_last=True)


for _source in (ConvSource(), FullyConnectedSource()):
    register(FewPixels(_source))
    register(Pointwise(_source))
for _source in (ConvSource(), DepthwiseSource()):
    register(Windows(_source))
