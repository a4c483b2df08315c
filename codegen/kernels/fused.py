"""Binds FUSED: steps with row kernels run together, row by row, keeping only a few rows of each result, for
one image after the other."""

import dataclasses
from collections.abc import Mapping, Sequence

from codegen.ir import ConstRef, Let, Var
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.inserted import FusedAttrs
from codegen.kernels.base.portable_work import estimated_work
from codegen.kernels.base.window import nhwc
from codegen.kernels.block import Block, BlockStage, Lines
from codegen.kernels.block_layers import layer_argument, layer_constant, layer_struct
from codegen.kernels.block_layout import BlockLayout, macs, pixels_of, work
from codegen.kernels.call import (
    RESULT,
    CallArg,
    ResultArg,
    ValueArg,
    WorkspaceArg,
)
from codegen.kernels.contract import Sharing, Workspace
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rows import (
    WHOLE,
    Axis,
    Grid,
    RowImage,
    Stage,
    accesses,
    demanded,
    of_images,
    safe_distance,
    simulate,
)

MOST_ROWS = 32767
"""Rows of an image in a block, at most: `cg_stage` counts them in 16 bits."""

MOST_ROWS_RUN = 100_000
"""Rows that trying both arguments of joins first may run through, in one block: a count, half a second."""

ROW_WORKSPACE = "rows.workspace"
"""Name of the workspace of a block's row kernels. It is no identifier, so no value is called so."""


def can_fuse(prim: PrimFunc) -> bool:
    """True if a block can run this step. Values with a place of their own may leave a block, but not lie
    inside it: `search.fuse.segments` sees to that."""
    if prim.rows is None or prim.memory or not prim.device.is_free:
        return False
    extents = [prim.let.var.type.shape, *(a.type.shape for a in prim.let.call.args if isinstance(a, Var))]
    return all(shape[1] + prim.rows.turn_rows - 1 <= MOST_ROWS for shape in extents)


def workspace(prims: Sequence[PrimFunc]) -> Workspace | None:
    """Workspace of a block: its row kernels run one at a time, so the largest need of any of them."""
    needs = [prim.rows.workspace for prim in prims if prim.rows is not None and prim.rows.workspace]
    if not needs:
        return None
    return Workspace(
        name=ROW_WORKSPACE,
        size_bytes=max(need.size_bytes for need in needs),
        alignment=max(need.alignment for need in needs),
    )


def layout(prims: Sequence[PrimFunc], grid: Grid = WHOLE, streamed: str | None = None) -> BlockLayout:
    """Layout of these steps as a block, the result cut by `grid` (into fewer stripes if it is narrow).

    A join asks first for the argument whose choice keeps the fewest bytes, of the first joins at least:
    `MOST_ROWS_RUN` ends it. The last step's value is the result.
    With `streamed`, rows of that argument are delivered by a stage of their own, in front of all others.
    """
    images = nhwc(prims[-1].let.var.type.shape)[0]
    if streamed is not None and (images != 1 or (grid.stripes != 1 and grid.band_rows is None)):
        raise ValueError("rows that come once serve one image, and stripes only band by band")
    stages = stages_of(prims, streamed)
    best = laid_out(stages, grid, images)
    left = MOST_ROWS_RUN
    for index, stage in enumerate(stages):
        if len(stage.sources) == 2 and left > 0:
            left -= sum(best.run.counts)
            swapped = (*stages[:index], dataclasses.replace(stage, sources=stage.sources[::-1]))
            other = laid_out((*swapped, *stages[index + 1 :]), grid, images)
            if sum(other.line_bytes) < sum(best.line_bytes):
                best, stages = other, other.stages
    return best


