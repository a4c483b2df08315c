"""Work of `codegen plan`, once the command line is known to be sound: no toolchain, no target, no engine."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

import click

from codegen.cli.model_work.notes import show_names, show_spilled
from codegen.cli.plan_files import PlanFiles
from codegen.cli.report_flags import ReportFiles
from codegen.cli.summary import (
    show_curve,
    show_lines,
    show_plan,
    show_problem,
    show_ranges,
)
from codegen.command.console import progress
from codegen.command.file_checks import is_problem
from codegen.documents import to_json
from codegen.driver.application import within_application
from codegen.driver.inputs.models import model_name, model_names
from codegen.driver.options import Options
from codegen.driver.planning import plan_only, plan_problem, problem_report
from codegen.driver.report.single import report
from codegen.errors import CodegenError, ExitCode, Message


def plan(
    path: Path, options: Options, outputs: PlanFiles, *, report_files: ReportFiles, as_json: bool, quiet: bool
) -> int:
    """Plan a model or a bare problem and show or write the plan; return the exit code."""
    options, ranges = within_application(options)
    if not is_problem(path):
        show_names(model_names([path], options.names), quiet)
    if outputs.pareto:
        return _plan_curve(path, options, outputs, as_json=as_json, quiet=quiet)
    if is_problem(path):
        with progress(quiet or as_json) as stage:
            stage(f"plan {path.name}")
            problem, memory_plan = plan_problem(path, options)
            document, lines = report_files.finish(
                problem_report(problem, memory_plan),
                outputs.folder,
                models=[],
                options=options,
                progress=stage,
            )
        written = (
            outputs.of_problem(path, problem, memory_plan, options) + outputs.of_document(document) + lines
        )
        show = partial(show_problem, problem, memory_plan)
    else:
        with progress(quiet or as_json) as stage:
            planned = plan_only(path, options, progress=stage)
            told = cast("Mapping[str, Any]", report(planned, options.board))
            sentence, proof = told["summary"], told["plan"]["certificate"]["words"][0]
            document, lines = report_files.finish(
                told, outputs.folder, models=[path], options=options, progress=stage
            )
        show_spilled(planned.program, quiet)
        written = outputs.of_program(path, planned.program, options) + outputs.of_document(document) + lines
        show = partial(show_plan, planned, sentence, proof)
    if as_json:
        click.echo(to_json(document), nl=False)
    elif not quiet:
        show()
        show_ranges(ranges)
        show_lines(written)
    return ExitCode.OK


def _plan_curve(path: Path, options: Options, outputs: PlanFiles, *, as_json: bool, quiet: bool) -> int:
    if is_problem(path):
        text = f"{path.name} is a bare problem: no work to trade for its bytes"
        raise CodegenError(Message(code="E209", text=text, help="--pareto is for models"))
    from codegen.driver.curve import curve_report, plan_curve

    name = model_name(path, options.names)
    with progress(quiet or as_json) as stage:
        curve = plan_curve(path, options, name, stage)
    document = curve_report(curve, options.board)
    written = outputs.of_curve(curve) + outputs.of_document(document)
    if as_json:
        click.echo(to_json(document), nl=False)
    elif not quiet:
        show_curve(curve)
        show_lines(written)
    return ExitCode.OK
