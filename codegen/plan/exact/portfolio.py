"""`--planner optimal`: which solver works on what, in which order, and what is proved in the end.

1. Pools: every buffer in its first candidate if that can be made to fit; else where the hill climb puts it,
   after which buffers are called back to better candidates one by one, as far as the exact search finds room.
2. Each pool on its own: greedy, exact search at the bound, hill climb, exact search above it, CP-SAT.
   Whoever meets the bound, or exhausts what lies below the peak, ends it.
"""

import time
from collections.abc import Mapping
from dataclasses import replace

from codegen.plan.bounds import lower_bounds
from codegen.plan.exact import cpsat
from codegen.plan.exact.graph import graph
from codegen.plan.exact.squeeze import Budget, Squeeze
from codegen.plan.hill_climb import hill_climb
from codegen.plan.placing import Instance, Layout, memory_plan
from codegen.plan.problem import Conflict, MemoryPlan, Placement, Problem
from codegen.plan.shortage import DoesNotFit

_EFFORT = 5_000
"""Units of search in C per unit of `limits.effort`: by default 20 to 30 seconds at most."""

_CLIMB_SHARE = 20
"""The hill climb gets `limits.effort` divided by this: it is Python, and only a seed."""

_POOL_SHARE = 20
"""A question whether buffers fit into a pool gets the search's effort divided by this."""

_BOUND_SHARE = 4
"""The search's effort divided by this goes into meeting the bound at once, as most plans can."""

_MOST_RECALLS = 100
"""Buffers called back to a better candidate pool, one exact question each."""


def optimal(problem: Problem) -> MemoryPlan:
    """The best plan found and what is proved about it: `lower_bounds` are those of the exhausted search too.

    Spends at most `limits.effort` units (each worth a fixed count of search steps) a pool, so answers repeat;
    `limits.deadline_seconds` is a safety stop and makes `reproducible` False where it cuts. `solver` names
    who found the plans of the pools or proved them. Raises CodegenError E401 if a pool is too small.
    """
    begun = time.monotonic()
    work = _Portfolio(_sorted(problem), begun)
    work.choose_pools()
    solvers = [work.place(name) for name in work.used_pools()]
    placements = work.placements()
    plan = memory_plan(
        problem,
        [placements[buffer.id] for buffer in problem.buffers],
        planner="optimal",
        solver=", ".join(dict.fromkeys(solvers)) or "greedy",
        reproducible=not work.late,
        seconds=time.monotonic() - begun,
    )
    bounds = {name: max(bound, work.bound(name)) for name, bound in plan.lower_bounds.items()}
    proved = plan.proved_optimal or work.proved
    return replace(plan, lower_bounds=bounds, proved_optimal=proved, nodes=work.nodes)


def _sorted(problem: Problem) -> Problem:
    """The same problem in an order that neither names nor the caller decide (but for equal buffers)."""
    buffers = sorted(
        problem.buffers,
        key=lambda b: (b.start, b.stop, -b.size_bytes, b.alignment, b.kind.value, b.pool_candidates),
    )
    index = {buffer.id: i for i, buffer in enumerate(buffers)}
    conflicts = [
        c
        if index[c.first] < index[c.second]
        else Conflict(first=c.second, second=c.first, first_below=c.second_below, second_below=c.first_below)
        for c in problem.conflicts
    ]
    conflicts.sort(key=lambda c: (index[c.first], index[c.second]))
    return replace(problem, buffers=tuple(buffers), conflicts=tuple(conflicts))


