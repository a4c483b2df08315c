"""The documentation builds as a site without a warning, reads offline, and fits a screen.
The tutorial and the guides do what they say: their commands run, and print what stands below them.

A block ```console holds commands, one a line behind `$`. `# exit N` behind a command is the exit code that it
must have; without it 0. The block ```text right behind it is what they print: `…` alone stands for any lines,
in a line for any words. A block with a title is a file of that name. All other blocks are only shown.
A page with a file that imports torch is run by `CODEGEN_TORCH_PYTHON`, an interpreter with torch, onnxscript
and onnxruntime, with `--long`.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import codegen
from tests import forked
from tests.checkout import ROOT

COLUMNS = 120
PAGES = sorted((*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `make docs` builds it: every link and anchor of every page is checked."""
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not installed: `make docs` installs it")
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_every_page_is_in_the_site(site: Path) -> None:
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).with_suffix(".html") for path in docs.glob("**/*.md")}
    assert pages
    assert {page for page in pages if not (site / page).is_file()} == set()


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    """Fonts, scripts and pictures of others' servers: they cost privacy, and offline they are not there."""
    loaded = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"?((?:https?:)?//[^\s\">]+)")
    found = {
        f"{path.relative_to(site)}: {address}"
        for path in site.glob("**/*.html")
        for address in loaded.findall(path.read_text(encoding="utf-8"))
    }
    assert found == set()
    assert (site / "search" / "search_index.js").is_file()


def test_lists_and_tables_are_shown_as_such(site: Path) -> None:
    """Without an empty line in front MkDocs takes a list or a table for words of the paragraph above."""
    swallowed = re.compile(r"<p>(?:(?!</p>).)*\n(?:- |\d+\. |\|)|<p>(?:\||```)", re.DOTALL)
    pages = {path: swallowed.findall(path.read_text(encoding="utf-8")) for path in site.glob("**/*.html")}
    assert {str(path.relative_to(site)): found for path, found in pages.items() if found} == {}


def _wide(page: Path) -> Iterator[str]:
    fenced = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        if not fenced and len(line) > COLUMNS:
            yield f"{page.relative_to(ROOT)}:{number}: {len(line)} columns"


def test_no_line_is_wider_than_120_columns() -> None:
    """Rows of tables too: what does not fit is a list. Blocks of code alone may be wider."""
    assert [line for page in PAGES for line in _wide(page)] == []


def test_the_changelog_has_one_line_an_entry() -> None:
    """Added, Changed and Fixed of each release, the version of the package first."""
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    releases = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    assert releases[0] == codegen.__version__
    assert {line for line in lines if line.startswith("### ")} == {"### Added", "### Changed", "### Fixed"}
    assert [line for line in lines if line and not line.startswith(("#", "- "))] == []


def test_links_of_pages_outside_the_site_lead_somewhere() -> None:
    """MkDocs checks docs alone."""
    links = re.compile(r"\]\((?!https?:)([^)#\s]+)")
    missing = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in ROOT.glob("*.md")
        for link in links.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert missing == []


GUIDES = [*sorted((ROOT / "docs" / "guides").glob("*.md")), ROOT / "docs" / "tutorial.md"]
FILES = (
    "examples/digits/digits.tflite",
    "examples/digits/digits_test.npz",
    "examples/two_models/tone.tflite",
)
_FENCE = re.compile(r"^( *)```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_TORCH = "CODEGEN_TORCH_PYTHON"
_EXIT = re.compile(r"(.*?) # exit (\d+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Commands of one block, and what they print."""

    commands: list[str]
    printed: list[str] | None


def steps(page: str) -> Iterator[tuple[str, str] | Session]:
    """Files (name, text) and sessions, as they come."""
    fences = [
        (match[2], match[3], textwrap.dedent(match[4]), match.start(), match.end())
        for match in _FENCE.finditer(page)
    ]
    for (language, title, text, _, end), follower in zip(fences, [*fences[1:], None], strict=True):
        if title is not None:
            yield title, text
        elif language == "console":
            shown = follower is not None and follower[0] == "text" and not page[end : follower[3]].strip()
            lines = text.splitlines()
            assert all(line.startswith("$ ") for line in lines), text
            printed = follower[2].splitlines() if shown and follower is not None else None
            yield Session(commands=[line[2:] for line in lines], printed=printed)


def differs(shown: list[str], printed: list[str]) -> str | None:
    """The first line of the page that was not printed where it stands; `…` is any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + " *\n"
        for line in shown
    )
    if re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)):
        return None
    return "the page says\n" + "\n".join(shown) + "\n\nthe commands print\n" + "\n".join(printed)


def _script(commands: list[str]) -> str:
    """All of a block in one shell, which stops at the first command whose exit code is not the page's."""
    lines: list[str] = []
    for command in commands:
        stated = _EXIT.fullmatch(command)
        words, code = (stated[1], stated[2]) if stated else (command, "0")
        lines.append(f"{words}\ncode=$?; [ $code = {code} ] || {{ echo exit $code; exit 99; }}")
    return "\n".join(lines)


def _interpreter(page: str) -> str:
    """What `python` is on a page."""
    if not any(isinstance(step, tuple) and "import torch" in step[1] for step in steps(page)):
        return sys.executable
    return os.environ.get(_TORCH) or pytest.skip(f"{_TORCH} names no interpreter that has torch")


@pytest.fixture(scope="module")
def codegen_program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with forked.command(tmp_path_factory.mktemp("forked") / "bin") as program:
        yield program


@pytest.mark.qemu
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.long] * (page.stem == "from-pytorch")) for page in GUIDES],
    ids=lambda page: page.stem,
)
def test_commands_print_what_the_page_says(page: Path, tmp_path: Path, codegen_program: Path) -> None:
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path)
    tools = tmp_path.parent / f"{tmp_path.name}-tools"
    tools.mkdir()
    python = _interpreter(page.read_text(encoding="utf-8"))
    # The tutorial's commands are started as users start them.
    own = f'"{codegen_program}"' if page.stem != "tutorial" else f'"{sys.executable}" -m codegen'
    for name, words in (("codegen", own), ("python", f'"{python}"')):
        (tools / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (tools / name).chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CODEGEN_")}
    environment |= {"PATH": f"{tools}:{environment['PATH']}", "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    sessions = 0
    for step in steps(page.read_text(encoding="utf-8")):
        if not isinstance(step, Session):
            (tmp_path / step[0]).write_text(step[1], encoding="utf-8")
            continue
        sessions += 1
        ran = subprocess.run(
            ["bash", "-c", _script(step.commands)],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
            timeout=900,  # PyTorch trains in one of them; a busy machine is no failure
        )
        assert ran.returncode == 0, f"{step.commands}\n{ran.stdout}"
        if step.printed is not None:
            wrong = differs(step.printed, ran.stdout.splitlines())
            assert wrong is None, wrong
    assert sessions


def test_a_page_that_says_something_else_is_seen() -> None:
    printed = ["one 1", "two 2", "three 3"]
    assert differs(["one 1", "…"], printed) is None
    assert differs(["…", "two …", "three 3"], printed) is None
    assert differs(["one 1", "three 3"], printed) is not None
    assert differs(["one 1", "…", "four"], printed) is not None
