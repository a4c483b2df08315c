"""Hill climb over placing orders: seeded, counted, keeps the best plan, stops at the lower bound.

A move takes a buffer that holds up the peak (the topmost one or what it rests on) or one of its
neighbours and places it earlier. Acceptance is late acceptance (Burke and Bykov, 2017): a move stays if it
is no worse than the cost some moves ago, so the search leaves plateaus without a temperature to tune.
"""

import random
import time

from codegen.plan.place.access import preferred_pools
from codegen.plan.place.bounds import lower_bounds
from codegen.plan.place.placing import (
    UNPLACED,
    Instance,
    Layout,
    SolverRun,
    memory_plan,
    order_by_conflicts,
    order_by_size,
)
from codegen.problem.problem import MemoryPlan, Problem

_MEMORY = 40
"""How many moves ago the cost to compare with was: long enough to cross plateaus, short enough to descend."""

_NEIGHBOURS_PER_EFFORT = 1000

_Cost = tuple[int, int, int]


def hill_climb(problem: Problem) -> MemoryPlan:
    """Best plan found from both greedy orders, with `limits.seed`, in `limits.effort` units of work.

    A move is one unit, and one more for every 1,000 neighbours looked at: counted, so answers repeat.
    `limits.deadline_seconds` is a safety stop; a plan it cut short says so (`reproducible` is False).
    Raises DoesNotFit if a pool is too small for the best plan found.
    """
    begun = time.monotonic()
    search = _HillClimb(problem, begun)
    orders = [order_by_size(problem), order_by_conflicts(problem)]
    for order in orders:
        search.consider(Layout(search.instance), order)
    for turn, order in enumerate(orders, start=1):
        search.climb(order, until=problem.limits.effort * turn // len(orders))
    return memory_plan(
        problem,
        search.best,
        SolverRun(
            planner="hill_climb",
            solver="hill_climb",
            reproducible=not search.cut_short,
            seconds=time.monotonic() - begun,
        ),
    )


class _HillClimb:
    def __init__(self, problem: Problem, begun: float) -> None:
        self.instance = Instance(problem)
        self.random = random.Random(problem.limits.seed)
        seconds = problem.limits.deadline_seconds
        self.deadline = None if seconds is None else begun + seconds
        self.effort = 0
        self.cut_short = False
        self.best: list[tuple[int, int]] = []
        self.best_cost: _Cost | None = None
        # No plan can be better than every buffer in the pool it prefers, each pool at its bound.
        self.target = sum(lower_bounds(problem, preferred_pools(problem)).values())
        self.no_choice = all(len(pools) == 1 for pools in self.instance.candidates)

    def consider(self, layout: Layout, order: list[int]) -> _Cost:
        """Lay out `order` from scratch; keep it if it is the best so far."""
        layout.lay(order)
        return self.keep(layout)

    def keep(self, layout: Layout) -> _Cost:
        """Cost of the layout, which is remembered if it is the best so far."""
        cost = layout.cost()
        if self.best_cost is None or cost < self.best_cost:
            self.best_cost = cost
            self.best = list(zip(layout.pools, layout.offsets, strict=True))
        return cost

    @property
    def done(self) -> bool:
        """True if the best plan cannot be improved, or time is up."""
        over, *rest = self.best_cost or (1, 1, 0)
        # Over the limit at the bound is final only where no buffer has another pool to go to.
        if rest == [0, self.target] and (over == 0 or self.no_choice):
            return True
        if self.deadline is not None and time.monotonic() > self.deadline:
            self.cut_short = True
        return self.cut_short

    def climb(self, start: list[int], until: int) -> None:
        """Move after move from order `start`, while the effort spent in all is below `until`."""
        order = list(start)
        layout = Layout(self.instance)
        current = self.consider(layout, order)
        history = [current] * _MEMORY
        proposals = 0
        while self.effort < until and not self.done:
            proposals += 1
            self.effort += 1
            move = self._move(layout, order)
            if move is None:
                continue
            changed, first = move
            looked_at = sum(len(self.instance.neighbours[index]) for index in changed[first:])
            self.effort += looked_at // _NEIGHBOURS_PER_EFFORT
            # Where nothing changed before `first`, placements before it stay as they are.
            saved = layout.offsets[:], layout.pools[:], layout.supports[:]
            layout.lay(changed, first)
            cost = self.keep(layout)
            if cost <= current or cost <= history[proposals % _MEMORY]:
                order, current = changed, cost
            else:
                layout.offsets, layout.pools, layout.supports = saved
            history[proposals % _MEMORY] = current

    def _move(self, layout: Layout, order: list[int]) -> tuple[list[int], int] | None:
        """A changed order and the first position that differs; None if the buffer chosen has no partner."""
        rank = [0] * len(order)
        for position, index in enumerate(order):
            rank[index] = position
        moved = [i for i, pools in enumerate(self.instance.candidates) if layout.pools[i] != pools[0]]
        if moved and self.random.random() < 0.5:
            # Give a buffer that found no room in its preferred pool the place of one that did.
            member = self.random.choice(moved)
            pool = self.instance.candidates[member][0]
        else:
            chain = self._chain(layout)
            if not chain:
                return None
            member = self.random.choice(chain)
            pool = layout.pools[member]
        near = [other for other, _, _ in self.instance.neighbours[member] if layout.pools[other] == pool]
        if not near:
            return None
        other = self.random.choice(near)
        early, late = sorted((rank[member], rank[other]))
        changed = list(order)
        if self.random.random() < 0.5:
            changed[early], changed[late] = changed[late], changed[early]
        else:
            changed.insert(early, changed.pop(late))
        return changed, early

    def _chain(self, layout: Layout) -> list[int]:
        """A topmost buffer of a pool (chosen at random) and what it rests on, down to the base."""
        peaks = layout.peaks()
        pools = layout.overfull(peaks) or [pool for pool, peak in enumerate(peaks) if peak]
        if not pools:
            return []
        pool = self.random.choice(pools)
        tops = [
            i
            for i, size in enumerate(self.instance.sizes)
            if size and layout.pools[i] == pool and layout.offsets[i] + size == peaks[pool]
        ]
        chain: list[int] = []
        index = self.random.choice(tops)
        while index != UNPLACED and index not in chain:
            chain.append(index)
            index = layout.supports[index]
        return chain
