"""Is there an order whose peak is at most a level? Depth-first over states, from either end, exactly.

Bytes alive are a submodular function of the set of steps done (a value lives while its writer is in the
set and not all of its readers are), which proves the shortcut both directions take: a step that is
possible, keeps to the level and leaves no more alive than before may be done at once, for in any other
order it can be moved here and every state in between gets no heavier. Backwards the same holds for
undoing a step that leaves no more alive than there was after it. The last steps of a network decide far
more often than the first whether a level can be met, so the search from the end is usually the short one.

Beam search for an order, from the last step back: what remains once the exact search is too long.

After every step only the best states are kept, by the peak so far and then by the bytes alive. Nothing
is proved; the answer is an order and its peak.
"""

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codegen.plan.order.order_graph import StepMasks


class Outcome(enum.Enum):
    """How a search stands."""

    FOUND = "found"
    EXHAUSTED = "exhausted"
    STOPPED = "stopped"


class OrderSearch(ABC):
    """Depth-first search for a way from state `start` to state `goal` with no peak above `level`."""

    def __init__(
        self, steps: StepMasks, start: int, goal: int, live: int, level: int, possible: Sequence[int]
    ) -> None:
        self._steps = steps
        self._goal = goal
        self._level = level
        self._stack: list[tuple[int, int, list[int]]] = [(start, live, list(possible))]
        self._reached: dict[int, tuple[int, int]] = {start: (start, -1)}
        self.states = 0
        self.moves = 0
        """Steps that were weighed in all states."""
        self.least_blocked_bytes: int | None = None
        """The lowest peak that was refused: once the search is exhausted, every order reaches it."""

    @abstractmethod
    def _move(self, step: int, rest: int, live: int) -> tuple[int, int, bool]:
        """(peak, bytes alive afterwards, whether nothing better can be done) of the move along `step`."""

    @abstractmethod
    def _freed(self, step: int, rest: int) -> list[int]:
        """Moves possible in `rest` only since the one along `step`."""

    @abstractmethod
    def _preference(self, step: int) -> int:
        """Smallest first among moves that leave equal bytes alive, so that the file's order wins."""

    @abstractmethod
    def order(self) -> tuple[int, ...]:
        """The order found, first step first."""

    def run(self, budget: int) -> Outcome:
        """Go on for at most `budget` states."""
        stack = self._stack
        while stack:
            if stack[-1][0] == self._goal:
                return Outcome.FOUND
            if budget <= 0:
                return Outcome.STOPPED
            budget -= 1
            self.states += 1
            rest, live, possible = stack.pop()
            self.moves += len(possible)
            for _, _, after, step in self._moves(rest, live, possible):
                state = rest ^ (1 << step)
                if state not in self._reached:
                    self._reached[state] = (rest, step)
                    following = [other for other in possible if other != step]
                    following += self._freed(step, state)
                    stack.append((state, after, following))
        return Outcome.EXHAUSTED

    def _moves(self, rest: int, live: int, possible: Sequence[int]) -> list[tuple[int, int, int, int]]:
        """Moves worth trying (the most promising last), by bytes alive afterwards."""
        moves: list[tuple[int, int, int, int]] = []
        for step in possible:
            peak, after, safe = self._move(step, rest, live)
            if peak > self._level:
                blocked = self.least_blocked_bytes
                self.least_blocked_bytes = peak if blocked is None else min(blocked, peak)
                continue
            if safe:
                return [(0, 0, after, step)]
            moves.append((-after, -self._preference(step), after, step))
        moves.sort()
        return moves

    def _way(self) -> list[int]:
        way: list[int] = []
        state, step = self._reached[self._goal]
        while step >= 0:
            way.append(step)
            state, step = self._reached[state]
        return way


class Forward(OrderSearch):
    """From the first step on: `possible` are the steps ready in state `start`."""

    def _move(self, step: int, rest: int, live: int) -> tuple[int, int, bool]:
        after = live + self._steps.delta(step, rest)
        return live + self._steps.rise(step, rest), after, after <= live

    def _freed(self, step: int, rest: int) -> list[int]:
        before = self._steps.before
        return [other for other in self._steps.successors[step] if not before[other] & rest]

    def _preference(self, step: int) -> int:
        return step

    def order(self) -> tuple[int, ...]:
        """The order found, first step first."""
        return tuple(reversed(self._way()))


class Backward(OrderSearch):
    """From the last step back: `possible` are the steps that may be the last of those done in `start`."""

    def _move(self, step: int, rest: int, live: int) -> tuple[int, int, bool]:
        earlier = rest | (1 << step)
        before = live - self._steps.delta(step, earlier)
        peak = before + self._steps.rise(step, earlier)
        return peak, before, before <= live and self._steps.postponable[step]

    def _freed(self, step: int, rest: int) -> list[int]:
        after = self._steps.after
        return [other for other in self._steps.predecessors[step] if after[other] & rest == after[other]]

    def _preference(self, step: int) -> int:
        return -step

    def order(self) -> tuple[int, ...]:
        """The order found, first step first."""
        return tuple(self._way())


@dataclass(frozen=True, slots=True)
class _OrderState:
    rest: int
    live: int
    peak: int
    last: tuple[int, ...]
    """StepMasks that may be undone next."""
    later: "_OrderState | None"
    step: int

    def rank(self) -> tuple[int, int, int]:
        # The steps left break ties, so that the answer depends on the graph and its file order alone.
        return self.peak, self.live, self.rest


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderStretch:
    """Steps to order backwards, between two states that every order passes."""

    start: int
    """StepMasks behind the order, where the search begins."""
    goal: int
    """StepMasks in front of the order."""
    live: int
    """Bytes alive in `start`."""
    last: tuple[int, ...]
    """Steps that may come last."""


def beam(
    steps: StepMasks, stretch: OrderStretch, *, width: int, level: int, late: Callable[[], bool]
) -> tuple[tuple[int, ...] | None, int]:
    """(order of the stretch, states looked at); no order if every one kept has a peak above `level`, or when
    it is `late`."""
    states = [_OrderState(stretch.start, stretch.live, 0, stretch.last, None, -1)]
    looked_at = 0
    while states and states[0].rest != stretch.goal:
        if late():
            return None, looked_at
        following: dict[int, _OrderState] = {}
        for state in states:
            looked_at += 1
            for step in state.last:
                new = _undone(steps, state, step)
                if new.peak > level:
                    continue
                known = following.get(new.rest)
                if known is None or new.peak < known.peak:
                    following[new.rest] = new
        states = sorted(following.values(), key=_OrderState.rank)[:width]
    if not states:
        return None, looked_at
    order: list[int] = []
    state: _OrderState | None = states[0]
    while state is not None and state.step >= 0:
        order.append(state.step)
        state = state.later
    return tuple(order), looked_at


def _undone(steps: StepMasks, state: _OrderState, step: int) -> _OrderState:
    rest = state.rest | (1 << step)
    before = state.live - steps.delta(step, rest)
    last = [other for other in state.last if other != step]
    last += [other for other in steps.predecessors[step] if steps.after[other] & rest == steps.after[other]]
    peak = max(state.peak, before + steps.rise(step, rest))
    return _OrderState(rest, before, peak, tuple(last), state, step)
