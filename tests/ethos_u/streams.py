"""Command streams written by hand: words of commands, and weights in the plain form of the format."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

STOP = 0xFFFF0000
"""NPU_OP_STOP with all bits of its mask."""
UNIT = (1 << 30, 30)
"""Scale of 1: multiplier and shift."""
NO_RUNS, PLAIN, END = 6, 7, 7
"""Codes of a slice without runs of zeros, of values without quotients, and of the end."""
VALUE_BITS = 9
"""A value's magnitude above its sign."""


def short(code: int, value: int) -> list[int]:
    """A command whose value stands in its own word."""
    return [code | (value & 0xFFFF) << 16]


def long(code: int, value: int, upper: int = 0) -> list[int]:
    """A command with a payload of 32 bits; `upper` are bits 32 to 47."""
    return [code | 0x4000 | upper << 16, value & 0xFFFFFFFF]


def stream(*commands: Sequence[int]) -> NDArray[np.uint32]:
    """Commands, and the stop behind them."""
    return np.array([word for command in (*commands, [STOP]) for word in command], np.uint32)


def tensor(base: int, shorts: Sequence[int], shape: Sequence[int], zero: int, address: int) -> list[int]:
    """Registers of an int8 tensor with a zero point, rows of pixels of channels, in region 1.

    `base`: the first long register; `shorts`: those of width, height 0, height 1, region and zero point.
    """
    height, width, channels = shape
    extents = (width - 1, height - 1, height - 1, 1, zero)
    addresses = (address, 0, 0, 0, channels, width * channels, 1)
    return [
        *(word for code, value in zip(shorts, extents, strict=True) for word in short(code, value)),
        *(word for index, value in enumerate(addresses) for word in long(base + index, value)),
    ]


def image(shape: Sequence[int], zero_point: int, address: int) -> list[int]:
    """The input."""
    codes = (0x10A, 0x10B, 0x10C, 0x10F, 0x109)
    return [*tensor(0x000, codes, shape, zero_point, address), *short(0x104, shape[2] - 1), *short(0x105, 1)]


def second_image(shape: Sequence[int], zero_point: int, address: int) -> list[int]:
    """The second input of an element-wise operation."""
    codes = (0x18A, 0x18B, 0x18C, 0x18F, 0x189)
    return [*tensor(0x080, codes, shape, zero_point, address), *short(0x185, 1)]


def result(shape: Sequence[int], zero_point: int, address: int, *, is_global: bool = False) -> list[int]:
    """The result, clipped to int8; `is_global`: one scale for all channels."""
    codes = (0x11A, 0x11B, 0x11C, 0x11F, 0x118)
    height, width, channels = shape
    extents = ((0x112, height - 1), (0x111, width - 1), (0x113, channels - 1))
    return [
        *tensor(0x010, codes, shape, zero_point, address),
        *(word for code, value in extents for word in short(code, value)),
        *short(0x114, 0x101 if is_global else 1),
        *short(0x126, -128),
        *short(0x127, 127),
    ]


def kernel(height: int, width: int, stride: int = 1, block_depth: int = 16) -> list[int]:
    """A window without padding and dilation, channels of a block first."""
    steps = (stride - 1) | (stride - 1) << 1
    pads = (word for code in (0x100, 0x101, 0x102, 0x103) for word in short(code, 0))
    return [
        *pads,
        *short(0x121, height - 1),
        *short(0x120, width - 1),
        *short(0x122, steps),
        *short(0x117, block_depth - 1),
    ]


def weights_at(address: int, size_bytes: int, scales: int, scale_bytes: int) -> list[int]:
    """Where the weights and the scales of a convolution lie, in region 0."""
    return [
        *short(0x128, 0),
        *short(0x129, 0),
        *long(0x020, address),
        *long(0x021, size_bytes),
        *long(0x022, scales),
        *long(0x023, scale_bytes),
    ]


def channel(bias: int, multiplier: int, shift: int) -> bytes:
    """A channel's bias and scale, as the device reads them."""
    return bias.to_bytes(5, "little", signed=True) + multiplier.to_bytes(4, "little") + bytes([shift])


def plain_weights(values: Sequence[int]) -> bytes:
    """One slice of `values`, each in 9 bits, then the end, to a multiple of 16 bytes."""
    fields = [
        *((NO_RUNS, 3), (len(values) - 1, 15), (PLAIN, 3), (0, 1), (1, 1)),
        *((0, 5), (0, 5), (VALUE_BITS - 2, 3)),
        *((abs(value) << 1 | (value < 0), VALUE_BITS) for value in values),
        (END, 3),
    ]
    bits = "".join(format(value, f"0{width}b")[::-1] for value, width in fields)
    bits += "1" * (-len(bits) % 128)
    return np.packbits(np.array([int(bit) for bit in bits], np.uint8), bitorder="little").tobytes()


def depth_first(weights: NDArray[np.int64], input_step: int = 8, result_step: int = 8) -> list[int]:
    """Weights [result, rows, columns, input] of at most 16 results in the order of a convolution that takes
    32 input channels at a time; what is missing to a step is zero."""
    results, rows, columns, inputs = weights.shape
    ordered: list[int] = []
    for block in range(0, inputs, 32):
        for group in range(0, results, result_step):
            for element in np.ndindex(rows, columns):
                for start in range(block, block + 32, input_step):
                    part = np.zeros((result_step, input_step), np.int64)
                    taken = weights[
                        group : group + result_step, element[0], element[1], start : start + input_step
                    ]
                    part[: taken.shape[0], : taken.shape[1]] = taken
                    ordered.extend(part.reshape(-1).tolist())
    return ordered
