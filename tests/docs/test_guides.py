"""The tutorial and the guides do what they say: their commands run, and print what stands below them.

A block ```console holds commands, one a line behind `$`. `# exit N` behind a command is the exit code that it
must have; without it 0. The block ```text right behind it is what they print: `…` alone stands for any lines,
in a line for any words. A block with a title is a file of that name. All other blocks are only shown.
"""

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

from tests.checkout import ROOT

PAGES = [*sorted((ROOT / "docs" / "guides").glob("*.md")), ROOT / "docs" / "tutorial.md"]
FILES = (
    "examples/digits/digits.tflite",
    "examples/digits/digits_test.npz",
    "examples/two_models/tone.tflite",
)
_FENCE = re.compile(r"^( *)```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
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


@pytest.mark.qemu
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path)
    tools = tmp_path.parent / f"{tmp_path.name}-tools"
    tools.mkdir()
    for name, words in (("codegen", "-m codegen "), ("python", "")):
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n')
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
            timeout=120,
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
