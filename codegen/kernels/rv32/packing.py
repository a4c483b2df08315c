"""Weights as the RV32 kernels read them, and the numbers of their requantization.

Layouts are stated in runtime_c/include/cg_kernels_rv32.h, the arithmetic in cg_rv32_parts.h.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let, TensorType
from codegen.ir.ops.base.fixed_point import multiply_by_quantized_multiplier, wrap_int32
from codegen.kernels.base.weighted import CONVOLUTION, WeightedLayer, WeightedOperator
from codegen.targets.families import kernel_set

RV32 = kernel_set("rv32")
HEADER = "cg_kernels_rv32.h"
LEAST_SHIFT, MOST_SHIFT = 1, 21
"""Shifts to the right for which requantization in four instructions is exact and its offset has 32 bits."""
SUM_LIMIT = 2**29
"""Limit of sums, either way."""
FIELD = 2**21
"""Limit of a chunk's sums, which begin at an offset that leaves none negative."""
UNROLLED = 8
"""Values a turn of the loop over a chunk; the sizes of chunks behind the first are multiples."""
GROUP = 4
"""Channels multiplied at once."""
ROWS_OF_TAPS = 3


def scale_reason(let: Let, operator: WeightedOperator) -> str | None:
    """Why a scale is not requantized in four instructions, or None. One that is too small is none: whether
    its results are all the zero point is known by the weights (`fits`)."""
    multipliers, shifts = operator.scaling(let)
    if (shifts[multipliers != 0] > -LEAST_SHIFT).any():
        return f"a scale is not below 2^-{LEAST_SHIFT}"
    return None


