"""A template is compiled once for all commands, and anew as soon as its text changes."""

import os
import sys
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader

from codegen.template_cache import TemplateCache


def _text(folder: Path) -> str:
    """What a new command would make of the template."""
    cache = TemplateCache(folder / "templates", folder / "filters")
    made = Environment(loader=FileSystemLoader(folder / "templates"), bytecode_cache=cache)
    return made.get_template("a.c").render(number=3)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    for name in ("templates", "filters"):
        (tmp_path / name).mkdir()
    (tmp_path / "templates" / "a.c").write_text("int a = {{ number }};")
    return tmp_path


def _kept(folder: Path) -> list[Path]:
    return sorted((folder / "templates" / "__pycache__").glob("*.jinja"))


def test_a_second_command_compiles_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _text(folder) == "int a = 3;"
    assert len(_kept(folder)) == 1
    monkeypatch.setattr(Environment, "compile", None)
    assert _text(folder) == "int a = 3;"


def test_a_changed_template_is_compiled_anew(folder: Path) -> None:
    """Even where the time of the file says nothing: what is looked up is its text."""
    stamp = (folder / "templates" / "a.c").stat()
    _text(folder)
    (folder / "templates" / "a.c").write_text("int b = {{ number }};")
    os.utime(folder / "templates" / "a.c", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert _text(folder) == "int b = 3;"


def test_filters_that_have_changed_compile_all_anew(folder: Path) -> None:
    """What they make of constants is part of a compiled template: an old layout would stay in new C."""
    (folder / "templates" / "a.c").write_text("int a = {{ 'x' | laid_out }};")

    def text(layout: str) -> str:
        (folder / "filters" / "layout.py").write_text(layout)
        made = Environment(
            loader=FileSystemLoader(folder / "templates"),
            bytecode_cache=TemplateCache(folder / "templates", folder / "filters"),
        )
        made.filters["laid_out"] = lambda word: f"{word}{layout}"
        return made.get_template("a.c").render()

    assert [text("1"), text("22"), text("22")] == ["int a = x1;", "int a = x22;", "int a = x22;"]


@pytest.mark.parametrize("kept_bytes", [0, 1, 10, 40, 100, -1])
def test_what_was_kept_and_is_damaged_is_no_error(folder: Path, kept_bytes: int) -> None:
    _text(folder)
    for kept in _kept(folder):
        kept.write_bytes(kept.read_bytes()[:kept_bytes])
    assert _text(folder) == "int a = 3;"


def test_what_others_wrote_there_is_no_error(folder: Path) -> None:
    _text(folder)
    for kept in _kept(folder):
        kept.write_bytes(b"neither")
    assert _text(folder) == "int a = 3;"


def test_where_python_writes_no_bytecode_nothing_is_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert _text(folder) == "int a = 3;"
    assert not (folder / "templates" / "__pycache__").exists()


def test_a_folder_that_cannot_be_written_is_no_error(folder: Path) -> None:
    """A file stands where the folder would: as root no folder is closed."""
    (folder / "templates" / "__pycache__").write_text("")
    assert _text(folder) == "int a = 3;"
