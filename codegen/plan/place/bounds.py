"""Lower bounds of a pool's peak, valid with overlaps too, and where in time they come from.

At any time the extent of a pool is at least the bytes covered by what is alive there. For buffers
A_i that is at least sum |A_i| - sum |A_i and A_j| over pairs (Bonferroni), and a conflict's distances
bound the largest |A_i and A_j| from above. Alignment is relaxed to 1. Conflicts between buffers that
are never alive together are left out (a relaxation: the bound stays valid).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from codegen.plan.place.access import preferred_pools
from codegen.problem.problem import Buffer, MemoryPlan, Problem, count_intersecting, intersecting

_Overlaps = Mapping[int, Mapping[int, int]]
"""Index -> other index -> most bytes the two buffers may have in common (pairs with none are left out)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _OverlapGroup:
    """Buffers alive together, each of which may overlap another one of them."""

    members: Sequence[int]
    bytes: int
    """Least bytes that the members cover."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bound:
    """No plan of these buffers in one pool has a smaller peak; reached at `time`."""

    bytes: int
    time: int


def largest_overlap(first_size: int, second_size: int, first_below: int, second_below: int) -> int:
    """The most bytes two buffers may have in common under a conflict's distances.

    With d = offset(second) - offset(first) >= first_below the common bytes are at most
    first_size - d, and never more than the smaller buffer; the mirror likewise.
    """
    smaller = min(first_size, second_size)
    one = min(max(first_size - first_below, 0), smaller)
    other = min(max(second_size - second_below, 0), smaller)
    return max(one, other)


def lower_bound(problem: Problem, ids: frozenset[str] | None = None) -> Bound:
    """Lower bound of the peak of a pool that holds the buffers `ids` (None: all of them)."""
    buffers = [b for b in problem.buffers if b.size_bytes and (ids is None or b.id in ids)]
    # A buffer that is never alive has to lie somewhere all the same.
    best = Bound(bytes=0, time=0)
    for buffer in buffers:
        if buffer.size_bytes > best.bytes:
            best = Bound(bytes=buffer.size_bytes, time=buffer.start)
    for covered in _covered(problem, buffers):
        if covered.bytes > best.bytes:
            best = covered
    return best


def covered_bytes(problem: Problem) -> tuple[Bound, ...]:
    """Bytes covered at least, all pools together, at every time at which something is born; in order."""
    return tuple(_covered(problem, [b for b in problem.buffers if b.size_bytes]))


def _covered(problem: Problem, buffers: Sequence[Buffer]) -> Iterator[Bound]:
    alive = _Alive(buffers, _overlaps(problem, buffers))
    order = sorted(range(len(buffers)), key=lambda i: buffers[i].start)
    dying = sorted(range(len(buffers)), key=lambda i: buffers[i].stop, reverse=True)
    for now, born in groupby(order, key=lambda i: buffers[i].start):
        while dying and buffers[dying[-1]].stop <= now:
            alive.leave(dying.pop())
        for index in born:
            if buffers[index].stop > now:
                alive.join(index)
        yield Bound(bytes=alive.covered_bytes(), time=now)


def lower_bounds(problem: Problem, pools: Mapping[str, str]) -> dict[str, int]:
    """Lower bound in bytes of every pool, given `pools`: buffer id -> pool."""
    held: dict[str, set[str]] = {pool.name: set() for pool in problem.pools}
    for id_, name in pools.items():
        held[name].add(id_)
    bounds: dict[str, int] = {}
    for name, ids in held.items():
        here = [buffer for buffer in problem.buffers if buffer.id in ids]
        bounds[name] = least_end(here, lower_bound(problem, frozenset(ids)).bytes)
    return bounds


def least_end(buffers: Sequence[Buffer], bytes_: int) -> int:
    """The least peak of a pool that is not below `bytes_`: a peak is where a buffer ends that begins at a
    multiple of its alignment."""
    ends = (
        b.size_bytes + max(-(-(bytes_ - b.size_bytes) // b.alignment), 0) * b.alignment
        for b in buffers
        if b.size_bytes
    )
    return min(ends, default=bytes_)


def proved_optimal(
    problem: Problem, plan_pools: Mapping[str, str], peaks: Mapping[str, int], bounds: Mapping[str, int]
) -> bool:
    """True if no plan is better by the stated objective (`access.py`).

    This holds only if every buffer lies in the pool it prefers and every pool is at its bound. Once a buffer
    had to go elsewhere, only a search can tell.
    """
    best = preferred_pools(problem)
    preferred = all(plan_pools[b.id] == best[b.id] for b in problem.buffers if b.size_bytes)
    return preferred and all(peaks[pool.name] == bounds[pool.name] for pool in problem.pools)


def alive_at(problem: Problem, plan: MemoryPlan, pool: str, time: int) -> tuple[Buffer, ...]:
    """Buffers of `pool` that hold bytes at `time`, the biggest first, then in the problem's order."""
    alive = [
        b
        for b in problem.buffers
        if b.size_bytes and b.start <= time < b.stop and plan.placements[b.id].pool == pool
    ]
    return tuple(sorted(alive, key=lambda b: -b.size_bytes))


