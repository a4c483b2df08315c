"""The short requantization of the DSP extension, as the instructions are defined, beside TFLite's."""

from hypothesis import given
from hypothesis import strategies as st

from codegen.ir.ops.base.fixed_point import multiply_by_quantized_multiplier
from codegen.kernels.dsp.packing import ACCUMULATOR_LIMIT, MOST_SHIFT


def short_requantize(total: int, doubled: int, shift: int, zero: int, *, halves_up: bool = False) -> int:
    """SMMLAR; ADD with the sign; ASRS; ADC; SSAT #8, as the architecture manual defines them. Without the ADD
    where halves go up."""
    signed = doubled - (1 << 32) if doubled >> 31 else doubled
    upper = (((total << 32) + total * signed + (1 << 31)) >> 32) & 0xFFFFFFFF
    value = upper - (1 << 32) if upper >> 31 else upper
    value += 0 if halves_up else value >> 31
    carry = (value >> (shift - 1)) & 1
    return max(-128, min(127, (value >> shift) + zero + carry))


@given(
    st.integers(-(2**31), 2**31 - 1),
    st.integers(2**30, 2**31 - 1),
    st.integers(1, 31),
    st.integers(-128, 127),
)
def test_five_instructions_round_as_tflite_does(total: int, multiplier: int, shift: int, zero: int) -> None:
    """For every sum, not only small ones: nothing is doubled on the way."""
    expected = int(multiply_by_quantized_multiplier(total, multiplier, -shift)) + zero
    assert short_requantize(total, 2 * multiplier, shift, zero) == max(-128, min(127, expected))
    if zero == -128:
        assert short_requantize(total, 2 * multiplier, shift, zero, halves_up=True) == max(
            -128, min(127, expected)
        )


@given(st.integers(-(2**20), 2**20), st.integers(1, 12))
def test_halves_of_negative_sums_end_at_the_least_result_either_way(half: int, shift: int) -> None:
    """Where that is the zero point; elsewhere the step counts."""
    total = (2 * half + 1) << shift  # of which the multiplier 2^30 leaves half: a tie
    expected = int(multiply_by_quantized_multiplier(total, 1 << 30, -shift))
    least = max(-128, min(127, expected - 128))
    assert short_requantize(total, 1 << 31, shift, -128, halves_up=True) == least
    assert short_requantize(-(1 << shift), 1 << 31, shift, 0, halves_up=True) == 0
    assert short_requantize(-(1 << shift), 1 << 31, shift, 0) == -1


def joint_requantize(total: int, multiplier: int, shift: int, zero: int, *, halves_up: bool = False) -> int:
    """Of a doubled sum: ADD with the sign; SMMLAR; ASR; SSAT #8, ASR #1. No ADD where halves go up."""
    half = (2 * zero + 1) << (shift - 1)
    added = half if halves_up else half + (total >> 31)
    assert -(2**31) <= 2 * total < 2**31
    scaled = ((added << 32) + 2 * total * multiplier + (1 << 31)) >> 32
    assert all(-(2**31) <= each < 2**31 for each in (half, added, scaled)), "a register overflows"
    return max(-128, min(127, scaled >> (shift - 1) >> 1))


@given(
    st.integers(1 - ACCUMULATOR_LIMIT, ACCUMULATOR_LIMIT - 1),
    st.integers(2**30, 2**31 - 1),
    st.integers(1, MOST_SHIFT),
    st.integers(-128, 127),
)
def test_four_instructions_round_doubled_sums_as_tflite_does(
    total: int, multiplier: int, shift: int, zero: int
) -> None:
    """The zero point and half of the divisor are added behind the multiplication's own rounding."""
    expected = int(multiply_by_quantized_multiplier(total, multiplier, -shift)) + zero
    assert joint_requantize(total, multiplier, shift, zero) == max(-128, min(127, expected))
    if zero == -128:
        assert joint_requantize(total, multiplier, shift, zero, halves_up=True) == max(
            -128, min(127, expected)
        )


@given(st.integers(-(2**7), 2**7), st.integers(1, 22), st.integers(-128, 127))
def test_ties_of_doubled_sums_go_away_from_zero(half: int, shift: int, zero: int) -> None:
    """Of a multiplier of 2^30 half of the sum is left: a tie."""
    total = (2 * half + 1) << shift
    expected = int(multiply_by_quantized_multiplier(total, 1 << 30, -shift)) + zero
    assert joint_requantize(total, 1 << 30, shift, zero) == max(-128, min(127, expected))
