"""Which board a model runs on best: every board of a sweep, ranked by time."""

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.tools.sweep.combination_results import Result


@dataclass(frozen=True, kw_only=True, slots=True)
class BoardChoice:
    """A board for a model: its fastest combination that went through, or why there is none."""

    model: str
    board: str
    fastest: Result | None
    leanest: Result | None
    """The combination of the least RAM."""
    refused: Result | None
    """The first combination that did not go through, where none did."""


def board_choices(results: Sequence[Result]) -> tuple[BoardChoice, ...]:
    """Boards of each model: by time, then those of unknown time, then those that fail."""
    pairs = dict.fromkeys((result.model, result.board) for result in results)
    choices = [_choice([r for r in results if (r.model, r.board) == pair], pair) for pair in pairs]
    models = list(dict.fromkeys(model for model, _ in pairs))
    return tuple(sorted(choices, key=lambda choice: (models.index(choice.model), _rank(choice))))


def _choice(results: Sequence[Result], pair: tuple[str, str]) -> BoardChoice:
    done = [result for result in results if result.is_ok]
    return BoardChoice(
        model=pair[0],
        board=pair[1],
        fastest=min(done, key=_slowness, default=None),
        leanest=min(done, key=_ram, default=None),
        refused=None if done else results[0],
    )


def _slowness(result: Result) -> tuple[float, float, float]:
    unknown = float("inf")
    time, work = result.milliseconds, result.work
    return unknown if time is None else time, unknown if work is None else work, _ram(result)


def _ram(result: Result) -> float:
    return float("inf") if result.ram_bytes is None else result.ram_bytes


def _rank(choice: BoardChoice) -> tuple[bool, tuple[float, float, float]]:
    if choice.fastest is None:
        return True, (0.0, 0.0, 0.0)
    return False, _slowness(choice.fastest)
