"""The page in a real browser, opened from its file without a network: what it shows is what report.json says.

Every number in it is looked up in report.json by the test; hover, keys, headings and the slider are used.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from codegen.documents import to_json
from codegen.driver.build import plan_model
from codegen.driver.built_report import read_report
from codegen.driver.options import Options
from codegen.driver.planning import planning_board
from codegen.driver.report.several import joint_report
from codegen.driver.report.single import report
from codegen.joint import together
from codegen.report_file import typed
from codegen.tools.page.curve_chart import chosen
from codegen.tools.page.page import page
from tests.checkout import ROOT
from tests.cli.test_verbs import call
from tests.networks import model_path
from tests.tools.browser import Browser
from tests.tools.looking import check_for_everybody, keep, roles

_PLACE = re.compile(r"[^.\[\]]+")
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?!\w)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of the MLPerf benchmarks, run on QEMU with --report: its folder has report.json and page."""
    made = tmp_path_factory.mktemp("page") / "kws"
    model = str(model_path("ds_cnn"))
    assert call("run", model, "--board", "mps2-an386", "--report", "-q", "-o", str(made)) == 0
    return made


@pytest.fixture
def shown(started: Browser, folder: Path) -> Browser:
    started.load(folder / "report.html")
    return started


def looked_up(document: object, key: str) -> Any:
    """The value of `plan.pools[0].peak_bytes`."""
    found: Any = document
    for name in _PLACE.findall(key):
        found = found[int(name)] if name.isdigit() else found[name]
    return found


def _spoken(text: str) -> float | None:
    return None if text.strip() in ("\u2013", "") else float(text.replace(",", ""))


def numbers_in(value: object) -> Iterator[float]:
    """All numbers of a document, those in its sentences too."""
    if isinstance(value, dict):
        for part in cast("dict[str, object]", value).values():
            yield from numbers_in(part)
    elif isinstance(value, list):
        for part in cast("list[object]", value):
            yield from numbers_in(part)
    elif isinstance(value, str):
        yield from (float(found.replace(",", "")) for found in _NUMBER.findall(value))
    elif isinstance(value, int | float):
        yield float(value)


_KEYED = """[...document.querySelectorAll('[data-key]')].map(e =>
    [e.dataset.key, e.getAttribute('value') ?? e.dataset.value, e.textContent, e.dataset.doc || 'report'])"""
_CELLS = """[...document.querySelectorAll('th[data-field]')].flatMap(h =>
    [...h.closest('table').tBodies[0].rows].filter(r => r.dataset.row).map(r =>
        [`${r.dataset.row}.${h.dataset.field}`, r.cells[h.cellIndex].textContent]))"""
_RATIOS = """[...document.querySelectorAll('data.derived')].map(
    e => [e.dataset.part, e.dataset.whole, e.textContent])"""
_CHANGES = """[...document.querySelectorAll('data.change')].map(
    e => [e.dataset.before, e.dataset.after, e.textContent])"""
_OTHER_TEXT = """(() => {
    const not = '[data-key],tr[data-row] td.n,[data-ordinal],.derived,.change,.tick,pre,output,.file';
    const walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    const found = [];
    while (walk.nextNode()) {
        const text = walk.currentNode;
        if (!text.parentElement.closest(not)) found.push(text.data);
    }
    return found.join('\\n');
})()"""

_UNCOVERED = """[...document.querySelectorAll('#memory0 rect.activation')].map(e => {
    e.scrollIntoView({block: 'center', behavior: 'instant'});
    const r = e.getBoundingClientRect();
    const seen = document.elementsFromPoint(r.x + r.width / 2, r.y + r.height / 2);
    const isUncovered = seen.find(found => found.dataset.tip) === e;
    return isUncovered ? Number(e.dataset.tip.split('-')[1]) : -1; }).find(n => n >= 0)"""
"""Number of a buffer whose rectangle nothing covers in the middle."""


