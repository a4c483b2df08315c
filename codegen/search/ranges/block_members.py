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
from codegen.kernels.block_layout import BlockLayout
from codegen.kernels.call import CallArg, LiteralArg
from codegen.kernels.fused import bind_fused, can_fuse, laid_out, stages_of
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rows import Grid
from codegen.search.kernels.binding import Binder, step_key
from codegen.search.ranges.sizes import KernelUnlike


def block_at(let: Let, block: Block, binder: Binder) -> PrimFunc:
    """The step of `block` at the sizes of `let`, its layers run by the same kernels.

    Raises Unlike where one of them cannot, or stripes are fewer.
    """
    lets = narrow(let.call.attrs, FusedAttrs).function.body
    inner = [_layer(inner_let, stage, binder) for inner_let, stage in zip(lets, block.stages, strict=True)]
    planned = _layout_like(inner, block, let.var.type.shape[0])
    if planned is None:
        raise Unlike(f"{let.where}: an image is too narrow for {len(block.stripes)} stripes there")
    return bind_fused(let, inner, planned)


def _layout_like(prims: Sequence[PrimFunc], block: Block, images: int) -> BlockLayout | None:
    """How these steps run as `block` does, whose steps they are at other sizes: stages are asked in its
    order, lines hold as many rows as its lines at least. None where there are fewer stripes."""
    stages = tuple(
        stage
        if tuple(source for source in stage.sources if source >= 0) == block_stage.producers
        else replace(stage, sources=stage.sources[::-1])
        for stage, block_stage in zip(stages_of(prims, None), block.stages, strict=True)
    )
    layout = laid_out(stages, Grid(stripes=len(block.stripes)), images)
    if len(layout.stripes) != len(block.stripes):
        return None
    rings = [line.ring_rows for line, _ in zip(block.lines, stages, strict=False)]
    kept = tuple(
        max(rows, ring) if isinstance(ring, int) else rows
        for rows, ring in zip(layout.run.kept[:-1], rings, strict=False)
    )
    return replace(layout, run=replace(layout.run, kept=(*kept, layout.run.kept[-1])))


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
    return next(kernel for kernel in kernels_of_step(let) if kernel.name == stage.binding)


def block_formulas(every: Sequence[Block], field: Callable[[Sequence[object]], object]) -> Block:
    """The last of `every` with what `field` makes of the numbers in which they differ: a formula, or what all
    have."""

    def count(values: Sequence[Number]) -> Number:
        return cast("Number", field(values))

    def lines(index: int, last_line: Lines) -> Lines:
        there = [member.lines[index] for member in every]
        return replace(
            last_line,
            columns=count([line.columns for line in there]),
            ring_rows=count([line.ring_rows for line in there]),
        )

    def stage(index: int, last_stage: BlockStage) -> BlockStage:
        there = [member.stages[index] for member in every]
        leading = tuple(
            _argument(arg, [member.leading[position] for member in there], field)
            for position, arg in enumerate(last_stage.leading)
        )
        return replace(
            last_stage,
            leading=leading,
            reach=count([member.reach for member in there]),
            last_row=count([member.last_row for member in there]),
            rows=count([member.rows for member in there]),
        )

    last = every[-1]
    stripes = field([member.stripes for member in every])
    return replace(
        last,
        stages=tuple(stage(index, last_stage) for index, last_stage in enumerate(last.stages)),
        lines=tuple(lines(index, last_line) for index, last_line in enumerate(last.lines)),
        stripes=cast("tuple[tuple[tuple[Number, Number], ...], ...]", stripes),
        images=count([member.images for member in every]),
    )


def _argument(
    last_arg: CallArg, every: Sequence[CallArg], field: Callable[[Sequence[object]], object]
) -> CallArg:
    literals = [argument.value for argument in every if isinstance(argument, LiteralArg)]
    if not isinstance(last_arg, LiteralArg) or len(literals) != len(every):
        return last_arg
    return LiteralArg(value=cast("int", field(literals)))
