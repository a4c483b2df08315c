"""The page: what templates/tools/page needs, filled into one HTML file that loads nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from codegen.api import render_page
from codegen.report_file import Buffer, CurvePoint, Report, Step, typed
from codegen.report_product import ProductModel
from codegen.tools.page import curve_chart, flash_chart, memory_chart
from codegen.tools.page.columns import Column, cost_field, curve_columns, step_columns
from codegen.tools.page.differences import Differences, differences, parts
from codegen.tools.page.words import (
    COUNTED,
    FIXED,
    KINDS,
    OPTIMISED,
    RUNNERS,
    Reasons,
    bound_words,
    curve_words,
    flow_words,
    layer_words,
    name_of,
    shape_words,
    window_words,
    writer,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """The C of a step: its file, the number of its first line, its lines."""

    file: str
    line: int
    text: str


Excerpts = Mapping[str, Mapping[int, Excerpt]]
"""Model -> step -> its C."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BufferRow:
    """A row of the page's table of buffers. `near`: numbers of buffers that it lies over or rests on."""

    index: int
    buffer: Buffer
    name: str
    shape: str
    kind: str
    writer: str
    why: str
    near: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StepRow:
    """A row of the page's table of steps. `share`: its cost in percent of the costliest step's."""

    index: int
    step: Step
    share: float
    cost: str
    """Name of the report's field that is the cost: cycles, instructions or multiply-accumulates."""
    layers: str
    """The step's layers in words: window of each, name of each in a block."""
    shapes: str
    excerpt: Excerpt | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanRow:
    """A row of the table of plans, RAM against work. `how`: what makes this plan small, in words."""

    index: int
    point: CurvePoint
    how: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Chip:
    """A check of a build or run in the page's head, and whether it holds; None if it was not made."""

    text: str
    holds: bool | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One model's chapter of the page. `prefix`: what its keys in report.json begin with."""

    number: int
    prefix: str
    name: str
    report: Report
    charts: tuple[memory_chart.MemoryChart, ...]
    buffers: tuple[BufferRow, ...]
    steps: tuple[StepRow, ...]
    columns: tuple[Column, ...]
    curve: curve_chart.CurveChart | None
    plans: tuple[PlanRow, ...]
    """Plans of the curve, with or without a chart."""
    curve_columns: tuple[Column, ...]
    chips: tuple[Chip, ...]


def page(
    document: Mapping[str, object],
    *,
    against: Mapping[str, object] | None = None,
    excerpts: Excerpts | None = None,
) -> str:
    """The page of a report; `against`: that of an earlier build, whose differences it shows too.

    Raises msgspec.ValidationError for a document that is no report.
    """
    report = typed(document)
    changes: Differences | None = None if against is None else differences(typed(against), report)
    models = tuple(
        _part(
            number,
            prefix,
            part,
            (excerpts or {}).get(part.model.name if part.model else "", {}),
            report.product.models[number] if report.product else None,
        )
        for number, (prefix, part) in enumerate(parts(report))
    )
    return render_page(
        "tools/page/page.html.j2",
        report=report,
        document=document,
        against=against,
        parts=models,
        single=models[0] if report.models is None else None,
        title=", ".join(part.name for part in models),
        flash=flash_chart.flash_groups(report),
        flash_size=(flash_chart.WIDTH, flash_chart.HEIGHT),
        differences=changes,
        kinds=KINDS,
        runners=RUNNERS,
        counted=COUNTED,
        fixed=FIXED,
        optimised=OPTIMISED,
        bound_words=bound_words,
        curve_words=curve_words,
        shape_words=shape_words,
        window_words=window_words,
        frame=curve_chart,
        left=memory_chart.LEFT,
        top=memory_chart.TOP,
        field_height=memory_chart.HEIGHT,
        right=memory_chart.RIGHT,
    )


def _part(
    number: int,
    prefix: str,
    report: Report,
    excerpts: Mapping[int, Excerpt],
    product: ProductModel | None,
) -> Part:
    plan = report.plan
    pools, buffers = (plan.pools, plan.buffers or ()) if plan else ((), ())
    steps = report.steps or ()
    run = report.run
    measured = {pool.name: index for index, pool in enumerate(run.pools)} if run else {}
    columns = step_columns(steps)
    return Part(
        number=number,
        prefix=prefix,
        name=report.model.name if report.model else "problem",
        report=report,
        charts=memory_chart.memory_charts(pools, buffers, steps, measured),
        buffers=tuple(_buffer_rows(buffers, {pool.name: pool.peak_bytes for pool in pools}, steps, product)),
        steps=tuple(_step_rows(steps, excerpts)),
        columns=columns,
        curve=curve_chart.curve_chart(report.pareto or ()),
        plans=tuple(
            PlanRow(index=index, point=point, how=curve_chart.how(point))
            for index, point in enumerate(report.pareto or ())
        ),
        curve_columns=curve_columns(),
        chips=tuple(_chips(report)),
    )


def _buffer_rows(
    buffers: Sequence[Buffer],
    peaks: Mapping[str, int],
    steps: Sequence[Step],
    product: ProductModel | None,
) -> Iterator[BufferRow]:
    reasons = Reasons(buffers, peaks)
    numbers = {buffer.id: index for index, buffer in enumerate(buffers)}
    shapes = _shapes(steps, product)
    for index, buffer in enumerate(buffers):
        near = dict.fromkeys([*(shared.id for shared in buffer.over), *buffer.rests_on])
        yield BufferRow(
            index=index,
            buffer=buffer,
            name=name_of(buffer),
            shape=", ".join(dict.fromkeys(shapes[value] for value in buffer.values if value in shapes)),
            kind=KINDS.get(buffer.kind, buffer.kind),
            writer=writer(buffer, steps),
            why=reasons.why(buffer),
            near=" ".join(str(numbers[id_]) for id_ in near),
        )


def _shapes(steps: Sequence[Step], product: ProductModel | None) -> dict[str, str]:
    """Value -> its shape: of inputs and outputs as the application sees them, of all results of layers."""
    edges = (*product.inputs, *product.outputs) if product else ()
    shapes = {edge.field: edge.shape for edge in edges}
    shapes |= {layer.name: layer.result for step in steps for layer in step.layers}
    return {name: shape_words(shape) for name, shape in shapes.items()}


def _step_rows(steps: Sequence[Step], excerpts: Mapping[int, Excerpt]) -> Iterator[StepRow]:
    cost = cost_field(steps)
    most = max((getattr(step, cost) or 0 for step in steps), default=0)
    for index, step in enumerate(steps):
        share = 100 * (getattr(step, cost) or 0) / most if most else 0.0
        yield StepRow(
            index=index,
            step=step,
            share=share,
            cost=cost,
            layers=layer_words(step.layers),
            shapes=flow_words(step.layers),
            excerpt=excerpts.get(step.step),
        )


def _chips(report: Report) -> Iterator[Chip]:
    plan, run = report.plan, report.run
    if plan is not None:
        yield Chip(text="plan proved optimal", holds=plan.proved_optimal or None)
    if run is not None and plan is not None:
        planned = {pool.name: pool.peak_bytes for pool in plan.pools}
        same = all(planned.get(pool.name) == pool.peak_bytes for pool in run.pools)
        yield Chip(text="measured peak is the planned peak", holds=same)
        yield Chip(text="outputs equal the reference", holds=all(output.matches for output in run.outputs))
        yield Chip(text="nothing written beside the pools", holds=run.guards_intact)
    else:
        yield Chip(text="not run yet: nothing is measured", holds=None)
