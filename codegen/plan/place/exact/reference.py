"""The exact search in Python: does a graph fit into `capacity` bytes? search.c is the same, compiled.

What is searched: of all solutions the one with the least sum of offsets. There every buffer rests on the
base or on a neighbour, so the unplaced buffer with the lowest key either lies at its raw offset (the
lowest above all placed neighbours) or rests on a buffer that is not placed yet. Two branches, complete:
place it, or ban it from its raw offset. Placing in order of keys is MiniMalloc's canonical order
(Moffitt, ASPLOS 2023); the ban, in place of a global order, leaves the rest of the order open.
What prunes:
- lifting: a banned buffer starts no lower than any unplaced neighbour it could rest on permits;
- dominance: a banned buffer whose bytes at its raw offset nobody else needs would have been placed there;
- piles: in each section (buffers alive together), whatever must start at or above an offset must fit
  between there and the capacity (the bound of a machine with heads; Carlier 1982);
- parts: where no unplaced buffer crosses a border, both sides are solved on their own, and a side that
  fails goes back to the choice that cut it off, past all choices made in other parts.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codegen.plan.place.exact.conflict_graph import Graph

PYTHON_PRICE = 100
"""Price of a unit of work in Python, in units of the search in C."""

_FAR = 1 << 62


@dataclass(frozen=True, slots=True)
class _Part:
    first: int
    last: int
    level: int
    rest: "_Part | None"


@dataclass(frozen=True, slots=True)
class _Level:
    buffer: int
    changes: int
    head: _Part | None
    back: int


class Search:
    """A search that can be resumed. `rank` breaks ties (lower first); with `adaptive` the fullest
    section of a buffer breaks them before."""

    price = PYTHON_PRICE

    def __init__(self, graph: Graph, rank: Sequence[int], capacity: int, adaptive: bool) -> None:
        self.graph = graph
        self.capacity = capacity
        self.adaptive = adaptive
        self.nodes = 0
        self.effort = 0
        count = len(graph)
        self._shifts = graph.shifts or (0,) * count
        self._by_rank = sorted(range(count), key=lambda i: rank[i])
        self._first = [home[0][0] for home in graph.homes]
        self._last = [home[-1][0] + 1 for home in graph.homes]
        self._raw = [0] * count
        self._effective = [0] * count
        self._banned = [0] * count
        self._blame = [0] * count
        self._load = [sum(size for _, size in section) for section in graph.sections]
        self._cut = [0] * len(graph.sections)
        self._queue: deque[int] = deque()
        self._dirty: list[int] = []
        self._changes: list[Callable[[], None]] = []
        self._head: _Part | None = None
        self._back = -1
        self._levels: list[_Level] = []
        self._started = False
        self._placed = [True] * count
        for buffer in reversed(range(count)):
            self._placed[buffer] = False
            self._count_cuts(buffer, 1)

    @property
    def offsets(self) -> tuple[int, ...]:
        """Offsets in bytes; meaningful once `run` has returned True."""
        return tuple(self._raw)

    @property
    def blame(self) -> tuple[int, ...]:
        """Per buffer: contradictions so far in which it was one of those that found no room."""
        return tuple(self._blame)

    def run(self, effort: int) -> bool | None:
        """Go on for about `effort` units of work: True if offsets are found, False if there are none."""
        until = self.effort + effort
        if not self._started and not self._start():
            return False
        while self.effort < until:
            buffer = self._next()
            if buffer is None:
                return True
            self.nodes += 1
            self.effort += 1
            if not self._descend(buffer) and not self._retreat():
                return False
        return None

    def _start(self) -> bool:
        self._started = True
        if any(size > self.capacity for size in self.graph.sizes):
            return False
        if not all(self._section_fits(section) for section in range(len(self._load))):
            return False
        self._split(0, len(self._load))
        return True

    def _next(self) -> int | None:
        while self._head is not None:
            buffer = self._lowest(self._head)
            if buffer is not None:
                return buffer
            self._head = self._head.rest
            self._back = -1 if self._head is None else self._head.level
        return None

    def _lowest(self, part: _Part) -> int | None:
        """The unplaced buffer of a part with the lowest key; no neighbour can lie below it."""
        lowest, least, full = None, _FAR, -1
        for buffer in self._by_rank:
            outside = self._first[buffer] < part.first or self._last[buffer] > part.last
            if self._placed[buffer] or outside:
                continue
            key = self._effective[buffer] + self._shifts[buffer]
            if key < least:
                lowest, least, full = buffer, key, -1
            elif key == least and self.adaptive and lowest is not None:
                full = self._fullest(lowest) if full < 0 else full
                here = self._fullest(buffer)
                if here > full:
                    lowest, full = buffer, here
        return lowest

    def _fullest(self, buffer: int) -> int:
        return max(self._load[section] for section, _ in self.graph.homes[buffer])

    def _descend(self, buffer: int) -> bool:
        if not self._harmless(buffer):
            self._levels.append(_Level(buffer, len(self._changes), self._head, self._back))
            self._back = len(self._levels) - 1
        if not self._place(buffer):
            return False
        whole = self._head
        if whole is not None and 0 in self._cut[whole.first : whole.last - 1]:
            self._head = whole.rest
            self._split(whole.first, whole.last)
        return True

    def _harmless(self, buffer: int) -> bool:
        """True if placing the buffer at its raw offset takes nothing from anybody."""
        raw = self._raw[buffer]
        return all(
            self._placed[other] or self._effective[other] >= raw + below
            for other, below, _ in self.graph.edges[buffer]
        )

    def _retreat(self) -> bool:
        """Back to the last choice that matters to this part, and the other way there."""
        while self._back >= 0:
            choice = self._levels[self._back]
            del self._levels[self._back :]
            while len(self._changes) > choice.changes:
                self._changes.pop()()
            self._head, self._back = choice.head, choice.back
            self._ban(choice.buffer)
            if self._propagate():
                return True
        return False

    def _set(self, values: list[int], index: int, value: int) -> None:
        old = values[index]
        values[index] = value
        self._changes.append(lambda: values.__setitem__(index, old))

    def _ban(self, buffer: int) -> None:
        self._set(self._banned, buffer, 1)
        self._enqueue(buffer)

    def _place(self, buffer: int) -> bool:
        offset = self._raw[buffer]
        self._placed[buffer] = True
        self._count(buffer, -1)
        self._changes.append(lambda: self._take(buffer))
        self._mark(buffer)
        for other, below, _ in self.graph.edges[buffer]:
            if self._placed[other]:
                continue
            if not self._push(other, self._aligned(other, offset + below)):
                return self._abandon()
            if self._lifted(other):
                self._enqueue(other)
        return self._propagate()

    def _take(self, buffer: int) -> None:
        self._placed[buffer] = False
        self._count(buffer, 1)

    def _count(self, buffer: int, by: int) -> None:
        for section, size in self.graph.homes[buffer]:
            self._load[section] += by * size
        self._count_cuts(buffer, by)

    def _count_cuts(self, buffer: int, by: int) -> None:
        """Add `by` to every border that a buffer, or its conflict with an unplaced one, crosses."""
        for border in range(self._first[buffer], self._last[buffer] - 1):
            self._cut[border] += by
        for other, _, _ in self.graph.edges[buffer]:
            if self._placed[other]:
                continue
            low = min(self._last[buffer], self._last[other]) - 1
            for border in range(low, max(self._first[buffer], self._first[other])):
                self._cut[border] += by

    def _push(self, buffer: int, raw: int) -> bool:
        """A placed neighbour lets `buffer` start at `raw` at the lowest."""
        if raw <= self._raw[buffer]:
            return True
        self._set(self._raw, buffer, raw)
        if self._banned[buffer]:
            self._set(self._banned, buffer, 0)
        return raw <= self._effective[buffer] or self._raise_to(buffer, raw)

    def _raise_to(self, buffer: int, offset: int) -> bool:
        self._set(self._effective, buffer, offset)
        if offset + self.graph.sizes[buffer] > self.capacity:
            self._blame[buffer] += 1
            return False
        self._mark(buffer)
        for other, _, _ in self.graph.edges[buffer]:
            if not self._placed[other] and self._lifted(other):
                self._enqueue(other)
        return True

    def _lifted(self, buffer: int) -> bool:
        return self._banned[buffer] > 0 or self._effective[buffer] > self._raw[buffer]

    def _aligned(self, buffer: int, offset: int) -> int:
        alignment = self.graph.alignments[buffer]
        return -(-offset // alignment) * alignment

    def _enqueue(self, buffer: int) -> None:
        if buffer not in self._queue:
            self._queue.append(buffer)

    def _mark(self, buffer: int) -> None:
        self._dirty.extend(s for s, _ in self.graph.homes[buffer] if s not in self._dirty)

    def _propagate(self) -> bool:
        """Lifts and section checks until nothing changes; False: a contradiction."""
        while self._queue or self._dirty:
            if self._queue:
                buffer = self._queue.popleft()
                fits = self._placed[buffer] or not self._lifted(buffer) or self._lift(buffer)
            else:
                fits = self._section_fits(self._dirty.pop())
            if not fits:
                return self._abandon()
        return True

    def _abandon(self) -> bool:
        self._queue.clear()
        self._dirty.clear()
        return False

    def _lift(self, buffer: int) -> bool:
        """It rests on an unplaced neighbour, and some neighbour needs the bytes at its raw offset."""
        self.effort += 1
        raw = self._raw[buffer]
        lowest, needed = _FAR, False
        for other, below, above in self.graph.edges[buffer]:
            if not self._placed[other]:
                offset = self._effective[other]
                lowest = min(lowest, offset + above)
                needed = needed or offset < raw + below
        if not needed:
            self._blame[buffer] += 1
            return False
        lowest = self._aligned(buffer, lowest)
        return lowest <= self._effective[buffer] or self._raise_to(buffer, lowest)

    def _section_fits(self, section: int) -> bool:
        """True if the unplaced buffers of a section can still be piled up below the capacity."""
        self.effort += 1 + len(self.graph.sections[section]) // 16
        pile = sorted(
            (self._effective[buffer], size)
            for buffer, size in self.graph.sections[section]
            if not self._placed[buffer]
        )
        above = 0
        for offset, size in reversed(pile):
            above += size
            if offset + above > self.capacity:
                for buffer, _ in self.graph.sections[section]:
                    self._blame[buffer] += not self._placed[buffer]
                return False
        return True

    def _split(self, first: int, last: int) -> None:
        """Split sections [first, last) where nothing unplaced crosses a border; tightest part first."""
        parts: list[tuple[int, int]] = []
        start = first
        for section in range(first, last):
            if section + 1 < last and self._cut[section]:
                continue
            if any(not self._placed[b] for s in range(start, section + 1) for b, _ in self.graph.sections[s]):
                parts.append((start, section + 1))
            start = section + 1
        # Stable and falling: of equally tight parts the last one comes first.
        for start, stop in sorted(parts, key=lambda part: -self._slack(*part)):
            self._head = _Part(start, stop, self._back, self._head)

    def _slack(self, first: int, last: int) -> int:
        """Bytes the tightest section of [first, last) has left over."""
        least = _FAR
        for section in range(first, last):
            offsets = [self._effective[b] for b, _ in self.graph.sections[section] if not self._placed[b]]
            if offsets:
                least = min(least, self.capacity - min(offsets) - self._load[section])
        return least
