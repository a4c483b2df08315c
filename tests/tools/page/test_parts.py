"""What the page is made of, without a browser: areas, reasons, budgets, differences, other viewers' files."""

import json
import random
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import pytest
from tflite.Model import Model

from codegen.documents import to_json
from codegen.driver.build import plan_model
from codegen.driver.built_report import read_report
from codegen.driver.options import Options
from codegen.driver.planning import planning_board
from codegen.driver.report.single import report
from codegen.errors import CodegenError
from codegen.pages.chart_axes import round_ticks
from codegen.report_file import Buffer, CurvePoint, Report, Shared, typed
from codegen.tools.page.curve_chart import chosen
from codegen.tools.page.differences import differences
from codegen.tools.page.flash_chart import flash_groups
from codegen.tools.page.overlay import overlay
from codegen.tools.page.page import page
from codegen.tools.page.trace import trace
from codegen.tools.page.treemap import Rect, squarified
from codegen.tools.page.words import Reasons, writer
from tests.cli.test_verbs import call
from tests.networks import model_path

SPEECH = "speech"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """A plan's report, as it is read from its file."""
    options = Options(board="stm32")
    planned = plan_model(model_path(SPEECH), planning_board(options), options)
    return json.loads(to_json(report(planned, "stm32")))


@pytest.mark.parametrize("seed", range(8))
def test_a_treemap_fills_its_room_in_proportion(seed: int) -> None:
    draw = random.Random(seed)
    sizes = sorted(
        (draw.randrange(1, 10 ** draw.randrange(1, 6)) for _ in range(draw.randrange(1, 60))), reverse=True
    )
    room = Rect(x=3, y=5, width=draw.uniform(20, 900), height=draw.uniform(20, 900))
    rects = squarified(sizes, room)
    scale = room.width * room.height / sum(sizes)
    for size, rect in zip(sizes, rects, strict=True):
        assert rect.width * rect.height == pytest.approx(size * scale, rel=1e-6)
        assert rect.x >= room.x - 1e-6 and rect.x + rect.width <= room.x + room.width + 1e-6
        assert rect.y >= room.y - 1e-6 and rect.y + rect.height <= room.y + room.height + 1e-6
    for one, other in combinations(rects, 2):
        wide = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
        high = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
        assert wide < 1e-6 or high < 1e-6


def _point(peak_bytes: int, instructions: int) -> CurvePoint:
    return CurvePoint(
        peak_bytes=peak_bytes,
        instructions=instructions,
        extra_percent=0.0,
        macs_executed=10,
        extra_macs=0,
        proved_optimal=True,
        blocks=(),
        again=(),
    )


@pytest.mark.parametrize("extent", [0.3, 1.0, 4.0, 9.25, 64.65, 129.96, 1e4])
def test_ticks_are_round_and_reach_to_the_end(extent: float) -> None:
    """The curve once had ticks at +32.5 % and +97.5 %."""
    found = round_ticks(extent)
    step = found[1] - found[0]
    assert found[0] == 0 and extent - step < found[-1] <= extent * (1 + 1e-9)
    assert 4 <= len(found) - 1 <= 10 and float(f"{step:e}".split("e")[0]) in (1.0, 2.0, 5.0)


def test_a_heading_of_the_treemap_is_there_only_where_it_fits(document: dict[str, Any]) -> None:
    """`code of the model` above a narrow group was cut off at the edge; the legend has every group."""
    for group in flash_groups(typed(document)):
        assert group.heading in ("", group.title)
        assert len(group.heading) * 8 <= group.rect.width
        for tile in group.tiles:
            # memset left its tile: its letters are wide.
            wide = sum(tile.label.count(letter) for letter in "mwMW")
            assert not tile.label or 6.8 * len(tile.label) + 4 * wide <= tile.rect.width - 8


def test_a_budget_chooses_the_fewest_instructions_that_fit() -> None:
    points = [_point(90, 10), _point(70, 12), _point(60, 20), _point(40, 35)]
    assert [chosen(points, budget) for budget in (100, 90, 89, 70, 69, 60, 59, 40, 39)] == [
        *(0, 0, 1, 1, 2, 2, 3, 3, None),
    ]


def _buffer(id_: str, offset: int, size_bytes: int, **fields: Any) -> Buffer:
    fields = {"kind": "activation", "over": (), "rests_on": ()} | fields
    return Buffer(
        id=id_,
        values=(id_,),
        pool="ram",
        offset=offset,
        size_bytes=size_bytes,
        alignment_bytes=4,
        start=0,
        stop=1,
        first_step=0,
        last_step=0,
        **fields,
    )


def test_why_buffers_lie_where_they_do() -> None:
    low = _buffer("low", 0, 100)
    high = _buffer("high", 60, 140, rests_on=("low",), over=(Shared(id="low", bytes=40),))
    free = _buffer("free", 20, 4)
    reasons = Reasons([low, high, free], {"ram": 200})
    assert reasons.why(low) == "Lies at the bottom of the pool. high is written over 40 bytes of it."
    assert reasons.why(high) == (
        "Cannot lie lower: low is in use at the same time. Its end is the peak of the pool. "
        "Written over 40 bytes of low, which the kernel has read by then."
    )
    assert reasons.why(free) == "Nothing holds it up: it could lie lower, the peak would stay."


