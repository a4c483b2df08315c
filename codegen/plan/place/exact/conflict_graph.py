"""One pool's buffers as numbers: conflicts that bind, keys, and sections whose buffers pile up.

Keys: the search places buffers in order of `offset + shift`. The shifts are chosen so that of two buffers
in conflict the one with the lower key is the lower one; with plain conflicts they are all zero.

Buffers of which each excludes each other: any pile without gaps is optimal, and nothing needs a search.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codegen.program.problem import Buffer, Problem

Edge = tuple[int, int, int]
"""Of buffer b: (other, below, above): o_b + below <= o_other, or o_other + above <= o_b."""


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
    wanted = frozenset(ids)
    # In order of time and size: neither names nor the order of the list decide where searches look first.
    buffers = sorted(
        (b for b in problem.buffers if b.size_bytes and b.id in wanted),
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
    """s with 1 - below <= s_other - s_b <= above - 1 for every edge (Bellman and Ford), or None."""
    shifts = [0] * len(edges)
    for _ in range(len(edges) + 1):
        changed = False
        for buffer, row in enumerate(edges):
            for other, below, _ in row:
                if shifts[other] < shifts[buffer] + 1 - below:
                    shifts[other] = shifts[buffer] + 1 - below
                    changed = True
        if not changed:
            return tuple(shifts)
    return None


def _sections(
    buffers: Sequence[Buffer], edges: Sequence[Sequence[Edge]]
) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Largest sets alive together, in order of time; then one for each buffer that is in none.

    A set that is part of another adds nothing: whatever it proves, the larger one proves too.
    """
    below = [{other: distance for other, distance, _ in row} for row in edges]
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
    return tuple(_pile(buffers, members, below) for members in sets)


def _pile(
    buffers: Sequence[Buffer], members: Sequence[int], below: Sequence[dict[int, int]]
) -> tuple[tuple[int, int], ...]:
    """Bytes each member keeps free of all that lie above it: its least distance to another member.

    In a pile b1, b2, ... (by key) each starts at least the distance of the one beneath it higher, and the
    topmost adds its size. Of two members that are not in conflict only the larger one counts.
    """
    counted: list[int] = []
    for buffer in sorted(members, key=lambda i: (-buffers[i].size_bytes, i)):
        if all(other in below[buffer] for other in counted):
            counted.append(buffer)
    pile: list[tuple[int, int]] = []
    for buffer in members:
        size = 0
        if buffer in counted:
            distances = (below[buffer][other] for other in counted if other != buffer)
            size = max(min(min(distances, default=buffers[buffer].size_bytes), buffers[buffer].size_bytes), 0)
        pile.append((buffer, size))
    return tuple(pile)


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
