"""The curve as a picture: well-formed, every point where its figures say, labels apart."""

from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

import pytest

from codegen.plan.curve_picture import CurvePoint, curve_picture

SVG = "{http://www.w3.org/2000/svg}"


def _points(figures: list[tuple[int, int]], own: int) -> list[CurvePoint]:
    return [CurvePoint(peak_bytes=peak, macs=own + extra, extra_macs=extra) for peak, extra in figures]


@pytest.mark.parametrize(
    "figures",
    [
        [(8064, 0)],
        [(1000, 0), (500, 50), (250, 100)],
        [(90_000, 0), (89_999, 1), (89_998, 2), (89_997, 3)],
        [(300, 0), (1, 10_000)],
    ],
)
def test_points_lie_where_their_figures_say(figures: list[tuple[int, int]]) -> None:
    points = _points(figures, 100)
    text = curve_picture("a < b", points)
    root = ElementTree.fromstring(text)
    assert text == curve_picture("a < b", points)
    circles = [(float(c.get("cx", "")), float(c.get("cy", ""))) for c in root.iter(f"{SVG}circle")]
    assert len(circles) == len(points)
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    assert all(0 < x < width and 0 < y < height for x, y in circles)
    # Both scales are linear and start at zero: distances are to each other as figures are.
    left, bottom = 84, 56 + 420
    for (x, y), point in zip(circles, points, strict=True):
        assert (x - left) * points[-1].extra_macs == pytest.approx(
            (circles[-1][0] - left) * point.extra_macs, abs=0.1 * points[-1].extra_macs + 1e-9
        )
        assert (bottom - y) / (bottom - circles[0][1]) == pytest.approx(
            point.peak_bytes / points[0].peak_bytes, abs=0.01
        )
    labels = [t for t in root.iter(f"{SVG}text") if t.text and " bytes, +" in t.text]
    places = [(float(t.get("x", "")), float(t.get("y", ""))) for t in labels]
    assert [t.text for t in labels] == [f"{p.peak_bytes:,} bytes, +{p.extra_percent:.1f} %" for p in points]
    assert all(abs(a[1] - b[1]) >= 11 or abs(a[0] - b[0]) > 60 for a, b in combinations(places, 2))


def test_a_model_without_work_has_no_percent() -> None:
    (point,) = _points([(100, 0)], 0)
    assert point.extra_percent == 0
    assert "100 bytes, +0.0 %" in curve_picture("none", [point])


def test_lean_kernels_have_a_colour_and_a_line_of_their_own() -> None:
    fast = _points([(1000, 0), (500, 50)], 100)
    lean = [replace(point, is_lean=True) for point in _points([(400, 0), (300, 50)], 100)]
    text = curve_picture("both", [*fast, *lean])
    circles = list(ElementTree.fromstring(text).iter(f"{SVG}circle"))
    colours = [circle.get("fill") for circle in circles]
    assert len(circles) == 6  # two of them in the legend
    assert len(set(colours)) == 2
    assert "kernels that need least bytes" in text
    assert "kernels that need least bytes" not in curve_picture("fast alone", fast)
