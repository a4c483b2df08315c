"""DEPTHWISE_CONV_2D, 3x3, on cores with the DSP extension: through int16 lines of four channels.

All depthwise kernels of the DSP extension share when they can run, and weights and numbers by channel.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.ir.ops import DepthwiseConvAttrs
from codegen.ir.ops.base.fixed_point import wrap_int32
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.convolution import weight_zero_point
from codegen.kernels.base.c_kernel import FastKernel, PortableKernel, arg_type, row_kernel
from codegen.kernels.base.overlap import forward_sharing, striped_below
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.base.weighted import (
    DEPTHWISE,
    QLINEAR_DEPTHWISE,
    WeightedOperator,
    bias_data,
    weight_data,
)
from codegen.kernels.base.window import WindowShape
from codegen.kernels.block import RowKernel
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantPointer, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.dsp.packing import channel_multipliers, folded_bias, long_reason, right_shifts
from codegen.kernels.portable.convolution import DEPTHWISE_IN_PLACE_S8, DEPTHWISE_S8_OR_U8
from codegen.kernels.portable.qlinear.weighted import QLINEAR_DEPTHWISE_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import DSP, ROUNDING_DSP

GROUP = 4
"""Channels computed together."""
HEADER = "cg_depthwise_dsp.h"


class DspDepthwise(FastKernel):
    """Shared by all: multiplier 1, at least four channels, scales and a range for which the short
    requantization is exact."""

    op, kernel_set = "DEPTHWISE_CONV_2D", DSP
    operator: WeightedOperator = DEPTHWISE
    portable: PortableKernel = DEPTHWISE_S8_OR_U8
    """It also runs what only the data shows to be out of range."""

    def other_reason(self, let: Let) -> str | None:
        """Several results a channel, few channels, or a scale or range that takes the long way."""
        attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
        if attrs.multiplier != 1 or let.var.type.shape[3] < GROUP:
            return f"fast depthwise kernels are for multiplier 1 and at least {GROUP} channels"
        return long_reason(let, attrs.activation, self.operator)


def alignment(window: WindowShape) -> int:
    """Of image and result in bytes: pixels are read as words where all of them are aligned."""
    return 4 if window.image[3] % 4 == 0 else 1


@dataclass(frozen=True, kw_only=True, slots=True)
class ChannelNumbers:
    """By channel: weights [channel, tap], bias with the image's zero point folded in, requantization."""

    weights: NDArray[np.int64]
    bias: NDArray[np.int64]
    multipliers: NDArray[np.int32]
    right_shifts: NDArray[np.int32]


def channel_numbers(let: Let, constants: Mapping[str, np.ndarray]) -> ChannelNumbers | None:
    """The numbers of `let`, None if an accumulator could grow too large for the short requantization."""
    stored = DEPTHWISE.rows(weight_data(let, constants)).astype(np.int64)
    weights = stored - weight_zero_point(arg_type(let, 1))
    folded = folded_bias(bias_data(let, constants), weights, arg_type(let, 0).zero_point)
    if folded is None:
        return None
    multipliers, shifts = channel_multipliers(let, DEPTHWISE)
    return ChannelNumbers(
        weights=weights,
        bias=folded,
        multipliers=multipliers,
        right_shifts=right_shifts(multipliers, shifts),
    )


def int16_pairs(values: NDArray[np.int64]) -> NDArray[np.int32]:
    """Words of two int16 along the last axis, the first one in the low half."""
    return np.ascontiguousarray(values.astype("<i2")).view("<i4")[..., 0]


