"""One pool's buffers as numbers: conflicts that bind, keys, and sections whose buffers pile up.

Keys: the search places buffers in order of `offset + shift`. The shifts are chosen so that of two buffers
in conflict the one with the lower key is the lower one; with plain conflicts they are all zero.

Buffers of which each excludes each other: any pile without gaps is optimal, and nothing needs a search.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codegen.problem.problem import Buffer, Problem, intersecting

Edge = tuple[int, int, int]
"""A conflict of buffer b: (other, below, above) with o_b + below <= o_other, or o_other + above <= o_b."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Graph:
    """Buffers that hold bytes, by index; `shifts` is None if no keys agree with all conflicts."""

    ids: tuple[str, ...]
    sizes: tuple[int, ...]
    alignments: tuple[int, ...]
    edges: tuple[tuple[Edge, ...], ...]
    shifts: tuple[int, ...] | None
    sections: tuple[tuple[tuple[int, int], ...], ...]
    """Per section: (buffer, bytes it adds to a pile of these buffers whatever their order)."""
    homes: tuple[tuple[tuple[int, int], ...], ...]
    """Per buffer: (section, bytes)."""
    lifetimes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.sizes)


def graph(problem: Problem, ids: Iterable[str]) -> Graph:
    """The buffers `ids` of `problem` that hold bytes. Conflicts that cannot be broken are left out."""
    kept_ids = frozenset(ids)
    # In order of time and size: neither names nor the order of the list decide where searches look first.
    buffers = sorted(
        (b for b in problem.buffers if b.size_bytes and b.id in kept_ids),
        key=lambda b: (b.start, b.stop, -b.size_bytes, b.alignment),
    )
    index = {buffer.id: i for i, buffer in enumerate(buffers)}
    edges: list[list[Edge]] = [[] for _ in buffers]
    for conflict in problem.conflicts:
        i, j = index.get(conflict.first), index.get(conflict.second)
        # o_j - o_i >= first_below or <= -second_below: all integers where these meet.
        if i is None or j is None or conflict.first_below + conflict.second_below <= 1:
            continue
        edges[i].append((j, conflict.first_below, conflict.second_below))
        edges[j].append((i, conflict.second_below, conflict.first_below))
    # Sorted: the order in which conflicts are listed must not matter.
    ordered = tuple(tuple(sorted(row)) for row in edges)
    sections = _sections(buffers, ordered)
    homes: list[list[tuple[int, int]]] = [[] for _ in buffers]
    for section, members in enumerate(sections):
        for buffer, size in members:
            homes[buffer].append((section, size))
    return Graph(
        ids=tuple(buffer.id for buffer in buffers),
        sizes=tuple(buffer.size_bytes for buffer in buffers),
        alignments=tuple(buffer.alignment for buffer in buffers),
        edges=ordered,
        shifts=_shifts(ordered),
        sections=sections,
        homes=tuple(tuple(home) for home in homes),
        lifetimes=tuple(buffer.stop - buffer.start for buffer in buffers),
    )


def _shifts(edges: Sequence[Sequence[Edge]]) -> tuple[int, ...] | None:
    """s with 1 - below <= s_other - s_b <= above - 1 for every edge, or None: longest paths from zero.

    Sweeps go through the buffers forwards and backwards in turn (Yen), and look only at those whose shift has
    grown. A chain takes two sweeps. There are no shifts if a buffer's shift follows from itself.
    """
    count = len(edges)
    # Shifts are not negative: behind the first edge that raises none, no edge of the row does.
    rows = [sorted((below - 1, other) for other, below, _ in row) for row in edges]
    shifts, raised_by = [0] * count, [-1] * count
    grown = [bool(row) and row[0][0] < 0 for row in rows]
    for sweep in range(count + 1):
        if not any(grown):
            return tuple(shifts)
        for buffer in range(count) if sweep % 2 == 0 else reversed(range(count)):
            if not grown[buffer]:
                continue
            grown[buffer] = False
            shift = shifts[buffer]
            for least, other in rows[buffer]:
                if shift <= least:
                    break
                if shifts[other] < shift - least:
                    shifts[other] = shift - least
                    raised_by[other] = buffer
                    grown[other] = True
        if _has_circle(raised_by):
            return None
    return None


