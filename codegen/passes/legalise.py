"""Turns steps that only rename bytes into RESHAPE, so that one kernel (a view) serves them all."""

from dataclasses import dataclass, replace

from codegen.ir import Call, Let, Module
from codegen.ir.ops import OPS, PadAttrs, ReshapeAttrs, StridedSliceAttrs, TransposeAttrs
from codegen.passes.base import with_function


@dataclass(frozen=True, kw_only=True, slots=True)
class Legalise:
    """TRANSPOSE of axes of extent 1, PAD by nothing, STRIDED_SLICE of everything: all are RESHAPE."""

    name: str = "legalise"

    def run(self, module: Module) -> Module:
        """Rewrite step by step."""
        for function in module.functions.values():
            body = tuple(_legalise(let) for let in function.body)
            module = with_function(module, replace(function, body=body))
        return module


def _legalise(let: Let) -> Let:
    source = let.call.args[0] if let.call.args else None
    if source is None or source.type.quantization != let.var.type.quantization:
        return let
    if not _moves_nothing(let, source.type.shape):
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
