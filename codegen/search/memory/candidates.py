"""Candidates for a plan: which steps run together in blocks, in how many stripes, and which of them twice.

The tiler's needs leave out alignment and chains of overlaps: only a plan says what a candidate takes.
Attempts are remembered, so that only what may be better is planned.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from codegen.problem.problem import total_bytes
from codegen.problem.shortage import DoesNotFit
from codegen.search.blocks.row_blocks import Segment
from codegen.search.blocks.tiling import Tiling
from codegen.search.memory.attempt import Attempt, Planning

NEAR_PERCENT = 1
"""A need this much above the least is as good if it saves work."""


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
    """Candidates of the least need with at most `most_macs` extra multiply-accumulates, and of nearly
    that.
    """
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


def _in_blocks(planning: Planning) -> Iterator[Planning]:
    """Variants that need less with their steps in blocks."""
    if planning.has_blocks:
        yield from planning.recomputing("blocks")


def _candidate(planning: Planning, tiling: Tiling) -> PlanCandidate:
    extra = planning.extra_macs + tiling.extra_macs
    return PlanCandidate(planning=planning, segments=tiling.segments, extra_macs=extra)


class History:
    """Attempts made so far that fit."""

    def __init__(self) -> None:
        self._seen: set[tuple[Planning, tuple[Segment, ...]]] = set()
        self._failed = False
        self.found: list[Attempt] = []

    def add(self, candidate: PlanCandidate) -> None:
        """Try this candidate, if it is new and may be better than those found."""
        if (candidate.planning, candidate.segments) in self._seen:
            return
        self._seen.add((candidate.planning, candidate.segments))
        # Whoever must use dear pools can be beaten by a plan that is no lower, blocks by one without any.
        useful = [
            attempt.peak_bytes + (attempt.block_steps > 0 and not candidate.segments)
            for attempt in self.found
            if attempt.macs <= candidate.macs and not attempt.extra_cost
        ]
        if self._failed:
            # What cannot fit need not be planned to see it.
            useful.append(total_bytes(candidate.planning.pools) + 1)
        try:
            attempt = candidate.planning.attempt_below(candidate.segments, min(useful, default=None))
        except DoesNotFit:
            self._failed = True
            return
        if attempt is not None:
            self.found.append(attempt)
