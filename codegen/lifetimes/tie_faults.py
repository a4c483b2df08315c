"""Ties that cannot be: by alignment, by memory, or because values at fixed places would meet.

Streams of an NPU work at offsets that were fixed before. Their scratches, and all values that enter or leave
them, are then parts of one buffer, in which nobody keeps them apart any more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from codegen.ir import Function, Var
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.ties import Ties, confined, foreign_joins, misfits, part_outputs, ties
from codegen.program.interface import Edge


class Colliding(ValueError):
    """Values are tied to the same bytes at the same time; some of the ties have to go."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Stay:
    """Bytes [start, stop) of a root that a value holds from step `birth` to step `last`, both included."""

    name: str
    start: int
    stop: int
    birth: int
    last: int

    def meets(self, other: "_Stay") -> bool:
        """True if both hold a byte at a common time."""
        in_time = self.birth <= other.last and other.birth <= self.last
        return in_time and self.start < other.stop and other.start < self.stop


def broken(function: Function, prim_funcs: Sequence[PrimFunc], edge: Edge) -> list[str]:
    """Say why these values cannot share bytes as the PrimFuncs want it, in sentences; empty if they can."""
    tied = ties(function, prim_funcs)
    texts = [*tied.faults, *misfits(tied, prim_funcs)]
    texts += foreign_joins(function, prim_funcs, tied, edge)
    texts += collisions(function, prim_funcs, tied, edge)
    if edge.is_callers:
        texts += [f"output {name} {problem}" for name, problem in part_outputs(function, tied)]
        edges = {tied.anchors[v.name][0] for v in (*function.params, *function.results) if isinstance(v, Var)}
        lost = sorted(edges & set(confined(tied, prim_funcs)))
        texts += [f"{root} is the caller's, but a certain memory is wanted for it" for root in lost]
    return texts


def collisions(function: Function, prim_funcs: Sequence[PrimFunc], tied: Ties, edge: Edge) -> list[str]:
    """Values at fixed places of one scratch that would be written over while somebody reads them later, in
    sentences."""
    joining = {prim.let.var.name for prim in prim_funcs if prim.inlets and prim.joined}
    if not joining:
        return []
    sharing = _Sharing(function, prim_funcs, tied, edge)
    members = tied.members()
    roots = dict.fromkeys(tied.anchors[name][0] for name in tied.anchors if name in joining)
    return [text for root in roots for text in sharing.collisions(members[root])]


class _Sharing:
    """Who holds which bytes of a root, and when."""

    def __init__(self, function: Function, prim_funcs: Sequence[PrimFunc], tied: Ties, edge: Edge) -> None:
        self._tied = tied
        self._prims = {prim.let.var.name: prim for prim in prim_funcs}
        count = len(prim_funcs)
        self._births = {param.name: -1 for param in function.params}
        self._births.update((prim.let.var.name, step) for step, prim in enumerate(prim_funcs))
        self._lasts = {name: max(birth, 0) for name, birth in self._births.items()}
        for step, prim in enumerate(prim_funcs):
            self._lasts.update((arg.name, step) for arg in prim.let.call.args if isinstance(arg, Var))
        kept = {result.name for result in function.results if isinstance(result, Var)}
        self._lasts.update((name, count) for name in kept | edge.unwritten(function))
        self._same: dict[str, str] = {name: name for name in self._births}
        """Value -> the value of whose bytes it is a part, or which it replaces."""
        for name, prim in self._prims.items():
            self._note_same(name, prim)

    def _note_same(self, name: str, prim: PrimFunc) -> None:
        if prim.tied is not None and self._source(name) is None:
            replaced = prim.let.call.args[prim.tied[0]]
            self._same[name] = replaced.name if isinstance(replaced, Var) else name
        for arg, _ in () if prim.inlets else prim.joins:
            self._same[self._origin(arg.name)] = name

    def _origin(self, name: str) -> str:
        while self._same[name] != name:
            name = self._same[name]
        return name

    def _source(self, name: str) -> str | None:
        """The scratch that a value is left in; None if it is none of a scratch's."""
        prim = self._prims.get(name)
        if prim is None or prim.view is None or not prim.view.is_alone:
            return None
        scratch = prim.let.call.args[prim.view.argument]
        return scratch.name if isinstance(scratch, Var) else None

    def collisions(self, members: Sequence[str]) -> Iterator[str]:
        """Pairs of members that hold common bytes at a time and may not, in sentences."""
        stays = [stay for name in members for stay in self._stays(name)]
        for one, other in combinations(stays, 2):
            if one.meets(other) and not (self._may_meet(one, other) or self._may_meet(other, one)):
                yield f"{one.name} and {other.name} are tied to the same bytes at the same time"

    def _stays(self, name: str) -> Iterator[_Stay]:
        at, size = self._tied.anchors[name][1], self._tied.variables[name].type.size_bytes
        birth, last = self._births[name], self._lasts[name]
        ranges: Sequence[tuple[int, int]] = ((0, size),)
        source = self._source(name)
        if source is not None:
            birth = self._births[source]
        elif name in self._prims and self._prims[name].inlets:
            ranges, last = self._prims[name].written, birth
        for start, stop in ranges:
            yield _Stay(name=name, start=at + start, stop=at + stop, birth=birth, last=last)

    def _may_meet(self, one: _Stay, other: _Stay) -> bool:
        """True if `one` may hold bytes of `other`, which is what it was made of or what is made of it."""
        if self._origin(one.name) == self._origin(other.name):
            return True
        scratch = self._source(one.name)
        if scratch is not None:  # it holds what its scratch had there when its step ended
            return scratch == other.name or other.last <= one.birth or self._is_left(scratch, one, other)
        prim = self._prims.get(one.name)
        if prim is None or not prim.inlets:
            return False
        arguments = {self._origin(arg.name) for arg, _ in prim.joins}
        return self._origin(other.name) in arguments and other.last <= one.birth

    def _is_left(self, scratch: str, one: _Stay, other: _Stay) -> bool:
        """True if the step of a scratch writes none of the bytes that both hold."""
        start, stop = max(one.start, other.start), min(one.stop, other.stop)
        written = self._stays(scratch)
        return other.birth < one.birth and not any(s.start < stop and start < s.stop for s in written)
