"""Buffers as integers, and the one placing rule all ordered planners share.

A buffer goes to the lowest offset that no conflict with an already placed neighbour forbids (gaps are
filled), in the cheapest of its candidate pools where it fits.

Greedy planners: one pass in a fixed order, gaps filled. Ties by size, then time, never by name.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from codegen.plan.place.access import least_access_cost, prices
from codegen.plan.place.bounds import lower_bounds, proved_optimal
from codegen.plan.place.budgets import shortage
from codegen.problem.problem import MemoryPlan, Placement, Problem, overfull

UNPLACED = -1


class Instance:
    """A problem as lists of ints, indexed by a buffer's position in the problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        position = {buffer.id: i for i, buffer in enumerate(problem.buffers)}
        pools = {pool.name: i for i, pool in enumerate(problem.pools)}
        self.sizes = [buffer.size_bytes for buffer in problem.buffers]
        self.alignments = [buffer.alignment for buffer in problem.buffers]
        rows = prices(problem).rows
        self.candidates = [tuple(pools[name] for name in row) for row in rows]
        """Candidate pools of each buffer, the preferred one first."""
        self.extras: list[tuple[int, dict[int, int]]] = []
        """Buffers with a choice: (buffer, pool -> by how much its price exceeds the preferred pool's)."""
        for index, row in enumerate(rows):
            if len(row) > 1:
                least = min(row.values())
                self.extras.append((index, {pools[name]: price - least for name, price in row.items()}))
        self.limits = [pool.limit_bytes for pool in problem.pools]
        self.neighbours: list[list[tuple[int, int, int]]] = [[] for _ in problem.buffers]
        """Conflicts of each buffer b: (n, d_bn, d_nb) with offset(b) + d_bn <= offset(n) or offset(n) + d_nb
        <= offset(b)."""
        for conflict in problem.conflicts:
            i, j = position[conflict.first], position[conflict.second]
            self.neighbours[i].append((j, conflict.first_below, conflict.second_below))
            self.neighbours[j].append((i, conflict.second_below, conflict.first_below))

    def __len__(self) -> int:
        return len(self.sizes)


