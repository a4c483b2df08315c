"""Checks a whole module: every call against its operator's rule (order is checked on construction).

Of open sizes at every combination that is looked at: so each operator's rule holds for the formulas as well.
"""

from collections.abc import Iterator

from codegen.ir.formulas import found_in, said
from codegen.ir.function import Function, Module
from codegen.ir.ranged import every_size


def problems(module: Module) -> list[str]:
    """One sentence per broken rule, naming function and step; empty if the module is sound."""
    faults: list[str] = []
    for function in module.functions.values():
        for values, member in every_size(function):
            at = "".join(f" at {name}={value}" for name, value in values.items())
            faults += (f"{fault}{at}" for fault in _broken_rules(member))
            if faults:
                break
    return faults


def _broken_rules(function: Function) -> Iterator[str]:
    for step, let in enumerate(function.body):
        where = f"{function.name} step {step} {let.where}"
        if not isinstance(let.call.attrs, let.call.op.attrs_type):
            yield f"{where}: attributes are {type(let.call.attrs).__name__}"
            continue
        loose = next(found_in((let.var.type.shape, let.call.attrs)), None)
        if loose is not None:
            yield f"{where}: {said(loose)} in a function without open sizes"
            continue
        try:
            let.call.op.check(let.call.attrs, let.call.types, let.var.type)
        except ValueError as error:
            yield f"{where}: {error}"


def verify(module: Module) -> Module:
    """Return `module` unchanged; raise ValueError listing every problem (a bug in a pass or importer)."""
    faults = problems(module)
    if faults:
        raise ValueError("module is not well formed:\n" + "\n".join(faults))
    return module
