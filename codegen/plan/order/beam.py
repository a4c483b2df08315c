"""Beam search for an order, from the last step back: what remains once the exact search is too long.

After every step only the best states are kept, by the peak so far and then by the bytes alive. Nothing
is proved; the answer is an order and its peak.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codegen.plan.order.step_sets import Steps


@dataclass(frozen=True, slots=True)
class _State:
    rest: int
    live: int
    peak: int
    last: tuple[int, ...]
    """Steps that may be undone next."""
    later: "_State | None"
    step: int

    def rank(self) -> tuple[int, int, int]:
        # The steps left break ties, so that the answer depends on the graph and its file order alone.
        return self.peak, self.live, self.rest


def beam(
    steps: Steps,
    start: int,
    goal: int,
    live: int,
    last: Sequence[int],
    *,
    width: int,
    level: int,
    late: Callable[[], bool],
) -> tuple[tuple[int, ...] | None, int]:
    """(order from `goal` to `start`, states looked at); no order if every one kept has a peak above `level`.

    `start` is the state after the order, `goal` the one before it, `live` the bytes alive in `start`,
    `last` the steps that may come last. `late` ends it without one.
    """
    states = [_State(start, live, 0, tuple(last), None, -1)]
    looked_at = 0
    while states and states[0].rest != goal:
        if late():
            return None, looked_at
        following: dict[int, _State] = {}
        for state in states:
            looked_at += 1
            for step in state.last:
                new = _undone(steps, state, step)
                if new.peak > level:
                    continue
                known = following.get(new.rest)
                if known is None or new.peak < known.peak:
                    following[new.rest] = new
        states = sorted(following.values(), key=_State.rank)[:width]
    if not states:
        return None, looked_at
    order: list[int] = []
    state: _State | None = states[0]
    while state is not None and state.step >= 0:
        order.append(state.step)
        state = state.later
    return tuple(order), looked_at


def _undone(steps: Steps, state: _State, step: int) -> _State:
    rest = state.rest | (1 << step)
    before = state.live - steps.delta(step, rest)
    last = [other for other in state.last if other != step]
    last += [other for other in steps.predecessors[step] if steps.after[other] & rest == steps.after[other]]
    peak = max(state.peak, before + steps.rise(step, rest))
    return _State(rest, before, peak, tuple(last), state, step)
