"""Sections of a report: copies between memories, what the reduction took out, the second core."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from codegen.errors import counted
from codegen.ir import Var
from codegen.ir.ops import DEVICE_COPY
from codegen.passes import Reduction
from codegen.program.program import Program, second_core_steps


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryCopy:
    """Step `step`, a DEVICE_COPY of `size_bytes` of `value`. None as a pool: the caller's memory."""

    step: int
    value: str
    source: str | None
    target: str | None
    size_bytes: int


def memory_copies(program: Program) -> tuple[MemoryCopy, ...]:
    """Every copy of one inference, in order."""
    return tuple(_copies(program))


def _copies(program: Program) -> Iterator[MemoryCopy]:
    for step, prim in enumerate(program.steps.prim_funcs):
        source = prim.let.call.args[0] if prim.let.call.op is DEVICE_COPY else None
        if isinstance(source, Var):
            yield MemoryCopy(
                step=step,
                value=source.name,
                source=_pool(program, source.name),
                target=_pool(program, prim.let.var.name),
                size_bytes=source.type.size_bytes,
            )


def _pool(program: Program, value: str) -> str | None:
    part = program.memory.slices.get(value)
    return None if part is None else program.memory.plan.placements[part.buffer].pool


def copies_report(program: Program) -> dict[str, object]:
    """The `device_copies` object of report.json."""
    copies = memory_copies(program)
    return {
        "total_bytes": sum(copy.size_bytes for copy in copies),
        "steps": [
            {
                "step": copy.step,
                "value": copy.value,
                "from": copy.source,
                "to": copy.target,
                "bytes": copy.size_bytes,
            }
            for copy in copies
        ],
    }


def copies_line(program: Program) -> str | None:
    """One line about what is copied; None if nothing is."""
    copies = memory_copies(program)
    if not copies:
        return None
    listed = ", ".join(
        f"{copy.value} {copy.source or 'caller'} to {copy.target or 'caller'} {copy.size_bytes:,}"
        for copy in copies
    )
    total = sum(copy.size_bytes for copy in copies)
    return f"copies    {total:,} bytes an inference between memories: {listed}"


def reduction_report(reduction: Reduction | None) -> dict[str, object] | None:
    """The `reduction` object of report.json; None if it was turned off."""
    if reduction is None:
        return None
    return {
        "macs_before": reduction.before.macs,
        "macs_after": reduction.after.macs,
        "weight_bytes_before": reduction.before.weight_bytes,
        "weight_bytes_after": reduction.after.weight_bytes,
        "steps": [asdict(removal) for removal in reduction.removed],
    }


def reduction_line(reduction: Reduction | None) -> str | None:
    """One line about what is left; None if nothing was taken out."""
    if reduction is None or not reduction.removed:
        return None
    lost = sum(removal.channels_before - removal.channels_after for removal in reduction.removed)
    return (
        f"reduced   to {reduction.after.macs:,} of {reduction.before.macs:,} multiply-accumulates, "
        f"{reduction.after.weight_bytes:,} of {reduction.before.weight_bytes:,} weight bytes "
        f"({lost:,} channels constant or unread)"
    )


def core1_line(program: Program) -> str | None:
    """One line naming the steps that core 1 runs, by the numbers and names of the memory map; None if it runs
    none."""
    steps = second_core_steps(program)
    if not steps:
        return None
    named = ", ".join(f"{step} {program.steps.prim_funcs[step].name}" for step in steps)
    return f"core 1    {len(steps)} of {counted(len(program.steps.prim_funcs), 'step')}: {named}"
