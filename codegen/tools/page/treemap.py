"""A treemap: rectangles as large as what they stand for, as square as they can be.

Squarified treemaps: Bruls, Huizing, van Wijk, 2000.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Rect:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float


def squarified(sizes: Sequence[int], room: Rect) -> list[Rect]:
    """A rectangle for each of `sizes`, which fall and are above 0, that together fill `room`."""
    total = sum(sizes)
    if not total:
        return []
    scale = room.width * room.height / total
    return list(_rows([size * scale for size in sizes], room))


def _rows(areas: Sequence[float], room: Rect) -> Iterator[Rect]:
    while areas:
        side = min(room.width, room.height)
        count = 1
        while count < len(areas) and _worst(areas[: count + 1], side) <= _worst(areas[:count], side):
            count += 1
        row = areas[:count]
        depth = sum(row) / side
        at = 0.0
        for area in row:
            along = area / depth
            if room.width >= room.height:
                yield Rect(x=room.x, y=room.y + at, width=depth, height=along)
            else:
                yield Rect(x=room.x + at, y=room.y, width=along, height=depth)
            at += along
        room = _rest(room, depth)
        areas = areas[count:]


def _worst(row: Sequence[float], side: float) -> float:
    """The longest shape of a row: its longer side over its shorter one."""
    total = sum(row)
    return max(max(side * side * area / total**2, total**2 / (side * side * area)) for area in row)


def _rest(room: Rect, depth: float) -> Rect:
    if room.width >= room.height:
        return Rect(x=room.x + depth, y=room.y, width=max(room.width - depth, 1e-9), height=room.height)
    return Rect(x=room.x, y=room.y + depth, width=room.width, height=max(room.height - depth, 1e-9))
