"""The best plan of steps whose buffers can be laid out in several ways: with fewer or more hollows filled."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from codegen.lifetimes.liveness import Liveness
from codegen.plan.place.access import access_cost
from codegen.plan.place.planners import Planner
from codegen.problem.problem import MemoryPlan, Problem, peak_bytes
from codegen.problem.shortage import DoesNotFit

Planned = tuple[Liveness, Problem, MemoryPlan]


def lowest_plan(
    lives: Sequence[Liveness],
    problem_of: Callable[[Liveness], Problem],
    planner: Planner,
    steps: Sequence[str],
) -> Planned:
    """The plan of least access cost, then of the lowest peak.

    Raises DoesNotFit, the peak named by its step of `steps`, where none fits.
    """
    answers = [_planned(live, problem_of(live), planner, steps) for live in lives]
    plans = [answer for answer in answers if not isinstance(answer, DoesNotFit)]
    for answer in answers:
        if isinstance(answer, DoesNotFit) and not plans:
            raise answer
    return min(plans, key=lambda planned: _cost_and_peak(planned[1], planned[2]))


def _planned(
    live: Liveness, problem: Problem, planner: Planner, steps: Sequence[str]
) -> Planned | DoesNotFit:
    started = time.monotonic()
    try:
        plan = planner(problem)
    except DoesNotFit as error:
        return error.with_steps(live.times, steps)
    return live, problem, replace(plan, seconds=time.monotonic() - started)


def _cost_and_peak(problem: Problem, plan: MemoryPlan) -> tuple[int, int]:
    return access_cost(problem, plan), sum(peak_bytes(problem, plan, pool.name) for pool in problem.pools)
