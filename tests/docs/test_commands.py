"""Every command of README, the tutorial and the guides runs, and prints what the page says.

A block ```console holds commands, one a line behind `$`; a block ```sh holds commands alone. `# exit N`
behind a command is the exit code that it must have; without it 0. The block ```text right behind ```console
is what they print: `…` alone stands for any lines, in a line for any words. A block with a title is a file
of that name. Blocks of other languages are only shown; each block says its language. What cannot run here
is in `NOT_RUN`, with the reason. A page begins in a folder that stands for the checkout, and stays where it
goes. A page with a file that imports torch is run by `CODEGEN_TORCH_PYTHON`, an interpreter with torch,
onnxscript and onnxruntime, with `--long`.
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

import click
import pytest

from codegen.cli.main import cli
from tests import forked
from tests.checkout import ROOT

PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "index.md",
    ROOT / "docs" / "tutorial.md",
    *sorted((ROOT / "docs" / "guides").glob("*.md")),
]
_INSTALLS = "installs with apt or pip: `make test` ran it on this machine, a release on a bare one"
_BOARD = "needs the board; tests/e2e/test_real_board.py gives the command to a simulated one"
_MODELS = "needs public models; tests of the long tier build them"
NOT_RUN = {
    ("README.md", "make demo"): _INSTALLS,
    ("README.md", "codegen run model.tflite --board nucleo-f446re"): _BOARD,
    ("index.md", "make demo"): _INSTALLS,
    ("riscv.md", "make demo"): _INSTALLS,
    ("install.md", "python3 -m venv .venv"): _INSTALLS,
    ("install.md", "python3 -m pip wheel"): _INSTALLS,
    (
        "labs.md",
        "codegen lab run digits.tflite --lab env.yaml",
    ): "tests/tools/lab runs labgrid's own driver",
    ("mlperf-tiny.md", "codegen build kws_ref_model.tflite"): _MODELS,
    ("npu.md", "codegen run network.tflite --npu"): "tests/importers/tflite/test_vela_compiler.py runs it",
    ("npu.md", "vela --accelerator-config"): "tests/tools/npu/test_vela.py runs both on networks of ours",
    ("mlperf-tiny.md", "codegen build str_ww_ref_model.tflite"): _MODELS,
    ("real-board.md", "codegen doctor --board nucleo-f446re"): _BOARD,
    ("real-board.md", "codegen doctor --board nrf52840-dk"): _BOARD,
    ("real-board.md", "codegen doctor --board rpi-pico"): _BOARD,
    ("real-board.md", "codegen run digits.tflite --board nucleo-f446re"): _BOARD,
    ("real-board.md", "codegen run digits.tflite --board mine.toml"): "needs a debugger's server",
    ("two-models.md", "codegen build audio_preprocessor_int8.tflite"): _MODELS,
}
"""Pages and beginnings of blocks that are not run, and why."""

LARGE = (
    *("labs", "reading-the-report", "riscv", "sweeps", "two-models", "variable-sizes"),
    *("weights-over-the-air", "when-it-does-not-fit"),
)
"""Pages that take most of the time; tests of search, tools and e2e run the same verbs in `make test`."""

FILES = {
    "digits.tflite": "examples/digits/digits.tflite",
    "model.tflite": "examples/digits/digits.tflite",
    "digits_test.npz": "examples/digits/digits_test.npz",
    "tone.tflite": "examples/two_models/tone.tflite",
}
_FENCE = re.compile(r"^( *)```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
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
    for (language, title, text, _, end), follower in zip(fences, [*fences[1:], None], strict=False):
        if title is not None:
            yield title, text
        elif language == "console":
            shown = follower is not None and follower[0] == "text" and not page[end : follower[3]].strip()
            lines = text.splitlines()
            assert all(line.startswith("$ ") for line in lines), text
            printed = follower[2].splitlines() if shown and follower is not None else None
            yield Session(commands=[line[2:] for line in lines], printed=printed)
        elif language == "sh":
            yield Session(commands=text.replace("\\\n", "").splitlines(), printed=None)


def reason_not_to_run(page: Path, session: Session) -> str | None:
    """The reason in `NOT_RUN`, if the block is there."""
    for (name, beginning), reason in NOT_RUN.items():
        if page.name == name and session.commands[0].startswith(beginning):
            return reason
    return None


def differs(shown: list[str], printed: list[str]) -> str | None:
    """The first line of the page that was not printed where it stands; `…` is any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + " *\n"
        for line in shown
    )
    if re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)):
        return None
    return "the page says\n" + "\n".join(shown) + "\n\nthe commands print\n" + "\n".join(printed)


def _script(commands: list[str], place: Path) -> str:
    """All of a block in one shell, which stops at the first command whose exit code is not the page's.
    The last folder is written to `place`."""
    lines: list[str] = []
    for command in commands:
        stated = _EXIT.fullmatch(command)
        words, code = (stated[1], stated[2]) if stated else (command, "0")
        lines.append(f"{words}\ncode=$?; [ $code = {code} ] || {{ echo exit $code; exit 99; }}")
    return "\n".join([*lines, f"pwd > '{place}'"])


def _interpreter(page: str) -> str:
    """The program that `python` is on a page."""
    if not any(isinstance(step, tuple) and "import torch" in step[1] for step in steps(page)):
        return sys.executable
    return os.environ.get(_TORCH) or pytest.skip(f"{_TORCH} names no interpreter that has torch")


