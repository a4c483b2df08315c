"""DEPTHWISE_CONV_2D, any window, on cores with the DSP extension: four channels, tap by tap."""

import math
from collections import Counter
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.kernels.base.c_kernel import row_kernel
from codegen.kernels.base.overlap import forward_sharing, striped_below
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.base.weighted import DEPTHWISE, padding_pixel
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ConstantPointer
from codegen.kernels.contract import LinkedConstant
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
from codegen.kernels.portable.convolution import DEPTHWISE_S8, ONNX_DEPTHWISE_S8, DepthwiseConv2D
from codegen.kernels.primfunc import PrimFunc

UNROLLED_TAPS = 9
NARROW_GROUP = 121
"""Instructions of depthwise_narrow_parts_dsp.S for four channels of a pixel."""
MOST_TAPS = 49
"""Taps of a window, at most: CG_DW_MOST_TAPS."""


def has_own_kernel(let: Let) -> bool:
    """True if a kernel reads the int4 weights of this call as nibbles: through lines, or nine taps."""
    window = DEPTHWISE.window(let)
    is_nine = math.prod(window.window) == UNROLLED_TAPS and window.image[3] % GROUP == 0
    return is_nine or lines_reason(let, "") is None


class DepthwiseTaps(DspDepthwise):
    """Depthwise by int16 weights: any window, stride, dilation and padding; multiplier 1, at least four
    channels."""

    base = "depthwise_taps_s8_dsp"
    is_int4 = False
    """Its weights are int4 instead of int8."""
    loop = "depthwise_taps_{}parts_dsp.S"
    """File of its loop, with a place for the kind of rounding."""

    def __init__(self, portable: DepthwiseConv2D | None = None) -> None:
        super().__init__(portable)
        loop = self.loop.format("even_" if self.rounds_even else "")
        self.sources = (f"kernels/dsp/{loop}", f"kernels/dsp/{self.name}.c")

    def other_reason(self, let: Let) -> str | None:
        """Refuse what `DspDepthwise` refuses, larger windows, and int4 weights that have a kernel."""
        reason = super().other_reason(let)
        if reason is None and has_int4(let) != self.is_int4 and (self.is_int4 or has_own_kernel(let)):
            return "the weights are not int4" if self.is_int4 else OWN_KERNEL
        if reason is None and math.prod(DEPTHWISE.window(let).window) > MOST_TAPS:
            return f"the kernel {self.name} is for windows of at most {MOST_TAPS} taps"
        return reason

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind a call. Where weights could overflow an accumulator, bind the portable kernel."""
        numbers = channel_numbers(let, constants, self.operator)
        if numbers is None:
            return self.portable.bind(let, constants, name)
        window = DEPTHWISE.window(let)
        below = striped_below(window, rows=1, columns=1, channels=GROUP)
        predict = partial(instructions, group=self.group_instructions(window, is_least=ends_at_zero(let)))
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=f"cg_{self.name}",
            sources=self.sources,
            headers=(HEADER,),
            argument_alignment=alignment(window),
            constants=(
                LinkedConstant(
                    role="weights",
                    data=self.packed(numbers),
                    alignment=4,
                    layout="by four channels: biases, weights tap by tap, requantization",
                    rounded=(0, len(numbers.weights)) if self.rounds_even else None,
                ),
                padding_pixel(let, window.image[3], role="pad", alignment=4),
            ),
            sharing=forward_sharing(let, 0, below),
            structs=(params("cg_dw_taps_params", *tap_fields(let, window)),),
            call_args=(PARAMS, ARGUMENT, RESULT),
            instructions=predict(window),
            rows=row_kernel(let, f"cg_{self.name}_row", window, predict),
        )

    def packed(self, numbers: ChannelNumbers) -> NDArray[np.int32]:
        """The weights as the inner loop reads them, in words."""
        return packed(numbers, 1 if self.rounds_even else 2)

    def group_instructions(self, window: WindowShape, *, is_least: bool) -> int:
        """Instructions for four channels of a pixel; `is_least`: the zero point is the least result.

        ONNX's rounding takes three more a result, and does not ask for its zero point.
        """
        taps, by_words = math.prod(window.window), window.result[3] % GROUP == 0
        two, single = (15, 9) if by_words else (21, 11)
        is_nine = taps == UNROLLED_TAPS
        kept = is_nine and by_words  # the groups to do, in a register
        around = 35 + 4 * two + single if is_nine else 41 + -(-taps // 2) * (two + 2)
        return around - kept + (3 * GROUP - 3 if self.rounds_even else -5 * is_least)


class DepthwiseNarrow(DepthwiseTaps):
    """Windows of nine taps, channels by fours, int8 weights: 18 bytes of constants a channel instead of
    30."""

    base = "depthwise_narrow_s8_dsp"
    weighted = DEPTHWISE_S8
    loop = "depthwise_narrow_parts_dsp.S"

    def other_reason(self, let: Let) -> str | None:
        """Refuse what `DepthwiseTaps` refuses, other than nine taps, channels that are no multiple of
        four."""
        reason = super().other_reason(let)
        if reason is None and math.prod(DEPTHWISE.window(let).window) != UNROLLED_TAPS:
            return f"the kernel {self.name} is for windows of {UNROLLED_TAPS} taps"
        if reason is None and DEPTHWISE.window(let).image[3] % GROUP:
            return f"the kernel {self.name} is for multiples of {GROUP} channels"
        return reason

    def packed(self, numbers: ChannelNumbers) -> NDArray[np.int32]:
        return packed_narrow(numbers)

    def group_instructions(self, window: WindowShape, *, is_least: bool) -> int:
        return NARROW_GROUP


def tap_fields(let: Let, window: WindowShape) -> Fields:
    """Fields of a `cg_dw_taps_params`."""
    return (
        ("window", window.fields),
        ("weights", ConstantPointer(role="weights")),
        ("pad", ConstantPointer(role="pad")),
        ("out_zero", let.var.type.zero_point),
    )


def packed_narrow(numbers: ChannelNumbers) -> NDArray[np.int32]:
    """Words by group of four channels: see `cg_depthwise_narrow_s8_dsp`."""
    # A multiplier of 0 has no form here; no weights and no bias give the same result.
    dead = numbers.multipliers == 0
    weights = np.where(dead[:, None], 0, numbers.weights).astype(np.int8).reshape(-1, GROUP, UNROLLED_TAPS)
    # [group, channels in pairs, two taps, channel] for every two taps, channels 0 and 1 first.
    pairs = weights[:, :, :-1].reshape(-1, 2, 2, 4, 2).transpose(0, 3, 1, 4, 2)
    doubled = 2 * np.where(dead, 1 << 30, numbers.multipliers).astype(np.int64)
    parts = (
        np.where(dead, 0, numbers.bias).astype("<i4").reshape(-1, GROUP),
        np.ascontiguousarray(pairs).reshape(len(weights), -1).view("<i4"),
        np.ascontiguousarray(weights[:, :, -1]).view("<i4"),
        doubled.astype(np.uint32).view(np.int32).reshape(-1, GROUP),
        np.where(dead, 1, numbers.right_shifts).astype(np.int8).reshape(-1, GROUP).view("<i4"),
    )
    return np.concatenate(parts, axis=1).reshape(-1).astype(np.int32)


def packed(numbers: ChannelNumbers, times: int) -> NDArray[np.int32]:
    """Words by group of four channels, the last group counted back from the last channel: see
    `cg_dw_taps_params`. `times`: what weights and biases are multiplied by."""
    channels = len(numbers.bias)
    words: list[np.ndarray] = []
    for start in range(0, channels, GROUP):
        group = slice(min(start, channels - GROUP), min(start, channels - GROUP) + GROUP)
        requantize = np.stack((numbers.multipliers[group], numbers.right_shifts[group]), axis=1)
        words += [
            times * numbers.bias[group],
            *_tap_words(times * numbers.weights[group]),
            requantize.reshape(-1),
        ]
    return np.concatenate(words).astype(np.int32)


def _tap_words(weights: NDArray[np.int64]) -> list[NDArray[np.int32]]:
    """Weights [channel, tap] of a group: two taps of a channel in a word; of a ninth, two channels."""
    count = weights.shape[1]
    if count % 2 and count != UNROLLED_TAPS:
        weights = np.pad(weights, ((0, 0), (0, 1)))
    even = weights.shape[1] // 2 * 2
    pairs = int16_pairs(weights[:, :even].reshape(GROUP, -1, 2)).T.reshape(-1)
    last = weights[:, even:].T
    return [pairs, int16_pairs(last[:, 0::2]), int16_pairs(last[:, 1::2])]


COSTS: Mapping[str, float] = MappingProxyType(
    {
        "layer": 40,
        "row": 58,
        "run": 66,
        "tap row": 13.9,
        "inner row": 15.6,
        "tap": 20.5,
        "outer tap": 12.4,
        "outer row tap": 7.2,
        "pixel": 12.3,
    }
)
"""In cg_depthwise_taps_parts.h for each call, row of results, run of pixels that share their taps; for each
of these, row of taps, row of taps inside the image, tap inside it, tap beside it, tap of a row outside it;
for each pixel what its groups do not take. Fitted to 160 layers measured on QEMU, int8 and int16, gcc 12
-O3."""


def instructions(window: WindowShape, group: int) -> int:
    """Predicted instructions of a call: pixels at the border look for their taps, those inside share them.

    `group`: instructions for four channels of a pixel.
    """
    batch, height, width, depth = window.result
    counts: Counter[str] = Counter(row=height, pixel=height * width)
    down, across = window.axes
    inside = [x for x, is_inside in enumerate(across.is_inside) if is_inside]
    shared = [x for x in range(width) if x not in set(inside[1:])]
    for (rows, is_whole), alike in Counter(zip(down.inner, down.is_inside, strict=True)).items():
        runs = shared if is_whole else range(width)
        taps = sum(across.inner[x] for x in runs)
        counts["run"] += alike * len(runs)
        counts["tap row"] += alike * len(runs) * down.window
        counts["inner row"] += alike * len(runs) * rows
        counts["tap"] += alike * rows * taps
        counts["outer tap"] += alike * rows * (len(runs) * across.window - taps)
        counts["outer row tap"] += alike * len(runs) * (down.window - rows) * across.window
    around = COSTS["layer"] + batch * sum(COSTS[what] * count for what, count in counts.items())
    return round(around) + batch * height * width * -(-depth // GROUP) * group


register(DepthwiseTaps(ONNX_DEPTHWISE_S8))
register(DepthwiseTaps())
register(DepthwiseNarrow())
