"""The sentence that opens plan, build, run and the page says what the other keys of report.json say."""

import re
from dataclasses import replace
from typing import Any, cast

import pytest

from codegen.board import boards, load_board
from codegen.driver.build import Share, plan_model
from codegen.driver.options import Options
from codegen.driver.report.single import report
from codegen.driver.report.summary_sentence import amount, percent, summary
from codegen.driver.report.time_and_energy import add_time
from codegen.ir import Board
from codegen.targets.families import cycles_per_instruction
from tests.networks import model_path

CLOCKED = [board for board in boards() if board.rated_clock_hz]
_BYTES = re.compile(
    r"fits: ([\d,]+) of ([\d,]+) bytes of RAM \((\d+|under 1) %\), "
    r"([\d,]+) of ([\d,]+) of flash for constants \((\d+|under 1) %\); "
)
_TIME = re.compile(r"about ([\d,.]+) ms at ([\d.]+) MHz(?:, ([\d,.]+) mJ)?")


def document_of(board: Board, requested: str | None = None) -> dict[str, Any]:
    planned = plan_model(
        model_path("separable_1d"), board, Options(board=board.name), share=Share(alone=True)
    )
    return report(planned, board.name if requested is None else requested)


def _number(text: str) -> float:
    return float(text.replace(",", ""))


@pytest.mark.parametrize("board", CLOCKED, ids=lambda board: board.name)
@pytest.mark.sampled(10)
def test_the_sentence_is_the_report(board: Board) -> None:
    document = document_of(board)
    said = document["summary"]
    match = _BYTES.match(said)
    assert match, said
    totals, time = document["totals"], document["time"]
    ram, flash = document["plan"]["peak_bytes"], document["constants"]["total_bytes"]
    figures = [ram, totals["pool_limit_bytes"], flash, totals["board_flash_bytes"]]
    assert [_number(match[group]) for group in (1, 2, 4, 5)] == figures
    assert (match[3], match[6]) == tuple(
        percent(part, whole)[:-2] for part, whole in (figures[:2], figures[2:])
    )
    if cycles_per_instruction(board.target.cpu) is None:
        assert time is None
        assert said[match.end() :] == f"no time: no cycles of {board.target.cpu} are published"
        return
    if document["instructions_predicted"] is None:
        assert time is None
        assert said[match.end() :] == "no time: a kernel has no prediction; `codegen run` counts"
        return
    told = _TIME.fullmatch(said[match.end() :])
    assert told, said
    assert _number(told[1]) == pytest.approx(time["milliseconds"], rel=0.06)
    assert _number(told[2]) * 1e6 == pytest.approx(board.rated_clock_hz, rel=1e-5)
    assert (told[3] is None) == (board.power is None) == (time["microjoules"] is None)
    if told[3] is not None:
        assert _number(told[3]) == pytest.approx(time["microjoules"] / 1000, rel=0.06)


@pytest.mark.parametrize("board", CLOCKED, ids=lambda board: board.name)
@pytest.mark.sampled(10)
def test_time_and_energy_follow_from_cycles(board: Board) -> None:
    document = document_of(board)
    time, rate = document["time"], cycles_per_instruction(board.target.cpu)
    if rate is None or document["instructions_predicted"] is None:
        assert time is None
        assert all(step["microseconds"] is step["microjoules"] is None for step in document["steps"])
        return
    assert time["cycles"] == pytest.approx(document["instructions_predicted"] * rate, abs=1)
    assert time["milliseconds"] == pytest.approx(1000 * time["cycles"] / board.rated_clock_hz, rel=6e-3)
    spent = sum(step["microseconds"] or 0 for step in document["steps"])
    assert spent == pytest.approx(1000 * time["milliseconds"], rel=2e-2)
    if board.power is not None:
        joules = time["cycles"] * board.power.microamps_per_megahertz * 1e-12 * board.power.volts
        assert time["microjoules"] == pytest.approx(1e6 * joules, rel=6e-3)
        energy = sum(step["microjoules"] or 0 for step in document["steps"])
        assert energy == pytest.approx(time["microjoules"], rel=2e-2)


def test_a_measured_count_is_taken_first() -> None:
    """Cycles of a board's counter are no estimate; with a memory model its waits are part of the time."""
    board = load_board("nucleo-l4r5zi")
    document = document_of(board)
    run: dict[str, object] = {"instructions": 1_000, "cycles_estimate": 2_000_000}
    document["run"] = run
    add_time(document, board)
    assert document["time"]["counted"] == "cycles_estimate" and document["time"]["cycles"] == 2_000_000
    run["flash_waits_estimate"] = {"code": 300_000, "data": 100_000}
    add_time(document, board)
    assert document["time"]["cycles"] == 2_400_000 and document["time"]["milliseconds"] == 20.0
    assert summary(document, board).endswith("; about 20 ms at 120 MHz, 0.72 mJ")
    run["cycles"] = 1_200_000
    add_time(document, board)
    assert summary(document, board).endswith("; 10 ms at 120 MHz, 0.36 mJ")


def test_without_a_board_nothing_fits_it_needs() -> None:
    document = document_of(load_board("stm32"), requested="")
    ram, flash = document["plan"]["peak_bytes"], document["constants"]["total_bytes"]
    assert document["summary"].startswith(
        f"needs {ram:,} bytes of RAM, {flash:,} of flash for constants; about "
    )


def test_a_board_without_a_clock_has_no_time() -> None:
    document = document_of(replace(load_board("stm32"), rated_clock_hz=0))
    assert document["time"] is None
    assert document["summary"].endswith("; no time: board netduinoplus2 has no clock")


@pytest.mark.parametrize(
    ("value", "text"), [(0.0123, "0.012"), (1.0, "1.0"), (9.96, "10"), (43.4, "43"), (1234.5, "1,234")]
)
def test_amounts_have_two_digits(value: float, text: str) -> None:
    assert amount(value) == text


def test_every_published_current_names_its_source() -> None:
    powers = {board.name: board.power for board in boards() if board.power is not None}
    assert {"nucleo-l4r5zi", "b-u585i-iot02a", "nrf52840-dk", "nrf54l15-dk"} <= set(powers)
    assert all(len(cast("Any", power).source) > 40 for power in powers.values())