def test_inputs_are_written_by_the_application(document: dict[str, Any]) -> None:
    plan, steps = typed(document).plan, typed(document).steps
    assert plan is not None and steps is not None
    writers = {buffer.id: writer(buffer, steps) for buffer in plan.buffers or () if buffer.kind == "io"}
    assert sorted(writers.values()) == sorted(["the application", f"SOFTMAX {steps[-1].name}"])


def test_what_buffers_lie_over_and_rest_on_is_so(document: dict[str, Any]) -> None:
    """By arithmetic on their places: bytes that both have while both are in use; ends that meet."""
    buffers = {each["id"]: each for each in document["plan"]["buffers"]}
    found = 0
    for one, other in combinations(buffers.values(), 2):
        late, early = (one, other) if one["start"] >= other["start"] else (other, one)
        together = late["start"] < early["stop"] and one["pool"] == other["pool"]
        shared = min(one["offset"] + one["size_bytes"], other["offset"] + other["size_bytes"])
        shared -= max(one["offset"], other["offset"])
        told = [*one["over"], *other["over"]]
        pair = [each["bytes"] for each in told if each["id"] in (one["id"], other["id"])]
        assert sum(pair) == (max(shared, 0) if together else 0)
        found += bool(pair)
    for buffer in buffers.values():
        for name in buffer["rests_on"]:
            assert buffers[name]["offset"] < buffer["offset"]
    assert found


def test_equal_builds_have_no_differences(document: dict[str, Any]) -> None:
    found = differences(typed(document), typed(document))
    assert {figure.verdict for figure in found.figures} <= {"same", "unknown"}
    assert (found.steps, found.buffers) == ((), ())


def test_differences_tell_changed_new_and_gone(document: dict[str, Any]) -> None:
    before = json.loads(json.dumps(document))
    before["steps"][0]["name"] = "old"
    before["steps"][1]["macs"] += 3
    found = differences(typed(before), typed(document))
    assert [(change.what, change.name) for change in found.steps] == [
        ("gone", "old"),
        ("changed", document["steps"][1]["name"]),
        ("new", document["steps"][0]["name"]),
    ]
    [figure] = found.steps[1].figures
    assert (figure.label, figure.change, figure.verdict) == ("multiply-accumulates", -3, "less")


def test_models_of_two_builds_are_matched_by_name(document: dict[str, Any]) -> None:
    named = {name: {**document, "model": {**document["model"], "name": name}} for name in "abc"}
    one, other = ({"schema": 1, "models": [named[name] for name in names]} for names in ("ab", "cb"))
    found = differences(typed(one), typed(other))
    labels = [figure.label for figure in found.figures if figure.before_key.endswith("macs_executed")]
    assert labels == ["multiply-accumulates of b"]
    assert "of b" in page({**other, "plan": document["plan"]}, against={**one, "plan": document["plan"]})


def test_a_trace_adds_up(document: dict[str, Any]) -> None:
    for step in document["steps"]:
        step["instructions"] = 100 + step["step"]
    events: list[dict[str, Any]] = json.loads(trace(document))["traceEvents"]
    steps = [event for event in events if event["ph"] == "X"]
    assert [event["name"] for event in steps] == [step["name"] for step in document["steps"]]
    total = sum(step["instructions"] for step in document["steps"])
    assert steps[-1]["ts"] + steps[-1]["dur"] == pytest.approx(total / 1000)
    most = max(event["args"]["bytes"] for event in events if event["ph"] == "C")
    assert most <= document["plan"]["peak_bytes"]
    _check_form(events)


def test_a_planned_sum_takes_time_too() -> None:
    """Without a run and without multiply-accumulates a trace had a step of no length: it showed MACs."""
    options = Options(board="stm32")
    planned = plan_model(model_path("two_images"), planning_board(options), options)
    document = json.loads(to_json(report(planned, "stm32")))
    events: list[dict[str, Any]] = json.loads(trace(document))["traceEvents"]
    [step] = [event for event in events if event["ph"] == "X"]
    [predicted] = [each["instructions_predicted"] for each in document["steps"]]
    assert predicted > 0 and step["dur"] == pytest.approx(predicted / 1000)
    names = {event["args"]["name"] for event in events if event["ph"] == "M"}
    assert names == {"two_images (instructions_predicted)", "core 0"}


def _check_form(events: list[dict[str, Any]]) -> None:
    """The rules of the published Trace Event Format for the kinds that we write; Perfetto drops what breaks
    them."""
    needed = {
        "M": {"args"},
        "X": {"tid", "cat", "ts", "dur"},
        "C": {"ts", "args"},
        "i": {"tid", "ts", "s"},
    }
    ends: dict[tuple[int, int], float] = {}
    for event in events:
        assert {"ph", "pid", "name", *needed[event["ph"]]} <= event.keys()
        assert isinstance(event["pid"], int) and isinstance(event.get("tid", 0), int)
        match event["ph"]:
            case "M":
                assert event["name"] in ("process_name", "thread_name") and event["args"]["name"]
            case "C":  # each argument is a series of numbers
                assert all(type(value) in (int, float) for value in event["args"].values())
            case "X":  # slices of a track lie one behind the other, or in one another
                track = (event["pid"], event["tid"])
                assert event["ts"] >= ends.get(track, 0.0) - 1e-9 and event["dur"] >= 0
                ends[track] = event["ts"] + event["dur"]
            case _:
                assert event["s"] in ("g", "p", "t")