def _overlaps(problem: Problem, buffers: Sequence[Buffer]) -> dict[int, dict[int, int]]:
    """Pairs alive together that may have bytes in common: index -> other index -> most common bytes."""
    position = {buffer.id: i for i, buffer in enumerate(buffers)}
    overlaps: dict[int, dict[int, int]] = {}

    def note(i: int, j: int, first_below: int, second_below: int) -> None:
        common = largest_overlap(buffers[i].size_bytes, buffers[j].size_bytes, first_below, second_below)
        if common:
            overlaps.setdefault(i, {})[j] = common
            overlaps.setdefault(j, {})[i] = common

    kept_apart = 0
    for conflict in problem.conflicts:
        i, j = position.get(conflict.first), position.get(conflict.second)
        if i is None or j is None or not _meet(buffers[i], buffers[j]):
            continue
        kept_apart += 1
        if conflict.first_below < buffers[i].size_bytes or conflict.second_below < buffers[j].size_bytes:
            note(i, j, conflict.first_below, conflict.second_below)
    if kept_apart == count_intersecting(buffers):
        return overlaps
    # A pair without a conflict is not kept apart at all.
    listed = {
        (position[c.first], position[c.second])
        for c in problem.conflicts
        if c.first in position and c.second in position
    }
    for i, j in intersecting(buffers):
        if (i, j) not in listed and (j, i) not in listed:
            note(i, j, 0, 0)
    return overlaps


def _meet(one: Buffer, other: Buffer) -> bool:
    """True if two buffers that hold bytes are alive at the same time."""
    return (
        one.start < other.stop
        and other.start < one.stop
        and one.start < one.stop
        and other.start < other.stop
    )


class _Alive:
    """Buffers alive at one time after the other, and the bytes that they cover at least.

    Groups that may overlap are bounded one by one. From one time to the next only those groups are bounded
    anew that a buffer joins or leaves.
    """

    def __init__(self, buffers: Sequence[Buffer], overlaps: _Overlaps) -> None:
        self._buffers, self._overlaps = buffers, overlaps
        self._alone = 0
        """Bytes of the buffers that overlap no other one."""
        self._groups: dict[int, _OverlapGroup] = {}
        """Buffer -> its group, of those that may overlap another one."""
        self._loose: dict[int, None] = {}
        """Buffers whose group is not known yet."""
        self._bytes = 0
        """Least bytes that all groups cover."""
        self._births: dict[int, int] = {}

    def join(self, index: int) -> None:
        """A buffer is born."""
        if index not in self._overlaps:
            self._alone += self._buffers[index].size_bytes
            return
        self._births[index] = len(self._births)
        for other in self._overlaps[index]:
            self._break_up(other)
        self._loose[index] = None

    def leave(self, index: int) -> None:
        """A buffer dies; nothing happens where it was not alive."""
        if index in self._births:
            self._break_up(index)
            self._loose.pop(index, None)
        elif index not in self._overlaps and self._buffers[index].start < self._buffers[index].stop:
            self._alone -= self._buffers[index].size_bytes

    def _break_up(self, index: int) -> None:
        group = self._groups.get(index)
        if group is not None:
            self._bytes -= group.bytes
            for member in group.members:
                del self._groups[member]
                self._loose[member] = None

    def covered_bytes(self) -> int:
        """Least bytes that the buffers alive cover."""
        left = dict.fromkeys(sorted(self._loose, key=self._births.__getitem__))
        self._loose.clear()
        while left:
            members = [next(iter(left))]
            del left[members[0]]
            for member in members:
                near = [other for other in self._overlaps[member] if other in left]
                members.extend(near)
                for other in near:
                    del left[other]
            group = _OverlapGroup(
                members=members, bytes=_group_covered(self._buffers, members, self._overlaps)
            )
            self._groups.update(dict.fromkeys(members, group))
            self._bytes += group.bytes
        return self._alone + self._bytes


def _group_covered(buffers: Sequence[Buffer], group: Sequence[int], overlaps: _Overlaps) -> int:
    """The better of two bounds: Bonferroni over all, and the sum of members that must be disjoint."""
    if len(group) == 1:
        return buffers[group[0]].size_bytes
    if len(group) == 2:
        one, other = group
        return buffers[one].size_bytes + buffers[other].size_bytes - overlaps[one][other]
    members = set(group)
    common = sum(size for i in group for j, size in overlaps[i].items() if j in members) // 2
    disjoint: list[int] = []
    for i in sorted(group, key=lambda i: -buffers[i].size_bytes):
        if not any(other in overlaps[i] for other in disjoint):
            disjoint.append(i)
    together = sum(buffers[i].size_bytes for i in group)
    return max(together - common, sum(buffers[i].size_bytes for i in disjoint))
