"""Words of the command line that verbs have in common, and what is told before any work."""

import json
from pathlib import Path

import numpy as np
import pytest

from codegen.cli.main import cli
from tests.cli.test_verbs import call


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

    monkeypatch.setattr("codegen.cli.verbs.build_models", work)
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
