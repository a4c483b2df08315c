"""cg_fixed_point.h against codegen.ir.ops.base.fixed_point, with and without a long multiply.
The decoder in C, under AddressSanitizer and UBSan, every buffer as long as the contract says.
"""

import shutil
import struct
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import cffi
import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.constants.coding import Coder
from codegen.ir import DType
from codegen.ir.ops.base import fixed_point
from tests.fuzz.rounded import of_rows
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
    expected = fixed_point.multiply_by_quantized_multiplier(x, multiplier, shift)
    np.testing.assert_array_equal(shim.call("requantize_all", x, multiplier, shift), expected)


@pytest.mark.usefixtures("no_reports")
def test_requantize_64_bits_as_the_reference(shim: _Shim) -> None:
    rng = np.random.default_rng(2)
    count = 100_000
    x = np.concatenate([rng.integers(-(2**47), 2**47, count) >> rng.integers(0, 46, count), EDGES])
    x[:4] = [-(2**47), 2**47 - 1, -1, 0]
    multiplier = rng.integers(2**30, 2**31, x.size)
    multiplier[::97], multiplier[1::97] = 0, 2**31 - 1
    shift = rng.integers(-31, fixed_point.MAX_WIDE_SHIFT + 1, x.size)
    expected = fixed_point.multiply_wide_by_quantized_multiplier(x, multiplier, shift)
    passed = fixed_point.reduced_multiplier(multiplier).astype(np.int32), (15 - shift).astype(np.int32)
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
    expected = fixed_point.rounding_divide_by_power(numbers, exponents)
    np.testing.assert_array_equal(shim.call("shift_all", numbers, exponents), expected)


@pytest.mark.usefixtures("no_reports")
def test_kernels_without_a_long_multiply(tmp_path: Path) -> None:
    flags = ("-DCG_NO_LONG_MULTIPLY=1", "-fsanitize=undefined", "-O1")
    ops = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "ADD", "SUB", "MUL", "MEAN", "SOFTMAX")
    kinds = [(op, DType.INT8) for op in ops] + [(op, DType.INT16) for op in ops[:-1]]
    layers = [random_layer(op, dtype, seed) for op, dtype in kinds for seed in range(20)]
    images = [random_layer("SOFTMAX", DType.INT8, seed) for seed in range(20)]
    for kind in ("SOFTMAX", "LAYER_NORMALIZATION"):
        layers += [of_rows(kind, image, seed) for seed, image in enumerate(images)]
    functions = [bind(layer) for layer in layers]
    needed = sorted({source for function in functions for source in function.sources})
    files = [RUNTIME / source for source in needed]
    library = Library(compile_library(tmp_path / "kernels.so", *flags, files=files))
    for layer, function in zip(layers, functions, strict=True):
        check_result(layer, library.run(function, layer, paint=0xA5).result)


MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cg_unpack.h"

static uint32_t number(FILE *file)
{
    uint32_t value = 0;
    if (fread(&value, sizeof value, 1, file) != 1) {
        exit(3);
    }
    return value;
}

static uint8_t *bytes(FILE *file, size_t count)
{
    uint8_t *const found = malloc(count);
    if (found == NULL || fread(found, 1, count, file) != count) {
        exit(4);
    }
    return found;
}

int main(int argc, char **argv)
{
    FILE *const file = (argc == 2) ? fopen(argv[1], "rb") : NULL;
    if (file == NULL) {
        return 2;
    }
    for (uint32_t cases = number(file); cases > 0u; cases--) {
        const size_t total = number(file), stored_bytes = number(file), table_bytes = number(file);
        uint8_t *const expected = bytes(file, total), *const stored = bytes(file, stored_bytes);
        const uint8_t *from = &stored[table_bytes], *left = expected;
        for (uint32_t pieces = number(file); pieces > 0u; pieces--) {
            const size_t size = number(file), end = number(file);
            uint8_t *const to = malloc(size);
            from = cg_unpack(to, size, stored, from);
            if (memcmp(to, left, size) != 0 || from != &stored[end]) {
                return 1;
            }
            left += size;
            free(to);
        }
        free(expected);
        free(stored);
    }
    puts("all decoded");
    return 0;
}
"""


def cases(seed: int) -> list[tuple[bytes, tuple[int, ...]]]:
    """Data of many distributions and lengths, in pieces of many sizes."""
    random = np.random.default_rng(seed)
    found: list[tuple[bytes, tuple[int, ...]]] = []
    for _ in range(250):
        size = int(random.integers(1, 700))
        spread = float(random.choice([0.0, 0.3, 2.0, 9.0, 40.0, 400.0]))
        values = (
            np.round(random.normal(0, spread, size)).astype(np.int64) if spread else np.zeros(size, np.int64)
        )
        cuts = random.integers(1, size, int(random.integers(0, 6))) if size > 1 else np.zeros(0, np.int64)
        edges = [0, *sorted(set(cuts.tolist())), size]
        pieces = tuple(stop - start for start, stop in pairwise(edges))
        found.append(((values & 255).astype(np.uint8).tobytes(), pieces))
    return found


def described(data: bytes, pieces: tuple[int, ...]) -> bytes:
    """A case as the program reads it."""
    coder = Coder(data)
    packing = coder.packing(pieces)
    stored = coder.packed(packing)
    rows = [struct.pack("=I", len(pieces))]
    end = packing.table_bytes
    _, lengths = coder.code.words()
    values, start = np.frombuffer(data, np.uint8), 0
    for size in pieces:
        end += -(-int(lengths[values[start : start + size]].sum()) // 8)
        start += size
        rows.append(struct.pack("=II", size, end))
    head = struct.pack("=III", len(data), len(stored), packing.table_bytes)
    return b"".join((head, data, stored, *rows))


@pytest.mark.parametrize("level", ["-O1", "-O3"])
@pytest.mark.sampled(1)
def test_it_decodes_what_was_packed_and_reads_nothing_else(level: str, tmp_path: Path) -> None:
    found = cases(seed=4)
    written = b"".join(described(data, pieces) for data, pieces in found)
    (tmp_path / "cases").write_bytes(struct.pack("=I", len(found)) + written)
    (tmp_path / "main.c").write_text(MAIN)
    program = tmp_path / "program"
    sources = [str(RUNTIME / "kernels" / "portable" / "unpack.c"), str(tmp_path / "main.c")]
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command = ["gcc", "-std=c11", level, "-g", *sanitizers, *WARNINGS, f"-I{RUNTIME / 'include'}", *sources]
    subprocess.run([*command, "-o", str(program)], check=True)
    ran = subprocess.run([str(program), str(tmp_path / "cases")], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "all decoded\n"), ran.stderr
