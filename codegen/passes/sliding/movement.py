"""The proof of a sliding window: which rows of a value equal rows of an earlier call, moved.

A value that follows the window has an axis of rows and moves by `pace` rows a call, a fraction behind
strides. After so many calls that this is a whole number, row i equals row i + moved of the earlier call if
all that it reads does. Padding equals padding; a row that was padding and is data now differs.
A row that reads padding alone is no row of the stream: an earlier call that had it may lie before the reset.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from codegen.ir import ConstRef, Function, Let, Var
from codegen.ir.dataflow import RowReads

Rows = NDArray[np.bool_]
"""A flag for each row of a value."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SlidingInput:
    """An input that is a window: it moves by `step` rows a call along `axis`."""

    name: str
    """The parameter."""
    axis: int
    step: int
    rows: int
    """Rows of the window."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Track:
    """Rows of a value that follows the window."""

    axis: int
    pace: Fraction
    """Rows by which it moves in a call."""
    reads: RowReads | None = None
    """Rows of the arguments that its step reads; None for the input."""

    @property
    def lag(self) -> int:
        """Calls after which it has moved by a whole number of rows."""
        return self.pace.denominator

    @property
    def moved(self) -> int:
        """Rows by which it has moved then."""
        return self.pace.numerator


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """A step that is computed whole, and why; steps that read its result are too."""

    value: str
    where: str
    reason: str
    macs: int
    """Multiply-accumulates of the step, and of those behind it that do not move either."""


class Movement:
    """Values of a function that move when one of its inputs is a window."""

    def __init__(self, function: Function, window: SlidingInput) -> None:
        self.window = window
        self.tracks: dict[str, Track] = {window.name: Track(axis=window.axis, pace=Fraction(window.step))}
        self._lets = {let.var.name: let for let in function.body}
        self._rows: dict[str, int] = {}
        self._behind: dict[str, int] = {}
        self._equal: dict[tuple[str, int], Rows] = {}
        stops: list[Stop] = []
        for param in function.params:
            if param.name == window.name:
                self._rows[param.name] = param.type.shape[window.axis]
        for let in function.body:
            self._follow(let, stops)
        self.stops = tuple(stop for stop in stops if self._reads_rows(self._lets[stop.value]))

    def _reads_rows(self, let: Let) -> bool:
        """True if a step reads several rows of a value that follows the window."""
        args = [arg.name for arg in let.call.args if isinstance(arg, Var)]
        return any(self._rows.get(name, 0) > 1 for name in args)

    def _follow(self, let: Let, stops: list[Stop]) -> None:
        variables = [arg for arg in let.call.args if isinstance(arg, Var)]
        if not any(var.name in self.tracks for var in variables):
            self._count_behind(let, variables, stops)
            return
        track = self._track(let)
        if isinstance(track, Track):
            self.tracks[let.var.name] = track
            self._rows[let.var.name] = let.var.type.shape[track.axis]
        else:
            self._behind[let.var.name] = len(stops)
            stops.append(Stop(value=let.var.name, where=let.where, reason=track, macs=let.macs))

    def _count_behind(self, let: Let, variables: Sequence[Var], stops: list[Stop]) -> None:
        """Count a step that reads the result of one that is computed whole to the first of these."""
        ends = [self._behind[var.name] for var in variables if var.name in self._behind]
        if ends:
            self._behind[let.var.name] = ends[0]
            stops[ends[0]] = replace(stops[ends[0]], macs=stops[ends[0]].macs + let.macs)

    def _track(self, let: Let) -> Track | str:
        """The track of a result, or the reason why it has none."""
        for arg in let.call.args:
            if isinstance(arg, Var) and arg.name not in self.tracks:
                return f"{arg.origin or arg.name} does not move with the window"
        reasons: list[str] = []
        for axis in range(len(let.var.type.shape)):
            reads = let.call.op.rows_read(let.call.attrs, let.call.types, let.var.type, axis)
            track = "each result needs all rows" if reads is None else self._along(let, axis, reads)
            if isinstance(track, Track):
                return track
            reasons.append(track)
        return next((reason for reason in reasons if reason != _ALL_ROWS), _ALL_ROWS)

    def _along(self, let: Let, axis: int, reads: RowReads) -> Track | str:
        paces: set[Fraction] = set()
        for arg, place in zip(let.call.args, reads.axes, strict=True):
            if isinstance(arg, Var):
                track = self.tracks[arg.name]
                if place != track.axis or _has_scales(arg, place):
                    return _ALL_ROWS
                paces.add(track.pace)
            elif isinstance(arg, ConstRef) and place is not None and arg.type.shape[place] > 1:
                return "a constant differs from row to row"
        if len(paces) != 1:
            return "its arguments move by different numbers of rows"
        if _has_scales(let.var, axis):
            return "rows have scales of their own"
        return Track(axis=axis, pace=paces.pop() / reads.stride, reads=reads)

    def equal(self, name: str, lag: int) -> Rows:
        """True for each row that equals the row of `lag` calls ago that has moved to its place."""
        key = name, lag
        if key not in self._equal:
            self._equal[key] = self._prove(name, lag)
        return self._equal[key]

    def _prove(self, name: str, lag: int) -> Rows:
        track, count = self.tracks[name], self._rows[name]
        moved = track.pace * lag
        assert moved.denominator == 1, f"{name} has not moved by whole rows"
        places = np.arange(count)
        equal = places + int(moved) < count
        if track.reads is None:
            return equal
        reads, let = track.reads, self._lets[name]
        has_data = np.zeros(count, np.bool_)
        for arg in let.call.args:
            if isinstance(arg, Var):
                held = self.equal(arg.name, lag)
                reach = int(moved) * reads.stride
                for tap in range(reads.taps):
                    rows = places * reads.stride + tap * reads.dilation - reads.front
                    equal = equal & _same(rows, held, reach)
                    has_data |= (rows >= 0) & (rows < len(held))
        return equal & has_data

    def kept_run(self, var: Var) -> tuple[int, int] | None:
        """The last run of rows `[start, stop)` that can be kept of a value; None if there is none.

        Rows have to lie one behind the other in memory.
        """
        track = self.tracks.get(var.name)
        if track is None or prod(var.type.shape[: track.axis]) != 1:
            return None
        equal = self.equal(var.name, track.lag)
        if not equal.any():
            return None
        stop = int(np.flatnonzero(equal)[-1]) + 1
        breaks = np.flatnonzero(~equal[:stop])
        return (int(breaks[-1]) + 1 if breaks.size else 0), stop

    def rows(self, name: str) -> int:
        """Rows of a value that follows the window."""
        return self._rows[name]


_ALL_ROWS = "each result needs all rows"


def _same(rows: NDArray[np.intp], held: Rows, reach: int) -> Rows:
    """For each place that is read whether it holds what lay `reach` rows further on in the earlier call."""
    count = len(held)
    is_padding = (rows < 0) | (rows >= count)
    was_padding = (rows + reach < 0) | (rows + reach >= count)
    return np.where(is_padding, was_padding, held[np.clip(rows, 0, count - 1)])


def _has_scales(var: Var, axis: int | None) -> bool:
    """True if rows along `axis` are quantised each by a scale of its own."""
    quantization = var.type.quantization
    return quantization is not None and quantization.axis == axis and len(quantization.scales) > 1


def demanded_rows(reads: RowReads, start: int, stop: int, count: int) -> tuple[int, int]:
    """Rows `[first, end)` of an argument of `count` rows that rows `[start, stop)` of the result read."""
    start_row, end = reads.span(start, stop)
    return max(start_row, 0), min(end, count)
