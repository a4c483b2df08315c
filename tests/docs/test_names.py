"""Modules, classes and files that pages name in backticks are there: docs/python.md named a module that had
moved."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.checkout import ROOT

PAGES = [
    path
    for path in sorted((*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")))
    if path.name != "CHANGELOG.md"  # of what was
]
_MODULE = re.compile(r"`(codegen(?:\.[A-Za-z_]\w*)+)(?:\(.*?\))?`")
_FILE = re.compile(r"`((?:codegen|tests|benchmarks|runtime_c|templates|boards|docs|examples)/[\w./-]+)`")
_MADE_LATER = {"runtime_c/kernels/portable/sign_f32.c"}
"""Files of the examples in CONTRIBUTING."""


def is_there(name: str) -> bool:
    """True if a dotted name leads to a module, or to what one holds."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            place = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[count:]:
            if not hasattr(place, attribute):
                return False
            place = getattr(place, attribute)
        return True
    return False


def missing(page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8")
    yield from (name for name in _MODULE.findall(text) if not is_there(name))
    files = set(_FILE.findall(text)) - _MADE_LATER
    yield from (name for name in sorted(files) if not (ROOT / name).exists())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_is_there(page: Path) -> None:
    assert list(missing(page)) == []


def test_a_name_that_is_not_there_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    names = ("codegen.program.program.IoMode", "codegen.board.load_board", "docs/none.md", "docs/boards.md")
    page.write_text(" ".join(f"`{name}`" for name in names))
    assert list(missing(page)) == ["codegen.program.program.IoMode", "docs/none.md"]
