"""The curve as a picture: well-formed, every point where its figures say, labels apart."""

from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

import pytest

from codegen.plan.draw.curve_picture import CurvePoint, curve_picture

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
    left, bottom = 84, 72 + 420
    for (x, y), point in zip(circles, points, strict=True):
        assert (x - left) * points[-1].extra_macs == pytest.approx(
            (circles[-1][0] - left) * point.extra_macs, abs=0.1 * points[-1].extra_macs + 1e-9
        )
        assert (bottom - y) / (bottom - circles[0][1]) == pytest.approx(
            point.peak_bytes / points[0].peak_bytes, abs=0.01
        )
    found = labels(text)
    assert [name for name, _, _ in found] == [
        f"{p.peak_bytes:,} bytes, +{p.extra_percent:.1f} %" for p in points
    ]
    assert apart(found)


def labels(text: str) -> list[tuple[str, float, float]]:
    """(what it says, left, base line) of every label, as they come in the document."""
    return [
        ("".join(each.itertext()), float(each.get("x", "")), float(each.get("y", "")))
        for each in ElementTree.fromstring(text).iter(f"{SVG}text")
        if " bytes, +" in "".join(each.itertext())
    ]


def apart(found: list[tuple[str, float, float]]) -> bool:
    """Whether no two labels touch: letters are at most 6.6 pixels wide, lines 11 high."""
    return all(
        abs(a[2] - b[2]) >= 11 or a[1] + 6.6 * len(a[0]) <= b[1] or b[1] + 6.6 * len(b[0]) <= a[1]
        for a, b in combinations(found, 2)
    )


def _both(fast: list[tuple[int, int]], lean: list[tuple[int, int]]) -> list[CurvePoint]:
    return [*_points(fast, 1000), *(replace(point, is_lean=True) for point in _points(lean, 1000))]


def test_points_at_one_place_share_a_label() -> None:
    """vww_96_int8: 27,749 bytes with lean kernels stood above 28,044 with fast ones."""
    text = curve_picture("vww", _both([(28_044, 0)], [(27_749, 0)]))
    [(said, _, _)] = labels(text)
    assert said == "28,044 and 27,749 bytes, +0.0 %"
    spans = {span.text: span.get("fill") for span in ElementTree.fromstring(text).iter(f"{SVG}tspan")}
    circles = ElementTree.fromstring(text).iter(f"{SVG}circle")
    dots = {(c.findtext(f"{SVG}title") or "").partition(" ")[0]: c.get("fill") for c in circles}
    assert spans == {name: dots[name] for name in ("28,044", "27,749")} and len(set(spans.values())) == 2


def test_what_points_at_one_place_have_not_in_common_is_said_of_each() -> None:
    points = _both([(30_000, 0), (29_900, 2), (20_000, 1000)], [(29_800, 1), (20_000, 1000)])
    assert [said for said, _, _ in labels(curve_picture("many", points))] == [
        "30,000 bytes, +0.0 %; 29,900 bytes, +0.2 % and 29,800 bytes, +0.1 %",
        "20,000 and 20,000 bytes, +100.0 %",
    ]


def test_labels_are_in_the_order_of_their_dots() -> None:
    """Dots beside each other, too near for two lines of text, too far for one label."""
    points = _both([(30_000, 0), (28_700, 0)], [(29_350, 0), (28_050, 0)])
    text = curve_picture("near", points)
    found = labels(text)
    assert [said.split()[0] for said, _, _ in found] == ["30,000", "29,350", "28,700", "28,050"]
    assert [base for _, _, base in found] == sorted(base for _, _, base in found)
    assert apart(found)


def test_labels_stay_inside_the_picture() -> None:
    """A label at the right edge was cut off."""
    text = curve_picture("wide", _both([(9_000_000, 0), (8_000_000, 1000)], [(7_990_000, 1000)]))
    width = float(ElementTree.fromstring(text).get("width", ""))
    assert [said for said, _, _ in labels(text)][1] == "8,000,000 and 7,990,000 bytes, +100.0 %"
    assert all(left > 0 and left + 6.6 * len(said) <= width for said, left, _ in labels(text))
    assert apart(labels(text))


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
