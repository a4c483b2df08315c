"""Exact search in Python for graphs without keys, where orient.c cannot be had.

Such graphs have conflicts that let buffers overlap in a circle (see graph.py). Branches on the direction of
one broken conflict after another; the lowest offsets that obey all directions chosen so far are found by
relaxation (Bellman and Ford). Complete, and far slower than keyed search; such
graphs come from odd overlaps and are small.
"""

from codegen.plan.place.exact.conflict_graph import Graph
from codegen.plan.place.exact.reference import PYTHON_PRICE

_Arc = tuple[int, int, int]
"""(lower, upper, distance): offset(lower) + distance <= offset(upper)."""


class OrientSearch:
    """A search that can be resumed, like `reference.Search`."""

    price = PYTHON_PRICE

    def __init__(self, graph: Graph, capacity: int) -> None:
        self.graph = graph
        self.capacity = capacity
        self.nodes = 0
        self.effort = 0
        self._arcs: list[_Arc] = []
        self._offsets = [0] * len(graph)
        # What is still to try: how many arcs stay, the arc to add, the offsets before.
        self._open: list[tuple[int, _Arc, list[int]]] = []
        self._fits = all(size <= capacity for size in graph.sizes)

    @property
    def offsets(self) -> tuple[int, ...]:
        """Offsets in bytes; meaningful once `run` has returned True."""
        return tuple(self._offsets)

    @property
    def blame(self) -> tuple[int, ...]:
        """Nothing: the order of its branches follows from the offsets alone."""
        return (0,) * len(self._offsets)

    def run(self, effort: int) -> bool | None:
        """Go on for about `effort` units of work: True if offsets are found, False if there are none."""
        until = self.effort + effort
        while self._fits or self._open:
            if self.effort >= until:
                return None
            if not self._fits:
                kept, arc, self._offsets = self._open.pop()
                del self._arcs[kept:]
                self._arcs.append(arc)
                self._fits = self._relax()
                continue
            broken = self._broken()
            if broken is None:
                return True
            self.nodes += 1
            one, other = broken
            self._open.append((len(self._arcs), other, self._offsets[:]))
            self._arcs.append(one)
            self._fits = self._relax()
        return False

    def _broken(self) -> tuple[_Arc, _Arc] | None:
        """The two directions of the conflict whose cheaper repair lifts a buffer most."""
        worst, repair = 0, None
        for buffer, row in enumerate(self.graph.edges):
            for other, below, above in row:
                up = self._offsets[buffer] + below - self._offsets[other]
                down = self._offsets[other] + above - self._offsets[buffer]
                if other > buffer and min(up, down) > worst:
                    worst = min(up, down)
                    arcs = (buffer, other, below), (other, buffer, above)
                    repair = arcs if up <= down else (arcs[1], arcs[0])
        return repair

    def _relax(self) -> bool:
        changed = True
        while changed:
            changed = False
            for lower, upper, distance in self._arcs:
                self.effort += 1
                offset = self._offsets[lower] + distance
                if offset > self._offsets[upper]:
                    alignment = self.graph.alignments[upper]
                    offset = -(-offset // alignment) * alignment
                    if offset + self.graph.sizes[upper] > self.capacity:
                        return False
                    self._offsets[upper] = offset
                    changed = True
        return True
