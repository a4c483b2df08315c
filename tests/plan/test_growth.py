"""What the planner spends on bare problems grows with their conflicts.

1,500 buffers of one lifetime, more than a million pairs, took 17 s: all pairs were gone through several times
for the bound alone.
"""

from dataclasses import replace

from codegen.plan.check.validate import violations
from codegen.plan.place.exact import optimal
from codegen.program.problem import Limits, MemoryPlan, peak_bytes
from tests.plan.growth import calls, one_lifetime, staircase
from tests.plan.place.exact.instances import needs_c


def test_buffers_of_one_lifetime_cost_a_few_calls_a_pair() -> None:
    optimal(one_lifetime(4))
    problem = one_lifetime(200)
    plans: list[MemoryPlan] = []
    count = calls(lambda: plans.append(optimal(problem)))
    assert peak_bytes(problem, plans[0], "ram") == sum(buffer.size_bytes for buffer in problem.buffers)
    assert plans[0].proved_optimal
    assert count / len(problem.conflicts) < 16, count


@needs_c
def test_large_problems_that_miss_the_bound_end_with_an_effort_of_their_size() -> None:
    """3,000 buffers in a staircase took 46 s: a unit of work costs more there, and as many were spent."""
    problem = replace(staircase(1000), limits=Limits(effort=1000))
    plan = optimal(problem)
    assert violations(problem, plan) == []
    assert plan.reproducible
    assert peak_bytes(problem, plan, "ram") <= 1.02 * plan.lower_bounds["ram"]
    assert plan.nodes < 180_000
