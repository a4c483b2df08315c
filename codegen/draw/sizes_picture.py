"""The peaks of pools over sizes that are ranges, as an SVG picture: what is planned beside what no plan goes
below, and what was measured."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import numpy as np

from codegen.draw.chart_axes import ChartAxis, ticks
from codegen.ir.formulas import Symbol, evaluate
from codegen.program.size_ranges import Ranges, breakpoints, named_values

_WIDTH, _HEIGHT = 720, 340
"""Size of one pool's chart, in pixels."""
_LEFT, _TOP, _BELOW = 84, 92, 96
_FONT = 11
_LETTER = 0.6
"""Width of a letter as a part of its size."""
_COLOURS = ("#1f77b4", "#d9660a", "#159470", "#c2569a", "#9a7d0a", "#7a63d1")
"""Colours of lines: apart for the colour-blind too, and readable on white and on black."""
_POINTS = 1000
"""A line has about so many points at most."""
_APART = 34
"""Pixels between two labels of breakpoints, side by side."""
_ROW = 14
"""Pixels between two labels of lines, one above the other."""

_STYLE = """<style>
.paper{fill:#ffffff}.field{fill:#f6f6f6}.grid{stroke:#dddddd}.axis{stroke:#333333;fill:none}
.turn{stroke:#999999;stroke-dasharray:2 3}.bound{stroke:#111111;stroke-dasharray:3 5;fill:none}
text{fill:#222222}.faint{fill:#666666}
@media (prefers-color-scheme:dark){.bound{stroke:#ffffff}.paper{fill:#15181c}.field{fill:#1e2329}
.grid{stroke:#39414a}.axis{stroke:#c8ccd0}.turn{stroke:#76808a}text{fill:#e4e7ea}.faint{fill:#a3abb3}}
</style>"""

Sizes = tuple[int, ...]
"""Values of all symbols, in their order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    """The sizes at which one symbol takes all its values, and the others one each."""

    axis: int
    """The symbol that goes along."""
    sizes: Sizes
    """Values of the other symbols; at `axis` the largest."""

    def at(self, value: int) -> Sizes:
        return (*self.sizes[: self.axis], value, *self.sizes[self.axis + 1 :])


@dataclass(frozen=True, kw_only=True, slots=True)
class _Chart:
    """One pool's chart: its scales, and what it shows."""

    pool: str
    ranges: Ranges
    x: ChartAxis
    y: ChartAxis
    symbol: Symbol
    measured: Mapping[Sizes, int]

    def planned(self, line: _Line) -> list[tuple[int, int]]:
        """(size, bytes) by the formula, along a line."""
        step = max(1, self.symbol.count // _POINTS)
        along = np.unique([*range(self.symbol.low, self.symbol.high + 1, step), self.symbol.high])
        rows = {
            other.name: along if index == line.axis else np.full_like(along, line.sizes[index])
            for index, other in enumerate(self.ranges.symbols)
        }
        bytes_ = evaluate(self.ranges.pools[self.pool], named_values(self.ranges, rows))
        return [
            (int(size), int(size_bytes))
            for size, size_bytes in zip(along, np.broadcast_to(bytes_, along.shape), strict=True)
        ]

    def bounds(self, line: _Line) -> list[tuple[int, int]]:
        """(size, bytes) that no plan goes below, at sizes of the line that were looked at."""
        every = self.ranges.peaks[self.pool]
        peaks = [peak for peak in every if line.at(peak.values[line.axis]) == peak.values]
        return [(peak.values[line.axis], peak.lower_bound_bytes) for peak in peaks]

    def path(self, points: Sequence[tuple[int, int]]) -> str:
        return "M" + "L".join(f"{self.x.at(size):.1f} {self.y.at(y):.1f}" for size, y in points)


def sizes_picture(
    title: str,
    ranges: Ranges,
    measured: Mapping[str, Mapping[Sizes, int]] | None = None,
    notes: Mapping[str, str] | None = None,
) -> str:
    """An SVG document; the same peaks give the same text.

    One chart a pool that holds bytes. Of several symbols the first that has more than one value goes along,
    and a line is drawn for each of up to six values of the others, from the lowest to the highest.
    `measured`: pool -> bytes at sizes at which it ran; `notes`: pool -> a remark under its name.
    """
    axis = next((i for i, symbol_ in enumerate(ranges.symbols) if symbol_.count > 1), 0)
    symbol, lines = ranges.symbols[axis], _lines(ranges.symbols, axis)
    body: list[str] = []
    top, longest = float(_TOP), 0
    for pool, peaks in ranges.peaks.items():
        most = max(peak.planned_bytes for peak in peaks)
        if not most:
            continue
        pool_measured = dict((measured or {}).get(pool, {}))
        y_ticks = ticks(max([most, *pool_measured.values()]))
        chart = _Chart(
            pool=pool,
            ranges=ranges,
            x=ChartAxis(
                low=symbol.low, high=max(symbol.high, symbol.low + 1), start=_LEFT, stop=_LEFT + _WIDTH
            ),
            y=ChartAxis(low=0, high=y_ticks[-1], start=top + _HEIGHT, stop=top),
            symbol=symbol,
            measured=pool_measured,
        )
        body += _name(chart, (notes or {}).get(pool, ""), top)
        body += _axes(chart, y_ticks, top)
        body += _turns(chart, axis, top) if len(lines) == 1 else []
        body += [
            part
            for line, colour in zip(lines, _COLOURS, strict=False)
            for part in _drawn(chart, line, colour)
        ]
        body += _labels(chart, lines)
        longest = max([longest, *(len(_label(chart, line)) for line in lines)])
        top += _HEIGHT + _BELOW
    total, height = round(_LEFT + _WIDTH + 24 + longest * _FONT * _LETTER), top - 48
    said = " and ".join(symbol_.name for symbol_ in ranges.symbols)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="{height:.0f}" '
            f'viewBox="0 0 {total} {height:.0f}" font-family="Helvetica, Arial, sans-serif" '
            f'font-size="{_FONT}">',
            f"<title>{escape(title)}: peak over {said}</title>",
            _STYLE,
            f'<rect class="paper" width="{total}" height="{height:.0f}"/>',
            f'<text x="{_LEFT}" y="24" font-size="16" font-weight="bold">{escape(title)}: '
            f"peak over {said}</text>",
            *_legend(bool(measured), len(lines) == 1),
            *body,
            "</svg>",
            "",
        ]
    )


