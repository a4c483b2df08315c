"""DEPTHWISE_CONV_2D, 3x3, on cores with the DSP extension: through int16 lines of four channels."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir import Let
from codegen.ir.ops import DepthwiseConvAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import arg_type, row_kernel
from codegen.kernels.base.overlap import forward_sharing, striped_below
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.base.weighted import DEPTHWISE, WeightedOperator
from codegen.kernels.base.window import WindowShape
from codegen.kernels.block import RowKernel
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantPointer, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.dsp.depthwise.channels import (
    GROUP,
    HEADER,
    OWN_KERNEL,
    ChannelNumbers,
    DspDepthwise,
    alignment,
    channel_numbers,
    ends_at_zero,
    has_int4,
    int16_pairs,
    lines_reason,
)
from codegen.kernels.dsp.depthwise.stripes import (
    BAND_ROWS,
    ColumnTile,
    band_instructions,
    band_tile,
    in_place_instructions,
    in_place_tile,
    rounding_instructions,
    row_tile,
)
from codegen.kernels.portable.convolution import DEPTHWISE_IN_PLACE_S8, ONNX_DEPTHWISE_S8
from codegen.kernels.primfunc import PrimFunc

SOURCES = ("kernels/dsp/depthwise3x3_parts_dsp.S", "kernels/dsp/depthwise3x3_s8_dsp.c")
EVEN_SOURCES = (
    SOURCES[0],
    "kernels/dsp/depthwise3x3_even_parts_dsp.S",
    "kernels/dsp/qlinear_depthwise3x3_s8_dsp.c",
)
"""Sources of the kernel that rounds as ONNX does; the first one brings pixels into lines."""
LEAST_SOURCES = (
    SOURCES[0],
    "kernels/dsp/depthwise3x3_least_parts_dsp.S",
    "kernels/dsp/depthwise3x3_least_s8_dsp.c",
)


class Depthwise3x3(DspDepthwise):
    """Depthwise convolution of 3x3, stride 1 or 2, multiplier 1, at least four channels."""

    base = "depthwise3x3_s8_dsp"
    is_int4 = False
    """Its weights are int4 instead of int8."""

    def symbol(self, let: Let, form: str = "") -> str:
        """Name of its C function: where nothing is less than the zero point, the one that saves an
        instruction."""
        least = "least_" if self.saves_halves(let) else ""
        return f"cg_{self.operator.prefix}depthwise3x3_{least}{form}s8_dsp"

    def saves_halves(self, let: Let) -> bool:
        """True if halves of sums below zero do not count."""
        return ends_at_zero(let) and not self.rounds_even

    def sources(self, let: Let) -> tuple[str, ...]:
        """Files that define the C function."""
        if self.rounds_even:
            return EVEN_SOURCES
        return LEAST_SOURCES if ends_at_zero(let) else SOURCES

    def packed(self, let: Let, constants: Mapping[str, np.ndarray]) -> LinkedConstant | None:
        """CG_DW3X3_WORDS of every channel, None if an accumulator could grow too large."""
        return packed(channel_numbers(let, constants, self.operator), self.operator)

    def row(self, let: Let, window: WindowShape) -> RowKernel | None:
        """Row kernel for blocks: one row of the result."""

        def predict(part: WindowShape) -> int:
            return self.predicted(part, row_tile(window), 1, saved=self.saves_halves(let))

        rows = row_kernel(let, f"{self.symbol(let)}_row", window, predict)
        if rows is None:
            return None
        space = Workspace(name="lines", size_bytes=row_tile(window).workspace_bytes)
        return replace(rows, workspace=space, reads_row_last=True)

    def other_reason(self, let: Let) -> str | None:
        """Refuse what `DspDepthwise` refuses, another window or stride, weights of another width."""
        reason = super().other_reason(let) or lines_reason(let, self.name)
        if reason is None and has_int4(let) != self.is_int4:
            return "the weights are not int4" if self.is_int4 else OWN_KERNEL
        return reason

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind a call. Where weights could overflow an accumulator, bind the portable kernel."""
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
            symbol=self.symbol(let, "" if is_banded else "rows_"),
            sources=self.sources(let),
            headers=(HEADER,),
            argument_alignment=alignment(window),
            workspaces=(Workspace(name="lines", size_bytes=tile.workspace_bytes),),
            constants=(channels,),
            sharing=forward_sharing(let, 0, below),
            structs=(params("cg_dw3x3_params", *fields(let, window, band_tile(window), self.operator)),),
            call_args=(*_LEADING, ARGUMENT, RESULT),
            instructions=self.predicted(window, tile, rows, saved=self.saves_halves(let)),
            rows=self.row(let, window),
        )

    def predicted(self, window: WindowShape, tile: ColumnTile, rows: int, *, saved: bool) -> int:
        """Predicted instructions of a call in bands of `rows` rows; `saved`: one fewer a result."""
        more = rounding_instructions(window) if self.rounds_even else 0
        return band_instructions(window, tile, rows, saved=saved) + more


