"""The buffers of one pool as a graph of numbers, for the exact search of their offsets.

Nodes are buffers, edges the conflicts between them. A section is a set of buffers that are alive together and
so lie in a pile, one above the other.

The search places buffers in order of their key, `offset + shift`. Shifts are chosen so that of two buffers in
conflict the one with the lower key lies lower. Where no conflict permits an overlap, all shifts are zero.

If every buffer conflicts with every other one, any pile without gaps is optimal. That needs no search.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codegen.problem.problem import Buffer, Problem, intersecting

Edge = tuple[int, int, int]
"""A conflict of buffer b: (other, below, above). Its offset o_b has o_b + below <= o_other, or it has
o_other + above <= o_b."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Graph:
    """Buffers that hold bytes, and their conflicts. A buffer is its index in these tuples."""

    ids: tuple[str, ...]
    sizes: tuple[int, ...]
    alignments: tuple[int, ...]
    edges: tuple[tuple[Edge, ...], ...]
    """Per buffer: its conflicts."""
    shifts: tuple[int, ...] | None
    """Per buffer: key minus offset. None if no shifts agree with all conflicts."""
    sections: tuple[tuple[tuple[int, int], ...], ...]
    """Per section: (buffer, bytes that it adds to the height of the pile, whatever the order)."""
    homes: tuple[tuple[tuple[int, int], ...], ...]
    """Per buffer: (section, bytes it adds there), the other way round."""
    lifetimes: tuple[int, ...]
    """Per buffer: sub-steps that it is alive."""

    def __len__(self) -> int:
        return len(self.sizes)


def graph(problem: Problem, ids: Iterable[str]) -> Graph:
    """The graph of the buffers `ids` that hold bytes. Conflicts that all offsets keep are left out."""
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
    """Shifts s with 1 - below <= s_other - s_b <= above - 1 for every edge; None if there are none.

    A shift is the longest path to its buffer, found by sweeps forwards and backwards in turn (Yen).
    A sweep visits only buffers whose shift has grown, so a chain takes two. There are no shifts if a buffer's
    shift follows from itself.
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
    """Sections: the largest sets of buffers alive together, in order of time, then buffers that are in none.

    A set within a larger one is left out: the larger one proves whatever it proves.
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
    """Bytes that buffers alive together add to a pile.

    A buffer adds its size, unless it has no conflict with another one or may overlap it. Only such pairs are
    looked up.
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
        """(member, bytes) of a section: the least distance that a member keeps to a member above it.

        In a pile, by key, each buffer starts at least that much above the one beneath; the topmost adds its
        size. Of two members that are not in conflict only the larger one counts.
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
    """(pool index, offset in bytes) of every buffer in one pile; None where that is not surely optimal.

    It is optimal in one pool, where every pair is alive together and may not overlap at all, if alignments
    leave no gap in the pile.
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
