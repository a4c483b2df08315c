"""Removes steps whose result nothing reads."""

from dataclasses import dataclass, replace

from codegen.ir import Let, Module, Var
from codegen.passes.pipeline import with_function


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoveDead:
    """Drop dead steps; parameters stay, they are the caller's interface."""

    name: str = "remove_dead"

    def run(self, module: Module) -> Module:
        """Walk backwards from the results."""
        for function in module.functions.values():
            live = {result.name for result in function.results if isinstance(result, Var)}
            kept: list[Let] = []
            for let in reversed(function.body):
                if let.var.name in live:
                    kept.append(let)
                    live.update(arg.name for arg in let.call.args if isinstance(arg, Var))
            module = with_function(module, replace(function, body=tuple(reversed(kept))))
        return module
