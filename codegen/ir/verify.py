"""Checks a whole module: every call against its operator's rule (order is checked on construction)."""

from codegen.ir.function import Module


def problems(module: Module) -> list[str]:
    """One sentence per broken rule, naming function and step; empty if the module is sound."""
    found: list[str] = []
    for function in module.functions.values():
        for step, let in enumerate(function.body):
            if not isinstance(let.call.attrs, let.call.op.attrs_type):
                kind = type(let.call.attrs).__name__
                found.append(f"{function.name} step {step} {let.where}: attributes are {kind}")
                continue
            try:
                let.call.op.check(let.call.attrs, let.call.types, let.var.type)
            except ValueError as error:
                found.append(f"{function.name} step {step} {let.where}: {error}")
    return found


def verify(module: Module) -> Module:
    """Return `module` unchanged; raise ValueError listing every problem (a bug in a pass or importer)."""
    found = problems(module)
    if found:
        raise ValueError("module is not well formed:\n" + "\n".join(found))
    return module
