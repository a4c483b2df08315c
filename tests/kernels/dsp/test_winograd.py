"""Winograd on the DSP extension without a target: what the stream holds, that it is a convolution, that sums
fit, how near the result may lie. And on QEMU: predicted instructions.

Hundreds of random layers on every core, at their distances too: tests/fuzz.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from codegen.driver.build import Planned
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.weighted import CONVOLUTION, WeightedLayer
from codegen.kernels.dsp.packing import Channels, channels_of
from codegen.kernels.dsp.packing import stream as packed
from codegen.kernels.dsp.winograd.filters import narrow, stream, transformed
from codegen.kernels.dsp.winograd.kernel import NarrowWinogradConv, WinogradConv
from codegen.kernels.dsp.winograd.proof import MOST_PIXEL, fits
from codegen.kernels.dsp.winograd.tiles import F2, F4
from codegen.search import Choices
from tests.kernels import runs
from tests.kernels.access import lowest_reads, nearest
from tests.kernels.dsp.conv_layers import module_of, shaped_layer
from tests.kernels.layers import Layer

KERNELS = (WinogradConv(F2), WinogradConv(F4, "4"), NarrowWinogradConv(F2))
FORMS = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)


Matrix = tuple[tuple[Fraction, ...], ...]


def fractions(*rows: Sequence[int], divisors: Sequence[int]) -> Matrix:
    return tuple(
        tuple(Fraction(value, divisor) for value in row) for row, divisor in zip(rows, divisors, strict=True)
    )


G = {
    2: fractions((1, 0, 0), (1, 1, 1), (1, -1, 1), (0, 0, 1), divisors=(1, 2, 2, 1)),
    4: fractions(
        (1, 0, 0),
        (-1, -1, -1),
        (-1, 1, -1),
        (1, 2, 4),
        (1, -2, 4),
        (0, 0, 1),
        divisors=(4, 6, 6, 24, 24, 1),
    ),
}
"""F(m, 3): A (Gg * Bd) are the m results of a filter of three taps. Source: Lavin and Gray, Fast Algorithms
for Convolutional Neural Networks, arXiv 1509.09308."""
SCALES = {2: ((2, 2, 2, -2), (1, 2, 2, 1)), 4: ((24, -6, -6, 24, 24, 6),) * 2}
"""By which the kernels have rows and columns of U."""
B = ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1))
A = ((1, 1, 1, 0), (0, 1, -1, -1))
B4 = (
    (4, 0, -5, 0, 1, 0),
    (0, 4, 4, -1, -1, 0),
    (0, -4, 4, 1, -1, 0),
    (0, -2, -1, 2, 1, 0),
    (0, 2, -1, -2, 1, 0),
    (0, 4, 0, -5, 0, 1),
)
A4 = ((1, 4, 4, 1, 1, 0), (0, 2, -2, 1, -1, 0), (0, 1, 1, 1, 1, 0), (0, 1, -1, 2, -2, 1))
"""As runtime_c/include/cg_winograd_dsp.h has them: of the last, rows are 24, 12, 6 and 6 times too large."""


def layers(count: int) -> Iterator[Layer]:
    """Small ones, one in ten with biases over all of int32."""
    rng = np.random.default_rng(19)
    for _ in range(count):
        height, width, depth, outputs = rng.integers((7, 7, 1, 1), (10, 13, 13, 33)).tolist()
        pad = int(rng.integers(2))
        yield shaped_layer(image=(height, width, depth), kernel=(3, 3), outputs=outputs, pad=pad)


def of(drawn: Layer) -> tuple[WeightedLayer, Channels]:
    found = CONVOLUTION.layer(drawn.let, drawn.constants)
    return found, channels_of(found, drawn.let.var.type)


def along(rows: int, filter_: Sequence[Fraction]) -> list[Fraction]:
    return [sum((g * w for g, w in zip(row, filter_, strict=True)), Fraction(0)) for row in G[rows]]


def products_of(rows: int, taps: np.ndarray) -> list[list[Fraction]]:
    """U of one filter of [3][3] in exact numbers, [row][column]."""
    across = [along(rows, [Fraction(tap) for tap in row]) for row in taps.tolist()]
    down = [along(rows, [row[column] for row in across]) for column in range(rows + 2)]
    return [[column[row] for column in down] for row in range(rows + 2)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Four channels of a stream."""

    bias: list[float]
    weights: dict[tuple[int, int, int, int], int]
    """By row of U (3 negated), column, image channel, one of the four."""
    multipliers: list[int]
    shifts: list[int]


