"""Turns steps that only rename bytes into RESHAPE, so that one kernel (a view) serves them all.

`--io-types int8`: float inputs and outputs that only meet a QUANTIZE or DEQUANTIZE become int8.
"""

from dataclasses import dataclass, replace

from codegen.ir import Arg, Call, DeviceConflict, DType, Function, Let, Module, Var, VirtualDevice
from codegen.ir.ops import OPS, PadAttrs, ReshapeAttrs, StridedSliceAttrs, TransposeAttrs
from codegen.passes.pipeline import rewrite_results, substitute_let, with_function


@dataclass(frozen=True, kw_only=True, slots=True)
class Legalise:
    """TRANSPOSE of axes of extent 1, PAD by nothing, STRIDED_SLICE of everything: all are RESHAPE.

    But not where that would tie values of two devices to the same bytes.
    """

    name: str = "legalise"

    def run(self, module: Module) -> Module:
        """Rewrite step by step."""
        for function in module.functions.values():
            shared = _Shared(function)
            body = tuple(_legalise(let, shared) for let in function.body)
            module = with_function(module, replace(function, body=body))
        return module


class _Shared:
    """Values that share bytes by RESHAPE, and the one device of each such group."""

    def __init__(self, function: Function) -> None:
        self._leader = {var.name: var.name for var in function.variables()}
        self._device = {var.name: var.device for var in function.variables()}
        for let in function.body:
            if let.call.op is OPS["RESHAPE"]:
                self.tie(let)

    def _find(self, name: str) -> str:
        while self._leader[name] != name:
            name = self._leader[name]
        return name

    def tie(self, let: Let) -> bool:
        """Whether the result of `let` can share its argument's bytes; from now on it does."""
        source = let.call.args[0]
        if not isinstance(source, Var):
            return True
        first, second = self._find(source.name), self._find(let.var.name)
        both = _both(self._device[first], self._device[second])
        if both is not None:
            self._leader[second] = first
            self._device[first] = both
        return both is not None


def _both(one: VirtualDevice, other: VirtualDevice) -> VirtualDevice | None:
    try:
        return one.unify(other)
    except DeviceConflict:
        return None


def _legalise(let: Let, shared: _Shared) -> Let:
    source = let.call.args[0] if let.call.args else None
    if source is None or source.type.quantization != let.var.type.quantization:
        return let
    if not _moves_nothing(let, source.type.shape) or not shared.tie(let):
        return let
    reshape = Call(op=OPS["RESHAPE"], args=(source,), attrs=ReshapeAttrs(shape=let.var.type.shape))
    return replace(let, call=reshape)


def _moves_nothing(let: Let, shape: tuple[int, ...]) -> bool:
    attrs = let.call.attrs
    if isinstance(attrs, TransposeAttrs):
        moved = [axis for axis in attrs.permutation if shape[axis] != 1]
        return moved == sorted(moved)
    if isinstance(attrs, PadAttrs):
        return all(pair == (0, 0) for pair in attrs.paddings)
    if isinstance(attrs, StridedSliceAttrs):
        whole = zip(attrs.begins, attrs.strides, attrs.counts, shape, strict=True)
        return all(
            count == extent and (extent == 1 or (begin == 0 and step == 1))
            for begin, step, count, extent in whole
        )
    return False


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
            own = {each.param for each in function.states}
            for position, param in enumerate(function.params):
                edge = None if position in own else _only_quantize(function.body, param, uses)
                params.append(param if edge is None else replace(param, type=edge.var.type))
                if edge is not None:
                    values[edge.var.name] = params[-1]
                    dropped.add(edge.var.name)
            kept = [let for let in function.body if let.var.name not in dropped]
            body = tuple(substitute_let(let, values) for let in kept)
            results = rewrite_results(function, values)
            by_name = {let.var.name: let for let in body}
            own = {each.result for each in function.states}
            outer = [
                result if position in own else _before_dequantize(by_name, result)
                for position, result in enumerate(results)
            ]
            rewritten = replace(function, params=tuple(params), body=body, results=tuple(outer))
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
