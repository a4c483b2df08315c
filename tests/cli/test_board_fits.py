"""`codegen boards --fit MODEL`: boards in the order of time, then those that lack bytes, and how many."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.board import load_board
from codegen.cli.boards.board_fits import show_fits
from codegen.driver.board_fit import fit_board, rank_boards
from codegen.driver.build import Share, plan_model
from codegen.driver.options import Options
from codegen.problem.shortage import DoesNotFit
from tests.commands import codegen
from tests.networks import model_path

NAMES = ("esp32-c3-devkit", "stm32vldiscovery", "nucleo-l4r5zi", "nucleo-f446re")
BOARDS = [load_board(name) for name in NAMES]
MODEL = model_path("ds_cnn")


def test_the_fastest_is_first_and_what_lacks_bytes_last() -> None:
    fits = rank_boards(MODEL, among=BOARDS)
    assert [fit.board for fit in fits] == [
        "nucleo-f446re",
        "nucleo-l4r5zi",
        "esp32-c3-devkit",
        "stm32vldiscovery",
    ]
    fast, frugal, untimed, short = fits
    assert fast.milliseconds and frugal.milliseconds and fast.milliseconds < frugal.milliseconds
    assert fast.microjoules is None and frugal.microjoules
    assert untimed.fits and untimed.milliseconds is None
    assert not short.fits and short.ram_bytes is None and short.missing_ram_bytes > 0


def test_the_missing_bytes_are_those_that_help() -> None:
    """With as many bytes more the model fits, with one less it does not."""
    board = load_board("stm32vldiscovery")
    fit = fit_board(MODEL, board)
    limit = fit.ram_limit_bytes + fit.missing_ram_bytes
    roomy = load_board("lm3s6965evb")
    options = Options(board=roomy.name, pool_limits={"sram": limit})
    planned = plan_model(MODEL, roomy, options, share=Share(alone=True))
    assert planned.program.memory.peak_bytes("sram") <= limit
    with pytest.raises(DoesNotFit):
        plan_model(MODEL, roomy, replace(options, pool_limits={"sram": limit - 1}), share=Share(alone=True))


def test_the_table_has_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    show_fits(MODEL, among=BOARDS, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("ds_cnn.tflite fits 3 boards") and lines[2].split()[:2] == [
        "nucleo-f446re",
        "m4",
    ]
    assert any(line.startswith("does not fit 1 board") for line in lines)


def test_json_has_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    show_fits(MODEL, among=BOARDS[:2], as_json=True)
    document = json.loads(capsys.readouterr().out)
    assert document["model"] == "ds_cnn.tflite"
    assert [(board["name"], board["fits"]) for board in document["boards"]] == [
        ("esp32-c3-devkit", True),
        ("stm32vldiscovery", False),
    ]
    assert document["boards"][0]["flash_bytes"] > 0 and document["boards"][1]["missing_ram_bytes"] > 0


def test_a_model_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert codegen("boards", "stm32", "--fit", tmp_path / "no.tflite") == 2
    assert "error[E204]" in capsys.readouterr().err
