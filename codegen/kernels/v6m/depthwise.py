"""DEPTHWISE_CONV_2D on ARMv6-M: two rows at a time, channel by channel, through lines of paired pixels."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir import Let
from codegen.kernels.base.c_kernel import ConstantData, FastKernel, row_kernel
from codegen.kernels.base.overlap import NOTHING, forward_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import params
from codegen.kernels.base.weighted import DEPTHWISE, WeightedLayer, output_fields, padding_pixel
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantPointer, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.portable.convolution import DEPTHWISE_IN_PLACE_S8, DEPTHWISE_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rows import safe_distance
from codegen.kernels.v6m.packing import channels_of, packed, padded, stream
from codegen.kernels.v6m.price import depthwise_in_place_instructions, depthwise_instructions
from codegen.targets.arm import V6M

HEADER = "cg_depthwise_v6m.h"
SOURCES = (
    "kernels/v6m/depthwise_parts_v6m.S",
    "kernels/v6m/depthwise_s8_v6m.c",
    "kernels/v6m/requantize_s8_v6m.c",
)
RUN_BYTES = 24
"""Bytes of a cg_dw_run_v6m."""
PARTS = 3
"""Runs of a row of taps where a row's two parts are paired, at most."""
BAND_ROWS = 2
"""Result rows computed together."""


class V6mDepthwiseLines(FastKernel):
    """Depthwise convolution, any window, strides, padding and multiplier; rows may be dilated, columns
    not."""

    op, name, symbol = "DEPTHWISE_CONV_2D", "depthwise_s8_v6m", "cg_depthwise_s8_v6m"
    kernel_set, portable = V6M, DEPTHWISE_S8

    def other_reason(self, let: Let) -> str | None:
        """Refuse dilated columns."""
        window = DEPTHWISE.window(let)
        if window.dilation[1] != 1 and window.window[1] != 1:
            return f"the kernel {self.name} is for columns without dilation"
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind a call. Where two weights of -128 meet, bind the portable kernel."""
        conv = by_column(let, constants)
        if _meets_its_limit(conv):
            return self.portable.bind(let, constants, name)
        window, described = conv.window, channels_of(conv, let.var.type)
        channels = packed(described, lanes=False)
        space = workspace(window, window.result[2], 1, let)
        by_row = row_kernel(let, "cg_depthwise_s8_v6m_row", window)
        if by_row is not None:
            halves = workspace(window, -(-window.result[2] // 2), PARTS, let)
            by_row = replace(by_row, workspace=halves, reads_row_last=True)
        numbers = params(
            "cg_dw_v6m_params",
            ("window", window.fields),
            ("stream", ConstantPointer(role="stream")),
            ("padding", ConstantPointer(role="padding")),
            *output_fields(let),
            ("middle", described.scale.middle),
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=self.symbol,
            sources=SOURCES,
            headers=(HEADER,),
            reads=(_image_reads(window),),
            workspaces=(space,),
            constants=(
                LinkedConstant(
                    role="stream",
                    data=stream(channels),
                    alignment=4,
                    layout="channel by channel: bias, weights column by column, requantization",
                ),
                padding_pixel(let, window.image[3]),
            ),
            sharing=forward_sharing(let, 0, banded_below(window, BAND_ROWS)),
            structs=(numbers,),
            call_args=(PARAMS, WorkspaceArg(name=space.name), ARGUMENT, RESULT),
            instructions=depthwise_instructions(window, channels),
            rows=by_row,
        )


class V6mDepthwiseInPlace(V6mDepthwiseLines):
    """Depthwise convolution whose result replaces its image channel by channel: lines keep pixels to be
    read."""

    name, symbol = "depthwise_s8_v6m_in_place", "cg_depthwise_in_place_s8_v6m"
    portable = DEPTHWISE_IN_PLACE_S8
    is_in_place = True

    def other_reason(self, let: Let) -> str | None:
        """Refuse dilation, and padding above the image with windows that reach back too far."""
        window = DEPTHWISE.window(let)
        if window.dilation != (1, 1) and window.window != (1, 1):
            return f"the kernel {self.name} is for windows without dilation"
        if window.padding.top > max(window.window[0] - 2, 0):
            return f"the kernel {self.name} is for padding above of at most the window's rows less 2"
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        forwards = super().bind(let, constants, name)
        if forwards.in_place is not None:
            return forwards  # the portable kernel
        conv = by_column(let, constants)
        channels = packed(channels_of(conv, let.var.type), lanes=False)
        return replace(
            forwards,
            sharing=(),
            rows=None,
            in_place=0,
            call_args=(PARAMS, WorkspaceArg(name="lines"), RESULT),
            instructions=depthwise_in_place_instructions(conv.window, channels),
        )


def by_column(let: Let, constants: ConstantData) -> WeightedLayer:
    """The layer with its weights channel by channel, [O, taps], column by column of the window."""
    layer = DEPTHWISE.layer(let, constants)
    weights = layer.weights.reshape(-1, *layer.window.window).swapaxes(1, 2)
    return replace(layer, weights=np.ascontiguousarray(weights).reshape(len(weights), -1))


def _meets_its_limit(conv: WeightedLayer) -> bool:
    """True if two neighbouring weights are -128: with pixels of -128 they give 32768, too much for half a
    word."""
    outputs, taps = conv.weights.shape
    even = conv.weights[:, : taps // 2 * 2].reshape(outputs, -1, 2)
    return bool((even == -128).all(axis=2).any())


def columns(window: WindowShape, results: int) -> int:
    """Columns of lines that the windows of `results` neighbours take."""
    return (results - 1) * window.stride[1] + window.window[1]


def workspace(window: WindowShape, results: int, parts: int, let: Let) -> Workspace:
    """Workspace of windows of `results` columns at a time, see runtime_c/include/cg_depthwise_v6m.h."""
    height, taps = window.window[0], math.prod(window.window)
    words = padded(taps) + columns(window, results) * height + taps % 2
    size = RUN_BYTES * parts * height + 4 * words
    turns = window.result[0] * -(-window.result[1] // BAND_ROWS) * window.image[3]
    reads = max(1.0, 4.0 * let.macs / size)
    return Workspace(name="lines", size_bytes=size, reads=reads, writes=max(1.0, float(turns)))


def _image_reads(window: WindowShape) -> float:
    """Reads of each image byte, on average: tap rows inside the image are read from first to last column."""
    rows, across = window.axes
    first, stop = across.span(0, across.count)
    return rows.taps * (stop - first) / (window.image[1] * window.image[2])


def banded_below(window: WindowShape, band_rows: int) -> int | None:
    """Least safe distance in bytes, as `row_major_below`, of a kernel that goes through the result in bands
    of rows, in these channel by channel of the image: of each it reads all windows, then writes all results
    that it feeds."""
    batch, height, width, depth = window.image
    down, across = window.axes
    outputs = window.result[3]
    outputs_per_channel = outputs // depth
    first, stop = across.span(0, across.count)
    events: list[tuple[int, int]] = []
    for image in range(batch):
        for top in range(0, down.count, band_rows):
            bottom = min(top + band_rows, down.count)
            first_row, end_row = down.span(top, bottom)
            reads = ((image * height + first_row) * width + first) * depth
            last = ((image * down.count + bottom) * across.count - 1) * outputs
            for channel in range(depth):
                if first_row < end_row and first < stop:
                    events.append((0, reads + channel))
                events.append((last + (channel + 1) * outputs_per_channel, NOTHING))
    table = np.array(events, np.int64)
    return safe_distance(table[:, 0], table[:, 1])


register(V6mDepthwiseLines())
register(V6mDepthwiseInPlace())
