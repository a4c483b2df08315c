"""Results as one page that loads nothing, in the look of the report's: chart, tables, filters."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from codegen.api import counted, model_titles, render_page
from codegen.tools.sweep import sweep_chart
from codegen.tools.sweep.board_choice import board_choices
from codegen.tools.sweep.combination_results import Result, best

FIGURES = (
    ("RAM", "ram_bytes", "bytes, planned peaks of all pools; measured where it was run"),
    ("flash", "flash_bytes", "bytes of constants and code of the model"),
    ("instructions", "instructions", "of one inference, counted where it was run"),
    ("predicted", "instructions_predicted", "instructions of one inference, by the kernels' models"),
    (
        "left out",
        "steps_not_predicted",
        "steps whose kernels have no model: the prediction is short of theirs",
    ),
    (
        "ms",
        "milliseconds",
        "of one inference at the board's rated clock: an estimate, one instruction a cycle",
    ),
    ("stack", "stack_bytes", "bytes, a static bound"),
    ("constants", "constant_bytes", "bytes"),
    ("code", "code_bytes", "bytes"),
)
"""Title, field and explanation of the columns."""
_FILTERS = ("model", "board", "optimize", "limits")


@dataclass(frozen=True, kw_only=True, slots=True)
class SweepRow:
    """A combination of the tables; `index`: among all results."""

    index: int
    result: Result
    model: str
    is_best: bool

    @property
    def state(self) -> str:
        """`best`, `ok`, or the code of what went wrong."""
        return "best" if self.is_best else self.result.code


@dataclass(frozen=True, kw_only=True, slots=True)
class Filter:
    """A choice of rows: the field, and the values that it has."""

    field: str
    values: tuple[str, ...]


def sweep_page(results: Sequence[Result]) -> str:
    """The page of a sweep."""
    front = frozenset(result.key for result in best(results))
    names = model_titles(result.model for result in results)
    rows = [
        SweepRow(index=index, result=result, model=names[result.model], is_best=result.key in front)
        for index, result in enumerate(results)
    ]
    failures = Counter(
        (result.code, result.message.splitlines()[0] if result.message else "")
        for result in results
        if not result.is_ok
    )
    models, boards = {result.model for result in results}, {result.board for result in results}
    return render_page(
        "tools/sweep/sweep.html.j2",
        title=f"{counted(len(models), 'model')} on {counted(len(boards), 'board')}",
        rows=rows,
        tiles=_tiles(results, len(front)),
        figures=FIGURES,
        filters=tuple(_filters(rows)),
        choices=board_choices(results),
        names=names,
        counted=counted,
        chart=sweep_chart.sweep_chart(results, front),
        frame=sweep_chart,
        failures=failures.most_common(),
    )


def _tiles(results: Sequence[Result], front: int) -> list[tuple[str, int]]:
    done = sum(result.is_ok for result in results)
    return [("done", done), ("that no other beats", front), ("not done", len(results) - done)]


def _filters(rows: Sequence[SweepRow]) -> list[Filter]:
    """Filters with something to choose."""
    filters = [
        Filter(field=field, values=tuple(dict.fromkeys(_value(row, field) for row in rows)))
        for field in _FILTERS
    ]
    filters.append(Filter(field="state", values=tuple(sorted({row.state for row in rows}, key=_order))))
    return [shown for shown in filters if len(shown.values) > 1]


def _value(row: SweepRow, field: str) -> str:
    return row.model if field == "model" else str(getattr(row.result, field))


def _order(state: str) -> tuple[int, str]:
    return {"best": 0, "ok": 1}.get(state, 2), state
