"""Blocks of a program at other sizes: the same steps row by row, and formulas for their rows and columns."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

from codegen.ir import Let
from codegen.ir.numbers import Number
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.inserted import FusedAttrs
from codegen.ir.ranged import Unlike
from codegen.kernels.base.registry import Kernel, kernels_of_step
from codegen.kernels.block import Block, BlockStage, Lines
from codegen.kernels.call import CallArg, LiteralArg
from codegen.kernels.fused import BlockLayout, bind_fused, can_fuse, laid_out, stages_of
from codegen.kernels.primfunc import PrimFunc
from codegen.search.kernels.binding import Binder, step_key
from codegen.search.ranges.sizes import KernelUnlike


def block_at(let: Let, block: Block, binder: Binder) -> PrimFunc:
    """The step of `block` at the sizes of `let`, its layers run by the same kernels.

    Raises Unlike where one of them cannot, or stripes are fewer.
    """
    lets = narrow(let.call.attrs, FusedAttrs).function.body
    inner = [_layer(each, stage, binder) for each, stage in zip(lets, block.stages, strict=True)]
    planned = _layout_like(inner, block, let.var.type.shape[0])
    if planned is None:
        raise Unlike(f"{let.where}: an image is too narrow for {len(block.stripes)} stripes there")
    return bind_fused(let, inner, planned)


def _layout_like(prims: Sequence[PrimFunc], block: Block, images: int) -> BlockLayout | None:
    """How these steps run as `block` does, whose steps they are at other sizes: stages are asked in its
    order, lines hold as many rows as its lines at least. None where there are fewer stripes."""
    stages = tuple(
        stage
        if tuple(source for source in stage.sources if source >= 0) == own.producers
        else replace(stage, sources=stage.sources[::-1])
        for stage, own in zip(stages_of(prims, None), block.stages, strict=True)
    )
    found = laid_out(stages, len(block.stripes), images)
    if len(found.stripes) != len(block.stripes):
        return None
    rings = [line.ring_rows for line, _ in zip(block.lines, stages, strict=False)]
    kept = tuple(
        max(own, ring) if isinstance(ring, int) else own
        for own, ring in zip(found.run.kept[:-1], rings, strict=False)
    )
    return replace(found, run=replace(found.run, kept=(*kept, found.run.kept[-1])))


def _layer(let: Let, stage: BlockStage, binder: Binder) -> PrimFunc:
    kernel = _kernel(let, stage)
    refusal = binder.refusal(kernel, let, at_size=True)
    if refusal is not None:
        raise KernelUnlike(f"{let.where}: {refusal}", (step_key(let), kernel.name))
    bound = replace(binder.bind(kernel, let, stage.name), let=let)
    if not can_fuse(bound) or bound.rows is None or stage.kernel is None:
        raise Unlike(f"{let.where} does not go row by row there")
    if bound.rows.symbol != stage.kernel.symbol:
        text = f"{let.where}: {bound.rows.symbol} runs it at some sizes, {stage.kernel.symbol} at the largest"
        raise KernelUnlike(text, (step_key(let), kernel.name))
    return bound


def _kernel(let: Let, stage: BlockStage) -> Kernel:
    return next(each for each in kernels_of_step(let) if each.name == stage.binding)


def block_formulas(every: Sequence[Block], field: Callable[[Sequence[object]], object]) -> Block:
    """The last of `every` with what `field` makes of the numbers in which they differ: a formula, or what all
    have."""

    def count(values: Sequence[Number]) -> Number:
        return cast("Number", field(values))

    def lines(index: int, own: Lines) -> Lines:
        there = [each.lines[index] for each in every]
        return replace(
            own,
            columns=count([line.columns for line in there]),
            ring_rows=count([line.ring_rows for line in there]),
        )

    def stage(index: int, own: BlockStage) -> BlockStage:
        there = [each.stages[index] for each in every]
        leading = tuple(
            _argument(arg, [each.leading[position] for each in there], field)
            for position, arg in enumerate(own.leading)
        )
        return replace(
            own,
            leading=leading,
            reach=count([each.reach for each in there]),
            last_row=count([each.last_row for each in there]),
            rows=count([each.rows for each in there]),
        )

    last = every[-1]
    stripes = field([each.stripes for each in every])
    return replace(
        last,
        stages=tuple(stage(index, own) for index, own in enumerate(last.stages)),
        lines=tuple(lines(index, own) for index, own in enumerate(last.lines)),
        stripes=cast("tuple[tuple[tuple[Number, Number], ...], ...]", stripes),
        images=count([each.images for each in every]),
    )


def _argument(own: CallArg, every: Sequence[CallArg], field: Callable[[Sequence[object]], object]) -> CallArg:
    literals = [each.value for each in every if isinstance(each, LiteralArg)]
    if not isinstance(own, LiteralArg) or len(literals) != len(every):
        return own
    return LiteralArg(value=cast("int", field(literals)))
