"""The page of a sweep in a real browser without a network: figures, filters, pointing, names."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codegen.tools.sweep.board_choice import board_choices
from codegen.tools.sweep.combination_results import Result, best
from codegen.tools.sweep.sweep_chart import sweep_chart
from codegen.tools.sweep.sweep_page import sweep_page
from tests.tools.browser import Browser, browser
from tests.tools.looking import check_for_everybody, keep, roles

NONE = "\u2013"
FIGURES = ("ram_bytes", "flash_bytes", "instructions", "stack_bytes", "constant_bytes", "code_bytes")


def result(model: str, board: str, ram: int | None, instructions: int | None, **others: Any) -> Result:
    values: dict[str, Any] = {"code": "ok", "exit_code": 0, "limits": "", "optimize": "speed", **others}
    flash = None if ram is None else 9_000 - ram
    figures: dict[str, Any] = {
        "ram_bytes": ram,
        "flash_bytes": flash,
        "instructions": instructions,
        "stack_bytes": 412,
    }
    key = f"{model}{board}{ram}{instructions}{values['limits']}"
    return Result(key=key, model=model, board=board, until="run", **values, **figures)


RESULTS = (
    result("nets/digits.tflite", "stm32", 680, 270_083, optimize="size"),
    result("nets/digits.tflite", "stm32", 2_048, 145_861, limits="sram=2048"),
    result("nets/digits.tflite", "stm32", 2_048, 345_861, limits="sram=4096"),
    result("nets/digits.tflite", "microbit", 782, 1_638_812),
    result("nets/digits.tflite", "microbit", 1_748, 553_000, limits="sram=2048"),
    result("nets/digits.tflite", "nucleo-f446re", 700, None),
    result(
        *("nets/kws.tflite", "microbit", None, None),
        code="E401",
        exit_code=4,
        message="error[E401] pool sram: lacks <b>108</b> bytes\nhelp: more of them",
    ),
    result("nets/kws.tflite", "stm32", 8_512, 3_576_760),
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "sweep.html"
    path.write_text(sweep_page(RESULTS), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def shown(started: Browser, file: Path) -> Browser:
    started.load(file)
    return started


def cells(shown: Browser, table: str, column: str) -> list[list[str]]:
    """Number of the combination and text of a column, of the rows that are seen."""
    return shown.value(
        f"[...document.querySelectorAll('#{table} tbody tr')].filter(r => r.checkVisibility()).map(r =>"
        f" [r.dataset.row, r.cells[document.querySelector(`#{table} th[{column}]`).cellIndex].textContent])"
    )


def test_it_shows_the_figures_of_the_results(shown: Browser, file: Path) -> None:
    assert shown.problems == [] and shown.loaded == [file.resolve().as_uri()]
    front = {each.key for each in best(RESULTS)}
    numbers = {str(index): each for index, each in enumerate(RESULTS)}
    bests = [index for index, each in numbers.items() if each.key in front]
    for table, wanted in (("alltable", list(numbers)), ("besttable", bests)):
        for field in FIGURES:
            values = [(index, getattr(numbers[index], field)) for index in wanted]
            told = [[index, NONE if value is None else f"{value:,}"] for index, value in values]
            assert cells(shown, table, f"data-field={field}") == told
    states = dict(cells(shown, "alltable", "data-name=result"))
    assert [index for index, state in states.items() if state == "best"] == bests
    assert (states["2"], states["6"]) == ("ok", "E401")
    tiles = shown.value("[...document.querySelectorAll('.tile .value')].map(e => e.innerText)")
    assert tiles == ["7 of 8", f"{len(front)} of 8", "1 of 8"]
    said = shown.value("document.getElementById('failures').innerText")
    assert "error[E401] pool sram: lacks <b>108</b> bytes" in said and "help" not in said


def test_filters_choose_rows_dots_and_fronts(shown: Browser) -> None:
    dots = "[...document.querySelectorAll('circle')].filter(e => e.checkVisibility()).map(e => e.dataset.tip)"
    fronts = "[...document.querySelectorAll('path.front')].filter(e => e.checkVisibility()).length"

    def choose(field: str, value: str) -> list[str]:
        shown.value(
            f"(() => {{ const s = document.querySelector('[data-filter={field}]'); s.value = '{value}';"
            " s.dispatchEvent(new Event('change')); })()"
        )
        found = [index for index, _ in cells(shown, "alltable", "data-name=model")]
        assert shown.value("document.getElementById('shown').textContent") == f"{len(found)} shown"
        return found

    assert sorted(shown.value(dots)) == ["r0", "r1", "r2", "r3", "r4", "r7"] and shown.value(fronts) == 2
    assert choose("board", "stm32") == ["0", "1", "2", "7"]
    assert sorted(shown.value(dots)) == ["r0", "r1", "r2", "r7"] and shown.value(fronts) == 1
    keep(shown, "sweep-filtered")
    assert choose("model", "digits") == ["0", "1", "2"]
    assert choose("state", "ok") == ["2"]
    shown.value("document.querySelector('#chart svg').focus()")
    shown.press("ArrowRight")
    assert "345,861" in shown.value("document.getElementById('tip').innerText")
    assert choose("state", "*") == ["0", "1", "2"]


def test_pointing_and_sorting(shown: Browser) -> None:
    shown.point('[data-tip="r1"]')
    said = shown.value("document.getElementById('tip').innerText")
    assert all(words in said for words in ("digits", "stm32", "2,048", "145,861", "best"))
    keep(shown, "sweep-pointed-at", whole=False)
    shown.press("Escape")
    assert shown.value("document.getElementById('tip').hidden")
    heads = shown.value("[...document.querySelectorAll('#alltable th')].map(e => e.dataset.name)")
    shown.click("#alltable th button", heads.index("instructions"))
    order = [text for _, text in cells(shown, "alltable", "data-field=instructions")]
    assert order[:2] == ["3,576,760", "1,638,812"] and order[-2:] == [NONE, NONE]


def test_it_is_for_everybody(shown: Browser) -> None:
    check_for_everybody(shown, "sweep")
    assert {"button", "combobox", "link", "navigation", "region", "searchbox"} <= roles(shown)
    shown.call("Emulation.setScriptExecutionDisabled", value=True)
    shown.load(Path(shown.value("location.pathname")))
    parts = "['#alltable tbody tr', 'circle', '.filters', '#theme']"
    found = shown.value(f"{parts}.map(s => document.querySelector(s).checkVisibility())")
    shown.call("Emulation.setScriptExecutionDisabled", value=False)
    assert found == [True, True, False, False]


def test_a_narrow_screen(started: Browser, file: Path) -> None:
    started.load(file, width=400)
    check_for_everybody(started, "sweep-narrow")


def drawn(results: Sequence[Result]) -> tuple[str, list[str], list[str]]:
    """What is drawn upwards, and the words at both axes."""
    chart = sweep_chart(results, frozenset())
    assert chart is not None
    return chart.y_field, [tick.text for tick in chart.x_ticks], [tick.text for tick in chart.y_ticks]


def test_axes() -> None:
    assert drawn(RESULTS) == (
        "work",
        ["1 KiB", "2 KiB", "4 KiB", "8 KiB"],
        ["200,000", "500,000", "1,000,000", "2,000,000"],
    )
    alike = [result("m", "b", 1_000, 100), result("m", "b", 1_000, 100, limits="sram=1")]
    assert drawn(alike)[2] == ["80", "90", "100", "110", "120"]
    built = [result("m", "b", ram, None) for ram in (1_000, 1_100)]
    assert drawn(built)[0] == "flash_bytes"


def test_what_cannot_be_drawn_is_in_the_tables() -> None:
    assert sweep_chart(RESULTS[5:7], frozenset()) is None
    page = sweep_page(RESULTS[5:7])
    assert '<section id="chart">' not in page and "2 models on 2 boards" in page
    assert "<b>108" not in page
    two = sweep_page([result("a/m.tflite", "b", 1, 1), result("c/m.tflite", "b", 2, 1)])
    assert ">a/m.tflite</td>" in two and ">c/m.tflite</td>" in two


def test_boards_without_emulator_are_drawn_with_predictions() -> None:
    """They had no instructions, so the chart left them out."""
    run = [result("m", "a", ram, ram * 10) for ram in (1_000, 2_000)]
    built = result("m", "b", 1_500, None, instructions_predicted=9_000)
    chart = sweep_chart([*run, built], frozenset())
    assert chart is not None
    assert {(dot.result.board, dot.colour, dot.is_predicted) for dot in chart.dots} == {
        ("a", 0, False),
        ("b", 1, True),
    }
    page = sweep_page([*run, built])
    assert "predicted: QEMU does not emulate the board" in page and page.count('class="dot series1') == 1


def test_times_say_which_steps_they_leave_out() -> None:
    """Predicted times were 24 % low on one network: some kernels have no model, and nobody said so."""
    built = result(
        "m", "a", 1_500, None, instructions_predicted=9_000, steps_not_predicted=3, milliseconds=0.1
    )
    page = sweep_page([built])
    assert "fits, time without 3 steps</td>" in page
    assert "time without" not in sweep_page([replace(built, instructions=12_000)])
    assert "time without" not in sweep_page([replace(built, steps_not_predicted=0)])


def test_boards_are_ranked_by_time() -> None:
    rows = [
        result("m", "slow", 900, 10, milliseconds=2.5),
        result("m", "fast", 2_000, 30, milliseconds=0.4),
        result("m", "fast", 1_000, 90, milliseconds=1.2, limits="sram=1K"),
        result("m", "unknown", 500, 10),
        replace(result("m", "small", None, None), code="E401", exit_code=4, message="error[E401] too small"),
    ]
    choices = board_choices(rows)
    assert [choice.board for choice in choices] == ["fast", "slow", "unknown", "small"]
    fastest, leanest = choices[0].fastest, choices[0].leanest
    assert fastest is not None and leanest is not None
    assert (fastest.milliseconds, leanest.ram_bytes) == (0.4, 1_000)
    assert choices[-1].refused == rows[-1]
    assert ">error[E401] too small<" in sweep_page(rows)
