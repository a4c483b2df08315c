"""Copies between memories: what an inference moves from where to where, for report.json and for people."""

from collections.abc import Iterator
from dataclasses import dataclass

from codegen.ir import Var
from codegen.ir.ops import DEVICE_COPY
from codegen.program.program import Program


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
    for step, prim in enumerate(program.prim_funcs):
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
    part = program.slices.get(value)
    return None if part is None else program.plan.placements[part.buffer].pool


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
