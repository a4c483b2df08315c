"""Which way each kernel runs: the plan says on which side of its argument a result lies."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from codegen.ir import Var
from codegen.kernels.contract import Sharing
from codegen.kernels.primfunc import PrimFunc
from codegen.program.problem import MemoryPlan
from codegen.program.program import BufferSlice


def directed(
    prim_funcs: Sequence[PrimFunc], slices: Mapping[str, BufferSlice], plan: MemoryPlan
) -> tuple[PrimFunc, ...]:
    """The PrimFuncs with one direction each: back to front where the result lies over its argument from
    above, front to back everywhere else. Each keeps only the sharing that its direction permits."""
    return tuple(_directed(prim, slices, plan) if prim.reverse else prim for prim in prim_funcs)


def _directed(prim: PrimFunc, slices: Mapping[str, BufferSlice], plan: MemoryPlan) -> PrimFunc:
    """Raises ValueError for a kernel with rules for several arguments: one direction has to suit them all."""
    if len(prim.sharing) != 1 or prim.reverse is None:
        raise ValueError(f"{prim.name}: a kernel that goes either way has one rule, for one argument")
    [rule] = prim.sharing
    if not _needs_reverse(prim, rule, slices, plan):
        forward = (replace(rule, above=None),) if rule.below is not None else ()
        return replace(prim, reverse=None, sharing=forward)
    return replace(
        prim,
        kernel=f"{prim.kernel}_reverse",
        symbol=prim.reverse.symbol,
        sources=prim.reverse.sources,
        reverse=None,
        sharing=(replace(rule, below=None),),
    )


def _needs_reverse(
    prim: PrimFunc, rule: Sharing, slices: Mapping[str, BufferSlice], plan: MemoryPlan
) -> bool:
    arg = prim.let.call.args[rule.argument]
    here, there = slices.get(prim.let.var.name), slices.get(arg.name) if isinstance(arg, Var) else None
    if here is None or there is None:
        return False
    result, argument = (plan.placements[part.buffer] for part in (here, there))
    start, source = result.offset + here.offset_bytes, argument.offset + there.offset_bytes
    together = start < source + there.size_bytes and source < start + here.size_bytes
    forward = rule.below is not None and start + rule.below <= source
    return result.pool == argument.pool and together and not forward
