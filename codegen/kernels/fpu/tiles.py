"""Pixels that the float kernels compute together: which, and how far a result may reach into its image.

Pixels of a row whose windows lose no column to the padding go in fours, what is left of them and all others
one by one (runtime_c/include/cg_kernels_fpu.h). A 1x1 convolution without steps takes all pixels as one row.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let, Target
from codegen.ir.ops.base.activation import real_limits
from codegen.kernels.base.c_kernel import ConstantData, FastKernel, constant_data
from codegen.kernels.base.overlap import NOTHING, first_reads
from codegen.kernels.base.result_limits import limit_fields
from codegen.kernels.base.walk import params
from codegen.kernels.base.weighted import WeightedOperator, weight_data
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import CStruct
from codegen.kernels.rows import Axis, safe_distance
from codegen.targets.arm import FLOAT_MVE, FPU
from codegen.targets.families import runs

TILE = 4
"""Pixels computed together."""
BLOCK = 4
"""Channels computed together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """Pixels [start, stop) of a row, computed together; `columns` of taps are inside the image."""

    start: int
    stop: int
    columns: int


def taps_inside(axis: Axis) -> list[int]:
    """Taps of each result inside the image."""
    origins = range(-axis.pad, axis.count * axis.stride - axis.pad, axis.stride)
    places = [[origin + tap * axis.dilation for tap in range(axis.window)] for origin in origins]
    return [sum(0 <= place < axis.extent for place in met) for met in places]


