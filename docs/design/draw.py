"""Draws the pictures of plans in docs/DESIGN.md: `python docs/design/draw.py` writes them beside this file.

The plans are those of the shipped example with portable kernels. A test compares the files with these.
"""

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from codegen.cli.main import cli

HERE = Path(__file__).resolve().parent
MODEL = HERE.parents[1] / "examples" / "digits" / "digits.tflite"

INK, FAINT, LINE, PEAK = "#16202e", "#5d6b80", "#7a8699", "#b3261e"
GREY, HIGHEST, AXIS = ("#eceff3", "#9aa5b5"), ("#f6d5d2", PEAK), "#d7dde6"
KINDS = {
    "io": ("#e9eddf", "#7d8f55"),
    "activation": ("#dfe8f5", "#5b7ba8"),
    "workspace": ("#fff3d6", "#b98a2b"),
}
"""Fill and edge of a value's box."""


@cache
def plan(*flags: str) -> Mapping[str, Any]:
    """Plan the example for this machine's portable kernels: the document of `codegen plan --json`."""
    words = ["plan", str(MODEL), "--board", "host", "--stage", "off", "--json", *flags]
    printed = io.StringIO()
    with redirect_stdout(printed):
        cli(words, standalone_mode=False)
    return json.loads(printed.getvalue())


def _text(x: float, y: float, words: str, size: float = 11, **style: str) -> str:
    attributes = {"text-anchor": "middle", "fill": INK} | {key.replace("_", "-"): style[key] for key in style}
    written = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}"{written}>{escape(words)}</text>'


def _box(x: float, y: float, width: float, height: float, colours: tuple[str, str]) -> str:
    shape = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<rect {shape} fill="{colours[0]}" fill-opacity="0.7" stroke="{colours[1]}"/>'


def _line(x1: float, y1: float, x2: float, y2: float, stroke: str = LINE, *, arrow: bool = False) -> str:
    head = ' marker-end="url(#head)"' if arrow else ""
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" fill="none" stroke="{stroke}" stroke-width="1.6"{head}/>'


def _document(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    head = 'id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title" '
            'font-family="DejaVu Sans, Verdana, sans-serif">',
            f'<title id="title">{escape(title)}</title>',
            f'<defs><marker {head}><path d="M0 0 8 4 0 8z" fill="{LINE}"/></marker></defs>',
            *parts,
            "</svg>",
            "",
        ]
    )


def _name(buffer: Mapping[str, Any]) -> str:
    name: str = buffer["values"][0] if buffer["values"] else buffer["id"]
    return name.rpartition(".")[2]


def lifetimes() -> str:
    """Draw each value as a bar over the steps it is alive, and the bytes alive in each step."""
    report = plan("--no-blocks", "--sharing", "none")
    values = [buffer for buffer in report["plan"]["buffers"] if buffer["kind"] != "workspace"]
    steps = [step["name"] for step in report["steps"]]
    left, column, row = 92, 74, 21
    base = 34 + len(values) * row + 118
    parts = [_line(left + step * column, 28, left + step * column, base, AXIS) for step in range(len(steps))]
    live = [0] * len(steps)
    for number, buffer in enumerate(values):
        begin, end = buffer["first_step"], buffer["last_step"] + 1
        for step in range(begin, end):
            live[step] += buffer["size_bytes"]
        x, y, width = left + begin * column, 34 + number * row, (end - begin) * column
        parts.append(_box(x + 2, y, width - 4, row - 4, KINDS[buffer["kind"]]))
        parts.append(_text(x + width / 2, y + 12.5, f"{_name(buffer)}, {buffer['size_bytes']}", 10.5))
    for step, name in enumerate(steps):
        x, height, peak = left + step * column, 90 * live[step] / max(live), live[step] == max(live)
        parts += [
            _box(x + 8, base - height, column - 16, height, HIGHEST if peak else GREY),
            _text(x + column / 2, base - height - 5, f"{live[step]}", fill=PEAK if peak else INK),
            _text(x + column / 2, base + 16, name),
            _text(x + column / 2, 22, f"step {step}", fill=FAINT),
        ]
    for y, words in ((48, "values"), (base - 40, "bytes alive")):
        parts.append(_text(left - 8, y, words, text_anchor="end"))
    title = "Each value lives from the step that writes it to the last one that reads it"
    return _document(left + column * len(steps) + 12, base + 28, title, parts)


