"""Plans for others: MiniMalloc's CSV of a problem, a `.tflite` that carries a plan for TFLite Micro."""

from pathlib import Path

from codegen.driver.checks.calling import check_sizes
from codegen.driver.checks.fit import telling
from codegen.driver.inputs.files import write_file
from codegen.driver.options import Options
from codegen.errors import CodegenError, Message
from codegen.importers.tflite.file import offline_plan
from codegen.plan import validate
from codegen.plan.place import planners, problem_files
from codegen.problem.problem import Limits, Problem, peak_bytes

_ROOM = 1 << 28
"""Bytes of the arena when `--pool arena=BYTES` does not limit it."""


def write_problem(problem: Problem, target: Path) -> None:
    """Write MiniMalloc's CSV: live intervals and sizes; permitted overlaps cannot be said in it.

    Raises CodegenError E214 for a conflict that no interval explains, E206 if `target` cannot be written.
    """
    write_text(target, problem_files.to_csv(problem))


@telling()
def write_tflm(path: Path, target: Path, options: Options) -> int:
    """Write the file at `path` with an offline plan for TFLite Micro; return the plan's bytes.

    The plan is without overlap (TFLite Micro's kernels need arguments and results apart), of the file's own
    operators. Raises CodegenError E3xx for a file that cannot be planned, E401 for one that does not fit
    `--pool arena=BYTES`, E284 for sizes that are ranges, E206 if `target` cannot be written.
    """
    check_sizes(options, "--export tflm")
    try:
        data = path.read_bytes()
    except OSError as error:
        text = f"cannot read the model file: {error.strerror}"
        raise CodegenError(Message(code="E211", where=str(path), text=text)) from error
    if data[4:8] != b"TFL3":
        text = "only a .tflite file can carry a plan for TFLite Micro"
        help_ = "use --export minimalloc for a bare problem"
        raise CodegenError(Message(code="E207", where=path.name, text=text, help=help_))
    problem = offline_plan.tensor_problem(
        data,
        path.name,
        limit_bytes=options.pool_limits.get(offline_plan.ARENA, _ROOM),
        limits=Limits(seed=options.seed, deadline_seconds=options.deadline_seconds),
    )
    plan = planners.find(options.planner)(problem)
    if faults := validate.violations(problem, plan):
        raise ValueError(f"planner {options.planner} made a wrong plan:\n" + "\n".join(faults))
    write_file(target, offline_plan.with_offline_plan(data, path.name, plan))
    return peak_bytes(problem, plan, offline_plan.ARENA)


def write_text(target: Path, text: str) -> None:
    """Write a text file. Raises CodegenError E206 if `target` cannot be written."""
    write_file(target, text.encode())
