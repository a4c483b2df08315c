"""The problem of choosing an order: steps that read and write values of so many bytes. No IR in sight."""

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
class Shared:
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
    shares: tuple[Shared, ...] = ()


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
    """What the search for an order may spend; counted, so that answers repeat.

    `states`: sets of finished steps the exact search looks at. `beam_width`: states kept after each
    step by the beam search, for graphs that short exact searches did not close (0: none).
    """

    states: int = 500_000
    beam_width: int = 48

    def __post_init__(self) -> None:
        if self.states < 0 or self.beam_width < 0:
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
        """Whether no order has a smaller peak."""
        return self.peak_bytes == self.lower_bound_bytes

    @property
    def reordered(self) -> bool:
        """Whether this is another order than the file's."""
        return self.order != tuple(range(len(self.order)))


def bits(mask: int) -> list[int]:
    """Positions of the ones in `mask`, ascending."""
    found: list[int] = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found
