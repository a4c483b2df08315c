"""The memory map, against one drawn by hand.
The picture is well-formed, repeats, and draws every buffer where the plan has it.
The curve as a picture: well-formed, every point where its figures say, labels apart.
Peaks over sizes: axes, lines, what was measured.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

import pytest

from codegen.draw.curve_picture import CurvePoint, curve_picture
from codegen.draw.memory_map import DrawnSteps, memory_map
from codegen.draw.plan_picture import picture, program_picture
from codegen.draw.sizes_picture import sizes_picture
from codegen.ir import Var
from codegen.ir.formulas import Largest, Sum, Symbol, number
from codegen.kernels.contract import Sharing, View, Workspace
from codegen.kernels.primfunc import PrimFunc
from codegen.problem.problem import BufferKind, Placement, Pool
from codegen.program.size_ranges import Peak, Ranges
from tests.emit.samples import counter
from tests.plan.build import buffer, live, placed, prim, problem, var

IMAGE, CONV0, DW1, ADD2 = var("image", 64), var("conv0", 128), var("dw1", 128), var("add2", 128)
POOL3, FLAT4, FC5 = var("pool3", 8), var("flat4", 8), var("fc5", 4)
STEPS = [
    prim(CONV0, IMAGE, workspaces=(Workspace(name="ws", size_bytes=20),)),
    prim(DW1, CONV0),
    prim(ADD2, CONV0, DW1, sharing=(Sharing(argument=1, below=0),)),
    prim(POOL3, ADD2),
    prim(FLAT4, POOL3, view=View(argument=0)),
    prim(FC5, FLAT4),
]
# Columns of 8 bytes: the least power of two for which 256 bytes fit the room. conv0 takes columns 0..15,
# dw1 and add2 columns 16..31, pool3 column 0; at step 5 fc5 lies in half of column 1.
EXPECTED = """\
sram pool, 256 bytes (lower bound 0), 8 bytes a column
           0x000           0x080            live bytes
   0 conv0 BBBBBBBBBBBBBBBBAAAAAAAA***.....        212
   1 dw1   BBBBBBBBBBBBBBBBCCCCCCCCCCCCCCCC        256  <- peak
   2 add2  BBBBBBBBBBBBBBBBDDDDDDDDDDDDDDDD        256  <- peak  D over C
   3 pool3 E...............DDDDDDDDDDDDDDDD        136
   4 flat4 E...............................          8
   5 fc5   EF..............................         12

