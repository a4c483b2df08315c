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

from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.weighted import CONVOLUTION, WeightedLayer
from codegen.kernels.dsp.packing import Channels, channels_of
from codegen.kernels.dsp.winograd.filters import MOST_PIXEL, fits, stream, transformed
from codegen.kernels.dsp.winograd.kernel import WinogradConv
from codegen.search import Choices
from tests.kernels import runs
from tests.kernels.access import lowest_reads, nearest
from tests.kernels.dsp.conv_layers import module_of, shaped_layer
from tests.kernels.layers import Layer

KERNEL = WinogradConv()
HALF = Fraction(1, 2)
ONE, NONE = Fraction(1), Fraction(0)
G = ((ONE, NONE, NONE), (HALF, HALF, HALF), (HALF, -HALF, HALF), (NONE, NONE, ONE))
B = ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1))
A = ((1, 1, 1, 0), (0, 1, -1, -1))
"""F(2, 3): A (Gg * Bd) are the two results of a filter of three taps. Source: Lavin and Gray, Fast Algorithms
for Convolutional Neural Networks, arXiv 1509.09308."""


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


def along(filter_: Sequence[Fraction]) -> list[Fraction]:
    return [sum((g * w for g, w in zip(row, filter_, strict=True)), Fraction(0)) for row in G]


def products_of(taps: np.ndarray) -> list[list[Fraction]]:
    """U of one filter of [3][3] in exact numbers, [row][column]."""
    rows = [along([Fraction(tap) for tap in row]) for row in taps.tolist()]
    columns = [along([row[column] for row in rows]) for column in range(4)]
    return [[column[row] for column in columns] for row in range(4)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Four channels of a stream."""

    bias: list[int]
    weights: dict[tuple[int, int, int, int], int]
    """By row of U (3 negated), column, image channel, one of the four."""
    multipliers: list[int]
    shifts: list[int]


def read(words: np.ndarray, inputs: int) -> list[Group]:
    """As runtime_c/include/cg_winograd_dsp.h states it."""
    pairs = 2 * -(-inputs // 4)
    groups: list[Group] = []
    for part in words.reshape(-1, 4 + 64 * pairs + 8):
        weights: dict[tuple[int, int, int, int], int] = {}
        at = 4
        for column in (1, 2, 0, 3):
            for row in (1, 2, 3, 0):
                for pair in range(pairs):
                    first = 4 * (pair // 2) + pair % 2
                    for channel in range(4):
                        low, high = part[at : at + 1].view(np.int16).tolist()
                        weights[row, column, first, channel] = low
                        weights[row, column, first + 2, channel] = high
                        at += 1
        numbers = part[at:].tolist()
        groups.append(
            Group(
                bias=part[:4].tolist(),
                weights=weights,
                multipliers=numbers[::2],
                shifts=[number & 0xFF for number in numbers[1::2]],
            )
        )
    return groups


def test_the_stream_holds_the_transformed_weights() -> None:
    """Every U is the exact one, doubled down and, in the middle columns, doubled across."""
    for drawn in layers(12):
        layer, channels = of(drawn)
        inputs = layer.window.image[3]
        if not fits(channels, inputs):
            continue
        groups = read(stream(channels, inputs), inputs)
        assert len(groups) == -(-len(channels.weights) // 4)
        for output in range(4 * len(groups)):
            group, channel = groups[output // 4], output % 4
            is_dead = output >= len(channels.weights) or channels.multipliers[output] == 0
            assert group.bias[channel] == (0 if is_dead else 4 * int(channels.bias[output]))
            assert group.multipliers[channel] == (1 << 30 if is_dead else channels.multipliers[output])
            for c in range(4 * -(-inputs // 4)):
                zero = is_dead or c >= inputs
                taps = np.zeros((3, 3), int) if zero else layer.weights[output].reshape(3, 3, -1)[:, :, c]
                exact = products_of(taps)
                for row, column in itertools.product(range(4), range(4)):
                    scale = 2 * (2 if column in (1, 2) else 1) * (-1 if row == 3 else 1)
                    assert group.weights[row, column, c, channel] == exact[row][column] * scale


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
            u = transformed(weights.reshape(1, -1).astype(np.int8), depth)[0].astype(object)
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
            if fits(channels, depth):
                assert max(abs(each) for each in (*middle[0], *middle[1], *results.reshape(-1))) < 2**31
            else:
                assert depth == 600


def test_sums_that_may_not_fit_leave_the_layer_to_the_portable_kernel() -> None:
    taken = {"winograd_s8_dsp": 0, "conv2d_s8_portable": 0}
    for drawn in layers(60):
        _, channels = of(drawn)
        inputs = drawn.let.call.args[0].type.shape[3] if drawn.let.call.args[0] else 0
        bound = KERNEL.bind(drawn.let, drawn.constants, "layer")
        taken[bound.kernel] += 1
        assert (bound.kernel == "winograd_s8_dsp") == fits(channels, inputs)
        large = replace(channels, bias=np.full(len(channels.weights), 2**29, np.int32))
        assert not fits(large, inputs)
    assert min(taken.values()) > 2, taken


def test_the_distance_is_that_of_blocks_read_before_they_are_written() -> None:
    """Block by block over its windows and its results, not by the formula."""
    seen = 0
    for drawn in layers(60):
        bound = KERNEL.bind(drawn.let, drawn.constants, "layer")
        if bound.kernel != KERNEL.name or not bound.sharing:
            continue
        window = CONVOLUTION.window(drawn.let)
        _, height, width, _ = window.result
        blocks = [
            [
                (image * height + y) * width + x
                for y in range(top, min(top + 2, height))
                for x in range(left, min(left + 4, width))
            ]
            for image in range(window.result[0])
            for top in range(0, height, 2)
            for left in range(0, width, 4)
        ]
        least, outputs = lowest_reads(window), window.result[3]
        steps: list[tuple[int | None, int | None]] = []
        for block in blocks:
            steps += [(None, least[pixel]) for pixel in block]
            steps.append(((max(block) + 1) * outputs, None))
        assert bound.sharing == forward_sharing(drawn.let, 0, nearest(steps))
        seen += 1
    assert seen > 40


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
    runs.only_kernels(monkeypatch, KERNEL.name)
    choices = Choices(planner="greedy_by_size", optimize="speed")
    made = [
        runs.planned_alone(module_of(drawn), "mps2-an386", f"layer{number}", choices=choices)
        for number, drawn in enumerate(SHAPES)
    ]
    assert {prim.kernel for each in made for prim in each.program.steps.prim_funcs} == {KERNEL.name}
    runs.check_predictions(made, runs.run_planned(made, "mps2-an386", tmp_path), percent=3)
