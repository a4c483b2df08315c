"""Attempts that were made, so that only what may be better than they are is planned."""

from codegen.program.shortage import DoesNotFit
from codegen.search.blocks.row_blocks import Segment
from codegen.search.memory.attempt import Attempt, Planning
from codegen.search.memory.candidates import PlanCandidate


class History:
    """Attempts made so far, those that fit and those that do not."""

    def __init__(self, *, lowest: bool = False) -> None:
        """`lowest`: bytes alone count, whatever work and access to memory they cost."""
        self._lowest = lowest
        self._seen: set[tuple[Planning, tuple[Segment, ...]]] = set()
        self._failed: list[DoesNotFit] = []
        self.found: list[Attempt] = []

    def add(self, candidate: PlanCandidate) -> bool:
        """Try this way, if it is new and may be better than those found; whether it is of use."""
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
            useful.append(candidate.planning.total_bytes + 1)
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
