"""What the int16 DSP kernels pack, when they refuse, and their distances, without a target."""

import numpy as np
import pytest

from codegen.ir import DType, Target
from codegen.kernels import kernels_for
from codegen.kernels.base.tiles import Tiling, tiled_below
from codegen.kernels.base.window import WindowShape
from codegen.kernels.dsp.convolution_s16 import LEAST_SHIFT, Channels, pairwise_below
from codegen.kernels.dsp.price_s16 import tiles
from tests.kernels.base.test_overlap import random_window
from tests.kernels.builders import random_layer
from tests.kernels.dsp.int16_layers import int16_layer, shaped

M4 = Target(cpu="cortex-m4", features=frozenset({"dsp"}))


def _channels(rng: np.random.Generator) -> Channels:
    count, values = int(rng.integers(1, 8)), int(rng.integers(1, 20))
    return Channels(
        weights=rng.integers(-128, 128, (count, values), np.int8),
        bias=rng.integers(-(2**31), 2**31, count),
        multipliers=rng.integers(0, 1 << 15, count),
        shifts=rng.integers(LEAST_SHIFT, 47, count),
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_stream_holds_every_number_once(seed: int) -> None:
    """Read back as the assembly does: SXTB16 of a word is a's pair, rotated by 8 it is b's."""
    channels = _channels(np.random.default_rng(seed))
    count, values = channels.weights.shape
    words = (values + 1) // 2
    pairs = channels.stream().reshape((count + 1) // 2, words + 5)
    for number, pair in enumerate(pairs):
        taps = np.ascontiguousarray(pair[2 : 2 + words]).view(np.int8).reshape(words, 4)
        for which in (0, 1):
            channel = 2 * number + which
            stored = taps[:, which::2].reshape(-1)
            shift = int(pair[4 + words]) >> 8 * which & 0xFF
            if channel == count:
                assert not stored.any()
                assert (pair[which], pair[2 + words + which], shift) == (0, 0, 1)
                continue
            assert stored[:values].tolist() == channels.weights[channel].tolist()
            assert not stored[values:].any()
            assert pair[which] == channels.bias[channel]
            assert pair[2 + words + which] == channels.multipliers[channel] << 16
            assert shift == channels.shifts[channel] - 16


def _one(weight: int, values: int, bias: int = 0, shift: int = 20) -> Channels:
    return Channels(
        weights=np.full((1, values), weight, np.int8),
        bias=np.array([bias]),
        multipliers=np.array([1 << 14]),
        shifts=np.array([shift]),
    )


def test_sums_fit_up_to_the_last_unit() -> None:
    """511 products of -128 and -32768 leave 2^22 - 1 for the bias, of either sign; 512 none."""
    assert _one(-128, 511, 2**22 - 1).fits
    assert _one(-128, 511, -(2**22) + 1).fits
    assert not _one(-128, 511, 2**22).fits
    assert not _one(-128, 512).fits
    assert not _one(1, 1, shift=LEAST_SHIFT - 1).fits
    assert _one(1, 1, shift=LEAST_SHIFT).fits


def test_the_short_requantization_is_the_reference_for_every_sum_that_fits() -> None:
    rng = np.random.default_rng(3)
    sums = np.concatenate([rng.integers(-(2**31) + 1, 2**31, 100_000), [-(2**31) + 1, -1, 0, 1, 2**31 - 1]])
    multipliers = rng.integers(0, 1 << 15, sums.size)
    shifts = rng.integers(LEAST_SHIFT, 47, sums.size)
    high = sums * (multipliers << 16) >> 32
    short = (high >> shifts - 16) + (high >> shifts - 17 & 1)
    expected = sums * multipliers + (1 << shifts - 1) >> shifts
    np.testing.assert_array_equal(short, expected)


@pytest.mark.parametrize("seed", range(40))
def test_convolutions_distance_against_a_simulation(seed: int) -> None:
    window, _, _ = random_window(np.random.default_rng(seed))
    batch, height, width, depth = window.image
    down, across = window.axes
    worst: int | None = None
    lowest: int | None = None
    ends = 0
    events: list[tuple[int, list[int]]] = []
    for b in range(batch):
        for y in range(down.count):
            x = 0
            for size in tiles(across.count):
                reads = _reads(window, b, y, range(x, x + size))
                x += size
                ends += size * window.result[3]
                events.append((ends, reads))
    for end, reads in reversed(events):
        if lowest is not None:
            worst = end - lowest if worst is None else max(worst, end - lowest)
        for element in reads:
            lowest = element if lowest is None else min(lowest, element)
    assert tiled_below(window, Tiling(rows=batch * down.count, tiles=tiles(across.count))) == worst
    assert height * width * depth > 0


def _reads(window: WindowShape, b: int, y: int, columns: range) -> list[int]:
    _, height, width, depth = window.image
    return [
        ((b * height + row) * width + column) * depth
        for x in columns
        for ky in range(window.window[0])
        for kx in range(window.window[1])
        if 0 <= (row := y * window.stride[0] - window.padding.top + ky * window.dilation[0]) < height
        and 0 <= (column := x * window.stride[1] - window.padding.left + kx * window.dilation[1]) < width
    ]


def test_distances_of_a_fully_connected_layer() -> None:
    assert pairwise_below(1, 8, 2) is None  # the one pair is written when all is read
    assert pairwise_below(1, 8, 3) == 2  # a pair is written, and the row is read again
    assert pairwise_below(2, 8, 2) == 2 - 8
    assert pairwise_below(3, 4, 6) == 16 - 8


def test_what_is_refused() -> None:
    [kernel] = [each for each in kernels_for("CONV_2D") if each.name == "conv2d_s16_dsp"]
    fine = shaped((4, 4), 4, (1, 1), 4).let
    assert kernel.refusal(fine, M4) is None
    assert kernel.refusal(fine, Target(cpu="cortex-m3")) is not None
    reasons = {kernel.refusal(random_layer("CONV_2D", DType.INT16, seed).let, M4) for seed in range(60)}
    assert "the kernel conv2d_s16_dsp is for sums of 64 bits, the bias is int32" in reasons
    assert "the kernel conv2d_s16_dsp is for one group" in reasons


def test_where_sums_may_leave_32_bits_the_portable_kernel_is_bound() -> None:
    found: set[str] = set()
    for seed in range(80):
        layer = int16_layer(seed)
        for kernel in kernels_for(layer.let.call.op.name):
            if kernel.name.endswith("s16_dsp") and kernel.refusal(layer.let, M4) is None:
                found.add(kernel.bind(layer.let, layer.constants, "x").kernel)
    assert {"conv2d_s16_dsp", "conv2d_s16_portable", "fully_connected_s16_dsp"} <= found
