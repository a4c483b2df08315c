"""Helium kernels in NumPy against TFLite, stated distances against brute force, packing."""

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.ir.ops import Padding2D
from codegen.ir.ops.base.fixed_point import (
    doubling_high_mul,
    multiply_by_quantized_multiplier,
    rounding_divide_by_power,
)
from codegen.kernels.base.window import WindowShape
from codegen.kernels.mve import packing
from codegen.kernels.mve.pixel_groups import NOTHING, grouped_above, grouped_below

INT32 = np.iinfo(np.int32)


def vrshl(values: NDArray[np.int64], shift: int) -> NDArray[np.int64]:
    """VRSHL to the right: halves up, without overflow inside."""
    return values if shift == 0 else (values + (1 << (-shift - 1))) >> -shift


def sums() -> NDArray[np.int64]:
    """Extremes, all small numbers, and random ones of every size."""
    rng = np.random.default_rng(5)
    sizes = (2.0 ** rng.uniform(0, 31, 20_000)).astype(np.int64)
    small = np.arange(-3000, 3001)
    edges = np.array([INT32.min, INT32.min + 1, INT32.max - 1, INT32.max])
    return np.clip(np.concatenate((sizes, -sizes, small, edges)), INT32.min, INT32.max)


MULTIPLIERS = (1 << 30, (1 << 30) + 1, 1518500250, (1 << 31) - 1, -(1 << 30), 1 - (1 << 31))


@pytest.mark.parametrize("multiplier", MULTIPLIERS)
def test_the_correction_makes_halves_round_away_from_zero(multiplier: int) -> None:
    high = doubling_high_mul(sums(), multiplier)
    assert high.min() > INT32.min  # so one less does not overflow
    corrected = high - (high < 0)
    for shift in range(-31, 0):
        assert np.array_equal(vrshl(corrected, shift), rounding_divide_by_power(high, -shift)), shift


@pytest.mark.parametrize("multiplier", MULTIPLIERS[:4])
def test_under_a_clamp_at_the_zero_point_no_correction_is_needed(multiplier: int) -> None:
    high = doubling_high_mul(sums(), multiplier)
    for shift in range(-31, 1):
        exact = multiply_by_quantized_multiplier(sums(), multiplier, shift)
        assert np.array_equal(np.maximum(vrshl(high, shift), 0), np.maximum(exact, 0)), shift


def test_which_rounding_is_taken() -> None:
    def shifts(*values: int) -> NDArray[np.int32]:
        return np.array(values, np.int32)

    assert packing.rounding_of(shifts(-3, 0), -128, -128) == packing.CLAMPED
    assert packing.rounding_of(shifts(-3, -1), 0, -128) == packing.NARROW
    assert packing.rounding_of(shifts(-3, 0), 0, -128) == packing.WIDE
    assert packing.rounding_of(shifts(-3, 1), -128, -128) == packing.WIDE


def channels(rng: np.random.Generator, count: int, depth: int) -> packing.Channels:
    return packing.Channels(
        weights=rng.integers(-127, 128, (count, depth)).astype(np.int8),
        bias=rng.integers(-1000, 1000, count),
        multipliers=rng.integers(1 << 30, 1 << 31, count).astype(np.int32),
        shifts=rng.integers(-12, 0, count).astype(np.int32),
    )


