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

from codegen.plan.place.exact.conflict_graph import Graph
from codegen.plan.place.exact.native import Handover, NativeGraph, NativeOrient, NativeSearch, library, loaded
from codegen.plan.place.exact.orient import OrientSearch
from codegen.plan.place.exact.reference import Search
from codegen.problem.problem import Pool

_RUN = 40_000
"""Units of work of the shortest run; Luby's sequence multiplies it."""

_GROWTH = 16
"""After so many series runs are twice as long: what is small enough is exhausted in the end."""

_SLICE = 300_000
"""Units of work between two looks at the clock (where there is a deadline)."""

_SERIES = 32
"""Runs of a series: each starts with the buffers that found no room in the runs before it."""

_ORDERS = (
    ("LA", True),
    ("RL", False),
    ("LR", True),
    ("AL", False),
    ("LR", False),
    ("SA", True),
    ("LA", False),
    ("RA", True),
)
"""Two keys each (Load of the fullest section, lifetime Range, Area, Size; largest first), and adaptive."""

_NOISE = 0.1
"""Keys are multiplied by 1 ... 1 + noise in a series."""

_PLAIN = 4
"""Every so many runs one goes without blame: by the first key, then by the second with noise."""

_MEMORY = 0.9
"""Factor by which older runs' blame shrinks with each run."""

_SHARES = ((0, 1), (1, 2), (3, 4), (7, 8), (1, 1))
"""Capacities of runs, as shares of the way from the bound (0) to one step below the best plan (1)."""


class Runnable(Protocol):
    """Interface of all searches."""

    @property
    def price(self) -> int:
        """Price of a unit of work, in units of the search in C."""
        ...

    @property
    def nodes(self) -> int:
        """Nodes visited so far."""
        ...

    @property
    def effort(self) -> int:
        """Units of work so far."""
        ...

    @property
    def offsets(self) -> tuple[int, ...]:
        """Offsets found, in bytes."""
        ...

    @property
    def blame(self) -> tuple[int, ...]:
        """Per buffer: contradictions in which it found no room."""
        ...

    def run(self, effort: int) -> bool | None:
        """True: found; False: there is none; None: stopped."""
        ...


