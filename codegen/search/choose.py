"""Which of several attempts to take: what `--optimize` asks for, what a limit demands, all that pay."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from codegen.plan.budget import Budgets, smallest_budgets
from codegen.plan.problem import peak_bytes
from codegen.plan.shortage import DoesNotFit, shortage
from codegen.search.attempt import Attempt, Planning
from codegen.search.fuse import Segment
from codegen.search.ways import NEAR_PERCENT, Way, capped, lines, whole, within

EXTRA_PERCENT = 50
"""The most extra multiply-accumulates of `--optimize size`, in percent of the model's own."""

_CURVE_POINTS = 24
"""Needs between those of whole values and the least that the curve's tilings are made for."""

_NO_LIMIT = 1 << 40
"""Bytes of a pool whose limit is lifted: more than any board has."""

Progress = Callable[[int, int], None]
"""Told how many attempts are over, and of how many."""


def best_attempt(planning: Planning, optimize: str) -> Attempt:
    """The plan that `optimize` asks for, or, if that misses a limit, the fastest one found that fits.

    speed: values in memory whole. balanced: the least peak without an extra multiply-accumulate. size: the
    least peak for `EXTRA_PERCENT` more of them; up to `NEAR_PERCENT` above it if that saves some. Raises
    DoesNotFit, with the peak and the buffers of the least plan found and the smallest budgets that do.
    """
    found = _fitting(planning, optimize)
    return planning.finished(found if isinstance(found, Attempt) else _smallest(planning, optimize, found))


def _fitting(planning: Planning, optimize: str) -> Attempt | DoesNotFit:
    """The plan within the limits, or the failure that came nearest to them."""
    tried = _Tried()
    for way in _asked_for(planning, optimize):
        tried.add(way)
        if optimize == "speed" and tried.found:
            break
    if tried.found:
        return _preferred(tried.found, optimize)
    for free in _freed(planning):
        for way in within(free, sum(pool.limit_bytes for pool in planning.pools)):
            if tried.add(way):
                return tried.found[-1]
    return tried.nearest()


def _freed(planning: Planning) -> Iterator[Planning]:
    """What a missed limit may demand: any kernel, the fast ones in blocks before those that need least."""
    yield planning.reaching("least")
    lean = planning.lean_rows()
    if lean is not None:
        yield lean


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


class _Tried:
    """Attempts made so far, those that fit and those that do not."""

    def __init__(self) -> None:
        self._seen: set[tuple[Planning, tuple[Segment, ...]]] = set()
        self._failed: list[DoesNotFit] = []
        self.found: list[Attempt] = []

    def add(self, way: Way) -> bool:
        """Try this way, if it is new and may be better than those found; whether it is of use."""
        if (way.planning, way.segments) in self._seen:
            return False
        self._seen.add((way.planning, way.segments))
        # Whoever must use dear pools can be beaten by a plan that is no lower, blocks by one without any.
        useful = [
            each.peak_bytes + (each.block_steps > 0 and not way.segments)
            for each in self.found
            if each.macs <= way.macs and not each.extra_cost
        ]
        if self._failed:
            # One failure is told well enough; what cannot fit need not be planned to see it.
            useful.append(sum(pool.limit_bytes for pool in way.planning.pools) + 1)
        below = min(useful, default=None)
        try:
            attempt = way.planning.attempt_below(way.segments, below)
        except DoesNotFit as error:
            self._failed.append(error)
            return False
        if attempt is not None:
            self.found.append(attempt)
        return attempt is not None

    def nearest(self) -> DoesNotFit:
        """The failure that lacks fewest bytes."""
        return min(self._failed, key=lambda error: error.missing_bytes)


def frontier(planning: Planning, progress: Progress) -> tuple[list[Attempt], list[Attempt]]:
    """Attempts of which none needs fewer bytes and no more multiply-accumulates than another, the least work
    first: with kernels as they are chosen for speed; and, of those with the kernels that need least bytes,
    however slow, all that need fewer than any of the first for as much work.

    Raises DoesNotFit if none is within the limits, as `best_attempt` does.
    """
    fast = list(within(planning.reaching("replacing"), None, _CURVE_POINTS))
    lean = [way for free in _freed(planning) for way in within(free, None, _CURVE_POINTS)]
    tried, leaner = _Tried(), _Tried()
    for index, way in enumerate((*fast, *lean)):
        progress(index, len(fast) + len(lean))
        (tried if index < len(fast) else leaner).add(way)
    progress(len(fast) + len(lean), len(fast) + len(lean))
    if not tried.found and not leaner.found:
        return [_smallest(planning, "balanced", leaner.nearest())], []
    points, others = _finished(planning, tried.found), _finished(planning, leaner.found)
    return points, [other for other in others if not any(_is_no_worse(point, other) for point in points)]


def _finished(planning: Planning, found: Sequence[Attempt]) -> list[Attempt]:
    return _undominated([planning.finished(point) for point in _undominated(found)])


def _is_no_worse(point: Attempt, other: Attempt) -> bool:
    return point.macs <= other.macs and point.peak_bytes <= other.peak_bytes


def _undominated(attempts: Sequence[Attempt]) -> list[Attempt]:
    points: list[Attempt] = []
    for attempt in sorted(attempts, key=lambda attempt: (attempt.macs, attempt.peak_bytes)):
        if not points or attempt.peak_bytes < points[-1].peak_bytes:
            points.append(attempt)
    return points


def _smallest(planning: Planning, optimize: str, missed: DoesNotFit) -> Attempt:
    """Lift the limits that were missed, then lower them to the smallest ones that a plan is found for.

    Raises `DoesNotFit`: the plan for these, held against the limits as they are.
    """
    pools = {item.pool: item.limit_bytes for item in missed.shortages}

    def ask(budgets: Budgets) -> Attempt | None:
        found = _fitting(planning.limited(budgets), optimize)
        return found if isinstance(found, Attempt) else None

    def taken(attempt: Attempt) -> Budgets:
        return {name: peak_bytes(attempt.problem, attempt.plan, name) for name in pools}

    tried = _Tried()
    for free in _freed(planning.limited(dict.fromkeys(pools, _NO_LIMIT))):
        for way in within(free, None):
            tried.add(way)
    if not tried.found:
        raise missed
    least = min(tried.found, key=lambda attempt: (attempt.peak_bytes, attempt.macs))
    found = smallest_budgets(ask, taken, least, pools, bisect=len(planning.pools) > 1)
    attempt, budgets = (least, dict[str, int]()) if found is None else found
    problem = replace(attempt.problem, pools=planning.pools)
    if all(peak_bytes(problem, attempt.plan, pool.name) <= pool.limit_bytes for pool in planning.pools):
        return replace(attempt, problem=problem)
    steps = [prim.let.where for prim in attempt.prim_funcs]
    raise shortage(problem, attempt.plan).with_steps(attempt.live.times, steps).with_budgets(budgets)
