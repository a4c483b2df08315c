"""Staging: linked constants that are read often are copied to faster memory, where the costs say it pays.

The cost of reading a constant is bytes x reads x the read cost of its memory, a whole number. Staged, it is
read from the faster memory; a copy reads it once where it lies and writes it once. Copied at start-up it is
there all the time and costs nothing per inference; copied before use it is there from the step before the one
that reads it, so that a DMA engine can copy beside that step, until that step ends.

Buffers of the plan stay where they are: copies take bytes that are free while they are needed, within a
limit for each pool. Greedy ways are weighed: copies before use, those with room then at start-up, or
start-up first, in several orders (all orders of at most `EXACT` constants). `ConstantCosts.bound` is what no
choice can go below: every constant by itself where it costs least, as if there were room for all.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import permutations

from codegen.constants.merging import round_up
from codegen.plan.place.access import buffer_access_cost
from codegen.plan.place.bounds import lower_bounds
from codegen.problem.problem import (
    Buffer,
    BufferKind,
    Conflict,
    MemoryPlan,
    Placement,
    Pool,
    Problem,
    interval_conflicts,
    plain,
)
from codegen.program.constants import ConstantCosts, ConstantPart, ConstantPool, Staged
from codegen.program.program import MemoryLayout

EXACT = 5
"""Constants of which every order is tried, at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A constant as one step reads it, that could be read from faster memory."""

    part: ConstantPart
    step: int
    alignment: int
    reads: float
    read_cost: float
    """Cost of a byte where it is linked."""

    @property
    def slow_cost(self) -> int:
        """Cost of its reads in one inference where it is linked."""
        return round(self.part.size_bytes * self.reads * self.read_cost)

    def cost(self, pool: Pool, *, at_start: bool) -> int:
        """Cost in one inference of its reads and copies if it is staged in `pool`."""
        copy = 0.0 if at_start else self.read_cost + pool.write_cost
        return round(self.part.size_bytes * (self.reads * pool.read_cost + copy))


@dataclass(frozen=True, kw_only=True, slots=True)
class Staging:
    """Staged constants and what they cost."""

    staged: tuple[Staged, ...]
    costs: ConstantCosts


def candidates(
    pools: Sequence[ConstantPool],
    steps: Mapping[str, int],
    reads: Mapping[tuple[str, str], float],
    *,
    minimum_alignment: int = 1,
) -> list[Candidate]:
    """Constants as steps read them.

    `steps`: PrimFunc -> its step. `reads`: (primfunc, role) -> how often each byte is read in one inference.
    """
    return [
        Candidate(
            part=part,
            step=steps[part.user[0]],
            alignment=max(_alignment(member.alignment, part.offset_bytes), minimum_alignment),
            reads=reads[part.user],
            read_cost=pool.read_cost,
        )
        for pool in pools
        for member in pool.members
        for part in member.parts
    ]


def _alignment(of_whole: int, offset: int) -> int:
    """Alignment that a part has: no reader can have been promised more."""
    while offset % of_whole:
        of_whole //= 2
    return of_whole


def choose(
    candidates: Sequence[Candidate],
    problem: Problem,
    plan: MemoryPlan,
    times: Sequence[tuple[int, int]],
    limits: Mapping[str, int],
    *,
    may_stay: bool,
) -> Staging:
    """The cheapest of the greedy ways. `limits`: pool -> bytes that copies may end at.

    `may_stay`: copies at start-up are possible.
    """
    slow = sum(candidate.slow_cost for candidate in candidates)
    attempts = [
        _way(order, Room(problem, plan, times, limits), stay_first=stay_first, may_stay=may_stay)
        for order in _orders(candidates)
        for stay_first in ((False, True) if may_stay else (False,))
    ]
    best = min(attempts, key=lambda way: sum(saving for _, saving in way.values()))
    copies = (copy for copy, _ in best.values())
    staged = tuple(sorted(copies, key=lambda copy: (copy.used_at, copy.buffer)))
    costs = ConstantCosts(
        linked=slow,
        chosen=slow + sum(change for _, change in best.values()),
        bound=sum(_least_cost(candidate, problem.pools, may_stay=may_stay) for candidate in candidates),
    )
    return Staging(staged=staged, costs=costs)


def _orders(candidates: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    """Orders in which candidates get bytes: all of few, else most reads first, then most to save first."""
    if len(candidates) <= EXACT:
        yield from permutations(candidates)
        return
    yield sorted(candidates, key=lambda candidate: (-candidate.reads * candidate.read_cost, candidate.step))
    yield sorted(candidates, key=lambda candidate: (-candidate.slow_cost, candidate.step))


def _least_cost(candidate: Candidate, pools: Sequence[Pool], *, may_stay: bool) -> int:
    return min([candidate.slow_cost, *(candidate.cost(pool, at_start=may_stay) for pool in pools)])


_Way = dict[tuple[str, str], tuple[Staged, int]]
"""(primfunc, role) -> what is staged, and by how much that changes the cost."""


def _way(ranked: Sequence[Candidate], room: "Room", *, stay_first: bool, may_stay: bool) -> _Way:
    staged: _Way = {}
    for at_start in (True, False) if stay_first else (False, True):
        if at_start and not may_stay:
            continue
        for candidate in ranked:
            _improve(candidate, room, staged, at_start=at_start)
    return staged


def _improve(candidate: Candidate, room: "Room", staged: _Way, *, at_start: bool) -> None:
    """Stage `candidate` in the pool where that costs least, if it costs less than what was found for it."""
    before = staged.get(candidate.part.user)
    change = 0 if before is None else before[1]
    pools = room.problem.pools
    for pool in sorted(pools, key=lambda pool: candidate.cost(pool, at_start=at_start)):
        better = candidate.cost(pool, at_start=at_start) - candidate.slow_cost
        if better >= change:
            return
        if before is not None:
            room.take_back(before[0])
        placed = room.put(candidate, pool, at_start=at_start)
        if placed is not None:
            staged[candidate.part.user] = (placed, better)
            return
        if before is not None:
            room.put_back(before[0])


Entry = tuple[int, int, int, int]
"""Offset, bytes, birth, death."""

_SHORT_STEPS = 8
"""Steps of a short life: what lives no longer is looked up by step, so that short copies see their neighbours
alone."""


class Taken:
    """Contents of a pool by offset: all of them, and those alive in each step."""

    def __init__(self, times: Sequence[tuple[int, int]]) -> None:
        self._starts = [start for start, _ in times]
        self._all: list[Entry] = []
        self._long: list[Entry] = []
        self._short: list[list[Entry]] = [[] for _ in range(len(times) + 1)]

    def add(self, entry: Entry) -> None:
        """`entry` is there."""
        for entries in self._lists(entry):
            insort(entries, entry)

    def remove(self, entry: Entry) -> None:
        """One of what is as `entry` is gone."""
        for entries in self._lists(entry):
            del entries[bisect_left(entries, entry)]

    def between(self, start: int, stop: int) -> Iterable[Entry]:
        """All that may be alive at some time in [start, stop), by offset; some of it several times."""
        steps = self._steps(start, stop)
        return merge(self._long, *self._short[steps]) if _is_short(steps) else self._all

    def _lists(self, entry: Entry) -> list[list[Entry]]:
        steps = self._steps(*entry[2:])
        return [self._all, *(self._short[steps] if _is_short(steps) else [self._long])]

    def _steps(self, start: int, stop: int) -> slice:
        first = max(bisect_right(self._starts, start) - 1, 0)
        return slice(first, max(bisect_left(self._starts, stop), first + 1))


def _is_short(steps: slice) -> bool:
    return steps.stop - steps.start <= _SHORT_STEPS


class Room:
    """Bytes of the pools that a plan and copies leave free, up to `limits`."""

    def __init__(
        self,
        problem: Problem,
        plan: MemoryPlan,
        times: Sequence[tuple[int, int]],
        limits: Mapping[str, int],
    ) -> None:
        self.problem, self._times, self._limits = problem, times, limits
        self._taken = {pool.name: Taken(times) for pool in problem.pools}
        for b in problem.buffers:
            if b.size_bytes:
                place = plan.placements[b.id]
                self._taken[place.pool].add((place.offset, b.size_bytes, b.start, b.stop))

    def put(self, candidate: Candidate, pool: Pool, *, at_start: bool) -> Staged | None:
        """Stage `candidate` at the lowest free bytes of `pool`; None if there are none."""
        before = max(candidate.step - 1, 0)
        staged = Staged(
            user=candidate.part.user,
            buffer=".".join((*candidate.part.user, "copy")),
            size_bytes=candidate.part.size_bytes,
            alignment=candidate.alignment,
            reads=candidate.reads,
            copied_at=None if at_start else before,
            used_at=candidate.step,
            pool=pool.name,
            offset=0,
        )
        return self.placed(staged)

    def placed(self, staged: Staged) -> Staged | None:
        """`staged` at the lowest free bytes of its pool, which it takes; None if there are none."""
        room, (start, stop) = (
            self._limits.get(staged.pool, 0) - staged.size_bytes,
            staged.interval(self._times),
        )
        offset = 0
        for begin, size, born, dead in self._taken[staged.pool].between(start, stop):
            if offset > room or begin >= offset + staged.size_bytes:
                break
            if born < stop and start < dead and offset < begin + size:
                offset = round_up(begin + size, staged.alignment)
        if offset > room:
            return None
        staged = replace(staged, offset=offset)
        self.put_back(staged)
        return staged

    def put_back(self, staged: Staged) -> None:
        """`staged` takes its bytes."""
        self._taken[staged.pool].add(self._entry(staged))

    def take_back(self, staged: Staged) -> None:
        """The bytes of `staged` are free again."""
        self._taken[staged.pool].remove(self._entry(staged))

    def _entry(self, staged: Staged) -> "Entry":
        return (staged.offset, staged.size_bytes, *staged.interval(self._times))


def with_staged(
    memory: MemoryLayout, staged: Sequence[Staged], times: Sequence[tuple[int, int]]
) -> MemoryLayout:
    """`memory` with a buffer for every copy. The plan is no longer called proved where copies raise a peak:
    no planner weighed them."""
    if not staged:
        return memory
    problem, plan = memory.problem, memory.plan
    more = with_copies(problem, staged, times)
    copies = more.buffers[len(problem.buffers) :]
    places = {copy.buffer: Placement(pool=copy.pool, offset=copy.offset) for copy in staged}
    placements = {**plan.placements, **places}
    bounds = lower_bounds(more, {id_: place.pool for id_, place in placements.items()})
    return replace(
        memory,
        problem=more,
        plan=replace(
            plan,
            placements=placements,
            lower_bounds={name: max(bound, bounds[name]) for name, bound in plan.lower_bounds.items()},
            access_cost_bound=plan.access_cost_bound
            + sum(min(buffer_access_cost(copy, pool) for pool in problem.pools) for copy in copies),
            proved_optimal=plan.proved_optimal and not _raised(problem, plan, staged),
        ),
    )


def with_copies(problem: Problem, staged: Sequence[Staged], times: Sequence[tuple[int, int]]) -> Problem:
    """`problem` with a buffer for every copy, behind the others."""
    copies = tuple(
        Buffer(
            id=copy.buffer,
            size_bytes=copy.size_bytes,
            start=copy.interval(times)[0],
            stop=copy.interval(times)[1],
            alignment=copy.alignment,
            pool_candidates=tuple(pool.name for pool in problem.pools),
            kind=BufferKind.CONSTANT,
            reads=copy.reads,
            writes=_writes(copy),
        )
        for copy in staged
    )
    return replace(
        problem,
        buffers=(*problem.buffers, *copies),
        conflicts=(*problem.conflicts, *_conflicts(problem.buffers, copies)),
    )


def _writes(copy: Staged) -> float:
    """How often each byte of a copy is written in one inference."""
    if copy.unpacking is not None:
        return copy.unpacking.original_bytes / copy.size_bytes
    return 0.0 if copy.copied_at is None else 1.0


def _raised(problem: Problem, plan: MemoryPlan, staged: Sequence[Staged]) -> bool:
    ends: dict[str, int] = {pool.name: 0 for pool in problem.pools}
    for buffer in problem.buffers:
        place = plan.placements[buffer.id]
        ends[place.pool] = max(ends[place.pool], place.offset + buffer.size_bytes)
    return any(copy.offset + copy.size_bytes > ends[copy.pool] for copy in staged)


def _conflicts(buffers: Sequence[Buffer], copies: Sequence[Buffer]) -> Iterator[Conflict]:
    """Copies share bytes with nothing that is alive at the same time."""
    yield from interval_conflicts(copies)
    for copy in copies:
        for buffer in buffers:
            if buffer.size_bytes and buffer.start < copy.stop and copy.start < buffer.stop:
                yield plain(buffer, copy)
