"""The picture of a sweep: a dot a combination, RAM against work, and the front of each model and board.

Both axes are logarithmic: one sweep holds networks of 1 KB and of 200 KB.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codegen.api import LevelLine, short_bytes
from codegen.tools.sweep.combination_results import Result

LEFT, TOP, WIDTH, HEIGHT = 84, 16, 880, 360
BOTTOM = 44
COLOURS = 8
"""Colours of boards, which begin again after the last (`.series0` to `.series7` of sweep.html.j2)."""
_AXES = (
    ("work", "instructions of one inference"),
    ("flash_bytes", "flash"),
    ("constant_bytes", "constants"),
)
_ROOM = 0.06
"""Share of an axis that is left free at both of its ends."""
_MOST_TICKS = 9


@dataclass(frozen=True, kw_only=True, slots=True)
class Dot:
    """A combination; `index`: among all results."""

    x: float
    y: float
    index: int
    result: Result
    is_best: bool
    colour: int
    """Number of the board's colour."""
    is_predicted: bool
    """The work is predicted: nothing was run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Front:
    """The steps through those of a model and board that no other beats."""

    model: str
    board: str
    colour: int
    path: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SweepChart:
    """Dots, those that no other beats last, so that they lie on top; fronts; axes."""

    dots: tuple[Dot, ...]
    fronts: tuple[Front, ...]
    boards: tuple[tuple[str, int], ...]
    """Each board that has a dot, with the number of its colour."""
    x_ticks: tuple[LevelLine, ...]
    y_ticks: tuple[LevelLine, ...]
    y_field: str
    y_words: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Scale:
    """From `low` to `high`, both above 0; `is_bytes`: ticks are powers of two."""

    low: float
    high: float
    is_bytes: bool

    def share(self, value: float) -> float:
        """Place of a value on the axis, from 0 to 1."""
        return math.log(max(value, 1) / self.low) / math.log(self.high / self.low)

    def ticks(self) -> Iterator[int]:
        """At most nine values that read well."""
        values = list(_round_numbers(self.low, self.high, self.is_bytes))
        yield from values[:: -(-len(values) // _MOST_TICKS) or 1]


def sweep_chart(results: Sequence[Result], best_keys: frozenset[str]) -> SweepChart | None:
    """None where fewer than two combinations have both figures."""
    shown, field, words = next(
        ((figures, *axis) for axis in _AXES if len(figures := _figures(results, axis[0])) > 1), ((), "", "")
    )
    if not shown:
        return None
    across = _scale([ram for _, _, ram, _ in shown], is_bytes=True)
    upwards = _scale([work for _, _, _, work in shown], is_bytes=field != "work")

    def x(value: float) -> float:
        return LEFT + WIDTH * across.share(value)

    def y(value: float) -> float:
        return TOP + HEIGHT * (1 - upwards.share(value))

    boards = dict.fromkeys(result.board for _, result, _, _ in shown)
    colours = {board: number % COLOURS for number, board in enumerate(boards)}
    dots = sorted(
        (
            Dot(
                x=x(ram),
                y=y(work),
                index=index,
                result=result,
                is_best=result.key in best_keys,
                colour=colours[result.board],
                is_predicted=field == "work" and result.instructions is None,
            )
            for index, result, ram, work in shown
        ),
        key=lambda dot: dot.is_best,
    )
    return SweepChart(
        dots=tuple(dots),
        fronts=tuple(_fronts(dots)),
        boards=tuple(colours.items()),
        x_ticks=tuple(LevelLine(at=x(tick), text=short_bytes(tick)) for tick in across.ticks()),
        y_ticks=tuple(
            LevelLine(at=y(tick), text=short_bytes(tick) if upwards.is_bytes else f"{tick:,}")
            for tick in upwards.ticks()
        ),
        y_field=field,
        y_words=words,
    )


def _figures(results: Sequence[Result], field: str) -> tuple[tuple[int, Result, int, int], ...]:
    """Number, result, RAM and `field` of those that have both."""
    return tuple(
        (index, result, result.ram_bytes, value)
        for index, result in enumerate(results)
        if result.is_ok and result.ram_bytes is not None and (value := getattr(result, field)) is not None
    )


def _scale(values: Sequence[int], *, is_bytes: bool) -> _Scale:
    low, high = max(min(values), 1), max(*values, 1)
    spread = max(math.log(high / low), math.log(1.5))
    middle, half = math.sqrt(low * high), spread * (0.5 + _ROOM)
    return _Scale(low=middle / math.exp(half), high=middle * math.exp(half), is_bytes=is_bytes)


def _round_numbers(low: float, high: float, is_bytes: bool) -> Iterator[int]:
    """Powers of two, or 1, 2 and 5 of powers of ten; of a narrow range multiples of one of them."""
    base, of_each = (2, (1,)) if is_bytes else (10, (1, 2, 5))
    steps = [part * base**power for power in range(48) for part in of_each]
    if high / low > 8:
        yield from (step for step in steps if low <= step <= high)
        return
    step = next(step for step in steps if (high - low) / step <= _MOST_TICKS - 1)
    yield from range(math.ceil(low / step) * step, int(high) + 1, step)


def _fronts(dots: Sequence[Dot]) -> Iterator[Front]:
    """One for each model and board of which there are several."""
    for model, board in dict.fromkeys((dot.result.model, dot.result.board) for dot in dots):
        best = [dot for dot in dots if dot.is_best and (dot.result.model, dot.result.board) == (model, board)]
        path = _path(sorted(best, key=lambda dot: (dot.x, dot.y)))
        if path:
            yield Front(model=model, board=board, colour=best[0].colour, path=path)


def _path(dots: Sequence[Dot]) -> str:
    """From the least RAM on: level to the next that takes less work, then up or down to it."""
    kept: list[Dot] = []
    for dot in dots:
        # Less work is further down, at a larger y. Those that are not win by a third figure.
        if not kept or dot.y > kept[-1].y:
            kept.append(dot)
    if len(kept) < 2:
        return ""
    first, *rest = kept
    return f"M{first.x:.1f} {first.y:.1f}" + "".join(f"H{dot.x:.1f}V{dot.y:.1f}" for dot in rest)
