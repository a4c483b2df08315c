"""Pieces of values: who wrote which of their bytes, as the replay of a plan follows them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codegen.ir import Var
from codegen.kernels.primfunc import PrimFunc


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenBytes:
    """`owner` wrote bytes [start, stop) of a value."""

    owner: str
    start: int
    stop: int


Writers = tuple[WrittenBytes, ...]


def whole(var: Var) -> Writers:
    """A value whose bytes are all its own."""
    return (WrittenBytes(owner=var.name, start=0, stop=var.type.size_bytes),)


def made_of(prim: PrimFunc, pieces: Mapping[str, Writers]) -> Writers:
    """Who wrote which bytes of the result: of a view others, of a step that joins arguments those too."""
    size = prim.let.var.type.size_bytes
    if prim.view is not None:
        source, first = prim.let.call.args[prim.view.argument], prim.view.offset_bytes
        seen = pieces.get(source.name, ()) if isinstance(source, Var) else ()
        cut = ((p.owner, max(p.start - first, 0), min(p.stop - first, size)) for p in seen)
        return tuple(
            WrittenBytes(owner=owner, start=start, stop=stop) for owner, start, stop in cut if start < stop
        )
    if prim.inlets:
        return tuple(_left_in_scratch(prim, pieces))
    written: list[WrittenBytes] = []
    end = 0
    for arg, start in prim.joins:
        written.append(WrittenBytes(owner=prim.let.var.name, start=end, stop=start))
        seen = pieces.get(arg.name, ())
        written += [WrittenBytes(owner=p.owner, start=start + p.start, stop=start + p.stop) for p in seen]
        end = start + arg.type.size_bytes
    written.append(WrittenBytes(owner=prim.let.var.name, start=end, stop=size))
    return tuple(piece for piece in written if piece.start < piece.stop)


def _left_in_scratch(prim: PrimFunc, pieces: Mapping[str, Writers]) -> Iterator[WrittenBytes]:
    """Bytes that the step writes, and arguments that it only reads where they are."""
    for start, stop in prim.written:
        yield WrittenBytes(owner=prim.let.var.name, start=start, stop=stop)
    kept = ((prim.let.call.args[index], index) for index in prim.joined if not prim.consumes(index))
    places = {inlet.argument: inlet.offset_bytes for inlet in prim.inlets}
    for arg, index in kept:
        for p in pieces.get(arg.name, ()) if isinstance(arg, Var) else ():
            yield WrittenBytes(owner=p.owner, start=places[index] + p.start, stop=places[index] + p.stop)
