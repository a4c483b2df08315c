"""The map is true: modules, classes, files, decisions and front doors that pages and rooms name are there.

docs/python.md named a module that had moved.
"""

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
_TOP = "codegen|tests|benchmarks|runtime_c|templates|boards|docs|examples"
_FILE = re.compile(rf"`((?:{_TOP})/[\w./-]+)`")
_DECISION = re.compile(r"docs/decisions/(\d{3}[\w-]*)|[Dd]ecision (\d{3})\b")
_DOOR = re.compile(r"Start with ([^.]*(?:\.(?=\w)[^.]*)*)")
_WORD = re.compile(r"`([\w./]+)`")
_MADE_LATER = {f"runtime_c/kernels/portable/{name}_f32.c" for name in ("sign", "local_norm")}
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


def _texts() -> Iterator[tuple[str, str]]:
    for top in ("codegen", "runtime_c", "templates", "tests", "benchmarks"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in {".py", ".c", ".h", ".S", ".inc", ".j2", ".md"}:
                yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for page in (*PAGES, ROOT / "CHANGELOG.md"):
        yield str(page.relative_to(ROOT)), page.read_text(encoding="utf-8")


def test_decisions_that_are_referred_to_are_there() -> None:
    """By number or by name, in code, comments and pages: decisions are merged, and their numbers live on."""
    pages = [page.stem for page in (ROOT / "docs" / "decisions").glob("*.md")]
    lost = [
        f"{path}: {number or name}"
        for path, text in _texts()
        for name, number in _DECISION.findall(text)
        if not any(page.startswith(number or name) for page in pages)
    ]
    assert lost == []


def test_paths_in_notes_of_code_are_there() -> None:
    file = re.compile(rf"(?<![\w/.])((?:{_TOP})/[\w/-]+\.(?:py|c|h|inc|S|md|toml|csv|j2))\b(?!\.)")
    lost = {
        f"{path}: {name}"
        for path, text in _texts()
        if path.startswith(("codegen/", "runtime_c/", "templates/"))
        for name in file.findall(text)
        if not (ROOT / name).exists()
    }
    assert lost == set()


def doors(note: str) -> list[str]:
    """Names in backticks of the sentence that says where to start."""
    text = " ".join(note.split())
    return [name for sentence in _DOOR.findall(text) for name in _WORD.findall(sentence)]


ROOMS = [path for path in sorted((ROOT / "codegen").rglob("__init__.py")) if "Start with" in path.read_text()]


@pytest.mark.parametrize("room", ROOMS, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_the_door_of_a_room_is_there(room: Path) -> None:
    """A room's `__init__` says where to start: a module of the room, or a name of one."""
    module = ".".join(room.parent.relative_to(ROOT).parts)
    names = doors(importlib.import_module(module).__doc__ or "")
    assert names
    assert [name for name in names if not _opens(room.parent, module, name)] == []


def _opens(room: Path, module: str, name: str) -> bool:
    if "/" in name:
        return (ROOT / name).exists()
    stem = name.removesuffix(".py")
    return is_there(f"{module}.{stem}") or any(
        hasattr(importlib.import_module(f"{module}.{path.stem}"), stem)
        for path in room.glob("*.py")
        if not path.stem.startswith("__")
    )


def test_the_table_of_changes_is_told_once() -> None:
    """Two tables of one thing differ after a while."""
    tables = [page for page in PAGES if "\n| to add | touch |" in page.read_text(encoding="utf-8")]
    assert tables == [ROOT / "CONTRIBUTING.md"]
