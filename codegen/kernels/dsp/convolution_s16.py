"""CONV_2D and FULLY_CONNECTED on int16 images, on cores with the DSP extension; with an FPU rounded as ONNX
does too.

SMLAD takes two values of an int16 image as they are; only weights are widened, by SXTB16 from a stream.
Sums of 32 bits have to suffice for every image, which weights and bias decide (`fits`); where they do not, or
where a scale is not below a quarter, the portable kernel is bound instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.ir.ops.base.fixed_point import reduced_multiplier
from codegen.ir.ops.base.parameters import has_wide_accumulator
from codegen.ir.ops.rounded.as_onnx import layer_scales
from codegen.kernels.base.c_kernel import ConstantData, FastKernel, arg_type
from codegen.kernels.base.overlap import NOTHING, forward_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import is_clamped
from codegen.kernels.base.tiles import PixelTiling, tiled_below
from codegen.kernels.base.weighted import (
    CONVOLUTION,
    bias_data,
    conv_params,
    one_row,
    rows_params,
    weight_data,
)
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.dsp.price_s16 import Layer, conv_instructions, rows_instructions, tiles
from codegen.kernels.portable.convolution import (
    CONV_2D_S16,
    FULLY_CONNECTED_S16,
    ONNX_CONV_2D_S16,
    ONNX_FULLY_CONNECTED_S16,
    Conv2D,
    DepthwiseConv2D,
    FullyConnected,
)
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rows import safe_distance
from codegen.targets.arm import DSP, ROUNDING_DSP

HEADER = "cg_conv_s16_dsp.h"
LEAST_SHIFT = 17
"""Right shift of 64-bit sums, at least: SMMUL takes the first 16 bits, and one more is left."""
FEW_ROWS = 4
"""Rows from which on a FULLY_CONNECTED is a convolution of 1x1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Channels:
    """Output channels: weights [O, K], and what follows their sums."""

    weights: NDArray[np.int8]
    bias: NDArray[np.int64]
    multipliers: NDArray[np.int64]
    """Multipliers of 15 bits."""
    shifts: NDArray[np.int64]
    """Right shifts; where the multiplier is 0 any does."""
    rounds_even: bool = False
    """Results are rounded as ONNX does: multipliers are the bits of float32 scales, shifts count for
    nothing."""

    @property
    def fits(self) -> bool:
        """True if 32 bits hold every sum, whatever the image, and the short requantization is exact."""
        reach = np.abs(self.bias) + 32768 * np.abs(self.weights.astype(np.int64)).sum(axis=1)
        fits = bool((reach < 1 << 31).all())
        return fits and (self.rounds_even or bool((self.shifts >= LEAST_SHIFT).all()))

    def stream(self) -> LinkedConstant:
        """Constant `stream` of the calls."""
        layout = "by two channels: biases, weights {a0 b0 a1 b1}, requantization"
        rounded = (0, len(self.bias)) if self.rounds_even else None
        return LinkedConstant(role="stream", data=self.packed(), alignment=4, layout=layout, rounded=rounded)

    def packed(self) -> NDArray[np.int32]:
        """The stream of weights that cg_conv_s16_dsp.h describes."""
        count, values = self.weights.shape
        pairs, words = (count + 1) // 2, (values + 1) // 2
        weights = np.zeros((2 * pairs, 2 * words), np.int8)
        weights[:count, :values] = self.weights
        bias, multipliers = np.zeros((2, 2 * pairs), np.int64)
        shifts = np.full(2 * pairs, LEAST_SHIFT, np.int64)
        up = 0 if self.rounds_even else 16
        bias[:count], multipliers[:count], shifts[:count] = self.bias, self.multipliers << up, self.shifts
        stream = np.zeros((pairs, words + 5), np.int32)
        stream[:, :2] = bias.reshape(pairs, 2)
        # [pair, channel, word, value] -> bytes {a0 b0 a1 b1} of each word
        grouped = weights.reshape(pairs, 2, words, 2).transpose(0, 2, 3, 1)
        stream[:, 2 : 2 + words] = np.ascontiguousarray(grouped).reshape(pairs, -1).view("<i4")
        stream[:, 2 + words : 4 + words] = multipliers.reshape(pairs, 2)
        right = (shifts - 16).reshape(pairs, 2)
        stream[:, 4 + words] = right[:, 0] | right[:, 1] << 8
        return stream.reshape(-1)


