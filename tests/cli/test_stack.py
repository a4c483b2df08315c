"""A model whose stack does not fit the test firmware is built all the same: the stack is the application's.

`build` wrote nothing for micro_speech_quantized on stm32vldiscovery, although the product fits.
"""

import json
from pathlib import Path

import pytest

from tests.cli.test_verbs import call
from tests.testdata import model_path

pytestmark = pytest.mark.qemu  # the compiler; nothing runs


def test_the_product_is_written_without_the_test_firmware(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = (str(model_path("tflm/micro_speech_quantized")), "--board", "stm32vldiscovery", "-o", "made")
    assert call("build", *words) == 0
    told = capsys.readouterr()
    assert told.err.startswith("warning[E405] stack of stm32vldiscovery: lacks ")
    assert "so firmware.elf is left out, the C sources are complete\nhelp: to run it, " in told.err
    assert "written   made/  (C sources, no firmware.elf, report.json)" in told.out
    names = {path.name for path in Path("made").iterdir()}
    assert "micro_speech_quantized.c" in names and "firmware.elf" not in names
    report = json.loads(Path("made/report.json").read_text())
    assert [message["code"] for message in report["warnings"]] == ["E405"]
    bound = report["elf"]["stack_bound_bytes"]

    # What cannot be run is an error of `run`; the folder is there, which says the same.
    assert call("run", *words) == 4
    told_once = capsys.readouterr().err
    assert told_once.startswith("error[E405] stack of stm32vldiscovery: lacks ")
    assert told_once.count("E405") == 1

    monkeypatch.setenv("CODEGEN_STACK", str(bound - 1))
    assert call("build", *words) == 4
    assert capsys.readouterr().err.startswith(
        "error[E406] environment variable CODEGEN_STACK: lacks 1 byte: the model needs up to "
    )
    assert json.loads(Path("made/report.json").read_text()) == report


def test_plan_takes_no_stack(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """`plan --stack 1` was taken and ignored: without a compiler nothing is known of the stack."""
    assert call("plan", str(model_path("tflm/hello_world_int8")), "--stack", "1") == 2
    assert capsys.readouterr().err.startswith("error[E201] No such option")
    monkeypatch.setenv("CODEGEN_STACK", "1")  # of the project's builds
    assert call("plan", "-q", str(model_path("tflm/hello_world_int8"))) == 0
