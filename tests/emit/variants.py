"""Variants of a program: other steps, another plan, memory of the caller's, one step at a time."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from codegen.ir import Let, Var, VirtualDevice
from codegen.problem.problem import Placement
from codegen.program.interface import ConstantsMode, EntryMode, Interface, PoolOwner
from codegen.program.program import Program


def changed(
    program: Program, part: Literal["steps", "memory", "constants", "signature"], **changes: Any
) -> Program:
    """`program` with other fields of `part`."""
    return replace(program, **{part: replace(getattr(program, part), **changes)})


def replanned(program: Program, **changes: Any) -> Program:
    """`program` with other fields of its plan."""
    return changed(program, "memory", plan=replace(program.memory.plan, **changes))


def moved(program: Program, places: Mapping[str, Placement]) -> Program:
    """`program` with these buffers elsewhere."""
    return replanned(program, placements={**program.memory.plan.placements, **places})


def resized(program: Program, **changes: Any) -> Program:
    """`program` with other fields of its problem."""
    return changed(program, "memory", problem=replace(program.memory.problem, **changes))


def on_core_1(program: Program, *names: str) -> Program:
    """`program` with the steps called `names` on the second core."""

    def placed(step: Let) -> Let:
        args = tuple(found.get(arg.name, arg) if isinstance(arg, Var) else arg for arg in step.call.args)
        return replace(step, var=found.get(step.var.name, step.var), call=replace(step.call, args=args))

    body = program.steps.function.body
    device = VirtualDevice(device_id=1)
    found = {each.var.name: replace(each.var, device=device) for each in body if each.var.name in names}
    results = tuple(
        found.get(each.name, each) for each in program.steps.function.results if isinstance(each, Var)
    )
    return changed(
        program,
        "steps",
        function=replace(program.steps.function, body=tuple(map(placed, body)), results=results),
        prim_funcs=tuple(replace(prim, let=placed(prim.let)) for prim in program.steps.prim_funcs),
    )


def owned(program: Program, **settings: EntryMode | PoolOwner | ConstantsMode) -> Program:
    """With pools and constants of the caller's, unless `settings` say otherwise."""
    interface = Interface(pools=PoolOwner.CALLER, constants=ConstantsMode.EXTERNAL)
    return replace(program, interface=replace(interface, **settings))


def stepwise(program: Program) -> Program:
    """With a function that runs one step."""
    return replace(program, interface=Interface(entry=EntryMode.STEPS))
