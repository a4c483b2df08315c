"""What long work shows while it lasts: its name and counts, on a terminal's stderr only."""

import io
import re
import sys
from pathlib import Path

import pytest

from codegen.cli import main
from codegen.cli.console import progress
from codegen.driver.build import build
from codegen.driver.inputs.cases import pattern_case
from codegen.driver.options import Options
from codegen.driver.run import check_steps, execute
from codegen.program.image import Trace
from tests.testdata import model_path

HELLO = model_path("tflm/hello_world_int8")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> str:
        """All that was ever on it, without the escape sequences that move the cursor and colour text."""
        return _ESCAPES.sub("", self.getvalue())


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stderr a terminal; in the test itself, for pytest sets stderr anew behind the fixtures."""
    found = Terminal()
    monkeypatch.setattr(sys, "stderr", found)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    return found


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        (("compile", 3, 12), "compile 3 of 12"),
        (("run", 0, 1_200), "run 0 of 1,200"),
        (("plan kws, plans weighed:", 41), "plan kws, plans weighed: 41"),
        (("write C",), "write C"),
        (("import [red]x[/red]",), "import [red]x[/red]"),
    ],
)
def test_a_terminal_shows_the_work_and_its_counts(
    monkeypatch: pytest.MonkeyPatch, told: tuple[str, int, int], shown: str
) -> None:
    terminal = on_terminal(monkeypatch)
    with progress(quiet=False) as tell:
        tell("something before", 7, 8)
        tell(told[0])
        tell(*told)
    last = re.split("[\r\n]+", terminal.shown.rstrip())[-1]
    assert shown in last
    assert "before" not in last


def test_nothing_is_shown_where_stderr_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress(quiet=False) as tell:
        tell("compile", 3, 12)
    assert stream.getvalue() == ""


def _called(*words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    assert not ended.value.code


def test_planning_shows_that_it_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """`plan` of a large network showed nothing for as long as it took."""
    terminal = on_terminal(monkeypatch)
    _called("plan", str(HELLO))
    assert "plan hello_world_int8" in terminal.shown


@pytest.mark.parametrize("flag", ["-q", "--json"])
def test_quiet_and_json_show_no_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch, flag: str) -> None:
    terminal = on_terminal(monkeypatch)
    _called("plan", str(HELLO), flag)
    assert terminal.getvalue() == ""


def test_every_part_of_long_work_is_counted(tmp_path: Path) -> None:
    """A spinner said `compile` and `run` for minutes: nobody saw whether anything moved."""
    told: list[tuple[str, int, int | None]] = []

    def hear(stage: str, done: int = 0, total: int | None = None) -> None:
        told.append((stage, done, total))

    def counted(stage: str) -> list[int]:
        return [done for name, done, _ in told if name == stage]

    built = build([HELLO], Options(board="host"), tmp_path / "out", progress=hear)
    planned = built.models[0]
    cases = [pattern_case([tensor.type for tensor in planned.program.inputs], seed) for seed in range(3)]
    measured = execute(built, cases, trace=Trace.RESULTS, progress=hear)
    check_steps(planned, cases[0], measured, progress=hear)
    assert list(dict.fromkeys(name for name, _, _ in told)) == [
        "import hello_world_int8",
        "plan hello_world_int8",
        "plan hello_world_int8, plans weighed:",
        "write C",
        "compile",
        "run",
        "compare with the reference",
        "evaluate the reference",
    ]
    weighed = counted("plan hello_world_int8, plans weighed:")
    assert weighed == list(range(1, len(weighed) + 1))
    [files] = {total for name, _, total in told if name == "compile"}
    assert counted("compile") == list(range((files or 0) + 1))
    assert counted("run") == counted("compare with the reference") == [0, 1, 2]
    assert {total for name, _, total in told if name in ("run", "compare with the reference")} == {3}
    steps = len(planned.reference.main.body)
    assert counted("evaluate the reference") == list(range(1, steps + 1))
