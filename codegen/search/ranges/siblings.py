"""Other kernels at small sizes: of one C function, with fewer pixels at once, in less workspace; of another
one, where that needs less memory."""

from collections.abc import Set
from dataclasses import replace

import numpy as np

from codegen.ir import Let, Var
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.inserted import FusedAttrs
from codegen.ir.ranged import Unlike
from codegen.kernels.base.registry import kernels_of_step
from codegen.kernels.block import Block
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.place.planners import Planner
from codegen.program.program import Program
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.iterations import layers_of
from codegen.search.ranges.block_members import block_at
from codegen.search.ranges.late_tables import Data, may_be_late
from codegen.search.ranges.sizes import REVERSE

_MORE_CONSTANT_BYTES = 1024
"""What C functions that run at small sizes only may have of constants by themselves, all together."""


_FLASH_WORTH = 4
"""Bytes of constants that layers without a block may bring for each byte of RAM that they save: parts
have at least so many times as much flash as RAM."""


_BLOCKS_WORTH = 1 / 16
"""Of the bytes of a block, what shorter blocks in its place have to save: each is a C function more."""


_FORWARD_WORTH = 9 / 8
"""Times the bytes that are taken for layers that all go forward: to go backwards takes C functions more."""


def with_kernels_of(program: Program, other: Program, binder: Binder) -> Program:
    """`program` with the kernels of `other`, the same model planned at other sizes, where that takes no other
    C function and no other constants: the two differ in parameters and workspaces only."""
    there = {prim.let.var.name: prim for prim in other.steps.prim_funcs}
    prims = tuple(_sibling(prim, there.get(prim.let.var.name), binder) for prim in program.steps.prim_funcs)
    return replace(program, steps=replace(program.steps, prim_funcs=prims))


def with_functions_of(program: Program, other: Program, binder: Binder) -> Program:
    """The same where steps that `other` runs by another kernel may be other C functions: the fastest that
    needs no more memory than that kernel does, or the one that needs least, as far as constants stay few."""
    there = {prim.let.var.name: prim for prim in other.steps.prim_funcs}
    left = _MORE_CONSTANT_BYTES
    copied = {copy.user[0] for copy in (*program.constants.staged, *program.constants.unpacked)}
    prims: list[PrimFunc] = []
    for prim in program.steps.prim_funcs:
        at_size = None if prim.name in copied else there.get(prim.let.var.name)
        bound = None if at_size is None else _stand_in(prim, at_size, binder, left)
        if bound is None:
            prims.append(prim)
            continue
        left -= _more_constant_bytes(prim, bound)
        prims.append(_standing_in(prim, bound))
    return replace(program, steps=replace(program.steps, prim_funcs=tuple(prims)))


def with_layers_of(program: Program, other: Program, binder: Binder, planner: Planner) -> Program:
    """`program`, at the size of `other` alone, with the layers of each block as `other` runs them: one after
    the other, or in shorter blocks, if that needs fewer bytes and not too many constants."""
    layouts = (program.constants, other.constants)
    copied = {copy.user[0] for each in layouts for copy in (*each.staged, *each.unpacked)}
    prims = (
        prim if prim.name in copied else _layers(prim, program, other, copied, binder, planner) or prim
        for prim in program.steps.prim_funcs
    )
    return replace(program, steps=replace(program.steps, prim_funcs=tuple(prims)))


def _layer_names(prim: PrimFunc) -> list[str]:
    """The layers of a step: of a block, or itself."""
    return [prim.name] if prim.block is None else [stage.name for stage in prim.block.stages]


def _workspace_bytes(prim: PrimFunc) -> int:
    return sum(space.size_bytes for space in prim.workspaces)


