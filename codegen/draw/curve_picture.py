"""The curve RAM against instructions as an SVG picture: a step line, a labelled dot a plan."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import hypot

from codegen.draw.chart_axes import ChartAxis, ticks

_WIDTH, _HEIGHT = 720, 420
"""Size of the chart in pixels."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 150, 72, 64
_FONT = 11
_COLOUR = "#c0392b"
"""Colour of points and their line."""
_ROW = 15
"""Pixels between two labels that would touch."""
_RADIUS = 4
_ASIDE, _ABOVE, _BELOW = 10, 8, 12
"""Pixels between a dot's centre and its label."""
_LETTER = 0.6
"""Width of a letter as a part of its size: what sans-serif letters take on average, and a little more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CurvePoint:
    """A plan: bytes of all its pools, and predicted instructions of an inference."""

    peak_bytes: int
    instructions: int
    extra_percent: float
    """Instructions beyond the fewest, in percent of these."""


def curve_picture(title: str, points: Sequence[CurvePoint]) -> str:
    """An SVG document; the same points give the same text. `points`: by falling peak, rising instructions."""
    most = max(point.extra_percent for point in points)
    fullest = max(point.peak_bytes for point in points)
    x_ticks, y_ticks = ticks(most or 1.0), ticks(fullest)
    x = ChartAxis(low=0, high=x_ticks[-1], start=_LEFT, stop=_LEFT + _WIDTH)
    y = ChartAxis(low=0, high=y_ticks[-1], start=_TOP + _HEIGHT, stop=_TOP)
    total, height = _LEFT + _WIDTH + _RIGHT, _TOP + _HEIGHT + _BOTTOM
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="{height}" '
            f'viewBox="0 0 {total} {height}" font-family="Helvetica, Arial, sans-serif" '
            f'font-size="{_FONT}">',
            f"<title>{escape(title)}: RAM against instructions</title>",
            f'<rect width="{total}" height="{height}" fill="#ffffff"/>',
            f'<text x="{_LEFT}" y="24" font-size="16" font-weight="bold">{escape(title)}: '
            "RAM against instructions</text>",
            f'<rect x="{_LEFT}" y="{_TOP}" width="{_WIDTH}" height="{_HEIGHT}" fill="#f6f6f6"/>',
            *_axes(x, y, x_ticks, y_ticks),
            _steps(x, y, points),
            *_dots(x, y, points),
            "</svg>",
            "",
        ]
    )


def _axes(x: ChartAxis, y: ChartAxis, x_ticks: Sequence[float], y_ticks: Sequence[float]) -> list[str]:
    bottom, right = _TOP + _HEIGHT, _LEFT + _WIDTH
    elements: list[str] = []
    for tick in y_ticks:
        at = y.at(tick)
        elements.append(f'<path d="M{_LEFT} {at:.1f}H{right}" stroke="#dddddd"/>')
        elements.append(f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{tick:,.0f}</text>')
    for tick in x_ticks:
        at = x.at(tick)
        elements.append(f'<path d="M{at:.1f} {bottom}v4" stroke="#333333"/>')
        elements.append(f'<text x="{at:.1f}" y="{bottom + 17}" text-anchor="middle">+{tick:g} %</text>')
    middle = _TOP + _HEIGHT / 2
    elements += [
        f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="#333333"/>',
        f'<text x="{_LEFT + _WIDTH / 2:.1f}" y="{bottom + 42}" text-anchor="middle">instructions '
        "beyond the fewest, in percent of these</text>",
        f'<text transform="translate(20 {middle:.1f}) rotate(-90)" text-anchor="middle">'
        "RAM of all pools, in bytes</text>",
    ]
    return elements


def _steps(x: ChartAxis, y: ChartAxis, points: Sequence[CurvePoint]) -> str:
    """Bytes for at most so many instructions: level up to the next point, then down to it."""
    fastest, *others = points
    path = f"M{x.at(fastest.extra_percent):.1f} {y.at(fastest.peak_bytes):.1f}"
    path += "".join(f"H{x.at(point.extra_percent):.1f}V{y.at(point.peak_bytes):.1f}" for point in others)
    return f'<path d="{path}" fill="none" stroke="{_COLOUR}" stroke-width="1.5"/>'


def _dots(x: ChartAxis, y: ChartAxis, points: Sequence[CurvePoint]) -> list[str]:
    """Dots, then their labels: one for those that lie over each other, from the top of the picture down."""
    dots = sorted(
        (_Dot(x=x.at(point.extra_percent), y=y.at(point.peak_bytes), point=point) for point in points),
        key=lambda dot: (dot.y, dot.x),
    )
    return [*(_circle(dot) for dot in dots), *_labels(_over_each_other(dots))]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Dot:
    """A point where it is drawn."""

    x: float
    y: float
    point: CurvePoint


def _circle(dot: _Dot) -> str:
    point = dot.point
    told = f"{point.peak_bytes:,} bytes, +{point.extra_percent:.1f} %: {point.instructions:,} instructions"
    return (
        f'<circle cx="{dot.x:.1f}" cy="{dot.y:.1f}" r="{_RADIUS}" fill="{_COLOUR}" stroke="#ffffff">'
        f"<title>{escape(told)}</title></circle>"
    )


def _over_each_other(dots: Sequence[_Dot]) -> list[list[_Dot]]:
    """`dots` in groups, each dot over some other of its group; in order, groups by their first."""
    groups: list[list[_Dot]] = []
    for dot in dots:
        near = [g for g in groups if any(hypot(dot.x - d.x, dot.y - d.y) < 2 * _RADIUS for d in g)]
        joined = [*(near_dot for group in near for near_dot in group), dot]
        groups = [group for group in groups if group not in near]
        groups.append(sorted(joined, key=lambda dot_: (dot_.y, dot_.x)))
    return sorted(groups, key=lambda group: (group[0].y, group[0].x))


def _labels(groups: Sequence[Sequence[_Dot]]) -> list[str]:
    """The figures of every group beside its first dot. A label that would touch one of a dot further up goes
    below that, with a thin line to its dot, so that labels are in the order of their dots."""
    taken: list[tuple[float, float, float]] = []
    """(left, right, base line) of labels above."""
    elements: list[str] = []
    for group in groups:
        dot, text = group[0], _figures(group)
        width = len(text) * _FONT * _LETTER
        is_left = dot.x + _ASIDE + width > _LEFT + _WIDTH + _RIGHT
        left = dot.x - _ASIDE - width if is_left else dot.x + _ASIDE
        over = [base for start, stop, base in taken if start < left + width and left < stop]
        name_y = dot.y - _ABOVE
        if over and max(over) + _ROW > name_y:  # below the level line that begins at the dot, not across it
            name_y = max(dot.y + _BELOW, max(over) + _ROW)
        taken.append((left, left + width, name_y))
        side = -1 if is_left else 1
        elements.append(
            f'<path d="M{dot.x + 3 * side:.1f} {dot.y - 3:.1f}L{dot.x + 8 * side:.1f} {name_y:.1f}" '
            'stroke="#999999" stroke-width="0.6"/>'
        )
        elements.append(f'<text x="{left:.1f}" y="{name_y + 4:.1f}">{text}</text>')
    return elements


def _figures(group: Sequence[_Dot]) -> str:
    """Text of a label: `8,512 bytes, +0.0 %`; of several dots, from the top down, `28,044 and 27,749 bytes,
    +0.0 %`, with what they share said once."""
    extra = [f"+{dot.point.extra_percent:.1f} %" for dot in group]
    sizes = [f"{dot.point.peak_bytes:,}" for dot in group]
    if len(set(extra)) == 1:
        *others, last = sizes
        return (f"{', '.join(others)} and " if others else "") + f"{last} bytes, {extra[0]}"
    figures = [f"{size} bytes, {share}" for size, share in zip(sizes, extra, strict=True)]
    return f"{'; '.join(figures[:-1])} and {figures[-1]}"
