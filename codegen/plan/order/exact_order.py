"""Is there an order whose peak is at most a level? Depth-first over states, from either end, exactly.

Bytes alive are a submodular function of the set of steps done (a value lives while its writer is in the
set and not all of its readers are), which proves the shortcut both directions take: a step that is
possible, keeps to the level and leaves no more alive than before may be done at once, for in any other
order it can be moved here and every state in between gets no heavier. Backwards the same holds for
undoing a step that leaves no more alive than there was after it. The last steps of a network decide far
more often than the first whether a level can be met, so the search from the end is usually the short one.
"""

import enum
from abc import ABC, abstractmethod
from collections.abc import Sequence

from codegen.plan.order.step_sets import Steps


class Outcome(enum.Enum):
    """How a search stands."""

    FOUND = "found"
    EXHAUSTED = "exhausted"
    STOPPED = "stopped"


class Search(ABC):
    """Depth-first search for a way from state `start` to state `goal` with no peak above `level`."""

    def __init__(
        self, steps: Steps, start: int, goal: int, live: int, level: int, possible: Sequence[int]
    ) -> None:
        self._steps = steps
        self._goal = goal
        self._level = level
        self._stack: list[tuple[int, int, list[int]]] = [(start, live, list(possible))]
        self._reached: dict[int, tuple[int, int]] = {start: (start, -1)}
        self.states = 0
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


class Forward(Search):
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


class Backward(Search):
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