BAND_ROWS = 4
"""Result rows computed together at stride 1."""
IN_PLACE_ROWS = 2
"""Result rows computed together where they replace the image."""
BAND_LINES, IN_PLACE_LINES, ROW_LINES = 6, 4, 3
"""Image rows in the workspace: for a band, for one in place, for one row."""
LIMIT_BYTES = {BAND_LINES: 2048, ROW_LINES: 1248}
"""Workspaces are no larger, by lines: wider images are computed in stripes of columns."""
SOURCES = ("kernels/dsp/depthwise3x3_parts_dsp.S", "kernels/dsp/depthwise3x3_s8_dsp.c")
EVEN_SOURCES = (
    SOURCES[0],
    "kernels/dsp/depthwise3x3_even_parts_dsp.S",
    "kernels/dsp/qlinear_depthwise3x3_s8_dsp.c",
)
"""The first for what brings pixels into lines."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tile:
    """Columns of the result at a time; bytes of one channel's lines for them, and of all in the workspace."""

    columns: int
    plane_bytes: int
    workspace_bytes: int

    @property
    def fields(self) -> Fields:
        """Fields of a `cg_dw_tile`."""
        return (("columns", self.columns), ("plane_bytes", self.plane_bytes))


def words(columns: int, stride: int) -> int:
    """Words of a line that so many columns of results read, a pair at a time: `words_of` in C."""
    return stride * -(-columns // 2) + 1


def band_tile(window: WindowShape) -> Tile:
    """For bands of rows in pairs; of an image with fewer rows the last lines are not there."""
    height = min(BAND_ROWS, window.result[1])
    missing = BAND_LINES - (2 * -(-height // 2) + 2)
    return _tile(window, BAND_LINES, missing)


def in_place_tile(window: WindowShape) -> Tile:
    """For bands of two rows as wide as the image."""
    return _tile(window, IN_PLACE_LINES, 0, whole=True)


def row_tile(window: WindowShape) -> Tile:
    """For single rows."""
    return _tile(window, ROW_LINES, 0)


def _tile(window: WindowShape, lines: int, missing_lines: int, *, whole: bool = False) -> Tile:
    """The fewest stripes, as even as multiples of four are, whose lines do not take too many bytes."""
    width, stripes = window.result[2], 1
    while True:
        columns = -(-width // stripes // 4) * 4
        plane_bytes = 4 * lines * words(min(columns, width), window.stride[1])
        workspace_bytes = GROUP * plane_bytes - 4 * missing_lines
        if whole or columns == 4 or workspace_bytes <= LIMIT_BYTES[lines]:
            return Tile(columns=columns, plane_bytes=plane_bytes, workspace_bytes=workspace_bytes)
        stripes += 1


class Depthwise3x3(DspDepthwise):
    """3x3, stride 1 or 2, multiplier 1, at least four channels."""

    name = "depthwise3x3_s8_dsp"
    prefix = ""
    """Of its C functions' names, behind `cg_`."""
    sources: tuple[str, ...] = SOURCES

    def packed(self, let: Let, constants: Mapping[str, np.ndarray]) -> LinkedConstant | None:
        """CG_DW3X3_WORDS of every channel, None if an accumulator could grow too large."""
        return packed(let, constants)

    def row(self, let: Let, window: WindowShape) -> RowKernel | None:
        """One row of it in a block."""
        found = row_kernel(let, f"cg_{self.prefix}depthwise3x3_s8_dsp_row", window)
        if found is None:
            return None
        space = Workspace(name="lines", size_bytes=row_tile(window).workspace_bytes)
        return replace(found, workspace=space, reads_row_last=True)

    def other_reason(self, let: Let) -> str | None:
        """As `DspDepthwise`; another window or stride."""
        reason = super().other_reason(let)
        if reason is not None:
            return reason
        window = DEPTHWISE.window(let)
        if window.window != (3, 3) or window.dilation != (1, 1) or window.padding.left > 1:
            return f"the kernel {self.name} is for 3x3 windows, dilation 1, at most one column of padding"
        if window.stride not in ((1, 1), (2, 2)):
            return f"the kernel {self.name} is for strides 1 and 2"
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`; where the weights let an accumulator grow too large, the portable kernel."""
        channels = self.packed(let, constants)
        if channels is None:
            return self.portable.bind(let, constants, name)
        window = DEPTHWISE.window(let)
        is_banded = window.stride == (1, 1)
        tile = band_tile(window) if is_banded else row_tile(window)
        rows = BAND_ROWS if is_banded else 1
        below = striped_below(window, rows=rows, columns=tile.columns, channels=GROUP)
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=f"cg_{self.prefix}depthwise3x3_{'' if is_banded else 'rows_'}s8_dsp",
            sources=self.sources,
            headers=(HEADER,),
            argument_alignment=alignment(window),
            workspaces=(Workspace(name="lines", size_bytes=tile.workspace_bytes),),
            constants=(channels,),
            sharing=forward_sharing(let, 0, below),
            structs=(params("cg_dw3x3_params", *_fields(let, window, band_tile(window))),),
            call_args=(*_LEADING, ARGUMENT, RESULT),
            instructions=self.predicted(window, tile, rows),
            rows=self.row(let, window),
        )

    def predicted(self, window: WindowShape, tile: Tile, rows: int) -> int:
        """Instructions of a call."""
        return _instructions(window, tile, rows)


class Depthwise3x3InPlace(Depthwise3x3):
    """The same where the result replaces its image: stride 1, same size, no stripes."""

    name = "depthwise3x3_s8_dsp_in_place"
    portable = DEPTHWISE_IN_PLACE_S8
    is_in_place = True

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Depthwise3x3.bind`."""
        channels = self.packed(let, constants)
        if channels is None:
            return self.portable.bind(let, constants, name)
        window = DEPTHWISE.window(let)
        tile = in_place_tile(window)
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=f"cg_{self.prefix}depthwise3x3_in_place_s8_dsp",
            sources=self.sources,
            headers=(HEADER,),
            argument_alignment=alignment(window),
            workspaces=(Workspace(name="lines", size_bytes=tile.workspace_bytes),),
            constants=(channels,),
            structs=(params("cg_dw3x3_params", *_fields(let, window, tile)),),
            call_args=(*_LEADING, RESULT),
            instructions=self.predicted_in_place(window, tile),
            in_place=0,
        )

    def predicted_in_place(self, window: WindowShape, tile: Tile) -> int:
        """Instructions of a call."""
        return _in_place_instructions(window, tile)


_LEADING = (PARAMS, WorkspaceArg(name="lines"))


class Depthwise3x3Even(Depthwise3x3):
    """Rounded as ONNX does."""

    name, prefix = "qlinear_depthwise3x3_s8_dsp", "qlinear_"
    op, operator, kernel_set = QLINEAR_DEPTHWISE.op, QLINEAR_DEPTHWISE, ROUNDING_DSP
    portable = QLINEAR_DEPTHWISE_S8
    sources = EVEN_SOURCES

    def packed(self, let: Let, constants: Mapping[str, np.ndarray]) -> LinkedConstant:
        """See `cg_qlinear_depthwise3x3_s8_dsp`: sums wrap as in any other kernel."""
        weights = DEPTHWISE.rows(weight_data(let, constants)).astype(np.int64)
        bias = bias_data(let, constants) - arg_type(let, 0).zero_point * weights.sum(axis=1)
        multipliers, shifts = self.operator.scaling(let)
        table = _table(weights, wrap_int32(bias), multipliers, -shifts)
        return replace(table, rounded=(0, len(weights)))

    def predicted(self, window: WindowShape, tile: Tile, rows: int) -> int:
        """Instructions of a call."""
        return super().predicted(window, tile, rows) + _rounding_instructions(window)


class Depthwise3x3InPlaceEven(Depthwise3x3Even, Depthwise3x3InPlace):
    """The same where the result replaces its image."""

    name = "qlinear_depthwise3x3_s8_dsp_in_place"
    portable = QLINEAR_DEPTHWISE_S8

    def other_reason(self, let: Let) -> str | None:
        """As `Depthwise3x3`; a result that is not as large as its image."""
        attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
        if attrs.stride != (1, 1) or arg_type(let, 0).shape != let.var.type.shape:
            return "only with stride 1 and a result as large as the image"
        return super().other_reason(let)

    def predicted_in_place(self, window: WindowShape, tile: Tile) -> int:
        """Instructions of a call."""
        return super().predicted_in_place(window, tile) + _rounding_instructions(window)


def packed(let: Let, constants: Mapping[str, np.ndarray]) -> LinkedConstant | None:
    """CG_DW3X3_WORDS of every channel, None if an accumulator could grow too large."""
    numbers = channel_numbers(let, constants)
    if numbers is None:
        return None
    return _table(2 * numbers.weights, 2 * numbers.bias, numbers.multipliers, numbers.right_shifts)


def _table(
    weights: NDArray[np.int64],
    bias: NDArray[np.int64],
    multipliers: NDArray[np.int32],
    right_shifts: NDArray[np.int32],
) -> LinkedConstant:
    taps = weights.reshape(-1, 3, 3)
    pairs = np.stack((int16_pairs(taps[:, :, :2]), int16_pairs(taps[:, :, 1:])), axis=2)
    columns = (pairs.reshape(-1, 6), bias[:, None], multipliers[:, None], right_shifts[:, None])
    table = np.concatenate(columns, axis=1).astype(np.int32)
    return LinkedConstant(
        role="channels",
        data=table.reshape(-1),
        alignment=4,
        layout="channel by channel: weights in pairs of 16 bits, bias, requantization",
    )


def _fields(let: Let, window: WindowShape, band: Tile) -> Fields:
    return (
        ("window", window.fields),
        ("channels", ConstantPointer(role="channels")),
        ("in_zero", arg_type(let, 0).zero_point),
        ("out_zero", let.var.type.zero_point),
        ("band", band.fields),
        ("line", row_tile(window).fields),
    )


def _rounding_instructions(window: WindowShape) -> int:
    """What rounding as ONNX does takes beyond the short way: 5 for four results, which lie in two columns and
    two rows."""
    batch, height, width, depth = window.result
    return batch * depth * 5 * -(-height // 2) * -(-width // 2)


def _instructions(window: WindowShape, tile: Tile, rows: int) -> int:
    """Predicted for a call: lines widened and results computed, by stripe, band, group and channel."""
    batch, height, width, depth = window.result
    stride, groups = window.stride[0], -(-depth // GROUP)
    down = window.axes[0]
    total = 0
    for left in range(0, width, tile.columns):
        columns = min(tile.columns, width - left)
        pairs = words(columns, stride)
        for top in range(0, height, rows):
            bottom = min(top + rows, height)
            first, end = down.span(top, bottom)
            lines, padding = end - first, (bottom - top - 1) * stride + 3 - (end - first)
            widened = lines * (36 + pairs * (15 if depth % GROUP == 0 else 21)) + padding * (24 + 6 * pairs)
            each = 40 + -(-columns // 4) * 64
            if rows > 1:
                each = 19 + -(-(bottom - top) // 2) * (28 + 12 * (columns % 2) + -(-columns // 2) * 61)
            total += 150 + groups * (50 + widened) + depth * each
    return batch * total


def _in_place_instructions(window: WindowShape, tile: Tile) -> int:
    """Predicted for a call: every image row is widened once, two of four lines are kept."""
    batch, height, width, depth = window.result
    groups, pairs = -(-depth // GROUP), words(width, 1)
    widened = (height + 2) * (36 + pairs * (15 if depth % GROUP == 0 else 21))
    bands = -(-height // IN_PLACE_ROWS)
    each = 19 + 28 + 12 * (width % 2) + -(-width // 2) * 61
    return batch * groups * (widened + bands * (85 + 28 * pairs + GROUP * each))


register(Depthwise3x3Even())
register(Depthwise3x3InPlaceEven())
register(Depthwise3x3())
register(Depthwise3x3InPlace())
