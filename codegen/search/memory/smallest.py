"""The least that a model can do with: kernels of fewest bytes, blocks that need least, some steps twice.

A limit that nothing else keeps is kept so, E401 names what this takes, and the curve ends there: one search,
in which neither `--optimize` nor the size of the limit that was missed has a say.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from codegen.ir import Var
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.place.budgets import Budgets, shortage, smallest_budgets
from codegen.problem.problem import NO_LIMIT_BYTES, Pool, has_room, overfull, peak_bytes
from codegen.problem.shortage import DoesNotFit
from codegen.search.memory.attempt import Attempt, Planning
from codegen.search.memory.candidates import History, PlanCandidate, planned_as, points, within

_ASKED_STEPS = 1200
"""Steps of all functions that are planned to find the smallest budgets, which ends that search."""
_FEWEST_ASKED = 8
"""Budgets that are tried however large the function is."""


def first_within(planning: Planning) -> Attempt | DoesNotFit:
    """The first plan within the limits, of candidates in the order of their extra work; or the failure that
    came nearest to them."""
    history = History()
    for candidate in within(planning):
        if history.add(candidate):
            return history.found[-1]
    return history.nearest()


class SmallestPlan:
    """Plans with the kernels that need the fewest bytes."""

    def __init__(self, lean: Planning, fast: Planning, chosen: Sequence[PrimFunc]) -> None:
        """`lean`: with these kernels, within the limits. `fast`: with those of fewest instructions, which may
        need less where what they work in has room in another pool, or overlaps more. `chosen`: kernels that
        steps get back where they need no more bytes."""
        self._plannings, self._chosen = (lean, fast), tuple(chosen)
        self._pools = lean.pools

    @property
    def candidates(self) -> tuple[PlanCandidate, ...]:
        """All among which the least is found."""
        return tuple(candidate for planning in self._plannings for candidate in points(planning))

    def fitting(self) -> Attempt:
        """A plan within the limits, of those found the one of least extra work.

        Raises DoesNotFit: the least plan found held against the limits, and the smallest ones for which there
        is a plan.
        """
        found = self._first({}) if not self._is_hopeless else None
        if isinstance(found, Attempt):
            return self.finished(found)
        short = {pool.name for pool in self._pools} if found is None else _names(found)
        attempt, lifted = self._best_of(self.candidates, short)
        if _is_over(attempt):
            attempt, budgets = self._smallest_budgets(attempt, lifted)
            if _is_over(attempt):
                steps = [prim.let.where for prim in attempt.prim_funcs]
                told = shortage(attempt.problem, attempt.plan).with_steps(attempt.live.times, steps)
                function = attempt.function
                whole = {
                    "outputs": {result.name for result in function.results if isinstance(result, Var)},
                    "inputs": {param.name for param in function.params},
                }
                raise told.with_whole(attempt.problem, whole).with_budgets(budgets)
        return attempt

    def best_of(self, candidates: Iterable[PlanCandidate]) -> Attempt | None:
        """The least plan of `candidates`; None if it is not within the limits."""
        attempt, _ = self._best_of(candidates, ())
        return None if _is_over(attempt) else attempt

    def finished(self, attempt: Attempt) -> Attempt:
        """`attempt`, which is within the limits, with the chosen kernels where they need no more bytes."""
        return self._finished({}, attempt)

    @property
    def _is_hopeless(self) -> bool:
        """Whether it is known without a search that nothing fits, and which pool is short: there is one."""
        return len(self._pools) == 1 and all(each.is_hopeless for each in self._plannings)

    def _first(self, limits: Budgets) -> Attempt | DoesNotFit:
        """A plan within limits that differ by pool, or the failure with the leanest kernels."""
        failures: list[DoesNotFit] = []
        for planning in self._plannings:
            found = first_within(planning.limited(limits))
            if isinstance(found, Attempt):
                return found
            failures.append(found)
        return failures[0]

    def _finished(self, limits: Budgets, attempt: Attempt) -> Attempt:
        planning = self._plannings[0].limited(limits)
        return planning.finished(planning.restored(planning.finished(attempt), self._chosen))

    def _best_of(
        self, candidates: Iterable[PlanCandidate], short: Collection[str]
    ) -> tuple[Attempt, frozenset[str]]:
        """The least plan of `candidates` without the limits of `short`, nor those of other pools without
        which there is no plan; and the pools whose limits were lifted."""
        candidates, lifted = tuple(candidates), frozenset(short)
        while True:
            limits = dict.fromkeys(lifted, NO_LIMIT_BYTES)
            history = _lowest_of(candidates, limits)
            if history.found:
                lowest = _lowest(self._plannings[0].limited(limits), history.found)
                return _within(self._finished(limits, lowest), self._pools), lifted
            lifted |= _names(history.nearest())

    def _smallest_budgets(
        self, attempt: Attempt, lifted: Collection[str]
    ) -> tuple[Attempt, Mapping[str, int]]:
        """The smallest budgets of the `lifted` pools together that a plan is found for, and that plan; not
        `attempt` where other pools have room for some of its bytes. Of a large function fewer budgets
        are tried."""
        left = max(_FEWEST_ASKED, _ASKED_STEPS // len(attempt.prim_funcs))

        def ask(budgets: Budgets) -> Attempt | None:
            nonlocal left
            left -= 1
            if left < 0 or self._plannings[0].choices.clock.late():
                return None
            found = self._first(budgets)
            return _within(found, self._pools) if isinstance(found, Attempt) else None

        def taken(attempt: Attempt) -> Budgets:
            return {name: peak_bytes(attempt.problem, attempt.plan, name) for name in lifted}

        others = [pool for pool in self._pools if pool.name not in lifted]
        if not has_room(others, 1) and len(lifted) == 1:
            return attempt, taken(attempt)
        short = [pool for pool in self._pools if pool.name in lifted]
        return smallest_budgets(ask, taken, attempt, short, bisect=True) or (attempt, {})


def _lowest_of(candidates: Iterable[PlanCandidate], limits: Mapping[str, int]) -> History:
    """What of `candidates` may be the lowest within these limits."""
    history = History(lowest=True)
    for candidate in planned_as(candidates, lambda each: each.limited(limits)):
        history.add(candidate)
    return history


def _lowest(planning: Planning, found: Sequence[Attempt]) -> Attempt:
    """The lowest of `found`, each placed with all effort if that can make it the lowest."""
    best = min(found, key=lambda each: (each.peak_bytes, each.macs, each.block_steps))
    for each in found:
        if sum(each.plan.lower_bounds.values()) < best.peak_bytes:
            other = planning.finished(each)
            best = other if other.peak_bytes < best.peak_bytes else best
    return best


def _within(attempt: Attempt, pools: tuple[Pool, ...]) -> Attempt:
    """`attempt` in a problem with the limits of `pools`."""
    return replace(attempt, problem=replace(attempt.problem, pools=pools))


def _is_over(attempt: Attempt) -> bool:
    """Whether a pool has more bytes than its limit."""
    return bool(overfull(attempt.problem, attempt.plan))


def _names(missed: DoesNotFit) -> frozenset[str]:
    """Pools that are short."""
    return frozenset(item.pool.name for item in missed.shortages)
