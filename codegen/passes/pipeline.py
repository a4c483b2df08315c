"""Passes, pipelines of them, and the rewriting that both rely on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import is_
from typing import Protocol

from codegen.ir import Arg, Constant, Function, Let, Module, Var
from codegen.ir.verify import verify


class Pass(Protocol):
    """A frozen dataclass with a `name`; its other fields are its options."""

    @property
    def name(self) -> str:
        """Short name, used by `--dump-ir` for file names."""
        ...

    def run(self, module: Module) -> Module:
        """The rewritten module; `module` itself is never changed."""
        ...


def run_passes(
    module: Module, passes: Sequence[Pass], observe: Callable[[str, Module], None] | None = None
) -> Module:
    """Run `passes` in order, verifying after each that changed something; `observe` sees the module after
    every pass."""
    for pass_ in passes:
        before, module = module, pass_.run(module)
        if not _has_same_steps(before, module):
            verify(module)
        if observe is not None:
            observe(pass_.name, module)
    return module


def _has_same_steps(one: Module, other: Module) -> bool:
    """True if both have the very same steps. Equal ones may differ in what their sizes follow from."""
    return one.functions.keys() == other.functions.keys() and all(
        function.sizes is there.sizes
        and len(function.body) == len(there.body)
        and all(map(is_, function.body, there.body))
        for function, there in zip(one.functions.values(), other.functions.values(), strict=True)
    )


def substitute(arg: Arg | None, values: Mapping[str, Arg]) -> Arg | None:
    """`arg`, or what stands for it in `values` (by variable name)."""
    return values.get(arg.name, arg) if isinstance(arg, Var) else arg


def substitute_let(let: Let, values: Mapping[str, Arg]) -> Let:
    """`let` with its arguments substituted; the same object if nothing changes."""
    args = tuple(substitute(arg, values) for arg in let.call.args)
    return let if args == let.call.args else replace(let, call=replace(let.call, args=args))


def with_function(module: Module, function: Function, constants: Sequence[Constant] = ()) -> Module:
    """`module` with `function` in place of the one of its name, `constants` added, unused ones dropped."""
    functions = {**module.functions, function.name: function}
    known = {**module.constants, **{constant.id: constant for constant in constants}}
    used = {
        arg.id
        for kept_function in functions.values()
        for arg in (*(a for let in kept_function.body for a in let.call.args), *kept_function.results)
        if arg is not None and not isinstance(arg, Var)
    }
    return Module(
        functions=functions,
        constants={id_: constant for id_, constant in known.items() if id_ in used},
        metadata=module.metadata,
    )


def rewrite_results(function: Function, values: Mapping[str, Arg]) -> tuple[Arg, ...]:
    """The function's results after substitution."""
    return tuple(
        values.get(result.name, result) if isinstance(result, Var) else result for result in function.results
    )
