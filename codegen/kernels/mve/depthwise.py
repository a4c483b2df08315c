"""DEPTHWISE_CONV_2D with Helium: one output channel an input channel, sixteen at a time."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from codegen.ir import Let
from codegen.ir.ops import DepthwiseConvAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import FastKernel, PortableKernel, arg_type, row_kernel
from codegen.kernels.base.registry import register
from codegen.kernels.base.weighted import DEPTHWISE, ONNX_DEPTHWISE, WeightedOperator
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, CStruct, StructArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Sharing, Workspace
from codegen.kernels.mve.convolution import HEADER, conv_params, reverse_of
from codegen.kernels.mve.packing import (
    SMALL_COLUMNS,
    SMALL_ROWS,
    channels_of,
    depthwise_stream,
    depthwise_struct,
    fits_pairs,
    rounding_in,
    scaling_of,
    small_stream,
    small_struct,
)
from codegen.kernels.mve.pixel_groups import CHUNK, column_reads, columns_of, striped_sharing
from codegen.kernels.mve.price import depthwise_instructions, in_place_instructions, small_instructions
from codegen.kernels.mve.rounding_forms import form_of
from codegen.kernels.portable.convolution import DEPTHWISE_IN_PLACE_S8, DEPTHWISE_S8, ONNX_DEPTHWISE_S8
from codegen.kernels.primfunc import PrimFunc

SMALL_SPAN = 10
"""Columns of the image that a stripe of the kernel for small windows reaches over, at most."""
COLUMN_BYTES = 64
IN_PLACE_ROWS = 4
"""Rows of a window that results in place of the image are computed from, at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PackedDepthwise:
    """Parts of a call in which the two depthwise kernels differ."""

    loop: str
    """Name of the loop in assembly."""
    stream: LinkedConstant
    layer: CStruct
    sharing: tuple[Sharing, ...]
    instructions: int
    image_reads: float
    pixels_at_once: int = 1
    reads_row_last: bool = False


class _Depthwise(FastKernel):
    """Base of the depthwise kernels: multiplier 1, an image computed at run time."""

    portable: PortableKernel
    way = ""
    """Last part of the name in the registry."""

    def __init__(self, operator: WeightedOperator, portable: PortableKernel) -> None:
        self.op, self.operator, self.portable = operator.op, operator, portable
        self.form, self.rounding = form_of(operator), operator.rounding
        self.kernel_set = self.form.kernel_set
        self.name = f"{operator.prefix}{self.op.lower()}_s8_mve{self.way}"

    def other_reason(self, let: Let) -> str | None:
        """Refuse several output channels an input channel."""
        if narrow(let.call.attrs, DepthwiseConvAttrs).multiplier != 1:
            return f"the kernel {self.name} is for one output channel an input channel"
        return None

    def shift_reason(self, let: Let) -> str | None:
        """Refuse a shift that is not to the right."""
        _, shifts = scaling_of(self.operator.scaling(let))
        return "a channel's scale is not below one half" if bool((shifts > -1).any()) else None

    def call(self, let: Let, name: str, stem: str, packed: PackedDepthwise, space: Workspace) -> PrimFunc:
        """The PrimFunc of the function `stem`, its row function, and `<stem>_reverse`."""
        window = self.operator.window(let)
        prim = PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=self.form.symbol(stem),
            sources=self.form.sources(stem, packed.loop),
            headers=(HEADER,),
            reads=(packed.image_reads,),
            workspaces=(space,),
            constants=(packed.stream,),
            structs=(conv_params(window, arg_type(let, 0).zero_point), packed.layer),
            call_args=(PARAMS, StructArg(suffix="layer"), WorkspaceArg(name=space.name), ARGUMENT, RESULT),
            sharing=packed.sharing,
            instructions=packed.instructions,
            pixels_at_once=packed.pixels_at_once,
        )
        rows = row_kernel(let, f"{prim.symbol}_row", window)
        if rows is not None:
            rows = replace(rows, workspace=space, reads_row_last=packed.reads_row_last)
        return replace(
            prim, rows=rows, reverse=reverse_of(prim, prim.sharing, self.form.symbol(f"{stem}_reverse"))
        )


