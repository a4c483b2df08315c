"""One combination, from the model's bytes to a result: what a worker does."""

import traceback
from dataclasses import replace
from pathlib import Path

from codegen.api import CodegenError, ExitCode, Runner, build, load_board, plan, run, temporary_folder
from codegen.report_file import Report
from codegen.tools.sweep.combination_results import Result
from codegen.tools.sweep.jobs import Combination, Until

_MOST_TEXT = 2000
"""Characters of a message that are kept."""


def result_of(one: Combination, key: str) -> Result:
    """Plan, build or run it. What goes wrong is a result too; a bug of this program has exit code 1."""
    until = _until(one)
    empty = Result(
        key=key,
        model=one.model,
        board=one.options.board,
        optimize=one.options.optimize,
        limits=one.limits,
        until=until,
        code="ok",
        exit_code=0,
    )
    with temporary_folder("sweep") as folder:
        path = folder / Path(one.model).name
        path.write_bytes(one.data)
        try:
            return _filled(empty, _report(one, until, path))
        except CodegenError as error:
            text = "\n".join(map(str, error.messages)).replace(f"{folder}/", "")
            code, ended = error.messages[0].code, error.exit_code
            return replace(empty, code=code, exit_code=ended, message=text[:_MOST_TEXT])
        except Exception:  # one combination's bug must not end all others
            return replace(
                empty, code="bug", exit_code=ExitCode.BUG, message=traceback.format_exc()[-_MOST_TEXT:]
            )


def _until(one: Combination) -> Until:
    is_emulated = load_board(one.options.board).runner is not Runner.NONE
    return "build" if one.until == "run" and not is_emulated else one.until


def _report(one: Combination, until: Until, path: Path) -> Report:
    if until == "plan":
        return plan(path, one.options)
    if until == "build":
        return build(path, path.parent / "out", one.options)
    return run(path, one.options)


def _filled(empty: Result, report: Report) -> Result:
    constants = None if report.constants is None else report.constants.total_bytes
    code = None if report.elf is None else report.elf.model_code_bytes
    return replace(
        empty,
        ram_bytes=None if report.plan is None else sum(pool.peak_bytes for pool in report.plan.pools),
        constant_bytes=constants,
        code_bytes=code,
        flash_bytes=None if constants is None or code is None else constants + code,
        stack_bytes=None if report.elf is None else report.elf.stack_bound_bytes,
        instructions=None if report.run is None else report.run.instructions,
        instructions_predicted=report.instructions_predicted,
        steps_not_predicted=report.steps_not_predicted,
        milliseconds=None if report.time is None else report.time.milliseconds,
    )
