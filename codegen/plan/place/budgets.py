"""Shortages and budgets of a plan over its limits.

A shortage names the pool, the bytes, the time and the buffers alive then. The smallest budget for which a
plan is known is what a user may ask for.
"""

from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

from codegen.plan.place.bounds import alive_at, lower_bound
from codegen.problem.problem import MemoryPlan, Pool, Problem, overfull, peak_bytes
from codegen.problem.shortage import DoesNotFit, Shortage

P = TypeVar("P")

Budgets = Mapping[str, int]
"""Pool -> limit in bytes."""

_MARGINS = (0, 64, 16, 4)
"""Budgets that are tried first: what a plan took, then more by one part in so many."""

_ROUNDS = 8
"""How often a budget is lowered to what the plan that it led to takes."""

_FINENESS = 64
"""Bisection ends when what is left to decide is less than one part in so many."""


def smallest_budgets(
    ask: Callable[[Budgets], P | None],
    taken: Callable[[P], Budgets],
    first: P,
    missed: Collection[Pool],
    *,
    bisect: bool,
) -> tuple[P, Budgets] | None:
    """Budgets of the pools of `missed`, and the plan that `ask` finds for exactly these; None if none works.

    `ask` searches for a plan within budgets, `taken` says what a plan takes of these pools, `first` was found
    without limits. `missed`: pools within whose limits no plan was found. `bisect`: other pools may take what
    one pool has no room for, so that its budget is bisected down to its limit, then lowered by single bytes.
    """
    best = _accepted(ask, taken(first))
    if best is None:
        return None
    best = _lowered(ask, taken, *best)
    if bisect and len(missed) == 1:
        (short,) = missed
        pool, low = short.name, short.limit_bytes
        high = best[1][pool]
        while high - low > max(high // _FINENESS, 1):
            middle = (low + high) // 2
            plan = ask({pool: middle})
            if plan is None:
                low = middle
            else:
                best = _lowered(ask, taken, plan, {pool: middle})
                high = best[1][pool]
        best = _pressed(ask, taken, *best, pool)
    return best


def _accepted(ask: Callable[[Budgets], P | None], taken_bytes: Budgets) -> tuple[P, Budgets] | None:
    """A search under a limit may miss what one without found: then a little more is asked for."""
    for margin in _MARGINS:
        budgets = {
            pool: bytes_ + (bytes_ // margin + 1 if margin else 0) for pool, bytes_ in taken_bytes.items()
        }
        plan = ask(budgets)
        if plan is not None:
            return plan, budgets
    return None


def _lowered(
    ask: Callable[[Budgets], P | None], taken: Callable[[P], Budgets], plan: P, budgets: Budgets
) -> tuple[P, Budgets]:
    """Budgets lowered to what the plan takes, as long as the search then finds a plan again."""
    for _ in range(_ROUNDS):
        lower = taken(plan)
        if lower == budgets:
            break
        again = ask(lower)
        if again is None:
            break
        plan, budgets = again, lower
    return plan, budgets


def _pressed(
    ask: Callable[[Budgets], P | None],
    taken: Callable[[P], Budgets],
    plan: P,
    budgets: Budgets,
    pool: str,
) -> tuple[P, Budgets]:
    """The budget of `pool` a byte lower, and what the plan then takes, as long as there is one."""
    for _ in range(_ROUNDS):
        again = ask({pool: budgets[pool] - 1})
        if again is None:
            break
        plan, budgets = _lowered(ask, taken, again, {pool: budgets[pool] - 1})
    return plan, budgets


def shortage(problem: Problem, plan: MemoryPlan) -> DoesNotFit:
    """The error for a plan that exceeds at least one pool's limit."""
    shortages: list[Shortage] = []
    for pool in overfull(problem, plan):
        here = frozenset(id_ for id_, place in plan.placements.items() if place.pool == pool.name)
        bound = lower_bound(problem, here)
        shortages.append(
            Shortage(
                pool=pool,
                needed_bytes=peak_bytes(problem, plan, pool.name),
                bound_bytes=bound.bytes,
                time=bound.time,
                alive=alive_at(problem, plan, pool.name, bound.time),
            )
        )
    return DoesNotFit(shortages)