Weighted = Conv2D | DepthwiseConv2D | FullyConnected


def _channels(let: Let, constants: ConstantData, kernel: Weighted) -> Channels:
    if kernel.operator.rounds_even:
        return _even_channels(let, constants, kernel)
    count = let.var.type.shape[-1]
    multipliers, shifts = kernel.multipliers(let)
    reduced = np.broadcast_to(reduced_multiplier(multipliers), count)
    right = np.broadcast_to(15 - shifts.astype(np.int64), count)
    return Channels(
        weights=_rows(let, constants, kernel),
        bias=bias_data(let, constants),
        multipliers=reduced,
        shifts=np.where(reduced == 0, LEAST_SHIFT, right),
    )


def _even_channels(let: Let, constants: ConstantData, kernel: Weighted) -> Channels:
    scales = np.array(layer_scales(let.call.attrs), np.float32)
    weights = _rows(let, constants, kernel)
    folded = arg_type(let, 0).zero_point * weights.sum(axis=1, dtype=np.int64)
    return Channels(
        weights=weights,
        bias=bias_data(let, constants) - folded,
        multipliers=scales.view(np.int32).astype(np.int64),
        shifts=np.full(len(scales), LEAST_SHIFT, np.int64),
        rounds_even=True,
    )


def _rows(let: Let, constants: ConstantData, kernel: Weighted) -> NDArray[np.int8]:
    return kernel.operator.rows(weight_data(let, constants)).astype(np.int8, copy=False)


class Int16Kernel(FastKernel):
    """Base of the int16 kernels: refusals by type, and the layer by channel."""

    base: str
    """Its name without rounding."""
    function: str
    """Its C function without rounding, and its file."""
    loop: str = "tile_{}s16_dsp.S"
    """File of its loop, with a place for the kind of rounding."""

    def __init__(self, portable: Weighted) -> None:
        self.weighted = self.portable = portable
        operator = portable.operator
        self.rounding = operator.rounding
        self.kernel_set = ROUNDING_DSP if operator.rounds_even else DSP
        self.name = f"{operator.prefix}{self.base}"
        self.symbol = f"cg_{operator.prefix}{self.function}"
        loop = self.loop.format("even_" if operator.rounds_even else "")
        self.sources = (f"kernels/dsp/{loop}", f"kernels/dsp/{operator.prefix}{self.function}.c")

    def channels(self, let: Let, constants: ConstantData) -> Channels:
        """The layer's channels."""
        return _channels(let, constants, self.weighted)

    def other_reason(self, let: Let) -> str | None:
        """Refuse TFLite's sums that wrap at 32 bits, and shapes as `shape_reason` does."""
        if not (self.weighted.operator.rounds_even or has_wide_accumulator(let.call.types)):
            return f"the kernel {self.name} is for sums of 64 bits, the bias is int32"
        return self.shape_reason(let)

    def shape_reason(self, let: Let) -> str | None:
        """Why the shape is not for this kernel, or None."""
        raise NotImplementedError