def spans(window: WindowShape) -> list[Span]:
    """Spans of one row, in order; of all pixels where they are one row."""
    if window.is_pointwise:
        count = window.result[0] * window.result[1] * window.result[2]
        return list(_fours(0, count, 1))
    axis = window.axes[1]
    inside = taps_inside(axis)
    first = min(-(-axis.pad // axis.stride), axis.count)
    behind = axis.extent - 1 - axis.reach
    stop = max(first, min(0 if behind < 0 else behind // axis.stride + 1, axis.count))
    left = [Span(start=x, stop=x + 1, columns=inside[x]) for x in range(first)]
    right = [Span(start=x, stop=x + 1, columns=inside[x]) for x in range(stop, axis.count)]
    return [*left, *_fours(first, stop, axis.window), *right]


def _fours(start: int, stop: int, columns: int) -> Iterator[Span]:
    while start < stop:
        end = start + TILE if stop - start >= TILE else start + 1
        yield Span(start=start, stop=end, columns=columns)
        start = end


def tiles(window: WindowShape) -> Iterator[tuple[int, int]]:
    """[first, stop) of the pixels of each tile, row-major through all images, in order."""
    row_spans = spans(window)
    width = row_spans[-1].stop
    for start in range(0, window.result[0] * window.result[1] * window.result[2], width):
        for span in row_spans:
            yield start + span.start, start + span.stop


def product_below(window: WindowShape) -> int | None:
    """Least safe distance in elements, as `row_major_below`, of a convolution: of a tile, the windows are
    read for every four channels, and for every channel that makes no four, then these are written."""
    channels = window.result[3]
    reads = first_reads(window)
    last_group = 1 if channels % BLOCK else BLOCK
    events: list[tuple[int, int]] = []
    for first, stop in tiles(window):
        low = int(reads[first:stop].min())
        early = (stop - 1) * channels + channels - last_group
        events += [(early if channels > last_group else 0, low), (stop * channels, NOTHING)]
    return _distance(events)


def depthwise_below(window: WindowShape) -> int | None:
    """Least safe distance in elements of a depthwise convolution, one output channel an input channel. Of a
    tile, the windows of four channels are read, then their results written, the last four counted back."""
    channels = window.result[3]
    reads = first_reads(window)
    events: list[tuple[int, int]] = []
    groups = [min(start, channels - BLOCK) for start in range(0, channels, BLOCK)]
    for first, stop in tiles(window):
        low = int(reads[first:stop].min())
        for group in groups:
            if low != NOTHING:
                events.append((0, low + group))
            events.append(((stop - 1) * channels + group + BLOCK, NOTHING))
    return _distance(events)


def _distance(events: list[tuple[int, int]]) -> int | None:
    table = np.array(events, np.int64)
    return safe_distance(table[:, 0], table[:, 1])


Reals = NDArray[np.float32]

LOW, HIGH = 1, 2
"""Bits of a clamp's limits: CG_CLAMP_LOW, CG_CLAMP_HIGH."""


class FloatKernel(FastKernel):
    """A kernel on float32: for float Helium, or for a core with an FPU alone. The same C calls other loops
    where there is Helium."""

    operator: WeightedOperator

    @property
    def is_vector(self) -> bool:
        """True if it is for float Helium."""
        return self.kernel_set is FLOAT_MVE

    @property
    def suffix(self) -> str:
        """End of its name in the registry."""
        return "mve" if self.is_vector else "fpu"

    def core_reason(self, target: Target) -> str | None:
        if not runs(target, FPU) and not runs(target, FLOAT_MVE):
            return f"the kernel {self.name} needs a core with an FPU"
        return super().core_reason(target)


def weights_and_bias(operator: WeightedOperator, let: Let, constants: ConstantData) -> tuple[Reals, Reals]:
    """Weights [O, K] and biases [O], zeros where there are none."""
    bias = constant_data(let, 2, constants)
    rows = operator.rows(weight_data(let, constants)).astype(np.float32, copy=False)
    if bias is None:
        return rows, np.zeros(len(rows), np.float32)
    return rows, np.asarray(bias, np.float32).reshape(-1)


def blocks_of(weights: Reals, bias: Reals) -> Reals:
    """Flat stream of whole blocks of four channels: weights value by value, then biases."""
    both = np.concatenate((weights, bias[:, None]), axis=1)
    return both.reshape(-1, BLOCK, both.shape[1]).transpose(0, 2, 1).reshape(-1)


def product_stream(weights: Reals, bias: Reals) -> Reals:
    """Stream of blocks, then of channels that are left one by one, each with its bias behind it."""
    whole = len(weights) // BLOCK * BLOCK
    rest = np.concatenate((weights[whole:], bias[whole:, None]), axis=1)
    return np.concatenate((blocks_of(weights[:whole], bias[:whole]), rest.reshape(-1)))


def half_stream(weights: Reals, bias: Reals) -> NDArray[np.uint16]:
    """Blocks and single channels of `product_stream` by float16; a float32 bias is two halves."""
    halves, count = weights.astype(np.float16).view(np.uint16), weights.shape[1]
    parts: list[NDArray[np.uint16]] = []
    whole = len(weights) // BLOCK * BLOCK
    for start in range(0, whole, BLOCK):
        parts += [halves[start : start + BLOCK].T.reshape(-1), bias[start : start + BLOCK].view(np.uint16)]
    for channel in range(whole, len(weights)):
        parts += [np.pad(halves[channel], (0, count % 2)), bias[channel : channel + 1].view(np.uint16)]
    return np.concatenate(parts)


def depthwise_stream(weights: Reals, bias: Reals) -> Reals:
    """Stream of blocks, the last one counted back from the last channel."""
    count = len(weights)
    order = [min(start, count - BLOCK) + i for start in range(0, count, BLOCK) for i in range(BLOCK)]
    return blocks_of(weights[order], bias[order])


def clamp_of(let: Let) -> int:
    """Limits of a call's activation: LOW | HIGH."""
    low, high = real_limits(let.call.attrs)
    return (LOW if np.isfinite(low) else 0) | (HIGH if np.isfinite(high) else 0)


def limit_count(let: Let) -> int:
    """Number of limits of a call's activation."""
    return clamp_of(let).bit_count()


def conv_params(let: Let, window: WindowShape) -> CStruct:
    """A `cg_conv_params_fpu`."""
    return params(
        "cg_conv_params_fpu",
        ("window", window.fields),
        ("clamp", clamp_of(let)),
        *limit_fields(let),
    )