def _lines(symbols: Sequence[Symbol], axis: int) -> list[_Line]:
    """Up to six lines, evenly from the lowest to the highest of the other sizes, the highest first."""
    others = [symbol.count for index, symbol in enumerate(symbols) if index != axis]
    count = min(max(others, default=1), len(_COLOURS))
    lines: list[_Line] = []
    for number in reversed(range(count)):
        part = number / (count - 1) if count > 1 else 1.0
        sizes = tuple(symbol.low + round(part * (symbol.high - symbol.low)) for symbol in symbols)
        lines.append(_Line(axis=axis, sizes=(*sizes[:axis], symbols[axis].high, *sizes[axis + 1 :])))
    return lines


def _name(chart: _Chart, note: str, top: float) -> list[str]:
    note = f'<tspan class="faint" font-weight="normal">  {escape(note)}</tspan>' if note else ""
    return [
        f'<text x="{_LEFT}" y="{top - 18:.1f}" font-weight="bold">pool {escape(chart.pool)}{note}</text>',
        f'<rect class="field" x="{_LEFT}" y="{top:.1f}" width="{_WIDTH}" height="{_HEIGHT}"/>',
    ]


def _legend(is_measured: bool, has_turns: bool) -> Iterator[str]:
    """Legend of the marks, under the title."""
    marks = [
        (f'<path d="M0 0h22" stroke="{_COLOURS[0]}" stroke-width="1.8"/>', "planned"),
        ('<path class="bound" d="M0 0h22"/>', "lower bound: no plan goes below"),
    ]
    if is_measured:
        mark = f'<circle cx="11" r="3.5" fill="{_COLOURS[0]}" fill-opacity="0.45"/>'
        marks.append((mark, "measured"))
    if has_turns:
        marks.append(('<path class="turn" d="M11 -8v14"/>', "another buffer decides from here on"))
    x = float(_LEFT)
    for mark, name in marks:
        yield f'<g transform="translate({x:.1f} 42)">{mark}</g><text x="{x + 28:.1f}" y="46">{name}</text>'
        x += 28 + len(name) * _FONT * _LETTER + 12


