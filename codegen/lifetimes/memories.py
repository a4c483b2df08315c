"""Third checker: walks every value and every use of a planned program and says which lie in the wrong memory,
and every call that nothing runs.

It starts from devices, demands and placements alone. How devices were planned, and liveness, are unknown to
it: a demand that either of them lost on the way shows here.
"""

from collections.abc import Iterator, Mapping, Sequence

from codegen.ir import Board, Function, Var
from codegen.ir.ops import DEVICE_COPY
from codegen.ir.ops.inserted import FusedAttrs
from codegen.kernels.contract import MemoryDemand
from codegen.kernels.primfunc import PrimFunc
from codegen.program.program import Program

Pools = Mapping[str, str]
"""Value -> name of the pool it lies in; values of the caller are missing."""

_CALLERS = "the caller's memory"


def misplaced_program(program: Program) -> list[str]:
    """`misplaced` of a whole program."""
    where = {buffer: place.pool for buffer, place in program.memory.plan.placements.items()}
    values = {name: where[part.buffer] for name, part in program.memory.slices.items()}
    workspaces = {key: where[part.buffer] for key, part in program.memory.workspaces.items()}
    faults = misplaced(program.steps.function, program.steps.prim_funcs, values, workspaces)
    return [*faults, *_coreless(program.steps.prim_funcs, program.board)]


def _coreless(prim_funcs: Sequence[PrimFunc], board: Board) -> Iterator[str]:
    """Calls that neither a core of the board nor a device of their kernel's runs."""
    last_core = 0 if board.second_core is None else 1
    for step, prim in enumerate(prim_funcs):
        target, core = prim.let.var.device.target, prim.let.var.device.device_id
        known = target in (None, board.target.cpu) and (core or 0) <= last_core
        if prim.is_call and prim.device.is_free and not known:
            yield f"step {step} {prim.let.where}: no {target or 'core'} {core} of {board.name} runs it"


def misplaced(
    function: Function,
    prim_funcs: Sequence[PrimFunc],
    values: Pools,
    workspaces: Mapping[tuple[str, str], str],
) -> list[str]:
    """Faults of values in the wrong memory, in sentences; empty if there are none.

    `workspaces`: (PrimFunc, workspace) -> name of its pool.
    """
    faults: list[str] = []
    read = {result.name for result in function.results if isinstance(result, Var)}
    for var in function.variables():
        faults += _value(var, values)
    for step, prim in enumerate(prim_funcs):
        read |= {arg.name for arg in prim.let.call.args if isinstance(arg, Var)}
        faults += (f"step {step} {prim.let.where}: {text}" for text in _step(prim, values, workspaces))
    for prim in prim_funcs:
        if prim.let.call.op is DEVICE_COPY and prim.let.var.name not in read:
            faults.append(f"the copy {prim.let.var.name} is read by nobody")
    return faults


def lost(before: Sequence[PrimFunc], after: Sequence[PrimFunc]) -> list[str]:
    """Demands of steps `before` that their steps `after` do not have any more, in sentences."""
    left = {prim.name: set(prim.memory) for prim in after}
    return [
        f"{prim.name} lost its demand of {demand.what} in {' or '.join(demand.scopes)}"
        for prim in before
        for demand in prim.memory
        if demand not in left.get(prim.name, set())
    ]


def _value(var: Var, values: Pools) -> Iterator[str]:
    scope, pool = var.device.memory_scope, values.get(var.name, _CALLERS)
    if scope is not None and scope != pool:
        yield f"{var.name} lies in {pool}, its memory scope is {scope}"


def _step(prim: PrimFunc, values: Pools, workspaces: Mapping[tuple[str, str], str]) -> Iterator[str]:
    result = prim.let.var
    for demand in prim.memory:
        pool = _pool(prim, demand, values, workspaces)
        if pool not in demand.scopes:
            yield f"{demand.what} lies in {pool}, the kernel wants {' or '.join(demand.scopes)}"
    for arg in _same_bytes(prim):
        if values.get(arg.name) != values.get(result.name):
            yield f"{result.name} and {arg.name} share bytes, but lie in different memories"
    if prim.let.call.op is DEVICE_COPY:
        [source] = prim.let.call.args
        if not isinstance(source, Var) or values.get(source.name) == values.get(result.name):
            yield "copies within one memory"
    if isinstance(prim.let.call.attrs, FusedAttrs):
        for let in prim.let.call.attrs.function.body[:-1]:
            if not let.var.device.is_free:
                yield f"{let.var.name} has a device, but only its last rows lie anywhere"


def _pool(
    prim: PrimFunc, demand: MemoryDemand, values: Pools, workspaces: Mapping[tuple[str, str], str]
) -> str:
    """Name of the pool in which the demanded value or workspace lies, or words where it lies in none."""
    if demand.workspace is not None:
        return workspaces.get((prim.name, demand.workspace), "nowhere")
    var = prim.let.var if demand.argument is None else prim.let.call.args[demand.argument]
    return values.get(var.name, _CALLERS) if isinstance(var, Var) else "constants"


def _same_bytes(prim: PrimFunc) -> list[Var]:
    """Arguments in whose bytes the result lies, or that lie in the result's."""
    tied = None if prim.tied is None else prim.let.call.args[prim.tied[0]]
    return [*([tied] if isinstance(tied, Var) else []), *(arg for arg, _ in prim.joins)]
