"""What the planner spends on bare problems grows with their conflicts.

1,500 buffers of one lifetime, more than a million pairs, took 17 s: all pairs were gone through several times
for the bound alone.
"""

from codegen.plan.exact import optimal
from codegen.plan.problem import MemoryPlan, peak_bytes
from tests.plan.growth import calls, one_lifetime


def test_buffers_of_one_lifetime_cost_a_few_calls_a_pair() -> None:
    optimal(one_lifetime(4))
    problem = one_lifetime(200)
    plans: list[MemoryPlan] = []
    count = calls(lambda: plans.append(optimal(problem)))
    assert peak_bytes(problem, plans[0], "ram") == sum(buffer.size_bytes for buffer in problem.buffers)
    assert plans[0].proved_optimal
    assert count / len(problem.conflicts) < 32, count