def laid_out(stages: tuple[Stage, ...], grid: Grid, images: int) -> BlockLayout:
    """Layout of stages that run in these patches of `images` images, sources asked in their order."""
    width = stages[-1].columns.count
    step = -(-width // grid.stripes)
    stripe_spans: list[tuple[tuple[int, int], ...]] = []
    for start in range(0, width, step):
        spans = demanded(stages, start, min(start + step, width), columns=True)
        # What is delivered comes as whole rows.
        whole = [
            (0, s.columns.count) if s.is_delivered else span for s, span in zip(stages, spans, strict=True)
        ]
        stripe_spans.append(tuple(whole))
    run = simulate(stages, grid.band_rows)
    return BlockLayout(stages=stages, run=run, stripes=tuple(stripe_spans), images=images)


def outside(prims: Sequence[PrimFunc]) -> tuple[Var, ...]:
    """Values the steps read but do not compute, in order of first use."""
    inner = {prim.let.var.name for prim in prims}
    values: dict[str, Var] = {}
    for prim in prims:
        for arg in prim.let.call.args:
            if isinstance(arg, Var) and arg.name not in inner:
                values.setdefault(arg.name, arg)
    return tuple(values.values())


def stages_of(prims: Sequence[PrimFunc], streamed: str | None) -> tuple[Stage, ...]:
    """The stages of a block of these steps, that of the streamed argument first."""
    places = {var.name: -1 - index for index, var in enumerate(outside(prims))}
    delivered = [delivery(var) for var in outside(prims) if var.name == streamed]
    if streamed is not None:
        places[streamed] = 0
    places |= {prim.let.var.name: len(delivered) + index for index, prim in enumerate(prims)}
    return (*delivered, *(stage_of(prim, places) for prim in prims))


def delivery(var: Var) -> Stage:
    """The stage that hands the rows of a streamed argument over."""
    _, height, width, _ = nhwc(var.type.shape)
    rows, columns = Axis(count=height, extent=height), Axis(count=width, extent=width)
    return Stage(rows=rows, columns=columns, pixel_bytes=_pixel_bytes(var), sources=(), is_delivered=True)


def _pixel_bytes(var: Var) -> int:
    return nhwc(var.type.shape)[3] * var.type.dtype.size_bytes


def stage_of(prim: PrimFunc, places: Mapping[str, int]) -> Stage:
    """A step as a stage; `places`: of the values that it reads, the numbers by which stages name sources."""
    assert prim.rows is not None
    _, height, width, _ = nhwc(prim.let.var.type.shape)
    names = dict.fromkeys(arg.name for arg in prim.let.call.args if isinstance(arg, Var))
    sources = tuple(places[name] for name in names)
    everywhere = Axis(count=height, extent=height), Axis(count=width, extent=width)
    rows, columns = prim.rows.window or everywhere
    return Stage(
        rows=rows,
        columns=columns,
        pixel_bytes=_pixel_bytes(prim.let.var),
        sources=sources,
        is_elementwise=prim.rows.window is None,
        reads_row_last=prim.rows.reads_row_last,
        turn_rows=prim.rows.turn_rows,
    )


def sharing(prims: Sequence[PrimFunc], planned: BlockLayout) -> tuple[Sharing, ...]:
    """How far the result may reach into each argument."""
    result_bytes, images = prims[-1].let.var.type.size_bytes, planned.images
    rules: list[Sharing] = []
    for index, var in enumerate(outside(prims)):
        if all(-1 - index not in stage.sources for stage in planned.stages):
            continue  # delivered row by row: there are no bytes to share
        image = RowImage(columns=nhwc(var.type.shape)[2], pixel_bytes=_pixel_bytes(var))
        first = accesses(planned.stages, planned.run, planned.stripes, -1 - index, image)
        distance = safe_distance(
            *of_images(*first, images, var.type.size_bytes // images, result_bytes // images)
        )
        least = 1 - var.type.size_bytes
        below = least if distance is None else max(distance, least)
        if below < result_bytes:
            rules.append(Sharing(argument=index, below=below))
    return tuple(rules)


def _reads(prims: Sequence[PrimFunc], planned: BlockLayout, streamed: str | None) -> dict[str, float]:
    """Bytes of each value that the steps of a block read in one run, recomputed columns each time."""
    bytes_read: dict[str, float] = {}
    for stage, prim in enumerate(prims, start=0 if streamed is None else 1):
        _, height, width, _ = nhwc(prim.let.var.type.shape)
        share = planned.pixels(stage) / (height * width)
        for arg, reads in zip(prim.let.call.args, prim.reads, strict=True):
            if isinstance(arg, Var):
                bytes_read[arg.name] = bytes_read.get(arg.name, 0.0) + share * reads * arg.type.size_bytes
    return bytes_read


def _predicted(prims: Sequence[PrimFunc], costs: Sequence[int | None], planned: BlockLayout) -> int | None:
    """The `work` of a block; None if a step has no prediction."""
    known = [cost for cost in costs if cost is not None]
    return work(prims, known, planned) if len(known) == len(prims) else None


def bind_fused(
    let: Let, prims: Sequence[PrimFunc], planned: BlockLayout, streamed: str | None = None
) -> PrimFunc:
    """The PrimFunc of FUSED `let`, whose steps are bound to `prims`, running as `planned` says."""
    params = narrow(let.call.attrs, FusedAttrs).function.params
    values = [*(param for param in params if param.name == streamed), *(prim.let.var for prim in prims)]
    lines = _lines(values, planned, params, streamed)
    places = {line.name: index for index, line in enumerate(lines)}
    stages = tuple(
        _block_stage(prim, stage, count, places, prim is prims[-1])
        for prim, stage, count in zip(
            prims,
            planned.stages[len(values) - len(prims) :],
            planned.run.counts[len(values) - len(prims) :],
            strict=True,
        )
    )
    if streamed is not None:
        delivery = BlockStage(name=streamed, op="", kernel=None, rows=planned.run.counts[0])
        stages = (delivery, *stages)
    reads = _reads(prims, planned, streamed)
    constants = [
        layer_constant(prim, constant, prim is prims[-1], planned.pixels(stage) / pixels_of(prim))
        for stage, prim in enumerate(prims, start=len(values) - len(prims))
        for constant in prim.constants
    ]
    structs = [
        layer_struct(prim, struct, prim is prims[-1], planned.images)
        for prim in prims
        for struct in prim.structs
    ]
    shared = workspace(prims)
    spaces = () if shared is None else (shared,)
    block = Block(
        stages=stages,
        lines=lines,
        stripes=planned.stripes,
        bands=planned.run.bands if len(planned.run.bands) > 1 else (),
        images=planned.images,
        streamed=streamed,
    )
    return PrimFunc(
        name=let.var.name,
        let=let,
        kernel="rows",
        symbol=f"{let.var.name}_block",
        sources=tuple(dict.fromkeys(source for prim in prims for source in prim.sources)),
        headers=tuple(dict.fromkeys(header for prim in prims for header in ("cg_kernels.h", *prim.headers))),
        argument_alignment=max(prim.argument_alignment for prim in prims),
        reads=tuple(
            reads[arg.name] / arg.type.size_bytes if isinstance(arg, Var) and arg.name in reads else 0.0
            for arg in let.call.args
        ),
        workspaces=tuple(
            Workspace(
                name=line.name,
                size_bytes=size,
                alignment=max(prim.argument_alignment for prim in prims),
                is_activation=True,
                reads=reads.get(line.name, 0.0) / size,
                writes=planned.images * planned.pixels(stage) * line.pixel_bytes / size,
            )
            for stage, (line, size) in enumerate(zip(lines, planned.line_bytes, strict=False))
        )
        + spaces,
        constants=tuple(constants),
        sharing=sharing(prims, planned),
        structs=tuple(structs),
        call_args=block.call_args,
        macs=macs(prims, planned),
        instructions=_predicted(prims, [prim.instructions for prim in prims], planned),
        measured_instructions=work(prims, list(map(estimated_work, prims)), planned),
        cycles=_predicted(prims, [prim.cycles for prim in prims], planned),
        block=block,
    )


def _lines(
    values: Sequence[Var], planned: BlockLayout, params: Sequence[Var], streamed: str | None
) -> tuple[Lines, ...]:
    lines: list[Lines] = []
    for value, width, kept in zip(values[:-1], planned.widths, planned.run.kept, strict=False):
        lines.append(_image_lines(value, WorkspaceArg(name=value.name), width, kept))
    whole: list[tuple[Var, ValueArg | ResultArg]] = [(values[-1], RESULT)]
    whole += [(p, ValueArg(index=index)) for index, p in enumerate(params) if p.name != streamed]
    for var, place in whole:
        _, height, columns, _ = nhwc(var.type.shape)
        lines.append(_image_lines(var, place, columns, height))
    return tuple(lines)


def _image_lines(var: Var, place: ValueArg | ResultArg | WorkspaceArg, columns: int, ring_rows: int) -> Lines:
    return Lines(
        name=var.name,
        place=place,
        columns=columns,
        dtype=var.type.dtype,
        pixel_bytes=_pixel_bytes(var),
        ring_rows=ring_rows,
    )


def _block_stage(
    prim: PrimFunc, stage: Stage, count: int, places: Mapping[str, int], is_last: bool
) -> BlockStage:
    assert prim.rows is not None
    values = [arg for arg in prim.let.call.args if isinstance(arg, Var)]
    leading: list[CallArg] = []
    for arg in prim.call_args:
        if isinstance(arg, ValueArg):
            break
        if not isinstance(arg, WorkspaceArg):
            leading.append(layer_argument(prim, arg, is_last))
    if prim.rows.workspace is not None:
        leading.append(WorkspaceArg(name=ROW_WORKSPACE))
    return BlockStage(
        name=prim.name,
        op=prim.let.call.op.name,
        kernel=prim.rows,
        binding=prim.kernel,
        leading=tuple(leading),
        sources=tuple(places[var.name] for var in values),
        producers=tuple(source for source in stage.sources if source >= 0),
        stride=stage.rows.stride,
        reach=stage.rows.reach + (stage.turn_rows - 1) * stage.rows.stride,
        last_row=stage.rows.extent - 1,
        rows=min(count, stage.rows.count),
    )


def fused_arguments(prims: Sequence[PrimFunc], constants: Sequence[ConstRef]) -> tuple[Var | ConstRef, ...]:
    """The arguments of the FUSED call over `prims`."""
    return (*outside(prims), *constants)
