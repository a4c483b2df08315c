"""`codegen plan --pareto`: the curve as a table, a document and a picture; what cannot have one."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from codegen.driver import curve as curves_of_models
from codegen.driver.curve import Curve, plan_curve
from codegen.driver.inputs.files import example_model
from tests.cli.test_verbs import call
from tests.cli.test_verbs import elsewhere as elsewhere
from tests.networks import model_path


def test_the_curve_is_a_table_a_document_and_a_picture(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    curves: dict[str, Curve] = {}  # both commands ask for the same one, which takes seconds

    def once(*asked: Any) -> Curve:
        key = repr(asked[:3])
        curves[key] = curves.get(key) or plan_curve(*asked)
        return curves[key]

    monkeypatch.setattr(curves_of_models, "plan_curve", once)
    model = str(model_path("resnet8"))
    words = ["plan", model, "--pareto", "--board", "host"]
    assert call(*words, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1
    assert document["model"]["macs"] == 12_501_632
    points = document["pareto"]
    assert points[0]["extra_macs"] == 0
    assert len(points) >= 4
    for one, other in itertools.pairwise(points):
        assert one["peak_bytes"] > other["peak_bytes"]
        assert one["instructions"] < other["instructions"]
    fewest = points[0]["instructions"]
    for point in points:
        assert point["extra_macs"] == point["macs_executed"] - 12_501_632
        assert point["extra_percent"] == pytest.approx(100 * point["instructions"] / fewest - 100, abs=0.01)
        # What is executed beyond the model's own runs in stripes or a second time.
        in_stripes = sum(block["extra_macs"] for block in point["blocks"])
        assert in_stripes == point["extra_macs"] if not point["again"] else in_stripes <= point["extra_macs"]
    assert call(*words, "--svg", "curve.svg") == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    for point in points:
        figures = f"{point['peak_bytes']:,}  "
        (row,) = [line for line in captured.out.splitlines() if line.strip().startswith(figures)]
        assert f"{point['instructions']:,}" in row
        assert f"+{100 * point['instructions'] / fewest - 100:.1f}" in row
    assert captured.out.splitlines()[-1] == "written   curve.svg  (RAM against instructions)"
    assert len(curves) == 1
    picture = Path("curve.svg").read_text()
    assert all(f"{point['peak_bytes']:,} bytes" in picture for point in points)
    # Every point is a plan that can be had: its bytes as a limit give no more of either.
    last = points[-1]
    limit = f"sram={last['peak_bytes']}"
    assert call("plan", model, "--board", "host", "--pool", limit, "--json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["plan"]["peak_bytes"] <= last["peak_bytes"]


def test_a_curve_within_limits_or_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", str(example_model()), "--pareto", "--board", "host"]
    assert call(*words, "--pool", "sram=100") == 4
    assert "error[E401] pool sram: lacks " in capsys.readouterr().err
    assert call(*words, "--export", "minimalloc", "-o", "p.csv") == 2
    assert "error[E209] --pareto finds many plans, --export writes one" in capsys.readouterr().err
    Path("p.csv").write_text("id,lower,upper,size\na,0,2,10\n")
    assert call("plan", "p.csv", "--pareto") == 2
    assert "error[E209] p.csv is a bare problem: no work to trade for its bytes" in capsys.readouterr().err
