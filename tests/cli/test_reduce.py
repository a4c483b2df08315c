"""--no-reduce, what reports say of the reduction, and its key in codegen.toml."""

import json
import re
from pathlib import Path

import pytest

from codegen.cli import main
from tests.testdata import model_path

SMALL = model_path("tflm/hello_world_int8")


def plan(*words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["plan", str(SMALL), *words])
    assert not ended.value.code


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CODEGEN_REDUCE", raising=False)


def test_the_summary_has_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """4 of 16 neurons of the first layer are constant: 4 * (1 + 16) products less."""
    plan()
    line = "reduced   to 220 of 288 multiply-accumulates, 220 of 288 weight bytes"
    assert f"{line} (4 channels constant or unread)" in capsys.readouterr().out.splitlines()
    plan("--no-reduce")
    assert "reduced" not in capsys.readouterr().out


def test_speed_is_of_what_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """`work 3,727,313 multiply-accumulates` stood beside a speed per one of the file's 7,489,664."""
    with pytest.raises(SystemExit) as ended:
        main(["run", str(SMALL), "--board", "mps2-an386"])
    assert not ended.value.code
    out = capsys.readouterr().out
    assert "\nwork      220 multiply-accumulates, none extra;" in out
    told = re.search(r"^speed     ([0-9,]+) instructions an inference \(([0-9.]+) per mult", out, re.M)
    assert told is not None
    assert told[2] == f"{int(told[1].replace(',', '')) / 220:.2f}"


def test_the_report_names_what_was_removed(capsys: pytest.CaptureFixture[str]) -> None:
    plan("--json")
    document = json.loads(capsys.readouterr().out)
    assert document["model"]["macs"] == 288
    assert document["model"]["macs_executed"] == 220
    found = document["reduction"]
    assert (found["macs_before"], found["macs_after"]) == (288, 220)
    assert (found["weight_bytes_before"], found["weight_bytes_after"]) == (288, 220)
    (step,) = found["steps"]
    assert step["op"] == "FULLY_CONNECTED"
    assert step["where"].startswith("op 0 FULLY_CONNECTED")
    assert (step["channels_before"], step["channels_after"], step["stuck_at_clamp"]) == (16, 12, 4)
    assert (step["zero_weights"], step["constant_input"], step["unread"]) == (0, 0, 0)
    plan("--json", "--no-reduce")
    document = json.loads(capsys.readouterr().out)
    assert document["reduction"] is None
    assert document["model"]["macs_executed"] == 288


def test_environment_and_file_turn_it_off(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("codegen.toml").write_text("reduce = false\n")
    plan("--json")
    assert json.loads(capsys.readouterr().out)["reduction"] is None
    plan("--json", "--reduce")
    assert json.loads(capsys.readouterr().out)["reduction"] is not None
    Path("codegen.toml").unlink()
    monkeypatch.setenv("CODEGEN_REDUCE", "false")
    plan("--json")
    assert json.loads(capsys.readouterr().out)["reduction"] is None
