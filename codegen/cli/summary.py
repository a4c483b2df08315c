"""Summaries for people, on stdout."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from codegen.cli.dead_channels import show_reduction, show_reduction_news
from codegen.cli.speed import show_costs, show_speed
from codegen.command.console import table
from codegen.draw.memory_map import program_map
from codegen.driver.build import Built, Planned
from codegen.driver.curve import Curve
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.planning import problem_proof
from codegen.driver.report.certificate import order_text, proof_text, ways_text, work_text
from codegen.driver.report.npu_report import npu_lines
from codegen.driver.report.rounding_certificate import rounding_lines
from codegen.driver.report.sections import copies_line, core1_line
from codegen.driver.report.several import pool_bound, used_pools
from codegen.driver.report.single import Measured
from codegen.driver.report.size_gaps import sizes_lines
from codegen.errors import counted
from codegen.ir import Board
from codegen.plan.place.access import access_cost, pool_access_cost
from codegen.problem.problem import BufferKind, MemoryPlan, Problem, peak_bytes
from codegen.program.constants import ConstantPool
from codegen.program.program import Bundle, Program, bundle_peak

if TYPE_CHECKING:
    from codegen.driver.run import StepCheck
    from codegen.driver.sized_run import AtSizes, ChecksAt
    from codegen.toolchain import FreeRange
    from codegen.toolchain.cycles import CycleEstimate


def show_plan(planned: Planned, sentence: str, proof: str) -> None:
    """One sentence, memory map, pools against their bound, constants; `proof`: that of the report."""
    program = planned.program
    click.echo(f"{sentence}\n")
    steps = counted(len(program.steps.prim_funcs), "step")
    click.echo(f"{program.name}: {steps}, {planned.macs:,} multiply-accumulates\n")
    show_reduction_news(planned)
    click.echo(program_map(program))
    click.echo()
    _pools(program, planned.own_macs, proof=proof)
    _time(planned)
    _constants(program.constants.pools, program)
    _staged(program)
    show_reduction(planned)
    _notes(planned.program)
    show_lines([*rounding_lines(planned.program), *npu_lines(planned.program)])
    show_lines(list(sizes_lines(program)))


def show_curve(curve: Curve) -> None:
    """One row a plan: what it takes, what it costs, how it runs."""
    click.echo(f"{curve.programs[0].name}: {curve.macs:,} multiply-accumulates, each layer once\n")
    rows = [
        [
            f"{point.peak_bytes:,}",
            f"{point.instructions:,}",
            f"+{point.extra_percent:.1f}",
            "yes" if program.memory.plan.proved_optimal else "no",
            ways_text(program),
        ]
        for program, point in zip(curve.programs, curve.points, strict=True)
    ]
    columns = ["peak bytes", "instructions", "extra %", "proved", "how"]
    table("", columns, rows)
    click.echo("\na --pool limit takes the first of these that fits")


def show_lines(lines: Sequence[str]) -> None:
    """Lines as they are."""
    for line in lines:
        click.echo(line)


def show_ranges(ranges: "Sequence[FreeRange]") -> None:
    """Show the bytes of each region that an application leaves free."""
    for free in ranges:
        click.echo(f"app       leaves {free.size_bytes:,} bytes of {free.pool} at 0x{free.address:08x}")


def show_build(built: Built, options: Options, sentence: str) -> None:
    """Show the sentence of a build, then what was built, where the folder is, and how large the image is."""
    click.echo(f"{sentence}\n")
    for planned in built.models:
        _headline(planned, built.board, options)
        _pools(planned.program, planned.own_macs)
        _time(planned)
        show_reduction(planned)
        _notes(planned.program)
        show_lines([*rounding_lines(planned.program), *npu_lines(planned.program)])
        show_lines(list(sizes_lines(planned.program)))
    show_shared(built.bundle)
    _stacks(built)
    _sizes(built)
    image = "no firmware.elf" if built.left_out else built.image.path.name
    image += ", firmware.uf2" if built.image.path.with_suffix(".uf2").is_file() else ""
    click.echo(f"written   {built.folder}/  (C sources, {image}, report.json)")


def show_runs(
    built: Built,
    options: Options,
    cases: Sequence[Sequence[Case]],
    measured: Sequence[Measured],
    sentence: str,
    *,
    steps: bool = False,
) -> None:
    """Show the sentence and every model's outputs, with `steps` the cost of each step; then shared bytes."""
    click.echo(f"{sentence}\n")
    for planned, model_cases, run in zip(built.models, cases, measured, strict=True):
        _show_run(built, planned, options, model_cases, run)
        if steps:
            show_costs(planned.program, run)
    show_shared(built.bundle)
    _sizes(built)


