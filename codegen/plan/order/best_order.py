"""Choosing the order of steps: the least peak over all orders, proved where the limits allow it.

The peak of an order is the bound of `codegen.plan.place.bounds`: at each moment the bytes that everything
alive covers at least. A plan whose peak equals the lower bound over all orders is therefore optimal in order
and placement together.

The graph is cut where one step separates all others into earlier and later ones. Each segment is asked
"is there an order within this level?" (`order_exact`), the level found by bisection, then lowered until
nothing is left below; the largest segment decides, the others keep the file's order wherever that is no
worse. Limits are counts, and ties go to the file's order: the answer depends on the graph alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from codegen.plan.clock import Clock
from codegen.plan.order.exact_order import Backward, Forward, OrderSearch, OrderStretch, Outcome, beam
from codegen.plan.order.order_graph import OrderGraph, OrderLimits, OrderResult, StepMasks, run

_PROBES = 24
"""A bisection may spend one in so many states on each level it tries."""

_FINENESS = 512
"""Bisections end when what is left to decide is one in so many bytes."""


_SLICE = 500
"""States between two looks at the clock."""


def best_order(
    graph: OrderGraph, limits: OrderLimits | None = None, clock: Clock | None = None
) -> OrderResult:
    """The best order found within `limits` and before `clock` is late, its peak, and a bound that holds for
    every order."""
    limits, clock = limits or OrderLimits(), clock or Clock()
    steps = StepMasks(graph)
    segments = list(_segments(steps))
    floor = max([steps.given_bytes, *(steps.least_bytes(step) for step in range(steps.count))], default=0)
    file_peak = max([floor, *(segment.file_peak for segment in segments)])
    budget = _Budget(limits, steps.step_bytes, clock)
    stages = {segment.start: iter(_STAGES) for segment in segments}
    while segments:
        # The heaviest segment alone decides; when its stages are over nothing else can lower the peak.
        heaviest = max(segments, key=lambda segment: segment.peak)
        stage = next(stages[heaviest.start], None)
        if heaviest.peak <= floor or stage is None:
            break
        floor = max(floor, stage(steps, heaviest, floor, budget))
    peak = max([floor, *(segment.peak for segment in segments)])
    order = [step for segment in segments for step in segment.chosen(peak)]
    return OrderResult(
        order=tuple(order),
        peak_bytes=peak,
        lower_bound_bytes=floor,
        file_peak_bytes=file_peak,
        states=budget.spent,
    )


class _Budget:
    """States left, and how many were looked at."""

    def __init__(self, limits: OrderLimits, step_bytes: int, clock: Clock) -> None:
        self._left = limits.states
        self._moves_left = limits.moves
        self.clock = clock
        self.spent = 0
        self.probe = limits.states // _PROBES
        self.beam_width = limits.beam_width
        self.step_bytes = step_bytes
        """All peaks are multiples of this."""

    @property
    def left(self) -> int:
        """States that may be looked at yet."""
        return 0 if self.is_over() else self._left

    def is_over(self) -> bool:
        """True if the time or the moves are spent."""
        return self._moves_left <= 0 or self.clock.late()

    def take(self, states: int, moves: int = 0) -> None:
        self._left -= states
        self._moves_left -= moves
        self.spent += states

    def between(self, low: int, high: int) -> int:
        """A level half-way in `[low, high)`, a multiple of `step_bytes` if there is one."""
        middle = (low + high - 1) // 2
        return max(low, middle - middle % self.step_bytes)

    def close(self, low: int, high: int) -> bool:
        """True if the interval is too narrow to be worth another search."""
        return high - low < max(self.step_bytes, high // _FINENESS) or self.left <= 0


@dataclass(slots=True)
class _Segment:
    """StepMasks between two states that every order passes; the best order of them so far."""

    file_order: tuple[int, ...]
    start: int
    """StepMasks to do when the segment begins; `end`: when it is over."""
    end: int
    start_live: int
    end_live: int
    file_peak: int
    order: tuple[int, ...]
    peak: int

    def chosen(self, peak: int) -> tuple[int, ...]:
        """The file's order where it does not exceed `peak`, else the best one."""
        return self.file_order if self.file_peak <= peak else self.order

    def take(self, steps: StepMasks, order: tuple[int, ...]) -> None:
        """Note a better order; raises ValueError if it is not one (a bug of the search)."""
        peak, live = run(steps, order, self.start, self.start_live)
        if peak >= self.peak or live != self.end_live or len(order) != len(self.file_order):
            raise ValueError("the search for an order returned a worse one")
        self.order, self.peak = order, peak


def _segments(steps: StepMasks) -> Iterator[_Segment]:
    """Segments of the file's order between states that no order avoids.

    Such a state comes before and after each step that depends, directly or not, on all the steps before
    it and that all the steps after it depend on.
    """
    stretches, start = list[range](), 0
    for cut in _cuts(steps):
        stretches += range(start, cut), range(cut, cut + 1)
        start = cut + 1
    stretches.append(range(start, steps.count))
    rest, live = steps.all, steps.start_live_bytes
    for stretch in stretches:
        if stretch:
            order = tuple(stretch)
            peak, after = run(steps, order, rest, live)
            end = rest >> stretch.stop << stretch.stop
            yield _Segment(order, rest, end, live, after, peak, order, peak)
            rest, live = end, after


