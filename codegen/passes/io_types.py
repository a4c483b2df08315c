"""`--io-types int8`: float inputs and outputs that only meet a QUANTIZE or DEQUANTIZE become int8."""

from dataclasses import dataclass, replace

from codegen.ir import Arg, DType, Let, Module, Var
from codegen.passes.pipeline import rewrite_results, substitute_let, with_function


@dataclass(frozen=True, kw_only=True, slots=True)
class IoTypesInt8:
    """Take the conversion at the model's edge out of the model; the caller quantises instead."""

    name: str = "io_types_int8"

    def run(self, module: Module) -> Module:
        """Rewrite parameters first, then results. Values that do not qualify stay float, as do
        those whose device is not that of the value at their other side."""
        for function in module.functions.values():
            uses = function.uses()
            values: dict[str, Arg] = {}
            params: list[Var] = []
            dropped: set[str] = set()
            for param in function.params:
                edge = _only_quantize(function.body, param, uses)
                params.append(param if edge is None else replace(param, type=edge.var.type))
                if edge is not None:
                    values[edge.var.name] = params[-1]
                    dropped.add(edge.var.name)
            kept = [let for let in function.body if let.var.name not in dropped]
            body = tuple(substitute_let(let, values) for let in kept)
            results = rewrite_results(function, values)
            by_name = {let.var.name: let for let in body}
            rewritten = replace(
                function,
                params=tuple(params),
                body=body,
                results=tuple(_before_dequantize(by_name, result) for result in results),
            )
            module = with_function(module, rewritten)
        return module


def _only_quantize(body: tuple[Let, ...], param: Var, uses: dict[str, list[int]]) -> Let | None:
    steps = uses[param.name]
    if param.type.dtype is not DType.FLOAT32 or len(steps) != 1 or steps[0] == len(body):
        return None
    let = body[steps[0]]
    if not let.var.device.is_free and let.var.device != param.device:
        return None  # The quantised value would move to where the input lies.
    return let if let.call.op.name == "QUANTIZE" and let.var.type.dtype is DType.INT8 else None


def _before_dequantize(by_name: dict[str, Let], result: Arg) -> Arg:
    let = by_name.get(result.name) if isinstance(result, Var) else None
    if let is None or let.call.op.name != "DEQUANTIZE":
        return result
    source = let.call.args[0]
    if not isinstance(source, Var) or source.type.dtype is not DType.INT8:
        return result
    # An output with a device of its own would move to where its argument lies.
    return source if let.var.device.is_free or let.var.device == source.device else result