def show_sizes(built: Built, runs: "Sequence[Sequence[AtSizes]]") -> None:
    """Show for each model one row for each of the sizes: bytes planned and measured, outputs,
    instructions."""
    for planned, model_runs in zip(built.models, runs, strict=True):
        _show_sizes(planned, model_runs)
    _sizes(built)


def _show_sizes(planned: Planned, runs: "Sequence[AtSizes]") -> None:
    program = planned.program
    names = [symbol.name for symbol in program.ranges.symbols] if program.ranges else []
    pools = list(runs[0].planned_bytes) if runs else []
    head = [
        *names,
        *(word for pool in pools for word in (pool, "measured", "least")),
        "outputs",
        "instructions",
    ]
    rows: list[list[str]] = []
    for run in runs:
        [got], bytes_ = run.measured.result.cases, list[str]()
        for pool in pools:
            bound = run.bound_bytes.get(pool)
            bytes_ += [f"{run.planned_bytes[pool]:,}", f"{got.pool_peaks[pool]:,}"]
            bytes_ += ["-" if bound is None else f"{bound:,}"]
        same = all(one.matches for one in run.measured.comparisons[0])
        count = "-" if got.instructions is None else f"{got.instructions:,}"
        values = [str(run.values[name]) for name in names]
        rows.append([*values, *bytes_, "equal" if same else "differ", count])
    table(f"{program.name}: planned, measured, least", head, rows)
    show_lines(list(sizes_lines(program)))


def _show_run(
    built: Built, planned: Planned, options: Options, cases: Sequence[Case], measured: Measured
) -> None:
    """Memory map, planned against measured, outputs, instructions."""
    program = planned.program
    _headline(planned, built.board, options)
    click.echo(program_map(program))
    click.echo()
    _pools(program, planned.own_macs, measured)
    _outputs(program, cases, measured)
    first = measured.result.cases[0]
    if first.stack_peak_bytes is not None:
        from codegen.emit.model.header import stack_bytes

        bound = stack_bytes(program, built.image.sizes)
        click.echo(f"stack     {first.stack_peak_bytes:,} bytes used, static bound {bound:,}")
    if first.core1_stack_peak_bytes is not None:
        bound = built.image.sizes.core1_stack_bound_bytes
        click.echo(f"          on core 1 {first.core1_stack_peak_bytes:,} bytes used, static bound {bound:,}")
    show_speed(program, measured, built.board.clock_hz)
    if measured.estimate is not None:
        _cycles(measured.estimate, built.board.clock_hz)
    show_reduction(planned)
    _notes(planned.program)
    show_lines([*rounding_lines(planned.program), *npu_lines(planned.program)])


def _cycles(estimate: "CycleEstimate", clock_hz: int) -> None:
    """Cycles without waits at the board's clock, then with the waits at the clock of the memory model."""
    time_ = f", {estimate.total / clock_hz * 1000:.1f} ms at {clock_hz / 1e6:g} MHz" if clock_hz else ""
    click.echo(f"          about {estimate.total:,} cycles{time_} (an estimate: docs/cycles.md)")
    memory, waits = estimate.memory, estimate.total_waits
    if memory is not None and waits is not None:
        total = estimate.total + waits.total
        time_ = f"{total / memory.clock_hz * 1000:.1f} ms at {memory.clock_hz / 1e6:g} MHz"
        click.echo(f"          about {total:,} cycles, {time_}, with the flash of {memory.name}")
        click.echo(f"          ({waits.code:,} cycles wait for code, {waits.data:,} for constants)")


def show_steps(checks: "Sequence[StepCheck]") -> None:
    """One row a step: what was compared, whether it matched, what it cost."""
    rows: list[list[str]] = []
    for check in checks:
        one = check.comparison
        verdict = "view or caller's" if one is None else "equal" if one.matches else f"{one.differing} differ"
        if one is not None and check.channels is not None:
            verdict += f" ({check.channels[0]} of {check.channels[1]} channels)"
        worst = "" if one is None else f"{one.max_abs_difference:g}"
        cost = "" if check.instructions is None else f"{check.instructions:,}"
        rows.append([str(check.step), check.where, verdict, worst, cost])
    table("", ["step", "operator", "against reference", "max |d|", "instructions"], rows)


