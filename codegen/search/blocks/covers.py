"""Covers: every step run once, by itself or in a block, so that the whole costs least. Found by dynamic
programming over the steps, and again from the first step of which something else is known since.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from codegen.kernels.primfunc import PrimFunc
from codegen.search.blocks.row_blocks import Segment

_NONE = 1 << 100
"""The price of what cannot be covered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """Steps [start, stop) as they may run: a block if there is a `segment`, else one step of this `kernel`.

    While `is_exact` is not set, need and work are floors: nobody has simulated the block yet.
    """

    start: int
    stop: int
    need_bytes: int
    instructions: int
    extra_macs: int = 0
    segment: Segment | None = None
    kernel: PrimFunc | None = None
    is_exact: bool = True


Price = Callable[[Unit], int]
"""Cost of a unit, to be added up."""


_Priced = tuple[int, int, Unit]
"""First step, price, unit."""


class Covers:
    """Covers of steps [0, count) by units that need no more than a limit.

    With a `price` the sum of it counts, then how many steps run in blocks; else the largest need of any unit.
    Of equal covers the one of the units that were given first is taken.
    """

    def __init__(self, units: Iterable[Unit], count: int, most_bytes: int, price: Price | None) -> None:
        self._price, self._count, self._most_bytes = price, count, most_bytes
        self._rows: list[list[_Priced]] = [[] for _ in range(count + 1)]
        """Units by the step in front of which they end."""
        for unit in units:
            if unit.need_bytes <= most_bytes:
                self._rows[unit.stop].append(self._priced(unit))
        self._best = [0] + [_NONE] * count
        self._chosen: list[Unit | None] = [None] * (count + 1)
        self._known = 0
        """Up to this step `_best` holds."""

    def put(self, old: Unit, new: Unit) -> None:
        """More is known of a unit: what it was is forgotten."""
        row = self._rows[old.stop]
        place = next(index for index, priced in enumerate(row) if priced[2] is old)
        row[place : place + 1] = [self._priced(new)] if new.need_bytes <= self._most_bytes else []
        self._known = min(self._known, old.stop - 1)

    def limit(self, most_bytes: int) -> None:
        """Forget units that need more than that."""
        self._most_bytes = most_bytes
        self._keep(lambda unit: unit.need_bytes <= most_bytes)

    def leave_out_guesses(self) -> None:
        """Forget units that nobody has simulated."""
        self._keep(lambda unit: unit.is_exact)

    def _keep(self, is_kept: Callable[[Unit], bool]) -> None:
        self._rows = [[priced for priced in row if is_kept(priced[2])] for row in self._rows]
        self._known = 0

    def best(self) -> list[Unit]:
        """The cover that costs least; empty if there is none."""
        reach = self._least_need if self._price is None else self._least_sum
        for stop in range(self._known + 1, self._count + 1):
            self._best[stop], self._chosen[stop] = reach(stop)
        self._known = self._count
        cover: list[Unit] = []
        at = self._count
        while at:
            unit = self._chosen[at]
            if unit is None:
                return []
            cover.append(unit)
            at = unit.start
        return cover[::-1]

    def _priced(self, unit: Unit) -> _Priced:
        """With what `_best` counts: price and steps in blocks are in one number."""
        if self._price is None:
            return unit.start, unit.need_bytes, unit
        steps = unit.stop - unit.start if unit.segment else 0
        return unit.start, self._price(unit) * (self._count + 1) + steps, unit

    def _least_sum(self, stop: int) -> tuple[int, Unit | None]:
        best, least, chosen = self._best, _NONE, None
        for start, price, unit in self._rows[stop]:
            total = best[start] + price
            if total < least:
                least, chosen = total, unit
        return least, chosen

    def _least_need(self, stop: int) -> tuple[int, Unit | None]:
        best, least, chosen = self._best, _NONE, None
        for start, price, unit in self._rows[stop]:
            before = best[start]
            total = price if price > before else before
            if total < least:
                least, chosen = total, unit
        return least, chosen
