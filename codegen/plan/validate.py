"""First checker: a problem and its placements. Shares no code with any planner."""

from collections.abc import Iterator

from codegen.problem.problem import Buffer, MemoryPlan, Placement, Problem


def violations(problem: Problem, plan: MemoryPlan) -> list[str]:
    """Mistakes of `plan`, in sentences; empty if it holds.

    Every buffer lies once in one of its candidate pools, aligned, inside the pool's limit; every conflict
    holds; and the problem lists a conflict for any two buffers that hold bytes at the same time.
    """
    ids = {buffer.id for buffer in problem.buffers}
    faults = [f"{id_}: placed, but not a buffer of the problem" for id_ in plan.placements if id_ not in ids]
    for buffer in problem.buffers:
        if buffer.id not in plan.placements:
            faults.append(f"{buffer.id}: not placed")
        else:
            faults.extend(_misplaced(problem, buffer, plan.placements[buffer.id]))
    faults.extend(_broken_conflicts(problem, plan))
    faults.extend(_missing_conflicts(problem))
    return faults


def _misplaced(problem: Problem, buffer: Buffer, place: Placement) -> Iterator[str]:
    if place.pool not in buffer.pool_candidates:
        yield f"{buffer.id}: in pool {place.pool}, allowed are {', '.join(buffer.pool_candidates)}"
    if place.offset < 0:
        yield f"{buffer.id}: offset {place.offset} is negative"
    if place.offset % buffer.alignment:
        yield f"{buffer.id}: offset {place.offset} is not a multiple of {buffer.alignment}"
    for pool in problem.pools:
        end = place.offset + buffer.size_bytes
        if pool.name == place.pool and end > pool.limit_bytes:
            yield f"{buffer.id}: ends at byte {end} of pool {pool.name}, the limit is {pool.limit_bytes}"


def _broken_conflicts(problem: Problem, plan: MemoryPlan) -> Iterator[str]:
    for conflict in problem.conflicts:
        first = plan.placements.get(conflict.first)
        second = plan.placements.get(conflict.second)
        if first is None or second is None or first.pool != second.pool:
            continue
        below = first.offset + conflict.first_below <= second.offset
        above = second.offset + conflict.second_below <= first.offset
        if not below and not above:
            yield (
                f"{conflict.first} at {first.offset} and {conflict.second} at {second.offset} "
                f"of pool {first.pool}: neither {conflict.first_below} bytes below "
                f"nor {conflict.second_below} bytes above"
            )


def _missing_conflicts(problem: Problem) -> Iterator[str]:
    listed = {frozenset((conflict.first, conflict.second)) for conflict in problem.conflicts}
    holding = sorted((b for b in problem.buffers if b.size_bytes > 0), key=lambda b: b.start)
    for position, early in enumerate(holding):
        for late in holding[position + 1 :]:
            if late.start >= early.stop:
                break
            together = late.start < late.stop and early.start < early.stop
            if together and frozenset((early.id, late.id)) not in listed:
                pair = f"{early.id} and {late.id}"
                yield f"problem defect: {pair} are alive at {late.start}, yet not in conflict"