def check_numbers(shown: Browser, documents: dict[str, Any]) -> int:
    """Compare every number of the page that is open with the documents; return how many it has."""
    report = documents["report"]
    keyed, cells = shown.value(_KEYED), shown.value(_CELLS)
    for key, value, text, which in keyed:
        expected = looked_up(documents[which], key)
        assert (float(value), _spoken(text)) == (expected, expected), key
    for key, text in cells:
        found = looked_up(report, key)
        assert (text if isinstance(found, str) else _spoken(text)) == found, key
    for part, whole, text in shown.value(_RATIOS):
        assert text == f"{100 * looked_up(report, part) / looked_up(report, whole):.1f} %"
    for before, after, text in shown.value(_CHANGES):
        change = looked_up(report, after) - looked_up(documents["against"], before)
        assert _spoken(text.replace("+", "")) == change, after
    known = set(numbers_in(list(documents.values())))
    others = [float(each.replace(",", "")) for each in _NUMBER.findall(shown.value(_OTHER_TEXT))]
    assert [each for each in others if each not in known] == []
    return len(keyed) + len(cells)


@pytest.mark.qemu
def test_every_number_is_one_of_the_report(shown: Browser, folder: Path) -> None:
    document = read_report(folder)
    assert check_numbers(shown, {"report": document}) > 200
    assert json.loads(shown.value("document.getElementById('report').textContent")) == document
    rows = shown.value("document.querySelectorAll('#buffertable0 tbody tr').length")
    boxes = shown.value("document.querySelectorAll('#memory0 rect.box').length")
    assert rows == boxes == len(looked_up(document, "plan.buffers"))


def test_the_example_of_the_docs_is_a_page_of_today(started: Browser) -> None:
    """docs/digits_report.html: after a change of the templates, `codegen run --board stm32 --report` anew."""
    file = ROOT / "docs" / "digits_report.html"
    started.load(file)
    document = json.loads(started.value("document.getElementById('report').textContent"))
    assert check_numbers(started, {"report": document}) > 100
    assert started.problems == []
    text = file.read_text(encoding="utf-8")
    for name in ("page.css", "page.js"):
        lines = (ROOT / "templates" / "pages" / name).read_text(encoding="utf-8").split("\n")
        assert [line for line in lines if line.strip() and line not in text] == []


def test_several_models_share_pools(started: Browser, tmp_path: Path) -> None:
    options = Options(board="stm32")
    models = ("dense_chain", "two_images")
    planned = [plan_model(model_path(key), planning_board(options), options) for key in models]
    documents = [report(each, "stm32") for each in planned]
    document = json.loads(to_json(joint_report(together([each.program for each in planned]), documents)))
    file = tmp_path / "several.html"
    file.write_text(page(document), encoding="utf-8")
    started.load(file)
    check_numbers(started, {"report": document})
    assert (
        started.value("document.querySelectorAll('svg[aria-roledescription=\\'memory map\\']').length") == 2
    )
    said = started.value("document.getElementById('shared').innerText")
    for each in planned:
        assert each.program.name in said
    keep(started, "report-several-models")
    assert started.problems == []


@pytest.mark.qemu
def test_it_loads_nothing_and_complains_of_nothing(shown: Browser, folder: Path) -> None:
    assert shown.problems == []
    assert shown.loaded == [(folder / "report.html").resolve().as_uri()]
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "http://" not in text and "https://" not in text
    assert len(page({"schema": 1, "models": []}).encode()) <= 300_000


@pytest.mark.qemu
def test_pointing_at_a_buffer_tells_of_it(shown: Browser, folder: Path) -> None:
    buffers = looked_up(read_report(folder), "plan.buffers")
    index = shown.value(_UNCOVERED)
    shown.point(f'#memory0 [data-tip="b0-{index}"]')
    said = shown.value("document.getElementById('tip').innerText")
    assert said.startswith(", ".join(buffers[index]["values"]))
    for number in (buffers[index]["size_bytes"], buffers[index]["offset"]):
        assert f"{number:,}" in said
    assert "why it lies there" in said
    marks = "[...document.querySelectorAll('#memory0 .sheet .on')].map(e => e.getAttribute('y'))"
    mark = f"document.querySelector('#memory0 [data-tip=\"b0-{index}\"]').getAttribute('y')"
    assert shown.value(marks) == [shown.value(mark)]
    keep(shown, "report-pointed-at", whole=False)
    shown.point("h1")
    assert shown.value("document.getElementById('tip').hidden") and shown.value(marks) == []


@pytest.mark.qemu
def test_pointing_changes_nothing_in_the_picture(shown: Browser) -> None:
    """A class changed there, and the browser drew a picture of 10,000 buffers again for each move: 153 ms."""
    shown.value(
        "window.changed = []; new MutationObserver(found => window.changed.push(...found)).observe("
        "document.querySelector('#memory0 svg'), {subtree: true, attributes: true, childList: true})"
    )
    tips: set[str] = set()
    for number in range(0, shown.value("document.querySelectorAll('#memory0 svg .box').length"), 5):
        shown.point("#memory0 svg:not(.sheet) .box", number)
        tips.add(shown.value("document.querySelector('#tip strong').textContent"))
    assert len(tips) > 1 and shown.value("window.changed.length") == 0


