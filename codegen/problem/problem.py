"""The planning problem and its solution: buffers, conflicts, pools -> placements. It never sees the IR.

Most conflicts follow from live intervals: any two buffers alive at the same time are kept apart.
"""

import enum
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType


class BufferKind(enum.Enum):
    """Kinds of buffers, by the value that they hold."""

    ACTIVATION = "activation"
    WORKSPACE = "workspace"
    IO = "io"
    CONSTANT = "constant"


@dataclass(frozen=True, kw_only=True, slots=True)
class Buffer:
    """Bytes needed during the live interval `[start, stop)`, in one of `pool_candidates`.

    Of these the one where its accesses cost least is best, of several the one that is listed first.
    """

    id: str
    size_bytes: int
    start: int
    stop: int
    alignment: int = 1
    pool_candidates: tuple[str, ...] = ()
    kind: BufferKind = BufferKind.ACTIVATION
    reads: float = 1.0
    """How often each byte is read in one inference, on average."""
    writes: float = 1.0
    """How often each byte is written."""

    def __post_init__(self) -> None:
        if not (_is_amount(self.reads) and _is_amount(self.writes)):
            raise ValueError(f"buffer {self.id}: {self.reads} reads, {self.writes} writes")
        if self.size_bytes < 0 or self.stop < self.start:
            interval = f"[{self.start}, {self.stop})"
            raise ValueError(f"buffer {self.id}: size {self.size_bytes}, interval {interval}")
        if self.alignment < 1 or self.alignment & (self.alignment - 1):
            raise ValueError(f"buffer {self.id}: alignment {self.alignment} is not a power of two")


