"""DEPTHWISE_CONV_2D with Helium: one output channel an input channel, sixteen at a time."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from codegen.ir import DType, Let, Target, Var
from codegen.ir.ops import DepthwiseConvAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.base.parameters import activation_range
from codegen.kernels.base.c_kernel import ConstantData, arg_type, arg_types, constant_data, row_kernel
from codegen.kernels.base.registry import Kernel, register
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import CStruct, ResultArg, StructArg, ValueArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Sharing, Workspace
from codegen.kernels.mve.convolution import HEADER, conv_params, reverse_of
from codegen.kernels.mve.groups import CHUNK, striped_sharing
from codegen.kernels.mve.packing import (
    SMALL_COLUMNS,
    SMALL_ROWS,
    Channels,
    depthwise_stream,
    depthwise_struct,
    fits_pairs,
    folded,
    rounding_of,
    scaling_of,
    small_stream,
    small_struct,
)
from codegen.kernels.mve.price import depthwise_instructions, in_place_instructions, small_instructions
from codegen.kernels.portable.convolution import DepthwiseConv2D, DepthwiseInPlace, window_of
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import MVE
from codegen.targets.families import runs

PORTABLE = DepthwiseConv2D("depthwise_conv2d_s8", DType.INT8)
"""Its conditions hold here too; it runs what only the weights show to be out of range."""
PORTABLE_IN_PLACE = DepthwiseInPlace("s8", DType.INT8)
"""Its conditions hold for the kernel that replaces its image."""

SMALL_SPAN = 10
"""Columns of the image that a stripe of the kernel for small windows reaches over, at most."""
COLUMN_BYTES = 64
IN_PLACE_TAPS = 4
"""Rows and columns of a window that results in place of the image are computed from, at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Packed:
    """What the two kernels do not have in common."""

    sources: tuple[str, ...]
    stream: LinkedConstant
    layer: CStruct
    sharing: tuple[Sharing, ...]
    instructions: int
    image_reads: float
    pixels_at_once: int = 1
    reads_row_last: bool = False


class _Depthwise(Kernel):
    """Shared by both: Helium, multiplier 1, an image computed at run time."""

    op = "DEPTHWISE_CONV_2D"

    def refusal(self, let: Let, target: Target) -> str | None:
        """A core without Helium, several output channels an input channel, a constant image."""
        if not runs(target, MVE):
            return f"the kernel {self.name} needs a core with Helium (MVE)"
        reason = PORTABLE.refusal(let, target)
        if reason is None and not isinstance(let.call.args[0], Var):
            reason = "the image is constant"
        if reason is None and narrow(let.call.attrs, DepthwiseConvAttrs).multiplier != 1:
            reason = f"the kernel {self.name} is for one output channel an input channel"
        return reason

    def call(self, let: Let, name: str, stem: str, packed: Packed, space: Workspace) -> PrimFunc:
        """The PrimFunc of function `cg_<stem>_s8_mve`, its row function, and `cg_<stem>_reverse_s8_mve`."""
        window = window_of(let, narrow(let.call.attrs, DepthwiseConvAttrs))
        prim = PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=f"cg_{stem}_s8_mve",
            sources=tuple(f"kernels/mve/{source}" for source in packed.sources),
            headers=(HEADER,),
            reads=(packed.image_reads, *(1.0 for _ in let.call.args[1:])),
            workspaces=(space,),
            constants=(packed.stream,),
            structs=(conv_params(window, arg_type(let, 0).zero_point), packed.layer),
            call_args=(
                StructArg(suffix="params"),
                StructArg(suffix="layer"),
                WorkspaceArg(name=space.name),
                ValueArg(index=0),
                ResultArg(),
            ),
            sharing=packed.sharing,
            macs=let.call.op.macs(let.call.attrs, arg_types(let), let.var.type),
            instructions=packed.instructions,
            pixels_at_once=packed.pixels_at_once,
        )
        rows = row_kernel(let, f"{prim.symbol}_row", window)
        if rows is not None:
            rows = replace(rows, workspace=space, reads_row_last=packed.reads_row_last)
        return replace(prim, rows=rows, reverse=reverse_of(prim, prim.sharing, f"cg_{stem}_reverse_s8_mve"))