def test_a_row_is_marked_where_its_table_is_seen(started: Browser) -> None:
    """Marking a step's row far below the map drew its table again for each move."""
    started.load(ROOT / "docs" / "digits_report.html")
    frame = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))"
    marked = "[...document.querySelectorAll('tr.on')].map(e => e.id)"
    started.value(frame)
    started.value("document.querySelector('#memory0 svg').focus()")
    started.press("ArrowRight")
    assert started.value(marked) == []
    started.value(
        "(() => { const table = document.getElementById('buffertable0');"
        "table.closest('details').open = true; table.scrollIntoView({behavior: 'instant'}); })()"
    )
    started.value(frame)
    assert len(started.value(marked)) == 1
    started.press("Escape")
    assert started.value(marked) == []


@pytest.mark.qemu
def test_a_map_is_walked_with_keys(shown: Browser) -> None:
    shown.value("document.querySelector('#memory0 svg').focus()")
    names: list[str] = []
    for key in ("ArrowRight", "ArrowRight", "End", "ArrowLeft"):
        shown.press(key)
        names.append(shown.value("document.querySelector('#tip strong').textContent"))
    assert len(set(names)) == 4
    shown.press("Escape")
    assert shown.value("document.getElementById('tip').hidden")


@pytest.mark.qemu
def test_a_heading_sorts(shown: Browser, folder: Path) -> None:
    steps = looked_up(read_report(folder), "steps")
    rows = "[...document.querySelectorAll('#steptable0 tbody tr[data-row]')]"
    column = "document.querySelector('#steptable0 th[data-field=instructions]').cellIndex"
    script = f"{rows}.map(r => r.cells[{column}].textContent)"
    heads = shown.value("[...document.querySelectorAll('#steptable0 th')].map(e => e.dataset.name)")
    wanted = sorted((step["instructions"] for step in steps), reverse=True)
    for expected, order in ((wanted, "descending"), (wanted[::-1], "ascending")):
        shown.click("#steptable0 th button", heads.index("instructions"))
        assert [_spoken(text) for text in shown.value(script)] == expected
        found = shown.value("document.querySelector('#steptable0 th[data-name=instructions]').ariaSort")
        assert found == order


def test_the_slider_chooses_as_the_curve_says(started: Browser) -> None:
    started.load(ROOT / "docs" / "digits_report.html")
    document = json.loads(started.value("document.getElementById('report').textContent"))
    points = typed(document).pareto
    assert points
    peaks = [point.peak_bytes for point in points]
    for budget in {min(peaks) - 1, *peaks, max(peaks)}:
        said = started.value(
            f"(() => {{ const s = document.getElementById('budget0'); s.value = {budget};"
            " s.dispatchEvent(new Event('input')); const o = document.getElementById('chosen0');"
            " return [o.dataset.chosen, o.textContent]; })()"
        )
        index = chosen(points, budget)
        assert said[0] == ("" if index is None else str(index))
        assert ("no plan fits" if index is None else f"{points[index].instructions:,}") in said[1]
    started.value("document.getElementById('budget0').focus()")
    started.press("Home", 36)
    assert "no plan fits" in started.value("document.getElementById('chosen0').textContent")
    keep(started, "report-budget")


@pytest.mark.qemu
def test_it_reads_without_scripts_in_the_dark_and_on_paper(shown: Browser) -> None:
    def colours() -> tuple[str, list[float]]:
        found = shown.value(
            "(() => { const ink = s => getComputedStyle(document.querySelector(s)).color;"
            " const back = getComputedStyle(document.querySelector('section')).backgroundColor;"
            " return [back, ink('h1'), ink('section p'), ink('nav a')]; })()"
        )
        return found[0], [_contrast(found[0], each) for each in found[1:]]

    backs: list[str] = []
    for mode in ("light", "dark"):
        shown.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": mode}])
        back, contrasts = colours()
        assert min(contrasts) >= 4.5, mode
        backs.append(back)
    assert backs[0] != backs[1]
    shown.click("#theme")  # from the system's dark to light
    assert colours()[0] == backs[0]
    shown.call("Emulation.setEmulatedMedia", media="print", features=[])
    assert shown.value("getComputedStyle(document.querySelector('nav')).display") == "none"
    keep(shown, "report-on-paper")
    shown.call("Emulation.setEmulatedMedia", media="", features=[])
    shown.call("Emulation.setScriptExecutionDisabled", value=True)
    shown.load(ROOT / "docs" / "digits_report.html")
    shown.click("#memory0 details summary")
    parts = "['#buffertable0 tbody tr', '.choose', '#theme']"
    seen = shown.value(f"{parts}.map(s => document.querySelector(s).checkVisibility())")
    keep(shown, "report-without-scripts")
    shown.call("Emulation.setScriptExecutionDisabled", value=False)
    assert seen == [True, False, False]


