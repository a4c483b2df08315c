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


@dataclass(frozen=True, kw_only=True, slots=True)
class Floor:
    """A block of steps [start, stop) that may be: bytes of its lines without stripes, of all else there."""

    start: int
    lines_bytes: int
    rest_bytes: int
    longer_bytes: int
    """What a longer block that ends with the same step needs besides lines, which are no fewer."""

    def need_bytes(self, stripes: int) -> int:
        """What the block needs at least in so many stripes."""
        return self.rest_bytes + self.lines_bytes // stripes


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

    def within(self, stop: int, limit_bytes: int, most_stripes: int) -> Iterator[Floor]:
        """Blocks that end in front of step `stop` and may need no more than the limit, the longest first."""
        if stop not in self._more:
            self._found[stop], self._more[stop] = [], self._grown(stop)
        found = self._found[stop]
        while not found or found[-1].longer_bytes + found[-1].lines_bytes // most_stripes <= limit_bytes:
            longer = next(self._more[stop], None)
            if longer is None:
                break
            found.append(longer)
        for floor in reversed(found):
            if floor.need_bytes(most_stripes) <= limit_bytes and self._serves(floor.start, stop):
                yield floor

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
        inside = sum(start <= reader < stop for reader in self._readers)
        return inside == len(self._readers) if inside or stop - start == 1 else True

    def _grown(self, stop: int) -> Iterator[Floor]:
        lines = LineFloor(self._streamed)
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
            dying = self._lives.dying(lines.arguments, start, stop)
            crossing -= self._lives.born_bytes(start, stop)
            yield Floor(
                start=start,
                lines_bytes=lines.bytes,
                rest_bytes=crossing + max(result_bytes, *dying.values(), 0) + shared_bytes,
                longer_bytes=result_bytes + shared_bytes,
            )
