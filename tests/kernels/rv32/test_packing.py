"""RV32 kernels: chunks whose sums fit, requantization in four instructions, sums as one proved line,
Winograd's filters, how far results may reach into images."""

import numpy as np
import pytest

from codegen.ir.ops.base.fixed_point import multiply_by_quantized_multiplier
from codegen.ir.ops.base.parameters import add_params
from codegen.kernels.rv32.depthwise import rows_below
from codegen.kernels.rv32.one_line import VALUES, Line, search_line
from codegen.kernels.rv32.packing import FIELD, Channels, chunks_of
from codegen.kernels.rv32.winograd import filters_of
from tests.kernels.layers import float32
from tests.kernels.v7m.test_on_target import random_window
from tests.tensor_types import tensor_type


@pytest.mark.parametrize("values", [1, 7, 8, 64, 65, 200, 1152])
def test_sums_of_chunks_fit_for_any_pixels(values: int) -> None:
    """Extremes: 64 values always fit one chunk; more take as few chunks as their weights let them."""
    for weights in (np.full((1, values), -128, np.int8), np.full((2, values), 127, np.int8)):
        chunks = chunks_of(weights)
        assert chunks.first + (chunks.count - 1) * chunks.size == values
        assert chunks.count == 1 if values <= 64 else chunks.size % 8 == 0
        for pixel in (-128, 127):
            longest = max(chunks.first, chunks.size if chunks.count > 1 else 0)
            total = chunks.offset + longest * pixel * int(weights[0, 0])
            assert 0 <= total < FIELD
    assert chunks_of(np.ones((3, 4000), np.int8)).count == 1


def test_requantization_rounds_twice() -> None:
    """A channel's words, as MULHSU, an addition and a shift take them, against TFLite's two roundings."""
    rng = np.random.default_rng(3)
    for shift in (1, 2, 9, 21):
        multipliers = np.concatenate((rng.integers(1 << 30, 1 << 31, 63), [1 << 30]))
        channels = Channels(
            weights=np.zeros((64, 1), np.int8),
            bias=np.zeros(64, np.int64),
            multipliers=multipliers,
            shifts=np.full(64, shift),
            zero_points=np.full(64, -7),
            ends_at_zero=False,
        )
        words = channels.words().astype(np.int64)
        # Sums near halves of results: there the two roundings differ from one.
        halves = (rng.integers(-200, 200, (64, 500)) + 0.5) * 2.0 ** (31 + shift) / multipliers[:, None]
        limit = min(2**29 - 1, 2 ** (20 + shift))
        sums = np.clip(np.rint(halves).astype(np.int64) + rng.integers(-2, 3, (64, 500)), -limit, limit)
        sums[:, :200] = rng.integers(-limit, limit, (64, 200))
        y = (2 * sums * (words[:, 1:2] & 0xFFFFFFFF)) >> 32
        found = (y + 2 * (y >> 31) + words[:, 2:3]) >> words[:, 3:4]
        expected = [
            multiply_by_quantized_multiplier(row, int(multiplier), -shift) - 7
            for row, multiplier in zip(sums, multipliers, strict=True)
        ]
        np.testing.assert_array_equal(found, np.array(expected))


@pytest.mark.parametrize("seed", range(8))
def test_a_line_gives_all_sums(seed: int) -> None:
    """Against TFLite's own three roundings, pair by pair."""
    rng = np.random.default_rng([seed, 4])
    scales = rng.uniform(0.01, 0.2, 2)
    first, second = (tensor_type(scale=float32(scale), zero=int(rng.integers(-128, 128))) for scale in scales)
    result = tensor_type(
        scale=float32(float(max(scales)) * rng.uniform(0.7, 2)), zero=int(rng.integers(-128, 128))
    )
    numbers = add_params(first, second, result)
    a, b = ((VALUES - type_.zero_point) << numbers.left_shift for type_ in (first, second))
    sums = (
        multiply_by_quantized_multiplier(a, numbers.first_multiplier, numbers.first_shift)[:, None]
        + multiply_by_quantized_multiplier(b, numbers.second_multiplier, numbers.second_shift)[None, :]
    )
    scaled = multiply_by_quantized_multiplier(sums, numbers.result_multiplier, numbers.result_shift)
    results = np.clip(scaled + result.zero_point, -128, 127)
    line = search_line(results, (first.scale / result.scale, second.scale / result.scale), (-128, 127))
    assert line is not None
    moved = line.first * VALUES[:, None] + line.second * VALUES[None, :] + line.offset
    assert np.abs(moved).max() < 2**31
    np.testing.assert_array_equal(np.clip(moved >> line.shift, -128, 127), results)


def test_no_line_is_made_up() -> None:
    """Results that are no line's have none; those of a known one have it or an equal one."""
    known = Line(first=3 << 20, second=-(1 << 20), offset=1 << 21, shift=22)
    sums = known.first * VALUES[:, None] + known.second * VALUES[None, :] + known.offset
    results = np.clip(sums >> known.shift, -128, 127)
    assert search_line(results, (0.75, -0.25), (-128, 127)) is not None
    results[100, 100] += 1
    assert search_line(results, (0.75, -0.25), (-128, 127)) is None


def test_filters_are_four_times_the_convolution() -> None:
    """A' (U * V) A of every tap alone: a pixel of 1 gives four times its weight."""
    down = np.array(((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1)))
    back = np.array(((1, 1, 1, 0), (0, 1, -1, -1)))
    weights = np.random.default_rng(5).integers(-128, 128, (4, 9, 3)).astype(np.int8)
    filters = filters_of(weights.reshape(4, -1), 3).reshape(4, 4, 4, 4).astype(np.int64)
    pixels = np.random.default_rng(6).integers(-128, 128, (4, 4, 3))
    moved = np.einsum("ia,jb,abc->ijc", down, down, pixels)
    sums = np.einsum("ijco,ijc->ijo", filters[:, :, :3], moved)
    results = np.einsum("yi,xj,ijo->yxo", back, back, sums)
    for y, x in np.ndindex(2, 2):
        window = pixels[y : y + 3, x : x + 3].reshape(-1)
        np.testing.assert_array_equal(results[y, x], 4 * weights.reshape(4, -1).astype(np.int64) @ window)
    assert not filters[:, :, 3].any(), "the fourth channel of the image is none"


@pytest.mark.parametrize("seed", range(40))
def test_distance_of_rows_is_the_least_safe_one(seed: int) -> None:
    """Row by row: what the next row of results needs and is not kept yet is read, then the row is written."""
    window = random_window(seed)
    down, line = window.axes[0], window.image[2] * window.image[3]
    out_line = window.result[2] * window.result[3]
    unsafe = [
        (image * down.count + y + 1) * out_line - (image * down.extent + later) * line
        for image in range(window.image[0])
        for y in range(down.count)
        for later in range(down.lasts[y] + 1, down.lasts[-1] + 1)
    ]
    unsafe += [
        (image * down.count + down.count) * out_line - (image + 1) * down.extent * line
        for image in range(window.image[0] - 1)
    ]
    assert rows_below(window) == (max(unsafe) if unsafe else None)
