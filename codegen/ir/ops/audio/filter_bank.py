"""A bank of filters over energies, and what is made of its channels.

SIGNAL_FILTER_BANK, SIGNAL_SQUARE_ROOT, SIGNAL_NOISE, SIGNAL_SUBTRACT, SIGNAL_PCAN, SIGNAL_LOG. What wraps in
tflite-micro's unsigned arithmetic wraps here. Source: signal/src of tflite-micro.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.audio.typed import TypedOp, need_within
from codegen.ir.ops.base.attrs import FilterBankAttrs, LogAttrs, NoiseAttrs, ShiftAttrs
from codegen.ir.ops.base.operands import narrow, operand, present
from codegen.ir.types import DType, TensorType

_WORD = (1 << 32) - 1
MAX_CHANNELS = 1 << 10


class FilterBank(TypedOp):
    """SIGNAL_FILTER_BANK: each energy goes into two neighbouring channels, weighted; from constants where
    the energies, the weights of each begin, and how many there are. The first channel is left out."""

    name, short = "SIGNAL_FILTER_BANK", "filter_bank"
    attrs_type = FilterBankAttrs
    _INT16 = ("weights", "unweights", "frequency starts", "weight starts", "widths")
    takes = (("energies", DType.UINT32), *((what, DType.INT16) for what in _INT16))
    gives = DType.UINT64

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """One number a channel."""
        super().result_shape(attrs, args)
        channels = narrow(attrs, FilterBankAttrs).channels
        need_within("num_channels", channels, 1, MAX_CHANNELS)
        return (channels,)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """A start and a width for each channel and the one that is left out."""
        super().check(attrs, args, result)
        for index in (3, 4, 5):
            count = operand(args, index, self.takes[index][0]).elements
            need_within(f"the number of {self.takes[index][0]}", count, result.elements + 1, 1 << 15)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: FilterbankAccumulateChannels."""
        del attrs, args
        energies = present(values, 0, "energies").reshape(-1).astype(np.uint64)
        weights, unweights = (present(values, index, "weights").astype(np.int64) for index in (1, 2))
        places = [present(values, index, "places").tolist() for index in (3, 4, 5)]
        bank, carried = np.zeros(result.shape, np.uint64), np.uint64(0)
        for channel, (start, first, width) in enumerate(zip(*places, strict=True)):
            if channel > result.elements:
                break
            energies_of_channel = energies[start : start + width]
            here, there = (factors[first : first + width].view(np.uint64) for factors in (weights, unweights))
            total = (energies_of_channel * here).sum(dtype=np.uint64) + carried
            if channel:
                bank[channel - 1] = total
            carried = (energies_of_channel * there).sum(dtype=np.uint64)
        return bank


class SquareRoot(TypedOp):
    """SIGNAL_SQUARE_ROOT: rounded square roots, shifted right by what the second argument says."""

    name, short = "SIGNAL_SQUARE_ROOT", "square_root"
    takes, gives = (("squares", DType.UINT64), ("shift", DType.INT32)), DType.UINT32

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: Sqrt32, Sqrt64, FilterbankSqrt: results saturate at 16 bits for squares below 2^32."""
        del attrs, args
        shift = int(present(values, 1, "shift").reshape(-1)[0]) & 31
        roots = [_root(int(value)) >> shift for value in present(values, 0, "squares").reshape(-1)]
        return np.array(roots, np.uint32).reshape(result.shape)


def _root(value: int) -> int:
    root = math.isqrt(value)
    most = _WORD if value > _WORD else 0xFFFF
    return root + (value - root * root > root and root != most)


class _Smoothing(TypedOp):
    """Arguments that NOISE and SUBTRACT have in common: channels and their noise."""

    attrs_type = NoiseAttrs
    takes, gives = (("signal", DType.UINT32), ("noise", DType.UINT32)), DType.UINT32

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """One number of noise a channel, shifts that there are."""
        super().check(attrs, args, result)
        if operand(args, 1, "noise").shape != result.shape:
            raise ValueError(f"noise of shape {list(operand(args, 1, 'noise').shape)} beside {result}")
        noise = narrow(attrs, NoiseAttrs)
        need_within("smoothing_bits", noise.smoothing_bits, 0, 31)
        need_within("spectral_subtraction_bits", noise.bits, 0, 31)
        factors = (*noise.smoothing, *noise.remaining, noise.least)
        for factor in factors:
            need_within("a factor of the smoothing", factor, 0, (1 << 31) - 1)


def _words(values: Arrays, index: int) -> NDArray[np.uint64]:
    return present(values, index, "words").astype(np.uint64)


def _scaled(signal: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    return (signal << np.uint64(bits)) & np.uint64(_WORD)


class Noise(_Smoothing):
    """SIGNAL_NOISE: the estimate of each channel's noise after a further frame."""

    name, short = "SIGNAL_NOISE", "noise"

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: FilterbankSpectralSubtraction, its estimate."""
        del args
        noise = narrow(attrs, NoiseAttrs)
        scaled = _scaled(_words(values, 0), noise.smoothing_bits)
        odd = np.arange(result.elements).reshape(result.shape) % 2
        new, old = (np.array(pair, np.uint64)[odd] for pair in (noise.smoothing, noise.remaining))
        estimate = ((scaled * new + _words(values, 1) * old) >> np.uint64(noise.bits)) & np.uint64(_WORD)
        return (np.minimum(estimate, scaled) if noise.clamps else estimate).astype(np.uint32)


class Subtract(_Smoothing):
    """SIGNAL_SUBTRACT: channels without their noise, at least a share of them."""

    name, short = "SIGNAL_SUBTRACT", "subtract"

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: FilterbankSpectralSubtraction, its result."""
        del args, result
        noise, signal = narrow(attrs, NoiseAttrs), _words(values, 0)
        scaled = _scaled(signal, noise.smoothing_bits)
        rest = (scaled - np.minimum(_words(values, 1), scaled)) >> np.uint64(noise.smoothing_bits)
        least = ((signal * np.uint64(noise.least)) >> np.uint64(noise.bits)) & np.uint64(_WORD)
        return np.maximum(rest, least).astype(np.uint32)


