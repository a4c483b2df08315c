"""The verbs that work on a model, as people type them: build, run, validate, plan.

Paths, flags and the board are checked here. The work itself, which imports the whole chain, is in
`codegen.cli.model_work`: that is imported when nothing is wrong.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from codegen import board as catalogue
from codegen.cli.boards.tool_flags import RealBoard, gdb_flag, real_board_flags
from codegen.cli.model_work.run_flags import OutputFlags, TargetFlags
from codegen.cli.plan_files import PlanFiles, plan_files
from codegen.cli.report_flags import ReportFiles, report_flags
from codegen.cli.verb_table import VERBS
from codegen.command.file_checks import check_picture, check_problem, is_problem, keep_inputs
from codegen.command.flags import groups, model_flags
from codegen.command.option_table import (
    CONCURRENT,
    FIRMWARE,
    LOCK,
    PORT,
    GroupedVerb,
    option,
)
from codegen.command.reference_flags import reference_flags
from codegen.driver.inputs.files import example_model, existing
from codegen.driver.options import Options
from codegen.settings import Firmware, ReferenceChoice

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


def _models(paths: Sequence[Path]) -> list[Path]:
    """The files that were named, or the shipped example."""
    return [existing(path) for path in paths] or [example_model()]


@click.command(cls=GroupedVerb, help=VERBS["build"].help)
@click.argument("models", nargs=-1, type=click.Path(path_type=Path), metavar="[MODEL]...")
@_FOLDER
@option(CONCURRENT)
@option(LOCK)
@option(FIRMWARE)
@click.option("--watch", is_flag=True, help="Build again whenever a MODEL changes, until Ctrl-C.")
@model_flags(without=("run_timeout",))
@report_flags
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
    report_files: ReportFiles,
    as_json: bool,
    quiet: bool,
) -> int:
    """`codegen build`."""
    paths = _models(models)
    keep_inputs(paths, options)
    options = replace(options, concurrent=groups(concurrent, len(paths)), lock=lock, firmware=firmware)
    if watch and as_json:
        raise click.UsageError("--watch prints more than one document: leave --json out")
    catalogue.load_board(options.board)
    from codegen.cli.model_work import model_work

    output = OutputFlags(folder=folder, report_files=report_files, as_json=as_json, quiet=quiet)
    return model_work.build(paths, options, output, watch=watch)


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
    help="Inputs x0, x1, ... or by their names (CASE_x0, ...); of several models NAME=X.npz[:CASE].",
)
@click.option(
    "--expect",
    "expected",
    multiple=True,
    metavar="Y.npz[:CASE]",
    help="Expected outputs y0, y1, ..., named like --input; else --reference says.",
)
@option(PORT)
@real_board_flags
@reference_flags
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
@report_flags
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
    choice: ReferenceChoice,
    at: str | None,
    svg: Path | None,
    sandbox: bool,
    sequence: bool,
    steps: bool,
    count_cycles: bool,
    options: Options,
    report_files: ReportFiles,
    as_json: bool,
    quiet: bool,
) -> int:
    """`codegen run`."""
    paths = _models(models)
    options = replace(options, sandbox=sandbox, concurrent=groups(concurrent, len(paths)), lock=lock)
    check_picture(svg)
    catalogue.load_board(options.board)
    from codegen.cli.model_work import model_work

    asked = model_work.RunChoices(
        inputs=inputs,
        expected=expected,
        real=real,
        svg=svg,
        sequence=sequence,
        steps=steps,
        count_cycles=count_cycles,
        is_example=not models and not inputs and not expected,
    )
    output = OutputFlags(folder=folder, report_files=report_files, as_json=as_json, quiet=quiet)
    return model_work.run(paths, options, TargetFlags(port=port, choice=choice, at=at, output=output), asked)


@click.command(cls=GroupedVerb, help=VERBS["validate"].help)
@click.argument("model", required=False, type=click.Path(path_type=Path))
@_FOLDER
@click.option(
    "--input",
    "input_",
    metavar="X.npz[:CASE]",
    help="Inputs x0, x1, ... or by name; else made up from --seed.",
)
@option(PORT)
@gdb_flag
@reference_flags
@_AT
@model_flags()
@_JSON
@_QUIET
def validate(
    model: Path | None,
    folder: Path | None,
    input_: str | None,
    port: str | None,
    choice: ReferenceChoice,
    at: str | None,
    options: Options,
    as_json: bool,
    quiet: bool,
) -> int:
    """`codegen validate`."""
    [path] = _models([] if model is None else [model])
    catalogue.load_board(options.board)
    from codegen.cli.model_work import model_work

    output = OutputFlags(folder=folder, as_json=as_json, quiet=quiet)
    return model_work.validate(
        path, options, input_, TargetFlags(port=port, choice=choice, at=at, output=output)
    )


@click.command(cls=GroupedVerb, help=VERBS["plan"].help)
@click.argument("source", required=False, type=click.Path(path_type=Path), metavar="[MODEL|PROBLEM.csv]")
@plan_files
@model_flags(board_default=None, without=("stack", "run_timeout"))  # nothing is compiled or run
@report_flags
@_JSON
@_QUIET
def plan(
    source: Path | None,
    options: Options,
    outputs: PlanFiles,
    report_files: ReportFiles,
    as_json: bool,
    quiet: bool,
) -> int:
    """`codegen plan`."""
    kinds = "a .tflite or .onnx file, or of a problem (.csv, .json)"
    path = example_model() if source is None else existing(source, kinds)
    keep_inputs([path], options, written=[*outputs.written, *report_files.written(outputs.folder)])
    check_picture(outputs.svg)
    if is_problem(path) and not outputs.pareto:
        check_problem(path, options)
    if outputs.pareto and report_files:
        raise click.UsageError(f"{report_files.words} shows the curve too: leave out --pareto")
    if options.board and not is_problem(path):
        catalogue.load_board(options.board)
    from codegen.cli.model_work import plan_work

    return plan_work.plan(path, options, outputs, report_files=report_files, as_json=as_json, quiet=quiet)
