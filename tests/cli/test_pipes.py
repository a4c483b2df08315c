"""Who reads less than all (`codegen run | head`) does not change what a command ends with."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from codegen.driver.example import example_model
from tests.checkout import ROOT
from tests.cli.test_verbs import call


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


def test_an_interrupted_command_prints_its_document(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C with `--json` printed nothing: what read the document met the end of the file."""

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("codegen.cli.verbs.plan_only", stopped)
    assert call("plan", "--json") == 130
    told = capsys.readouterr()
    assert json.loads(told.out) == {"schema": 1, "error": {"exit": 130, "messages": []}}
    assert told.err.strip() == "interrupted"
    assert call("plan") == 130
    assert not capsys.readouterr().out
