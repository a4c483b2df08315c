"""Weights of float32 layers that lie as float16 in flash, where kernels widen them as they read them.

A file of float16 weights is computed in float32. Of its layers' weights those lie as float16 again that are
float16 numbers still, so that no result changes; a scale folded into them may have made others of them.
"""

from dataclasses import dataclass, replace

import numpy as np

from codegen.ir import Constant, ConstRef, DType, Function, Let, Module
from codegen.ir.ops.base.weighted import WeightedOp
from codegen.passes.edges import with_notes
from codegen.passes.pipeline import with_function

STORED_AS = "weights_stored_as"
"""Key of a module's metadata: the type of float that its file has weights of, where that is not float32."""

_WEIGHTS = 1
"""Place of the weights among the arguments of a layer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreHalves:
    """The last pass: what follows reads weights as they lie."""

    name: str = "store_halves"

    def run(self, module: Module) -> Module:
        """Store weights of files of float16 as float16."""
        if module.metadata.get(STORED_AS) != DType.FLOAT16.value:
            return module
        halves = {name: half for name, constant in module.constants.items() if (half := _half(constant))}
        for function in module.functions.values():
            body = tuple(_with_halves(let, halves) for let in function.body)
            used = {arg.id for let in body for arg in let.call.args if isinstance(arg, ConstRef)}
            stored = [half for half in halves.values() if half.id in used]
            module = with_function(module, replace(function, body=body), stored)
        return with_notes(module, _kept(module.main))


def _kept(function: Function) -> list[str]:
    """A note on constants that lie as float32 all the same."""
    kept = {
        arg.id: (let.call.op.name, arg.type.elements)
        for let in function.body
        for arg in let.call.args
        if isinstance(arg, ConstRef) and arg.type.dtype is DType.FLOAT32 and arg.type.elements > 1
    }
    extra = sum(elements for _, elements in kept.values()) * DType.FLOAT16.size_bytes
    names = ", ".join(sorted({name for name, _ in kept.values()}))
    text = f"float16: {extra:,} bytes of constants more than in the file: float32 ones of {names}"
    return [text] if kept else []


def _half(constant: Constant) -> Constant | None:
    """The constant as float16, if that holds all of its numbers."""
    if constant.type.dtype is not DType.FLOAT32:
        return None
    with np.errstate(over="ignore"):
        data = constant.data.astype(np.float16)
    if not np.array_equal(data.astype(np.float32), constant.data) or not np.isfinite(data).all():
        return None
    kind = replace(constant.type, dtype=DType.FLOAT16)
    return replace(constant, id=f"{constant.id}_f16", type=kind, data=data)


def _with_halves(let: Let, halves: dict[str, Constant]) -> Let:
    op = let.call.op
    weights = let.call.args[_WEIGHTS] if isinstance(op, WeightedOp) and op.may_hold_halves else None
    half = halves.get(weights.id) if isinstance(weights, ConstRef) else None
    if half is None or weights is None or let.var.type.dtype is not DType.FLOAT32:
        return let
    args = list(let.call.args)
    args[_WEIGHTS] = ConstRef(id=half.id, type=replace(weights.type, dtype=DType.FLOAT16))
    return replace(let, call=replace(let.call, args=tuple(args)))
