"""Occupancy: which bytes of a buffer a value holds, and when. Distances between buffers follow from them.

A buffer that holds several values is not full all the time: where arguments lie side by side in the result
that joins them, the part of an argument that is not computed yet is free. Two buffers are kept apart only
where what holds their bytes meets in time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from codegen.program.problem import Buffer, Conflict, intersecting, plain

Permitted = Mapping[tuple[str, str], tuple[int, int]]
"""(result, argument) -> (address(result) + first <= address(argument), the mirror) that a kernel permits."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Occupancy:
    """Value (or workspace) `name` holds bytes [first_byte, end_byte) of its buffer during [start, stop).

    It begins at `offset_bytes`; a view holds all the bytes of the value it is a part of.
    """

    name: str
    offset_bytes: int
    first_byte: int
    end_byte: int
    start: int
    stop: int

    def meets(self, other: "Occupancy") -> bool:
        """Whether both hold bytes at some time."""
        return self.start < other.stop and other.start < self.stop


def conflicts(
    buffers: Sequence[Buffer], occupancies: Mapping[str, Sequence[Occupancy]], permitted: Permitted
) -> Iterator[Conflict]:
    """The conflicts of buffers alive together; `occupancies`: buffer id -> what is in it.

    At any time of a buffer's life something stays in it, so buffers that are alive together have at least one
    pair that meets.
    """
    for i, j in intersecting(buffers):
        first, second = buffers[i], buffers[j]
        if any(
            (after.name, before.name) in permitted
            for after in occupancies[second.id]
            for before in occupancies[first.id]
        ):
            first, second = second, first
        below, above = _distances(occupancies[first.id], occupancies[second.id], permitted)
        if (below, above) == (first.size_bytes, second.size_bytes):
            yield plain(first, second)
        else:
            yield Conflict(first=first.id, second=second.id, first_below=below, second_below=above)


def _distances(
    firsts: Sequence[Occupancy], seconds: Sequence[Occupancy], permitted: Permitted
) -> tuple[int, int]:
    """(b, a) such that all bytes held are apart if offset(first) + b <= offset(second), or with a the mirror.

    All of one buffer goes to one side of all of the other: what lies between two of them is not used.
    """
    belows: list[int] = []
    aboves: list[int] = []
    for one in firsts:
        for other in seconds:
            if one.meets(other):
                below, above = _apart(one, other, permitted)
                belows.append(below)
                aboves.append(above)
    return max(belows), max(aboves)


def _apart(one: Occupancy, other: Occupancy, permitted: Permitted) -> tuple[int, int]:
    if (other.name, one.name) in permitted:
        above, below = _apart(other, one, permitted)
        return below, above
    if (one.name, other.name) in permitted:
        below, above = permitted[one.name, other.name]
        # Kernels speak of addresses of values, conflicts of offsets of buffers.
        return below + one.offset_bytes - other.offset_bytes, above + other.offset_bytes - one.offset_bytes
    return one.end_byte - other.first_byte, other.end_byte - one.first_byte
