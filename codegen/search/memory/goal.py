"""Which of several attempts to take: what `--optimize` asks for, what a limit demands, all that pay."""

from collections.abc import Callable, Iterator, Sequence

from codegen.progress import Progress
from codegen.search.memory import wider_turns
from codegen.search.memory.attempt import Attempt, Planning
from codegen.search.memory.candidates import (
    NEAR_PERCENT,
    History,
    PlanCandidate,
    capped,
    lines,
    planned_as,
    points,
    whole,
)
from codegen.search.memory.smallest import SmallestPlan, first_within

EXTRA_PERCENT = 50
"""The most extra multiply-accumulates of `--optimize size`, in percent of the model's own."""


def best_attempt(planning: Planning, optimize: str, smallest: Callable[[], SmallestPlan]) -> Attempt:
    """The plan that `optimize` asks for, or, if that misses a limit, the fastest one found that fits.

    speed: values in memory whole. balanced: the least peak without an extra multiply-accumulate. size: the
    least peak for `EXTRA_PERCENT` more of them; up to `NEAR_PERCENT` above it if that saves some. `smallest`:
    what a missed limit demands last. Blocks have the kernels of `wider_turns`. Raises DoesNotFit as
    `SmallestPlan.fitting` does.
    """
    return wider_turns.faster(planning, _best_by_rows(planning, optimize, smallest))


def _best_by_rows(planning: Planning, optimize: str, smallest: Callable[[], SmallestPlan]) -> Attempt:
    """The same with a row of each layer a turn."""
    if planning.is_hopeless:
        return smallest().fitting()
    history = History()
    for candidate in _asked_for(planning, optimize):
        history.add(candidate)
        if history.found and (optimize == "speed" or planning.choices.clock.late()):
            break
    if history.found:
        return planning.finished(_preferred(history.found, optimize))
    # A missed limit may demand any kernel, the fast ones in blocks before those that need least.
    for reach in ("chosen", "least"):
        found = first_within(planning.reaching(reach))
        if isinstance(found, Attempt):
            return planning.finished(found)
    return smallest().fitting()


def _asked_for(planning: Planning, optimize: str) -> Iterator[PlanCandidate]:
    """Blocks come first where they are looked for: what they need often shows by its bound alone that values
    in memory whole are not worth planning."""
    if optimize == "speed":
        yield from whole(planning)
    if optimize != "speed" or planning.streamed is not None:
        yield from lines(planning)
    if optimize != "speed":
        yield from whole(planning)
    if optimize == "size":
        yield from capped(planning, planning.macs * EXTRA_PERCENT // 100)


def _preferred(found: Sequence[Attempt], optimize: str) -> Attempt:
    """Of those whose buffers are in the best pools, the least peak; with size also one a little above it,
    if that saves work."""
    cost = min(attempt.extra_cost for attempt in found)
    cheap = [attempt for attempt in found if attempt.extra_cost == cost]
    smallest = min(attempt.peak_bytes for attempt in cheap)
    percent = NEAR_PERCENT if optimize == "size" else 0
    near = [attempt for attempt in cheap if attempt.peak_bytes * 100 <= smallest * (100 + percent)]
    return min(near, key=lambda attempt: (attempt.macs, attempt.peak_bytes, attempt.block_steps))


def frontier(
    planning: Planning, smallest: SmallestPlan, progress: Progress, stage: str
) -> tuple[list[Attempt], list[Attempt]]:
    """Attempts of which none needs fewer bytes and no more multiply-accumulates than another, the least work
    first: with kernels as they are chosen for speed; and, of those with the kernels that need least bytes,
    however slow, all that need fewer than any of the first for as much work. The last one is the `smallest`.
    `progress` hears of each candidate, as a part of `stage`.

    Raises DoesNotFit if none is within the limits, as `best_attempt` does.
    """
    fast = list(planned_as(points(planning), lambda each: each.reaching("replacing")))
    freed = smallest.candidates
    history, low_memory = History(), History()
    for index, candidate in enumerate((*fast, *freed)):
        progress(stage, index, len(fast) + len(freed))
        (history if index < len(fast) else low_memory).add(candidate)
    progress(stage, len(fast) + len(freed), len(fast) + len(freed))
    if not history.found and not low_memory.found:
        return [], [smallest.fitting()]
    lowest = smallest.best_of(freed)
    found = _undominated([planning.finished(point) for point in _undominated(history.found)])
    others = [smallest.finished(point) for point in _undominated(low_memory.found)]
    others = _undominated([*others, *([] if lowest is None else [lowest])])
    return found, [other for other in others if not any(_is_no_worse(point, other) for point in found)]


def _is_no_worse(point: Attempt, other: Attempt) -> bool:
    return point.macs <= other.macs and point.peak_bytes <= other.peak_bytes


def _undominated(attempts: Sequence[Attempt]) -> list[Attempt]:
    points: list[Attempt] = []
    for attempt in sorted(attempts, key=lambda attempt: (attempt.macs, attempt.peak_bytes)):
        if not points or attempt.peak_bytes < points[-1].peak_bytes:
            points.append(attempt)
    return points
