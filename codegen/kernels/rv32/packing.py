"""Weights as the RV32 kernels read them, and the numbers of their requantization.

Layouts are stated in runtime_c/include/cg_kernels_rv32.h, the arithmetic in cg_rv32_parts.h.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let, TensorType
from codegen.kernels.base.weighted import WeightedLayer, WeightedOperator
from codegen.targets.families import kernel_set

RV32 = kernel_set("rv32")
HEADER = "cg_kernels_rv32.h"
LEAST_SHIFT, MOST_SHIFT = 1, 21
"""Shifts to the right for which requantization in four instructions is exact and its offset has 32 bits."""
SUM_LIMIT = 2**29
"""Sums are below, either way."""
FIELD = 2**21
"""The sums of a chunk are below, once they begin at an offset that leaves none negative."""
UNROLLED = 8
"""Values of a turn of the loop over them: chunks behind the first are multiples."""
GROUP = 4
"""Channels multiplied at once."""


def scale_reason(let: Let, operator: WeightedOperator) -> str | None:
    """Why a scale is not requantized in four instructions, or None."""
    multipliers, shifts = operator.scaling(let)
    right = -shifts[multipliers != 0]
    if right.size and (right.min() < LEAST_SHIFT or right.max() > MOST_SHIFT):
        return f"a scale is not from 2^-{MOST_SHIFT + 1} to below 2^-{LEAST_SHIFT}"
    return None


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
    zero_point: int
    ends_at_zero: bool
    """The zero point is the least result, so that negative sums all end there."""

    def words(self, offset: int = 0, scale: int = 1) -> NDArray[np.int32]:
        """[O, 4]: CG_CHANNEL_WORDS_RV32, for sums that begin at `offset`, or are `scale` times theirs."""
        columns = (
            2 * scale * (self.bias - offset),
            2 * self.multipliers // scale,
            1 + (1 << self.shifts) + (self.zero_point << (self.shifts + 1)),
            self.shifts + 1,
        )
        return (np.stack(columns, axis=1) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def highest_sum(layer: WeightedLayer) -> int:
    """A bound on all sums of a layer, either way."""
    reach = 128 * np.abs(layer.weights.astype(np.int64)).sum(axis=1)
    return int((np.abs(layer.folded_bias) + reach).max())


def channels_of(layer: WeightedLayer, result: TensorType) -> Channels:
    """Every channel of a layer whose sums are below `SUM_LIMIT`."""
    multipliers, shifts = layer.every
    # A multiplier of 0 gives the zero point whatever the shift is.
    right = np.where(multipliers == 0, LEAST_SHIFT, -shifts.astype(np.int64))
    return Channels(
        weights=layer.weights,
        bias=layer.folded_bias,
        multipliers=multipliers.astype(np.int64),
        shifts=right,
        zero_point=result.zero_point,
        ends_at_zero=layer.limits[0] == result.zero_point,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunks:
    """`count` runs of values whose sums have 21 bits, the first one of `first`, others of `size`."""

    count: int
    first: int
    size: int
    offset: int
    """What sums begin at, of each."""


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