@dataclass(frozen=True, kw_only=True, slots=True)
class Conflict:
    """Two buffers that, in the same pool, must satisfy one of two difference constraints:

    offset(first) + first_below <= offset(second)   or   offset(second) + second_below <= offset(first).
    Plain disjointness is first_below = size of first, second_below = size of second; smaller
    distances permit overlap on that side (0 on both: equal offsets and anything else is fine too).
    """

    first: str
    second: str
    first_below: int
    second_below: int

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise ValueError(f"buffer {self.first} cannot conflict with itself")

    def holds(self, first_offset: int, second_offset: int) -> bool:
        """True if the two offsets, in the same pool, obey the conflict."""
        return (
            first_offset + self.first_below <= second_offset
            or second_offset + self.second_below <= first_offset
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """A named range of bytes inside one region. `limit_bytes` is hard; costs are those of an access to one
    byte, relative to other pools."""

    name: str
    region: str
    limit_bytes: int
    room_bytes: int | None = None
    """Largest limit that the region allows, in bytes; None: any."""
    alignment: int = 16
    section: str = ""
    read_cost: float = 1.0
    write_cost: float = 1.0
    targets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not (_is_amount(self.read_cost) and _is_amount(self.write_cost)):
            raise ValueError(f"pool {self.name}: access costs {self.read_cost}, {self.write_cost}")

    def missing_bytes(self, needed_bytes: int) -> int:
        """By how much `needed_bytes` exceed the limit; 0 or less: they do not."""
        return needed_bytes - self.limit_bytes


NO_LIMIT_BYTES = 1 << 40
"""The limit of a pool that has none: more than any board has."""


def total_bytes(pools: Iterable[Pool]) -> int:
    """Sum of the limits of all pools."""
    return sum(pool.limit_bytes for pool in pools)


def excess_bytes(pools: Iterable[Pool], needed_bytes: int) -> int:
    """By how much `needed_bytes` exceed what pools have together; 0 or less: they do not."""
    return needed_bytes - total_bytes(pools)


def has_room(pools: Iterable[Pool], needed_bytes: int) -> bool:
    """True if the pools together have so many bytes: more fit in no plan."""
    return excess_bytes(pools, needed_bytes) <= 0


def limited(pools: Iterable[Pool], limits: Mapping[str, int]) -> tuple[Pool, ...]:
    """`pools` with other limits in bytes, by name."""
    return tuple(replace(pool, limit_bytes=limits.get(pool.name, pool.limit_bytes)) for pool in pools)


def _is_amount(number: float) -> bool:
    return math.isfinite(number) and number >= 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Effort that a search may spend. Counts decide (repeatable); the deadline is a safety stop."""

    seed: int = 0
    effort: int = 20_000
    deadline_seconds: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """Buffers, every conflicting pair (intervals alone decide nothing), pools in order."""

    buffers: tuple[Buffer, ...]
    conflicts: tuple[Conflict, ...]
    pools: tuple[Pool, ...]
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        numbers = {buffer.id: number for number, buffer in enumerate(self.buffers)}
        if len(numbers) != len(self.buffers):
            raise ValueError("two buffers have the same id")
        names = {pool.name for pool in self.pools}
        for buffer in self.buffers:
            if not buffer.pool_candidates or not names.issuperset(buffer.pool_candidates):
                candidates = f"pool candidates {buffer.pool_candidates} of {sorted(names)}"
                raise ValueError(f"buffer {buffer.id}: {candidates}")
        # A pair is one number: there may be a million of them.
        pairs: set[int] = set()
        for conflict in self.conflicts:
            one, other = numbers.get(conflict.first, -1), numbers.get(conflict.second, -1)
            pair = min(one, other) * len(numbers) + max(one, other)
            if min(one, other) < 0 or pair in pairs:
                pair_text = f"{conflict.first}, {conflict.second}"
                raise ValueError(f"conflict {pair_text}: unknown buffer or given twice")
            pairs.add(pair)


@dataclass(frozen=True, kw_only=True, slots=True)
class Placement:
    """A buffer's place: its pool and the offset in it."""

    pool: str
    offset: int


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryPlan:
    """A placement for every buffer, how it was found and what is proved about it."""

    placements: Mapping[str, Placement]
    planner: str
    solver: str
    lower_bounds: Mapping[str, int]
    """Lower bound in bytes of each pool's peak, given which buffers the plan put there."""
    proved_optimal: bool
    """No plan is better by the whole objective (`access.py`), which includes the choice of pools."""
    access_cost_bound: int = 0
    """No plan of the problem has a lower access cost; where it is reached, the choice of pools is proved."""
    reproducible: bool = True
    seconds: float = 0.0
    nodes: int = 0
    """Nodes that an exact search visited."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "placements", MappingProxyType(dict(self.placements)))
        object.__setattr__(self, "lower_bounds", MappingProxyType(dict(self.lower_bounds)))


def peak_bytes(problem: Problem, plan: MemoryPlan, pool: str) -> int:
    """max(offset + size) over the buffers placed in `pool`; 0 if it is empty. Not rounded."""
    ends = (
        plan.placements[buffer.id].offset + buffer.size_bytes
        for buffer in problem.buffers
        if plan.placements[buffer.id].pool == pool and buffer.size_bytes
    )
    return max(ends, default=0)


def overfull(problem: Problem, plan: MemoryPlan) -> tuple[Pool, ...]:
    """Pools whose limit the plan exceeds."""
    return tuple(
        pool for pool in problem.pools if pool.missing_bytes(peak_bytes(problem, plan, pool.name)) > 0
    )


def pool_alignment(problem: Problem, plan: MemoryPlan, name: str) -> int:
    """Alignment in bytes of the base of pool `name`: its own, or that of a buffer in it if it is larger."""
    alignment = next(pool.alignment for pool in problem.pools if pool.name == name)
    return max(alignment, *(b.alignment for b in problem.buffers if plan.placements[b.id].pool == name), 1)


Times = Sequence[tuple[int, int]]
"""Interval `[start, stop)` of each step on the buffers' time axis; the steps follow one another."""


def steps_alive(buffer: Buffer, times: Times) -> range:
    """Steps in which a buffer is alive."""
    first = bisect_right(times, buffer.start, key=lambda interval: interval[1])
    return range(first, bisect_left(times, buffer.stop, key=lambda interval: interval[0]))


def alive_by_step(buffers: Iterable[Buffer], times: Times) -> list[list[Buffer]]:
    """Buffers that hold bytes in each step, in the order of `buffers`."""
    alive: list[list[Buffer]] = [[] for _ in times]
    for buffer in buffers:
        for step in steps_alive(buffer, times) if buffer.size_bytes else ():
            alive[step].append(buffer)
    return alive


def plain(first: Buffer, second: Buffer) -> Conflict:
    """The two buffers share no byte."""
    return Conflict(
        first=first.id, second=second.id, first_below=first.size_bytes, second_below=second.size_bytes
    )


def count_intersecting(buffers: Sequence[Buffer]) -> int:
    """How many pairs `intersecting` gives, without making them."""
    holding = [buffer for buffer in buffers if buffer.size_bytes and buffer.start < buffer.stop]
    stops = sorted(buffer.stop for buffer in holding)
    starts = sorted(buffer.start for buffer in holding)
    return sum(before - bisect_right(stops, start) for before, start in enumerate(starts))


def intersecting(buffers: Sequence[Buffer]) -> Iterator[tuple[int, int]]:
    """Index pairs (i < j) of buffers that hold bytes and are alive at the same time, sorted.

    A buffer of zero bytes, or one that is never alive, is in no pair.
    """
    pairs: list[tuple[int, int]] = []
    active: list[int] = []
    holding = [i for i, buffer in enumerate(buffers) if buffer.size_bytes and buffer.start < buffer.stop]
    for index in sorted(holding, key=lambda i: (buffers[i].start, i)):
        active = [other for other in active if buffers[other].stop > buffers[index].start]
        pairs.extend((min(index, other), max(index, other)) for other in active)
        active.append(index)
    yield from sorted(pairs)


def interval_conflicts(buffers: Sequence[Buffer]) -> tuple[Conflict, ...]:
    """Plain disjointness for every pair of buffers alive at the same time."""
    return tuple(plain(buffers[i], buffers[j]) for i, j in intersecting(buffers))
