"""Lowest capacity of one pool: short searches, each with its own tie-breaking order and capacity.

Running times of the exact search are heavy-tailed: one order takes a thousand nodes where another takes
years. So no run goes on for long: runs restart with ranks disturbed by a seeded generator, their lengths
follow Luby's sequence, and their capacities spread between what is proved and what is reached. A run that
exhausts its capacity is a proof whatever order it used; one that was stopped says nothing.
"""

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from codegen.plan.exact.graph import Graph
from codegen.plan.exact.native import NativeGraph, NativeSearch, library
from codegen.plan.exact.orient import OrientSearch
from codegen.plan.exact.reference import Search

_RUN = 15_000
"""Units of work of the shortest run; Luby's sequence multiplies it."""

_SLICE = 300_000
"""Units of work between two looks at the clock (where there is a deadline)."""

_ORDERS: tuple[tuple[str, bool, int], ...] = (
    ("LAR", True, 0), ("ARL", False, 0), ("RAL", False, 0), ("LRA", False, 0),
    ("RAL", True, 2), ("ALR", False, 2), ("LRA", False, 0), ("RAL", True, 6),
    ("SAR", True, 2), ("ALR", True, 2), ("LRA", False, 2), ("RAL", True, 2),
)
"""Keys (Load of the fullest section, lifetime Range, Area, Size; largest first), adaptive, noise in eighths."""

_SHARES = ((0, 1), (1, 2), (0, 1), (7, 8), (0, 1), (1, 4), (1, 1), (3, 4))
"""Where between the bound (0) and one step below the best plan (1) the capacities of runs lie."""


class Runnable(Protocol):
    """What all three searches offer."""

    nodes: int
    effort: int
    offsets: tuple[int, ...]

    def run(self, effort: int) -> bool | None:
        """True: found; False: there is none; None: stopped."""
        ...


@dataclass(kw_only=True, slots=True)
class Budget:
    """Units of work left, and the deadline on the monotonic clock."""

    effort: int
    deadline: float | None = None
    late: bool = False

    @property
    def spent(self) -> bool:
        """Whether to stop now."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            self.late = True
        return self.late or self.effort <= 0

    def run(self, search: Runnable, effort: int) -> bool | None:
        """`search.run(effort)` in slices, as far as the budget goes."""
        answer = None
        while answer is None and effort > 0 and not self.spent:
            before = search.effort
            answer = search.run(min(effort, _SLICE, self.effort))
            # At least 1: a search that does nothing must not run for ever.
            used = max(search.effort - before, 1)
            self.effort -= used
            effort -= used
        return answer


class Squeeze:
    """One graph, the best offsets known and what is proved about its peak in bytes."""

    def __init__(self, graph: Graph, offsets: Sequence[int], bound: int, seed: int,
                 native: bool | None = None) -> None:
        self.graph = graph
        self.offsets = tuple(offsets)
        self.bound = bound
        self.runs = 0
        self._seed = seed
        self._step = _granularity(graph)
        module = library() if native is not False and graph.shifts is not None else None
        if native and module is None:
            raise ValueError("the search in C cannot be built or does not apply")
        self._native = None if module is None else NativeGraph(graph, module)
        self._keys = _keys(graph)

    @property
    def language(self) -> str:
        """What the search is written in."""
        return "Python" if self._native is None else "C"

    @property
    def peak(self) -> int:
        """Peak in bytes of the best offsets."""
        return max((o + s for o, s in zip(self.offsets, self.graph.sizes, strict=True)), default=0)

    @property
    def proved(self) -> bool:
        """Whether no offsets have a lower peak."""
        return self.peak <= self.bound

    def search(self, capacity: int, run: int) -> Runnable:
        """The search number `run` for offsets below `capacity`."""
        if self.graph.shifts is None:
            return OrientSearch(self.graph, capacity)
        keys, adaptive, noise = _ORDERS[run % len(_ORDERS)]
        if run >= len(_ORDERS) and not noise:
            noise = 2
        generator = random.Random(self._seed * 1_000_003 + run)
        weights = [
            tuple(-self._keys[key][i] * (8 + noise * generator.random()) for key in keys)
            if noise else tuple(-self._keys[key][i] for key in keys)
            for i in range(len(self.graph))
        ]
        rank = [0] * len(self.graph)
        for position, buffer in enumerate(sorted(range(len(weights)), key=lambda i: weights[i])):
            rank[buffer] = position
        if self._native is None:
            return Search(self.graph, rank, capacity, adaptive)
        return NativeSearch(self._native, rank, capacity, adaptive)

    def fit(self, capacity: int, budget: Budget) -> bool | None:
        """Whether the peak can be at most `capacity` bytes; None if the budget ran out before the answer."""
        while self.peak > capacity and self.bound <= capacity and not budget.spent:
            self._run(capacity, budget)
        if self.peak <= capacity:
            return True
        return False if self.bound > capacity else None

    def minimise(self, budget: Budget) -> None:
        """Lower the peak and raise the bound until they meet or the budget is spent."""
        share = 0
        while not self.proved and not budget.spent:
            numerator, denominator = _SHARES[share % len(_SHARES)]
            room = max(self.peak - self._step - self.bound, 0)
            capacity = self.bound + room * numerator // denominator
            before = self.peak
            self._run(capacity, budget)
            # After a success go on from the new peak, the bound first.
            share = share + 1 if self.peak == before else 0

    def _run(self, capacity: int, budget: Budget) -> None:
        search = self.search(capacity, self.runs)
        answer = budget.run(search, _RUN * luby(self.runs + 1))
        self.runs += 1
        if answer:
            self.offsets = search.offsets
        elif answer is False:
            # Every offset of a lowest plan is a multiple of the step, and so is its peak.
            self.bound = (capacity // self._step + 1) * self._step


def luby(index: int) -> int:
    """Member `index` (from 1) of Luby's sequence 1 1 2 1 1 2 4 1 1 2 ... (Luby, Sinclair, Zuckerman 1993)."""
    power = (index + 1).bit_length() - 1
    if index == (1 << power) - 1:
        return 1 << (power - 1)
    return luby(index - (1 << power) + 1)


def _granularity(graph: Graph) -> int:
    """Divisor of every offset and end of a plan in which each buffer rests on the base or on another."""
    step = math.gcd(*graph.sizes, *(a for a in graph.alignments if a > 1))
    for row in graph.edges:
        step = math.gcd(step, *(below for _, below, _ in row))
    return max(step, 1)


def _keys(graph: Graph) -> dict[str, list[int]]:
    loads = [sum(size for _, size in section) for section in graph.sections]
    spans: Callable[[int], int] = graph.lifetimes.__getitem__
    return {
        "L": [max(loads[section] for section, _ in home) for home in graph.homes],
        "R": [spans(i) for i in range(len(graph))],
        "A": [spans(i) * size for i, size in enumerate(graph.sizes)],
        "S": list(graph.sizes),
    }
