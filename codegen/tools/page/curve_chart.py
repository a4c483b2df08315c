"""The curve RAM against instructions: a dot a plan, and which plan each budget chooses."""

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.api import LevelLine, byte_ticks, round_ticks, short_bytes
from codegen.report_file import CurvePoint

LEFT, TOP, WIDTH, HEIGHT = 70, 16, 966, 240
BOTTOM = 44


@dataclass(frozen=True, kw_only=True, slots=True)
class Dot:
    """A plan; `index`: in the document."""

    x: float
    y: float
    index: int
    point: CurvePoint


@dataclass(frozen=True, kw_only=True, slots=True)
class CurveChart:
    """Dots by falling RAM, the step line through them, axes."""

    dots: tuple[Dot, ...]
    path: str
    """The step line through the dots."""
    x_ticks: tuple[LevelLine, ...]
    y_ticks: tuple[LevelLine, ...]
    least: int
    most: int


def curve_chart(points: Sequence[CurvePoint]) -> CurveChart | None:
    """None where there are fewer than three plans: a chart of them says nothing."""
    if len(points) < 3:
        return None
    widest = max(max(point.extra_percent for point in points), 1.0)
    fullest = max(1, *(point.peak_bytes for point in points))  # a model that needs no pool takes none

    def x(percent: float) -> float:
        return LEFT + WIDTH * percent / widest

    def y(bytes_: int) -> float:
        return TOP + HEIGHT * (1 - bytes_ / fullest)

    dots = tuple(
        Dot(x=x(point.extra_percent), y=y(point.peak_bytes), index=index, point=point)
        for index, point in enumerate(points)
    )
    return CurveChart(
        dots=dots,
        path=_path(dots),
        x_ticks=tuple(LevelLine(at=x(tick), text=f"+{tick:g} %") for tick in round_ticks(widest)),
        y_ticks=tuple(LevelLine(at=y(bytes_), text=short_bytes(bytes_)) for bytes_ in byte_ticks(fullest)),
        least=min(point.peak_bytes for point in points),
        most=fullest,
    )


def _path(dots: Sequence[Dot]) -> str:
    """Path of the fewest bytes for at most so much work: level up to the next plan, then down to it."""
    first, *rest = sorted(dots, key=lambda dot: (dot.x, -dot.y))
    return f"M{first.x:.1f} {first.y:.1f}" + "".join(f"H{dot.x:.1f}V{dot.y:.1f}" for dot in rest)


def how(point: CurvePoint) -> str:
    """Which layers a plan runs row by row or twice, in words."""
    parts = [
        f"{_layers(block['ops'])} row by row"
        + (f" for each of {block['images']} images" if block["images"] > 1 else "")
        + (f" in {block['stripes']} stripes" if block["stripes"] > 1 else "")
        for block in point.blocks
    ]
    if point.again:
        parts.append(f"computed twice: {', '.join(point.again)}")
    return "; ".join(parts) or "every value whole"


def _layers(ops: Sequence[str]) -> str:
    """The first and the last layer of a block."""
    return ops[0] if len(ops) == 1 else f"{ops[0]} to {ops[-1]}"


def chosen(points: Sequence[CurvePoint], budget_bytes: int) -> int | None:
    """Index of the plan that a budget chooses: of those that fit the fewest instructions, then the fewest
    bytes; None where none fits. The page's slider does the same."""
    fitting = [index for index, point in enumerate(points) if point.peak_bytes <= budget_bytes]
    return min(
        fitting, key=lambda index: (points[index].instructions, points[index].peak_bytes), default=None
    )
