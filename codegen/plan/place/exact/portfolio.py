"""`--planner optimal`: which solver works on what, in which order, and what is proved in the end.

1. Pools: every buffer where its accesses cost least if that can be made to fit; else branch and bound over
   the choice (assign.py), with the hill climb and exchanges between pools where that is not over soon.
2. Each pool on its own: greedy, exact search at the bound, with few buffers search over directions of
   conflicts, hill climb, exact search above the bound, hill climbs with other seeds, CP-SAT.
   Whoever meets the bound, or exhausts what lies below the peak, ends it.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from codegen.plan.place.access import preferred_pools, prices
from codegen.plan.place.bounds import lower_bounds
from codegen.plan.place.exact import cpsat
from codegen.plan.place.exact.assign import Assigner, Assignment
from codegen.plan.place.exact.conflict_graph import graph, stacked
from codegen.plan.place.exact.contention import IMPOSSIBLE
from codegen.plan.place.exact.rooms import Rooms, fits
from codegen.plan.place.exact.squeeze import SolverBudget, Squeeze
from codegen.plan.place.hill_climb import hill_climb
from codegen.plan.place.placing import Instance, Layout, SolverRun, memory_plan
from codegen.problem.problem import Conflict, Limits, MemoryPlan, Placement, Problem
from codegen.problem.shortage import DoesNotFit

_EFFORT = 5_000
"""Units of search in C per unit of `limits.effort`: by default 20 to 30 seconds at most."""

_CLIMB_SHARE = 20
"""The hill climb gets `limits.effort` divided by this: it is Python, and only a seed."""

_MORE_CLIMBS, _MORE_CLIMB_SHARE = 6, 4
"""Climbs with other seeds, where a plan is asked for and not only weighed, and the share of each. They end
apart: of four problems of 1,000 buffers the best of them was 0.3 to 0.8 % below the first climb."""

_CHOICE_CLIMB_SHARE = 8
"""Share of the hill climb where it has to choose pools too: there it often succeeds where exact search does
not."""

_POOL_SHARE = 20
"""A question whether buffers fit into a pool gets the search's effort divided by this."""

_BOUND_SHARE = 4
"""The search's effort divided by this goes into meeting the bound at once, as most plans can."""

_SMALL = 25
"""Up to so many buffers are solved to the proved optimum by search over directions of conflicts."""

_SMALL_EFFORT = 4
"""So many times the effort goes into directions of so few, where a plan is asked for and not only weighed: 24
random problems with overlaps are all proved so; with it once, four stayed open after as long by keys."""

_SMALL_BOUND_SHARE = 1000
"""With so few, no more than this share of the effort goes into a bound that may be out of reach."""

_LARGE = 500
"""With more buffers a unit of work costs more: effort falls in inverse ratio to their number."""

_ASSIGN_SHARE = 20
"""The search's effort divided by this is spent on room in pools in each of the stages of the choice."""

_NODES_SHARE = 4
"""Nodes of the choice of pools: `limits.effort` divided by this."""

_FIRST_SHARE = 10
"""A first look at the choice of pools, and one at equally cheap choices, get the nodes divided by this."""

_QUESTIONS_SHARE = 50
"""Exchanges between pools ask `limits.effort` divided by this questions about room."""


def optimal(problem: Problem) -> MemoryPlan:
    """The best plan found and what is proved about it: `lower_bounds` are those of the exhausted search too.

    Spends at most `limits.effort` units (each worth a fixed count of search steps) a pool, so answers repeat;
    `limits.deadline_seconds` is a safety stop and makes `reproducible` False where it cuts. `solver` names
    who found the plans of the pools or proved them. Raises DoesNotFit if a pool is too small.
    """
    begun = time.monotonic()
    heap = stacked(problem)
    if heap is not None:
        seconds = time.monotonic() - begun
        return memory_plan(problem, heap, SolverRun(planner="optimal", solver="greedy", seconds=seconds))
    work = _Portfolio(_sorted(problem), begun)
    work.choose_pools()
    solvers = [work.place(name) for name in work.used_pools()]
    placements = work.placements()
    plan = memory_plan(
        problem,
        [placements[buffer.id] for buffer in problem.buffers],
        SolverRun(
            planner="optimal",
            solver=", ".join(dict.fromkeys(solvers)) or "greedy",
            reproducible=not work.late,
            seconds=time.monotonic() - begun,
        ),
        bounds={pool.name: work.bound(pool.name) for pool in problem.pools},
    )
    return replace(
        plan,
        access_cost_bound=max(plan.access_cost_bound, work.access_cost_bound),
        proved_optimal=plan.proved_optimal or work.proved,
        nodes=work.nodes,
    )