class Layout:
    """Offsets and pools of the buffers of an instance while a planner works on them."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.offsets = [0] * len(instance)
        self.pools = [UNPLACED] * len(instance)
        self.supports = [UNPLACED] * len(instance)
        """The neighbour each buffer rests on: the one that forbade every lower offset."""

    def lay(self, order: Sequence[int], start: int = 0) -> None:
        """Place `order[start:]` anew, in order, on top of `order[:start]`, which stay where they are.

        A buffer that fits in none of its candidate pools goes over the limit of the one it prefers.
        """
        for index in order[start:]:
            self.pools[index] = UNPLACED
        for index in order[start:]:
            self._place(index)

    def _place(self, index: int) -> None:
        instance = self.instance
        candidates = instance.candidates[index]
        for pool in candidates:
            offset, support = self._lowest(index, pool)
            if offset + instance.sizes[index] <= instance.limits[pool]:
                break
        else:
            pool = candidates[0]
            offset, support = self._lowest(index, pool)
        self.offsets[index] = offset
        self.pools[index] = pool
        self.supports[index] = support

    def _lowest(self, index: int, pool: int) -> tuple[int, int]:
        """Lowest aligned offset in `pool` outside every open interval (o_n - d_bn, o_n + d_nb)."""
        pools, offsets = self.pools, self.offsets
        forbidden = [
            (offsets[other] - below, offsets[other] + above, other)
            for other, below, above in self.instance.neighbours[index]
            if pools[other] == pool
        ]
        forbidden.sort()
        mask = self.instance.alignments[index] - 1
        offset, support = 0, UNPLACED
        for low, high, other in forbidden:
            if offset <= low:
                break
            if offset < high:
                offset = (high + mask) & ~mask
                support = other
        return offset, support

    def peaks(self) -> list[int]:
        """Bytes from the base to the end of the topmost buffer, per pool."""
        peaks = [0] * len(self.instance.limits)
        for offset, size, pool in zip(self.offsets, self.instance.sizes, self.pools, strict=True):
            if size and offset + size > peaks[pool]:
                peaks[pool] = offset + size
        return peaks

    def overfull(self, peaks: Sequence[int]) -> list[int]:
        """Pools whose limit is below their peak."""
        return [pool for pool, limit in enumerate(self.instance.limits) if peaks[pool] > limit]

    def cost(self) -> tuple[int, int, int]:
        """Objective of planners, in this order: bytes over limits, price above the least, sum of peaks."""
        peaks = self.peaks()
        over = sum(max(peak - limit, 0) for peak, limit in zip(peaks, self.instance.limits, strict=True))
        price = sum(extra[self.pools[index]] for index, extra in self.instance.extras)
        return over, price, sum(peaks)


@dataclass(frozen=True, kw_only=True, slots=True)
class SolverRun:
    """A run of a planner: who placed the buffers, how long that took, and whether it would again."""

    planner: str
    solver: str
    reproducible: bool = True
    seconds: float = 0.0


def memory_plan(
    problem: Problem,
    placements: Sequence[tuple[int, int]],
    solved: SolverRun,
    bounds: Mapping[str, int] | None = None,
) -> MemoryPlan:
    """The plan with (pool index, offset) of every buffer, its bounds and whether it is proved optimal.

    `bounds`: lower bounds of the pools' peaks, where a search knows them.
    Raises DoesNotFit if a pool's limit is exceeded.
    """
    placed = {
        buffer.id: Placement(pool=problem.pools[pool].name, offset=offset)
        for buffer, (pool, offset) in zip(problem.buffers, placements, strict=True)
    }
    pools = {id_: placement.pool for id_, placement in placed.items()}
    bounds = lower_bounds(problem, pools) if bounds is None else bounds
    peaks = dict.fromkeys(bounds, 0)
    for buffer in problem.buffers:
        if buffer.size_bytes:
            place = placed[buffer.id]
            peaks[place.pool] = max(peaks[place.pool], place.offset + buffer.size_bytes)
    plan = MemoryPlan(
        placements=placed,
        planner=solved.planner,
        solver=solved.solver,
        lower_bounds=bounds,
        proved_optimal=proved_optimal(problem, pools, peaks, bounds),
        access_cost_bound=least_access_cost(problem),
        reproducible=solved.reproducible,
        seconds=solved.seconds,
    )
    if overfull(problem, plan):
        raise shortage(problem, plan)
    return plan


def order_by_size(problem: Problem) -> list[int]:
    """Buffer positions, the biggest first; then the earliest born, then the first to die."""
    buffers = problem.buffers
    return sorted(
        range(len(buffers)), key=lambda i: (-buffers[i].size_bytes, buffers[i].start, buffers[i].stop)
    )


def order_by_conflicts(problem: Problem) -> list[int]:
    """Buffer positions, the one in most conflicts first; then as `order_by_size`."""
    count = dict.fromkeys((buffer.id for buffer in problem.buffers), 0)
    for conflict in problem.conflicts:
        count[conflict.first] += 1
        count[conflict.second] += 1
    # Sorting is stable, so equal counts stay in order of size.
    return sorted(order_by_size(problem), key=lambda i: -count[problem.buffers[i].id])


def greedy_by_size(problem: Problem) -> MemoryPlan:
    """Place the biggest buffer first. Raises DoesNotFit if a pool is too small."""
    return _plan(problem, order_by_size, "greedy_by_size")


def greedy_by_conflicts(problem: Problem) -> MemoryPlan:
    """Place the buffer in most conflicts first. Raises DoesNotFit if a pool is too small."""
    return _plan(problem, order_by_conflicts, "greedy_by_conflicts")


def _plan(problem: Problem, order: Callable[[Problem], list[int]], name: str) -> MemoryPlan:
    begun = time.monotonic()
    layout = Layout(Instance(problem))
    layout.lay(order(problem))
    placements = list(zip(layout.pools, layout.offsets, strict=True))
    seconds = time.monotonic() - begun
    return memory_plan(problem, placements, SolverRun(planner=name, solver=name, seconds=seconds))
