"""cg_fixed_point.h against codegen.ir.fixed_point, with and without a long multiply."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import cffi
import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.ir import DType
from codegen.ir.fixed_point import (
    MAX_WIDE_SHIFT,
    multiply_by_quantized_multiplier,
    multiply_wide_by_quantized_multiplier,
    reduced_multiplier,
    rounding_divide_by_power,
)
from tests.kernels.builders import random_layer
from tests.kernels.calling import RUNTIME, WARNINGS, Library, bind, check_result, compile_library

SHIM = """
#include "cg_fixed_point.h"
#define ARRAYS const int32_t *x, const int32_t *multiplier, const int32_t *shift, int32_t *out, int32_t n
void requantize_all(ARRAYS);
void requantize_all(ARRAYS)
{
    for (int32_t i = 0; i < n; i++) {
        out[i] = cg_requantize(x[i], multiplier[i], shift[i]);
    }
}
void wide_all(const int64_t *x, const int32_t *multiplier, const int32_t *shift, int32_t *out, int32_t n);
void wide_all(const int64_t *x, const int32_t *multiplier, const int32_t *shift, int32_t *out, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        out[i] = cg_requantize_s64(x[i], multiplier[i], shift[i]);
    }
}
void shift_all(const int32_t *x, const int32_t *exponent, int32_t *out, int32_t n);
void shift_all(const int32_t *x, const int32_t *exponent, int32_t *out, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        out[i] = cg_rounding_shift_right(x[i], exponent[i]);
    }
}
"""

EDGES = [-(2**31), -(2**31) + 1, -(2**30), -(2**30) - 1, -3, -2, -1, 0, 1, 2, 3, 2**30, 2**30 - 1, 2**31 - 1]


class _Shim:
    def __init__(self, path: Path) -> None:
        self._ffi = cffi.FFI()
        self._ffi.cdef(
            "void requantize_all(const int32_t *, const int32_t *, const int32_t *, int32_t *, int32_t);"
            "void wide_all(const int64_t *, const int32_t *, const int32_t *, int32_t *, int32_t);"
            "void shift_all(const int32_t *, const int32_t *, int32_t *, int32_t);"
        )
        self._lib: Any = self._ffi.dlopen(str(path))

    def wide(
        self, x: NDArray[np.int64], multiplier: NDArray[np.int32], shift: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        result = np.zeros(x.shape, np.int32)
        numbers = self._ffi.cast("int64_t *", x.ctypes.data)
        factors, shifts, out = (
            self._ffi.cast("int32_t *", array.ctypes.data) for array in (multiplier, shift, result)
        )
        self._lib.wide_all(numbers, factors, shifts, out, result.size)
        return result

    def call(self, name: str, *arrays: NDArray[np.int32]) -> NDArray[np.int32]:
        result = np.zeros_like(arrays[0])
        pointers = [self._ffi.cast("int32_t *", array.ctypes.data) for array in (*arrays, result)]
        getattr(self._lib, name)(*pointers, result.size)
        return result


@pytest.fixture(scope="module", params=[0, 1], ids=["long-multiply", "16-bit-halves"])
def shim(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> _Shim:
    folder = tmp_path_factory.mktemp("fixed_point")
    (folder / "shim.c").write_text(SHIM)
    compiler = shutil.which("gcc")
    assert compiler, "these tests compile the kernels for this machine: install gcc"
    flags = ["-O2", "-shared", "-fPIC", "-fsanitize=undefined", f"-DCG_NO_LONG_MULTIPLY={request.param}"]
    command = [compiler, *flags, *WARNINGS, f"-I{RUNTIME / 'include'}", str(folder / "shim.c")]
    subprocess.run([*command, "-o", str(folder / "shim.so")], check=True)
    return _Shim(folder / "shim.so")


def _grid(rng: np.random.Generator) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Edges crossed with all shifts, and a hundred thousand random triples."""
    multipliers = [0, 1, 2**30, 2**30 + 1, 2**31 - 1, 1518500250, -(2**30), -(2**31) + 1]
    edges = np.array([(x, m, s) for x in EDGES for m in multipliers for s in range(-31, 31)], np.int64)
    count = 100_000
    random = np.stack(
        [
            rng.integers(-(2**31), 2**31, count) >> rng.integers(0, 31, count),
            rng.integers(2**30, 2**31, count),
            rng.integers(-31, 31, count),
        ],
        axis=1,
    )
    x, multiplier, shift = np.concatenate([edges, random]).astype(np.int32).T
    return x.copy(), multiplier.copy(), shift.copy()


@pytest.mark.usefixtures("no_reports")
def test_requantize_rounds_as_the_reference(shim: _Shim) -> None:
    x, multiplier, shift = _grid(np.random.default_rng(0))
    expected = multiply_by_quantized_multiplier(x, multiplier, shift)
    np.testing.assert_array_equal(shim.call("requantize_all", x, multiplier, shift), expected)


@pytest.mark.usefixtures("no_reports")
def test_requantize_64_bits_as_the_reference(shim: _Shim) -> None:
    rng = np.random.default_rng(2)
    count = 100_000
    x = np.concatenate([rng.integers(-(2**47), 2**47, count) >> rng.integers(0, 46, count), EDGES])
    x[:4] = [-(2**47), 2**47 - 1, -1, 0]
    multiplier = rng.integers(2**30, 2**31, x.size)
    multiplier[::97], multiplier[1::97] = 0, 2**31 - 1
    shift = rng.integers(-31, MAX_WIDE_SHIFT + 1, x.size)
    expected = multiply_wide_by_quantized_multiplier(x, multiplier, shift)
    passed = reduced_multiplier(multiplier).astype(np.int32), (15 - shift).astype(np.int32)
    np.testing.assert_array_equal(shim.wide(x, *passed), expected)


@pytest.mark.usefixtures("no_reports")
def test_rounding_shift_goes_away_from_zero(shim: _Shim) -> None:
    x = np.array([-3, -2, -1, 0, 1, 2, 3, 5, 6, 7, -5, -6, -7], np.int32)
    found = shim.call("shift_all", x, np.full(x.shape, 2, np.int32))
    # -3/4 -> -1, -2/4 -> -1, -1/4 -> 0, ..., 5/4 -> 1, 6/4 -> 2, 7/4 -> 2: written out by hand
    assert found.tolist() == [-1, -1, 0, 0, 0, 1, 1, 1, 2, 2, -1, -2, -2]
    rng = np.random.default_rng(1)
    numbers = rng.integers(-(2**31) + 1, 2**31, 50_000).astype(np.int32)
    exponents = rng.integers(0, 32, 50_000).astype(np.int32)
    expected = rounding_divide_by_power(numbers, exponents)
    np.testing.assert_array_equal(shim.call("shift_all", numbers, exponents), expected)


@pytest.mark.usefixtures("no_reports")
def test_kernels_without_a_long_multiply(tmp_path: Path) -> None:
    flags = ("-DCG_NO_LONG_MULTIPLY=1", "-fsanitize=undefined")
    library = Library(compile_library(tmp_path / "kernels.so", *flags))
    ops = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "ADD", "SUB", "MUL", "MEAN", "SOFTMAX")
    for op, dtype in [(op, DType.INT8) for op in ops] + [(op, DType.INT16) for op in ops[:-1]]:
        for seed in range(20):
            layer = random_layer(op, dtype, seed)
            check_result(layer, library.run(bind(layer), layer, paint=0xA5).result)
