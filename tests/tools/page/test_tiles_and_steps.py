"""What the page tells of a build at a glance (tiles, plans, both builds), of a step (layers, shapes, C)."""

import json
from pathlib import Path

import pytest

from codegen.targets.families import cycles_per_instruction
from codegen.tools.page.page import page
from tests.checkout import ROOT
from tests.tools.browser import Browser
from tests.tools.looking import keep


def test_a_step_opens_its_layers_and_its_c(started: Browser) -> None:
    """The C of all steps stood below the table, shapes and layers of a block nowhere."""
    started.load(ROOT / "docs" / "digits_report.html")
    detail = "document.querySelector('#c0-0')"
    assert not started.value(f"{detail}.checkVisibility()")
    started.click("#steptable0 button.open", 0)
    assert started.value(f"{detail}.checkVisibility()")
    said = started.value(f"{detail}.innerText")
    for words in (
        "conv0 CONV_2D 3x3: 1x8x8x1 → 1x8x8x16 int8",
        "dw1 DEPTHWISE_CONV_2D",
        "digits_avgpool4_block(",
    ):
        assert words in said
    keep(started, "report-step-open")
    heads = started.value("[...document.querySelectorAll('#steptable0 th')].map(e => e.dataset.name)")
    started.click("#steptable0 th button", heads.index("MACs"))
    assert started.value(f"{detail}.previousElementSibling.id") == "s0-0"
    started.click("#steptable0 button.open", 0)
    assert not started.value(f"{detail}.checkVisibility()")


def test_tips_tell_shapes_and_windows(started: Browser) -> None:
    started.load(ROOT / "docs" / "digits_report.html")
    told = """(kind, share) => [...document.querySelectorAll(kind)].map(mark => {
        mark.scrollIntoView({block: 'center', behavior: 'instant'});
        const { left, top, width, height } = mark.getBoundingClientRect();
        const at = {clientX: left + width / 2, clientY: top + share * height};
        document.querySelector('#memory0 .sheet').dispatchEvent(new PointerEvent('pointermove', at));
        return document.getElementById('tip').innerText; })"""
    buffers = started.value(f"({told})('#memory0 svg:first-child .box', 0.5)")
    assert any(text.startswith("conv5") and "1x2x2x24" in text for text in buffers)
    steps = started.value(
        f"({told})('#memory0 svg:first-child .column', 0.97)"
    )  # below the axis lies no buffer
    assert "3x3" in steps[1] and "1x4x4x16 → 1x2x2x24" in steps[1]
    assert "dw1 3x3" in steps[0] and "1x8x8x1 → 1x4x4x16" in steps[0]


def test_tiles_tell_of_ram_flash_and_time(started: Browser) -> None:
    started.load(ROOT / "docs" / "digits_report.html")
    document = json.loads(started.value("document.getElementById('report').textContent"))
    tiles = started.value("[...document.querySelectorAll('.tile')].map(e => e.innerText)")
    totals, elf = document["totals"], document["elf"]
    assert document["summary"] in started.value("document.querySelector('header').innerText")
    assert totals["ram_bytes"] == document["plan"]["peak_bytes"] + elf["stack_bound_bytes"]
    assert totals["flash_bytes"] == document["constants"]["total_bytes"] + elf["model_code_bytes"]
    rate = cycles_per_instruction("cortex-m4")
    assert rate is not None
    milliseconds = 1000 * document["run"]["instructions"] * rate / 168_000_000
    assert document["time"]["milliseconds"] == pytest.approx(milliseconds, rel=5e-3)
    for words in (f"{totals['ram_bytes']:,}", f"{totals['flash_bytes']:,}", "168 MHz", "mean cycles"):
        assert any(words in tile for tile in tiles)


@pytest.mark.parametrize(("plans", "words"), [(1, "One plan only"), (2, "Two plans only")])
def test_few_plans_are_a_sentence(plans: int, words: str, started: Browser, tmp_path: Path) -> None:
    """A curve of one plan was an empty chart with a slider that chose nothing."""
    started.load(ROOT / "docs" / "digits_report.html")
    document = json.loads(started.value("document.getElementById('report').textContent"))
    document["pareto"] = document["pareto"][:plans]
    file = tmp_path / "few.html"
    file.write_text(page(document), encoding="utf-8")
    started.load(file)
    assert words in started.value("document.getElementById('curve0').innerText")
    assert started.value("document.querySelectorAll('#curve0 svg, #curve0 input').length") == 0
    assert started.value("document.querySelectorAll('#plans0 tbody tr').length") == plans
    assert started.problems == []


def test_differences_name_board_and_options_of_both_builds(started: Browser, tmp_path: Path) -> None:
    started.load(ROOT / "docs" / "digits_report.html")
    document = json.loads(started.value("document.getElementById('report').textContent"))
    before = {**document, "options": "--board netduinoplus2 --optimize size"}
    file = tmp_path / "two.html"
    file.write_text(page(document, against=before), encoding="utf-8")
    started.load(file)
    said = started.value("document.querySelector('#differences .builds').innerText")
    assert "--optimize size" in said and document["options"] in said and "netduinoplus2 (cortex-m4)" in said


def test_the_theme_button_is_on_a_narrow_screen(started: Browser) -> None:
    """It stood at the end of links that scroll: at 400 pixels nobody saw it."""
    started.load(ROOT / "docs" / "digits_report.html", width=400)
    place = "document.querySelector('#theme').getBoundingClientRect()"
    left, right = started.value(f"{place}.left"), started.value(f"{place}.right")
    assert 0 <= left < right <= 400
