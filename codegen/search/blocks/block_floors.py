"""What blocks need at least, found for all that end with one step together, and only as far as is asked.

A block that grows at its front keeps more lines and never fewer. So where these and the result alone are
more than a limit, no longer block that ends there is within it, and none is looked at: a chain takes time in
proportion to its length and to that of the longest block of use, not to the number of its runs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codegen.kernels.line_floor import LineFloor
from codegen.kernels.primfunc import PrimFunc
from codegen.search.blocks.row_blocks import Runs
from codegen.search.steps.lifetimes import Lifetimes

STRIPES = (1, 2, 3, 4, 6, 8)
"""Numbers of stripes that are tried; more than one where recomputation is allowed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Floor:
    """A block of steps [start, stop) that may be: in each of `STRIPES` bytes of its lines, and of all."""

    start: int
    lines_bytes: tuple[int, ...]
    needs_bytes: tuple[int, ...]
    longer_bytes: int
    """What a longer block that ends with the same step needs besides lines, which are no fewer."""

    def need_bytes(self, stripes: int) -> int:
        """What the block needs at least in so many stripes."""
        return self.needs_bytes[STRIPES.index(stripes)]


class BlockFloors:
    """The blocks of one function; `streamed` is the input that `readers` read row by row."""

    def __init__(
        self,
        runs: Runs,
        steps: Sequence[PrimFunc | None],
        lives: Lifetimes,
        streamed: str | None,
        readers: frozenset[int],
    ) -> None:
        self._runs, self._steps, self._lives = runs, steps, lives
        self._streamed, self._readers = streamed, readers
        self._found: dict[int, list[Floor]] = {}
        self._more: dict[int, Iterator[Floor]] = {}

    def within(
        self, stop: int, limit_bytes: int, stripe_counts: Sequence[int]
    ) -> Iterator[tuple[Floor, list[int]]]:
        """Blocks that end in front of step `stop`, and in which of these numbers of stripes they may need no
        more than the limit; the longest first."""
        if stop not in self._more:
            self._found[stop], self._more[stop] = [], self._grown(stop)
        found, places = self._found[stop], [STRIPES.index(count) for count in stripe_counts]
        while (
            not found or found[-1].longer_bytes + min(found[-1].lines_bytes[i] for i in places) <= limit_bytes
        ):
            longer = next(self._more[stop], None)
            if longer is None:
                break
            found.append(longer)
        for floor in reversed(found):
            counts = [STRIPES[i] for i in places if floor.needs_bytes[i] <= limit_bytes]
            if counts and self._serves(floor.start, stop):
                yield floor, counts

    def shortest_delivered(self) -> tuple[int, int] | None:
        """Start and stop of the shortest block in which all readers of the streamed input run."""
        found = [
            (start, stop)
            for stop in range(max(self._readers) + 1, len(self._runs) + 1)
            for start in self._runs.starts(stop)
            if start <= min(self._readers)
        ]
        return min(found, key=lambda pair: pair[1] - pair[0], default=None)

    def _serves(self, start: int, stop: int) -> bool:
        """Whether the input can be streamed with this block: all of its readers are in it, or none."""
        if not self._readers:
            return True
        inside = sum(start <= reader < stop for reader in self._readers)
        return inside == len(self._readers) if inside or stop - start == 1 else True

    def _grown(self, stop: int) -> Iterator[Floor]:
        lines = LineFloor(self._streamed, STRIPES)
        crossing = self._lives.crossing(stop)
        last = self._steps[stop - 1]
        result_bytes = 0 if last is None else self._lives.size_bytes(last.let.var)
        shared_bytes = 0
        for start in self._runs.starts(stop):
            prim = self._steps[start]
            assert prim is not None and prim.rows is not None
            lines.grow(prim)
            if prim.rows.workspace is not None:
                shared_bytes = max(shared_bytes, prim.rows.workspace.size_bytes)
            arguments = lines.arguments
            dying = self._lives.dying(arguments, start, stop)
            crossing -= self._lives.born_bytes(start, stop)
            alone = crossing + sum(dying.values()) + result_bytes + shared_bytes
            # The result may lie over one of what is not needed any more.
            shared = [lines.overlap_bytes(arg) for arg in arguments if self._lives.roots[arg.name] in dying]
            lines_bytes = lines.bytes
            yield Floor(
                start=start,
                lines_bytes=lines_bytes,
                needs_bytes=tuple(
                    alone + bytes_ - max((most[index] for most in shared), default=0)
                    for index, bytes_ in enumerate(lines_bytes)
                ),
                longer_bytes=result_bytes + shared_bytes,
            )
