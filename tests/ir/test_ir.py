"""Expected values come from exact rational arithmetic (`fractions`), never from NumPy.
C names come out valid, short and unique whatever the file says.
The text form reads back to the same module, and says where text is wrong.
"""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen import importers
from codegen.ir import Module
from codegen.ir.c_names import identifier, unique
from codegen.ir.ops.base import fixed_point as fp
from codegen.ir.text import parse_module, print_module
from tests.ir.strategies import modules
from tests.networks import model_path

INT32 = st.integers(fp.INT32_MIN, fp.INT32_MAX)
MULTIPLIER = st.integers(1 << 30, fp.INT32_MAX)


def half_up(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


def half_away(value: Fraction) -> int:
    return half_up(value) if value >= 0 else -half_up(-value)


def wrapped(value: int) -> int:
    return int.from_bytes((value & 0xFFFFFFFF).to_bytes(4, "little"), "little", signed=True)


@given(st.floats(-(2.0**40), 2.0**40))
def test_round_half_away_is_exact(value: float) -> None:
    assert fp.round_half_away(value) == half_away(Fraction(value))


@given(st.lists(st.floats(-(2.0**20), 2.0**20, width=32), min_size=1))
def test_round_half_away_of_arrays_is_exact(values: list[float]) -> None:
    rounded = fp.round_half_away_array(np.array(values, np.float32))
    assert rounded.dtype == np.float32
    assert [int(item) for item in rounded] == [half_away(Fraction(value)) for value in values]


def test_round_half_away_takes_halves_away_and_the_float_below_a_half_down() -> None:
    halves = np.array([0.5, -0.5, 1.5, -2.5, 0.49999997, -0.49999997], np.float32)
    assert fp.round_half_away_array(halves).tolist() == [1, -1, 2, -3, 0, 0]


@pytest.mark.parametrize(
    ("factor", "expected"),
    [
        (0.0, (0, 0)),
        (0.5, (1 << 30, 0)),
        (1.0, (1 << 30, 1)),
        (0.75, (3 << 29, 0)),
        (-0.5, (-(1 << 30), 0)),
        (1.0 - 2.0**-40, (1 << 30, 1)),  # the mantissa rounds up to 2^31
        (2.0**-32, (1 << 30, -31)),
        (2.0**-33, (0, 0)),
        (2.0**29, (1 << 30, 30)),
    ],
)
def test_quantize_multiplier_examples(factor: float, expected: tuple[int, int]) -> None:
    assert fp.quantize_multiplier(factor) == expected


@given(st.floats(2.0**-31, 2.0**29))
def test_quantize_multiplier_is_the_nearest_31_bit_fraction(factor: float) -> None:
    multiplier, shift = fp.quantize_multiplier(factor)
    assert 1 << 30 <= multiplier < 1 << 31
    error = abs(Fraction(multiplier, 1 << 31) * Fraction(2) ** shift - Fraction(factor))
    assert error <= Fraction(2) ** (shift - 32)


@pytest.mark.parametrize("factor", [2.0**30, 1e18, math.inf, math.nan])
def test_quantize_multiplier_refuses_what_no_kernel_can_apply(factor: float) -> None:
    with pytest.raises(ValueError, match="between quantisations"):
        fp.quantize_multiplier(factor)


@pytest.mark.parametrize("factor", [1.0, 1.5, 0.0, -0.5, 1.0 - 2.0**-40])
def test_factors_below_one_only(factor: float) -> None:
    with pytest.raises(ValueError, match="above 0 and below 1"):
        fp.quantize_multiplier_below_one(factor)


def test_a_factor_below_one() -> None:
    assert fp.quantize_multiplier_below_one(0.25) == (1 << 30, -1)


@given(st.integers(-(1 << 62), 1 << 62))
def test_wrap_int32(value: int) -> None:
    assert int(fp.wrap_int32(np.array(value))) == wrapped(value)


@given(INT32, INT32)
def test_doubling_high_mul(first: int, second: int) -> None:
    expected = min(half_up(Fraction(first * second, 1 << 31)), fp.INT32_MAX)
    assert int(fp.doubling_high_mul(first, second)) == expected


def test_doubling_high_mul_saturates_once() -> None:
    assert int(fp.doubling_high_mul(fp.INT32_MIN, fp.INT32_MIN)) == fp.INT32_MAX


@given(INT32, st.integers(0, 31))
def test_rounding_divide_by_power(value: int, exponent: int) -> None:
    assert int(fp.rounding_divide_by_power(value, exponent)) == half_away(Fraction(value, 1 << exponent))


@given(INT32, MULTIPLIER, st.integers(-31, 30))
def test_multiply_rounds_twice(value: int, multiplier: int, shift: int) -> None:
    high = half_up(Fraction(wrapped(value << max(shift, 0)) * multiplier, 1 << 31))
    expected = half_away(Fraction(high, 1 << max(-shift, 0)))
    assert int(fp.multiply_by_quantized_multiplier(value, multiplier, shift)) == expected


@given(st.integers(-(1 << 47), (1 << 47) - 1), MULTIPLIER, st.integers(-31, fp.MAX_WIDE_SHIFT))
def test_wide_multiply_rounds_once_with_half_the_multiplier(value: int, multiplier: int, shift: int) -> None:
    reduced = min(half_up(Fraction(multiplier, 1 << 16)), 0x7FFF)
    assert int(fp.reduced_multiplier(multiplier)) == reduced
    expected = wrapped(half_up(Fraction(value * reduced, 1 << (15 - shift))))
    assert int(fp.multiply_wide_by_quantized_multiplier(value, multiplier, shift)) == expected


def test_multiply_by_channel_is_multiply_of_each_channel() -> None:
    values = np.arange(-600, 600, 7).reshape(-1, 4)[:, :3] * 12345
    multipliers, shifts = np.array([1 << 30, 1515870810, 0]), np.array([-7, 3, 0])
    together = fp.multiply_by_quantized_multiplier(values, multipliers, shifts)
    for channel, (multiplier, shift) in enumerate(zip(multipliers, shifts, strict=True)):
        alone = fp.multiply_by_quantized_multiplier(values[:, channel], multiplier, shift)
        assert together[:, channel].tolist() == alone.tolist()


@given(INT32, st.integers(0, 20))
def test_saturating_shift_left(value: int, exponent: int) -> None:
    expected = max(fp.INT32_MIN, min(fp.INT32_MAX, value << exponent))
    assert int(fp.saturating_shift_left(np.array(value, np.int64), exponent)) == expected


@given(st.integers(fp.INT32_MIN, -1))
def test_exponential_is_close_to_the_real_one(value: int) -> None:
    """Q5.26 in, Q0.31 out; the polynomial's own error is below 2^-23 (next Taylor term, (1/8)^5/120)."""
    got = int(fp.exp_on_negative_values(np.array([value]))[0]) / 2**31
    assert abs(got - math.exp(value / 2**26)) < 2.0**-21


def test_exponential_of_zero_is_the_largest_fraction() -> None:
    assert fp.exp_on_negative_values(np.array([0])).tolist() == [fp.INT32_MAX]


@given(st.integers(0, fp.INT32_MAX))
def test_reciprocal_is_close_to_the_real_one(value: int) -> None:
    got = int(fp.one_over_one_plus_x(np.array([value]))[0]) / 2**31
    assert abs(got - 1 / (1 + value / 2**31)) < 2.0**-26


@given(st.integers(1, (1 << 32) - 1))
def test_count_leading_zeros(value: int) -> None:
    assert int(fp.count_leading_zeros(np.array([value]))[0]) == 32 - value.bit_length()


@given(st.text())
def test_always_an_identifier(text: str) -> None:
    name = identifier(text, "input0")
    assert re.fullmatch(r"[a-z_][a-z0-9_]*", name)
    assert len(name) <= 32 + len("input0_")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("serving_default_input_1:0", "input_1"),
        ("Identity", "identity"),
        ("float", "float_"),
        ("3x3", "input0_3x3"),
        ("", "input0"),
        ("StatefulPartitionedCall:0", "input0_0"),
    ],
)
def test_examples(text: str, name: str) -> None:
    assert identifier(text, "input0") == name


