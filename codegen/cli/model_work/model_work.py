"""Work of the verbs build, run and validate, once the command line is known to be sound."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from codegen import board as catalogue
from codegen.cli.boards.tool_flags import RealBoard
from codegen.cli.case_files import by_model, check_arrays, model_cases
from codegen.cli.model_work.notes import show_names, show_spilled
from codegen.cli.model_work.run_flags import OutputFlags, TargetFlags
from codegen.cli.model_work.sized_verbs import run_sizes, validate_sizes
from codegen.cli.speed import check_counted
from codegen.cli.summary import (
    show_build,
    show_lines,
    show_ranges,
    show_runs,
    show_steps,
)
from codegen.cli.watching import on_change
from codegen.command.console import progress, show_warnings
from codegen.command.file_checks import keep_inputs
from codegen.documents import to_json
from codegen.driver.application import within_application
from codegen.driver.build import Built, document, memory_of
from codegen.driver.build import build as build_models
from codegen.driver.cycle_estimate import estimate_cycles
from codegen.driver.example import show_accuracy
from codegen.driver.inputs.cases import ArraySource
from codegen.driver.inputs.files import DATA, build_folder, write_file
from codegen.driver.inputs.models import model_names
from codegen.driver.options import Options
from codegen.driver.report.single import Measured
from codegen.driver.run import (
    RunConditions,
    all_complaints,
    check_steps,
    execute,
    execute_all,
    patience_of,
    step_complaints,
)
from codegen.driver.sized_run import check_at
from codegen.errors import CodegenError, ExitCode
from codegen.program.image import Trace

if TYPE_CHECKING:
    from codegen.toolchain import FreeRange


def build(paths: Sequence[Path], options: Options, output: OutputFlags, *, watch: bool) -> int:
    """Build `paths`, again and again with `watch`; return the exit code."""
    options, ranges = within_application(options)
    show_names(model_names(paths, options.names), output.quiet)

    def once() -> int:
        return _build(paths, options, ranges, output)

    return on_change(paths, once) if watch else once()


def _build(
    paths: Sequence[Path], options: Options, ranges: "Sequence[FreeRange]", output: OutputFlags
) -> int:
    target = output.folder or Path("out") / paths[0].stem
    with progress(output.is_silent) as stage:
        built = build_models(paths, options, target, progress=stage)
        told = document(built, options)
        text = to_json(told)
        text, lines = output.report_files.finish_build(text, target, target, paths, options, stage)
    show_warnings(built.warnings)
    for planned in built.models:
        show_spilled(planned.program, output.quiet)
    if output.as_json:
        click.echo(text, nl=False)
    elif not output.quiet:
        show_build(built, options, str(told["summary"]))
        show_ranges(ranges)
        show_lines(lines)
    return ExitCode.OK


@dataclass(frozen=True, kw_only=True, slots=True)
class RunChoices:
    """Flags of `codegen run` that are of no other verb."""

    inputs: Sequence[str]
    expected: Sequence[str]
    real: RealBoard
    svg: Path | None
    sequence: bool
    steps: bool
    count_cycles: bool
    is_example: bool
    """Neither a model nor arrays are named: the shipped example runs on its held-out images."""


def run(paths: Sequence[Path], options: Options, shared: TargetFlags, asked: RunChoices) -> int:
    """Build, run and compare; return the exit code."""
    port, real, svg = shared.port, asked.real, asked.svg
    folder, report_files = shared.output.folder, shared.output.report_files
    as_json, quiet = shared.output.as_json, shared.output.quiet
    sequence, steps, sandbox = asked.sequence, asked.steps, options.sandbox
    models_named = model_names(paths, options.names)
    show_names(models_named, quiet)
    names = [model.name for model in models_named]
    inputs, expected = by_model("--input", asked.inputs, names), by_model("--expect", asked.expected, names)
    check_arrays(inputs.values(), expected.values())
    arrays = [source.path for source in (*inputs.values(), *expected.values())]
    pictures = [] if svg is None else [("--svg", svg)]
    keep_inputs(paths, options, written=pictures, arrays=arrays)
    options, ranges = within_application(options, emulated=port is None)
    catalogue.check_can_run(catalogue.load_board(options.board), port)
    real.check(options.board, port)
    if steps:
        check_counted(catalogue.load_board(options.board), sandboxed=sandbox)
    memory = memory_of(options)
    flags = {"--input": asked.inputs, "--expect": asked.expected, "--sequence": sequence, "--steps": steps}
    flags |= {"--cycles": asked.count_cycles, "--flash": real.flashing}
    others = [flag for flag, value in flags.items() if value]
    others += [flag.flag for flag in report_files.flags]
    check_at(options, shared.at, models=len(paths), others=others, svg=svg)
    if options.has_ranges:
        return run_sizes(paths, options, shared, svg)
    with build_folder(folder) as target, progress(shared.output.is_silent) as stage:
        built = build_models(paths, options, target, emulated=port is None, progress=stage)
        show_warnings(built.changed)  # left_out ends the run as an error
        for planned in built.models:
            show_spilled(planned.program, quiet)
        built = real.prepared(built, port, stage)
        cases = model_cases(built, paths, inputs, expected, options, sequence=sequence)
        trace = Trace.COST if as_json or report_files or steps or folder is not None else Trace.NONE
        measured = execute_all(
            built,
            cases,
            RunConditions(
                port=port,
                trace=trace,
                sandboxed=sandbox,
                sequence=sequence,
                patience=patience_of(options),
                choice=shared.choice,
            ),
            progress=stage,
        )
        if asked.count_cycles:
            stage("estimate cycles")
            measured = [
                replace(one, estimate=estimate_cycles(built, cases[index][0], model=index, memory=memory))
                for index, one in enumerate(measured)
            ]
        told = document(built, options, measured)
        text = to_json(told)
        if folder is not None:
            write_file(target / DATA, text.encode())
        text, lines = report_files.finish_build(text, target, folder or Path(), paths, options, stage)
        problems = all_complaints(built, cases, measured)
    if as_json and not problems:
        click.echo(text, nl=False)
    elif not quiet and not as_json:
        show_runs(built, options, cases, measured, str(told["summary"]), steps=steps)
        show_ranges(ranges)
        show_lines(lines)
        if asked.is_example:
            show_accuracy(built.models[0], measured[0], click.echo)
    if problems:
        raise CodegenError(problems)
    return ExitCode.OK


def validate(path: Path, options: Options, input_: str | None, shared: TargetFlags) -> int:
    """Build, and compare every step with the reference; return the exit code."""
    port, output = shared.port, shared.output
    inputs = [] if input_ is None else [ArraySource.parse(input_)]
    check_arrays(inputs, ())
    keep_inputs([path], options, arrays=[source.path for source in inputs])
    show_names(model_names([path], options.names), output.quiet)
    options, _ = within_application(options, emulated=port is None)
    catalogue.check_can_run(catalogue.load_board(options.board), port)
    check_at(options, shared.at, models=1, others=["--input"] if inputs else [])
    if options.has_ranges:
        return validate_sizes(path, options, shared)
    with build_folder(output.folder) as target, progress(shared.output.is_silent) as stage:
        built = build_models([path], options, target, emulated=port is None, progress=stage)
        show_warnings(built.changed)  # as above
        source = dict(zip([built.models[0].program.name], inputs, strict=False))
        [cases] = model_cases(built, [path], source, {}, options)
        measured = execute(
            built,
            cases,
            RunConditions(
                port=port,
                trace=Trace.RESULTS,
                patience=patience_of(options),
                choice=replace(shared.choice, every_step=True),
            ),
            progress=stage,
        )
        if output.folder is not None:
            write_file(target / DATA, _document(built, options, [measured]).encode())
        checks = check_steps(built.models[0], cases[0], measured, progress=stage)
    problems = [*measured.reference.faults, *step_complaints(checks)]
    if output.as_json and not problems:
        click.echo(_document(built, options, [measured]), nl=False)
    elif not output.is_silent:
        show_steps(checks)
        show_lines(measured.reference.lines())
    if problems:
        raise CodegenError(problems)
    return ExitCode.OK


def _document(built: Built, options: Options, measured: Sequence[Measured]) -> str:
    return to_json(document(built, options, measured))