def _sorted(problem: Problem) -> Problem:
    """The problem in an order that depends neither on names nor on the caller (but for equal buffers)."""
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
        self.pools = preferred_pools(problem)
        self.access_cost_bound = 0
        """Bound of the access cost that branch and bound proved."""
        self._chosen: Assignment | None = None
        """None: every buffer is where it is best off."""
        seconds = problem.limits.deadline_seconds
        self._deadline = None if seconds is None else begun + seconds
        self._squeezes: dict[str, Squeeze] = {}
        self._budgets: list[SolverBudget] = []

    @property
    def proved(self) -> bool:
        """True if no choice of pools is better and no pool's peak can be lower."""
        if not all(squeeze.proved for squeeze in self._squeezes.values()):
            return False
        peaks = sum(squeeze.peak for squeeze in self._squeezes.values())
        return self._chosen is None or (self._chosen.proved and peaks <= self._chosen.peaks_floor)

    @property
    def nodes(self) -> int:
        """Nodes that all exact searches visited."""
        return sum(budget.nodes for budget in self._budgets)

    def used_pools(self) -> list[str]:
        """Pools some buffer that holds bytes lies in, in the problem's order."""
        used = {self.pools[b.id] for b in self.problem.buffers if b.size_bytes}
        return [pool.name for pool in self.problem.pools if pool.name in used]

    def bound(self, name: str) -> int:
        """Proved lower bound of a pool's peak, in bytes."""
        return self._squeezes[name].bound if name in self._squeezes else 0

    def choose_pools(self) -> None:
        """Set `pools` where buffers have a choice. Raises `DoesNotFit` if no choice is found that fits."""
        if all(len(b.pool_candidates) == 1 for b in self.problem.buffers):
            return
        if not all(self._fits(name, self.pools) for name in self.used_pools()):
            self._assign()

    def _assign(self) -> None:
        numbers = graph(self.problem, self.pools)
        names = [pool.name for pool in self.problem.pools]
        priced = prices(self.problem)
        by_id = dict(zip((b.id for b in self.problem.buffers), priced.rows, strict=True))
        rows = [{names.index(name): price for name, price in by_id[id_].items()} for id_ in numbers.ids]
        rooms = Rooms(self.problem, numbers, self._budget(_ASSIGN_SHARE))
        assigner = Assigner(numbers, rooms.relaxed(rows), rooms)
        nodes = self.problem.limits.effort // _NODES_SHARE
        assigner.minimise(nodes // _FIRST_SHARE)
        if not assigner.best.proved:
            self._search_longer(assigner, rooms, nodes)
        if assigner.best.proved:
            rooms.budget.effort = self._budget(_ASSIGN_SHARE).effort
            assigner.lower_peaks(nodes // _FIRST_SHARE)
        self.late = self.late or rooms.budget.late
        self._chosen = assigner.best
        self.access_cost_bound = assigner.best.bound // priced.scale
        self._take(rooms, names)

    def _search_longer(self, assigner: Assigner, rooms: Rooms, nodes: int) -> None:
        """Hill climb, exchanges, more nodes; where all that proves nothing, a long hill climb."""
        questions = self.problem.limits.effort // _QUESTIONS_SHARE
        missing: list[DoesNotFit] = []
        stages: tuple[Callable[[], None], ...] = (
            lambda: self._offer_climb(assigner, rooms, _CHOICE_CLIMB_SHARE, missing),
            lambda: assigner.improve(questions),
            lambda: assigner.minimise(nodes),
            lambda: assigner.minimise(nodes, floor_only=True),
            lambda: self._offer_climb(assigner, rooms, 1, missing),
            lambda: assigner.improve(questions),
        )
        for stage in stages:
            if not assigner.best.proved and assigner.best.bound < IMPOSSIBLE:
                rooms.budget.effort = self._budget(_ASSIGN_SHARE).effort
                stage()
        if assigner.best.pools is None:
            if not missing:
                self._offer_climb(assigner, rooms, _CLIMB_SHARE, missing)
            raise missing[-1]

    def _offer_climb(self, assigner: Assigner, rooms: Rooms, share: int, missing: list[DoesNotFit]) -> None:
        """Let the hill climb choose pools; a plan over a limit goes to `missing`."""
        try:
            seed = self._climb(self.problem, share)
        except DoesNotFit as error:
            missing.append(error)
            return
        names = [pool.name for pool in self.problem.pools]
        assigner.offer([names.index(seed[id_].pool) for id_ in rooms.ids])
        for pool, name in enumerate(names):
            here = [index for index, id_ in enumerate(rooms.ids) if seed[id_].pool == name]
            rooms.tell(pool, sum(1 << index for index in here), [seed[rooms.ids[i]].offset for i in here])

    def _take(self, rooms: Rooms, names: Sequence[str]) -> None:
        """Put buffers where the assignment has them, at the offsets that showed that they fit."""
        assert self._chosen is not None and self._chosen.pools is not None
        masks = [0] * len(names)
        for index, pool in enumerate(self._chosen.pools):
            self.pools[rooms.ids[index]] = names[pool]
            masks[pool] |= 1 << index
        self._squeezes.clear()
        for pool, name in enumerate(names):
            offsets = rooms.offsets(pool, masks[pool])
            if masks[pool] and offsets is not None:
                self._squeezes[name] = self._squeeze(name, self.pools)
                self._squeezes[name].offer(offsets)

    def _fits(self, name: str, pools: Mapping[str, str]) -> bool:
        """True if the buffers that `pools` puts into pool `name` are placed below its limit. The plan is
        kept."""
        squeeze = self._squeeze(name, pools)
        budget = self._budget(_POOL_SHARE)
        pool = next(pool for pool in self.problem.pools if pool.name == name)
        is_placed = fits(squeeze, pool, budget)
        self.late = self.late or budget.late
        if is_placed:
            self._squeezes[name] = squeeze
        return is_placed

    def place(self, name: str) -> str:
        """Lowest peak of one pool; who found or proved it."""
        if name not in self._squeezes:
            self._squeezes[name] = self._squeeze(name, self.pools)
        squeeze = self._squeezes[name]
        solver = "greedy" if squeeze.runs == 0 else squeeze.name
        budget = self._budget()
        small = len(squeeze.graph) <= _SMALL
        later = budget.effort - budget.effort // (_SMALL_BOUND_SHARE if small else _BOUND_SHARE)
        budget.effort -= later
        before = squeeze.peak, squeeze.bound
        squeeze.fit(squeeze.bound, budget)
        is_asked = self.problem.limits.effort >= Limits().effort
        if small and not squeeze.proved:
            budget.effort = self._budget().effort * (_SMALL_EFFORT if is_asked else 1)
            squeeze.prove(budget)
        solver = solver if (squeeze.peak, squeeze.bound) == before else squeeze.name
        if not squeeze.proved and not budget.spent_time:
            solver = "hill_climb" if self._seed(squeeze) else solver
            budget.effort += later
            before = squeeze.peak, squeeze.bound
            squeeze.minimise(budget)
            solver = solver if (squeeze.peak, squeeze.bound) == before else squeeze.name
        for turn in range(_MORE_CLIMBS if is_asked and not small else 0):
            if not squeeze.proved and not budget.spent_time:
                solver = "hill_climb" if self._seed(squeeze, _MORE_CLIMB_SHARE, turn + 1) else solver
        if not squeeze.proved and not budget.spent_time:
            solver = "cp-sat" if self._ask_cpsat(squeeze) else solver
        self.late = self.late or budget.late
        return solver

    def _seed(self, squeeze: Squeeze, share: int = _CLIMB_SHARE, turn: int = 0) -> bool:
        """True if the hill climb, with the seed plus `turn`, has a better plan of a pool than all before."""
        ids = frozenset(squeeze.graph.ids)
        alone = replace(
            self.problem,
            buffers=tuple(
                replace(b, pool_candidates=(self.pools[b.id],)) for b in self.problem.buffers if b.id in ids
            ),
            conflicts=tuple(c for c in self.problem.conflicts if c.first in ids and c.second in ids),
        )
        try:
            seed = self._climb(alone, share, turn)
        except DoesNotFit:
            return False
        return squeeze.offer([seed[id_].offset for id_ in squeeze.graph.ids])

    def _ask_cpsat(self, squeeze: Squeeze) -> bool:
        """True if CP-SAT gave a better plan or closed the gap."""
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

    def _climb(self, problem: Problem, share: int, turn: int = 0) -> Mapping[str, Placement]:
        """The hill climb's plan, with the problem's seed plus `turn`. Raises `DoesNotFit` over a limit."""
        effort, seed = self._effort() // share, problem.limits.seed + turn
        limits = replace(problem.limits, effort=effort, seed=seed, deadline_seconds=self._left())
        plan = hill_climb(replace(problem, limits=limits))
        self.late = self.late or not plan.reproducible
        return plan.placements

    def _left(self) -> float | None:
        """Seconds to the deadline."""
        return None if self._deadline is None else max(self._deadline - time.monotonic(), 0.0)

    def _squeeze(self, name: str, pools: Mapping[str, str]) -> Squeeze:
        held = {id_: pool for id_, pool in pools.items() if pool == name}
        bound = lower_bounds(self.problem, held)[name]
        return Squeeze(graph(self.problem, held), bound, self.problem.limits.seed)

    def _effort(self) -> int:
        """Units of `limits.effort` that this many buffers get."""
        count = max(len(self.problem.buffers), _LARGE)
        return self.problem.limits.effort * _LARGE // count

    def _budget(self, share: int = 1) -> SolverBudget:
        effort = self._effort() * _EFFORT // share
        self._budgets.append(SolverBudget(effort=effort, deadline=self._deadline))
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