@pytest.mark.parametrize("key", [SPEECH, "ds_cnn"])
def test_an_overlay_names_results_as_the_file_does(key: str) -> None:
    """Keras joins the names of layers that are one: 258 letters here. Those over 200 were cut, and Model
    Explorer found none of these nodes."""
    options = Options(board="stm32")
    planned = plan_model(model_path(key), planning_board(options), options)
    whole = json.loads(to_json(report(planned, "stm32")))
    for step in whole["steps"]:
        step["instructions"] = 1
    found = json.loads(overlay(whole))
    graph: Any = Model.GetRootAs(model_path(key).read_bytes(), 0).Subgraphs(0)
    operators = [graph.Operators(index) for index in range(graph.OperatorsLength())]
    made = {graph.Tensors(each.Outputs(0)).Name().decode() for each in operators}
    assert set(found["results"]) == made
    assert [stop["stop"] for stop in found["gradient"]] == [0, 1]


def test_nothing_of_a_model_is_read_as_html(document: dict[str, Any]) -> None:
    evil = json.loads(json.dumps(document).replace(document["steps"][1]["name"], "</script><b>&amp;'"))
    text = page(evil)
    assert "<b>" not in text
    assert text.count("</script>") == 2


def test_a_bare_problem_has_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.csv").write_text("id,lower,upper,size\na,0,4,16\nb,1,3,8\nc,3,6,8\n")
    assert call("plan", "small.csv", "--report", "-q") == 0
    text = Path("report.html").read_text(encoding="utf-8")
    assert text.count('class="box ') == 3
    assert "proved optimal" in text


def test_the_page_of_a_plan_lies_beside_its_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was written where the command ran, over the page of another plan."""
    monkeypatch.chdir(tmp_path)
    Path("small.csv").write_text("id,lower,upper,size\na,0,4,16\n")
    Path("plans").mkdir()
    assert call("plan", "small.csv", "--report", "-o", "plans/small.json") == 0
    assert "written   plans/report.html" in capsys.readouterr().out
    assert sorted(path.name for path in Path("plans").iterdir()) == ["report.html", "small.json"]
    assert not Path("report.html").exists()
    assert call("plan", "small.csv", "--report", "-o", "report.html") == 2
    assert "error[E218] --report report.html: is the file of -o" in capsys.readouterr().err


def _refused(path: Path) -> str:
    with pytest.raises(CodegenError) as caught:
        read_report(path)
    return str(caught.value)


def test_files_that_are_no_reports_are_refused(tmp_path: Path, document: dict[str, Any]) -> None:
    file = tmp_path / "report.json"
    assert f"no file {file}" in _refused(tmp_path)
    broken = {**document, "plan": {**document["plan"], "buffers": document["plan"]["buffers"][1:]}}
    cases: list[tuple[str, str]] = [
        ("{", "is no report of codegen: Input data was truncated"),
        ('{"schema": 1}', "is no report of a plan, a build or a run"),
        ('{"schema": 2, "plan": null}', "is no report of a plan"),
        ('{"schema": 1, "plan": {"planner": 7}}', "Expected `str`, got `int` - at `$.plan.planner`"),
        ('{"schema": 1, "pareto": []}', "is a curve of --pareto, no report"),
        (json.dumps(broken), "names a pool, a step or a buffer that is not there"),
    ]
    for text, told in cases:
        file.write_text(text)
        said = _refused(tmp_path)
        assert "E237" in said and told in said and "codegen build -o DIR" in said
        assert "what an older codegen wrote is made again" in said
    model = model_path(SPEECH)
    assert _refused(model) == (
        f"error[E237] {model}: is a model, no report\n"
        f"help: `codegen run {model} --report -o DIR` runs it and writes DIR/report.json and DIR/report.html"
    )


def test_a_page_never_lies_over_what_it_is_made_of(
    tmp_path: Path, document: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "report.json"
    file.write_text(json.dumps(document))
    assert call("report", str(tmp_path), "-o", str(file)) == 2
    assert "error[E218]" in capsys.readouterr().err
    assert call("report", str(tmp_path), "--against", str(file)) == 0
    assert "written" in capsys.readouterr().out
    assert (tmp_path / "report.html").is_file()
    assert call("plan", str(model_path(SPEECH)), "--report", "--pareto") == 2
    assert "leave out --pareto" in capsys.readouterr().err


def test_the_page_without_a_model_is_small() -> None:
    empty = cast("dict[str, object]", {"schema": 1, "plan": None, "models": []})
    assert typed(empty) == Report(schema=1, models=())
    assert len(page(empty).encode()) <= 300_000
