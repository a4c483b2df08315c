"""The picture is well-formed, repeats, and draws every buffer where the plan has it."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from codegen.plan.draw.plan_picture import picture, program_picture
from codegen.program.problem import Placement, Pool
from tests.emit.samples import counter
from tests.plan.build import buffer, placed, problem

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


def test_steps_of_core_1_have_a_colour() -> None:
    given = problem(buffer("a", 8, 0, 2), buffer("b", 8, 1, 3))
    plan, times = placed(a=0, b=8), [(0, 1), (1, 2), (2, 3)]
    plain = picture(problem=given, plan=plan, title="t", times=times, steps=["x", "y", "z"])
    text = picture(problem=given, plan=plan, title="t", times=times, steps=["x", "y", "z"], core1=(1,))
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
    assert {f"{i} {prim.name}" for i, prim in enumerate(program.prim_funcs)} <= set(found)
    assert len(drawn(text)) == sum(bool(b.size_bytes) for b in program.problem.buffers)


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
