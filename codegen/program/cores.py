"""Which core of the board runs a step."""

from collections.abc import Iterable

from codegen.kernels.primfunc import PrimFunc
from codegen.program.program import Program


def core_of(prim: PrimFunc) -> int:
    """The core that calls the kernel of a step: that of its result's device id, 0 where it has none or the
    kernel drives a device itself."""
    placed = prim.let.var.device.device_id if prim.is_call and prim.device.is_free else None
    return placed or 0


def second_core_steps(program: Program) -> tuple[int, ...]:
    """Steps that core 1 runs, in order."""
    return tuple(step for step, prim in enumerate(program.prim_funcs) if core_of(prim))


def uses_second_core(programs: Iterable[Program]) -> bool:
    """Whether any step of any program runs on core 1."""
    return any(second_core_steps(program) for program in programs)