@given(st.lists(st.sampled_from(["a", "a_2", "b"])))
def test_unique(names: list[str]) -> None:
    found = unique(names)
    assert len(set(found)) == len(found) == len(names)


@given(modules())
def test_any_module_reads_back(module: Module) -> None:
    text = print_module(module)
    assert parse_module(text) == module
    assert print_module(parse_module(text)) == text


@pytest.mark.parametrize("key", ["ds_cnn", "mobilenet_v2", "autoencoder_float"])
def test_real_models_read_back(key: str) -> None:
    module = importers.load(model_path(key))
    assert parse_module(print_module(module)) == module


def test_a_step_that_runs_again_says_which() -> None:
    twice = "  %relu0_again: int8[2] = RELU(%x) repeats %relu0\n} -> (%relu0_again)"
    text = _GOOD.replace("} -> (%relu0)", twice)
    module = parse_module(text)
    assert [let.repeats for let in module.main.body] == ["", "relu0"]
    assert print_module(module) == text


_GOOD = "module\nfn main(%x: int8[2]) {\n  %relu0: int8[2] = RELU(%x)\n} -> (%relu0)\n"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("RELU(", "NONSENSE(", "no operator NONSENSE"),
        ("(%x)", "(%y)", "%y is used before it is defined"),
        ("-> (%relu0)", "", "line 4: expected ->, found the end"),
        ("int8[2] =", "int9[2] =", "int9"),
        ("{\n", "? {\n", "line 2: cannot read"),
    ],
)
def test_wrong_text_is_named(old: str, new: str, reason: str) -> None:
    parse_module(_GOOD)
    with pytest.raises(ValueError, match=reason.replace("?", r"\?")):
        parse_module(_GOOD.replace(old, new))
