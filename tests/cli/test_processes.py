"""`codegen --help` imports what it prints with, nothing else.

It took 0.95 s of processor time: it imported NumPy, the search and every kernel to list eight verbs.
Modules are counted, not seconds.
Who reads less than all (`codegen run | head`) does not change what a command ends with.
`--port` on the command line and in the environment.
What long work shows while it lasts: its name and counts, on a terminal's stderr only.
Words of the command line that verbs have in common, and what is told before any work.
"""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from codegen.cli.main import cli, main
from codegen.command.console import progress
from codegen.driver.build import build
from codegen.driver.inputs.cases import pattern_case
from codegen.driver.inputs.files import example_model
from codegen.driver.options import Options
from codegen.driver.run import RunConditions, check_steps, execute
from codegen.errors import ExitCode
from codegen.program.image import Trace
from tests.checkout import ROOT
from tests.cli.test_verbs import call
from tests.networks import model_path

_LIST_IMPORTS = """
import sys
from codegen.cli import main
try:
    main([{word!r}])
except SystemExit as ended:
    assert not ended.code, ended.code
print(*sys.modules, file=sys.stderr)
"""
_OWN_MODULES = 14
"""Modules of codegen that may be imported to print help, beside declarations of tools: of about 580."""
_HEAVY = {"numpy", "jinja2", "rich", "msgspec", "serial", "elftools", "tflite", "flatbuffers", "cffi"}


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_imports_no_verb(word: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LIST_IMPORTS.format(word=word)], capture_output=True, text=True, check=True
    )
    assert done.stdout
    modules = done.stderr.split()
    own = [name for name in modules if name.partition(".")[0] == "codegen"]
    own = [name for name in own if not re.fullmatch(r"codegen\.tools\.\w+", name)]
    assert len(own) <= _OWN_MODULES, own
    assert not _HEAVY & {name.partition(".")[0] for name in modules}


def test_lists_say_what_verbs_say_of_themselves() -> None:
    """Verbs are listed without being imported: each has to take its own help from the table."""
    listed = {name: verb.summary for name, verb in cli.verbs.items()}
    assert listed == {name: cli.commands[name].get_short_help_str(limit=1000) for name in cli.commands}


def _status(folder: Path, *words: str, errors: bool = False) -> tuple[int, str]:
    """Exit status and stderr of a command whose stdout (or both) nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "codegen", *words],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=writer,
            stderr=writer if errors else subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writer)
    return done.returncode, done.stderr or ""


@pytest.mark.parametrize("errors", [False, True])
@pytest.mark.sampled(1)
def test_outputs_that_differ_are_exit_7_whoever_reads(tmp_path: Path, errors: bool) -> None:
    """The exit code was 0, and 1 where the table of a summary broke the pipe."""
    np.savez(tmp_path / "y.npz", y0=np.full((1, 10), 99, np.int8))
    words = ("run", "--board", "host", "--expect", "y.npz")
    status, told = _status(tmp_path, *words, errors=errors)
    assert status == 7
    assert "Traceback" not in told and "BrokenPipe" not in told


def test_a_success_stays_one(tmp_path: Path) -> None:
    assert _status(tmp_path, "plan", str(example_model())) == (0, "")
    assert _status(tmp_path, "boards", "--json") == (0, "")


def test_a_usage_error_stays_one(tmp_path: Path) -> None:
    assert _status(tmp_path, "plan", "none.tflite", "--json", errors=True)[0] == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", [("boards", "--json"), ("plan", "none.tflite", "--json")])
def test_a_full_disk_behind_stdout_is_told_in_a_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    """`codegen boards --json > /dev/full` gave three tracebacks and exit 120."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "codegen", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "error[E231] stdout: cannot be written: No space left on device\n" in done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("words", "status"), [("boards", 0), ("plan none.tflite", 2)])
@pytest.mark.sampled()
def test_closed_descriptors_change_nothing(tmp_path: Path, closed: str, words: str, status: int) -> None:
    """Daemons start programs so: every command ended with a traceback, None having no `flush`."""
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec '{sys.executable}' -m codegen {words} {closed}"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_an_interrupted_command_prints_its_document(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C with `--json` printed nothing: what read the document met the end of the file."""

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("codegen.cli.model_work.plan_work.plan_only", stopped)
    assert call("plan", "--json") == 130
    told = capsys.readouterr()
    assert json.loads(told.out) == {"schema": 1, "error": {"exit": 130, "messages": []}}
    assert told.err.strip() == "interrupted"
    assert call("plan") == 130
    assert not capsys.readouterr().out