def _has_circle(before: Sequence[int]) -> bool:
    """True if following `before` from some place leads back to it; -1 ends a path."""
    seen_from = [-1] * len(before)
    for start in range(len(before)):
        place = start
        while place >= 0 and seen_from[place] < 0:
            seen_from[place] = start
            place = before[place]
        if place >= 0 and seen_from[place] == start:
            return True
    return False


def _sections(
    buffers: Sequence[Buffer], edges: Sequence[Sequence[Edge]]
) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Largest sets alive together, in order of time; then one for each buffer that is in none.

    A set that is part of another adds nothing: whatever it proves, the larger one proves too.
    """
    piles = _Piles(buffers, edges)
    sets: list[list[int]] = []
    starts = sorted({b.start for b in buffers if b.start < b.stop})
    stops = sorted({b.stop for b in buffers if b.start < b.stop})
    by_start = sorted(range(len(buffers)), key=lambda i: buffers[i].start)
    active: list[int] = []
    taken = 0
    position = 0
    for number, now in enumerate(starts):
        while taken < len(by_start) and buffers[by_start[taken]].start <= now:
            active.append(by_start[taken])
            taken += 1
        active = [i for i in active if buffers[i].stop > now]
        while position < len(stops) and stops[position] <= now:
            position += 1
        # The set is largest if one of it ends before the next one starts.
        last = number + 1 == len(starts) or (position < len(stops) and stops[position] <= starts[number + 1])
        if last:
            sets.append(sorted(active))
    sets.extend([i] for i, buffer in enumerate(buffers) if buffer.start >= buffer.stop)
    return tuple(piles.of(members) for members in sets)


class _Piles:
    """Piles of buffers that are alive together.

    In each pile only what is not plain is looked at again: pairs without a conflict, and distances shorter
    than the buffer.
    """

    def __init__(self, buffers: Sequence[Buffer], edges: Sequence[Sequence[Edge]]) -> None:
        self._sizes = [buffer.size_bytes for buffer in buffers]
        self._free: list[set[int]] = [set() for _ in buffers]
        """Per buffer: those that are alive with it and in no conflict with it."""
        self._short = [
            [(other, below) for other, below, _ in row if below < size]
            for row, size in zip(edges, self._sizes, strict=True)
        ]
        near = [{other for other, _, _ in row} for row in edges]
        for one, other in intersecting(buffers):
            if other not in near[one]:
                self._free[one].add(other)
                self._free[other].add(one)

    def of(self, members: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """Bytes each member keeps free of all that lie above it: its least distance to another member.

        In a pile b1, b2, ... (by key) each starts at least the distance of the one beneath it higher, and the
        topmost adds its size. Of two members that are not in conflict only the larger one counts.
        """
        counted: set[int] = set()
        for buffer in sorted(members, key=lambda i: (-self._sizes[i], i)):
            if self._free[buffer].isdisjoint(counted):
                counted.add(buffer)
        return tuple((buffer, self._kept(buffer, counted) if buffer in counted else 0) for buffer in members)

    def _kept(self, buffer: int, counted: set[int]) -> int:
        distances = (below for other, below in self._short[buffer] if other in counted)
        return max(min(distances, default=self._sizes[buffer]), 0)


def stacked(problem: Problem) -> list[tuple[int, int]] | None:
    """(Pool index, offset) of every buffer, one on top of the other; None where that is not surely optimal.

    That is: one pool, every pair alive together and in plain conflict, and a pile that alignments leave
    without a gap. Offsets are in bytes.
    """
    buffers = problem.buffers
    count = len(buffers)
    pools = {buffer.pool_candidates for buffer in buffers}
    if len(pools) != 1 or any(len(pool) > 1 for pool in pools):
        return None
    if len(problem.conflicts) * 2 != count * (count - 1):
        return None
    if max(buffer.start for buffer in buffers) >= min(buffer.stop for buffer in buffers):
        return None
    sizes = {buffer.id: buffer.size_bytes for buffer in buffers}
    for conflict in problem.conflicts:
        if conflict.first_below != sizes[conflict.first] or conflict.second_below != sizes[conflict.second]:
            return None
    name = buffers[0].pool_candidates[0]
    pool = next(index for index, pool in enumerate(problem.pools) if pool.name == name)
    offsets = dict.fromkeys(sizes, 0)
    end = 0
    # The strictest alignment first.
    for buffer in sorted(buffers, key=lambda b: -b.alignment):
        if end % buffer.alignment:
            return None
        offsets[buffer.id] = end
        end += buffer.size_bytes
    return [(pool, offsets[buffer.id]) for buffer in buffers]