def _contrast(back: str, ink: str) -> float:
    """WCAG's ratio of two colours as `rgb(r, g, b)`."""
    lights: list[float] = []
    for colour in (back, ink):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


@pytest.mark.qemu
def test_axe_finds_nothing_and_what_is_used_has_a_name(shown: Browser) -> None:
    check_for_everybody(shown, "report")
    assert {"button", "link", "navigation"} <= roles(shown)
    shown.load(ROOT / "docs" / "digits_report.html")
    assert "slider" in roles(shown)


def test_everything_open_on_a_narrow_screen(started: Browser) -> None:
    """What scrolls there has to be reached with keys."""
    started.load(ROOT / "docs" / "digits_report.html", width=400)
    started.value("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    check_for_everybody(started, "report-narrow")


def test_what_is_pointed_at_in_the_flash_has_a_frame(started: Browser) -> None:
    """The rule of tiles won over the rule of marks: a tile kept its own border, of the card's colour."""
    started.load(ROOT / "docs" / "digits_report.html")
    started.point("#flash svg:not(.sheet) .tile-box", 3)
    frame = started.value(
        "(() => { const style = s => getComputedStyle(document.querySelector(s));"
        " return [style('#flash .sheet .on').stroke, style('body').color]; })()"
    )
    keep(started, "report-flash", whole=False)
    assert frame[0] == frame[1]


def test_keys_lead_to_what_is_beside_the_screen(started: Browser) -> None:
    """The tip told of a buffer that had to be scrolled to."""
    started.load(ROOT / "docs" / "digits_report.html", width=400)
    started.value("document.querySelector('#memory0 svg').focus()")
    inside = """(() => {
        const mark = document.querySelector('#memory0 .sheet .on').getBoundingClientRect();
        const seen = document.querySelector('#memory0 .scroll').getBoundingClientRect();
        return mark.right > seen.left && mark.left < seen.right && mark.bottom > 0 && mark.top < innerHeight;
    })()"""
    moved = "document.querySelector('#memory0 .scroll').scrollLeft"
    started.press("End")
    assert started.value(inside) and started.value(moved) > 0
    started.press("Home")
    assert started.value(inside)


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        ("document.querySelector('header p').style.color = '#999'", "color-contrast"),
        ("document.querySelector('#theme').textContent = ''", "button-name"),
    ],
)
def test_axe_sees_a_page_that_is_wrong(broken: str, rule: str, started: Browser) -> None:
    started.load(ROOT / "docs" / "digits_report.html")
    started.value(broken)
    with pytest.raises(AssertionError, match=rule):
        check_for_everybody(started, "wrong")


@pytest.mark.qemu
def test_the_differences_of_two_builds(started: Browser, folder: Path, tmp_path: Path) -> None:
    document = read_report(folder)
    before = json.loads(json.dumps(document))
    before["plan"]["peak_bytes"] += 1000
    before["run"]["instructions"] -= 77
    before["steps"][1]["kernel"] = "another"
    before["steps"][1]["instructions"] += 5
    before["plan"]["buffers"][2]["offset"] += 16
    del before["steps"][3], before["plan"]["buffers"][4]
    file = tmp_path / "two.html"
    file.write_text(page(document, against=before), encoding="utf-8")
    started.load(file)
    check_numbers(started, {"report": document, "against": before})
    said = started.value("document.getElementById('differences').innerText")
    name = looked_up(document, "steps[1].name")
    kernel = looked_up(document, "steps[1].kernel")
    for words in ("-1,000", "+77", "(-5)", f"another → {kernel}", name, "new"):
        assert words in said
    assert started.problems == []
    check_for_everybody(started, "differences")
