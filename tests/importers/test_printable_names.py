"""Names of graph inputs in C, and names in messages."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.importers.printable_names import identifiers, printable

STEMS = ("conv", "add")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("serving_default_input_1:0", "input_1"),
        ("input_1", "input_1"),
        ("Reshape_1", "Reshape_1"),
        ("a/b.c", "a_b_c"),
        ("7up", "x_7up"),
        ("int", "x_int"),
        ("class", "x_class"),
        ("conv0", "x_conv0"),
        ("conv0_1", "x_conv0_1"),
        ("convex0", "convex0"),
        ("", "input0"),
        ("éà", "input0"),
        ("model/unet_0/encoder_4/conv2d_3x4_a/conv/concat", "conv2d_3x4_a_conv_concat"),
        ("x" * 50, "x" * 32),
    ],
)
def test_identifier(name: str, expected: str) -> None:
    assert identifiers([name], STEMS) == (expected,)


def test_names_that_fall_together_are_numbered() -> None:
    assert identifiers(["a:0", "a", "A", "x" * 40, "x" * 41], STEMS) == (
        "a",
        "a_2",
        "A_3",
        "x" * 32,
        "x" * 30 + "_2",
    )


@given(st.lists(st.text(max_size=50), max_size=6))
def test_identifiers_are_valid_and_unlike(names: list[str]) -> None:
    found = identifiers(names, STEMS)
    assert len(found) == len(names)
    assert len({name.upper() for name in found}) == len(found)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,31}", name) for name in found)
    assert not any(re.fullmatch(r"(conv|add)\d+(_\d+)?", name) for name in found)


def test_printable_text() -> None:
    assert printable("a\x1b[2Jb\n") == "a?[2Jb?"
    assert printable("é") == "é"
    assert printable("x" * 300) == "x" * 199 + "…"
