"""Which rows of each value a call computes, and which it has from earlier calls.

Backwards from the results, which are whole: rows that are computed demand rows of the arguments. Of a value
that is kept, demanded rows that have moved come from state. Rows enter a state at its end and move to its
front, so it holds all from the first of these on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from codegen.ir import Arg, Function, Let, Var
from codegen.passes.sliding.movement import Movement, Rows, Track, demanded_rows

Span = tuple[int, int]
"""Rows `[start, stop)`."""


class Keep(Enum):
    """Which demanded rows of a value come from state; a call computes the others again."""

    ALL = "all that have moved"
    NEWEST = "their last run"
    """The two ends of a window are demanded where padding touches rows: at its new end few rows are state, at
    its old end all between would have to be."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Demand:
    """Rows of one value in a call."""

    computed: tuple[Span, ...]
    """Runs of rows, in order."""
    kept: Span | None = None
    """Rows that come from state."""


def held_rows(kept: Span, track: Track) -> int:
    """Rows of the state that holds these and those that enter: of a value with phases, of all of them."""
    count = kept[1] + track.moved - kept[0]
    frames = -(-count // track.moved)
    return count if track.lag == 1 else ((frames - 1) * track.lag + 1) * track.moved


def demand(function: Function, movement: Movement, keep: Mapping[str, Keep]) -> Mapping[str, Demand]:
    """For each value that follows the window: its rows. `keep`: values that may have state."""
    demanded: dict[str, Rows] = {name: np.zeros(movement.rows(name), np.bool_) for name in movement.tracks}
    chosen: dict[str, Demand] = {}
    _want_whole(function.results, demanded)
    for let in reversed(function.body):
        if let.var.name not in movement.tracks:
            _want_whole(let.call.args, demanded)
            continue
        chosen[let.var.name] = _reading_data(
            let, movement, _demand(let.var, movement, demanded[let.var.name], keep)
        )
        for span in chosen[let.var.name].computed:
            _want(let, movement, span, demanded)
    for param in function.params:
        if param.name in movement.tracks:
            chosen[param.name] = _demand(param, movement, demanded[param.name], keep)
    return chosen


def _reading_data(let: Let, movement: Movement, rows_of_value: Demand) -> Demand:
    """Rows with runs extended that would read padding alone: a step has to read something."""
    reads = movement.tracks[let.var.name].reads
    assert reads is not None, "it is a step's"
    count = min(movement.rows(arg.name) for arg in let.call.args if isinstance(arg, Var))
    flags = np.zeros(movement.rows(let.var.name), np.bool_)
    for start, stop in rows_of_value.computed:
        while reads.span(start, stop)[1] <= 0:
            stop += 1
        while reads.span(start, stop)[0] >= count:
            start -= 1
        flags[start:stop] = True
    return replace(rows_of_value, computed=_runs(flags))


def _want_whole(args: tuple[Arg | None, ...], demanded: Mapping[str, Rows]) -> None:
    for arg in args:
        if isinstance(arg, Var) and arg.name in demanded:
            demanded[arg.name][:] = True


def _want(let: Let, movement: Movement, span: Span, demanded: Mapping[str, Rows]) -> None:
    reads = movement.tracks[let.var.name].reads
    assert reads is not None, "it is a step's"
    for arg in let.call.args:
        if isinstance(arg, Var):
            start_row, end = demanded_rows(reads, *span, movement.rows(arg.name))
            demanded[arg.name][start_row:end] = True


def _demand(var: Var, movement: Movement, demanded: Rows, keep: Mapping[str, Keep]) -> Demand:
    run = movement.kept_run(var) if var.name in keep else None
    moving = np.flatnonzero(demanded[run[0] : run[1]]) if run is not None else np.empty(0, np.intp)
    if run is None or not moving.size:
        return Demand(computed=_runs(demanded))
    if keep[var.name] is Keep.NEWEST:
        moving = moving[np.flatnonzero(np.diff(moving, prepend=-2) > 1)[-1] :]
    start, stop = run[0] + int(moving[0]), run[1]
    entering = stop + movement.tracks[var.name].moved
    computed = demanded.copy()
    computed[start:stop] = False
    computed[stop:entering] = True
    return Demand(computed=_runs(computed), kept=(start, stop))


def _runs(flags: Rows) -> tuple[Span, ...]:
    """The runs of rows that are True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return tuple((int(start), int(stop)) for start, stop in zip(edges[::2], edges[1::2], strict=True))
