"""Kernel parameters against exact rational arithmetic, and against the cases TFLite computes in float32.
Windows are cut to what can meet the image, exactly: a pool of 2^31-1 taps was a traceback, one of 30,000
asked for 13 GiB, a dilation of 100,000 ended in exit 1. The reference here is a plain walk over every tap.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.ir.ops import ActivatedAttrs, Activation
from codegen.ir.ops.base import parameters as pm
from codegen.ir.ops.base.activation import real_limits, stored_limits
from codegen.ir.ops.base.fixed_point import quantize_multiplier
from codegen.ir.ops.base.taps import WindowAxis
from tests.ir.test_operator_rules import i8

SCALE = st.floats(2.0**-10, 2.0**4, width=32)


def factor(multiplier: int, shift: int) -> Fraction:
    return Fraction(multiplier, 1 << 31) * Fraction(2) ** shift


def near(got: Fraction, expected: Fraction, bits: int) -> bool:
    return abs(got - expected) <= abs(expected) * Fraction(1, 1 << bits)


@pytest.mark.parametrize(
    ("activation", "scale", "zero_point", "expected"),
    [
        (Activation.NONE, 0.1, 5, (-128, 127)),
        (Activation.RELU, 0.1, 5, (5, 127)),
        (Activation.RELU6, 0.1, 5, (5, 65)),
        (Activation.RELU6, 0.01, -128, (-128, 127)),
        (Activation.RELU_N1_TO_1, 0.4, 0, (-3, 3)),  # 2.5 rounds away from zero
        (Activation.RELU, 0.1, 127, (127, 127)),
    ],
)
def test_stored_limits(
    activation: Activation, scale: float, zero_point: int, expected: tuple[int, int]
) -> None:
    attrs = ActivatedAttrs(activation=activation)
    assert stored_limits(attrs, i8(1, scale=scale, zero_point=zero_point)) == expected


def test_real_limits() -> None:
    assert real_limits(ActivatedAttrs(activation=Activation.RELU_N1_TO_1)) == (-1.0, 1.0)
    assert real_limits(ActivatedAttrs(activation=Activation.RELU)) == (0.0, math.inf)


@given(SCALE, st.lists(SCALE, min_size=1, max_size=4), SCALE)
def test_conv_multipliers(image: float, weights: list[float], result: float) -> None:
    multipliers, shifts = pm.conv_multipliers(image, weights, result)
    assert multipliers.dtype == shifts.dtype == np.int32
    for scale, multiplier, shift in zip(weights, multipliers.tolist(), shifts.tolist(), strict=True):
        assert near(factor(multiplier, shift), Fraction(image) * Fraction(scale) / Fraction(result), 30)


def test_fully_connected_rounds_the_product_of_scales_to_float32() -> None:
    """(1 + 2^-12)^2 = 1 + 2^-11 + 2^-24 needs 25 bits: float32 rounds it (to even) to 1 + 2^-11."""
    scale = 1.0 + 2.0**-12
    multipliers, shifts = pm.fully_connected_multipliers(scale, [scale], 2.0)
    assert factor(int(multipliers[0]), int(shifts[0])) == (1 + Fraction(1, 1 << 11)) / 2
    exact = (1 + Fraction(1, 1 << 12)) ** 2 / 2
    for pair in (
        pm.conv_multipliers(scale, [scale], 2.0),
        pm.fully_connected_multipliers(scale, [scale, scale], 2.0),
    ):
        assert factor(int(pair[0][0]), int(pair[1][0])) == exact


def test_mul_rounds_the_product_of_scales_to_float32() -> None:
    scale = 1.0 + 2.0**-12
    pair = pm.mul_multiplier(i8(1, scale=scale), i8(1, scale=scale), i8(1, scale=2.0))
    assert factor(*pair) == (1 + Fraction(1, 1 << 11)) / 2


@given(SCALE, SCALE, SCALE)
def test_add_params_scale_both_to_twice_the_larger(first: float, second: float, result: float) -> None:
    types = i8(1, scale=first), i8(1, scale=second), i8(1, scale=result)
    added, subtracted = pm.add_params(*types), pm.sub_params(*types)
    twice = 2 * Fraction(max(first, second))
    assert near(factor(added.first_multiplier, added.first_shift), Fraction(first) / twice, 30)
    assert near(factor(added.second_multiplier, added.second_shift), Fraction(second) / twice, 30)
    expected = twice / (Fraction(result) * (1 << added.left_shift))
    assert near(factor(added.result_multiplier, added.result_shift), expected, 30)
    assert max(added.first_shift, added.second_shift, added.result_shift) <= 0
    assert subtracted.second_multiplier == -added.second_multiplier
    assert subtracted.first_multiplier == added.first_multiplier


@given(SCALE, SCALE, st.integers(1, 5000))
def test_mean_multiplier_divides_by_the_count(argument: float, result: float, count: int) -> None:
    pair = pm.mean_multiplier(i8(1, scale=argument), i8(1, scale=result), count)
    expected = Fraction(argument) / Fraction(result) / count
    assert near(factor(*pair), expected, 28)  # truncated, so up to two bits worse


@given(SCALE, SCALE, st.floats(-4, 4, width=32).filter(lambda slope: abs(slope) > 1e-6))
def test_leaky_relu_params(argument: float, result: float, alpha: float) -> None:
    params = pm.leaky_relu_params(alpha, i8(1, scale=argument), i8(1, scale=result))
    ratio = Fraction(argument) / Fraction(result)
    assert near(factor(params.positive_multiplier, params.positive_shift), ratio, 23)
    assert near(factor(params.negative_multiplier, params.negative_shift), ratio * Fraction(alpha), 22)


@given(SCALE, SCALE)
def test_rescale_is_in_double_and_relu_in_float32(argument: float, result: float) -> None:
    types = i8(1, scale=argument), i8(1, scale=result)
    ratio = Fraction(argument) / Fraction(result)
    assert near(factor(*pm.rescale_multiplier(*types)), ratio, 30)
    assert near(factor(*pm.relu_multiplier(*types)), ratio, 23)


def test_softmax_params() -> None:
    """Scale 1/16, beta 1: 2^26 / 16 = 2^22 exactly; differences down to -31 * 16 count."""
    params = pm.softmax_params(1.0, i8(1, scale=1 / 16))
    assert factor(params.multiplier, params.left_shift) == 1 << 22
    assert params.least_difference == -math.floor(31 * 2**26 / 2**params.left_shift)


@pytest.mark.parametrize("scale", [0.003, 0.05, 0.9])
@pytest.mark.parametrize("zero_point", [-128, 0, 77])
def test_tables_are_the_rounded_functions(scale: float, zero_point: int) -> None:
    argument = i8(1, scale=scale, zero_point=zero_point)
    logistic = pm.logistic_table(argument, i8(1, scale=1 / 256, zero_point=-128))
    tanh = pm.tanh_table(argument, i8(1, scale=1 / 128))
    for stored in range(-128, 128):
        real = argument.scale * (stored - zero_point)
        for table, value, offset in (
            (logistic, 256 / (1 + math.exp(-real)), -128),
            (tanh, 128 * math.tanh(real), 0),
        ):
            assert abs(float(table[stored & 0xFF]) - min(value + offset, 127.0)) <= 0.5 + 1e-4


HUGE = 2**31 - 1


@st.composite
def axes(draw: st.DrawFn, pool: bool = False) -> WindowAxis:
    small = st.integers(0, 9)
    axis = WindowAxis(
        extent=draw(st.integers(1, 9)),
        window=draw(st.integers(1, 12)),
        stride=draw(st.integers(1, 30)),
        dilation=1 if pool else draw(st.integers(1, 40)),
        before=draw(st.one_of(small, st.integers(0, 99))),
        after=draw(st.one_of(small, st.integers(0, 99))),
    )
    return axis if axis.room >= 0 else replace(axis, after=axis.after - axis.room)


def walked(axis: WindowAxis) -> list[list[tuple[int, int]]]:
    """For each result the taps inside the image, and where they are."""
    found: list[list[tuple[int, int]]] = []
    for result in range(axis.room // axis.stride + 1):
        places = [
            (tap, result * axis.stride - axis.before + tap * axis.dilation) for tap in range(axis.window)
        ]
        found.append([(tap, place) for tap, place in places if 0 <= place < axis.extent])
    return found


def hit(axis: WindowAxis) -> list[list[tuple[int, int]]]:
    found: list[list[tuple[int, int]]] = [[] for _ in range(axis.count)]
    for each in axis.hits():
        for number, result in enumerate(range(each.first, each.stop)):
            found[result].append((each.tap, each.at + number * axis.stride))
    return found


@given(axes())
def test_hits_are_those_of_a_walk_over_all_taps(axis: WindowAxis) -> None:
    assert hit(axis) == walked(axis)


@given(axes(pool=True))
def test_a_cut_window_reads_the_same_places(axis: WindowAxis) -> None:
    places = [[place for _, place in taps] for taps in walked(axis)]
    if not any(places):
        return
    cut = axis.cut()
    assert [[place for _, place in taps] for taps in walked(cut)] == places
    assert min(cut.before, cut.after) >= 0
    assert cut.window <= axis.extent + (cut.count - 1) * cut.stride


@given(axes())
def test_a_smaller_dilation_leaves_every_tap_what_it_meets(axis: WindowAxis) -> None:
    near = axis.near()
    assert walked(near) == walked(axis)
    assert min(near.before, near.after) >= 0
    assert near.window == axis.window
    # Of one tap too: C multiplies the dilation by bytes of a row, which overflowed (found by the fuzzer).
    most = 1 if near.window == 1 else axis.extent + (near.count - 1) * near.stride + 1
    assert near.dilation <= most


@pytest.mark.parametrize("extent", [1, 4, 33])
def test_huge_numbers_cost_nothing(extent: int) -> None:
    same = WindowAxis(extent=extent, window=HUGE, before=HUGE // 2, after=HUGE // 2 - extent + 1 + HUGE % 2)
    pooled = replace(same, stride=HUGE).cut()
    assert pooled.window <= 2 * extent
    assert pooled.stride <= HUGE - extent
    dilated = WindowAxis(extent=extent, window=3, dilation=HUGE, before=HUGE, after=HUGE, stride=HUGE)
    assert dilated.near().dilation <= extent + 1
    assert [each.tap for each in dilated.hits()] == [1]


def test_multipliers_of_a_layer_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pass and every kernel that was weighed computed them again, a dozen times a layer."""
    asked: list[float] = []

    def counted(factor: float) -> tuple[int, int]:
        asked.append(factor)
        return quantize_multiplier(factor)

    monkeypatch.setattr(pm, "quantize_multiplier", counted)
    scales = [0.01234567 + 0.001 * channel for channel in range(32)]
    first = pm.conv_multipliers(0.76543, scales, 0.2468)
    wanted = [tuple(each.tolist()) for each in first]
    first[0][:] = 0  # whoever changes the result has one of his own
    assert [tuple(each.tolist()) for each in pm.conv_multipliers(0.76543, scales, 0.2468)] == wanted
    assert len(asked) == 32
