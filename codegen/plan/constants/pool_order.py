"""Order of constants in a pool: the one with the least padding, exact where few kinds of sizes meet."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol, TypeVar

STATES = 5_000
"""An exact search that would look at more (position, what is left) is not begun."""

_DEPTH = 300
"""Nor one of more items: it calls itself once for each."""


class Item(Protocol):
    """What has a size and an alignment, in bytes."""

    @property
    def size_bytes(self) -> int:
        """Bytes it takes."""
        ...

    @property
    def alignment(self) -> int:
        """Its offset is a multiple of this."""
        ...


AnyItem = TypeVar("AnyItem", bound=Item)


def round_up(value: int, multiple: int) -> int:
    """The least multiple of `multiple` that is not below `value`."""
    return -(-value // multiple) * multiple


def end_bytes(items: Sequence[Item]) -> int:
    """Where the last of `items` ends if each lies as low as its alignment permits behind the one before."""
    end = 0
    for item in items:
        end = round_up(end, item.alignment) + item.size_bytes
    return end


def ordered(items: Sequence[AnyItem]) -> list[AnyItem]:
    """`items` so that they end as low as possible: the least padding between them.

    By alignment, sizes that are no multiple of theirs last, then as given, where that leaves no padding. Else
    odd ones with the bytes that fill the gap behind them: the least padding of all orders if at most `STATES`
    partial orders differ in what they leave, else the better of the two ways.
    """
    plain = sorted(items, key=lambda item: (-item.alignment, item.size_bytes % item.alignment != 0))
    total = sum(item.size_bytes for item in items)
    if end_bytes(plain) == total:
        return plain
    best = min(plain, _filling(plain), key=end_bytes)
    if end_bytes(best) == total:
        return best
    exact = _exact(plain)
    return best if exact is None else min(best, exact, key=end_bytes)


def _filling(items: Sequence[AnyItem]) -> list[AnyItem]:
    """Always the widest item that needs no padding here, else the one that needs least."""
    left, found, end = list(items), list[AnyItem](), 0
    while left:
        free = [item for item in left if end % item.alignment == 0]
        # Of equally wide ones the one that leaves the next of its kind aligned: odd sizes last.
        taken = free[0] if free else min(left, key=lambda item: round_up(end, item.alignment))
        left.remove(taken)
        found.append(taken)
        end = round_up(end, taken.alignment) + taken.size_bytes
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kind:
    """Items that pad alike: by alignment and size modulo the largest alignment."""

    alignment: int
    rest: int


def _exact(items: Sequence[AnyItem]) -> list[AnyItem] | None:
    """An order with the least padding; None if that would take too long."""
    widest = max(item.alignment for item in items)
    kinds: dict[_Kind, list[AnyItem]] = {}
    for item in items:
        kinds.setdefault(_Kind(alignment=item.alignment, rest=item.size_bytes % widest), []).append(item)
    # Whole multiples of the largest alignment go first: there they pad nothing and move nothing.
    first = kinds.pop(_Kind(alignment=widest, rest=0), [])
    order = list(kinds)
    counts = tuple(len(kinds[kind]) for kind in order)
    states = widest
    for count in counts:
        states *= count + 1
    if states > STATES or sum(counts) > _DEPTH:
        return None

    @cache
    def least(end: int, left: tuple[int, ...]) -> tuple[int, int]:
        """(padding from here on, kind to take next); `end` modulo the largest alignment."""
        ways = [(0, -1)] if not any(left) else []
        for index, kind in enumerate(order):
            if left[index]:
                padding = -end % kind.alignment
                after = (end + padding + kind.rest) % widest
                rest = (*left[:index], left[index] - 1, *left[index + 1 :])
                ways.append((padding + least(after, rest)[0], index))
        return min(ways)

    found, end, left = list(first), 0, counts
    while any(left):
        index = least(end, left)[1]
        found.append(kinds[order[index]][len(kinds[order[index]]) - left[index]])
        kind = order[index]
        end = (round_up(end, kind.alignment) + kind.rest) % widest
        left = (*left[:index], left[index] - 1, *left[index + 1 :])
    return found
