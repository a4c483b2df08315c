"""Arguments of calls: which values they name, arrays of addresses in front of them."""

from collections.abc import Iterator, Mapping, Sequence

from codegen.emit.c.c_text import COLUMNS
from codegen.emit.c.environment import statement
from codegen.ir import Var
from codegen.kernels.call import ArrayArg, ResultArg, ValueArg
from codegen.kernels.primfunc import PrimFunc
from codegen.program.program import Program, core_of

CALL = "c/steps/call.c.j2"
"""Template of the statements of one call."""


def address_array(name: str, addresses: list[str]) -> str:
    """Declaration of a local array of addresses."""
    return statement(CALL, "addresses", name, addresses, COLUMNS)


def used(program: Program) -> Iterator[str]:
    """Variables that a call on core 0 names: the others have functions of their own."""
    for prim in (prim for prim in program.prim_funcs if core_of(prim) == 0):
        yield from (var.name for var in named(prim))


def silent_values(program: Program) -> Mapping[int, Sequence[Var]]:
    """By step on core 0: results of steps without code that it is the first to name."""
    silent = {program.prim_funcs[step].let.var.name for step in program.silent_steps}
    found: dict[int, list[Var]] = {}
    for step, prim in enumerate(program.prim_funcs):
        for var in named(prim):
            if var.name in silent and core_of(prim) == 0:
                silent.remove(var.name)
                found.setdefault(step, []).append(var)
    return found


def named(prim: PrimFunc) -> Sequence[Var]:
    """Values that a call names: arguments, then its result; each once."""
    found: dict[str, Var] = {}
    arrays = [item for arg in prim.call_args if isinstance(arg, ArrayArg) for item in arg.items]
    for item in (*prim.call_args, *arrays):
        value = prim.let.call.args[item.index] if isinstance(item, ValueArg) else None
        if isinstance(value, Var):
            found[value.name] = value
    if ResultArg() in prim.call_args:
        found[prim.let.var.name] = prim.let.var
    return tuple(found.values())
