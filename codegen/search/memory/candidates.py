"""Candidates for a plan: which steps run together in blocks, in how many stripes, and which of them twice.

The tiler's needs leave out alignment and chains of overlaps: only a plan says what a candidate takes.
Attempts are remembered, so that only what may be better is planned.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from codegen.problem.problem import total_bytes
from codegen.problem.shortage import DoesNotFit
from codegen.search.blocks.row_blocks import Segment
from codegen.search.blocks.tiling import Tiler, Tiling
from codegen.search.memory.attempt import Attempt, Planning

NEAR_PERCENT = 1
"""A need this much above the least is as good if it saves work."""

_TARGETS = 8
"""Needs between the limit and the least that the tilings of `within` are made for."""

_CURVE_POINTS = 24
"""Needs between those of whole values and the least that the tilings of `points` are made for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanCandidate:
    """Blocks of a function (or of a variant, some of whose steps run twice), and what both cost in
    multiply-accumulates."""

    planning: Planning
    segments: tuple[Segment, ...] = ()
    extra_macs: int = 0

    @property
    def macs(self) -> int:
        """Multiply-accumulates executed."""
        return self.planning.macs - self.planning.extra_macs + self.extra_macs


def whole(planning: Planning) -> Iterator[PlanCandidate]:
    """Every value whole; nothing if an input arrives row by row."""
    if planning.streamed is None:
        yield PlanCandidate(planning=planning, extra_macs=planning.extra_macs)


def lines(planning: Planning) -> Iterator[PlanCandidate]:
    """Blocks for the least need without recomputing a border."""
    yield _candidate(planning, planning.tiler().smallest(recompute=False))


def capped(planning: Planning, most_macs: int) -> Iterator[PlanCandidate]:
    """Those of the least need with at most `most_macs` extra multiply-accumulates, and of nearly that."""
    for again in (planning, *_in_blocks(planning)):
        if again.extra_macs <= most_macs:
            tiler = again.tiler()
            smallest = tiler.capped(most_macs - again.extra_macs)
            yield _candidate(again, smallest)
            near = tiler.within(smallest.need_bytes * (100 + NEAR_PERCENT) // 100, recompute=True)
            assert near is not None, "the least need is reached by a tiling"
            yield _candidate(again, near)
    for again in planning.recomputing("whole"):
        if again.extra_macs <= most_macs:
            yield from whole(again)


def within(planning: Planning) -> Iterator[PlanCandidate]:
    """Candidates that may fit the pools, without extra work first, then all others by their extra work."""
    yield from _below(planning, total_bytes(planning.pools), _TARGETS)


def _below(planning: Planning, most_bytes: int, count: int) -> Iterator[PlanCandidate]:
    """As `within`, of needs up to `most_bytes`; `count` of those between that and the least."""
    yield from whole(planning)
    tiler = planning.tiler()
    yield from _targets(planning, tiler, most_bytes, count, recompute=False)
    others = [
        *_targets(planning, tiler, most_bytes, count, recompute=True),
        *(candidate for again in planning.recomputing("whole") for candidate in whole(again)),
    ]
    for again in _in_blocks(planning):
        for recompute in (False, True):
            others += _targets(again, again.tiler(), most_bytes, count, recompute=recompute)
    yield from sorted(others, key=lambda candidate: candidate.extra_macs)


def points(planning: Planning) -> tuple[PlanCandidate, ...]:
    """Candidates from what whole values need down to the least, as `within` has them. Neither a limit decides
    them, nor how far kernels reach."""
    return tuple(_below(planning, planning.tiler().plain_bytes, _CURVE_POINTS))


def planned_as(
    candidates: Iterable[PlanCandidate], change: Callable[[Planning], Planning]
) -> Iterator[PlanCandidate]:
    """`candidates` with their plannings changed, each once."""
    changed: dict[Planning, Planning] = {}
    for candidate in candidates:
        if candidate.planning not in changed:
            changed[candidate.planning] = change(candidate.planning)
        yield replace(candidate, planning=changed[candidate.planning])


def _in_blocks(planning: Planning) -> Iterator[Planning]:
    """Variants that need less with their steps in blocks."""
    if planning.has_blocks:
        yield from planning.recomputing("blocks")


def _targets(
    planning: Planning, tiler: Tiler, most_bytes: int, count: int, *, recompute: bool
) -> Iterator[PlanCandidate]:
    """Tilings for needs from the most down to the least, each about as much lower than the one before."""
    smallest = tiler.smallest(recompute=recompute)
    ratio = smallest.need_bytes / most_bytes if most_bytes else 1.0
    for index in range(count if ratio < 1 else 0):
        found = tiler.within(int(most_bytes * ratio ** (index / count)), recompute=recompute)
        if found is not None:
            yield _candidate(planning, found)
    yield _candidate(planning, smallest)


def _candidate(planning: Planning, tiling: Tiling) -> PlanCandidate:
    extra = planning.extra_macs + tiling.extra_macs
    return PlanCandidate(planning=planning, segments=tiling.segments, extra_macs=extra)


class History:
    """Attempts made so far, those that fit and those that do not."""

    def __init__(self, *, lowest: bool = False) -> None:
        """`lowest`: bytes alone count, whatever work and access to memory they cost."""
        self._lowest = lowest
        self._seen: set[tuple[Planning, tuple[Segment, ...]]] = set()
        self._failed: list[DoesNotFit] = []
        self.found: list[Attempt] = []

    def add(self, candidate: PlanCandidate) -> bool:
        """Try this candidate, if it is new and may be better than those found; whether it is of use."""
        if (candidate.planning, candidate.segments) in self._seen:
            return False
        self._seen.add((candidate.planning, candidate.segments))
        # Whoever must use dear pools can be beaten by a plan that is no lower, blocks by one without any.
        useful = [
            each.peak_bytes + (each.block_steps > 0 and not candidate.segments)
            for each in self.found
            if self._lowest or (each.macs <= candidate.macs and not each.extra_cost)
        ]
        if self._failed:
            # One failure is told well enough; what cannot fit need not be planned to see it.
            useful.append(total_bytes(candidate.planning.pools) + 1)
        below = min(useful, default=None)
        try:
            attempt = candidate.planning.attempt_below(candidate.segments, below)
        except DoesNotFit as error:
            self._failed.append(error)
            return False
        if attempt is not None:
            self.found.append(attempt)
        return attempt is not None

    def nearest(self) -> DoesNotFit:
        """The failure that lacks fewest bytes."""
        return min(self._failed, key=lambda error: error.missing_bytes)
