"""Values that the calls of steps name."""

from collections.abc import Iterator, Mapping, Sequence

from codegen.ir import Var
from codegen.kernels.call import ArrayArg, ResultArg, ValueArg
from codegen.kernels.primfunc import PrimFunc
from codegen.program.program import Program, core_of


def may_fail(prim: PrimFunc) -> bool:
    """True if a step leaves a status: it calls the application's reader, or the NPU."""
    return calls_reader(prim) or bool(prim.inlets)


def calls_reader(prim: PrimFunc) -> bool:
    """True if a step calls the application's reader."""
    return prim.block is not None and prim.block.streamed is not None


def used_values(program: Program) -> Iterator[str]:
    """Variables that a call on core 0 names: the others have functions of their own."""
    for prim in (prim for prim in program.steps.prim_funcs if core_of(prim) == 0):
        yield from (var.name for var in named_values(prim))


def silent_values(program: Program) -> Mapping[int, Sequence[Var]]:
    """By step on core 0: results of steps without code that it is the first to name."""
    silent = {program.steps.prim_funcs[step].let.var.name for step in program.silent_steps}
    first_named: dict[int, list[Var]] = {}
    for step, prim in enumerate(program.steps.prim_funcs):
        for var in named_values(prim):
            if var.name in silent and core_of(prim) == 0:
                silent.remove(var.name)
                first_named.setdefault(step, []).append(var)
    return first_named


def named_values(prim: PrimFunc) -> Sequence[Var]:
    """Values that a call names: arguments, then its result; each once."""
    values: dict[str, Var] = {}
    arrays = [item for arg in prim.call_args if isinstance(arg, ArrayArg) for item in arg.items]
    for item in (*prim.call_args, *arrays):
        value = prim.let.call.args[item.index] if isinstance(item, ValueArg) else None
        if isinstance(value, Var):
            values[value.name] = value
    if ResultArg() in prim.call_args:
        values[prim.let.var.name] = prim.let.var
    return tuple(values.values())
