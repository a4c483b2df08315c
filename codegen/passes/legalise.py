"""Turns steps that only rename bytes into RESHAPE, so that one kernel (a view) serves them all."""

from dataclasses import dataclass, replace

from codegen.ir import Call, DeviceConflict, Function, Let, Module, Var, VirtualDevice
from codegen.ir.ops import PadAttrs, ReshapeAttrs, StridedSliceAttrs, TransposeAttrs
from codegen.ir.ops.layout import RESHAPE
from codegen.passes.pipeline import with_function


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
            if let.call.op is RESHAPE:
                self.tie(let)

    def _find(self, name: str) -> str:
        while self._leader[name] != name:
            name = self._leader[name]
        return name

    def tie(self, let: Let) -> bool:
        """Let the result of `let` share its argument's bytes. Return False if their devices forbid that."""
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
    reshape = Call(op=RESHAPE, args=(source,), attrs=ReshapeAttrs(shape=let.var.type.shape))
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
