"""A search that begins in Python and goes on in C: most problems are solved before C had been compiled."""

from collections.abc import Callable, Sequence

from codegen.plan.place.exact.conflict_graph import Graph
from codegen.plan.place.exact.native import NativeSearch
from codegen.plan.place.exact.reference import Search

PYTHON_EFFORT = 2_000
"""Units of work in Python, some hundredths of a second, before C takes over."""


class Handover:
    """One search of `reference.Search`; both languages visit the same nodes, whoever answers."""

    def __init__(
        self,
        graph: Graph,
        rank: Sequence[int],
        capacity: int,
        adaptive: bool,
        compiled: Callable[[Sequence[int], int, bool], NativeSearch | None],
    ) -> None:
        """`compiled` makes the same search in C, from its beginning; None where C cannot be had."""
        self._now: Search | NativeSearch = Search(graph, rank, capacity, adaptive)
        self._begin = lambda: compiled(rank, capacity, adaptive)
        self._asked = False

    @property
    def price(self) -> int:
        """What a unit of work costs: the first ones in Python are worth it, for C may never be needed."""
        return self._now.price if self._asked else 1

    @property
    def nodes(self) -> int:
        """Nodes visited so far."""
        return self._now.nodes

    @property
    def effort(self) -> int:
        """Units of work so far."""
        return self._now.effort

    @property
    def offsets(self) -> tuple[int, ...]:
        """Offsets found, in bytes."""
        return self._now.offsets

    @property
    def blame(self) -> tuple[int, ...]:
        """Per buffer: contradictions in which it found no room."""
        return self._now.blame

    def run(self, effort: int) -> bool | None:
        """True: found; False: there is none; None: stopped, after about `effort` more units at most."""
        if self._asked:
            return self._now.run(effort)
        answer = self._now.run(min(effort, PYTHON_EFFORT - self._now.effort))
        if answer is None and self._now.effort >= PYTHON_EFFORT:
            self._asked = True
            compiled = self._begin()
            if compiled is not None:
                # C catches up: the same nodes again, in no time.
                compiled.run(self._now.effort)
                self._now = compiled
        return answer