def _layers(
    prim: PrimFunc, program: Program, other: Program, copied: Set[str], binder: Binder, planner: Planner
) -> PrimFunc | None:
    """The layers of a block, as `other` has them, as one step; None where it has other steps, or a block that
    goes on beyond them."""
    if prim.block is None or prim.block.streamed is not None or not prim.device.is_free:
        return None
    names = {stage.name for stage in prim.block.stages}
    found = [each for each in other.steps.prim_funcs if not names.isdisjoint(_layer_names(each))]
    if (
        {name for each in found for name in _layer_names(each)} != names
        or found[-1].name != prim.name
        or any(each.loop is not None or each.memory or not each.device.is_free for each in found)
        or any(each.name in copied for each in found)
    ):
        return None
    either = [_either_way(each, binder) for each in found]
    minimum = other.board.buffer_alignment_bytes
    function = program.steps.function
    edges = {each.name for each in (*function.params, *function.results) if isinstance(each, Var)}
    own = {prim.name, *(each.name for each in prim.let.call.args if isinstance(each, Var))}
    is_given = program.edge.is_callers and not own.isdisjoint(edges)
    same = [_with_constants_of(prim, each, binder) for each in either]
    ways = (
        layers_of(prim, layers, minimum, planner, is_given=is_given)
        for kernels in (same, either)
        for layers in ([*map(_forward, kernels)], kernels)
    )
    worth = _BLOCKS_WORTH if any(each.block is not None for each in found) else 0.0
    able = [each for each in ways if each is not None and _pays(prim, each, worth)]
    least = min(map(_workspace_bytes, able), default=0)
    return next((each for each in able if _workspace_bytes(each) <= least * _FORWARD_WORTH), None)


def _pays(prim: PrimFunc, bound: PrimFunc, worth: float) -> bool:
    """Whether the constants that layers bring are worth the bytes that they save, which are `worth` of the
    block's at least."""
    own_bytes = _workspace_bytes(prim)
    saved_bytes = own_bytes - _workspace_bytes(bound)
    return _more_constant_bytes(prim, bound) < _FLASH_WORTH * saved_bytes and saved_bytes >= worth * own_bytes


def _with_constants_of(block: PrimFunc, prim: PrimFunc, binder: Binder) -> PrimFunc:
    """A layer by the kernel that it has in its block, where another one brings constants of its own."""
    assert block.block is not None
    if not _more_constant_bytes(block, prim):
        return prim
    own = {stage.name: stage for stage in block.block.stages}
    if prim.block is not None:
        stages = tuple(
            replace(each, binding=own[each.name].binding, kernel=own[each.name].kernel)
            for each in prim.block.stages
        )
        try:
            return block_at(prim.let, replace(prim.block, stages=stages), binder)
        except Unlike:
            return prim
    binding = own[prim.name].binding
    [kernel] = [kernel for kernel in kernels_of_step(prim.let) if kernel.name == binding]
    if binder.refusal(kernel, prim.let, at_size=True) is not None:
        return prim
    return binder.bind(kernel, prim.let, prim.name)


def _either_way(prim: PrimFunc, binder: Binder) -> PrimFunc:
    """A step before the plan decided that it goes backwards."""
    if not prim.kernel.endswith(REVERSE):
        return prim
    [kernel] = [k for k in kernels_of_step(prim.let) if k.name == prim.kernel.removesuffix(REVERSE)]
    return binder.bind(kernel, prim.let, prim.name)


def _forward(prim: PrimFunc) -> PrimFunc:
    """A step that is not to go backwards, which may be a C function more."""
    if prim.reverse is None:
        return prim
    rules = tuple(replace(rule, above=None) for rule in prim.sharing if rule.below is not None)
    return replace(prim, reverse=None, sharing=rules)


