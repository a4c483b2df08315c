"""`--io-types int8|uint8`: inputs and outputs that only meet a conversion become integers of 8 bits.

A conversion takes one element at a time, so it may stand on either side of a TRANSPOSE or a RESHAPE. Edges
that stay as they are have a line in the module's notes, with the reason. Networks hold int8: an edge of uint8
is one QUANTIZE more, which turns the sign bit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codegen.ir import Call, DType, Function, Let, Module, Quantization, TensorType, Var
from codegen.ir.ops import Pointwise, ReshapeAttrs, RoundedAttrs, TransposeAttrs
from codegen.ir.ops.conversions import QUANTIZE, Dequantize, Quantize
from codegen.passes.edges import edge_name, new_name, outer_params, outer_results, rewritten, with_notes
from codegen.passes.pipeline import rewrite_results, substitute_let, with_function

_MOVES = TransposeAttrs | ReshapeAttrs
_SIGN_BIT = 128
"""uint8 of the meaning of int8: number and zero point are so much more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IoTypes:
    """Take the conversion at the model's edge out of the model; the caller quantises instead."""

    dtype: DType = DType.INT8
    """int8 or uint8."""
    name: str = "io_types"

    def run(self, module: Module) -> Module:
        """Rewrite parameters, then results. Edges that do not qualify stay and are noted, as do those whose
        device is not that of the value at their other side."""
        notes: list[str] = []
        function = module.main
        edges = [edge for _, edge in (*outer_params(function), *outer_results(function))]
        if not any(self._turns(edge) for edge in edges):
            notes = [f"--io-types {self.dtype.value} changes nothing: {_none_of(self.dtype)}"]
        function = self._params(function, notes)
        function = self._results(function, notes)
        if self.dtype is DType.UINT8:
            function = _unsigned_results(_unsigned_params(function))
        return with_notes(with_function(module, function), notes)

    def _turns(self, edge: Var) -> bool:
        """True if the option is about an edge of this type."""
        return edge.type.dtype in (DType.FLOAT32, _other_sign(self.dtype))

    def _note(self, kind: str, edge: Var, reason: str) -> str:
        stays = f"stays {edge.type.dtype.value}"
        return f"--io-types {self.dtype.value}: {kind} {edge_name(edge)} {stays}: {reason}"

    def _params(self, function: Function, notes: list[str]) -> Function:
        """Let the parameters have the type behind their QUANTIZE, which goes."""
        uses = function.uses()
        retyped: dict[str, Var] = {}
        quantised: dict[str, Var] = {}
        for _, param in outer_params(function):
            if param.type.dtype is DType.INT8 or not self._turns(param):
                continue
            path = _path_to_quantize(function, param, uses)
            if isinstance(path, str):
                notes.append(self._note("input", param, path))
                continue
            *moves, last = path
            for var in (param, *(let.var for let in moves)):
                retyped[var.name] = _as_int8(var, last.var.type.quantization)
            quantised[last.var.name] = list(retyped.values())[-1]
        return rewritten(function, retyped, quantised)

    def _results(self, function: Function, notes: list[str]) -> Function:
        """Let the results be what is before their conversion, called as the results were."""
        uses = function.uses()
        by_name = {let.var.name: let for let in function.body}
        retyped: dict[str, Var] = {}
        stored: dict[str, Var] = {}
        results = list(function.results)
        for position, result in outer_results(function):
            if result.type.dtype is DType.INT8 or not self._turns(result):
                continue
            path = _path_from_conversion(by_name, result, uses)
            if isinstance(path, str):
                notes.append(self._note("output", result, path))
                continue
            source, conversion, moves = path
            if moves:
                stored[conversion.var.name] = source
                retyped |= {let.var.name: _as_int8(let.var, source.type.quantization) for let in moves}
            else:
                results[position] = source
                if source.name in by_name and source not in function.results:
                    retyped.setdefault(source.name, replace(source, origin=result.origin))
        return rewritten(replace(function, results=tuple(results)), retyped, stored)