def _chart(report: Mapping[str, Any], left: float, heading: str, most_bytes: int) -> list[str]:
    """Draw a plan as boxes: steps to the right, addresses upwards, the peak as a line."""
    peak = report["plan"]["peak_bytes"]
    width, height, top = 268.0, 250.0, 46.0
    base, column = top + height, width / len(report["steps"])
    parts = [_text(left + width / 2, 22, heading, 13, font_weight="bold")]
    for buffer in report["plan"]["buffers"]:
        tall = height * buffer["size_bytes"] / most_bytes
        wide = (buffer["last_step"] - buffer["first_step"] + 1) * column
        x = left + buffer["first_step"] * column
        y = base - height * buffer["offset"] / most_bytes - tall
        if tall:
            parts.append(_box(x, y, wide, tall, KINDS[buffer["kind"]]))
        if tall > 11 and wide > 7 * len(_name(buffer)):
            parts.append(_text(x + 4, y + tall / 2 + 4, _name(buffer), 10.5, text_anchor="start"))
    at = base - height * peak / most_bytes
    return [
        *parts,
        _line(left, at, left + width, at, PEAK),
        _text(left + width, at - 5, f"peak {peak:,}", 11.5, text_anchor="end", fill=PEAK),
        _line(left, base, left + width, base),
        _line(left, base, left, top - 6, arrow=True),
        _text(left + width / 2, base + 18, "steps in the order in which they run", fill=FAINT),
    ]


def _charts(title: str, panels: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    most = max(report["plan"]["peak_bytes"] for _, report in panels)
    parts = [_text(16, 180, "address", 11.5, fill=FAINT, transform="rotate(-90 16 180)")]
    for number, (heading, report) in enumerate(panels):
        parts += _chart(report, 34 + 304 * number, heading, most)
    return _document(34 + 304 * len(panels), 324, title, parts)


def placement() -> str:
    """Draw the plan in which no two values share a byte."""
    title = "The values as boxes: width is life, height is size, and no two boxes may lie over each other"
    return _charts(title, [("the same values, placed", plan("--no-blocks", "--sharing", "none"))])


def sharing() -> str:
    """Draw what results save that lie over the arguments they replace."""
    panels = [
        ("every value by itself", plan("--no-blocks", "--sharing", "none")),
        ("results over arguments", plan("--no-blocks")),
    ]
    return _charts("The plan without and with results over the arguments they replace", panels)


def blocks() -> str:
    """Draw what a block saves."""
    panels = [("whole tensors", plan("--no-blocks")), ("the first five layers row by row", plan())]
    return _charts("The plan with whole tensors, and with the first layers as one step", panels)


def curve() -> str:
    """Draw peaks against work: the points of `codegen plan --pareto`."""
    points = plan("--pareto")["pareto"][:-1]  # The last one is far to the right.
    work, peaks = [point["instructions"] for point in points], [point["peak_bytes"] for point in points]
    span = work[-1] - work[0]
    places = [
        (90 + 420 * (count - work[0]) / span, 230 - 180 * peak / max(peaks))
        for count, peak in zip(work, peaks, strict=True)
    ]
    parts: list[str] = []
    for (x1, y1), (x2, y2) in pairwise(places):
        parts += [_line(x1, y1, x2, y1, "#5b7ba8"), _line(x2, y1, x2, y2, "#5b7ba8")]
    for (x, y), point in zip(places, points, strict=True):
        stripes = max((block["stripes"] for block in point["blocks"]), default=1)
        words = f"{point['peak_bytes']:,} bytes, row by row" + (
            f" in {stripes} stripes" if stripes > 1 else ""
        )
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="#5b7ba8"/>')
        parts.append(_text(x + 9, y - 8, words, 12, text_anchor="start"))
    parts += [_line(70, 230, 560, 230, arrow=True), _line(70, 230, 70, 26, arrow=True)]
    parts.append(_text(315, 256, "instructions, from the fewest upwards", 12, fill=FAINT))
    parts.append(_text(62, 40, "peak", 12, text_anchor="end", fill=FAINT))
    return _document(760, 268, "Peak against instructions: plans that no other one beats in both", parts)


PICTURES = (lifetimes, placement, sharing, blocks, curve)

if __name__ == "__main__":
    for draw in PICTURES:
        (HERE / f"{draw.__name__}.svg").write_text(draw(), encoding="utf-8")
