"""Buffers of a plan for report.json: where each lies, when, what it lies over, what it rests on."""

from collections.abc import Iterator, Mapping, Sequence

from codegen.problem.problem import Buffer, MemoryPlan, Problem, Times, steps_alive
from codegen.program.program import Program


def program_buffers(program: Program) -> list[dict[str, object]]:
    """`plan.buffers` of a program."""
    memory = program.memory
    names: dict[str, list[str]] = {}
    for value, part in memory.slices.items():
        names.setdefault(part.buffer, []).append(value)
    for (prim, space), part in memory.workspaces.items():
        names.setdefault(part.buffer, []).append(f"{prim}.{space}")
    return buffers_report(memory.problem, memory.plan, names, program.steps.times)


def buffers_report(
    problem: Problem,
    plan: MemoryPlan,
    names: Mapping[str, Sequence[str]] | None = None,
    times: Times = (),
) -> list[dict[str, object]]:
    """Every buffer that has bytes, in the problem's order. `names`: what lies in it, by buffer; `times`: the
    interval of each step, none of a bare problem."""
    holding = [buffer for buffer in problem.buffers if buffer.size_bytes and buffer.start < buffer.stop]
    under, below = _under(holding, plan), _below(problem, plan)
    return [
        {
            "id": buffer.id,
            "values": list((names or {}).get(buffer.id, ())),
            "kind": buffer.kind.value,
            "pool": plan.placements[buffer.id].pool,
            "offset": plan.placements[buffer.id].offset,
            "size_bytes": buffer.size_bytes,
            "alignment_bytes": buffer.alignment,
            "start": buffer.start,
            "stop": buffer.stop,
            **alive_steps,
            "over": under.get(buffer.id, []),
            "rests_on": sorted(below.get(buffer.id, [])),
        }
        for buffer, alive_steps in zip(holding, _alive_steps(holding, times), strict=True)
    ]


def _alive_steps(buffers: Sequence[Buffer], times: Times) -> list[dict[str, int | None]]:
    """First and last step during which each buffer is alive."""
    ends: list[dict[str, int | None]] = []
    for buffer in buffers:
        alive = steps_alive(buffer, times)
        first, last = (alive[0], alive[-1]) if alive else (None, None)
        ends.append({"first_step": first, "last_step": last})
    return ends


def _under(buffers: Sequence[Buffer], plan: MemoryPlan) -> dict[str, list[dict[str, object]]]:
    """Buffers that each buffer is written over while they are alive, with the number of shared bytes."""
    under: dict[str, list[dict[str, object]]] = {}
    for late, early in _together(buffers):
        mine, other = plan.placements[late.id], plan.placements[early.id]
        if mine.pool == other.pool:
            stop = min(mine.offset + late.size_bytes, other.offset + early.size_bytes)
            shared = stop - max(mine.offset, other.offset)
            if shared > 0:
                under.setdefault(late.id, []).append({"id": early.id, "bytes": shared})
    return under


def _together(buffers: Sequence[Buffer]) -> Iterator[tuple[Buffer, Buffer]]:
    """Pairs that are alive at one time, the later born first."""
    alive: list[Buffer] = []
    for late in sorted(buffers, key=lambda buffer: buffer.start):
        alive = [buffer for buffer in alive if buffer.stop > late.start]
        yield from ((late, early) for early in alive)
        alive.append(late)


def _below(problem: Problem, plan: MemoryPlan) -> dict[str, set[str]]:
    """Buffer -> those that it cannot lie lower for: it begins where their bytes end that it has to leave."""
    buffers = {buffer.id: buffer for buffer in problem.buffers}
    below: dict[str, set[str]] = {}
    for conflict in problem.conflicts:
        first, second = plan.placements[conflict.first], plan.placements[conflict.second]
        if first.pool != second.pool:
            continue
        pairs = (
            (conflict.first, first.offset + conflict.first_below, conflict.second, second.offset),
            (conflict.second, second.offset + conflict.second_below, conflict.first, first.offset),
        )
        for lower, end, upper, offset in pairs:
            alignment = buffers[upper].alignment
            if -(-end // alignment) * alignment == offset > 0 and buffers[lower].size_bytes:
                below.setdefault(upper, set()).add(lower)
    return below
