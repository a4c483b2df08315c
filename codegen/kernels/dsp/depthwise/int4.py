"""DEPTHWISE_CONV_2D, 3x3, of int4 weights on cores with the DSP extension.

Through lines: the channels of a group become words of int16 each time that the group's results are computed;
the loops that multiply are those of int8. Tap by tap: nibbles are factors where they lie.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.kernels.base.registry import register
from codegen.kernels.base.weighted import DEPTHWISE
from codegen.kernels.base.window import WindowShape
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.dsp.depthwise.channels import GROUP, ChannelNumbers, channel_numbers, ends_at_zero
from codegen.kernels.dsp.depthwise.stripes import IN_PLACE_ROWS, ColumnTile
from codegen.kernels.dsp.depthwise.taps import UNROLLED_TAPS, DepthwiseNarrow
from codegen.kernels.dsp.depthwise.window3x3 import (
    LEAST_SOURCES,
    SOURCES,
    Depthwise3x3,
    Depthwise3x3InPlace,
)

WIDENING = "kernels/dsp/depthwise3x3_widen_s4_dsp.S"
WIDENED = 148
"""Instructions to widen the weights of a group, the call included."""


class Depthwise3x3Int4(Depthwise3x3):
    """3x3 depthwise convolution with int4 weights: 14 bytes of constants a channel instead of 36."""

    base = "depthwise3x3_s4_dsp"
    is_int4 = True

    def symbol(self, let: Let, form: str = "") -> str:
        return super().symbol(let, form).replace("_s8_", "_s4_")

    def sources(self, let: Let) -> tuple[str, ...]:
        *loops, text = LEAST_SOURCES if ends_at_zero(let) else SOURCES
        return (*loops, WIDENING, text.replace("_s8_", "_s4_"))

    def packed(self, let: Let, constants: Mapping[str, np.ndarray]) -> LinkedConstant | None:
        """CG_DW3X3_S4_WORDS words for every four channels, None if an accumulator could grow too large."""
        numbers = channel_numbers(let, constants)
        if numbers is None:
            return None
        return LinkedConstant(
            role="channels",
            data=packed_int4(numbers),
            alignment=4,
            layout="by four channels: biases, multipliers, weights in nibbles, shifts, ninth weights",
        )

    def predicted(self, window: WindowShape, tile: ColumnTile, rows: int, *, saved: bool) -> int:
        batch, height, width, depth = window.result
        times = batch * -(-height // rows) * -(-width // tile.columns) * -(-depth // GROUP)
        return super().predicted(window, tile, rows, saved=saved) + times * WIDENED


class Depthwise3x3InPlaceInt4(Depthwise3x3Int4, Depthwise3x3InPlace):
    """3x3 depthwise convolution with int4 weights whose result replaces its image."""

    base = "depthwise3x3_s4_dsp_in_place"
    weighted = Depthwise3x3InPlace.weighted

    def predicted_in_place(self, let: Let) -> int:
        batch, height, _, depth = DEPTHWISE.window(let).result
        times = batch * -(-height // IN_PLACE_ROWS) * -(-depth // GROUP)
        return super().predicted_in_place(let) + times * WIDENED


def packed_int4(numbers: ChannelNumbers) -> NDArray[np.int32]:
    """Words by group of four channels, the last group filled up with zeros: see CG_DW3X3_S4_WORDS."""
    count = len(numbers.bias)
    missing = -count % GROUP

    def grouped(values: NDArray[np.int32] | NDArray[np.int64]) -> NDArray[np.int64]:
        widths = ((0, missing), *(((0, 0),) * (values.ndim - 1)))
        return np.pad(values.astype(np.int64), widths).reshape(-1, GROUP, *values.shape[1:])

    nibbles = grouped(numbers.weights) & 15
    eight = (nibbles[:, :, :8] << 4 * np.arange(8)).sum(axis=2)
    bytes_ = (grouped(numbers.right_shifts - 1) << 8 * np.arange(GROUP)).sum(axis=1, keepdims=True)
    ninth = (nibbles[:, :, 8] << 4 * np.arange(GROUP)).sum(axis=1, keepdims=True)
    parts = (2 * grouped(numbers.bias), grouped(numbers.multipliers), eight, bytes_, ninth)
    return np.concatenate(parts, axis=1).reshape(-1).astype(np.uint32).view(np.int32)


class DepthwiseTapsInt4(DepthwiseNarrow):
    """Windows of nine taps, channels by fours: 17 bytes of constants a channel instead of 30."""

    base = "depthwise_taps_s4_dsp"
    loop = "depthwise_taps_parts_s4_dsp.S"
    is_int4 = True

    def packed(self, numbers: ChannelNumbers) -> NDArray[np.int32]:
        nibbles = (numbers.weights & 15).reshape(-1, GROUP, UNROLLED_TAPS)
        # Channel c of a group in nibble 3 - c of a half, the first of two taps in the lower one.
        halves = (nibbles << 4 * (3 - np.arange(GROUP))[:, None]).sum(axis=1)
        ninth = nibbles[:, :, -1]
        pairs = halves[:, 0:-1:2] | halves[:, 1::2] << 16
        last = (ninth[:, 0] << 12) | (ninth[:, 1] << 8) | (ninth[:, 2] << 28) | (ninth[:, 3] << 24)
        scaling = np.stack((numbers.multipliers, numbers.right_shifts), axis=1).astype(np.int64)
        parts = (
            pairs,
            last[:, None],
            2 * numbers.bias.reshape(-1, GROUP),
            scaling.reshape(-1, 2 * GROUP),
        )
        return np.concatenate(parts, axis=1).reshape(-1).astype(np.uint32).view(np.int32)

    def group_instructions(self, window: WindowShape, *, is_least: bool) -> int:
        return INT4_GROUP


INT4_GROUP = 120
"""Instructions of depthwise_taps_parts_s4_dsp.S for four channels of a pixel."""

register(DepthwiseTapsInt4())
register(Depthwise3x3Int4())
register(Depthwise3x3InPlaceInt4())