def _other_sign(dtype: DType) -> DType:
    return DType.UINT8 if dtype is DType.INT8 else DType.INT8


def _none_of(dtype: DType) -> str:
    return f"no input or output of the model is float32 or {_other_sign(dtype).value}"


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
    if not _is_conversion(last, Quantize, param.type, last.var.type):
        return f"{last.call.op.name} reads it, no conversion to int8"
    return _in_one_memory(path, param) or _of_one_scale(path, last.var) or tuple(path)


def _path_from_conversion(
    by_name: Mapping[str, Let], result: Var, uses: Mapping[str, Sequence[int]]
) -> tuple[Var, Let, tuple[Let, ...]] | str:
    """The int8 value behind `result`, its conversion, and the moves after that; else why there are none."""
    path: list[Let] = []
    name = result.name
    while name in by_name and (not path or isinstance(path[0].call.attrs, _MOVES)):
        path.insert(0, by_name[name])
        source = path[0].call.args[0] if path[0].call.args else None
        name = source.name if isinstance(source, Var) else ""
    if not path:
        return "it is an input too"
    source = path[0].call.args[0] if path[0].call.args else None
    conversion, *moves = path
    if not isinstance(source, Var) or not _is_conversion(conversion, Dequantize, result.type, source.type):
        return f"{conversion.call.op.name} makes it, no conversion from int8"
    if moves and any(len(uses[let.var.name]) != 1 for let in path):
        return "other steps or outputs read its floats too"
    return _in_one_memory(path, source) or _of_one_scale(path, source) or (source, conversion, tuple(moves))


def _is_conversion(let: Let, of_floats: type[Pointwise], edge: TensorType, held: TensorType) -> bool:
    """True if `let` converts between `edge` and the int8 `held`: floats by an operator `of_floats`, uint8 by
    a QUANTIZE that keeps what the numbers mean."""
    if held.dtype is not DType.INT8:
        return False
    if edge.dtype is DType.FLOAT32:
        return isinstance(let.call.op, of_floats)
    return isinstance(let.call.op, Quantize) and edge.quantization == _unsigned_meaning(held)


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


def _unsigned_meaning(type_: TensorType) -> Quantization | None:
    """The meaning of int8 as uint8 has it; None where there is none to keep."""
    meaning = type_.quantization
    if type_.dtype is not DType.INT8 or meaning is None or meaning.axis is not None:
        return None
    return replace(meaning, zero_points=(type_.zero_point + _SIGN_BIT,))


def _unsigned(var: Var) -> Var | None:
    """An int8 edge as the uint8 of the same meaning; None if it has no meaning to keep."""
    meaning = _unsigned_meaning(var.type)
    return meaning and replace(var, type=replace(var.type, dtype=DType.UINT8, quantization=meaning))


def _turned(name: str, argument: Var, result: Var) -> Let:
    call = Call(op=QUANTIZE, args=(argument,), attrs=RoundedAttrs())
    return Let(var=replace(result, name=name), call=call)


def _unsigned_params(function: Function) -> Function:
    """Let int8 parameters be uint8, of which a step makes int8."""
    for position, param in outer_params(function):
        outer = _unsigned(param)
        if outer is None:
            continue
        step = _turned(new_name(function, QUANTIZE.short), outer, param)
        held = {param.name: step.var}
        body = (step, *(substitute_let(let, held) for let in function.body))
        params = (*function.params[:position], outer, *function.params[position + 1 :])
        results = rewrite_results(function, held)
        function = replace(function, params=params, body=body, results=results)
    return function


def _unsigned_results(function: Function) -> Function:
    """Let int8 results be uint8, made by a last step."""
    for position, result in outer_results(function):
        outer = _unsigned(result)
        if outer is None:
            continue
        step = _turned(new_name(function, QUANTIZE.short), result, outer)
        results = (*function.results[:position], step.var, *function.results[position + 1 :])
        function = replace(function, body=(*function.body, step), results=results)
    return function
