"""What the verbs build, run and plan do, as functions."""

from collections.abc import Mapping, Sequence

from codegen import board as catalogue
from codegen.api.checks import (
    PathName,
    checked_cases,
    checked_folder,
    checked_models,
    checked_options,
    checked_port,
)
from codegen.api.report import Report, typed
from codegen.driver.application import within_application
from codegen.driver.build import Built, document
from codegen.driver.build import build as build_models
from codegen.driver.inputs.cases import Case, fitting, pattern_case
from codegen.driver.inputs.folders import build_folder
from codegen.driver.inputs.model_names import model_names
from codegen.driver.inputs.output_files import write_file
from codegen.driver.options import Options
from codegen.driver.planning import plan_only
from codegen.driver.report.single import report, to_json
from codegen.driver.run import all_complaints, execute_all
from codegen.errors import CodegenError, Messages
from codegen.program.run import Trace


def build(models: PathName | Sequence[PathName], folder: PathName, options: Options | None = None) -> Report:
    """Turn model files into C, firmware.elf and report.json in `folder`, as `codegen build -o` does.

    Raises CodegenError with every message; its `exit_code` is that of the command.
    """
    chosen, target = checked_options(options), checked_folder(folder)
    paths = checked_models(models)
    chosen, _ = within_application(chosen)
    return typed(document(build_models(paths, chosen, target), chosen))


def run(
    models: PathName | Sequence[PathName],
    options: Options | None = None,
    *,
    cases: Mapping[str, Sequence[Case]] | None = None,
    folder: PathName | None = None,
    port: str | None = None,
) -> Report:
    """Build model files, run them on QEMU, on this machine (board `host`) or on a board behind the serial
    `port`, and compare every output with the reference; with `folder` the build stays there.

    `cases`: inputs by model name, with expected outputs or none (then NumPy evaluates); a model without any
    runs inputs made up from the seed. Raises CodegenError as `build` does, E257 for cases of a model that the
    build has not, E221 and E222 for arrays that are no model's, E701 where outputs differ, E80x where
    measured peaks are not as planned.
    """
    chosen, port = checked_options(options), checked_port(port)
    kept = None if folder is None else checked_folder(folder)
    paths = checked_models(models)
    given = checked_cases(cases, [each.name for each in model_names(paths, chosen.names)])
    chosen, _ = within_application(chosen, emulated=port is None)
    catalogue.check_can_run(catalogue.load_board(chosen.board), port)
    with build_folder(kept) as target:
        built = build_models(paths, chosen, target, emulated=port is None)
        all_cases = _cases(built, given, chosen.seed)
        measured = execute_all(built, all_cases, port=port, trace=Trace.COST, sandboxed=chosen.sandbox)
        found = document(built, chosen, measured)
        if kept is not None:
            write_file(target / "report.json", to_json(found).encode())
    problems = all_complaints(built, all_cases, measured)
    if problems:
        raise CodegenError(problems)
    return typed(found)


def plan(model: PathName, options: Options | None = None) -> Report:
    """Plan a model file's memory; no toolchain is needed. Raises CodegenError as `build` does."""
    chosen = checked_options(options)
    [path] = checked_models([model])
    chosen, _ = within_application(chosen)
    found = plan_only(path, chosen)
    return typed(report(found.program, chosen.board, found.macs, reduction=found.reduction))


def _cases(built: Built, given: Mapping[str, Sequence[Case]], seed: int) -> list[Sequence[Case]]:
    """The cases of every model, in order. Raises CodegenError E221, E222 for all arrays that do not fit."""
    messages = Messages()
    found: list[Sequence[Case]] = []
    for program in (model.program for model in built.models):
        inputs, outputs = ([each.type for each in part] for part in (program.inputs, program.outputs))
        own = given.get(program.name) or [pattern_case(inputs, seed)]
        found.append([fitting(case, inputs, outputs, messages) for case in own])
    messages.raise_if_any()
    return found