class Pcan(TypedOp):
    """SIGNAL_PCAN: channels times a gain that a table of parabolas gives for their noise, compressed."""

    name, short = "SIGNAL_PCAN", "pcan"
    attrs_type = ShiftAttrs
    takes = (("signal", DType.UINT32), ("noise", DType.UINT32), ("table", DType.INT16))
    gives = DType.UINT32
    TABLE = 125
    """Numbers of the table that 32 bits reach."""

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """One number of noise a channel, the whole table."""
        super().check(attrs, args, result)
        if operand(args, 1, "noise").elements != result.elements:
            raise ValueError(f"noise of shape {list(operand(args, 1, 'noise').shape)} beside {result}")
        need_within("the number of gains", operand(args, 2, "table").elements, self.TABLE, 1 << 15)
        need_within("snr_shift", narrow(attrs, ShiftAttrs).shift, 0, 63)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: WideDynamicFunction, PcanShrink."""
        del args
        shift, table = narrow(attrs, ShiftAttrs).shift, present(values, 2, "table").astype(np.int64)
        noise = present(values, 1, "noise").reshape(-1).astype(np.int64)
        bits = np.frexp(np.maximum(noise, 1).astype(np.float64))[1].astype(np.int64)
        first = np.where(noise <= 2, np.minimum(noise, 2), 4 * bits - 6)
        fraction = ((noise << np.maximum(11 - bits, 0)) >> np.maximum(bits - 11, 0)) & 0x3FF
        c0, c1, c2 = (table[np.minimum(first + offset, len(table) - 1)] for offset in range(3))
        inner = (((c2 * fraction) >> 5) + (c1 << 5)).astype(np.int32).astype(np.int64)
        curve = (((inner * fraction).astype(np.int32).astype(np.int64) + (1 << 14)) >> 15) + c0
        gain = np.where(noise <= 2, c0, curve).astype(np.int16).astype(np.int64) & _WORD
        product = _words(values, 0).reshape(-1) * gain.view(np.uint64)
        ratio = ((product >> np.uint64(shift)) & np.uint64(_WORD)).astype(np.int64)
        compressed = np.where(ratio < 2 << 12, (ratio * ratio) >> 20, (ratio >> 6) - (1 << 6))
        return compressed.astype(np.uint32).reshape(result.shape)


@lru_cache(maxsize=1)
def log_table() -> NDArray[np.uint16]:
    """2^16 (log2(1 + i / 128) - i / 128), rounded, of i = 0 to 128, and 0."""
    parts = np.arange(129) / 128
    table = np.floor(65536 * (np.log2(1 + parts) - parts) + 0.5)
    return np.append(table, 0).astype(np.uint16)


class Log(TypedOp):
    """SIGNAL_LOG: the natural logarithm of channels shifted to the left, times `scale` / 2^16 / 2^16."""

    name, short = "SIGNAL_LOG", "log_bank"
    attrs_type = LogAttrs
    takes, gives = (("channels", DType.UINT32),), DType.INT16

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """A shift of 32 bits."""
        super().check(attrs, args, result)
        log = narrow(attrs, LogAttrs)
        need_within("input_correction_bits", log.shift, 0, 31)
        need_within("output_scale", log.scale, 0, (1 << 31) - 1)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: FilterbankLog, Log32."""
        del args
        log, table = narrow(attrs, LogAttrs), log_table().astype(np.int64)
        scaled_input = _scaled(_words(values, 0), log.shift).astype(np.int64)
        value = np.maximum(scaled_input, 1)
        whole = np.frexp(value.astype(np.float64))[1].astype(np.int64) - 1
        part = value - (np.int64(1) << whole)
        part = (part << np.maximum(16 - whole, 0)) >> np.maximum(whole - 16, 0)
        place = part >> 9
        between = ((table[place + 1] - table[place]) * (part - (place << 9))) >> 16
        doubled = (whole << 16) + part + table[place] + between
        natural = (45426 * doubled + (1 << 15)) >> 16
        scaled = ((natural * log.scale + (1 << 15)) & _WORD) >> 16
        return np.where(scaled_input > 1, np.minimum(scaled, 32767), 0).astype(np.int16).reshape(result.shape)


OPERATORS: tuple[Op, ...] = (FilterBank(), SquareRoot(), Pcan(), Log())
"""Operators that files ask for one by one."""

PARTS: tuple[Op, ...] = (Noise(), Subtract())
"""Operators that one operator with state is made of."""