def _cuts(steps: StepMasks) -> list[int]:
    """Steps on which each step before them leads, directly or not, and that lead to each step after them.

    The file's order is a valid one. So a step has all of those before it behind itself exactly if none of
    them has its nearest successor beyond it: whoever follows successors then ends at the step. Predecessors
    of the later steps likewise.
    """
    last = steps.count - 1
    nearest = (min(after, default=last + 1) for after in steps.successors)
    reach = list(accumulate(nearest, max, initial=0))  # of the steps before each
    farthest = (max(before, default=-1) for before in reversed(steps.predecessors))
    origin = list(accumulate(farthest, min, initial=last))[::-1]  # of the steps from each on
    return [step for step in range(steps.count) if reach[step] <= step <= origin[step + 1]]


def _lower(steps: StepMasks, segment: _Segment, floor: int, budget: _Budget) -> int:
    """Narrow the segment's peak down with short searches; returns a lower bound of it."""
    lowest = level = floor
    while level < segment.peak and budget.left > 0:
        outcome, bound = _ask(steps, segment, level, budget.probe, budget)
        floor = max(floor, bound)
        lowest = max(lowest, floor, level + 1 if outcome is Outcome.STOPPED else 0)
        if budget.close(lowest, segment.peak):
            break
        level = budget.between(lowest, segment.peak)
    return floor


def _raise(steps: StepMasks, segment: _Segment, floor: int, budget: _Budget) -> int:
    """Raise the lower bound with short searches that shall find nothing; returns it."""
    highest = segment.peak
    while not budget.close(floor, highest):
        level = budget.between(floor, highest)
        outcome, bound = _ask(steps, segment, level, budget.probe // 2, budget)
        floor = max(floor, bound)
        highest = min(level, segment.peak) if outcome is not Outcome.EXHAUSTED else highest
    return floor


def _descend(steps: StepMasks, segment: _Segment, floor: int, budget: _Budget) -> int:
    """Ask for anything better than the best order until there is nothing; returns a lower bound."""
    if segment.peak > floor:
        # The bound is often met, and then nothing in between need be tried.
        _, bound = _ask(steps, segment, floor, budget.left // 4, budget)
        floor = max(floor, bound)
    while segment.peak > floor and budget.left > 0:
        _, bound = _ask(steps, segment, segment.peak - 1, budget.left, budget)
        floor = max(floor, bound)
    return floor


def _beam(steps: StepMasks, segment: _Segment, floor: int, budget: _Budget) -> int:
    """Look for a better order without proof."""
    if not budget.beam_width or segment.peak <= floor or budget.clock.late():
        return floor
    last = tuple(step for step in segment.file_order if not steps.after[step] & ~segment.end)
    order, states = beam(
        steps,
        OrderStretch(start=segment.end, goal=segment.start, live=segment.end_live, last=last),
        width=budget.beam_width,
        level=segment.peak - 1,
        late=budget.clock.late,
    )
    budget.take(states)
    if order is not None:
        segment.take(steps, order)
    return floor


def _ask(
    steps: StepMasks, segment: _Segment, level: int, states: int, budget: _Budget
) -> tuple[Outcome, int]:
    """(outcome, lower bound: 0 if nothing is proved) of both searches, in turns of doubling length.

    An order within `level` is noted in the segment. Exhausting either side is a proof.
    """
    last = [step for step in segment.file_order if not steps.after[step] & ~segment.end]
    ready = [step for step in segment.file_order if not steps.before[step] & segment.start]
    searches: tuple[OrderSearch, ...] = (
        Backward(steps, segment.end, segment.start, segment.end_live, level, last),
        Forward(steps, segment.start, segment.end, segment.start_live, level, ready),
    )
    turn = len(segment.file_order) * 2 + 64
    states = min(states, budget.left)
    while states > 0:
        for search in searches:
            before = search.states
            outcome = _run(search, min(turn, states), budget)
            states -= search.states - before
            if outcome is Outcome.FOUND:
                segment.take(steps, search.order())
                return outcome, 0
            if outcome is Outcome.EXHAUSTED:
                return outcome, max(level + 1, search.least_blocked_bytes or 0)
        turn *= 2
        if budget.is_over():
            break
    return Outcome.STOPPED, 0


def _run(search: OrderSearch, states: int, budget: _Budget) -> Outcome:
    """`search.run(states)` in slices, until `budget` is over."""
    outcome = Outcome.STOPPED
    while outcome is Outcome.STOPPED and states > 0 and not budget.is_over():
        before = search.states, search.moves
        outcome = search.run(min(states, _SLICE))
        budget.take(search.states - before[0], search.moves - before[1])
        states -= _SLICE
    return outcome


_STAGES = (_lower, _raise, _beam, _descend)
