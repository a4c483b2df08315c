"""Constant folding: a step whose arguments are all constant becomes a constant. Dead steps are removed."""

from dataclasses import dataclass, replace

from codegen.ir import Arg, Constant, ConstRef, Function, Let, Module, Var
from codegen.ir.evaluate import evaluate_let
from codegen.ir.ops import ConcatAttrs, ReshapeAttrs
from codegen.passes.pipeline import rewrite_results, substitute_let, with_function


@dataclass(frozen=True, kw_only=True, slots=True)
class FoldConstants:
    """Evaluate constant steps with the reference arithmetic; results keep the value's memory scope."""

    name: str = "fold_constants"

    def run(self, module: Module) -> Module:
        """Fold in program order, so that chains fold in one go."""
        for function in module.functions.values():
            module = self._fold(module, function)
        return module

    def _fold(self, module: Module, function: Function) -> Module:
        constants = dict(module.constants)
        values: dict[str, Arg] = {}
        body: list[Let] = []
        kept = copied_constants(function)
        for original in function.body:
            let = substitute_let(original, values)
            is_kept = original.var.name in kept
            if is_kept or not all(arg is None or isinstance(arg, ConstRef) for arg in let.call.args):
                body.append(let)
                continue
            constant = _evaluate(let, constants)
            constants[constant.id] = constant
            values[let.var.name] = ConstRef(id=constant.id, type=let.var.type)
        folded = replace(function, body=tuple(body), results=rewrite_results(function, values))
        return with_function(module, folded, tuple(constants.values()))


def copied_constants(function: Function) -> set[str]:
    """Results that are copies of constants, under any shape: those steps stay, a result is a value."""
    names = {arg.name for arg in function.results if isinstance(arg, Var)}
    for let in reversed(function.body):
        if let.var.name in names and isinstance(let.call.attrs, ReshapeAttrs):
            names.update(arg.name for arg in let.call.args if isinstance(arg, Var))
    return {let.var.name for let in function.body if isinstance(let.call.attrs, ConcatAttrs)} & names


def _evaluate(let: Let, constants: dict[str, Constant]) -> Constant:
    data = [
        constants[arg.id].data.reshape(arg.type.shape) if isinstance(arg, ConstRef) else None
        for arg in let.call.args
    ]
    return Constant(
        id=f"folded_{let.var.name}",
        type=let.var.type,
        data=evaluate_let(let, data),
        memory_scope=let.var.device.memory_scope,
        origin=let.var.origin,
    )


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