def reason_3x3(let: Let, kernel: str) -> str | None:
    """Why `kernel` does not run a convolution: it is for 3x3, stride 1, no dilation, result channels by the
    multiple of four, and scales that are requantized in four instructions."""
    condition = CONVOLUTION.condition(let)
    if condition is not None:
        return f"the kernel {kernel} is for {condition}"
    window = CONVOLUTION.window(let)
    if window.window != (3, 3) or window.stride != (1, 1) or window.dilation != (1, 1):
        return f"the kernel {kernel} is for windows of 3x3, stride 1 and dilation 1"
    if window.result[3] % GROUP:
        return f"the kernel {kernel} is for result channels by the multiple of {GROUP}"
    return scale_reason(let, CONVOLUTION)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Channels:
    """Every output channel, O of them with K weights each, and how their results are made."""

    weights: NDArray[np.int8]
    """[O, K], in the order in which the kernel meets them."""
    bias: NDArray[np.int64]
    """[O], the image's zero point folded in."""
    multipliers: NDArray[np.int64]
    shifts: NDArray[np.int64]
    """[O], to the right."""
    zero_points: NDArray[np.int64]
    """[O]: the result's, or where all weights are 0 the result itself."""
    ends_at_zero: bool
    """The zero point is the least result, so that negative sums all end there."""

    def words(self, offset: int = 0, scale: int = 1) -> NDArray[np.int32]:
        """[O, 4]: CG_CHANNEL_WORDS_RV32, for sums that begin at `offset`, or are `scale` times theirs."""
        columns = (
            2 * scale * (self.bias - offset),
            2 * self.multipliers // scale,
            1 + (1 << self.shifts) + (self.zero_points << (self.shifts + 1)),
            self.shifts + 1,
        )
        return (np.stack(columns, axis=1) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def fits(layer: WeightedLayer) -> bool:
    """True if sums and shift of every channel that depends on the image are in range."""
    is_live = ~_is_constant(layer)
    shifts = -layer.every[1]
    return bool((_reach(layer)[is_live] < SUM_LIMIT).all() and (shifts[is_live] <= MOST_SHIFT).all())


def _reach(layer: WeightedLayer) -> NDArray[np.int64]:
    """A bound on the sums of each channel, either way."""
    products = 128 * np.abs(layer.weights.astype(np.int64)).sum(axis=1)
    return np.abs(layer.folded_bias) + products


def _is_constant(layer: WeightedLayer) -> NDArray[np.bool_]:
    """True for channels whose results are all one: no weights, a multiplier of 0, or sums below half of what
    makes 1."""
    multipliers, shifts = layer.every
    half = np.int64(1) << np.clip(-shifts.astype(np.int64) - 1, 0, 62)
    is_small = (_reach(layer) < half) & (-shifts > MOST_SHIFT)
    return (multipliers == 0) | is_small | ~layer.weights.any(axis=1)


def _constant_results(layer: WeightedLayer, result: TensorType) -> NDArray[np.int64]:
    """Results of the biases alone, one a channel."""
    scaled = multiply_by_quantized_multiplier(wrap_int32(layer.folded_bias), *layer.every)
    return np.clip(scaled + result.zero_point, *result.dtype.limits)


def channels_of(layer: WeightedLayer, result: TensorType) -> Channels:
    """Every channel of a layer that `fits`."""
    is_constant = _is_constant(layer)
    multipliers, shifts = (numbers.astype(np.int64) for numbers in layer.every)
    return Channels(
        weights=layer.weights,
        bias=layer.folded_bias,
        multipliers=np.where(is_constant, 0, multipliers),
        shifts=np.where(is_constant, LEAST_SHIFT, -shifts),
        zero_points=np.where(is_constant, _constant_results(layer, result), result.zero_point),
        ends_at_zero=layer.limits[0] == result.zero_point,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunks:
    """`count` runs of values, or of rows of taps, whose sums have 21 bits: the first one of `first`, others
    of `size`."""

    count: int
    first: int
    size: int
    offset: int
    """First values of the sums, one a channel."""


def chunks_of(weights: NDArray[np.int8]) -> Chunks:
    """The fewest chunks of weights [O, K] whose sums fit, whatever int8 pixels they meet."""
    wide = weights.astype(np.int64)
    high = np.maximum(127 * wide, -128 * wide)
    low = np.minimum(127 * wide, -128 * wide)
    values = weights.shape[1]
    count = 0
    while True:
        count += 1
        size = -(-values // (count * UNROLLED)) * UNROLLED
        first = values - (count - 1) * size
        if first <= 0:
            continue
        starts = [0, *range(first, values, size)]
        offset = int(-np.add.reduceat(low, starts, axis=1).min(initial=0))
        if int(np.add.reduceat(high, starts, axis=1).max(initial=0)) + offset < FIELD:
            return Chunks(count=count, first=first, size=size, offset=offset)


def rows_of_taps(weights: NDArray[np.int8]) -> Chunks | None:
    """Chunks of 3x3 windows by whole rows of taps, counted in these: one, or one row and two, or None."""
    wide = weights.astype(np.int64).reshape(len(weights), ROWS_OF_TAPS, -1)
    high = np.maximum(127 * wide, -128 * wide).sum(axis=2)
    low = np.minimum(127 * wide, -128 * wide).sum(axis=2)
    for rows in (ROWS_OF_TAPS, 1):
        starts = list(range(0, ROWS_OF_TAPS, rows))[:2]
        offset = int(-np.add.reduceat(low, starts, axis=1).min(initial=0))
        if int(np.add.reduceat(high, starts, axis=1).max(initial=0)) + offset < FIELD:
            return Chunks(count=len(starts), first=rows, size=ROWS_OF_TAPS - rows, offset=offset)
    return None


def stream(channels: Channels, chunks: Chunks) -> NDArray[np.int8]:
    """The `stream` of a `cg_products_rv32`."""
    words = channels.words(chunks.count * chunks.offset)
    parts: list[NDArray[np.int8]] = []
    whole = len(words) // GROUP * GROUP
    for start in range(0, whole, GROUP):
        group = slice(start, start + GROUP)
        parts += [channels.weights[group].T.reshape(-1), words[group].reshape(-1).view(np.int8)]
    for single in range(whole, len(words)):
        weights = channels.weights[single]
        parts += [np.pad(weights, (0, -len(weights) % 4)), words[single].view(np.int8)]
    return np.concatenate(parts)