@pytest.mark.parametrize("verb", ["run", "validate"])
def test_the_port_may_stand_in_the_environment(
    verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`CODEGEN_PORT` was ignored without a word: the figures were QEMU's."""
    monkeypatch.setenv("CODEGEN_PORT", "/dev/ttyACM0")
    with pytest.raises(SystemExit) as left:
        main([verb, str(example_model()), "--board", "host"])
    assert left.value.code == ExitCode.TARGET
    assert "error[E608] board host runs in this process and has no port" in capsys.readouterr().err


HELLO = model_path("dense_chain")
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
    assert "plan dense_chain" in terminal.shown


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
    cases = [
        pattern_case([tensor.type for tensor in planned.program.signature.inputs], seed) for seed in range(3)
    ]
    measured = execute(built, cases, RunConditions(trace=Trace.RESULTS), progress=hear)
    check_steps(planned, cases[0], measured, progress=hear)
    assert list(dict.fromkeys(name for name, _, _ in told)) == [
        "import dense_chain",
        "plan dense_chain",
        "plan dense_chain, plans weighed:",
        "write C",
        "compile",
        "run",
        "compare with the reference",
        "evaluate the reference",
    ]
    weighed = counted("plan dense_chain, plans weighed:")
    assert weighed == list(range(1, len(weighed) + 1))
    [files] = {total for name, _, total in told if name == "compile"}
    assert counted("compile") == list(range((files or 0) + 1))
    assert counted("run") == counted("compare with the reference") == [0, 1, 2]
    assert {total for name, _, total in told if name in ("run", "compare with the reference")} == {3}
    steps = len(planned.reference.main.body)
    assert counted("evaluate the reference") == list(range(1, steps + 1))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_codegen_alone_says_what_it_can_do(capsys: pytest.CaptureFixture[str]) -> None:
    """It was an error[E201]."""
    assert call() == 0
    told = capsys.readouterr()
    assert told.out.startswith("Usage: codegen") and "  build     Turn every MODEL" in told.out
    assert not told.err


def test_help_is_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    """Thirty options stood below one another, as they came."""
    assert call("run", "--help") == 0
    lines = capsys.readouterr().out.splitlines()
    headings = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    groups = ["Board and memory:", "Generated code:", "Plan and kernels:", "Output:"]
    assert headings == ["Options:", *groups]
    option = next(line for line in lines if line.lstrip().startswith("--pool "))
    assert lines.index(groups[0]) < lines.index(option) < lines.index(groups[1])
    shown = {line.split()[0].split("/")[0] for line in lines if line.lstrip().startswith("--")}
    assert {name for each in cli.commands["run"].params for name in each.opts if name.startswith("--")} <= {
        *shown,
        *("--output", "--quiet", "--help"),
    }


@pytest.mark.parametrize("verb", ["run", "validate"])
def test_arrays_that_are_not_there_are_told_before_any_work(
    verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong path was found once the model was planned, compiled and linked."""

    def work(*_: object, **__: object) -> None:
        raise AssertionError("work before the arrays were looked at")

    monkeypatch.setattr("codegen.cli.model_work.model_work.build_models", work)
    np.savez("some.npz", b_x0=np.zeros(1, np.int8))
    words = ["--input", "none.npz"] + (["--expect", "some.npz:b"] if verb == "run" else [])
    assert call(verb, "--board", "host", *words) == 2
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "error[E220] none.npz: cannot read arrays: No such file or directory"
    if verb == "run":
        assert told[2:] == ["error[E221] some.npz: no array b_y0 for output 0", "help: it holds b_x0"]
    assert call(verb, "--board", "host", "--input", "some.npz") == 2
    assert "E221] some.npz: no array x0 for input 0" in capsys.readouterr().err


def test_plan_writes_its_document(capsys: pytest.CaptureFixture[str]) -> None:
    """`plan -o FILE` was an error without --export, in all other verbs -o is where the result goes."""
    assert call("plan", "-o", "plan.json") == 0
    assert "written   plan.json  (the plan as --json prints it)" in capsys.readouterr().out
    assert call("plan", "--json") == 0
    assert json.loads(capsys.readouterr().out) == json.loads(Path("plan.json").read_text())
    Path("p.csv").write_text("id,lower,upper,size\na,0,2,10\n")
    assert call("plan", "p.csv", "-q", "-o", "p.json") == 0
    assert json.loads(Path("p.json").read_text())["offsets"] == {"a": 0}


def test_validate_without_a_model_is_the_example_and_keeps_its_build(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call("validate", "--board", "host", "-o", "made", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads(Path("made/report.json").read_text())
    assert document["model"]["name"] == "digits" and "run" in document


def test_the_monitor_waits_as_long_as_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """E633 advised --wait, which `monitor` did not have."""
    assert call("monitor", "--port", "/dev/nix", "--baud", "9600", "--wait", "0") == ExitCode.TARGET
    said = capsys.readouterr().err
    assert "error[E633] /dev/nix: the port is not there (waited 0 s)" in said and "--wait SECONDS" in said
