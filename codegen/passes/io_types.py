"""`--io-types int8`: float inputs and outputs that only meet a conversion to or from int8 become int8.

A conversion takes one element at a time, so it may stand on either side of a TRANSPOSE or a RESHAPE. Edges
that stay float32 are named in the module's notes, with the reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codegen.ir import Arg, DType, Function, Let, Module, Quantization, Var
from codegen.ir.ops import ReshapeAttrs, TransposeAttrs
from codegen.ir.ops.conversions import Dequantize, Quantize
from codegen.passes.pipeline import rewrite_results, substitute_let, with_function

_MOVES = TransposeAttrs | ReshapeAttrs
_NOTHING = "--io-types int8 changes nothing: no input or output of the model is float32"


@dataclass(frozen=True, kw_only=True, slots=True)
class IoTypesInt8:
    """Take the conversion at the model's edge out of the model; the caller quantises instead."""

    name: str = "io_types_int8"

    def run(self, module: Module) -> Module:
        """Rewrite parameters, then results. Edges that do not qualify stay float32 and are noted, as do those
        whose device is not that of the value at their other side."""
        notes: list[str] = []
        function = module.main
        if not any(edge.type.dtype is DType.FLOAT32 for edge in (*function.params, *function.results)):
            notes = [_NOTHING]
        exposed = _int8_results(_int8_params(function, notes), notes)
        module = with_function(module, exposed)
        told = "\n".join([*module.metadata.get("notes", "").splitlines(), *notes])
        return replace(module, metadata={**module.metadata, "notes": told}) if notes else module


def _int8_params(function: Function, notes: list[str]) -> Function:
    """Let the parameters have the type behind their QUANTIZE, which goes."""
    states = {state.param for state in function.states}
    uses = function.uses()
    retyped: dict[str, Var] = {}
    quantised: dict[str, Var] = {}
    for position, param in enumerate(function.params):
        if position in states or param.type.dtype is not DType.FLOAT32:
            continue
        path = _path_to_quantize(function, param, uses)
        if isinstance(path, str):
            notes.append(_note("input", param, path))
            continue
        *moves, last = path
        for var in (param, *(let.var for let in moves)):
            retyped[var.name] = _as_int8(var, last.var.type.quantization)
        quantised[last.var.name] = list(retyped.values())[-1]
    return _rewritten(function, retyped, quantised)


def _path_to_quantize(
    function: Function, param: Var, uses: Mapping[str, Sequence[int]]
) -> tuple[Let, ...] | str:
    """Steps from the parameter to the QUANTIZE that alone reads it; else why there are none."""
    path: list[Let] = []
    while not path or isinstance(path[-1].call.attrs, _MOVES):
        steps = uses[path[-1].var.name if path else param.name]
        if len(steps) != 1:
            return f"{len(steps)} steps and outputs read it"
        if steps[0] == len(function.body):
            return "it is an output too"
        path.append(function.body[steps[0]])
    last = path[-1]
    if not isinstance(last.call.op, Quantize) or last.var.type.dtype is not DType.INT8:
        return f"{last.call.op.name} reads it, no conversion to int8"
    return _in_one_memory(path, param) or _of_one_scale(path, last.var) or tuple(path)


def _int8_results(function: Function, notes: list[str]) -> Function:
    """Let the results be what is before their DEQUANTIZE, called as the float results were."""
    states = {state.result for state in function.states}
    uses = function.uses()
    by_name = {let.var.name: let for let in function.body}
    retyped: dict[str, Var] = {}
    stored: dict[str, Var] = {}
    results = list(function.results)
    for position, result in enumerate(function.results):
        if position in states or not isinstance(result, Var) or result.type.dtype is not DType.FLOAT32:
            continue
        path = _path_from_dequantize(by_name, result, uses)
        if isinstance(path, str):
            notes.append(_note("output", result, path))
            continue
        source, dequantize, moves = path
        if moves:
            stored[dequantize.var.name] = source
            retyped |= {let.var.name: _as_int8(let.var, source.type.quantization) for let in moves}
        else:
            results[position] = source
            if source.name in by_name and source not in function.results:
                retyped.setdefault(source.name, replace(source, origin=result.origin))
    return _rewritten(replace(function, results=tuple(results)), retyped, stored)


def _path_from_dequantize(
    by_name: Mapping[str, Let], result: Var, uses: Mapping[str, Sequence[int]]
) -> tuple[Var, Let, tuple[Let, ...]] | str:
    """The int8 value behind `result`, its DEQUANTIZE, and the moves after that; else why there are none."""
    path: list[Let] = []
    name = result.name
    while name in by_name and (not path or isinstance(path[0].call.attrs, _MOVES)):
        path.insert(0, by_name[name])
        source = path[0].call.args[0] if path[0].call.args else None
        name = source.name if isinstance(source, Var) else ""
    if not path:
        return "it is an input too"
    source = path[0].call.args[0] if path[0].call.args else None
    operator = path[0].call.op
    if (
        not isinstance(operator, Dequantize)
        or not isinstance(source, Var)
        or source.type.dtype is not DType.INT8
    ):
        return f"{operator.name} makes it, no conversion from int8"
    dequantize, *moves = path
    if moves and any(len(uses[let.var.name]) != 1 for let in path):
        return "other steps or outputs read its floats too"
    return _in_one_memory(path, source) or _of_one_scale(path, source) or (source, dequantize, tuple(moves))


def _in_one_memory(path: Sequence[Let], edge: Var) -> str:
    """Why the steps' values cannot lie where `edge` does; '' if they can."""
    is_one = all(let.var.device.is_free or let.var.device == edge.device for let in path)
    return "" if is_one else "it has a memory of its own, another than the int8 value's"


def _of_one_scale(path: Sequence[Let], var: Var) -> str:
    """Why steps that move elements cannot move those of `var`; '' if they can."""
    quantization = var.type.quantization
    is_per_channel = quantization is not None and quantization.axis is not None
    return "its int8 value is moved and has a scale a channel" if is_per_channel and len(path) > 1 else ""


def _as_int8(var: Var, quantization: Quantization | None) -> Var:
    return replace(var, type=replace(var.type, dtype=DType.INT8, quantization=quantization))


def _note(kind: str, edge: Var, reason: str) -> str:
    return f"--io-types int8: {kind} {edge.origin or edge.name} stays float32: {reason}"


def _rewritten(function: Function, retyped: Mapping[str, Var], stored: Mapping[str, Var]) -> Function:
    """The function with variables of other types, and `stored` values in place of those that they replace."""
    values: dict[str, Arg] = {**retyped, **{name: retyped.get(arg.name, arg) for name, arg in stored.items()}}
    body = tuple(
        substitute_let(replace(let, var=retyped.get(let.var.name, let.var)), values)
        for let in function.body
        if let.var.name not in stored
    )
    params = tuple(retyped.get(param.name, param) for param in function.params)
    return replace(function, params=params, body=body, results=rewrite_results(function, values))
