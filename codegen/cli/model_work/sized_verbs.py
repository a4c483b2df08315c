"""`run` and `validate` of a model whose sizes are ranges: at each of some sizes."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from codegen.cli.model_work.run_flags import TargetFlags
from codegen.cli.plan_files import PEAKS
from codegen.cli.summary import show_lines, show_sizes, show_steps, show_steps_at
from codegen.command.console import progress, show_warnings
from codegen.driver.build import build
from codegen.driver.inputs.files import build_folder, write_file
from codegen.driver.options import Options
from codegen.driver.plan_export import write_text
from codegen.driver.run import RunConditions, patience_of
from codegen.driver.sized_run import (
    complaints_at,
    run_at,
    run_picture,
    sized_document,
    sizes_asked,
    steps_at,
)
from codegen.errors import CodegenError, ExitCode
from codegen.program.image import Trace

_BREAKPOINTS = "breakpoints"
"""Sizes at which a run is made where `--at` names none."""


def run_sizes(paths: Sequence[Path], options: Options, flags: TargetFlags, svg: Path | None) -> int:
    """`run --dim`; `svg`: the file of a picture, of one model."""
    with build_folder(flags.output.folder) as target, progress(flags.output.is_silent) as stage:
        built = build(paths, options, target, emulated=flags.port is None, progress=stage)
        show_warnings(built.changed)
        sizes = [sizes_asked(planned, flags.at or _BREAKPOINTS) for planned in built.models]
        runs = [
            run_at(
                built,
                model_sizes,
                seed=options.seed,
                conditions=RunConditions(
                    port=flags.port,
                    sandboxed=options.sandbox,
                    patience=patience_of(options),
                    choice=flags.choice,
                ),
                model=index,
                progress=stage,
            )
            for index, model_sizes in enumerate(sizes)
        ]
        if flags.output.folder is not None:
            write_file(target / "report.json", sized_document(built, options, runs).encode())
        if svg is not None:
            write_text(svg, run_picture(built, runs[0]))
        problems = [message for model_runs in runs for message in complaints_at(model_runs)]
    if flags.output.as_json and not problems:
        click.echo(sized_document(built, options, runs), nl=False)
    elif not flags.output.quiet and not flags.output.as_json:
        show_sizes(built, runs)
        show_lines([] if svg is None else [f"written   {svg}  ({PEAKS})"])
    if problems:
        raise CodegenError(problems)
    return ExitCode.OK


def validate_sizes(path: Path, options: Options, flags: TargetFlags) -> int:
    """`validate --dim`: every step at each of the sizes."""
    with build_folder(flags.output.folder) as target, progress(flags.output.is_silent) as stage:
        built = build([path], options, target, emulated=flags.port is None, progress=stage)
        show_warnings(built.changed)
        sizes = sizes_asked(built.models[0], flags.at or _BREAKPOINTS)
        traced = run_at(
            built,
            sizes,
            seed=options.seed,
            conditions=RunConditions(
                port=flags.port,
                trace=Trace.RESULTS,
                patience=patience_of(options),
                choice=replace(flags.choice, every_step=True),
            ),
            progress=stage,
        )
        checks = steps_at(traced, stage)
        if flags.output.folder is not None:
            write_file(target / "report.json", sized_document(built, options, [traced], checks).encode())
        problems = [message for check in checks for message in check.complaints]
        problems = [*(fault for run in traced for fault in run.measured.reference.faults), *problems]
    if flags.output.as_json and not problems:
        click.echo(sized_document(built, options, [traced], checks), nl=False)
    elif not flags.output.quiet and not flags.output.as_json:
        if len(checks) == 1:
            show_steps(checks[0].steps)
        else:
            show_steps_at(checks)
    if problems:
        raise CodegenError(problems)
    return ExitCode.OK
