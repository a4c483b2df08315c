"""SIGNAL_RFFT, SIGNAL_IRFFT: the transform of real numbers, and what leads back; SIGNAL_ENERGY.

A transform of `length` real numbers is one of half as many complex numbers, in stages of four (the first one
of two where four do not fit), then split. Integers are divided by 4 or 2 before each stage and by 2 before
the split, each time rounded; floats by the length on the way back.
Source: kissfft 1.3.0, kiss_fft.c and kiss_fftr.c, as tflite-micro builds it.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.audio.typed import TypedOp, need_within
from codegen.ir.ops.base.attrs import EnergyAttrs, FftAttrs
from codegen.ir.ops.base.operands import narrow, need_count, need_dtype, need_elements, operand, present
from codegen.ir.types import DType, TensorType

FFT_TYPES = (DType.INT16, DType.INT32, DType.FLOAT32)
MAX_LENGTH = 1 << 14
_Pair = tuple[np.ndarray, np.ndarray]
"""Real and imaginary parts."""


@lru_cache(maxsize=8)
def twiddles(length: int, dtype: DType, *, inverse: bool) -> tuple[np.ndarray, np.ndarray]:
    """exp(-2 pi i k / n) of the n = length / 2 complex numbers, for k below 3/4 n; of the split,
    exp(-pi i ((k + 1) / n + 1/2)), for k below n / 2. [count, 2] of `dtype`; `inverse`: conjugates."""
    count, sign = length // 2, 1.0 if inverse else -1.0
    turns = np.arange(max(3 * count // 4, 1)) * (2 * np.pi) / count
    halves = np.pi * ((np.arange(count // 2) + 1) / count + 0.5)
    return _stored(sign * turns, dtype), _stored(sign * halves, dtype)


def _stored(angles: NDArray[np.float64], dtype: DType) -> np.ndarray:
    factors = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    if dtype is DType.FLOAT32:
        return factors.astype(np.float32)
    return np.floor(0.5 + dtype.limits[1] * factors).astype(dtype.numpy)


def leaf(length: int) -> int:
    """Complex numbers that the first stage takes together: 4 or 2."""
    return 4 if (length // 2).bit_length() % 2 else 2


def order(length: int) -> NDArray[np.uint16]:
    """First complex number of each group of the first stage; the others follow by as many as there are."""
    groups = length // 2 // leaf(length)
    place, first_numbers = np.arange(groups), np.zeros(groups, np.int64)
    while groups > 1:
        first_numbers, place, groups = first_numbers * 4 + place % 4, place // 4, groups // 4
    return first_numbers.astype(np.uint16)


class _Numbers:
    """Arithmetic of one element type, on arrays; every result is stored as that type."""

    def __init__(self, dtype: DType) -> None:
        self._dtype = dtype
        self._bits = 8 * dtype.size_bytes - 1
        self._is_float = dtype is DType.FLOAT32

    def kept(self, value: np.ndarray) -> np.ndarray:
        """Cut values to the bits of the element type."""
        if self._is_float:
            return value
        return value.astype(self._dtype.numpy).astype(np.int64)

    def _round(self, value: np.ndarray) -> np.ndarray:
        return self.kept((value + (1 << (self._bits - 1))) >> self._bits)

    def divided(self, value: np.ndarray, by: int) -> np.ndarray:
        """A stage's share."""
        return value if self._is_float else self._round(value * (self._dtype.limits[1] // by))

    def times(self, value: _Pair, factor: np.ndarray) -> _Pair:
        """Product with a factor [..., 2]."""
        re, im = factor[..., 0], factor[..., 1]
        if not self._is_float:
            re, im = re.astype(np.int64), im.astype(np.int64)
        first, second = value[0] * re - value[1] * im, value[0] * im + value[1] * re
        return (first, second) if self._is_float else (self._round(first), self._round(second))

    def half(self, value: np.ndarray) -> np.ndarray:
        """Halve a sum. Sums of 16 bits are added in 32."""
        if self._is_float:
            return value * np.float32(0.5)
        return (value if self._dtype is DType.INT16 else self.kept(value)) >> 1


def _transformed(
    numbers: _Numbers, value: _Pair, length: int, factors: np.ndarray, *, inverse: bool
) -> _Pair:
    """All stages; `value` [rows, n] in the order of time."""
    count, first = length // 2, leaf(length)
    places = (order(length)[:, None].astype(np.int64) + np.arange(first) * (count // first)).reshape(-1)
    re, im = value[0][:, places], value[1][:, places]
    radix, inner = first, 1
    while inner < count:
        shape = (len(re), count // (radix * inner), radix, inner)
        parts = [(re.reshape(shape)[:, :, i], im.reshape(shape)[:, :, i]) for i in range(radix)]
        parts = [(numbers.divided(a, radix), numbers.divided(b, radix)) for a, b in parts]
        turn = np.arange(inner) * (count // (radix * inner))
        parts = [parts[0], *(numbers.times(parts[i], factors[i * turn]) for i in range(1, radix))]
        parts = _of_two(numbers, parts) if radix == 2 else _of_four(numbers, parts, inverse=inverse)
        re, im = (np.stack([part[i] for part in parts], axis=2).reshape(len(re), count) for i in (0, 1))
        radix, inner = 4, inner * radix
    return re, im


def _of_two(numbers: _Numbers, parts: list[_Pair]) -> list[_Pair]:
    (a, b), (c, d) = parts
    return [(numbers.kept(a + c), numbers.kept(b + d)), (numbers.kept(a - c), numbers.kept(b - d))]


def _of_four(numbers: _Numbers, parts: list[_Pair], *, inverse: bool) -> list[_Pair]:
    kept = numbers.kept
    (a_re, a_im), (b_re, b_im), (c_re, c_im), (d_re, d_im) = parts
    even, odd = (kept(a_re + c_re), kept(a_im + c_im)), (kept(a_re - c_re), kept(a_im - c_im))
    sums, apart = (kept(b_re + d_re), kept(b_im + d_im)), (kept(b_re - d_re), kept(b_im - d_im))
    second = kept(odd[0] + apart[1]), kept(odd[1] - apart[0])
    fourth = kept(odd[0] - apart[1]), kept(odd[1] + apart[0])
    if inverse:
        second, fourth = fourth, second
    return [
        (kept(even[0] + sums[0]), kept(even[1] + sums[1])),
        second,
        (kept(even[0] - sums[0]), kept(even[1] - sums[1])),
        fourth,
    ]


class _Transform(Op):
    """A Fourier transform of numbers of one type along the last axis."""

    attrs_type = FftAttrs

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int16, int32 or float32 on both sides."""
        super().check(attrs, args, result)
        need_elements(result)
        value = operand(args, 0, "argument")
        need_dtype(value, "argument", *FFT_TYPES)
        need_dtype(result, "result", value.dtype)

    def length(self, attrs: Attrs, args: Types) -> int:
        """Real numbers of a transform; raises ValueError unless it is a power of two."""
        need_count(args, 1, 1)
        length = narrow(attrs, FftAttrs).length
        need_within("the length", length, 4, MAX_LENGTH)
        if length & (length - 1):
            raise ValueError(f"a transform of {length} numbers, supported are powers of two")
        if not operand(args, 0, "argument").shape:
            raise ValueError("a single number has no spectrum")
        return length


def _rows(value: np.ndarray) -> np.ndarray:
    value = value.reshape(-1, value.shape[-1])
    return value if value.dtype == np.float32 else value.astype(np.int64)


class Rfft(_Transform):
    """SIGNAL_RFFT: length / 2 + 1 complex numbers, real and imaginary parts side by side."""

    name, short = "SIGNAL_RFFT", "rfft"

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The argument's, whose last axis is filled up with zeros to the length."""
        length = self.length(attrs, args)
        *outer, count = operand(args, 0, "argument").shape
        if count > length:
            raise ValueError(f"{count} numbers are more than a transform of {length} takes")
        return (*outer, length + 2)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: kiss_fftr."""
        del args
        length, numbers = narrow(attrs, FftAttrs).length, _Numbers(result.dtype)
        factors, splits = twiddles(length, result.dtype, inverse=False)
        value = _rows(present(values, 0, "argument"))
        value = np.pad(value, [(0, 0), (0, length - value.shape[1])])
        pair = _transformed(numbers, (value[:, 0::2], value[:, 1::2]), length, factors, inverse=False)
        count, k = length // 2, np.arange(1, length // 4 + 1)
        ends = numbers.divided(pair[0][:, 0], 2), numbers.divided(pair[1][:, 0], 2)
        sums, turned = _split(numbers, pair, count, splits)
        spectrum = np.zeros((2, len(value), count + 1), result.dtype.numpy)
        spectrum[0, :, 0], spectrum[0, :, count] = (
            numbers.kept(ends[0] + ends[1]),
            numbers.kept(ends[0] - ends[1]),
        )
        spectrum[0][:, k], spectrum[1][:, k] = (
            numbers.half(a + b) for a, b in zip(sums, turned, strict=True)
        )
        spectrum[0][:, count - k] = numbers.half(sums[0] - turned[0])
        spectrum[1][:, count - k] = numbers.half(turned[1] - sums[1])
        return spectrum.transpose(1, 2, 0).reshape(result.shape)


def _split(numbers: _Numbers, pair: _Pair, count: int, splits: np.ndarray) -> tuple[_Pair, _Pair]:
    """The common part of the numbers k and count - k, and their difference, turned; k = 1 to count / 2."""
    k = np.arange(1, count // 2 + 1)
    one = numbers.divided(pair[0][:, k], 2), numbers.divided(pair[1][:, k], 2)
    mirrored = pair[0][:, count - k], numbers.kept(-pair[1][:, count - k])
    other = numbers.divided(mirrored[0], 2), numbers.divided(mirrored[1], 2)
    sums = numbers.kept(one[0] + other[0]), numbers.kept(one[1] + other[1])
    apart = numbers.kept(one[0] - other[0]), numbers.kept(one[1] - other[1])
    return sums, numbers.times(apart, splits)


class Irfft(_Transform):
    """SIGNAL_IRFFT: real numbers of a spectrum of length / 2 + 1 complex ones."""

    name, short = "SIGNAL_IRFFT", "irfft"

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The argument's, whose last axis has two numbers more than the length."""
        length = self.length(attrs, args)
        *outer, count = operand(args, 0, "argument").shape
        if count != length + 2:
            raise ValueError(f"a spectrum of {count} numbers, a transform of {length} has {length + 2}")
        return (*outer, length)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: kiss_fftri."""
        del args
        length, numbers = narrow(attrs, FftAttrs).length, _Numbers(result.dtype)
        factors, splits = twiddles(length, result.dtype, inverse=True)
        value = _rows(present(values, 0, "argument"))
        spectrum = value[:, 0::2], value[:, 1::2]
        count, k = length // 2, np.arange(1, length // 4 + 1)
        sums, turned = _split(numbers, spectrum, count, splits)
        joined = np.zeros((2, len(value), count), value.dtype)
        ends = spectrum[0][:, 0], spectrum[0][:, count]
        joined[0, :, 0] = numbers.divided(numbers.kept(ends[0] + ends[1]), 2)
        joined[1, :, 0] = numbers.divided(numbers.kept(ends[0] - ends[1]), 2)
        joined[0][:, k], joined[1][:, k] = (numbers.kept(a + b) for a, b in zip(sums, turned, strict=True))
        joined[0][:, count - k] = numbers.kept(sums[0] - turned[0])
        joined[1][:, count - k] = numbers.kept(turned[1] - sums[1])
        pair = _transformed(numbers, (joined[0], joined[1]), length, factors, inverse=True)
        samples = np.stack(pair, axis=-1).reshape(result.shape)
        if result.dtype is DType.FLOAT32:
            return np.divide(samples.astype(np.float32), np.float32(length))
        return samples.astype(result.dtype.numpy)


class Energy(TypedOp):
    """SIGNAL_ENERGY: squares of the magnitudes from `first` up to `stop`; 0 elsewhere."""

    name, short = "SIGNAL_ENERGY", "energy"
    attrs_type = EnergyAttrs
    takes, gives = (("spectrum", DType.INT16),), DType.UINT32

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """One number for two of the argument's."""
        shape = super().result_shape(attrs, args)
        if len(shape) != 1 or shape[0] % 2:
            raise ValueError(f"a spectrum of shape {list(shape)}, needs pairs along one axis")
        return (shape[0] // 2,)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Bounds within the result."""
        super().check(attrs, args, result)
        bounds = narrow(attrs, EnergyAttrs)
        need_within("end_index", bounds.stop, 0, result.elements)
        need_within("start_index", bounds.first, 0, bounds.stop)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: SpectrumToEnergy; what it does not write is 0 here."""
        del args
        bounds = narrow(attrs, EnergyAttrs)
        pairs = present(values, 0, "spectrum").reshape(-1, 2).astype(np.int64)
        squares = np.zeros(result.shape, np.uint32)
        squares[bounds.first : bounds.stop] = (pairs * pairs).sum(axis=1)[bounds.first : bounds.stop]
        return squares


OPERATORS: tuple[Op, ...] = (Rfft(), Irfft(), Energy())
"""All of this module."""