id  values        pool    offset    bytes  align  steps
A   image         sram     0x080       64      1  0..0
B   conv0         sram     0x000      128      1  0..2
C   dw1           sram     0x080      128      1  1..2
D   add2          sram     0x080      128      1  2..3
E   pool3, flat4  sram     0x000        8      1  3..5
F   fc5           sram     0x008        4      1  5..5
*   conv0.ws      sram     0x0c0       20      4  0..0"""
OFFSETS = {"image": 128, "conv0": 0, "conv0.ws": 192, "dw1": 128, "add2": 128, "pool3": 0, "fc5": 8}


def drawn_map(
    steps: Sequence[PrimFunc],
    first: Var,
    last: Var,
    offsets: dict[str, int],
    core1: Sequence[int] = (),
    width: int = 100,
) -> str:
    """The map of a network with one input and one result."""
    found = live([first], steps, [last])
    return memory_map(
        problem=found.problem([Pool(name="sram", region="SRAM", limit_bytes=1 << 20)]),
        plan=placed(**offsets),
        steps=DrawnSteps(names=[step.name for step in steps], times=found.times, core1=core1),
        slices=found.slices,
        width=width,
    )


def test_against_a_map_drawn_by_hand() -> None:
    assert drawn_map(STEPS, IMAGE, FC5, OFFSETS) == EXPECTED


def test_rows_say_what_core_1_runs() -> None:
    """Nothing in the map told which steps a `[[place]]` had moved to the other core."""
    text = drawn_map(STEPS, IMAGE, FC5, OFFSETS, core1=(2, 5))
    lines = EXPECTED.splitlines()
    lines[4] += "  core 1"
    lines[7] += "  core 1"
    assert text.splitlines() == lines


def test_wide_networks_stay_within_the_width() -> None:
    values = [var(f"a_very_long_name_of_a_value_that_goes_on_{i}", 40_000 + i) for i in range(70)]
    steps = [prim(after, before) for before, after in itertools.pairwise(values)]
    offsets = {value.name: 40_100 * (index % 2) for index, value in enumerate(values)}
    for width, core1 in ((80, ()), (100, ()), (80, range(69)), (100, range(69))):
        lines = drawn_map(steps, values[0], values[-1], offsets, core1=core1, width=width).splitlines()
        assert len(lines) == 2 + 69 + 2 + 70
        assert max(len(line) for line in lines) <= width
        assert all(line == line.rstrip() for line in lines)


def test_empty_things() -> None:
    assert (
        memory_map(problem=problem(), plan=placed(), steps=DrawnSteps(), slices={}) == "no buffers in pools"
    )
    empty = problem(buffer("a", 0, 0, 1))
    text = memory_map(
        problem=empty, plan=placed(a=0), steps=DrawnSteps(names=["s"], times=[(0, 1)]), slices={}
    )
    assert "   0 s .          0" in text
    assert empty.buffers[0].kind is BufferKind.ACTIVATION


def test_a_result_over_the_input_of_the_model_is_told() -> None:
    """Input and first result are born at once: the map showed the result alone, without `B over A`."""
    steps = [prim(CONV0, IMAGE, sharing=(Sharing(argument=0, below=64),)), prim(DW1, CONV0)]
    text = drawn_map(steps, IMAGE, DW1, {"image": 64, "conv0": 0, "dw1": 128})
    first, second = text.splitlines()[2:4]
    assert first == "   0 conv0 BBBBBBBBBBBBBBBB................        128  B over A"
    assert second == "   1 dw1   BBBBBBBBBBBBBBBBCCCCCCCCCCCCCCCC        256  <- peak"


SVG = "{http://www.w3.org/2000/svg}"


def drawn(text: str) -> dict[str, tuple[float, float, float, float]]:
    """Rectangles by the text they show under the pointer: x, y, width, height."""
    found: dict[str, tuple[float, float, float, float]] = {}
    for rect in ElementTree.fromstring(text).iter(f"{SVG}rect"):
        title = rect.find(f"{SVG}title")
        if title is not None and title.text:
            x, y, width, height = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
            found[title.text] = (x, y, width, height)
    return found


def texts(text: str) -> list[str]:
    return [item.text or "" for item in ElementTree.fromstring(text).iter(f"{SVG}text")]


def test_rectangles_are_to_scale() -> None:
    given = problem(buffer("a", 100, 0, 4), buffer("b", 50, 2, 8), buffer("none", 0, 0, 8))
    text = picture(problem=given, plan=placed(a=0, b=100, none=0), title="t")
    found = drawn(text)
    a = found["a: 100 bytes at 0, [0, 4)"]
    b = found["b: 50 bytes at 100, [2, 8)"]
    assert len(found) == 2
    assert b[2] == pytest.approx(1.5 * a[2], abs=0.2)
    assert a[3] == pytest.approx(2 * b[3], abs=0.2)
    # b begins in the middle of a, and its lower edge is a's upper one.
    assert b[0] == pytest.approx(a[0] + a[2] / 2, abs=0.2)
    assert b[1] + b[3] == pytest.approx(a[1], abs=0.2)


def test_peak_and_bound_are_named() -> None:
    given = problem(buffer("a", 1000, 0, 1), buffer("b", 500, 0, 1))
    plan = placed(a=0, b=1000)
    assert {"peak 1,500", "pool sram: 1,500 bytes"} <= set(
        texts(picture(problem=given, plan=plan, title="t"))
    )
    bounded = replace(plan, lower_bounds={"sram": 1500})
    assert "bound 1,500 (met)" in texts(picture(problem=given, plan=bounded, title="t"))
    lower = replace(plan, lower_bounds={"sram": 1400})
    assert "bound 1,400" in texts(picture(problem=given, plan=lower, title="t"))


def ranges(high: int, width: int, *, proved: bool = True) -> Ranges:
    """Sizes of which the larger of 4*T*W and 40 is planned, and two bytes less are the bound."""
    symbols = (Symbol(name="T", low=1, high=high), Symbol(name="W", low=2, high=width))
    every = itertools.product(range(1, high + 1), range(2, width + 1))
    formula = Largest(items=(number(40), Sum(terms=((4, ("T", "W")),))))
    peaks = [
        Peak(values=(t, w), planned_bytes=max(40, 4 * t * w), lower_bound_bytes=max(40, 4 * t * w) - 2)
        for t, w in every
    ]
    return Ranges(
        symbols=symbols,
        extents=(),
        values={},
        workspaces={},
        buffers={},
        pools={"sram": formula},
        peaks={"sram": tuple(peaks)},
        proved=proved,
    )


def test_peaks_over_one_size() -> None:
    """The ends are named on the axis, the turn and the last peak beside the line; dots tell what was
    measured."""
    text = sizes_picture("net", ranges(20, 2), {"sram": {(20, 2): 160}}, {"sram": "a note"})
    said = texts(text)
    assert {"T", "1", "20", "peak in bytes", "measured", "lower bound: no plan goes below"} <= set(said)
    assert "6" in said  # 40 bytes up to T=5, 48 from there on
    assert "160" in said  # W has one value: nothing more to tell lines apart
    assert "T=20, W=2: 160 bytes measured" in text
    paths = [path.get("d", "") for path in ElementTree.fromstring(text).iter(f"{SVG}path")]
    planned, bound = (path for path in paths if path.count("L") == 19)
    ends = [[float(word) for word in path.rpartition("L")[2].split()] for path in (planned, bound)]
    assert ends[0][0] == ends[1][0]
    assert ends[1][1] > ends[0][1]  # the bound lies below


def test_peaks_over_two_sizes_are_a_line_for_each_of_some() -> None:
    said = texts(sizes_picture("net", ranges(9, 12), {}))
    ends = [word for word in said if word.startswith("W=")]
    assert ends == ["W=12: 432", "W=10: 360", "W=8: 288", "W=6: 216", "W=4: 144", "W=2: 72"]
    assert "measured" not in said


def test_bounds_that_are_known_at_some_sizes_only_are_not_joined() -> None:
    paths = ElementTree.fromstring(sizes_picture("net", ranges(9, 2, proved=False), {})).iter(f"{SVG}path")
    [bound] = [path.get("d", "") for path in paths if path.get("d", "").count("h4") > 1]
    assert bound.count("h4") == 9


def test_steps_of_core_1_have_a_colour() -> None:
    given = problem(buffer("a", 8, 0, 2), buffer("b", 8, 1, 3))
    plan = placed(a=0, b=8)
    steps = DrawnSteps(names=["x", "y", "z"], times=[(0, 1), (1, 2), (2, 3)])
    plain = picture(problem=given, plan=plan, title="t", steps=steps)
    text = picture(problem=given, plan=plan, title="t", steps=replace(steps, core1=(1,)))
    colours = {
        item.text: item.get("fill")
        for item in ElementTree.fromstring(text).iter(f"{SVG}text")
        if item.text in ("0 x", "1 y", "2 z", "steps in this colour: core 1")
    }
    assert colours["1 y"] == colours["steps in this colour: core 1"] != colours["0 x"]
    assert (colours["0 x"], colours["2 z"]) == (None, None)
    assert "core 1" not in plain


def test_one_chart_a_pool_that_is_used() -> None:
    pools = tuple(Pool(name=name, region=name.upper(), limit_bytes=1 << 20) for name in ("a", "b", "c"))
    names = tuple(pool.name for pool in pools)
    given = problem(buffer("x", 8, 0, 1, pools=names), buffer("y", 9, 0, 1, pools=names), pools=pools)
    places = {"x": Placement(pool="a", offset=0), "y": Placement(pool="c", offset=0)}
    found = texts(picture(problem=given, plan=replace(placed(), placements=places), title="t"))
    assert [text for text in found if text.startswith("pool")] == ["pool a: 8 bytes", "pool c: 9 bytes"]


def test_a_program_shows_steps_and_values_and_repeats() -> None:
    program = counter()
    text = program_picture(program)
    assert text == program_picture(program)
    found = texts(text)
    assert {f"{i} {prim.name}" for i, prim in enumerate(program.steps.prim_funcs)} <= set(found)
    assert len(drawn(text)) == sum(bool(b.size_bytes) for b in program.memory.problem.buffers)


def test_names_are_escaped_and_nothing_is_drawn_of_nothing() -> None:
    given = problem(buffer("a<&>", 10, 0, 1))
    text = picture(problem=given, plan=placed(**{"a<&>": 0}), title='"<t>"')
    assert list(drawn(text)) == ["a<&>: 10 bytes at 0, [0, 1)"]
    assert texts(picture(problem=problem(), plan=placed(), title="empty")) == ["empty"]


def test_a_tooltip_tells_what_is_written_over() -> None:
    """Also over what is born at the same time: a model's input under the first result."""
    given = problem(buffer("image", 10, 0, 2), buffer("wide", 100, 0, 2), buffer("late", 5, 3, 4))
    found = list(drawn(picture(problem=given, plan=placed(image=10, wide=0, late=0), title="t")))
    assert found == [
        "wide: 100 bytes at 0, [0, 2), over image",
        "image: 10 bytes at 10, [0, 2)",
        "late: 5 bytes at 0, [3, 4)",
    ]


