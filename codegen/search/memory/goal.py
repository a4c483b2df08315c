"""Which of several attempts to take: what `--optimize` asks for, what a limit demands, all that pay."""

from collections.abc import Callable, Iterator, Sequence

from codegen.progress import Progress
from codegen.search.memory.attempt import Attempt, Planning
from codegen.search.memory.candidates import NEAR_PERCENT, Way, capped, lines, planned_as, points, whole
from codegen.search.memory.history import Tried
from codegen.search.memory.smallest import Least, first_within

EXTRA_PERCENT = 50
"""The most extra multiply-accumulates of `--optimize size`, in percent of the model's own."""


def best_attempt(planning: Planning, optimize: str, least: Callable[[], Least]) -> Attempt:
    """The plan that `optimize` asks for, or, if that misses a limit, the fastest one found that fits.

    speed: values in memory whole. balanced: the least peak without an extra multiply-accumulate. size: the
    least peak for `EXTRA_PERCENT` more of them; up to `NEAR_PERCENT` above it if that saves some. `least`:
    what a missed limit demands last. Raises DoesNotFit as `Least.fitting` does.
    """
    tried = Tried()
    for way in _asked_for(planning, optimize):
        tried.add(way)
        if tried.found and (optimize == "speed" or planning.choices.clock.late()):
            break
    if tried.found:
        return planning.finished(_preferred(tried.found, optimize))
    # A missed limit may demand any kernel, the fast ones in blocks before those that need least.
    found = first_within(planning.reaching("least"))
    return planning.finished(found) if isinstance(found, Attempt) else least().fitting()


def _asked_for(planning: Planning, optimize: str) -> Iterator[Way]:
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
    least = min(attempt.peak_bytes for attempt in cheap)
    percent = NEAR_PERCENT if optimize == "size" else 0
    near = [attempt for attempt in cheap if attempt.peak_bytes * 100 <= least * (100 + percent)]
    return min(near, key=lambda attempt: (attempt.macs, attempt.peak_bytes, attempt.block_steps))


def frontier(
    planning: Planning, least: Least, progress: Progress, stage: str
) -> tuple[list[Attempt], list[Attempt]]:
    """Attempts of which none needs fewer bytes and no more multiply-accumulates than another, the least work
    first: with kernels as they are chosen for speed; and, of those with the kernels that need least bytes,
    however slow, all that need fewer than any of the first for as much work. The last one is the `least`.
    `progress` hears of the ways, as parts of `stage`.

    Raises DoesNotFit if none is within the limits, as `best_attempt` does.
    """
    fast = list(planned_as(points(planning), lambda each: each.reaching("replacing")))
    freed = least.ways
    tried, leaner = Tried(), Tried()
    for index, way in enumerate((*fast, *freed)):
        progress(stage, index, len(fast) + len(freed))
        (tried if index < len(fast) else leaner).add(way)
    progress(stage, len(fast) + len(freed), len(fast) + len(freed))
    if not tried.found and not leaner.found:
        return [], [least.fitting()]
    lowest = least.least(freed)
    found = _undominated([planning.finished(point) for point in _undominated(tried.found)])
    others = [least.finished(point) for point in _undominated(leaner.found)]
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
