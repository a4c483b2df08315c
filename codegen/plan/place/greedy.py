"""Greedy planners: one pass in a fixed order, gaps filled. Ties by size, then time, never by name."""

import time
from collections.abc import Callable

from codegen.plan.place.placing import Instance, Layout, memory_plan
from codegen.program.problem import MemoryPlan, Problem


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
    return memory_plan(problem, placements, planner=name, solver=name, seconds=time.monotonic() - begun)
