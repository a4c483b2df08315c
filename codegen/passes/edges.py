"""Rewriting of a model's inputs and outputs, which the passes of edges share."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from codegen.ir import Arg, Function, Module, Var
from codegen.passes.pipeline import rewrite_results, substitute_let


def with_notes(module: Module, notes: Sequence[str]) -> Module:
    """Add lines to the notes that the report shows of a module."""
    if not notes:
        return module
    lines = "\n".join([*module.metadata.get("notes", "").splitlines(), *notes])
    return replace(module, metadata={**module.metadata, "notes": lines})


def edge_name(edge: Var) -> str:
    """The name of an input or output in notes: the file's."""
    return edge.origin or edge.name


def outer_params(function: Function) -> Iterator[tuple[int, Var]]:
    """Parameters that the application writes, with their positions: all but state."""
    states = {state.param for state in function.states}
    return (pair for pair in enumerate(function.params) if pair[0] not in states)


def outer_results(function: Function) -> Iterator[tuple[int, Var]]:
    """Computed results that the application reads, with their positions: all but state."""
    states = {state.result for state in function.states}
    return (
        (position, result)
        for position, result in enumerate(function.results)
        if position not in states and isinstance(result, Var)
    )


def new_name(function: Function, stem: str) -> str:
    """A name of a value that the function does not have yet."""
    taken = {var.name for var in function.variables()}
    number = 0
    while f"{stem}{number}" in taken:
        number += 1
    return f"{stem}{number}"


def rewritten(function: Function, retyped: Mapping[str, Var], stored: Mapping[str, Var]) -> Function:
    """The function with variables of other types, and `stored` values in place of those that they replace.

    Steps that compute replaced values go.
    """
    values: dict[str, Arg] = {**retyped, **{name: retyped.get(arg.name, arg) for name, arg in stored.items()}}
    body = tuple(
        substitute_let(replace(let, var=retyped.get(let.var.name, let.var)), values)
        for let in function.body
        if let.var.name not in stored
    )
    params = tuple(retyped.get(param.name, param) for param in function.params)
    return replace(function, params=params, body=body, results=rewrite_results(function, values))
