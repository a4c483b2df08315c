"""What a plan over the limits lacks: which pool, how many bytes, when, and what lives there."""

from codegen.plan.place.bounds import alive_at, lower_bound
from codegen.program.problem import MemoryPlan, Problem, peak_bytes
from codegen.program.shortage import DoesNotFit, Shortage


def shortage(problem: Problem, plan: MemoryPlan) -> DoesNotFit:
    """The error for a plan that exceeds at least one pool's limit (ValueError if none is)."""
    found: list[Shortage] = []
    for pool in problem.pools:
        needed = peak_bytes(problem, plan, pool.name)
        if needed > pool.limit_bytes:
            here = frozenset(id_ for id_, place in plan.placements.items() if place.pool == pool.name)
            bound = lower_bound(problem, here)
            found.append(
                Shortage(
                    pool=pool.name,
                    limit_bytes=pool.limit_bytes,
                    room_bytes=pool.room_bytes,
                    needed_bytes=needed,
                    bound_bytes=bound.bytes,
                    time=bound.time,
                    alive=alive_at(problem, plan, pool.name, bound.time),
                )
            )
    return DoesNotFit(found)
