"""Integers must be equal; floats within 1e-5 of the largest magnitude."""

import hashlib

import numpy as np
import pytest

from codegen.driver.report.compare import array, compare
from codegen.ir import DType, TensorType


def test_one_different_bit_of_an_integer_is_found() -> None:
    expected = np.array([[1, 2, 3]], np.int8)
    assert compare(expected.copy(), expected).matches
    one = compare(np.array([[1, 2, 4]], np.int8), expected)
    assert (one.matches, one.differing, one.first, one.max_abs_difference) == (False, 1, 2, 1.0)
    assert one.sha256 == hashlib.sha256(bytes([1, 2, 4])).hexdigest()


def test_float_tolerance_is_relative_to_the_largest() -> None:
    expected = np.array([100.0, 0.0], np.float32)
    assert compare(np.array([100.0, 0.0009], np.float32), expected).matches
    assert not compare(np.array([100.0, 0.0011], np.float32), expected).matches


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_never_pass_for_a_number(value: float) -> None:
    expected = np.array([1.0, 2.0], np.float32)
    broken = np.array([1.0, value], np.float32)
    assert not compare(broken, expected).matches
    assert not compare(expected, broken).matches
    assert compare(broken, broken.copy()).matches


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match="against"):
        compare(np.zeros(2, np.int8), np.zeros(3, np.int8))


def test_bytes_are_little_endian() -> None:
    type_ = TensorType(shape=(1, 2), dtype=DType.INT16)
    assert array(b"\x01\x00\xff\xff", type_).tolist() == [[1, -1]]
