"""Results as one page that loads nothing, in the look of the report's."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from codegen.api import model_titles, render_page
from codegen.tools.lab.inventory import LabBoard
from codegen.tools.lab.results import JobResult, State

_GROUPS = (
    ("passed", (State.PASSED,)),
    ("wrong", (State.WRONG,)),
    ("board in trouble", (State.HUNG, State.GARBAGE, State.NOT_RUN)),
    ("failed", (State.FAILED,)),
    ("do not fit", (State.NO_FIT,)),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class BoardRow:
    """A board of the page: its jobs by state."""

    place: LabBoard
    kind: str
    counts: Counter[State]
    seconds: float
    power_cycles: int

    @property
    def words(self) -> str:
        """`3 passed, 1 hung`."""
        return ", ".join(f"{self.counts[state]} {state}" for state in State if self.counts[state])


def lab_page(results: Sequence[JobResult], places: Sequence[LabBoard]) -> str:
    """The page of a lab's run."""
    counts = Counter(result.state for result in results)
    tiles = [(words, sum(counts[state] for state in states)) for words, states in _GROUPS]
    return render_page(
        "tools/lab/lab.html.j2",
        tiles=tiles,
        total=len(results),
        boards=[_row(place, results) for place in places],
        names=model_titles(result.model for result in results),
        cells={(result.model, result.board): result for result in results},
        numbers={(result.model, result.board): index for index, result in enumerate(results)},
        troubles=[(index, result) for index, result in enumerate(results) if result.message],
        passed=State.PASSED,
    )


def _row(place: LabBoard, results: Sequence[JobResult]) -> BoardRow:
    board_results = [result for result in results if result.board == place.name]
    return BoardRow(
        place=place,
        kind=board_results[0].kind if board_results else place.board,
        counts=Counter(result.state for result in board_results),
        seconds=sum(result.seconds for result in board_results),
        power_cycles=sum(result.power_cycled for result in board_results),
    )