class _Portfolio:
    def __init__(self, problem: Problem, begun: float) -> None:
        self.problem = problem
        self.late = False
        self.pools = {b.id: b.pool_candidates[0] for b in problem.buffers}
        self._limits = {pool.name: pool.limit_bytes for pool in problem.pools}
        seconds = problem.limits.deadline_seconds
        self._deadline = None if seconds is None else begun + seconds
        self._squeezes: dict[str, Squeeze] = {}
        self._budgets: list[Budget] = []

    @property
    def proved(self) -> bool:
        """Whether every buffer is in its first candidate and no pool's peak can be lower."""
        preferred = all(self.pools[b.id] == b.pool_candidates[0] for b in self.problem.buffers)
        return preferred and all(squeeze.proved for squeeze in self._squeezes.values())

    @property
    def nodes(self) -> int:
        """Nodes that all exact searches visited."""
        return sum(budget.nodes for budget in self._budgets)

    def used_pools(self) -> list[str]:
        """Pools some buffer that holds bytes lies in, in the problem's order."""
        used = {self.pools[b.id] for b in self.problem.buffers if b.size_bytes}
        return [pool.name for pool in self.problem.pools if pool.name in used]

    def bound(self, name: str) -> int:
        """What is proved about the peak of a pool, in bytes."""
        return self._squeezes[name].bound if name in self._squeezes else 0

    def choose_pools(self) -> None:
        """Set `pools` where buffers have a choice: first candidates if they fit."""
        if all(len(b.pool_candidates) == 1 for b in self.problem.buffers):
            return
        if all(self._fits(name, self.pools) for name in self.used_pools()):
            return
        seed = self._climb(self.problem)
        if seed is None:
            return  # the plan with first candidates then tells how many bytes are missing
        self.pools = {id_: place.pool for id_, place in seed.items()}
        self._squeezes.clear()
        for name in self.used_pools():
            squeeze = self._squeeze(name, self.pools)
            squeeze.offer([seed[id_].offset for id_ in squeeze.graph.ids])
            self._squeezes[name] = squeeze
        self._recall()

    def _recall(self) -> None:
        """Move buffers back to better candidates, the biggest first, where they can still be placed."""
        moved = [b for b in self.problem.buffers if self.pools[b.id] != b.pool_candidates[0]]
        moved.sort(key=lambda b: (-b.size_bytes, b.start, b.stop))
        for buffer in moved[:_MOST_RECALLS]:
            old = self.pools[buffer.id]
            for name in buffer.pool_candidates[: buffer.pool_candidates.index(old)]:
                if self._fits(name, {**self.pools, buffer.id: name}):
                    self.pools[buffer.id] = name
                    self._leave(old)
                    break

    def _leave(self, name: str) -> None:
        """A buffer is gone from pool `name`: the others stay where they are."""
        left = self._squeezes.pop(name, None)
        if left is None or name not in self.used_pools():
            return
        offsets = dict(zip(left.graph.ids, left.offsets, strict=True))
        self._squeezes[name] = self._squeeze(name, self.pools)
        self._squeezes[name].offer([offsets[id_] for id_ in self._squeezes[name].graph.ids])

    def _fits(self, name: str, pools: Mapping[str, str]) -> bool:
        """Whether the buffers `pools` puts into pool `name` are placed below its limit (the plan is kept)."""
        squeeze = self._squeeze(name, pools)
        budget = self._budget(_POOL_SHARE)
        found = bool(squeeze.fit(self._limits[name], budget))
        self.late = self.late or budget.late
        if found:
            self._squeezes[name] = squeeze
        return found

    def place(self, name: str) -> str:
        """Lowest peak of one pool; who found or proved it."""
        if name not in self._squeezes:
            self._squeezes[name] = self._squeeze(name, self.pools)
        squeeze = self._squeezes[name]
        solver = "greedy" if squeeze.runs == 0 else squeeze.name
        budget = self._budget()
        later = budget.effort - budget.effort // _BOUND_SHARE
        budget.effort -= later
        before = squeeze.peak, squeeze.bound
        squeeze.fit(squeeze.bound, budget)
        solver = solver if (squeeze.peak, squeeze.bound) == before else squeeze.name
        if not squeeze.proved and not budget.spent_time:
            solver = "hill_climb" if self._seed(squeeze) else solver
            budget.effort += later
            before = squeeze.peak, squeeze.bound
            squeeze.minimise(budget)
            solver = solver if (squeeze.peak, squeeze.bound) == before else squeeze.name
        if not squeeze.proved and not budget.spent_time:
            solver = "cp-sat" if self._ask_cpsat(squeeze) else solver
        self.late = self.late or budget.late
        return solver

    def _seed(self, squeeze: Squeeze) -> bool:
        """Whether the hill climb's plan of a pool is better than the best so far."""
        ids = frozenset(squeeze.graph.ids)
        alone = replace(
            self.problem,
            buffers=tuple(
                replace(b, pool_candidates=(self.pools[b.id],)) for b in self.problem.buffers if b.id in ids
            ),
            conflicts=tuple(c for c in self.problem.conflicts if c.first in ids and c.second in ids),
        )
        seed = self._climb(alone)
        return seed is not None and squeeze.offer([seed[id_].offset for id_ in squeeze.graph.ids])

    def _ask_cpsat(self, squeeze: Squeeze) -> bool:
        """Whether CP-SAT found a better plan or closed the gap."""
        limits = self.problem.limits
        answer = cpsat.solve(
            squeeze.graph,
            squeeze.offsets,
            squeeze.bound,
            seed=limits.seed,
            effort=limits.effort,
            seconds=self._left(),
        )
        if self._left() == 0.0:
            self.late = True
        if answer is None:
            return False
        better = squeeze.offer(answer[0])
        squeeze.bound = max(squeeze.bound, answer[1])
        return better or squeeze.proved

    def _climb(self, problem: Problem) -> Mapping[str, Placement] | None:
        """The hill climb's plan; None if it is over a limit."""
        limits = replace(
            problem.limits, effort=problem.limits.effort // _CLIMB_SHARE, deadline_seconds=self._left()
        )
        try:
            plan = hill_climb(replace(problem, limits=limits))
        except DoesNotFit:
            return None
        self.late = self.late or not plan.reproducible
        return plan.placements

    def _left(self) -> float | None:
        """Seconds to the deadline."""
        return None if self._deadline is None else max(self._deadline - time.monotonic(), 0.0)

    def _squeeze(self, name: str, pools: Mapping[str, str]) -> Squeeze:
        held = {id_: pool for id_, pool in pools.items() if pool == name}
        bound = lower_bounds(self.problem, held)[name]
        return Squeeze(graph(self.problem, held), bound, self.problem.limits.seed)

    def _budget(self, share: int = 1) -> Budget:
        effort = self.problem.limits.effort * _EFFORT // share
        self._budgets.append(Budget(effort=effort, deadline=self._deadline))
        return self._budgets[-1]

    def placements(self) -> dict[str, tuple[int, int]]:
        """Pool index and offset of every buffer; those of no bytes go where there is room."""
        offsets: dict[str, int] = {}
        for squeeze in self._squeezes.values():
            offsets.update(zip(squeeze.graph.ids, squeeze.offsets, strict=True))
        layout = Layout(Instance(self.problem))
        index = {pool.name: i for i, pool in enumerate(self.problem.pools)}
        empty: list[int] = []
        for position, buffer in enumerate(self.problem.buffers):
            if buffer.id in offsets:
                layout.offsets[position] = offsets[buffer.id]
                layout.pools[position] = index[self.pools[buffer.id]]
            else:
                empty.append(position)
        layout.lay(empty)
        ids = (buffer.id for buffer in self.problem.buffers)
        return dict(zip(ids, zip(layout.pools, layout.offsets, strict=True), strict=True))
