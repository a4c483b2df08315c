"""The problem of choosing an order: steps that read and write values of so many bytes. No IR in sight.

An order graph made ready for searching: sets of steps are bits of an integer, bytes are sums made once.

A state is `rest`, the set of steps not done yet (closed under successors). The bytes alive between two
steps depend on `rest` alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderValue:
    """A buffer of `size_bytes` (values tied by views are one). `given`: alive from the start.

    `kept`: alive to the end; otherwise it dies with its last reader.
    """

    size_bytes: int
    given: bool = False
    kept: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Phase:
    """A part of a step: its workspaces, arguments no longer needed, whether results exist already.

    `released` names values the step has read for the last time before this phase.
    """

    workspace_bytes: int = 0
    released: tuple[int, ...] = ()
    writing: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedBytes:
    """The result may have `common_bytes` in common with argument `value`, if that dies in this step."""

    value: int
    common_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderNode:
    """A step: indices of the values it reads and writes, of further steps it must come after."""

    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    phases: tuple[Phase, ...] = (Phase(),)
    shares: tuple[SharedBytes, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderGraph:
    """Values and steps. The steps' own sequence is the file's order, and a valid one."""

    values: tuple[OrderValue, ...]
    nodes: tuple[OrderNode, ...]

    def __post_init__(self) -> None:
        """Every value is given or written once, before it is read; raises ValueError."""
        defined = {index for index, value in enumerate(self.values) if value.given}
        for index, node in enumerate(self.nodes):
            if not defined.issuperset(node.reads) or any(not 0 <= other < index for other in node.after):
                raise ValueError(f"step {index} comes before a value it reads or a step it must follow")
            if len(set(node.writes)) != len(node.writes) or not defined.isdisjoint(node.writes):
                raise ValueError(f"step {index} writes a value that exists already")
            defined.update(node.writes)
            _check_node(index, node)
        if any(value.size_bytes < 0 for value in self.values):
            raise ValueError("a value has a negative size")
        if len(defined) != len(self.values):
            raise ValueError("a value is neither given nor written by any step, or does not exist")


def _check_node(index: int, node: OrderNode) -> None:
    reads = set(node.reads)
    shared = [share.value for share in node.shares]
    if not node.phases or any(phase.workspace_bytes < 0 for phase in node.phases):
        raise ValueError(f"step {index} has no phase, or a workspace of negative size")
    if not all(reads.issuperset(phase.released) for phase in node.phases):
        raise ValueError(f"step {index} releases a value it does not read")
    if (
        len(set(shared)) != len(shared)
        or not reads.issuperset(shared)
        or any(share.common_bytes < 0 for share in node.shares)
    ):
        raise ValueError(f"step {index} shares bytes with a value it does not read, or twice")


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderLimits:
    """Effort that the search for an order may spend; counted, so that answers repeat.

    `states`: sets of finished steps the exact search looks at. `moves`: next steps that it weighs in all of
    them; where many steps are ready at a time, each state costs more. `beam_width`: states kept after each
    step by the beam search, for graphs that short exact searches did not close (0: none).
    """

    states: int = 500_000
    moves: int = 1_500_000
    beam_width: int = 48

    def __post_init__(self) -> None:
        if self.states < 0 or self.moves < 0 or self.beam_width < 0:
            raise ValueError("limits of the order search are negative")


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderResult:
    """The best order found and what is proved about it.

    `lower_bound_bytes` holds for every order; `peak_bytes` is the live-bytes bound of `order`.
    """

    order: tuple[int, ...]
    """Indices of the graph's nodes."""
    peak_bytes: int
    lower_bound_bytes: int
    file_peak_bytes: int
    """Live-bytes bound of the file's order."""
    states: int
    """States the search looked at."""

    @property
    def proved(self) -> bool:
        """True if the search proved that no order has a smaller peak."""
        return self.peak_bytes == self.lower_bound_bytes

    @property
    def reordered(self) -> bool:
        """True if this is another order than the file's."""
        return self.order != tuple(range(len(self.order)))


