"""The curve RAM against instructions: every way to run a model that is worth it, as report and as words."""

from dataclasses import dataclass, replace
from pathlib import Path

from codegen.draw.curve_picture import CurvePoint
from codegen.driver.build import search_choices
from codegen.driver.checks.calling import check_sizes
from codegen.driver.checks.fit import telling
from codegen.driver.inputs.planned import macs_of
from codegen.driver.options import Options
from codegen.driver.planning import planning_board
from codegen.driver.preparing import prepared
from codegen.driver.report.certificate import again, block_reports
from codegen.program.program import Program
from codegen.progress import Progress
from codegen.search import board_pools, curve, inference_instructions


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """Programs from the fewest instructions to the fewest bytes; all have passed the checkers."""

    programs: tuple[Program, ...]
    macs: int
    """Multiply-accumulates of the model after the passes, each layer once."""

    @property
    def points(self) -> tuple[CurvePoint, ...]:
        """Bytes of all pools together, and instructions, of each program."""
        counts = [inference_instructions(program.steps.prim_funcs) for program in self.programs]
        return tuple(
            CurvePoint(
                peak_bytes=sum(program.memory.peaks.values()),
                instructions=count,
                extra_percent=100 * (count - counts[0]) / max(counts[0], 1),
            )
            for program, count in zip(self.programs, counts, strict=True)
        )


@telling()
def plan_curve(path: Path, options: Options, name: str, progress: Progress) -> Curve:
    """The curve of a model for `options.board`, or, if none was named, for `stm32`'s kernels without limits.

    Raises CodegenError as `plan_only` does.
    """
    check_sizes(options, "--pareto")
    board = planning_board(options)
    pools = [pool.name for pool in board_pools(options, board, emulated=False)]
    ready = prepared(path, options, pools, name=name)
    choices = replace(search_choices(options, emulated=False), placed=ready.placed)
    programs = curve(ready.module, board, choices, name=name, progress=progress)
    return Curve(programs=programs, macs=macs_of(ready.module))


def curve_report(plans: Curve, requested: str) -> dict[str, object]:
    """The document of `plan --pareto --json`."""
    first = plans.programs[0]
    return {
        "schema": 1,
        "model": {
            "name": first.name,
            "sha256": first.metadata["sha256"],
            "format": first.metadata["format"],
            "macs": plans.macs,
        },
        "board": {"name": first.board.name, "requested": requested, "cpu": first.board.target.cpu},
        "pareto": [
            _point(program, point, plans.macs)
            for program, point in zip(plans.programs, plans.points, strict=True)
        ],
    }


def _point(program: Program, point: CurvePoint, macs: int) -> dict[str, object]:
    peaks = program.memory.peaks
    return {
        "peak_bytes": point.peak_bytes,
        "pools": [{"name": name, "peak_bytes": bytes_} for name, bytes_ in peaks.items() if bytes_],
        "instructions": point.instructions,
        "extra_percent": round(point.extra_percent, 2),
        "macs_executed": program.steps.macs,
        "extra_macs": max(program.steps.macs - macs, 0),
        "proved_optimal": program.memory.plan.proved_optimal,
        "blocks": block_reports(program),
        "again": again(program),
    }
