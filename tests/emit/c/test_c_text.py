"""C text: literals that read back, comments that stay comments, names that are free."""

import ctypes
import struct
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError

from codegen import resources
from codegen.emit.c.c_text import comment_text, fill, quoted, stop, wrapped
from codegen.emit.c.spelling import TakenNames, array_type, c_name, float32, float64s, integer, scalar
from codegen.emit.model.header import RUNTIME_ABI
from tests.sampling import examples


@given(st.integers(0, 2**32 - 1))
def test_float_literals_read_back_to_the_same_bits(bits: int) -> None:
    value = struct.unpack("<f", struct.pack("<I", bits))[0]
    text = float32(value)
    if np.isnan(value) or np.isinf(value):
        assert text == ("NAN" if np.isnan(value) else "INFINITY" if value > 0 else "-INFINITY")
        return
    assert text.endswith("f")
    # strtof rounds the decimal once, as a C compiler does.
    libc = ctypes.CDLL(None)
    libc.strtof.restype = ctypes.c_float
    assert struct.pack("<f", libc.strtof(text[:-1].encode(), None)) == struct.pack("<I", bits)


@given(st.integers(0, 2**64 - 1))
def test_double_literals_read_back_to_the_same_bits(bits: int) -> None:
    [value] = np.array([bits], np.uint64).view(np.float64)
    [text] = float64s(np.array([value]))
    if np.isnan(value) or np.isinf(value):
        assert text == f"(double){float32(float(value))}"
        return
    libc = ctypes.CDLL(None)
    libc.strtod.restype = ctypes.c_double
    assert struct.pack("<d", libc.strtod(text.encode(), None)) == struct.pack("<Q", bits)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0f"),
        (-0.0, "-0.0f"),
        (0.1, "0.1f"),
        (1e20, "1e+20f"),
        (3.4028234663852886e38, "3.4028235e+38f"),
    ],
)
def test_float_literals_are_short(value: float, text: str) -> None:
    assert scalar(value) == text


def test_a_double_is_not_taken_for_a_float32() -> None:
    with pytest.raises(ValueError, match="is not a float32"):
        float32(0.1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (2**31 - 1, "2147483647"),
        (-(2**31), "INT32_MIN"),
        (2**31, "2147483648u"),
        (-(2**31) - 1, "INT64_C(-2147483649)"),
        (-(2**63), "INT64_MIN"),
        (2**64 - 1, "UINT64_C(18446744073709551615)"),
    ],
)
def test_integer_literals_are_legal_c(value: int, text: str) -> None:
    assert integer(value) == text


def test_integers_beyond_64_bits_are_refused() -> None:
    with pytest.raises(ValueError, match="has no C integer type"):
        integer(2**64)


def test_constants_of_types_without_c_are_refused() -> None:
    with pytest.raises(ValueError, match="float16 cannot be written in C"):
        array_type(np.dtype(np.float16))


def test_booleans_are_words() -> None:
    assert (scalar(True), scalar(False)) == ("true", "false")


@given(st.text(max_size=40))
def test_no_text_leaves_its_comment(text: str) -> None:
    safe = comment_text(text)
    assert "*/" not in safe and "/*" not in safe and "\\" not in safe
    assert safe.isascii() and (safe.isprintable() or not safe)


@pytest.mark.parametrize("name", ["int", "class", "int8_t", "inputs", "memcpy", "linux", "xor"])
def test_reserved_words_get_an_underscore(name: str) -> None:
    assert c_name(name) == f"{name}_"


@pytest.mark.parametrize("name", ["", "1x", "a-b", "_Bool", "é", "a\n"])
def test_names_that_are_no_identifiers_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no C identifier"):
        c_name(name)


def test_taken_names_are_given_once() -> None:
    taken = TakenNames(["a"])
    assert [taken.take("a", "input_a") for _ in range(3)] == ["input_a", "input_a_2", "input_a_3"]


@given(st.lists(st.text("abc", min_size=1, max_size=30), min_size=1, max_size=12))
def test_wrapping_keeps_items_and_columns(items: list[str]) -> None:
    text = wrapped(f"    call({', '.join(items)});")
    assert text.replace("\n", "").replace(" ", "") == f"call({','.join(items)});"
    assert all(len(line) <= 100 for line in text.splitlines())


def test_wrapping_breaks_between_items_alone() -> None:
    """Commas inside of an argument are its own."""
    item = "&a_rather_long_name_of_lines[cg_rows_offset(&its_rows, y, span[0][1])]"
    lines = wrapped(f"    kernel({item}, {item}, (x), {{1, 2}});").splitlines()
    assert lines == [f"    kernel({item},", f"           {item}, (x), {{1, 2}});"]


def test_strings_are_quoted_or_refused() -> None:
    assert quoted('a"b\\') == '"a\\"b\\\\"'
    with pytest.raises(ValueError, match="cannot be written as a C string"):
        quoted("line\nbreak")


def test_templates_stop_on_what_they_do_not_know() -> None:
    with pytest.raises(ValueError, match="template: no case"):
        stop("no case")
    with pytest.raises(UndefinedError):
        fill("c/bench_models.c.j2")


def test_the_abi_is_the_runtimes() -> None:
    header = (resources.folder("runtime_c") / "include" / "cg_runtime.h").read_text()
    assert f"#define CG_RUNTIME_ABI {RUNTIME_ABI}\n" in header


QUANTIZER = """
#include "cg_runtime.h"
int32_t convert(float value, float scale, int32_t zero_point, int32_t low, int32_t high);
int32_t convert(float value, float scale, int32_t zero_point, int32_t low, int32_t high)
{
    return cg_quantize(value, scale, zero_point, low, high);
}
"""


@pytest.fixture(scope="module")
def quantizer(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("quantizer")
    (folder / "q.c").write_text(QUANTIZER)
    include = resources.folder("runtime_c") / "include"
    command = ["gcc", "-std=c11", "-O2", "-fPIC", "-shared", f"-I{include}", "q.c", "-o", "q.so"]
    subprocess.run(command, cwd=folder, check=True)
    library = ctypes.CDLL(str(Path(folder) / "q.so"))
    library.convert.argtypes = [ctypes.c_float, ctypes.c_float, *[ctypes.c_int32] * 3]
    return library


def _nearest(real: Fraction) -> int:
    """The nearest integer, halves away from zero."""
    return int(abs(real) + Fraction(1, 2)) * (1 if real >= 0 else -1)


@settings(max_examples=examples(300))
@given(
    value=st.one_of(st.floats(-300, 300, width=32), st.integers(-600, 600).map(lambda i: i / 4)),
    scale=st.sampled_from([0.5, 0.25, 1.0, 2.0, 0.0078125]),
    zero=st.integers(-128, 127),
)
def test_quantizing_rounds_halves_away_and_clamps(
    quantizer: ctypes.CDLL, value: float, scale: float, zero: int
) -> None:
    """Scales are powers of two, so the division is exact and the expected value is plain arithmetic."""
    expected = max(-128, min(127, _nearest(Fraction(value) / Fraction(scale)) + zero))
    assert quantizer.convert(value, scale, zero, -128, 127) == expected


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (float("inf"), 127),
        (float("-inf"), -128),
        (float("nan"), -128),
        (3e38, 127),
        (0.49999997, 0),
        (-0.5, -1),
    ],
)
def test_quantizing_takes_any_float(quantizer: ctypes.CDLL, value: float, stored: int) -> None:
    assert quantizer.convert(value, 1.0, 0, -128, 127) == stored