def bits(mask: int) -> list[int]:
    """Positions of the ones in `mask`, ascending."""
    positions: list[int] = []
    while mask:
        low = mask & -mask
        positions.append(low.bit_length() - 1)
        mask ^= low
    return positions


class StepMasks:
    """Masks, live bytes and peaks of the steps of `graph`."""

    def __init__(self, graph: OrderGraph) -> None:
        self.graph = graph
        self.count = len(graph.nodes)
        self.all = (1 << self.count) - 1
        self.before = _predecessors(graph)
        """Step -> the steps it directly depends on."""
        self.predecessors: list[list[int]] = [bits(mask) for mask in self.before]
        self.after = [0] * self.count
        for step, sources in enumerate(self.predecessors):
            for other in sources:
                self.after[other] |= 1 << step
        self.successors: list[list[int]] = [bits(mask) for mask in self.after]
        self._readers = [0] * len(graph.values)
        for step, node in enumerate(graph.nodes):
            for value in node.reads:
                self._readers[value] |= 1 << step
        self.given_bytes = sum(value.size_bytes for value in graph.values if value.given)
        self.unread_bytes = sum(
            value.size_bytes
            for value, readers in zip(graph.values, self._readers, strict=True)
            if value.given and not value.kept and not readers
        )
        """Inputs nobody reads: they lie beside the others, but only until the first phase is over."""
        self.step_bytes = _common_divisor(graph)
        """Every peak is a multiple of this."""
        self._written = [sum(graph.values[v].size_bytes for v in node.writes) for node in graph.nodes]
        self._delta, self._others = self._deltas()
        self._conditions = [self._conditional(step) for step in range(self.count)]
        self._rises: list[dict[tuple[int, ...], tuple[int, int]]] = [{} for _ in graph.nodes]
        self._fixed = [
            self._most(self._dying(step, 1 << step), step)[0] if not conditions else None
            for step, conditions in enumerate(self._conditions)
        ]
        self.postponable = self._postponable()
        """For each step, true if doing it later can only lower the others' peaks, as long as bytes alive drop
        too.

        It is false if the step reads a value on whose death the peak of another step depends.
        """
        self._kept_given_bytes = sum(v.size_bytes for v in graph.values if v.kept and v.given)

    @property
    def start_live_bytes(self) -> int:
        """Bytes alive before the first step, without inputs nobody reads."""
        return self.given_bytes - self.unread_bytes

    def delta(self, step: int, rest: int) -> int:
        """Bytes alive after `step` less those before, when it is done with `rest` (it included) to do."""
        change = self._delta[step]
        for others, size in self._others[step]:
            if not others & rest:
                change -= size
        return change

    def rise(self, step: int, rest: int) -> int:
        """The most bytes alive while `step` runs, less those alive before it."""
        fixed = self._fixed[step]
        if fixed is not None and (rest != self.all or not self.unread_bytes):
            return fixed
        key = tuple([value for value, others in self._conditions[step] if not others & rest])
        rise = self._rises[step].get(key)
        if rise is None:
            rise = self._rises[step][key] = self._most(self._dying(step, rest), step)
        most, first = rise
        return max(most, first + self.unread_bytes) if rest == self.all else most

    def least_bytes(self, step: int) -> int:
        """Bytes alive during `step` in any order: what is kept, its arguments, results and workspaces."""
        node = self.graph.nodes[step]
        values = self.graph.values
        read_bytes = sum(
            values[v].size_bytes for v in set(node.reads) if not (values[v].kept and values[v].given)
        )
        dying = frozenset(v for v in node.reads if not values[v].kept)
        return self._kept_given_bytes + read_bytes + self._most(dying, step)[0]

    def _postponable(self) -> list[bool]:
        watched = [{value for value, _ in conditions} for conditions in self._conditions]
        watchers = [0] * len(self.graph.values)
        for step, values in enumerate(watched):
            for value in values:
                watchers[value] |= 1 << step
        return [
            not self.unread_bytes and all(not watchers[value] & ~(1 << step) for value in node.reads)
            for step, node in enumerate(self.graph.nodes)
        ]

    def _deltas(self) -> tuple[list[int], list[list[tuple[int, int]]]]:
        """Per step: what surely changes, and (other readers, bytes) of arguments that may die in it."""
        deltas: list[int] = []
        others: list[list[tuple[int, int]]] = []
        for step, node in enumerate(self.graph.nodes):
            values = self.graph.values
            change = sum(values[v].size_bytes for v in node.writes if self._readers[v] or values[v].kept)
            pending: list[tuple[int, int]] = []
            for value in sorted(set(node.reads)):
                size = values[value].size_bytes
                elsewhere = self._readers[value] & ~(1 << step)
                if values[value].kept or not size:
                    continue
                if elsewhere:
                    pending.append((elsewhere, size))
                else:
                    change -= size
            deltas.append(change)
            others.append(pending)
        return deltas, others

    def _conditional(self, step: int) -> tuple[tuple[int, int], ...]:
        """(value, its other readers) where the step's peak depends on whether the value dies in it."""
        node = self.graph.nodes[step]
        relevant = {share.value for share in node.shares}
        relevant.update(value for phase in node.phases for value in phase.released)
        return tuple(
            (value, self._readers[value] & ~(1 << step))
            for value in sorted(relevant)
            if not self.graph.values[value].kept and self._readers[value] != 1 << step
        )

    def _dying(self, step: int, rest: int) -> frozenset[int]:
        return frozenset(
            value
            for value in self.graph.nodes[step].reads
            if not self.graph.values[value].kept and not self._readers[value] & ~(1 << step) & rest
        )

    def _most(self, dying: frozenset[int], step: int) -> tuple[int, int]:
        """(rise over all phases, rise of the first) when the arguments `dying` die in the step."""
        node = self.graph.nodes[step]
        rises = [self._phase(node, index, dying, self._written[step]) for index in range(len(node.phases))]
        return max(rises), rises[0]

    def _phase(self, node: OrderNode, index: int, dying: frozenset[int], written: int) -> int:
        phase = node.phases[index]
        gone = dying.intersection(phase.released)
        rise = phase.workspace_bytes - sum(self.graph.values[value].size_bytes for value in gone)
        if phase.writing:
            # Arguments lie apart from each other, so together they cover at most the whole result.
            common = sum(s.common_bytes for s in node.shares if s.value in dying and s.value not in gone)
            rise += written - min(written, common)
        return rise


def _common_divisor(graph: OrderGraph) -> int:
    sizes = [value.size_bytes for value in graph.values]
    sizes += [phase.workspace_bytes for node in graph.nodes for phase in node.phases]
    sizes += [share.common_bytes for node in graph.nodes for share in node.shares]
    return math.gcd(*sizes) or 1


def _predecessors(graph: OrderGraph) -> list[int]:
    writer = {value: step for step, node in enumerate(graph.nodes) for value in node.writes}
    masks: list[int] = []
    for node in graph.nodes:
        mask = 0
        for other in (*node.after, *(writer[value] for value in node.reads if value in writer)):
            mask |= 1 << other
        masks.append(mask)
    return masks


def run(steps: StepMasks, order: Sequence[int], rest: int, live: int) -> tuple[int, int]:
    """(peak, bytes alive afterwards) of doing `order` from state `rest` with `live` bytes alive."""
    peak = live
    for step in order:
        if steps.before[step] & rest or not rest >> step & 1:
            raise ValueError(f"step {step} comes too early, or twice")
        peak = max(peak, live + steps.rise(step, rest))
        live += steps.delta(step, rest)
        rest ^= 1 << step
    return peak, live
