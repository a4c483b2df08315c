"""docs/report.md has every key of report.json, and none that no report has; so have the docs every flag."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import click
import pytest

from codegen.cli.main import cli
from codegen.cli.options.option_table import ROWS
from codegen.driver.build import build
from codegen.driver.inputs.cases import pattern_case
from codegen.driver.options import Options
from codegen.driver.report.single import report
from codegen.driver.run import execute
from tests.checkout import ROOT
from tests.cli.test_verbs import call
from tests.testdata import model_path

DOCS = ROOT / "docs"
_TABLE_KEY = re.compile(r"`([a-z0-9_.\[\]]+)`")


def documented() -> set[str]:
    """Keys in the first column of the page's tables."""
    lines = (DOCS / "report.md").read_text(encoding="utf-8").splitlines()
    cells = [line.split("|")[1] for line in lines if line.startswith("| `")]
    return {key for cell in cells for key in _TABLE_KEY.findall(cell)}


def _keys(value: object, path: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in cast("Mapping[str, object]", value).items():
            named = f"{path}.{key}" if path else key
            yield named
            yield from _keys(part, named)
    elif isinstance(value, list):
        for part in cast("list[object]", value):
            yield from _keys(part, f"{path}[]")


def _told(capsys: pytest.CaptureFixture[str], *words: str) -> set[str]:
    """Keys of the document that a verb prints; `code` and `data` of waits are told in the text."""
    assert call(*words, "--json") == 0
    return {key for key in _keys(json.loads(capsys.readouterr().out)) if "flash_waits_estimate." not in key}


def _placed(monkeypatch: pytest.MonkeyPatch, folder: Path, *tables: str) -> None:
    (folder / "codegen.toml").write_text("".join(f"[[place]]\n{table}\n" for table in tables))
    monkeypatch.chdir(folder)


KWS, VWW, AD = (f"mlperf_tiny/{name}" for name in ("kws_ref_model", "vww_96_int8", "ad01_int8"))
SPEECH = "tflm/micro_speech_quantized"


@pytest.mark.qemu
def test_a_run_with_core_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _placed(monkeypatch, tmp_path, 'op = "DEPTHWISE_CONV_2D"\ndevice_id = 1')
    board = ("--board", "mps2-an521", "--optimize", "speed")
    found = _told(capsys, "run", str(model_path(KWS)), *board, "--cycles")
    assert {"steps[].core", "run.core1_stack_peak_bytes", "elf.core1_stack_bound_bytes"} <= found
    assert found - documented() == set()


def test_a_build_with_compression(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    limit = ("--board", "mps2-an386", "--pool", "flash=250000")
    found = _told(capsys, "build", str(model_path(AD)), *limit)
    assert "constants.compressed.constants[].stored_bytes" in found
    assert found - documented() == set()


def test_no_key_is_left_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All that reports can have: blocks, lost channels, staged constants, copies between memories, several
    models, a run, compression, the curve."""
    where = tmp_path / "places"
    where.mkdir()
    monkeypatch.chdir(tmp_path)
    found = _told(capsys, "plan", str(model_path(VWW)), "--board", "stm32")
    staged = ("--board", "nucleo-g474re", "--stage", "use", "--optimize", "speed", "--pool", "sram=5300")
    found |= _told(capsys, "plan", str(model_path(SPEECH)), *staged, "--pool", "ccm=0")
    found |= _told(capsys, "plan", str(model_path(AD)), "--board", "mps2-an386", "--pool", "flash=250000")
    found |= _told(capsys, "run", str(model_path("tflm/hello_world_int8")), "--board", "host")
    models = [str(model_path(key)) for key in ("tflm/hello_world_int8", SPEECH)]
    several = _told(capsys, "build", *models, "--board", "host")
    several = {key.removeprefix("models[].") for key in several}
    names = "|".join(Path(model).stem for model in models)
    found |= {re.sub(rf"^constants\.staged\.({names})(\.|$)", r"constants.staged\2", key) for key in several}
    found |= _told(capsys, "plan", str(model_path(KWS)), "--pareto", "--optimize", "size")
    resnet = str(model_path("mlperf_tiny/pretrainedResnet_quant"))
    found |= _told(capsys, "plan", resnet, "--pareto")
    _placed(monkeypatch, where, 'op = "CONV_2D"\nmemory = "sram"', 'op = "DEPTHWISE_CONV_2D"\nreads = "dtcm"')
    found |= _told(capsys, "plan", str(model_path(KWS)), "--board", "mps3-an547")
    assert (found - documented(), documented() - found) == (set(), set())


def test_cycles_of_a_real_board_are_reported(tmp_path: Path) -> None:
    """`run.cycles` was null whatever the counter of a board had said."""
    built = build([model_path("tflm/hello_world_int8")], Options(board="host"), tmp_path / "out")
    program = built.models[0].program
    measured = execute(built, [pattern_case([tensor.type for tensor in program.inputs], 0)])
    [case] = measured.result.cases
    assert cast("Mapping[str, object]", report(program, "host", 0, None, measured)["run"])["cycles"] is None
    result = replace(measured.result, cases=(replace(case, cycles=1234),))
    counted = report(program, "host", 0, None, replace(measured, result=result))
    assert cast("Mapping[str, object]", counted["run"])["cycles"] == 1234


def test_no_build_reports_a_time() -> None:
    """The planner's seconds were in every report.json, so that two builds of one input differed."""
    assert {key for key in documented() if "second" in key} == {"run.planning_seconds"}


def test_every_flag_is_documented() -> None:
    """Some were in `--help` alone."""
    page = (DOCS / "configuration.md").read_text(encoding="utf-8")
    flags = {
        name
        for verb in ("build", "run", "validate", "plan")
        for parameter in cli.commands[verb].params
        if isinstance(parameter, click.Option)
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("--")
    }
    assert len(flags) > 25
    assert {flag for flag in flags if not re.search(rf"{flag}\b(?!-)", page)} == set()


def test_the_table_of_options_is_that_of_the_docs() -> None:
    """Flags, variables, keys and defaults of docs/configuration.md, written there by hand."""
    lines = (DOCS / "configuration.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]
    told: dict[str, set[str]] = {}
    for flag, variable, key, *_, default in (
        row for row in rows if len(row) == 5 and row[0].startswith("`--")
    ):
        name = re.findall(r"--([a-z-]+)", flag)[0]
        said = re.findall(r"`(CODEGEN_\w+)`", variable)
        keys = {name} & set(re.findall(r"[a-z-]+", key))
        told.setdefault(name, set()).update([*said, *keys, default.strip("`")])
    settable = {row.key: row for row in ROWS.values() if row.toml is not None}
    assert told.keys() == settable.keys()
    for key, row in settable.items():
        assert {row.variable, key} <= told[key], key
        default = row.settings.get("default")
        words = {True: "on", None: "off" if row.settings.get("is_flag") else None}
        expected = words.get(default, str(default))
        assert expected is None or expected in told[key], key
