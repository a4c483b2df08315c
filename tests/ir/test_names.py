"""C names come out valid, short and unique whatever the file says."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.ir.c_names import identifier, unique


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