class Depthwise3x3InPlace(Depthwise3x3):
    """3x3 depthwise convolution whose result replaces its image: stride 1, same size, no stripes."""

    base = "depthwise3x3_s8_dsp_in_place"
    weighted = DEPTHWISE_IN_PLACE_S8
    is_in_place = True

    def other_reason(self, let: Let) -> str | None:
        """Refuse what `Depthwise3x3` refuses, and a result that is not as large as its image."""
        attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
        if attrs.stride != (1, 1) or arg_type(let, 0).shape != let.var.type.shape:
            return "only with stride 1 and a result as large as the image"
        return super().other_reason(let)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        channels = self.packed(let, constants)
        if channels is None:
            return self.portable.bind(let, constants, name)
        window = DEPTHWISE.window(let)
        tile = in_place_tile(window)
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=self.symbol(let, "in_place_"),
            sources=self.sources(let),
            headers=(HEADER,),
            argument_alignment=alignment(window),
            workspaces=(Workspace(name="lines", size_bytes=tile.workspace_bytes),),
            constants=(channels,),
            structs=(params("cg_dw3x3_params", *fields(let, window, tile, self.operator)),),
            call_args=(*_LEADING, RESULT),
            instructions=self.predicted_in_place(let),
            in_place=0,
        )

    def predicted_in_place(self, let: Let) -> int:
        """Predicted instructions of a call that replaces its image."""
        window = DEPTHWISE.window(let)
        more = rounding_instructions(window) if self.rounds_even else 0
        return in_place_instructions(window, saved=self.saves_halves(let)) + more


_LEADING = (PARAMS, WorkspaceArg(name="lines"))


def packed(numbers: ChannelNumbers | None, operator: WeightedOperator = DEPTHWISE) -> LinkedConstant | None:
    """CG_DW3X3_WORDS of every channel, None if an accumulator could grow too large.

    For TFLite's rounding weights and biases are doubled.
    """
    if numbers is None:
        return None
    times = 1 if operator.rounds_even else 2
    taps = times * numbers.weights.reshape(-1, 3, 3)
    pairs = np.stack((int16_pairs(taps[:, :, :2]), int16_pairs(taps[:, :, 1:])), axis=2)
    scaling = (times * numbers.bias, numbers.multipliers, numbers.right_shifts + 1 - times)
    columns = (pairs.reshape(-1, 6), *(values[:, None] for values in scaling))
    table = np.concatenate(columns, axis=1).astype(np.int32)
    return LinkedConstant(
        role="channels",
        data=table.reshape(-1),
        alignment=4,
        layout="channel by channel: weights in pairs of 16 bits, bias, requantization",
        rounded=(0, len(taps)) if operator.rounds_even else None,
    )


def fields(let: Let, window: WindowShape, band: ColumnTile, operator: WeightedOperator) -> Fields:
    """Fields of a `cg_dw3x3_params`."""
    zero = let.var.type.zero_point
    return (
        ("window", window.fields),
        ("channels", ConstantPointer(role="channels")),
        ("in_zero", arg_type(let, 0).zero_point),
        ("out_zero", zero if operator.rounds_even else 2 * zero + 1),
        ("band", band.fields),
        ("line", row_tile(window, planes=min(GROUP, window.image[3])).fields),
    )


register(Depthwise3x3(ONNX_DEPTHWISE_S8))
register(Depthwise3x3InPlace(ONNX_DEPTHWISE_S8))
register(Depthwise3x3())
register(Depthwise3x3InPlace())