def show_steps_at(checks: "Sequence[ChecksAt]") -> None:
    """One row for each of the sizes: how many steps were compared, and which one differs first."""
    rows: list[list[str]] = []
    for at_sizes in checks:
        compared = sum(check.comparison is not None for check in at_sizes.steps)
        first = f"step {at_sizes.wrong[0].step}, {at_sizes.wrong[0].where}" if at_sizes.wrong else ""
        rows.append([*map(str, at_sizes.values.values()), str(compared), str(len(at_sizes.wrong)), first])
    table("", [*(checks[0].values if checks else []), "steps compared", "differ", "first"], rows)


def show_problem(problem: Problem, plan: MemoryPlan) -> None:
    """A bare problem's plan: peaks against bounds, and every place."""
    names = [pool.name for pool in problem.pools]
    peaks = {name: peak_bytes(problem, plan, name) for name in names}
    peak, bound = sum(peaks.values()), sum(plan.lower_bounds[name] for name in names)
    places = {buffer.id: plan.placements[buffer.id] for buffer in problem.buffers}
    rows = [[b.id, places[b.id].pool, str(places[b.id].offset), str(b.size_bytes)] for b in problem.buffers]
    table("", ["buffer", "pool", "offset", "bytes"], rows)
    if len(names) > 1:
        click.echo()
        for name in names:
            click.echo(f"pool {name}: peak {peaks[name]:,} bytes, lower bound {plan.lower_bounds[name]:,}")
        click.echo(f"access {_access(problem, plan)}")
    proof = problem_proof(problem, plan)
    click.echo(f"\npeak {peak:,} bytes, lower bound {bound:,} ({proof}), by {plan.planner}")


def _access(problem: Problem, plan: MemoryPlan) -> str:
    """The access cost, and how far that is from the best choice of pools."""
    cost, bound = access_cost(problem, plan), plan.access_cost_bound
    gap = "no choice of pools costs less" if cost == bound else f"no choice costs less than {bound:,}"
    return f"{cost:,} weighted byte accesses an inference; {gap}"


def _headline(planned: Planned, board: Board, options: Options) -> None:
    named = board.name if options.board == board.name else f"{board.name} (asked for as {options.board})"
    click.echo(f"{planned.program.name} on {named}: {board.title}\n")
    show_reduction_news(planned)


def _pools(program: Program, macs: int, measured: Measured | None = None, proof: str | None = None) -> None:
    rows: list[list[str]] = []
    for name in used_pools(program):
        pool = next(pool for pool in program.memory.problem.pools if pool.name == name)
        peak = program.memory.peak_bytes(name)
        workspaces = sum(
            buffer.size_bytes
            for buffer in program.memory.problem.buffers
            if buffer.kind is BufferKind.WORKSPACE and program.memory.plan.placements[buffer.id].pool == name
        )
        row = [
            name,
            f"{peak:,}",
            f"{program.memory.plan.lower_bounds[name]:,}",
            f"{workspaces:,}",
            f"{pool.limit_bytes:,}",
        ]
        if len(program.memory.problem.pools) > 1:
            row.append(f"{pool_access_cost(program.memory.problem, program.memory.plan, name):,}")
        if measured is not None:
            row.insert(2, f"{max(case.pool_peaks[name] for case in measured.result.cases):,}")
        rows.append(row)
    columns = ["pool", "planned peak", "lower bound", "all workspaces", "limit"]
    if len(program.memory.problem.pools) > 1:
        columns.append("access cost")
    if measured is not None:
        columns.insert(2, "measured peak")
    table("", columns, rows)
    click.echo(f"plan      {proof or proof_text(program)}")
    click.echo(f"order     {order_text(program.order)}")
    click.echo(f"work      {work_text(program, macs)}")
    if len(program.memory.problem.pools) > 1:
        click.echo(f"access    {_access(program.memory.problem, program.memory.plan)}")
    show_lines([line for line in (core1_line(program), copies_line(program)) if line is not None])


