"""Requantization without a long multiply: the numbers give TFLite's result for every accumulator."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator
from numpy.typing import NDArray

from codegen.ir.ops.base.fixed_point import multiply_by_quantized_multiplier
from codegen.kernels.v6m.packing import FRACTION, LIMIT, LOW, Fit, Rescaling, fit
from tests.sampling import examples

Integers = NDArray[np.int64]


def kernel(found: Fit, scale: Rescaling, sums: Integers) -> Integers:
    """What the kernels compute on 32 bits, of sums [channel, many] in short channels."""

    def column(numbers: Integers) -> NDArray[np.uint32]:
        return (numbers & 0xFFFFFFFF).astype(np.uint32)[:, None]

    x = (sums - found.base[:, None] & 0xFFFFFFFF).astype(np.uint32)
    y = x * column(found.high) + (x * column(found.low) >> np.uint32(LOW)) + column(found.offset)
    signed = y.view(np.int32)
    y = np.where(signed < scale.middle, y - column(found.kink), y)
    result = (y >> np.uint32(FRACTION)).astype(np.uint8).view(np.int8).astype(np.int64)
    below = x.view(np.int32) < 0
    return np.where(x > column(found.limit), np.where(below, scale.low, scale.high), result)


def reference(scale: Rescaling, sums: Integers) -> Integers:
    scaled = multiply_by_quantized_multiplier(sums.T, scale.multipliers, scale.shifts).T
    return np.clip(scaled + scale.zero, scale.low, scale.high)


def drawn(rng: Generator, channels: int, shifts: tuple[int, int]) -> Rescaling:
    zero = int(rng.choice([-128, 127, 0, *rng.integers(-128, 128, 4)]))
    low, high = (-128, 127) if rng.random() < 0.5 else (zero, min(127, zero + int(rng.integers(1, 256))))
    return Rescaling(
        multipliers=rng.integers(1 << 30, 1 << 31, channels),
        shifts=rng.integers(*shifts, channels, endpoint=True),
        zero=zero,
        low=low,
        high=max(high, low),
    )


def near_steps(rng: Generator, scale: Rescaling, least: Integers, most: Integers) -> Integers:
    """Sums [channel, many]: ends, random ones, and all within 3 of where a result would round up."""
    count = len(least)
    factor = scale.multipliers.astype(np.float64) * 2.0 ** (scale.shifts - 31)
    steps = (np.arange(-260, 261)[None, :] - 0.5) / factor[:, None]
    around = np.floor(steps)[:, :, None] + np.arange(-3, 4)
    anywhere = rng.integers(least[:, None], most[:, None], (count, 2000), endpoint=True)
    every = np.concatenate([around.reshape(count, -1), anywhere, least[:, None], most[:, None]], axis=1)
    return np.clip(every, least[:, None], most[:, None]).astype(np.int64)


@pytest.mark.parametrize("seed", range(60))
def test_results_are_those_of_two_roundings(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scale = drawn(rng, 24, (-13, 3))
    middle = rng.integers(-(1 << 18), 1 << 18, 24)
    reach = (2.0 ** rng.uniform(3, 22, 24)).astype(np.int64)
    least, most = middle - reach, middle + reach
    found = fit(scale, least, most)
    sums = near_steps(rng, scale, least, most)
    got, expected = kernel(found, scale, sums), reference(scale, sums)
    short, constant = ~found.is_long & ~found.is_constant, found.is_constant
    np.testing.assert_array_equal(got[short], expected[short])
    same = np.broadcast_to((found.offset[constant] >> FRACTION)[:, None], expected[constant].shape)
    np.testing.assert_array_equal(same, expected[constant])


@settings(max_examples=examples(60))
@given(st.integers(1 << 30, (1 << 31) - 1), st.integers(-9, -4), st.integers(-128, 127), st.booleans())
def test_every_accumulator(multiplier: int, shift: int, zero: int, relu: bool) -> None:
    """All of a channel whose sums take 18 bits."""
    scale = Rescaling(
        multipliers=np.array([multiplier]),
        shifts=np.array([shift]),
        zero=zero,
        low=zero if relu else -128,
        high=127,
    )
    sums = np.arange(-(1 << 17), 1 << 17, dtype=np.int64)[None, :]
    found = fit(scale, sums[:, 0], sums[:, -1])
    if not found.is_long[0] and not found.is_constant[0]:
        np.testing.assert_array_equal(kernel(found, scale, sums), reference(scale, sums))


def test_channels_as_networks_have_them_take_the_short_way() -> None:
    """Results spread over int8, sums of up to 18 bits before they saturate."""
    rng = np.random.default_rng(1)
    scale = drawn(rng, 500, (-9, -5))
    reach = np.full(500, 1 << 20)
    assert not fit(scale, -reach, reach).is_long.any()


def test_numbers_fit_their_words() -> None:
    rng = np.random.default_rng(2)
    scale = drawn(rng, 800, (-14, 4))
    reach = (2.0 ** rng.uniform(2, 24, 800)).astype(np.int64)
    found = fit(scale, -reach, reach)
    assert (found.limit < LIMIT).all()
    assert (found.low < 1 << LOW).all()
    assert (found.high < 1 << 32).all()
    assert ((found.kink >= 0) & (found.kink < 1 << 31)).all()
    assert (np.abs(found.offset) < 1 << 31).all()
    assert found.is_long.any()
    assert not found.is_long.all()


def test_sums_that_may_wrap_go_the_long_way() -> None:
    scale = Rescaling(
        multipliers=np.full(3, 1 << 30), shifts=np.array([-8, -8, 1]), zero=0, low=-128, high=127
    )
    least = np.array([-(1 << 31) - 1, -1000, -1000])
    most = np.array([1000, 1 << 31, 1 << 30])
    assert fit(scale, least, most).is_long.all()


def test_a_multiplier_of_zero_is_constant() -> None:
    scale = Rescaling(
        multipliers=np.zeros(2, np.int64), shifts=np.zeros(2, np.int64), zero=-7, low=-128, high=127
    )
    found = fit(scale, np.array([-1000, 5]), np.array([1000, 1 << 30]))
    assert found.is_constant.all()
    assert (found.offset >> FRACTION == -7).all()
