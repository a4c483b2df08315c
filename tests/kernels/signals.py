"""Random layers of the audio front end. Those with state are compared in `tests/e2e/test_stateful.py`."""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from codegen.ir import DType, ops
from codegen.ir.ops.audio.filter_bank import Pcan
from codegen.ir.ops.audio.spectrum import FFT_TYPES
from tests.kernels.layers import Layer, Operand, fill, integer, layer
from tests.tensor_types import tensor_type


def _numbers(rng: Generator, dtype: DType, shape: Sequence[int], bits: int = 64) -> Operand:
    """Of up to so many bits, each number of bits as likely as any other where they are unsigned."""
    type_ = tensor_type(shape, dtype)
    data = fill(rng, type_)
    if dtype in (DType.UINT32, DType.UINT64):
        width = 8 * dtype.size_bytes
        shift = rng.integers(max(width - bits, 0), width, shape, endpoint=True)
        data = np.where(shift == width, 0, data >> np.minimum(shift, width - 1).astype(data.dtype))
    return Operand(type=type_, data=data.astype(dtype.numpy))


def _constant(data: np.ndarray) -> Operand:
    data = data.astype(np.int16)
    return Operand(type=tensor_type(data.shape, DType.INT16), data=data, constant=True)


def window(rng: Generator, dtype: DType) -> Layer:
    frames, size = integer(rng, 1, 4), integer(rng, 1, 40)
    values = [_numbers(rng, dtype, shape) for shape in ((frames, size), (size,))]
    return layer("SIGNAL_WINDOW", ops.ShiftAttrs(shift=integer(rng, 0, 16)), values, values[0].type)


def scale_bits(rng: Generator, dtype: DType) -> Layer:
    """Frames of any size; at times with -32768, which has no positive."""
    frame = _numbers(rng, dtype, (integer(rng, 1, 40),))
    frame.data[:] >>= integer(rng, 0, 16)
    if rng.random() < 0.4:
        frame.data[integer(rng, 0, frame.data.size - 1)] = -32768
    return layer("SIGNAL_SCALE_BITS", ops.Attrs(), [frame], tensor_type((), DType.INT32))


def rfft(rng: Generator, dtype: DType) -> Layer:
    length = 4 << integer(rng, 0, 6)
    shape = (*(integer(rng, 1, 2) for _ in range(integer(rng, 0, 2))), integer(rng, 1, length))
    return layer(
        "SIGNAL_RFFT", ops.FftAttrs(length=length), [_numbers(rng, dtype, shape)], tensor_type((), dtype)
    )


def irfft(rng: Generator, dtype: DType) -> Layer:
    length = 4 << integer(rng, 0, 6)
    shape = (*(integer(rng, 1, 2) for _ in range(integer(rng, 0, 2))), length + 2)
    return layer(
        "SIGNAL_IRFFT", ops.FftAttrs(length=length), [_numbers(rng, dtype, shape)], tensor_type((), dtype)
    )


def energy(rng: Generator, dtype: DType) -> Layer:
    count = integer(rng, 1, 40)
    attrs = ops.EnergyAttrs(first=0, stop=count)
    return layer("SIGNAL_ENERGY", attrs, [_numbers(rng, dtype, (2 * count,))], tensor_type((), DType.UINT32))


def filter_bank(rng: Generator, dtype: DType) -> Layer:
    channels, energies, weights = integer(rng, 1, 12), integer(rng, 1, 40), integer(rng, 1, 60)
    widths = rng.integers(0, min(energies, weights), channels + 1, endpoint=True)
    starts, firsts = rng.integers(0, energies - widths + 1), rng.integers(0, weights - widths + 1)
    tables = [rng.integers(0, 1 << 15, weights) for _ in range(2)]
    operands = [_numbers(rng, dtype, (energies,)), *map(_constant, (*tables, starts, firsts, widths))]
    attrs = ops.FilterBankAttrs(channels=channels)
    return layer("SIGNAL_FILTER_BANK", attrs, operands, tensor_type((), DType.UINT64))


def square_root(rng: Generator, dtype: DType) -> Layer:
    """Squares and their neighbours among them."""
    squares = _numbers(rng, dtype, (integer(rng, 1, 30),))
    roots = rng.integers(0, 1 << 32, squares.data.shape, np.uint64) >> np.uint64(integer(rng, 0, 31))
    exact = roots * roots + rng.integers(0, 3, roots.shape).astype(np.uint64) - np.uint64(1)
    squares.data[:] = np.where(rng.random(roots.shape) < 0.4, exact, squares.data)
    shift = Operand(type=tensor_type((), DType.INT32), data=np.array(integer(rng, 0, 8), np.int32))
    return layer("SIGNAL_SQUARE_ROOT", ops.Attrs(), [squares, shift], tensor_type((), DType.UINT32))


def pcan(rng: Generator, dtype: DType) -> Layer:
    shape = (integer(rng, 1, 30),)
    gains = rng.integers(-(1 << 15), 1 << 15, Pcan.TABLE) >> integer(rng, 0, 8)
    operands = [_numbers(rng, dtype, shape), _numbers(rng, dtype, shape), _constant(gains)]
    return layer("SIGNAL_PCAN", ops.ShiftAttrs(shift=integer(rng, 0, 31)), operands, tensor_type((), dtype))


def logarithm(rng: Generator, dtype: DType) -> Layer:
    attrs = ops.LogAttrs(scale=int(rng.choice([1, 64, 1600, 1 << 15])), shift=integer(rng, 0, 8))
    return layer(
        "SIGNAL_LOG", attrs, [_numbers(rng, dtype, (integer(rng, 1, 40),))], tensor_type((), DType.INT16)
    )


SIGNALS = {
    "SIGNAL_WINDOW": (window, (DType.INT16,)),
    "SIGNAL_SCALE_BITS": (scale_bits, (DType.INT16,)),
    "SIGNAL_RFFT": (rfft, FFT_TYPES),
    "SIGNAL_IRFFT": (irfft, FFT_TYPES),
    "SIGNAL_ENERGY": (energy, (DType.INT16,)),
    "SIGNAL_FILTER_BANK": (filter_bank, (DType.UINT32,)),
    "SIGNAL_SQUARE_ROOT": (square_root, (DType.UINT64,)),
    "SIGNAL_PCAN": (pcan, (DType.UINT32,)),
    "SIGNAL_LOG": (logarithm, (DType.UINT32,)),
}
"""By operator: how to draw one, on which types."""
