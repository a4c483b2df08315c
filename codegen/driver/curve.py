"""The curve RAM against extra work: every way to run a model that is worth it, as report and as words."""

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
from codegen.search import Frontier, board_pools, curve


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """Programs from the least work to the least memory; all have passed both checkers."""

    found: Frontier
    macs: int
    """Multiply-accumulates of the model after the passes, each layer once."""

    @property
    def programs(self) -> tuple[Program, ...]:
        """Programs with fast kernels, then programs with kernels that need the fewest bytes."""
        return (*self.found.fast, *self.found.lean)

    @property
    def points(self) -> tuple[CurvePoint, ...]:
        """Bytes of all pools together, and work beyond the model's own, of each program."""
        return tuple(
            CurvePoint(
                peak_bytes=sum(each.memory.peaks.values()),
                macs=each.steps.macs,
                extra_macs=max(each.steps.macs - self.macs, 0),
                is_lean=index >= len(self.found.fast),
            )
            for index, each in enumerate(self.programs)
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
    choices = replace(search_choices(options, emulated=False), placed=ready.placed, reads=ready.reads)
    found = curve(ready.module, board, choices, name=name, progress=progress)
    return Curve(found=found, macs=macs_of(ready.module))


def curve_report(found: Curve, requested: str) -> dict[str, object]:
    """The document of `plan --pareto --json`."""
    first = found.programs[0]
    return {
        "schema": 1,
        "model": {
            "name": first.name,
            "sha256": first.metadata["sha256"],
            "format": first.metadata["format"],
            "macs": found.macs,
        },
        "board": {"name": first.board.name, "requested": requested, "cpu": first.board.target.cpu},
        "pareto": [
            _point(program, point) for program, point in zip(found.programs, found.points, strict=True)
        ],
    }


def _point(program: Program, point: CurvePoint) -> dict[str, object]:
    peaks = program.memory.peaks
    return {
        "peak_bytes": point.peak_bytes,
        "pools": [{"name": name, "peak_bytes": bytes_} for name, bytes_ in peaks.items() if bytes_],
        "macs_executed": point.macs,
        "extra_macs": point.extra_macs,
        "extra_percent": round(point.extra_percent, 2),
        "kernels": "lean" if point.is_lean else "fast",
        "proved_optimal": program.memory.plan.proved_optimal,
        "blocks": block_reports(program),
        "again": again(program),
    }