class TiledConvS16(Int16Kernel):
    """A convolution of int16 images in tiles of four pixels, or of one."""

    function = "conv2d_s16_dsp"

    def window(self, let: Let) -> WindowShape:
        """The layer as a convolution; one row of pixels if nothing but pixels is read."""
        window = self.weighted.operator.window(let)
        batch, height, width, channels = window.image
        return one_row(batch * height * width, channels, window.result[3]) if window.is_pointwise else window

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind a call. Where sums may leave 32 bits, bind the portable kernel."""
        channels = self.channels(let, constants)
        if not channels.fits:
            return self.portable.bind(let, constants, name)
        window = self.window(let)
        values = channels.weights.shape[1]
        layer = Layer(
            channels=len(channels.weights),
            values=values,
            is_clamped=is_clamped(let),
            rounds_even=channels.rounds_even,
        )
        row = tiles(window.result[2])
        pixel_tiles = PixelTiling(rows=window.result[0] * window.result[1], tiles=row)
        pairs = (len(channels.weights) + 1) // 2
        space = Workspace(
            name="pixels",
            size_bytes=(16 if max(row) > 1 else 4) * ((values + 1) // 2),
            reads=float(pixel_tiles.count * pairs),
            writes=float(pixel_tiles.count),
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=self.symbol,
            sources=self.sources,
            headers=(HEADER,),
            argument_alignment=4 if window.image[3] % 2 == 0 else 2,
            reads=(window.reads(window.image[3]),),
            workspaces=(space,),
            constants=(channels.stream(),),
            sharing=forward_sharing(let, 0, tiled_below(window, pixel_tiles)),
            structs=(conv_params(let, window),),
            call_args=(PARAMS, ConstantArg(role="stream"), WorkspaceArg(name="pixels"), ARGUMENT, RESULT),
            instructions=conv_instructions(window, layer),
        )


class DspConvS16(TiledConvS16):
    """CONV_2D, one group."""

    op, base = "CONV_2D", "conv2d_s16_dsp"

    def shape_reason(self, let: Let) -> str | None:
        """Refuse several groups."""
        condition = CONVOLUTION.condition(let)
        return condition and f"the kernel {self.name} is for {condition}"


class DspRowsS16(TiledConvS16):
    """FULLY_CONNECTED of several rows: a convolution of 1x1."""

    op, base = "FULLY_CONNECTED", "fully_connected_rows_s16_dsp"

    def shape_reason(self, let: Let) -> str | None:
        """Refuse few rows of whole words, for which there is another kernel."""
        rows, inputs = _rows_of(let)
        if rows < FEW_ROWS and inputs % 2 == 0:
            return f"the kernel {self.name} is for {FEW_ROWS} rows or more"
        return None


def _rows_of(let: Let) -> tuple[int, int]:
    """(rows, inputs) of a FULLY_CONNECTED."""
    inputs = arg_type(let, 1).shape[1]
    return arg_type(let, 0).elements // inputs, inputs


class DspFullyConnectedS16(Int16Kernel):
    """FULLY_CONNECTED, row by row, straight from the image."""

    op, base, function = "FULLY_CONNECTED", "fully_connected_s16_dsp", "fully_connected_s16_dsp"

    def shape_reason(self, let: Let) -> str | None:
        """Refuse inputs that are no whole words."""
        if _rows_of(let)[1] % 2:
            return f"the kernel {self.name} is for an even number of inputs"
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind a call. Where sums may leave 32 bits, bind the portable kernel."""
        channels = self.channels(let, constants)
        if not channels.fits:
            return self.portable.bind(let, constants, name)
        rows, inputs = _rows_of(let)
        outputs = len(channels.weights)
        layer = Layer(
            channels=outputs,
            values=inputs,
            is_clamped=is_clamped(let),
            rounds_even=channels.rounds_even,
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=self.symbol,
            sources=self.sources,
            headers=(HEADER,),
            argument_alignment=4,
            reads=(float((outputs + 1) // 2),),
            constants=(channels.stream(),),
            sharing=forward_sharing(let, 0, pairwise_below(rows, inputs, outputs)),
            structs=(rows_params(let),),
            call_args=(PARAMS, ConstantArg(role="stream"), ARGUMENT, RESULT),
            instructions=rows_instructions(rows, layer),
        )


def pairwise_below(rows: int, inputs: int, outputs: int) -> int | None:
    """Least safe distance in elements of a FULLY_CONNECTED that reads its row for each pair of outputs."""
    firsts = np.arange(rows, dtype=np.int64)[:, None]
    pairs = np.arange((outputs + 1) // 2, dtype=np.int64)[None, :]
    ends = firsts * outputs + np.minimum(2 * pairs + 2, outputs)
    reads = np.broadcast_to(firsts * inputs, ends.shape).reshape(-1)
    return safe_distance(ends.reshape(-1), np.append(reads[1:], NOTHING))


for _conv, _rows_kernel in (
    (CONV_2D_S16, FULLY_CONNECTED_S16),
    (ONNX_CONV_2D_S16, ONNX_FULLY_CONNECTED_S16),
):
    register(DspConvS16(_conv))
    register(DspRowsS16(_rows_kernel))
    register(DspFullyConnectedS16(_rows_kernel))