@pytest.fixture(scope="module")
def codegen_program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with forked.command(tmp_path_factory.mktemp("forked") / "bin") as program:
        yield program


def _checkout(folder: Path) -> None:
    """What a reader has in front of him: the examples, an environment to activate, and a model."""
    for name, source in FILES.items():
        shutil.copy(ROOT / source, folder / name)
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "activate").touch()


def _tools(folder: Path, page: Path, codegen_program: Path) -> None:
    """`codegen` and `python` of a page. The tutorial's commands are started as users start them."""
    python = _interpreter(page.read_text(encoding="utf-8"))
    command = f'"{codegen_program}"' if page.stem != "tutorial" else f'"{sys.executable}" -m codegen'
    folder.mkdir()
    for name, words in (("codegen", command), ("python", f'"{python}"')):
        (folder / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (folder / name).chmod(0o755)


def _runs(page: Path) -> bool:
    sessions = [step for step in steps(page.read_text(encoding="utf-8")) if isinstance(step, Session)]
    return any(reason_not_to_run(page, session) is None for session in sessions)


@pytest.mark.qemu
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            marks=[pytest.mark.long] * (page.stem == "from-pytorch")
            + [pytest.mark.thorough] * (page.stem in LARGE),
        )
        for page in PAGES
        if _runs(page)
    ],
    ids=lambda page: page.stem,
)
def test_commands_print_what_the_page_says(page: Path, tmp_path: Path, codegen_program: Path) -> None:
    _checkout(tmp_path)
    tools, place = tmp_path.parent / f"{tmp_path.name}-tools", tmp_path.parent / f"{tmp_path.name}-place"
    _tools(tools, page, codegen_program)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CODEGEN_")}
    environment["CODEGEN_REFERENCE"] = "numpy"  # pages show what is printed where no engine is installed
    environment |= {"PATH": f"{tools}:{environment['PATH']}", "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    folder = tmp_path
    for step in steps(page.read_text(encoding="utf-8")):
        if not isinstance(step, Session):
            (folder / step[0]).write_text(step[1], encoding="utf-8")
            continue
        if reason_not_to_run(page, step) is not None:
            continue
        ran = subprocess.run(
            ["bash", "-c", _script(step.commands, place)],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
            timeout=900,  # PyTorch trains in one of them; a busy machine is no failure
        )
        assert ran.returncode == 0, f"{step.commands}\n{ran.stdout}"
        folder = Path(place.read_text().strip())
        if step.printed is not None:
            wrong = differs(step.printed, ran.stdout.splitlines())
            assert wrong is None, wrong


def test_each_block_says_its_language() -> None:
    """A block of commands without one was neither run nor listed: the tutorial's first command failed."""
    without = [
        f"{page.name}: {match[4].splitlines()[0]}"
        for page in PAGES
        for match in _FENCE.finditer(page.read_text(encoding="utf-8"))
        if not match[2] or match[2] in ("bash", "shell")
    ]
    assert without == []


def test_each_reason_is_that_of_a_block() -> None:
    used = {
        key
        for page in PAGES
        for step in steps(page.read_text(encoding="utf-8"))
        if isinstance(step, Session)
        for key in NOT_RUN
        if page.name == key[0] and step.commands[0].startswith(key[1])
    }
    assert used == set(NOT_RUN)
    assert len([page for page in PAGES if _runs(page)]) > 10


_INLINE = re.compile(r"`(codegen [a-z][^`|]*)`")


def _shown_commands() -> Iterator[tuple[Path, list[str]]]:
    """Words of each command that a page shows in a line of text, or in a block that is not run."""
    for page in sorted((*ROOT.glob("docs/**/*.md"), ROOT / "README.md")):
        text = page.read_text(encoding="utf-8")
        for command in _INLINE.findall(text):
            yield page, command.split()
        for step in steps(text) if page in PAGES else ():
            if isinstance(step, Session) and reason_not_to_run(page, step) is not None:
                commands = [command.split("#")[0].split() for command in step.commands]
                yield from ((page, words) for words in commands if words[0] == "codegen" and words[1:])


def test_what_is_shown_and_not_run_has_verbs_and_flags_that_exist() -> None:
    """By the command line's own table: a flag that went away stayed in a sentence."""
    context, wrong, seen = click.Context(cli), list[str](), 0
    for page, words in _shown_commands():
        verb = cli.get_command(context, words[1])
        if isinstance(verb, click.Group) and len(words) > 2:
            verb = verb.get_command(context, words[2])
        parameters = verb.params if verb is not None else []
        names = {name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts)}
        flags = {word.split("=")[0].rstrip(",.") for word in words[2:] if word.startswith("--")}
        seen += 1
        if verb is None or not flags <= names | {"--help"}:
            wrong.append(f"{page.name}: {' '.join(words)}")
    assert wrong == []
    assert seen > 100


def test_a_page_that_says_something_else_is_seen() -> None:
    printed = ["one 1", "two 2", "three 3"]
    assert differs(["one 1", "…"], printed) is None
    assert differs(["…", "two …", "three 3"], printed) is None
    assert differs(["one 1", "three 3"], printed) is not None
    assert differs(["one 1", "…", "four"], printed) is not None