def _axes(chart: _Chart, y_ticks: Sequence[float], top: float) -> Iterator[str]:
    bottom, right, symbol = top + _HEIGHT, _LEFT + _WIDTH, chart.symbol
    for tick in y_ticks:
        at = chart.y.at(tick)
        yield f'<path class="grid" d="M{_LEFT} {at:.1f}H{right}"/>'
        yield f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{tick:,.0f}</text>'
    step = ticks(symbol.count)[1]
    inner = [value for value in range(symbol.low, symbol.high + 1) if value % max(int(step), 1) == 0]
    # The ends are told always, and what lies between them where it does not touch them.
    free = max(1.0, step / 2)
    inner = [value for value in inner if symbol.low + free <= value <= symbol.high - free]
    for value in dict.fromkeys([symbol.low, *inner, symbol.high]):
        at = chart.x.at(value)
        yield f'<path class="axis" d="M{at:.1f} {bottom:.1f}v4"/>'
        yield f'<text x="{at:.1f}" y="{bottom + 17:.1f}" text-anchor="middle">{value:,}</text>'
    yield f'<path class="axis" d="M{_LEFT} {top:.1f}V{bottom:.1f}H{right}"/>'
    middle = _LEFT + _WIDTH / 2
    yield f'<text x="{middle:.1f}" y="{bottom + 36:.1f}" text-anchor="middle">{escape(symbol.name)}</text>'
    yield (
        f'<text transform="translate(20 {top + _HEIGHT / 2:.1f}) rotate(-90)" text-anchor="middle">'
        "peak in bytes</text>"
    )


def _turns(chart: _Chart, axis: int, top: float) -> Iterator[str]:
    """Marks between two sizes where another arm of a formula takes over."""
    values = sorted({tuple(point.values())[axis] for point in breakpoints(chart.ranges)})
    free = float("-inf")
    for low, high in pairwise(values):
        if high != low + 1:  # the two sides of no turn
            continue
        at = (chart.x.at(low) + chart.x.at(high)) / 2
        yield f'<path class="turn" d="M{at:.1f} {top:.1f}v{_HEIGHT}"/>'
        if at - free >= _APART:
            free = at
            place = f'x="{at:.1f}" y="{top - 4:.1f}"'
            yield f'<text class="faint" {place} text-anchor="middle" font-size="9">{high:,}</text>'


def _drawn(chart: _Chart, line: _Line, colour: str) -> Iterator[str]:
    """One line: what was measured as wide pale dots, over them the plan, over it the bound."""
    for sizes, measured_bytes in chart.measured.items():
        if line.at(sizes[line.axis]) == sizes:
            x, y = chart.x.at(sizes[line.axis]), chart.y.at(measured_bytes)
            said = ", ".join(
                f"{symbol.name}={value}" for symbol, value in zip(chart.ranges.symbols, sizes, strict=True)
            )
            yield (
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}" fill-opacity="0.45">'
                f"<title>{escape(said)}: {measured_bytes:,} bytes measured</title></circle>"
            )
    yield f'<path d="{chart.path(chart.planned(line))}" fill="none" stroke="{colour}" stroke-width="2"/>'
    bounds = chart.bounds(line)
    if bounds and chart.ranges.proved:
        yield f'<path class="bound" d="{chart.path(bounds)}"/>'
    else:  # Nothing is known of what lies between two of them.
        dots = "".join(f"M{chart.x.at(size) - 2:.1f} {chart.y.at(bound):.1f}h4" for size, bound in bounds)
        yield f'<path class="bound" d="{dots}"/>'


def _label(chart: _Chart, line: _Line) -> str:
    """The bytes at the end of a line, and of several lines which one it is."""
    others = [
        f"{symbol.name}={line.sizes[index]}"
        for index, symbol in enumerate(chart.ranges.symbols)
        if index != line.axis and symbol.count > 1
    ]
    return f"{', '.join(others)}{': ' if others else ''}{chart.planned(line)[-1][1]:,}"


def _labels(chart: _Chart, lines: Sequence[_Line]) -> Iterator[str]:
    """A label at the right end of every line, so far apart that none touch."""
    free = float("-inf")
    for y, index in sorted((chart.y.at(chart.planned(line)[-1][1]), i) for i, line in enumerate(lines)):
        free = max(y, free + _ROW)
        said = escape(_label(chart, lines[index]))
        style = f'style="fill:{_COLOURS[index]}"'
        yield f'<text x="{_LEFT + _WIDTH + 8}" y="{free + 4:.1f}" {style}>{said}</text>'
