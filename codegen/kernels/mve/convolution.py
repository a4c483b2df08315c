"""CONV_2D and DEPTHWISE_CONV_2D of one channel with Helium: matrix products of copied windows or columns."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir import Let
from codegen.kernels.base.c_kernel import FastKernel, row_kernel
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import params
from codegen.kernels.base.weighted import WeightedLayer
from codegen.kernels.base.window import WindowShape
from codegen.kernels.block import RowKernel
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, CallArg, CStruct, Reverse, StructArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Sharing, Workspace
from codegen.kernels.mve.packing import (
    COLUMNS,
    channels_of,
    column_bytes,
    columns_stream,
    product_scales,
    product_struct,
    product_weights,
    quads_struct,
    rounding_in,
)
from codegen.kernels.mve.pixel_groups import column_reads, columns_of, grouped_sharing, striped_sharing
from codegen.kernels.mve.price import (
    columns_instructions,
    windows_instructions,
)
from codegen.kernels.mve.rounding_forms import form_of
from codegen.kernels.portable.convolution import (
    CONV_2D_S8,
    DEPTHWISE_S8,
    ONNX_CONV_2D_S8,
    ONNX_DEPTHWISE_S8,
    Conv2D,
    DepthwiseConv2D,
    FullyConnected,
)
from codegen.kernels.primfunc import PrimFunc

HEADER = "cg_kernels_mve.h"
GROUP = 3
"""Pixels computed together."""
STATE_BYTES = 156
"""Bytes of `conv_state` in conv2d_s8_mve.c, behind the windows."""
STRIPE = 4
"""Pixels whose columns are copied together, then multiplied."""
_MOST_CHANNELS = 21_844
"""Channels of a result, at most: distances of four pixels' bytes are 16 bits."""


def conv_params(window: WindowShape, in_zero: int) -> CStruct:
    """A `cg_conv_params_mve`."""
    return params(
        "cg_conv_params_mve",
        ("window", window.fields),
        ("in_zero", in_zero),
        ("is_padded", int(window.is_padded)),
    )


class Product(FastKernel):
    """Base of the matrix products: refusal, constants, parameter structs."""

    group: int
    """Channels in a group of weights."""
    way: str
    """Last part of the name in the registry."""
    c_name: str
    """Name of the C function, without instruction set and rounding."""
    loop: str
    """Name of the loop in assembly that it calls."""

    def __init__(self, portable: Conv2D | DepthwiseConv2D | FullyConnected) -> None:
        self.op, self.portable, self.operator = portable.op, portable, portable.operator
        self.form, self.rounding = form_of(self.operator), self.operator.rounding
        self.kernel_set = self.form.kernel_set
        self.name = f"{self.operator.prefix}{self.op.lower()}_s8_mve_{self.way}"

    def other_reason(self, let: Let) -> str | None:
        """Refuse several groups or channels, or windows that are not for this way of computing."""
        is_rows = isinstance(self.portable, FullyConnected)
        condition = None if is_rows else self.operator.condition(let)
        if condition is not None:
            return f"the kernel {self.name} is for {condition}"
        return self.shape_reason(self.operator.window(let))

    @abstractmethod
    def shape_reason(self, window: WindowShape) -> str | None:
        """Why the layer is not for this way of computing, or None."""

    def requantization(self, let: Let) -> int:
        """Number of the requantization that the kernel takes."""
        return rounding_in(let, self.operator)

    def packed(self, layer: WeightedLayer, out_zero: int) -> tuple[LinkedConstant, CStruct]:
        """Linked weights, and the `cg_product_mve`."""
        channels = channels_of(layer)
        return product_weights(channels, self.group), product_struct(channels, out_zero, layer.limits)

    def call(
        self,
        let: Let,
        constants: Mapping[str, np.ndarray],
        name: str,
        image_reads: float,
        leading: tuple[CallArg, ...] = (),
    ) -> PrimFunc:
        """The PrimFunc's parts that all products share; its call: (params, product, `leading`, image,
        result)."""
        layer = self.operator.layer(let, constants)
        weights, product = self.packed(layer, let.var.type.zero_point)
        return replace(
            self.around(let, layer, product, name, leading),
            reads=(image_reads,),
            constants=(weights, product_scales(channels_of(layer))),
        )

    def around(
        self,
        let: Let,
        layer: WeightedLayer,
        struct: CStruct,
        name: str,
        leading: tuple[CallArg, ...] = (),
    ) -> PrimFunc:
        """The PrimFunc without parts of this layer; its call: (params, `struct`, `leading`, image,
        result)."""
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=self.form.symbol(self.c_name),
            sources=self.form.sources(self.c_name, self.loop),
            headers=(HEADER,),
            structs=(conv_params(layer.window, layer.in_zero), struct),
            call_args=(PARAMS, StructArg(suffix=struct.suffix), *leading, ARGUMENT, RESULT),
        )


