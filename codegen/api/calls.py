"""What the verbs build, run and plan do, as functions."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from codegen.api.report import Report, typed
from codegen.driver.application import within_application
from codegen.driver.build import Built, document
from codegen.driver.build import build as build_models
from codegen.driver.cases import Case, pattern_case
from codegen.driver.folders import build_folder
from codegen.driver.inputs import existing
from codegen.driver.options import Options
from codegen.driver.outputs import write_file
from codegen.driver.planning import plan_only
from codegen.driver.report import report, to_json
from codegen.driver.run import all_complaints, execute_all
from codegen.errors import CodegenError
from codegen.plan.image import Trace

PathName = str | PathLike[str]


def build(models: PathName | Sequence[PathName], folder: PathName, options: Options | None = None) -> Report:
    """Turn model files into C, firmware.elf and report.json in `folder`, as `codegen build -o` does.

    Raises CodegenError with every message; its `exit_code` is that of the command.
    """
    chosen, _ = within_application(options or Options())
    return typed(document(build_models(_paths(models), chosen, Path(folder)), chosen))


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
    runs inputs made up from the seed. Raises CodegenError as `build` does, E701 where outputs differ, E80x
    where measured peaks are not as planned.
    """
    chosen, _ = within_application(options or Options(), emulated=port is None)
    with build_folder(None if folder is None else Path(folder)) as target:
        built = build_models(_paths(models), chosen, target, emulated=port is None)
        all_cases = _cases(built, cases or {}, chosen.seed)
        measured = execute_all(built, all_cases, port=port, trace=Trace.COST)
        found = document(built, chosen, measured)
        if folder is not None:
            write_file(target / "report.json", to_json(found).encode())
    problems = all_complaints(built, all_cases, measured)
    if problems:
        raise CodegenError(problems)
    return typed(found)


def plan(model: PathName, options: Options | None = None) -> Report:
    """Plan a model file's memory; no toolchain is needed. Raises CodegenError as `build` does."""
    chosen, _ = within_application(options or Options())
    found = plan_only(existing(Path(model)), chosen)
    return typed(report(found.program, chosen.board, found.macs, reduction=found.reduction))


def _paths(models: PathName | Sequence[PathName]) -> list[Path]:
    names = [models] if isinstance(models, str | PathLike) else models
    return [existing(Path(name)) for name in names]


def _cases(built: Built, given: Mapping[str, Sequence[Case]], seed: int) -> list[Sequence[Case]]:
    """The cases of every model, in order. Raises ValueError for a model that the build has not."""
    programs = [model.program for model in built.models]
    unknown = sorted(given.keys() - {program.name for program in programs})
    if unknown:
        raise ValueError(f"cases of {', '.join(unknown)}: the build has no such model")
    return [
        given.get(program.name) or [pattern_case([tensor.type for tensor in program.inputs], seed)]
        for program in programs
    ]