class Depthwise(_Depthwise):
    """Any window, stride, dilation and padding: taps by a table of offsets."""

    name = "depthwise_conv_2d_s8_mve"

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`; where two products of taps do not fit 16 bits, the portable kernel."""
        channels = _channels(let, constants)
        if not fits_pairs(channels.weights):
            return PORTABLE.bind(let, constants, name)
        attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
        window = window_of(let, attrs)
        limits = activation_range(attrs.activation, let.var.type)
        taps = window.window[0] * window.window[1]
        size = 4 * taps + (window.image[3] if window.is_padded else 0)
        packed = Packed(
            sources=("depthwise_conv2d_s8_mve.c", "depthwise_pixels_s8_mve.S"),
            stream=depthwise_stream(channels),
            layer=depthwise_struct(channels, let.var.type.zero_point, limits),
            sharing=striped_sharing(let, window, 1),
            instructions=depthwise_instructions(window, _rounding(let)),
            image_reads=window.reads(window.image[3]),
        )
        rows = window.result[0] * window.result[1]
        reads = rows * window.result[2] * -(-window.result[3] // CHUNK)
        space = Workspace(name="taps", size_bytes=size, reads=float(reads), writes=3.0 * rows)
        return self.call(let, name, "depthwise_conv2d", packed, space)


class DepthwiseSmall(_Depthwise):
    """Windows of at most 3 rows and 4 columns: columns of the image are interleaved, then gathered."""

    name = "depthwise_conv_2d_s8_mve_small"

    def refusal(self, let: Let, target: Target) -> str | None:
        """Besides: a larger window, a shift that is not to the right."""
        reason = super().refusal(let, target)
        if reason is not None:
            return reason
        window = window_of(let, narrow(let.call.attrs, DepthwiseConvAttrs))
        if window.window[0] > SMALL_ROWS or window.window[1] > SMALL_COLUMNS or _span(window) > SMALL_SPAN:
            return f"the kernel {self.name} is for windows of 3 rows and 4 columns at most"
        return _shift_reason(let)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        channels = _channels(let, constants)
        attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
        window = window_of(let, attrs)
        limits = activation_range(attrs.activation, let.var.type)
        width, stride = window.result[2], window.stride[1]
        most = (SMALL_SPAN - _span(window)) // stride + 1
        stripe = -(-width // -(-width // most))
        columns = (stripe - 1) * stride + _span(window)
        packed = Packed(
            sources=("depthwise_small_s8_mve.c", "depthwise_stripe_s8_mve.S"),
            stream=small_stream(channels, window.window),
            layer=small_struct(channels, let.var.type.zero_point, limits, stripe),
            sharing=striped_sharing(let, window, stripe),
            instructions=small_instructions(window, stripe, _rounding(let)),
            image_reads=_column_reads(window, stripe),
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
    """Windows of at most 4 rows and 4 columns whose results replace the image: the columns of sixteen
    channels hold the rows that windows still need."""

    name = "depthwise_conv_2d_s8_mve_in_place"
    is_in_place = True

    def refusal(self, let: Let, target: Target) -> str | None:
        """Besides: a result of another size than the image, a larger window, rows of taps apart, a shift
        that is not to the right."""
        reason = super().refusal(let, target) or PORTABLE_IN_PLACE.refusal(let, target)
        if reason is not None:
            return reason
        window = window_of(let, narrow(let.call.attrs, DepthwiseConvAttrs))
        if max(window.window) > IN_PLACE_TAPS or window.dilation[0] > 1:
            return f"the kernel {self.name} is for windows of 4 rows and 4 columns at most"
        return _shift_reason(let)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        channels = _channels(let, constants)
        attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
        window = window_of(let, attrs)
        limits = activation_range(attrs.activation, let.var.type)
        batch, height, width, depth = window.image
        columns = width + _span(window) - 1
        stream = small_stream(channels, window.window, IN_PLACE_TAPS - window.window[0])
        packed = Packed(
            sources=("depthwise_in_place_s8_mve.c", "depthwise_replace_s8_mve.S"),
            stream=stream,
            layer=small_struct(channels, let.var.type.zero_point, limits, width),
            sharing=(),
            instructions=in_place_instructions(window, _rounding(let)),
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
        call_args = (*prim.call_args[:3], ResultArg())
        return replace(prim, call_args=call_args, rows=None, in_place=0)


def _shift_reason(let: Let) -> str | None:
    _, shifts = scaling_of(PORTABLE.multipliers(let))
    return "a channel's scale is not below one half" if bool((shifts > -1).any()) else None


def _column_reads(window: WindowShape, stripe: int) -> float:
    """How often each image byte is read into columns, on average."""
    down, across = window.axes
    spans = [across.span(left, min(left + stripe, across.count)) for left in range(0, across.count, stripe)]
    return down.taps * sum(stop - start for start, stop in spans) / (down.extent * across.extent)


def _rounding(let: Let) -> int:
    low, _ = activation_range(narrow(let.call.attrs, DepthwiseConvAttrs).activation, let.var.type)
    return rounding_of(scaling_of(PORTABLE.multipliers(let))[1], let.var.type.zero_point, low)


def _span(window: WindowShape) -> int:
    """Columns of the image from the first to the last one of a window."""
    return (window.window[1] - 1) * window.dilation[1] + 1


def _channels(let: Let, constants: ConstantData) -> Channels:
    weights, bias = constant_data(let, 1, constants), constant_data(let, 2, constants)
    if weights is None:
        raise ValueError("the weights are missing")
    rows = np.ascontiguousarray(weights.reshape(-1, weights.shape[3]).T)
    multipliers, shifts = scaling_of(PORTABLE.multipliers(let))
    total = None if bias is None else bias.reshape(-1).astype(np.int64)
    return Channels(
        weights=rows,
        bias=folded(total, rows, arg_type(let, 0).zero_point),
        multipliers=multipliers,
        shifts=shifts,
    )


register(DepthwiseSmall())
register(Depthwise())
register(DepthwiseInPlaceMve())