class Quads(Product):
    """A matrix product with all constants in one stream."""

    def quads(
        self,
        let: Let,
        layer: WeightedLayer,
        depth: int,
        name: str,
        leading: tuple[CallArg, ...] = (),
    ) -> PrimFunc:
        """The PrimFunc but for stream, sharing, instructions: (params, layer, `leading`, image, result)."""
        struct = quads_struct(channels_of(layer), depth, let.var.type.zero_point, layer.limits)
        return replace(self.around(let, layer, struct, name, leading), pixels_at_once=GROUP)


class Windows(Product):
    """A convolution of any window: three pixels' windows are copied to a workspace first."""

    group, way, c_name, loop = 2, "windows", "conv2d", "product3"

    def shape_reason(self, window: WindowShape) -> str | None:
        return "the windows are the pixels" if window.is_pointwise else None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        window = self.operator.window(let)
        space = _space(window, pixels_of(window))
        leading = (WorkspaceArg(name=space.name),)
        reads = window.reads(window.image[3])
        prim = self.call(let, constants, name, reads, leading)
        sharing = grouped_sharing(let, window, pixels=GROUP)
        return replace(
            prim,
            workspaces=(space,),
            sharing=sharing,
            pixels_at_once=GROUP,
            reverse=reverse_of(prim, sharing, self.form.symbol("conv2d_reverse")),
            instructions=windows_instructions(window, self.requantization(let)),
            rows=_rows(let, prim.symbol, window),
        )


class Columns(Quads):
    """A convolution of three columns, stride 1 along the row: columns of four pixels are copied."""

    group, way, fast_form = 2, "columns", "columns"
    c_name, loop = "conv2d_columns", "columns3"

    def shape_reason(self, window: WindowShape) -> str | None:
        if (window.window[1], window.stride[1], window.dilation[1]) != (COLUMNS, 1, 1):
            return f"the kernel {self.name} is for windows of three columns side by side with stride 1"
        if window.result[3] > _MOST_CHANNELS:
            return f"the kernel {self.name} is for at most {_MOST_CHANNELS:,} channels"
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        layer = self.operator.layer(let, constants)
        window = layer.window
        depth = column_bytes(window.window[0], window.image[3])
        space = _columns_space(window, depth)
        leading = (WorkspaceArg(name=space.name),)
        prim = self.quads(let, layer, depth, name, leading)
        sharing = striped_sharing(let, window, STRIPE, chunk=None)
        rows = row_kernel(let, f"{prim.symbol}_row", window)
        return replace(
            prim,
            reads=(column_reads(window, STRIPE),),
            constants=(columns_stream(channels_of(layer), window.window[0]),),
            workspaces=(space,),
            sharing=sharing,
            pixels_at_once=STRIPE,
            reverse=reverse_of(prim, sharing, self.form.symbol("conv2d_columns_reverse")),
            instructions=columns_instructions(window, STRIPE, self.requantization(let)),
            rows=None if rows is None else replace(rows, workspace=space),
        )


def _columns_space(window: WindowShape, depth: int) -> Workspace:
    """Workspace of the columns of four pixels, whether a row has so many or not."""
    batch, height, width, channels = window.result
    stripes = float(batch * height * -(-width // STRIPE))
    return Workspace(
        name="columns",
        size_bytes=columns_of(window, STRIPE) * depth,
        reads=stripes * -(-channels // 2),
        writes=stripes,
    )


def pixels_of(window: WindowShape) -> int:
    """Pixels of the result, batches included."""
    return window.result[0] * window.result[1] * window.result[2]


def _space(window: WindowShape, pixels: int) -> Workspace:
    """Workspace of three windows of `pixels` pixels at a time; each is read for every pair of channels."""
    depth = window.window[0] * window.window[1] * window.image[3]
    groups = float(-(-pixels // GROUP))
    return Workspace(
        name="windows",
        size_bytes=-(-min(GROUP, pixels) * depth // 4) * 4 + STATE_BYTES,
        reads=groups * -(-window.result[3] // 2),
        writes=groups,
    )


def reverse_of(prim: PrimFunc, sharing: tuple[Sharing, ...], symbol: str) -> Reverse | None:
    """The reverse form `symbol`, in the same sources, if `sharing` permits it somewhere."""
    if any(rule.above is not None for rule in sharing):
        return Reverse(symbol=symbol, sources=prim.sources)
    return None


def _rows(let: Let, symbol: str, window: WindowShape) -> RowKernel | None:
    """Row kernel: windows are copied three pixels at a time, so these are read before they are written."""
    rows = row_kernel(let, f"{symbol}_row", window)
    return None if rows is None else replace(rows, workspace=_space(window, window.result[2]))


for _portable in (CONV_2D_S8, DEPTHWISE_S8, ONNX_CONV_2D_S8, ONNX_DEPTHWISE_S8):
    register(Windows(_portable))
for _portable in (CONV_2D_S8, ONNX_CONV_2D_S8):
    register(Columns(_portable))
