"""The verbs that work on a model: build, run, validate, plan."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from codegen import board as catalogue
from codegen.cli.boards.tool_flags import RealBoard, gdb_flag, real_board_flags
from codegen.cli.case_files import by_model, check_arrays, check_problem, keep_inputs, model_cases
from codegen.cli.console import progress, show_warnings
from codegen.cli.options.flags import groups, model_flags
from codegen.cli.options.option_table import CONCURRENT, FIRMWARE, LOCK, PORT, GroupedVerb, option
from codegen.cli.options.watching import on_change
from codegen.cli.plan_files import PlanFiles, check_picture, plan_files
from codegen.cli.reports.pages import DATA, PAGE, REPORT_FLAG, BuildPage, with_curve, write_page
from codegen.cli.sized_verbs import Way, run_sizes, validate_sizes
from codegen.cli.speed import check_counted
from codegen.cli.summary import (
    show_build,
    show_curve,
    show_lines,
    show_names,
    show_plan,
    show_problem,
    show_ranges,
    show_runs,
    show_steps,
)
from codegen.cli.verb_table import VERBS
from codegen.driver.application import within_application
from codegen.driver.build import Built, document, memory_of
from codegen.driver.build import build as build_models
from codegen.driver.curve import curve_report, plan_curve
from codegen.driver.cycle_estimate import estimate_cycles
from codegen.driver.example import example_model, show_accuracy
from codegen.driver.inputs.cases import ArraySource
from codegen.driver.inputs.files import build_folder, existing, write_file
from codegen.driver.inputs.models import model_name, model_names
from codegen.driver.options import Options
from codegen.driver.planning import plan_only, plan_problem, problem_report
from codegen.driver.report.single import Measured, report, to_json
from codegen.driver.run import all_complaints, check_steps, execute, execute_all, step_complaints
from codegen.driver.sized_run import check_at
from codegen.errors import CodegenError, ExitCode, Message
from codegen.program.image import Trace
from codegen.settings import Firmware
from codegen.toolchain import FreeRange

_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout and nothing else.")
_QUIET = click.option("-q", "--quiet", is_flag=True, help="No progress, no summary.")
_AT = click.option(
    "--at",
    metavar="T=37|all|breakpoints",
    help="With --dim: the sizes to run at, all of them, or (the default) the ends and where the plan turns.",
)
_FOLDER = click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder to write. A later build replaces what codegen wrote there and keeps all other files.",
)
_PROBLEMS = (".csv", ".json")
"""Suffixes of bare problems."""


@click.command(cls=GroupedVerb, help=VERBS["build"].help)
@click.argument("models", nargs=-1, type=click.Path(path_type=Path), metavar="[MODEL]...")
@_FOLDER
@option(CONCURRENT)
@option(LOCK)
@option(FIRMWARE)
@click.option("--watch", is_flag=True, help="Build again whenever a MODEL changes, until Ctrl-C.")
@model_flags()
@REPORT_FLAG
@_JSON
@_QUIET
def build(
    models: tuple[Path, ...],
    folder: Path | None,
    concurrent: tuple[str, ...],
    lock: Path | None,
    firmware: Firmware,
    watch: bool,
    options: Options,
    as_page: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """`codegen build`."""
    paths = [existing(path) for path in models] or [example_model()]
    keep_inputs(paths, options)
    options = replace(options, concurrent=groups(concurrent), lock=lock, firmware=firmware)
    options, ranges = within_application(options)
    show_names(model_names(paths, options.names), quiet)
    target = folder or Path("out") / paths[0].stem
    if watch and as_json:
        raise click.UsageError("--watch prints more than one document: leave --json out")

    def once() -> int:
        return _build(paths, options, target, ranges, as_page=as_page, as_json=as_json, quiet=quiet)

    return on_change(paths, once) if watch else once()


def _build(
    paths: Sequence[Path],
    options: Options,
    target: Path,
    ranges: Sequence[FreeRange],
    *,
    as_page: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    with progress(quiet or as_json) as stage:
        built = build_models(paths, options, target, progress=stage)
        text = (target / DATA).read_text(encoding="utf-8")
        text, lines = BuildPage(wanted=as_page, paths=paths, options=options).finish(
            text, target, target / PAGE, stage
        )
    show_warnings(built.warnings)
    if as_json:
        click.echo(text, nl=False)
    elif not quiet:
        show_build(built, options)
        show_ranges(ranges)
        show_lines(lines)
    return ExitCode.OK


@click.command(cls=GroupedVerb, help=VERBS["run"].help)
@click.argument("models", nargs=-1, type=click.Path(path_type=Path), metavar="[MODEL]...")
@_FOLDER
@option(CONCURRENT)
@option(LOCK)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="X.npz[:CASE]",
    help="Inputs x0, x1, ... (CASE_x0, ...); of several models NAME=X.npz[:CASE].",
)
@click.option(
    "--expect",
    "expected",
    multiple=True,
    metavar="Y.npz[:CASE]",
    help="Expected outputs y0, y1, ..., named like --input; else NumPy evaluates.",
)
@option(PORT)
@real_board_flags
@_AT
@click.option(
    "--svg",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --dim: draw the peak over the sizes, planned, measured and the lower bound.",
)
@click.option(
    "--sandbox",
    is_flag=True,
    help="Let the MPU (Armv8-M) open to each step only its own buffers, all aligned to 32 bytes.",
)
@click.option(
    "--sequence",
    is_flag=True,
    help="Run the cases one after another, state kept: row k of each array is the k-th inference.",
)
@click.option(
    "--steps",
    is_flag=True,
    help="Print what each step takes: instructions on QEMU, cycles of a real board's counter.",
)
@click.option(
    "--cycles",
    "count_cycles",
    is_flag=True,
    help="Estimate the cycles of every step: QEMU counts, times published timings (docs/cycles.md).",
)
@model_flags()
@REPORT_FLAG
@_JSON
@_QUIET
def run(
    models: tuple[Path, ...],
    folder: Path | None,
    concurrent: tuple[str, ...],
    lock: Path | None,
    inputs: tuple[str, ...],
    expected: tuple[str, ...],
    port: str | None,
    real: RealBoard,
    at: str | None,
    svg: Path | None,
    sandbox: bool,
    sequence: bool,
    steps: bool,
    count_cycles: bool,
    options: Options,
    as_page: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """`codegen run`."""
    paths = [existing(path) for path in models] or [example_model()]
    options = replace(options, sandbox=sandbox, concurrent=groups(concurrent), lock=lock)
    models_named = model_names(paths, options.names)
    show_names(models_named, quiet)
    names = [each.name for each in models_named]
    given, wanted = by_model("--input", inputs, names), by_model("--expect", expected, names)
    check_arrays(given.values(), wanted.values())
    arrays = [each.path for each in (*given.values(), *wanted.values())]
    pictures = [] if svg is None else [("--svg", svg)]
    keep_inputs(paths, options, written=pictures, arrays=arrays)
    check_picture(svg)
    options, ranges = within_application(options, emulated=port is None)
    catalogue.check_can_run(catalogue.load_board(options.board), port)
    real.check(options.board, port)
    if steps:
        check_counted(catalogue.load_board(options.board), sandboxed=sandbox)
    memory = memory_of(options)
    asked = {"--input": inputs, "--expect": expected, "--sequence": sequence, "--steps": steps}
    asked |= {"--cycles": count_cycles, "--report": as_page, "--flash": real.flashing}
    others = [flag for flag, value in asked.items() if value]
    check_at(options, at, models=len(paths), others=others, svg=svg)
    if options.dims:
        way = Way(at=at or "breakpoints", folder=folder, port=port, as_json=as_json, quiet=quiet)
        return run_sizes(paths, options, way, svg)
    with build_folder(folder) as target, progress(quiet or as_json) as stage:
        built = build_models(paths, options, target, emulated=port is None, progress=stage)
        show_warnings(built.changed)  # left_out ends the run as an error
        built = real.prepared(built, port, stage)
        cases = model_cases(built, paths, given, wanted, options, sequence=sequence)
        trace = Trace.COST if as_json or as_page or steps or folder is not None else Trace.NONE
        measured = execute_all(
            built, cases, port=port, trace=trace, sandboxed=sandbox, sequence=sequence, progress=stage
        )
        if count_cycles:
            stage("estimate cycles")
            measured = [
                replace(one, estimate=estimate_cycles(built, cases[index][0], model=index, memory=memory))
                for index, one in enumerate(measured)
            ]
        text = _document(built, options, measured)
        if folder is not None:
            write_file(target / DATA, text.encode())
        place = (folder or Path()) / PAGE
        text, lines = BuildPage(wanted=as_page, paths=paths, options=options).finish(
            text, target, place, stage
        )
        problems = all_complaints(built, cases, measured)
    if as_json and not problems:
        click.echo(text, nl=False)
    elif not quiet and not as_json:
        show_runs(built, options, cases, measured, steps=steps)
        show_ranges(ranges)
        show_lines(lines)
        if not models and not inputs and not expected:
            show_accuracy(built.models[0], measured[0], click.echo)
    if problems:
        raise CodegenError(problems)
    return ExitCode.OK


@click.command(cls=GroupedVerb, help=VERBS["validate"].help)
@click.argument("model", required=False, type=click.Path(path_type=Path))
@_FOLDER
@click.option(
    "--input", "input_", metavar="X.npz[:CASE]", help="Inputs x0, x1, ...; else made up from --seed."
)
@option(PORT)
@gdb_flag
@_AT
@model_flags()
@_JSON
@_QUIET
def validate(
    model: Path | None,
    folder: Path | None,
    input_: str | None,
    port: str | None,
    at: str | None,
    options: Options,
    as_json: bool,
    quiet: bool,
) -> int:
    """`codegen validate`."""
    path = example_model() if model is None else existing(model)
    given = [] if input_ is None else [ArraySource.parse(input_)]
    check_arrays(given, ())
    keep_inputs([path], options, arrays=[each.path for each in given])
    show_names(model_names([path], options.names), quiet)
    options, _ = within_application(options, emulated=port is None)
    catalogue.check_can_run(catalogue.load_board(options.board), port)
    check_at(options, at, models=1, others=["--input"] if given else [])
    if options.dims:
        way = Way(at=at or "breakpoints", folder=folder, port=port, as_json=as_json, quiet=quiet)
        return validate_sizes(path, options, way)
    with build_folder(folder) as target, progress(quiet or as_json) as stage:
        built = build_models([path], options, target, emulated=port is None, progress=stage)
        show_warnings(built.changed)  # as above
        source = dict(zip([built.models[0].program.name], given, strict=False))
        [cases] = model_cases(built, [path], source, {}, options)
        measured = execute(built, cases, port=port, trace=Trace.RESULTS, progress=stage)
        if folder is not None:
            write_file(target / DATA, _document(built, options, [measured]).encode())
        checks = check_steps(built.models[0], cases[0], measured, progress=stage)
    problems = step_complaints(checks)
    if as_json and not problems:
        click.echo(_document(built, options, [measured]), nl=False)
    elif not quiet and not as_json:
        show_steps(checks)
    if problems:
        raise CodegenError(problems)
    return ExitCode.OK


@click.command(cls=GroupedVerb, help=VERBS["plan"].help)
@click.argument("source", required=False, type=click.Path(path_type=Path), metavar="[MODEL|PROBLEM.csv]")
@plan_files
@model_flags(board_default=None, without=("stack",))  # no compiler: no stack is known
@REPORT_FLAG
@_JSON
@_QUIET
def plan(
    source: Path | None, options: Options, outputs: PlanFiles, as_page: bool, as_json: bool, quiet: bool
) -> int:
    """`codegen plan`."""
    kinds = "a .tflite or .onnx file, or of a problem (.csv, .json)"
    path = example_model() if source is None else existing(source, kinds)
    pages = [("--report", outputs.folder / PAGE)] if as_page else []
    keep_inputs([path], options, written=[*outputs.written, *pages])
    check_picture(outputs.svg)
    if path.suffix in _PROBLEMS and not outputs.pareto:
        check_problem(path, options)
    options, ranges = within_application(options)
    if path.suffix not in _PROBLEMS:
        show_names(model_names([path], options.names), quiet)
    if outputs.pareto and as_page:
        raise click.UsageError("--report shows the curve too: leave out --pareto")
    if outputs.pareto:
        return _plan_curve(path, options, outputs, as_json=as_json, quiet=quiet)
    if path.suffix in _PROBLEMS:
        with progress(quiet or as_json) as stage:
            stage(f"plan {path.name}")
            problem, found = plan_problem(path, options)
        document = problem_report(problem, found)
        written = outputs.of_problem(path, problem, found, options) + outputs.of_document(document)
        show = partial(show_problem, problem, found)
    else:
        with progress(quiet or as_json) as stage:
            planned = plan_only(path, options, progress=stage)
            document = report(planned.program, options.board, planned.macs, reduction=planned.reduction)
            if as_page:
                document = with_curve(document, [path], options, stage)
        written = outputs.of_program(path, planned.program, options) + outputs.of_document(document)
        show = partial(show_plan, planned)
    if as_page:
        written.append(write_page(document, outputs.folder / PAGE))
    if as_json:
        click.echo(to_json(document), nl=False)
    elif not quiet:
        show()
        show_ranges(ranges)
        show_lines(written)
    return ExitCode.OK


def _plan_curve(path: Path, options: Options, outputs: PlanFiles, *, as_json: bool, quiet: bool) -> int:
    if path.suffix in _PROBLEMS:
        text = f"{path.name} is a bare problem: no work to trade for its bytes"
        raise CodegenError(Message(code="E209", text=text, help="--pareto is for models"))
    name = model_name(path, options.names)
    with progress(quiet or as_json) as stage:
        found = plan_curve(path, options, name, stage)
    document = curve_report(found, options.board)
    written = outputs.of_curve(found) + outputs.of_document(document)
    if as_json:
        click.echo(to_json(document), nl=False)
    elif not quiet:
        show_curve(found)
        show_lines(written)
    return ExitCode.OK


def _document(built: Built, options: Options, measured: Sequence[Measured]) -> str:
    return to_json(document(built, options, measured))
