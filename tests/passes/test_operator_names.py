"""No pass, search or emit module names an operator: they ask it what they need to know."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from codegen.ir.ops import OPS
from tests.checkout import ROOT


@pytest.mark.parametrize("room", ["passes", "search", "emit"])
def test_no_operator_is_named(room: str) -> None:
    assert [hit for path in sorted((ROOT / "codegen" / room).rglob("*.py")) for hit in _named(path)] == []


def _named(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and node.value in OPS:
            yield f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