@pytest.mark.parametrize(("count", "depth"), [(1, 3), (2, 16), (3, 32), (7, 5), (8, 17)])
def test_packed_pairs_hold_biases_and_weights(count: int, depth: int) -> None:
    given = channels(np.random.default_rng(count), count, depth)
    data = packing.product_weights(given, 2).data
    place = 0
    whole = count // 4 * 4
    order = [pair for c in range(0, whole, 4) for pair in ([c, c + 2], [c + 1, c + 3])]
    rest: dict[int, list[list[int]]] = {0: [], 1: [[0]], 2: [[0, 1]], 3: [[0, 2], [1]]}
    order += [[whole + member for member in members] for members in rest[count - whole]]
    for members in order:
        bias = data[place : place + 4 * len(members)].view("<i4")
        assert bias.tolist() == given.bias[members].tolist()
        place += 4 * len(members)
        block = data[place : place + len(members) * depth]
        if len(members) == 2 and depth % 16 == 0:
            block = block.reshape(-1, 2, 16).swapaxes(0, 1)
        assert np.array_equal(block.reshape(len(members), depth), given.weights[members])
        place += -(-len(members) * depth // 4) * 4
    assert place == data.size


@pytest.mark.parametrize("first", [0, 2])
def test_small_windows_are_packed_column_by_column(first: int) -> None:
    """Of 14 channels eight are woven (even ones, then odd ones), 4 and 2 are fours, the last filled up."""
    given = channels(np.random.default_rng(3), 14, 6)
    data = packing.small_stream(given, (2, 3), first).data
    halves = data[:128].reshape(2, 64)
    fours = data[168:].reshape(2, 84)
    order = [0, 2, 4, 6, 1, 3, 5, 7, *range(8, 16)]
    blocks = np.concatenate((halves, fours[:, :64]))
    bias, cells = blocks[:, :16].copy().view("<i4").reshape(-1), blocks[:, 16:].reshape(16, 3, 4)
    scales = np.concatenate((data[128:160], fours[:, 64:80].reshape(-1))).view("<i4")
    shifts = np.concatenate((data[160:168], fours[:, 80:].reshape(-1)))
    multipliers = np.broadcast_to(given.multipliers, 14)
    for place, channel in enumerate(order):
        expected = np.zeros((3, 4), np.int8)
        if channel < 14:
            expected[:3, first : first + 2] = given.weights[channel].reshape(2, 3).T
            assert (bias[place], scales[place]) == (given.bias[channel], multipliers[channel])
            assert shifts[place] == np.broadcast_to(given.shifts, 14)[channel]
        assert np.array_equal(cells[place], expected)


@pytest.mark.parametrize(("count", "size"), [(16, 288), (24, 432), (20, 432), (25, 576), (8, 144)])
def test_a_depthwise_stream_has_blocks_of_16_or_8(count: int, size: int) -> None:
    """A block of 16: 64 bytes of biases, 9 * 16 weights, 4 * (16 + 4) of scales; of 8 the half."""
    given = channels(np.random.default_rng(count), count, 9)
    assert packing.depthwise_stream(given).data.size == size


def test_pairs_of_products_must_fit_16_bits() -> None:
    assert packing.fits_pairs(np.array([[-128, 127, 127]], np.int8))
    assert packing.fits_pairs(np.array([[-128, -127, 127, 1]], np.int8))
    assert not packing.fits_pairs(np.array([[1, -128, -128]], np.int8))


def reads_and_writes(window: WindowShape) -> list[tuple[set[int], set[int]]]:
    """Per pixel: elements of the image its window reads, elements of the result it writes."""
    _, height, width, depth = window.image
    _, rows, columns, outputs = window.result
    found: list[tuple[set[int], set[int]]] = []
    for y in range(rows):
        for x in range(columns):
            reads: set[int] = set()
            for ky in range(window.window[0]):
                for kx in range(window.window[1]):
                    row = y * window.stride[0] - window.padding.top + ky
                    column = x * window.stride[1] - window.padding.left + kx
                    if 0 <= row < height and 0 <= column < width:
                        first = (row * width + column) * depth
                        reads |= set(range(first, first + depth))
            start = (y * columns + x) * outputs
            found.append((reads, set(range(start, start + outputs))))
    return found


def least_distance(window: WindowShape, *, early: int, reverse: bool) -> int | None:
    """The least distance from which on no write hits what is read later, by trying every one."""
    pixels = reads_and_writes(window)
    if reverse:
        pixels = pixels[::-1]
    outputs = window.result[3]
    events: list[tuple[set[int], set[int]]] = []
    for first in range(0, len(pixels), 3):
        group = pixels[first : first + 3]
        reads = set[int]().union(*(read for read, _ in group))
        soon = {e for _, writes in group for e in writes if e % outputs < early}
        events += [(reads, soon), (reads, set[int]().union(*(writes for _, writes in group)))]
    unsafe: list[int] = []
    for distance in range(-600, 600):
        # The result's element i lies on the argument's element i -+ distance.
        later: set[int] = set()
        for reads, writes in reversed(events):
            if {e + distance if reverse else e - distance for e in writes} & later:
                unsafe.append(distance)
                break
            later |= reads
    return max(unsafe) + 1 if unsafe else None


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("image", "kernel", "stride", "pad", "outputs", "early"),
    [
        ((1, 3, 3, 2), (1, 1), (1, 1), 0, 3, 0),
        ((1, 3, 4, 2), (1, 1), (1, 1), 0, 20, 16),
        ((1, 3, 3, 2), (3, 3), (1, 1), 1, 2, 0),
        ((1, 5, 4, 1), (2, 2), (2, 2), 0, 3, 0),
    ],
)
def test_distances_of_groups(
    image: tuple[int, int, int, int],
    kernel: tuple[int, int],
    stride: tuple[int, int],
    pad: int,
    outputs: int,
    early: int,
    reverse: bool,
) -> None:
    rows, columns = ((image[i + 1] + 2 * pad - kernel[i]) // stride[i] + 1 for i in (0, 1))
    window = WindowShape(
        image=image,
        result=(1, rows, columns, outputs),
        window=kernel,
        stride=stride,
        dilation=(1, 1),
        padding=Padding2D(top=pad, bottom=pad, left=pad, right=pad),
    )
    pixels = reads_and_writes(window)
    lows = np.array([min(reads, default=NOTHING) for reads, _ in pixels])
    ends = np.array([max(reads, default=-1) + 1 for reads, _ in pixels])
    stated = (
        grouped_above(ends, outputs, pixels=3, early=early)
        if reverse
        else grouped_below(lows, outputs, pixels=3, early=early)
    )
    least = least_distance(window, early=early, reverse=reverse)
    assert least is not None
    assert stated is not None
    assert stated >= least
    assert stated - least < 3 * outputs  # and not much more