def _stand_in(prim: PrimFunc, other: PrimFunc, binder: Binder, left: int) -> PrimFunc | None:
    """What runs a step instead, bound at the size of `other`; None: its own kernel does."""
    let, kernels = other.let, {each.name: each for each in kernels_of_step(prim.let)}
    own = kernels.get(prim.kernel.removesuffix(REVERSE))
    if (
        own is None
        or other.kernel.removesuffix(REVERSE) == own.name
        or let.call.op is not prim.let.call.op
        or not _is_plain(prim)
    ):
        return None
    able = [
        binder.bind(each, let, prim.name)
        for each in kernels.values()
        if not each.is_in_place and binder.refusal(each, let, at_size=True) is None
    ]
    able = [each for each in able if each.kernel == own.name or _may_stand_in(prim, each)]
    now = next((each for each in able if each.kernel == own.name), None)
    if now is None:
        return None

    able = [each for each in able if _more_constant_bytes(prim, each) <= left]
    enough = min(_needed_bytes(other), _needed_bytes(now) - 1)
    sparing = [each for each in able if _needed_bytes(each) <= enough]

    def price(each: PrimFunc) -> tuple[tuple[bool, ...], int]:
        has_more = _more_constant_bytes(prim, each) > 0
        return (
            has_more,
            has_more and each.kernel != other.kernel,
            each.symbol != prim.symbol,
        ), each.work or 0

    if sparing:
        return min(sparing, key=price)
    best = min(able, key=_needed_bytes)
    return best if _needed_bytes(best) < _needed_bytes(now) else None


def _is_plain(prim: PrimFunc) -> bool:
    """Whether a step is one call that nothing else is tied to."""
    is_tied = prim.view is not None or prim.joined or prim.in_place is not None or prim.block is not None
    return not is_tied and prim.device.is_free


def _may_stand_in(prim: PrimFunc, bound: PrimFunc) -> bool:
    """Whether `bound` does at other sizes what `prim` does, at the same times, in its workspaces."""
    times = (bound.sub_steps, bound.argument_stops, bound.result_start)
    spaces = {space.name for space in prim.workspaces}
    return (
        times == (prim.sub_steps, prim.argument_stops, prim.result_start)
        and {space.name for space in bound.workspaces} <= spaces
        and bound.argument_alignment <= prim.argument_alignment
        and not bound.memory
        and _is_plain(bound)
    )


def _more_constant_bytes(prim: PrimFunc, bound: PrimFunc) -> int:
    """Of constants that `prim` does not have."""
    more = (c for c in bound.constants if not any(np.array_equal(c.data, own.data) for own in prim.constants))
    return sum(each.data.nbytes for each in more)


def _needed_bytes(prim: PrimFunc) -> int:
    """Argument, result and workspaces together: the result overlaps the argument as far as it may."""
    result = prim.let.var.type.size_bytes
    sizes = [0 if arg is None else arg.type.size_bytes for arg in prim.let.call.args]
    together = result + sizes[0]
    for rule in prim.sharing:
        if rule.argument == 0 and rule.below is not None:
            together = max(result, rule.below + sizes[0])
    return together + sum(space.size_bytes for space in prim.workspaces)


def _standing_in(prim: PrimFunc, bound: PrimFunc) -> PrimFunc:
    """`prim` with the kernel of `bound`, as its members take it from here."""
    tied = {rule.argument for rule in prim.sharing}
    rules = (rule if bound.reverse is None else replace(rule, above=None) for rule in bound.sharing)
    return replace(
        prim,
        kernel=bound.kernel,
        symbol=bound.symbol,
        sharing=tuple(rule for rule in rules if rule.argument in tied and rule.below is not None),
    )


def with_copies_of(program: Program, other: Program) -> Program:
    """`program` without the copies of constants that `other` does not make: they are of no bytes there, and
    read where they are linked. What is stored compressed has to be decoded at all sizes."""
    made = {copy.user for copy in other.constants.copied}
    staged = tuple(
        copy if copy.unpacking is not None or copy.user in made else replace(copy, size_bytes=0)
        for copy in program.constants.staged
    )
    return replace(program, constants=replace(program.constants, staged=staged))


def kernels_of(program: Program) -> tuple[str, ...]:
    """The kernels of all steps, of blocks their layers', and the copies of constants that they read."""
    found = [copy.buffer for copy in program.constants.staged if copy.size_bytes]
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
    known = {kernel.name: kernel for kernel in kernels_of_step(let)}
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
