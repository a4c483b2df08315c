"""What summaries say of steps on core 1: which they are, before anything is run."""

import json
from pathlib import Path

import pytest

from tests.cli.test_verbs import call
from tests.testdata import model_path

BOARD = ("--board", "mps2-an521", "--optimize", "speed")
PLACE = "[[place]]\n{}\ndevice_id = {}\n"
TOLD = "core 1    4 of 13 steps: 1 dw1, 3 dw3, 5 dw5, 7 dw7"


def _kws(folder: Path, monkeypatch: pytest.MonkeyPatch, place: str, core: int = 1) -> str:
    """kws_ref_model, planned in a folder where `place` is asked for."""
    (folder / "codegen.toml").write_text(PLACE.format(place, core))
    monkeypatch.chdir(folder)
    return str(model_path("mlperf_tiny/kws_ref_model"))


def test_steps_on_core_1_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only `run` told, and only how many they are: `core 1    4 of 13 steps, stack ...`."""
    model = _kws(tmp_path, monkeypatch, 'op = "DEPTHWISE_CONV_2D"')
    assert call("plan", model, *BOARD) == 0
    lines = capsys.readouterr().out.splitlines()
    assert TOLD in lines
    rows = [line.split()[1] for line in lines if line.endswith("  core 1")]
    assert rows == ["dw1", "dw3", "dw5", "dw7"]
    assert call("build", model, *BOARD, "-o", "out") == 0
    assert TOLD in capsys.readouterr().out.splitlines()
    assert "   1 dw1 " in (text := Path("out/kws_ref_model.c").read_text(encoding="utf-8"))
    assert text.count("  core 1\n") == 4
    assert json.loads(Path("out/report.json").read_text(encoding="utf-8"))["plan"]["core1_steps"] == [
        1,
        3,
        5,
        7,
    ]


def test_a_program_on_one_core_says_nothing_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = _kws(tmp_path, monkeypatch, "op = 0", core=0)
    assert call("plan", model, *BOARD) == 0
    assert "core 1" not in capsys.readouterr().out
    assert call("plan", model, *BOARD, "--json") == 0
    assert json.loads(capsys.readouterr().out)["plan"]["core1_steps"] == []


@pytest.mark.qemu
def test_a_run_tells_of_both_stacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = _kws(tmp_path, monkeypatch, 'op = "DEPTHWISE_CONV_2D"')
    assert call("run", model, *BOARD) == 0
    lines = capsys.readouterr().out.splitlines()
    assert TOLD in lines
    [at] = [index for index, line in enumerate(lines) if line.startswith("stack ")]
    assert lines[at + 1].startswith("          on core 1 ") and ", static bound " in lines[at + 1]


@pytest.mark.parametrize(
    ("place", "told"),
    [
        (
            "inputs = true",
            "error[E325] codegen.toml, line 1, place 1: "
            "input_1: given to cortex-m33 device 1, but no step computes "
            "an input: the caller writes it\n"
            'help: place what reads it instead (tensor = "conv0"), or leave device_id out\n',
        ),
        (
            'op = "RESHAPE"',
            "error[E325] codegen.toml, line 1, place 1: "
            "reshape10 (a view of avgpool9): given to cortex-m33 device "
            "1, but no code runs for a view: its bytes are there already\n"
            'help: place what computes these bytes instead (tensor = "avgpool9"), or leave device_id out\n',
        ),
        (
            'op = "CONV_2D"\ntarget = "npu"',
            "error[E322] codegen.toml, line 1, place 1: "
            "conv0, conv2, conv4, conv6, conv8 are given to npu device 1, "
            "but mps2-an521 has only its cores, cortex-m33 device 0 and cortex-m33 device 1, and no kernel "
            "of these steps drives another device\n"
            "help: leave target and device_id out, or declare a [[kernel]] that has them\n",
        ),
    ],
    ids=["inputs", "views", "target"],
)
def test_places_without_effect_are_refused(
    place: str,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = _kws(tmp_path, monkeypatch, place)
    assert call("plan", model, *BOARD) == 3
    assert capsys.readouterr().err == told


def test_what_is_offered_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = _kws(tmp_path, monkeypatch, 'tensor = "avgpool9"')
    assert call("plan", model, *BOARD) == 0
    assert "core 1    1 of 13 steps: 9 avgpool9" in capsys.readouterr().out.splitlines()
