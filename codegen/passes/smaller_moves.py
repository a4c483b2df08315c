"""Turns images where their elements are smallest: a TRANSPOSE goes to the integer side of a conversion.

A network in NCHW that gives floats would turn four times as many bytes behind its DEQUANTIZE.
"""

from dataclasses import dataclass, replace

from codegen.ir import Arg, Function, Let, Module, Var
from codegen.ir.ops import ELEMENT_BY_ELEMENT, TransposeAttrs
from codegen.passes.pipeline import rewrite_results, substitute_let, with_function


@dataclass(frozen=True, kw_only=True, slots=True)
class SmallerMoves:
    """Swap a TRANSPOSE with the conversion in front of it, if that widens, or behind it, if that narrows."""

    name: str = "smaller_moves"

    def run(self, module: Module) -> Module:
        """Rewrite pair by pair, until none is left to be swapped."""
        function = module.main
        while (swapped := _swap_one(function)) is not None:
            function = swapped
        return with_function(module, function)


def _swap_one(function: Function) -> Function | None:
    """The function with one pair swapped; None if there is none."""
    uses = function.uses()
    makers = {let.var.name: let for let in function.body}
    for second in function.body:
        value = second.call.args[0] if second.call.args else None
        first = makers.get(value.name) if isinstance(value, Var) else None
        if first is None or len(uses[first.var.name]) != 1 or not _gains(first, second):
            continue
        pair = _swapped(first, second)
        if pair is not None:
            return _with_pair(function, first, second, pair)
    return None


def _gains(first: Let, second: Let) -> bool:
    """True if the TRANSPOSE of the two moves fewer bytes after a swap."""
    moves = [isinstance(let.call.attrs, TransposeAttrs) for let in (first, second)]
    converts = [isinstance(let.call.op, ELEMENT_BY_ELEMENT) for let in (first, second)]
    argument = first.call.args[0] if first.call.args else None
    if not isinstance(argument, Var) or not (first.var.device.is_free and second.var.device.is_free):
        return False
    outer = argument.type if converts[0] and moves[1] else second.var.type
    is_pair = (converts[0] and moves[1]) or (moves[0] and converts[1])
    return is_pair and outer.dtype.size_bytes < first.var.type.dtype.size_bytes


def _swapped(first: Let, second: Let) -> tuple[Let, Let] | None:
    """Both steps in the other order, each under its own name; None for scales along an axis."""
    argument = first.call.args[0]
    assert isinstance(argument, Var), "asked before"
    is_turned_last = isinstance(second.call.attrs, TransposeAttrs)
    kept = argument.type if is_turned_last else second.var.type
    if kept.quantization is not None and kept.quantization.axis is not None:
        return None
    shape = second.var.type.shape if is_turned_last else argument.type.shape
    between = replace(second.var, type=replace(kept, shape=shape), origin=first.var.origin)
    last = replace(second.var, name=first.var.name)
    return (
        replace(second, var=between, call=replace(second.call, args=(argument, *second.call.args[1:]))),
        replace(first, var=last, call=replace(first.call, args=(between, *first.call.args[1:]))),
    )


def _with_pair(function: Function, first: Let, second: Let, pair: tuple[Let, Let]) -> Function:
    values: dict[str, Arg] = {second.var.name: pair[1].var}
    places = {first.var.name: pair[0], second.var.name: pair[1]}
    body = tuple(places.get(let.var.name) or substitute_let(let, values) for let in function.body)
    return replace(function, body=body, results=rewrite_results(function, values))