def _points(figures: list[tuple[int, int]], fewest: int) -> list[CurvePoint]:
    return [
        CurvePoint(peak_bytes=peak, instructions=fewest + extra, extra_percent=100 * extra / fewest)
        for peak, extra in figures
    ]


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
        assert (x - left) * points[-1].extra_percent == pytest.approx(
            (circles[-1][0] - left) * point.extra_percent, abs=0.1 * points[-1].extra_percent + 1e-9
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


def test_points_at_one_place_share_a_label() -> None:
    """vww_96_int8: one label of two dots stood above the other."""
    text = curve_picture("vww", _points([(28_044, 0), (27_749, 0)], 1000))
    assert [said for said, _, _ in labels(text)] == ["28,044 and 27,749 bytes, +0.0 %"]


def test_what_points_at_one_place_have_not_in_common_is_said_of_each() -> None:
    points = _points([(30_000, 0), (29_900, 2), (20_000, 1000), (29_800, 1), (20_000, 1000)], 1000)
    assert [said for said, _, _ in labels(curve_picture("many", points))] == [
        "30,000 bytes, +0.0 %; 29,900 bytes, +0.2 % and 29,800 bytes, +0.1 %",
        "20,000 and 20,000 bytes, +100.0 %",
    ]


def test_labels_are_in_the_order_of_their_dots() -> None:
    """Dots beside each other, too near for two lines of text, too far for one label."""
    points = _points([(30_000, 0), (28_700, 0), (29_350, 0), (28_050, 0)], 1000)
    text = curve_picture("near", points)
    found = labels(text)
    assert [said.split()[0] for said, _, _ in found] == ["30,000", "29,350", "28,700", "28,050"]
    assert [base for _, _, base in found] == sorted(base for _, _, base in found)
    assert apart(found)


def test_labels_stay_inside_the_picture() -> None:
    """A label at the right edge was cut off."""
    text = curve_picture("wide", _points([(9_000_000, 0), (8_000_000, 1000), (7_990_000, 1000)], 1000))
    width = float(ElementTree.fromstring(text).get("width", ""))
    assert [said for said, _, _ in labels(text)][1] == "8,000,000 and 7,990,000 bytes, +100.0 %"
    assert all(left > 0 and left + 6.6 * len(said) <= width for said, left, _ in labels(text))
    assert apart(labels(text))
