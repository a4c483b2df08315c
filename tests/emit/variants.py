"""Variants of a program: steps on a second core, memory of the caller's, one step at a time."""

from dataclasses import replace

from codegen.ir import Let, Var, VirtualDevice
from codegen.program.interface import ConstantsMode, EntryMode, Interface, PoolOwner
from codegen.program.program import Program


def on_core_1(program: Program, *names: str) -> Program:
    """`program` with the steps called `names` on the second core."""

    def placed(step: Let) -> Let:
        args = tuple(found.get(arg.name, arg) if isinstance(arg, Var) else arg for arg in step.call.args)
        return replace(step, var=found.get(step.var.name, step.var), call=replace(step.call, args=args))

    body = program.function.body
    device = VirtualDevice(device_id=1)
    found = {each.var.name: replace(each.var, device=device) for each in body if each.var.name in names}
    results = tuple(found.get(each.name, each) for each in program.function.results if isinstance(each, Var))
    return replace(
        program,
        function=replace(program.function, body=tuple(map(placed, body)), results=results),
        prim_funcs=tuple(replace(prim, let=placed(prim.let)) for prim in program.prim_funcs),
    )


def owned(program: Program, **settings: EntryMode | PoolOwner | ConstantsMode) -> Program:
    """With pools and constants of the caller's, unless `settings` say otherwise."""
    interface = Interface(pools=PoolOwner.CALLER, constants=ConstantsMode.EXTERNAL)
    return replace(program, interface=replace(interface, **settings))


def stepwise(program: Program) -> Program:
    """With a function that runs one step."""
    return replace(program, interface=Interface(entry=EntryMode.STEPS))
