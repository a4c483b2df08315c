"""Kernels in assembly can be read."""

from pathlib import Path

import pytest

from codegen import resources

_RUNTIME = resources.folder("runtime_c")
_FILES = sorted((*_RUNTIME.glob("kernels/*/*.S"), *_RUNTIME.rglob("include/*.inc")))


@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.name)
def test_a_comment_above_each_macro_says_what_it_does(path: Path) -> None:
    """Arguments are registers as often as numbers: nothing else tells what a macro takes and changes."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    bare = [
        line
        for above, line in zip(["", *lines], lines, strict=False)
        if line.startswith(".macro") and not (above.startswith("@") or above.endswith("*/"))
    ]
    assert not bare
