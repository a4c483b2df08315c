"""Kernels of one C function: at small sizes a step may run with fewer pixels at once, in less workspace."""

from dataclasses import replace

import numpy as np

from codegen.ir import Let
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.inserted import FusedAttrs
from codegen.kernels.base.registry import kernels_for
from codegen.kernels.block import Block
from codegen.kernels.primfunc import PrimFunc
from codegen.program.program import Program
from codegen.search.kernels.binding import Binder
from codegen.search.ranges.late_tables import Data, may_be_late
from codegen.search.ranges.unlike import REVERSE


def with_kernels_of(program: Program, other: Program, binder: Binder) -> Program:
    """`program` with the kernels of `other`, the same model planned at other sizes, where that takes no other
    C function and no other constants: the two differ in parameters and workspaces only."""
    there = {prim.let.var.name: prim for prim in other.steps.prim_funcs}
    prims = tuple(_sibling(prim, there.get(prim.let.var.name), binder) for prim in program.steps.prim_funcs)
    return replace(program, steps=replace(program.steps, prim_funcs=prims))


def kernels_of(program: Program) -> tuple[str, ...]:
    """The kernels of all steps, of blocks their layers'."""
    found: list[str] = []
    for prim in program.steps.prim_funcs:
        found += [prim.kernel, *(each.binding for each in (prim.block.stages if prim.block else ()))]
    return tuple(found)


def _sibling(prim: PrimFunc, other: PrimFunc | None, binder: Binder) -> PrimFunc:
    if other is None:
        return prim
    if prim.block is not None:
        return (
            prim
            if other.block is None
            else replace(prim, block=_block(prim, prim.block, other.block, binder))
        )
    return replace(prim, kernel=_kernel(prim.let, prim.name, prim.kernel, other.kernel, binder))


def _block(prim: PrimFunc, own: Block, other: Block, binder: Binder) -> Block:
    lets = narrow(prim.let.call.attrs, FusedAttrs).function.body
    if len(own.stages) != len(lets):
        return own
    there = {stage.name: stage.binding for stage in other.stages}
    stages = (
        replace(stage, binding=_kernel(let, stage.name, stage.binding, there.get(stage.name, ""), binder))
        for let, stage in zip(lets, own.stages, strict=True)
    )
    return replace(own, stages=tuple(stages))


def _kernel(let: Let, name: str, own: str, other: str, binder: Binder) -> str:
    """`other`, to run the same way round as `own`, if the two are one function; else `own`."""
    known = {kernel.name: kernel for kernel in kernels_for(let.call.op.name)}
    first, second = (known.get(each.removesuffix(REVERSE)) for each in (own, other))
    if first is None or second is None or first is second or binder.refusal(second, let) is not None:
        return own
    one, two = (binder.bind(each, let, name) for each in (first, second))
    return second.name + own[len(first.name) :] if _is_one_function(one, two) else own


def _is_one_function(one: PrimFunc, other: PrimFunc) -> bool:
    rows, others = ("" if each.rows is None else each.rows.symbol for each in (one, other))
    data = {constant.role: constant.data for constant in one.constants}
    return (
        (one.symbol, rows) == (other.symbol, others)
        and set(other.sources) <= set(one.sources)
        and all(_is_alike(data.get(each.role), each.data) for each in other.constants)
    )


def _is_alike(data: Data | None, other: Data) -> bool:
    """The same constant, or a small table that the step fills."""
    return data is not None and (np.array_equal(data, other) or may_be_late(data, other))