def _outputs(program: Program, cases: Sequence[Case], measured: Measured) -> None:
    equal = sum(all(one.matches for one in case) for case in measured.comparisons)
    source = measured.reference
    what = "inferences of one sequence" if measured.result.sequence else "cases"
    click.echo(f"outputs   {equal} of {len(cases)} {what} equal to {source.name}")
    if len(cases) == 1:
        for tensor, one in zip(program.signature.outputs, measured.comparisons[0], strict=True):
            click.echo(
                f"          {tensor.field} {tensor.type}: sha256 {one.sha256[:16]}, "
                f"max |d| {one.max_abs_difference:g}"
            )
    show_lines(source.lines())


def show_shared(bundle: Bundle) -> None:
    """Constants, and of several models the pools that they share."""
    if not bundle.is_single:
        click.echo(f"\nall {len(bundle.programs)} models\n")
        rows = [
            [
                pool.name,
                f"{bundle_peak(bundle, pool.name):,}",
                f"{pool_bound(bundle, pool.name):,}",
                ", ".join(
                    f"{model} from {base:,}"
                    for (model, name), base in bundle.bases.items()
                    if name == pool.name
                ),
            ]
            for pool in bundle.pools
        ]
        table("", ["pool", "planned peak", "lower bound", "models"], rows)
        apart = [" and ".join(group) for group in bundle.concurrent]
        click.echo(f"together  {'; '.join(apart) or 'no two models run at the same time'}")
    _constants(bundle.constants, bundle.programs[0])
    for program in bundle.programs:
        _staged(program, "" if bundle.is_single else f"{program.name}: ")


def _constants(pools: Sequence[ConstantPool], program: Program) -> None:
    for pool in pools:
        merged = f", {pool.merged_bytes:,} saved by merging" if pool.merged_bytes else ""
        where = f"in {pool.name}"
        if program.interface.external:
            where = f"not in the image: the caller's, planned as if in {pool.name}"
        click.echo(f"constants {pool.size_bytes:,} bytes {where}{merged}")


def _staged(program: Program, of: str = "") -> None:
    """Show which constants are copied to faster memory or decoded. `of` names the model where there are
    several."""
    _compressed(program)
    if not program.constants.copied:
        return
    costs, copies = (
        program.constants.costs,
        [copy for copy in program.constants.copied if copy.copied_at is not None],
    )
    where = ", ".join(dict.fromkeys(copy.pool for copy in program.constants.copied))
    lasting = sum(copy.size_bytes for copy in program.constants.copied if copy.copied_at is None)
    copied = sum(copy.size_bytes for copy in copies)
    made = counted(len(copies), "copy", "copies")
    click.echo(
        f"staged    {of}{lasting:,} bytes at start-up, {copied:,} bytes in {made} "
        f"an inference, to {where}; reads of constants cost {costs.chosen:,}, "
        f"without copies {costs.linked:,}, at best {costs.bound:,}"
    )


def _compressed(program: Program) -> None:
    if program.constants.compression is None:
        return
    copies, costs = program.constants.unpacked, program.constants.compression
    buffers = max(copy.size_bytes for copy in copies)
    constants = counted(len(copies), "constant")
    click.echo(
        f"compressed {constants}, {costs.original_bytes:,} bytes as kernels read them, at least "
        f"{costs.least_bytes:,}; decoding takes {costs.instructions:,} instructions an inference (no choice "
        f"less than {costs.instructions_bound:,}), buffers of up to {buffers:,} bytes"
    )


def _time(planned: Planned) -> None:
    """Printed only: a report that held it would differ from build to build."""
    click.echo(f"time      {planned.program.memory.plan.seconds:.2f} s in the planner")


def _notes(program: Program) -> None:
    for name in program.without_elements:
        click.echo(f"empty     {name} has no elements, so no member in C")
    for note in program.notes:
        click.echo(f"note      {note}")


def _sizes(built: Built) -> None:
    sizes = built.image.sizes
    click.echo(
        f"image     model code {sizes.model_code_bytes:,} bytes; with test link: text {sizes.text_bytes:,}, "
        f"rodata {sizes.rodata_bytes:,}, data {sizes.data_bytes:,}, bss {sizes.bss_bytes:,}"
    )
    click.echo(f"build     sha256 {built.image.build_sha256}")


def _stacks(built: Built) -> None:
    """Show the static stack bound of a call; of a run it stands beside what calls took."""
    from codegen.emit.model.header import stack_bytes

    known = [(program.name, stack_bytes(program, built.image.sizes)) for program in built.bundle.programs]
    told = [f"{name} {size:,} bytes" for name, size in known if size is not None]
    if told:
        click.echo(f"stack     static bound of a call: {', '.join(told)}")