@dataclass(kw_only=True, slots=True)
class SolverBudget:
    """Units of work left, as the search in C counts them, and the deadline on the monotonic clock."""

    effort: int
    deadline: float | None = None
    late: bool = False
    nodes: int = 0
    """Nodes that were visited on it."""

    @property
    def spent(self) -> bool:
        """True if the search has to stop now."""
        return self.spent_time or self.effort <= 0

    @property
    def spent_time(self) -> bool:
        """True if the deadline has cut something short, or would now."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            self.late = True
        return self.late

    def run(self, search: Runnable, effort: int) -> bool | None:
        """`search.run(effort)` in slices, as far as the budget goes."""
        answer = None
        visited = search.nodes
        while answer is None and effort > 0 and not self.spent:
            before, price = search.effort, search.price
            answer = search.run(max(min(effort, _SLICE // price, self.effort // price), 1))
            # At least 1: a search that does nothing must not run for ever.
            used = max(search.effort - before, 1)
            self.effort -= used * price
            effort -= used
        self.nodes += search.nodes - visited
        return answer


class Squeeze:
    """One graph, the best offsets known and what is proved about its peak in bytes."""

    def __init__(self, graph: Graph, bound: int, seed: int, native: bool | None = None) -> None:
        """`bound`: a proved one, in bytes. `native`: True: search in C alone, False: in Python alone."""
        self.graph = graph
        self.offsets = greedy(graph, lambda i: -graph.sizes[i])
        self.offer(greedy(graph, lambda i: -len(graph.edges[i])))
        self.bound = bound
        self.runs = 0
        self._seed = seed
        self._turn = 0
        self._step = _granularity(graph)
        self._language = native
        self._native: NativeGraph | None = None
        if native and library() is None:
            raise ValueError("the search in C cannot be built")
        self._keys = _keys(graph)
        self._blame = [1.0] * len(graph)

    @property
    def name(self) -> str:
        """Name of the solver: the exact search and the language it is written in."""
        return "exact (Python)" if self._native is None else "exact (C)"

    @property
    def peak(self) -> int:
        """Peak in bytes of the best offsets."""
        return max((o + s for o, s in zip(self.offsets, self.graph.sizes, strict=True)), default=0)

    @property
    def proved(self) -> bool:
        """True if no offsets have a lower peak."""
        return self.peak <= self.bound

    def search(self, capacity: int, run: int) -> Runnable:
        """The search number `run` for offsets below `capacity`."""
        if self.graph.shifts is None:
            return self._oriented(capacity) or OrientSearch(self.graph, capacity)
        # Every order once as it is; then series, in turn with the orders barely disturbed.
        first = run < len(_ORDERS)
        series, place = divmod(run - len(_ORDERS), _SERIES)
        if not first and place == 0:
            self._blame = [1.0] * len(self.graph)
        plain = first or place % _PLAIN == _PLAIN - 1
        keys, adaptive = _ORDERS[(run if first else run // _PLAIN if plain else series) % len(_ORDERS)]
        generator = random.Random((self._seed * 64 + self._turn) * 1_000_003 + run)
        noise = [1 + (0.0 if first else _NOISE) * generator.random() for _ in self.graph.ids]
        one, two = self._keys[keys[0]], self._keys[keys[1]]
        if plain:
            weights = [(one[i], noise[i] * two[i]) for i in range(len(noise))]
        else:
            main = two if keys[0] == "L" else one
            weights = [(self._blame[i] * noise[i] * main[i], 0.0) for i in range(len(noise))]
        rank = [0] * len(self.graph)
        order = sorted(range(len(weights)), key=lambda i: weights[i], reverse=True)
        for position, buffer in enumerate(order):
            rank[buffer] = position
        if self._language is False:
            return Search(self.graph, rank, capacity, adaptive)
        compiled = self._compiled(rank, capacity, adaptive) if self._language or loaded() else None
        return compiled or Handover(self.graph, rank, capacity, adaptive, self._compiled)

    def _compiled(self, rank: Sequence[int], capacity: int, adaptive: bool) -> NativeSearch | None:
        """The search in C; None where it cannot be had."""
        ready = self._ready()
        return None if ready is None else NativeSearch(ready, rank, capacity, adaptive)

    def _oriented(self, capacity: int) -> NativeOrient | None:
        """The search over directions of conflicts, in C; None where it cannot be had."""
        ready = self._ready()
        return None if ready is None else NativeOrient(ready, capacity)

    def _ready(self) -> NativeGraph | None:
        """The graph as the searches in C read it; None where they cannot be had."""
        module = None if self._language is False else library()
        if self._native is None and module is not None:
            self._native = NativeGraph(self.graph, module)
        return self._native

    def offer(self, offsets: Sequence[int]) -> bool:
        """Take over `offsets` (which hold) if their peak is lower; whether it was."""
        before = self.peak
        previous, self.offsets = self.offsets, tuple(offsets)
        if self.peak >= before:
            self.offsets = previous
        return self.peak < before

    def fit(self, capacity: int, budget: SolverBudget) -> bool | None:
        """True if the peak can be at most `capacity` bytes; None if the budget ran out before the answer."""
        while self.peak > capacity and self.bound <= capacity and not budget.spent:
            self._run(capacity, budget)
        if self.peak <= capacity:
            return True
        return False if self.bound > capacity else None

    def fit_into(self, pool: Pool, budget: SolverBudget) -> bool | None:
        """True if the peak can be within the pool's limit; None if the budget ran out before the answer."""
        return self.fit(pool.limit_bytes, budget)

    def prove(self, budget: SolverBudget) -> None:
        """Halve what lies between the bound and the peak until they meet: for small graphs, only in C.

        Every half is one search that goes on until it is answered or the budget is spent.
        """
        capacity = self.bound
        while not self.proved and not budget.spent:
            search = self._oriented(capacity)
            if search is None:
                return
            self.runs += 1
            self._learn(budget.run(search, budget.effort), search.offsets, capacity)
            capacity = self.bound + max(self.peak - self._step - self.bound, 0) // 2

    def minimise(self, budget: SolverBudget) -> None:
        """Lower the peak and raise the bound until they meet or the budget is spent."""
        share = 0
        # Other orders than before, those without noise first: this is another question.
        self.runs, self._turn = 0, self._turn + 1
        while not self.proved and not budget.spent:
            numerator, denominator = _SHARES[share % len(_SHARES)]
            room = max(self.peak - self._step - self.bound, 0)
            capacity = self.bound + room * numerator // denominator
            before = self.peak
            self._run(capacity, budget)
            # After a success go on from the new peak, the bound first.
            share = share + 1 if self.peak == before else 0

    def _run(self, capacity: int, budget: SolverBudget) -> None:
        search = self.search(capacity, self.runs)
        answer = budget.run(search, _length(self.runs))
        self.runs += 1
        total = sum(search.blame) or 1
        self._blame = [
            _MEMORY * old + new * len(self.graph) / total
            for old, new in zip(self._blame, search.blame, strict=True)
        ]
        self._learn(answer, search.offsets, capacity)

    def _learn(self, answer: bool | None, offsets: tuple[int, ...], capacity: int) -> None:
        """Keep what the answer of a search below `capacity` proves: better offsets, or a higher bound."""
        if answer:
            self.offsets = offsets
        elif answer is False:
            # Every offset of a lowest plan is a multiple of the step, and so is its peak.
            self.bound = (capacity // self._step + 1) * self._step


def _length(run: int) -> int:
    """Units of work of run number `run`."""
    series, place = divmod(max(run - len(_ORDERS), 0), _SERIES)
    return _RUN * luby(place + 1) << series // _GROWTH


def greedy(graph: Graph, order: Callable[[int], int]) -> tuple[int, ...]:
    """Each buffer at the lowest offset its neighbours leave, in order of `order`, then size, then time."""
    offsets: list[int | None] = [None] * len(graph)
    for buffer in sorted(range(len(graph)), key=lambda i: (order(i), -graph.sizes[i], i)):
        forbidden = sorted(
            (place - below, place + above)
            for other, below, above in graph.edges[buffer]
            if (place := offsets[other]) is not None
        )
        alignment = graph.alignments[buffer]
        offset = 0
        for low, high in forbidden:
            # Forbidden is what lies strictly between; at `low` it is still beneath the neighbour.
            if offset <= low:
                break
            if offset < high:
                offset = -(-high // alignment) * alignment
        offsets[buffer] = offset
    return tuple(offset or 0 for offset in offsets)


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
