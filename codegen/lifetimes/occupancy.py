"""Occupancy: which bytes of a buffer a value holds, and when. Distances between buffers follow from them.

A buffer that holds several values is not full all the time: where arguments lie side by side in the result
that joins them, the part of an argument that is not computed yet is free. Two buffers are kept apart only
where what holds their bytes meets in time.

How often the bytes of values are touched in one inference: what a pool's access costs are multiplied by.

A kernel states how often it loads each byte of its arguments (`PrimFunc.reads`); result bytes are stored
once. A graph input is written once, and an output read once, by the application. Views and arguments joined
in a result are not copied: they cost nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from codegen.ir import Function, Var
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.ties import Ties
from codegen.problem.problem import Buffer, Conflict, intersecting, plain

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
        """True if both hold bytes at some common time."""
        return self.start < other.stop and other.start < self.stop


def conflicts(
    buffers: Sequence[Buffer], occupancies: Mapping[str, Sequence[Occupancy]], permitted: Permitted
) -> Iterator[Conflict]:
    """The conflicts of buffers alive together; `occupancies`: buffer id -> what is in it.

    Where nothing in two buffers meets, their distances permit all: values at fixed places of one buffer may
    leave it empty for a while.
    """
    sole = {buffer.id: _sole(buffer, occupancies[buffer.id]) for buffer in buffers}
    near = {name for pair in permitted for name in pair}
    # Most buffers are one value, near no other: those are plainly apart from any that is one value.
    alone = {id_ for id_, name in sole.items() if name is not None and name not in near}
    for i, j in intersecting(buffers):
        first, second = buffers[i], buffers[j]
        if (first.id in alone and sole[second.id]) or (second.id in alone and sole[first.id]):
            yield plain(first, second)
            continue
        if any(
            (after.name, before.name) in permitted
            for after in occupancies[second.id]
            for before in occupancies[first.id]
        ):
            first, second = second, first
        distances = _distances(occupancies[first.id], occupancies[second.id], permitted)
        below, above = distances or (0, 0)
        if (below, above) == (first.size_bytes, second.size_bytes):
            yield plain(first, second)
        else:
            yield Conflict(first=first.id, second=second.id, first_below=below, second_below=above)


def _sole(buffer: Buffer, held: Sequence[Occupancy]) -> str | None:
    """Return the name of the only value in a buffer if it holds all of its bytes, else None."""
    if len(held) != 1:
        return None
    only = held[0]
    is_whole = (only.first_byte, only.end_byte, only.stop) == (0, buffer.size_bytes, buffer.stop)
    return only.name if is_whole else None


def _distances(
    firsts: Sequence[Occupancy], seconds: Sequence[Occupancy], permitted: Permitted
) -> tuple[int, int] | None:
    """(b, a) such that all bytes held are apart if offset(first) + b <= offset(second), or with a the mirror;
    None where nothing meets.

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
    return (max(belows), max(aboves)) if belows else None


def _apart(one: Occupancy, other: Occupancy, permitted: Permitted) -> tuple[int, int]:
    if (other.name, one.name) in permitted:
        above, below = _apart(other, one, permitted)
        return below, above
    if (one.name, other.name) in permitted:
        below, above = permitted[one.name, other.name]
        # Kernels speak of addresses of values, conflicts of offsets of buffers.
        return below + one.offset_bytes - other.offset_bytes, above + other.offset_bytes - one.offset_bytes
    return one.end_byte - other.first_byte, other.end_byte - one.first_byte


AccessCounts = Mapping[str, tuple[float, float]]
"""Root variable -> how often each of its bytes is (read, written), on average."""


def access_counts(prim_funcs: Sequence[PrimFunc], function: Function, tied: Ties) -> AccessCounts:
    """Touches of every root."""
    anchors = tied.anchors
    sizes = {var.name: var.type.size_bytes for var in function.variables()}
    read = dict.fromkeys((root for root, _ in anchors.values()), 0.0)
    written = dict(read)
    for param in function.params:
        written[anchors[param.name][0]] += sizes[param.name]
    for prim in prim_funcs:
        if not prim.is_call:
            continue
        for index, (arg, reads) in enumerate(zip(prim.let.call.args, prim.reads, strict=True)):
            if isinstance(arg, Var) and (prim.inlets or index not in prim.joined):
                read[anchors[arg.name][0]] += reads * sizes[arg.name]
        joined = 0 if prim.inlets else sum(arg.type.size_bytes for arg, _ in prim.joins)
        written[anchors[prim.let.var.name][0]] += sizes[prim.let.var.name] - joined
    for result in function.results:
        if isinstance(result, Var):
            read[anchors[result.name][0]] += sizes[result.name]
    held = {root: max(tied.sizes[root], 1) for root in read}
    return {root: (read[root] / held[root], written[root] / held[root]) for root in read}
