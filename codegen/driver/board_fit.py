"""A model planned for every board that ships: bytes, time and energy, or what it lacks there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from codegen.board import boards
from codegen.driver.build import Share, plan_model
from codegen.driver.options import Options
from codegen.driver.report.single import report
from codegen.ir import Board, Runner
from codegen.problem.shortage import DoesNotFit, DoesNotLink
from codegen.progress import Progress, silent


@dataclass(frozen=True, kw_only=True, slots=True)
class BoardFit:
    """A model on one board. Without a plan all but the missing bytes is None."""

    board: str
    cpu: str
    ram_limit_bytes: int
    flash_limit_bytes: int
    ram_bytes: int | None = None
    flash_bytes: int | None = None
    """Linked constants: code has no bytes before it is compiled."""
    milliseconds: float | None = None
    microjoules: float | None = None
    missing_ram_bytes: int = 0
    missing_flash_bytes: int = 0

    @property
    def fits(self) -> bool:
        """True if the model was planned within the board's memories."""
        return self.ram_bytes is not None

    @property
    def document(self) -> dict[str, object]:
        """The figures as JSON has them."""
        return {
            "name": self.board,
            "cpu": self.cpu,
            "fits": self.fits,
            "ram_bytes": self.ram_bytes,
            "ram_limit_bytes": self.ram_limit_bytes,
            "flash_bytes": self.flash_bytes,
            "flash_limit_bytes": self.flash_limit_bytes,
            "milliseconds": self.milliseconds,
            "microjoules": self.microjoules,
            "missing_ram_bytes": self.missing_ram_bytes,
            "missing_flash_bytes": self.missing_flash_bytes,
        }


def rank_boards(
    model: Path, *, among: Sequence[Board] | None = None, progress: Progress = silent
) -> tuple[BoardFit, ...]:
    """All boards but this machine: where the model fits, the fastest first; then those that lack least.

    Boards whose time is unknown come behind the others that fit. Raises CodegenError as the importer does.
    """
    known = [board for board in among or boards() if board.runner is not Runner.HOST]
    fits: list[BoardFit] = []
    for index, board in enumerate(known):
        progress("plan for boards", index, len(known))
        fits.append(fit_board(model, board))
    return tuple(sorted(fits, key=_rank))


def fit_board(model: Path, board: Board) -> BoardFit:
    """`model` with default options on `board`. Raises CodegenError as the importer does."""
    options = Options(board=board.name)
    try:
        planned = plan_model(model, board, options, share=Share(alone=True))
    except DoesNotFit as missed:
        lacking = sum(
            (item.budget_bytes or item.needed_bytes) - item.pool.limit_bytes for item in missed.shortages
        )
        return _misfit(board, ram=lacking)
    except DoesNotLink as missed:
        return _misfit(board, flash=sum(max(item.missing_bytes, 1) for item in missed.shortage.shares))
    document = report(planned, board.name)
    totals, plan = _part(document, "totals"), _part(document, "plan")
    time = cast("Mapping[str, float | None]", document["time"] or {})
    return BoardFit(
        board=board.name,
        cpu=board.target.cpu,
        ram_bytes=cast("int", plan["peak_bytes"]),
        ram_limit_bytes=cast("int", totals["pool_limit_bytes"]),
        flash_bytes=planned.program.constants.size_bytes,
        flash_limit_bytes=cast("int", totals["board_flash_bytes"]),
        milliseconds=time.get("milliseconds"),
        microjoules=time.get("microjoules"),
    )


def _misfit(board: Board, *, ram: int = 0, flash: int = 0) -> BoardFit:
    return BoardFit(
        board=board.name,
        cpu=board.target.cpu,
        ram_limit_bytes=_bytes(board, is_writable=True) - board.reserved_bytes,
        flash_limit_bytes=_bytes(board, is_writable=False),
        missing_ram_bytes=ram,
        missing_flash_bytes=flash,
    )


def _bytes(board: Board, *, is_writable: bool) -> int:
    return sum(region.size_bytes for region in board.regions if region.writable is is_writable)


def _rank(fit: BoardFit) -> tuple[bool, int, float, str]:
    time = float("inf") if fit.milliseconds is None else fit.milliseconds
    return not fit.fits, fit.missing_ram_bytes + fit.missing_flash_bytes, time, fit.board


def _part(document: Mapping[str, object], key: str) -> Mapping[str, object]:
    return cast("Mapping[str, object]", document[key])