def read(words: np.ndarray, inputs: int, rows: int) -> list[Group]:
    """As runtime_c/include/cg_winograd_dsp.h states it."""
    pairs = 2 * -(-inputs // 4)
    orders = ((1, 2, 0, 3), (1, 2, 3, 0)) if rows == 2 else ((1, 2, 3, 4, 5, 0),) * 2
    groups: list[Group] = []
    for part in words.reshape(-1, 4 * (rows + 2) ** 2 * pairs + 12):
        weights: dict[tuple[int, int, int, int], int] = {}
        at = 4 if rows == 2 else 0
        for column, row, pair, channel in itertools.product(*orders, range(pairs), range(4)):
            first = 4 * (pair // 2) + pair % 2
            low, high = part[at : at + 1].view(np.int16).tolist()
            weights[row, column, first, channel] = low
            weights[row, column, first + 2, channel] = high
            at += 1
        numbers = part[at:].tolist()
        if rows == 2:
            bias, multipliers, shifts = [each / 4 for each in part[:4].tolist()], numbers[::2], numbers[1::2]
        else:
            bias, multipliers, shifts = numbers[::3], numbers[1::3], numbers[2::3]
            multipliers = [(each & 0xFFFFFFFF) // 2 for each in multipliers]
        groups.append(Group(bias=bias, weights=weights, multipliers=multipliers, shifts=shifts))
    return groups


def test_weights_that_stay_int8_take_no_more_flash_than_the_direct_kernels() -> None:
    """Channel by channel their taps, by groups of four; nine words of numbers for four channels."""
    for drawn in layers(12):
        layer, channels = of(drawn)
        inputs = layer.window.image[3]
        weights, numbers = narrow(channels, inputs)
        outputs, deep = len(channels.weights), -(-inputs // 4)
        assert weights.size == 9 * 4 * deep * 4 * -(-outputs // 4)
        for output, c in np.ndindex(outputs, inputs):
            dead = channels.multipliers[output] == 0
            at = (((output // 4) * deep + c // 4) * 4 + output % 4) * 36 + c % 4
            taps = layer.weights[output].reshape(9, -1)[:, c]
            assert (weights[at : at + 36 : 4] == (0 if dead else taps)).all()
        for output in range(outputs):
            row = numbers.reshape(-1, 9)[output // 4]
            if channels.multipliers[output] == 0:
                continue
            assert row[4 + output % 4] == channels.multipliers[output]
            assert (int(row[output % 4]) - 4 * int(channels.bias[output])) % 2**32 == 0
            shift = int(row[8]) >> 8 * (output % 4) & 0xFF
            assert shift & 0x80 or shift == -channels.shifts[output]
        if inputs % 4 == 0 and outputs % 4 == 0:
            assert weights.nbytes + numbers.nbytes < packed(channels).nbytes


@pytest.mark.parametrize("kernel", KERNELS[:2], ids=lambda kernel: kernel.name)
@pytest.mark.sampled(1)
def test_the_stream_holds_the_transformed_weights(kernel: WinogradConv) -> None:
    """Every U is the exact one times what the kernels have it by."""
    tile = kernel.tile
    down, across = SCALES[tile.rows]
    for drawn in layers(12):
        layer, channels = of(drawn)
        inputs = layer.window.image[3]
        if not fits(channels, inputs, F2):
            continue
        groups = read(stream(channels, inputs, tile), inputs, tile.rows)
        assert len(groups) == -(-len(channels.weights) // 4)
        for output in range(4 * len(groups)):
            group, channel = groups[output // 4], output % 4
            is_dead = output >= len(channels.weights) or channels.multipliers[output] == 0
            assert group.bias[channel] == (0 if is_dead else int(channels.bias[output]))
            assert group.multipliers[channel] == (1 << 30 if is_dead else channels.multipliers[output])
            assert group.shifts[channel] < 0 if channels.ends_at_zero else group.shifts[channel] in range(256)
            for c in range(4 * -(-inputs // 4)):
                zero = is_dead or c >= inputs
                taps = np.zeros((3, 3), int) if zero else layer.weights[output].reshape(3, 3, -1)[:, :, c]
                exact = products_of(tile.rows, taps)
                for row, column in itertools.product(range(tile.rows + 2), repeat=2):
                    scale = down[row] * across[column]
                    assert group.weights[row, column, c, channel] == exact[row][column] * scale


def wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def test_tiles_of_four_are_convolutions_though_their_sums_wrap() -> None:
    """Weights and pixels at their ends: 227 channels of any weights do, 228 do not, and there `fits` says
    no."""
    rng = np.random.default_rng(4)
    times = (24, 12, 6, 6)
    ninth = pow(9, -1, 2**32)
    wrong = 0
    for depth in (1, 6, 227, 228, 300):
        for kind in range(4):
            pixels = rng.choice([-128, 127] if kind % 2 else np.arange(-128, 128), (6, 6, depth))
            weights = rng.choice([-128, 127], (3, 3, depth))
            if kind > 1:
                pixels, weights = np.full_like(pixels, -128), np.full_like(weights, -128)
            u = transformed(weights.reshape(1, -1).astype(np.int8), depth, F4)[0].astype(object)
            v = np.einsum("ia,jb,abc->ijc", np.array(B4), np.array(B4), pixels).astype(object)
            assert np.abs(v).max() <= 12_800 and np.abs(u).max() <= 6_272
            sums = np.array(A4, object) @ (u * v).sum(axis=2) @ np.array(A4, object).T
            found = True
            for y, x in itertools.product(range(4), repeat=2):
                direct = int((pixels[y : y + 3, x : x + 3] * weights).sum())
                value = wrapped(wrapped(int(sums[y, x])) * ninth * (24 // times[y]))
                found = found and value // (24 * times[x] // 9) == direct
            channels = Channels(
                weights=weights.reshape(1, -1).astype(np.int8),
                bias=np.array([2**31 - 1], np.int32),
                multipliers=np.array([1 << 30], np.int32),
                shifts=np.array([-1], np.int32),
                is_clamped=False,
            )
            assert found or not fits(channels, depth, F4)
            assert depth > 227 or fits(channels, depth, F4)
            wrong += not found
    assert wrong


def test_tiles_are_convolutions_and_their_sums_fit() -> None:
    """With pixels and weights at their ends too, in numbers without a limit. The sums that are halved and
    those that are requantized have 32 bits, as `fits` proves them."""
    rng = np.random.default_rng(3)
    ends = np.array([-128, 127])
    for depth in (1, 5, 40, 600):
        for kind in range(6):
            values = np.arange(-128, 128) if kind % 2 else ends
            pixels, weights = rng.choice(values, (4, 4, depth)), rng.choice(values, (3, 3, depth))
            if kind > 3:
                # What makes a product of the middle as large as it gets.
                signs = np.array([1, 1, -1, -1])[:, None] * np.array([1, 1, -1, -1])[None, :]
                pixels = np.where(signs > 0, -128, 127)[:, :, None].repeat(depth, 2)
                weights = np.full((3, 3, depth), -128)
            bias = int(rng.integers(-100_000, 100_000))
            u = transformed(weights.reshape(1, -1).astype(np.int8), depth, F2)[0].astype(object)
            u[3] *= -1  # the stream has it negated
            v = np.einsum("ia,jb,abc->ijc", np.array(B), np.array(B), pixels).astype(object)
            assert np.abs(v).max() <= MOST_PIXEL and np.abs(u).max() <= 1152
            products = (u * v).sum(axis=2)
            products[1, 1] += 4 * bias
            rows = np.array(A) @ products
            middle = rows[:, 1] + rows[:, 2], rows[:, 1] - rows[:, 2]
            channels = Channels(
                weights=weights.reshape(1, -1).astype(np.int8),
                bias=np.array([bias], np.int32),
                multipliers=np.array([1 << 30], np.int32),
                shifts=np.array([-1], np.int32),
                is_clamped=False,
            )
            results = np.stack((rows[:, 0] + middle[0] // 2, middle[1] // 2 - rows[:, 3]), axis=1)
            for y in (0, 1):
                for x in (0, 1):
                    direct = int((pixels[y : y + 3, x : x + 3] * weights).sum()) + bias
                    assert results[y, x] == 2 * direct
            assert all(each % 2 == 0 for each in (*middle[0], *middle[1]))
            if fits(channels, depth, F2):
                assert max(abs(each) for each in (*middle[0], *middle[1], *results.reshape(-1))) < 2**31
            else:
                assert depth == 600


def test_sums_that_may_not_fit_leave_the_layer_to_the_portable_kernel() -> None:
    kernel = KERNELS[0]
    taken = {"winograd_s8_dsp": 0, "conv2d_s8_portable": 0}
    for drawn in layers(60):
        _, channels = of(drawn)
        inputs = drawn.let.call.args[0].type.shape[3] if drawn.let.call.args[0] else 0
        bound = kernel.bind(drawn.let, drawn.constants, "layer")
        taken[bound.kernel] += 1
        assert (bound.kernel == "winograd_s8_dsp") == fits(channels, inputs, F2)
        large = replace(channels, bias=np.full(len(channels.weights), 2**29, np.int32))
        assert not fits(large, inputs, F2)
    assert min(taken.values()) > 2, taken


@FORMS
def test_the_distance_is_that_of_blocks_read_before_they_are_written(kernel: WinogradConv) -> None:
    """Block by block over its windows and its results, not by the formula."""
    seen = 0
    is_narrow = isinstance(kernel, NarrowWinogradConv)
    for drawn in layers(60):
        bound = kernel.bind(drawn.let, drawn.constants, "layer")
        if bound.kernel != kernel.name or not bound.sharing:
            continue
        window = CONVOLUTION.window(drawn.let)
        _, height, width, _ = window.result
        rows, columns = kernel.tile.rows, width if is_narrow else 2 * kernel.tile.rows
        blocks = [
            [
                (image * height + y) * width + x
                for y in range(top, min(top + rows, height))
                for x in range(left, min(left + columns, width))
            ]
            for image in range(window.result[0])
            for top in range(0, height, rows)
            for left in range(0, width, columns)
        ]
        least, outputs = lowest_reads(window), window.result[3]
        steps: list[tuple[int | None, int | None]] = []
        for block in blocks:
            steps += [(None, least[pixel]) for pixel in block]
            steps.append(((max(block) + 1) * outputs, None))
        assert bound.sharing == forward_sharing(drawn.let, 0, nearest(steps))
        seen += 1
    assert seen > 30


SHAPES = (
    shaped_layer(image=(16, 16, 16), kernel=(3, 3), outputs=16, pad=1),
    shaped_layer(image=(8, 8, 64), kernel=(3, 3), outputs=28, pad=1),
    shaped_layer(image=(15, 13, 20), kernel=(3, 3), outputs=24, pad=1),
    shaped_layer(image=(16, 16, 32), kernel=(3, 3), outputs=12),
    shaped_layer(image=(14, 14, 7), kernel=(3, 3), outputs=11, pad=1),
    shaped_layer(image=(10, 21, 16), kernel=(3, 3), outputs=30),
)


@pytest.mark.qemu
def test_predictions_hold_within_three_percent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choices = Choices(planner="greedy_by_size", optimize="speed", sharing="none")
    made: list[Planned] = []
    for kernel in KERNELS:
        with monkeypatch.context() as only:
            runs.only_kernels(only, kernel.name)
            found = [
                runs.planned_alone(module_of(drawn), "mps2-an386", f"{kernel.name}_{number}", choices=choices)
                for number, drawn in enumerate(SHAPES)
            ]
        assert {prim.kernel for each in found for prim in each.program.steps.prim_funcs} == {kernel.name}
        made += found
    runs.check_predictions(made, runs.run_planned(made, "mps2-an386", tmp_path), percent=3)
