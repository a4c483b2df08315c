"""Arguments of calls: which values they name, arrays of addresses in front of them."""

from collections.abc import Iterator

from codegen.emit.text import COLUMNS
from codegen.ir import Var
from codegen.kernels.primfunc import ArrayArg, PrimFunc, ResultArg, ValueArg
from codegen.plan.cores import core_of
from codegen.plan.program import Program


def address_array(name: str, addresses: list[str]) -> str:
    """Declaration of a local array of addresses."""
    line = f"    const void *const {name}[] = {{{', '.join(addresses)}}};"
    if len(line) <= COLUMNS:
        return line
    rows = [f"        {address}," for address in addresses]
    return "\n".join(
        [
            "    /* clang-format off */",
            f"    const void *const {name}[] = {{",
            *rows,
            "    };",
            "    /* clang-format on */",
        ]
    )


def used(program: Program) -> Iterator[str]:
    """Variables that a call on core 0 names: the others have functions of their own."""
    for prim in (prim for prim in program.prim_funcs if core_of(prim) == 0):
        if ResultArg() in prim.call_args:
            yield prim.let.var.name
        yield from (var.name for var in named(prim))


def named(prim: PrimFunc) -> Iterator[Var]:
    """Arguments that a call names."""
    arrays = [item for arg in prim.call_args if isinstance(arg, ArrayArg) for item in arg.items]
    for item in (*prim.call_args, *arrays):
        value = prim.let.call.args[item.index] if isinstance(item, ValueArg) else None
        if isinstance(value, Var):
            yield value