class Depthwise(_Depthwise):
    """Depthwise convolution, any window, stride, dilation and padding: taps by a table of offsets."""

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind a call. Where two products of taps do not fit 16 bits, bind the portable kernel."""
        layer = self.operator.layer(let, constants)
        channels, window = channels_of(layer), layer.window
        if not fits_pairs(channels.weights):
            return self.portable.bind(let, constants, name)
        limits = layer.limits
        taps = window.window[0] * window.window[1]
        size = 4 * taps + (window.image[3] if window.is_padded else 0)
        packed = PackedDepthwise(
            loop="depthwise_pixels",
            stream=depthwise_stream(channels),
            layer=depthwise_struct(channels, let.var.type.zero_point, limits),
            sharing=striped_sharing(let, window, 1),
            instructions=depthwise_instructions(window, rounding_in(let, self.operator)),
            image_reads=window.reads(window.image[3]),
        )
        rows = window.result[0] * window.result[1]
        reads = rows * window.result[2] * -(-window.result[3] // CHUNK)
        space = Workspace(name="taps", size_bytes=size, reads=float(reads), writes=3.0 * rows)
        return self.call(let, name, "depthwise_conv2d", packed, space)


class DepthwiseSmall(_Depthwise):
    """Depthwise convolution of at most 3x3: columns of the image are interleaved, then gathered."""

    way = "_small"

    def other_reason(self, let: Let) -> str | None:
        """Refuse also a larger window, and a shift that is not to the right."""
        reason = super().other_reason(let)
        if reason is not None:
            return reason
        window = self.operator.window(let)
        if (
            window.window[0] > SMALL_ROWS
            or window.window[1] > SMALL_COLUMNS
            or columns_of(window, 1) > SMALL_SPAN
        ):
            return f"the kernel {self.name} is for windows of 3 rows and 3 columns at most"
        return self.shift_reason(let)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        layer = self.operator.layer(let, constants)
        channels, window = channels_of(layer), layer.window
        limits = layer.limits
        width, stride = window.result[2], window.stride[1]
        most = (SMALL_SPAN - columns_of(window, 1)) // stride + 1
        stripe = -(-width // -(-width // most))
        columns = columns_of(window, stripe)
        packed = PackedDepthwise(
            loop="depthwise_stripe",
            stream=small_stream(channels, window.window),
            layer=small_struct(channels, let.var.type.zero_point, limits, stripe),
            sharing=striped_sharing(let, window, stripe),
            instructions=small_instructions(window, stripe, rounding_in(let, self.operator)),
            image_reads=column_reads(window, stripe),
            pixels_at_once=stripe,
            reads_row_last=True,
        )
        blocks = window.result[0] * window.result[1] * -(-window.result[3] // CHUNK)
        space = Workspace(
            name="columns",
            size_bytes=COLUMN_BYTES * columns + (16 if window.is_padded else 0),
            reads=float(blocks * width * SMALL_COLUMNS) / columns,
            writes=float(blocks * -(-width // stripe)),
        )
        return self.call(let, name, "depthwise_small", packed, space)


class DepthwiseInPlaceMve(_Depthwise):
    """Windows of at most 4 rows and 3 columns whose results replace the image: the columns of sixteen
    channels hold the rows that windows still need."""

    way = "_in_place"
    is_in_place = True

    def other_reason(self, let: Let) -> str | None:
        """Refuse also a result of another size than the image, a larger window, rows of taps apart, a shift
        that is not to the right."""
        reason = super().other_reason(let)
        if reason is not None:
            return reason
        window = self.operator.window(let)
        if window.stride != (1, 1) or window.image != window.result:
            return "only with stride 1 and a result as large as the image"
        rows, columns = window.window
        if rows > IN_PLACE_ROWS or columns > SMALL_COLUMNS or window.dilation[0] > 1:
            return f"the kernel {self.name} is for windows of 4 rows and 3 columns at most"
        return self.shift_reason(let)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        layer = self.operator.layer(let, constants)
        channels, window = channels_of(layer), layer.window
        limits = layer.limits
        batch, height, width, depth = window.image
        columns = width + columns_of(window, 1) - 1
        stream = small_stream(channels, window.window, IN_PLACE_ROWS - window.window[0])
        packed = PackedDepthwise(
            loop="depthwise_replace",
            stream=stream,
            layer=small_struct(channels, let.var.type.zero_point, limits, width),
            sharing=(),
            instructions=in_place_instructions(window, rounding_in(let, self.operator)),
            image_reads=1.0,
            pixels_at_once=width,
        )
        blocks = batch * -(-depth // CHUNK)
        taken = (height + window.window[0] - 1 - window.padding.top) * width / columns
        space = Workspace(
            name="columns",
            size_bytes=COLUMN_BYTES * columns + (16 if window.is_padded else 0),
            reads=blocks * (taken + height * width * SMALL_COLUMNS / columns),
            writes=blocks * (1 + taken),
        )
        prim = self.call(let, name, "depthwise_in_place", packed, space)
        call_args = (*prim.call_args[:3], RESULT)
        return replace(prim, call_args=call_args, rows=None, in_place=0)


for _operator, _portable, _in_place in (
    (DEPTHWISE, DEPTHWISE_S8, DEPTHWISE_IN_PLACE_S8),
    (ONNX_DEPTHWISE, ONNX_DEPTHWISE_S8, ONNX_DEPTHWISE_S8),
):
    register(DepthwiseSmall(_operator, _portable))
    register(Depthwise(_operator, _portable))
    register(DepthwiseInPlaceMve(_operator, _in_place))
