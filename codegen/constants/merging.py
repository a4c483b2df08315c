"""Linked constants in a pool: equal ones merged, one inside another, in the order of the least padding.

Merging linked constants: equal ones become one piece, and one that lies inside another becomes part of it.

Equal bytes of different element types are one piece too. C reads it as what it is declared, the widest of the
types: characters may read anything, and of other types the struct's member is a union. A part of another type
than the piece stays by itself unless it is made of characters, so no pointer is cast to another wide type.

Order of constants in a pool: the one with the least padding, exact where few kinds of sizes meet.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol, TypeVar

import numpy as np

from codegen.errors import Messages
from codegen.kernels.contract import LinkedConstant
from codegen.problem.problem import Pool
from codegen.program.constants import ConstantPart


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Piece:
    """Bytes of the image that are there once, and all who read them or a part of them."""

    data: np.ndarray
    alignment: int
    readers: tuple[ConstantPart, ...]
    """Who gave the data its type first, then the others in order of steps."""
    pools: tuple[int, ...]
    """Constant pools it may lie in, by position, best first."""
    byte_reads: float
    """Bytes read from it in one inference."""

    @property
    def size_bytes(self) -> int:
        """Bytes it takes in the image."""
        return int(self.data.nbytes)

    @property
    def reads(self) -> float:
        """How often each byte is read in one inference, on average."""
        return self.byte_reads / self.size_bytes

    @property
    def name(self) -> str:
        """C member name: `<primfunc>_<role>` of the first reader."""
        return "_".join(self.readers[0].user)

    @property
    def used_bytes(self) -> int:
        """Bytes that its readers would take one by one."""
        return sum(reader.size_bytes for reader in self.readers)


def merge(constants: Iterable[tuple[str, LinkedConstant]], pools: Sequence[Pool]) -> list[Piece]:
    """The pieces of `constants`, each with the name of its user, in order of first use.

    No two pieces that may lie in a common pool are equal; none is a part of another one where types, pools
    and alignments let it be read there. Raises CodegenError E404 for every constant that no pool may hold.
    """
    messages = Messages()
    equal: dict[bytes, list[Piece]] = {}
    for user, constant in constants:
        if not constant.data.size:
            raise ValueError(f"{user}: linked constant {constant.role} is empty")
        piece = _piece(user, constant, _allowed(user, constant, pools, messages))
        alike = equal.setdefault(constant.data.tobytes(), [])
        for index, other in enumerate(alike):
            if set(other.pools) & set(piece.pools):
                alike[index] = _one(other, piece)
                break
        else:
            alike.append(piece)
    messages.raise_if_any()
    return _nested([piece for alike in equal.values() for piece in alike])


def _piece(user: str, constant: LinkedConstant, pools: tuple[int, ...]) -> Piece:
    data = constant.data
    reads = 1.0 if constant.reads is None else constant.reads
    reader = ConstantPart(
        user=(user, constant.role), offset_bytes=0, size_bytes=int(data.nbytes), dtype=data.dtype
    )
    return Piece(
        data=data,
        alignment=max(constant.alignment, data.dtype.itemsize),
        readers=(reader,),
        pools=pools,
        byte_reads=reads * data.nbytes,
    )


def _one(first: Piece, second: Piece) -> Piece:
    """Two equal pieces as one, of the wider type."""
    widest = first if first.data.dtype.itemsize >= second.data.dtype.itemsize else second
    readers = (*first.readers, *second.readers)
    return Piece(
        data=widest.data,
        alignment=max(first.alignment, second.alignment),
        readers=tuple(sorted(readers, key=lambda reader: reader.dtype != widest.data.dtype)),
        pools=tuple(index for index in first.pools if index in second.pools),
        byte_reads=first.byte_reads + second.byte_reads,
    )


def _nested(pieces: Sequence[Piece]) -> list[Piece]:
    """`pieces` without those that lie inside a larger one, whose readers they become."""
    kept: list[tuple[int, Piece, bytes]] = []
    for place, piece in sorted(enumerate(pieces), key=lambda placed: -placed[1].size_bytes):
        data = piece.data.tobytes()
        for index, (outer_place, outer, outer_data) in enumerate(kept):
            offset = _inside(piece, data, outer, outer_data)
            if offset is not None:
                kept[index] = (outer_place, _absorbed(outer, piece, offset), outer_data)
                break
        else:
            kept.append((place, piece, data))
    return [piece for _, piece, _ in sorted(kept, key=lambda entry: entry[0])]


def _inside(inner: Piece, data: bytes, outer: Piece, outer_data: bytes) -> int | None:
    """Offset in `outer` at which the bytes of `inner` are and may be read, None if nowhere."""
    # Most pairs end here: looking for bytes takes less than looking at what else must hold.
    if len(data) >= len(outer_data) or (offset := outer_data.find(data)) < 0:
        return None
    if not set(outer.pools) <= set(inner.pools):
        return None
    if inner.alignment > max(outer.alignment, inner.size_bytes):
        return None  # a larger alignment of the whole could cost more than the part
    wide = {reader.dtype for reader in inner.readers if reader.dtype.itemsize > 1}
    if not wide <= {outer.data.dtype}:
        return None
    step = max([inner.alignment, *(dtype.itemsize for dtype in wide)])
    while offset > 0 and offset % step:
        offset = outer_data.find(data, offset + 1)
    return None if offset < 0 else offset


def _absorbed(outer: Piece, inner: Piece, offset: int) -> Piece:
    parts = tuple(replace(reader, offset_bytes=reader.offset_bytes + offset) for reader in inner.readers)
    return replace(
        outer,
        alignment=max(outer.alignment, inner.alignment),
        readers=(*outer.readers, *parts),
        byte_reads=outer.byte_reads + inner.byte_reads,
    )


def _allowed(
    user: str, constant: LinkedConstant, pools: Sequence[Pool], messages: Messages
) -> tuple[int, ...]:
    indices = tuple(
        index
        for index, pool in enumerate(pools)
        if constant.memory_scope in (None, pool.name) and constant.section in (None, pool.section)
    )
    if not indices:
        wish = constant.memory_scope or constant.section or "any"
        messages.add(
            "E404",
            f"linked constant {constant.role} is to lie in {wish}, which no constant pool is",
            where=user,
            help=f"constant pools are {', '.join(pool.name for pool in pools) or 'missing'}",
        )
    return indices


STATES = 5_000
"""An exact search that would look at more (position, what is left) is not begun."""

_DEPTH = 300
"""Nor one of more items: it calls itself once for each."""


class Item(Protocol):
    """Something with a size and an alignment, in bytes."""

    @property
    def size_bytes(self) -> int:
        """Bytes it takes."""
        ...

    @property
    def alignment(self) -> int:
        """Its offset is a multiple of this."""
        ...


AnyItem = TypeVar("AnyItem", bound=Item)


def round_up(value: int, multiple: int) -> int:
    """The least multiple of `multiple` that is not below `value`."""
    return -(-value // multiple) * multiple


def end_bytes(items: Sequence[Item]) -> int:
    """End of the last of `items` if each lies as low as its alignment permits behind the one before."""
    end = 0
    for item in items:
        end = round_up(end, item.alignment) + item.size_bytes
    return end


def ordered(items: Sequence[AnyItem]) -> list[AnyItem]:
    """`items` so that they end as low as possible: the least padding between them.

    By alignment, sizes that are no multiple of theirs last, then as given, where that leaves no padding. Else
    odd ones with the bytes that fill the gap behind them: the least padding of all orders if at most `STATES`
    partial orders differ in what they leave, else the better of the two ways.
    """
    plain = sorted(items, key=lambda item: (-item.alignment, item.size_bytes % item.alignment != 0))
    total = sum(item.size_bytes for item in items)
    if end_bytes(plain) == total:
        return plain
    best = min(plain, _filling(plain), key=end_bytes)
    if end_bytes(best) == total:
        return best
    exact = _exact(plain)
    return best if exact is None else min(best, exact, key=end_bytes)


def _filling(items: Sequence[AnyItem]) -> list[AnyItem]:
    """Always the widest item that needs no padding here, else the one that needs least."""
    left, order, end = list(items), list[AnyItem](), 0
    while left:
        free = [item for item in left if end % item.alignment == 0]
        # Of equally wide ones the one that leaves the next of its kind aligned: odd sizes last.
        taken = free[0] if free else min(left, key=lambda item: round_up(end, item.alignment))
        left.remove(taken)
        order.append(taken)
        end = round_up(end, taken.alignment) + taken.size_bytes
    return order


@dataclass(frozen=True, kw_only=True, slots=True)
class _Padding:
    """Items that pad alike: by alignment and size modulo the largest alignment."""

    alignment: int
    rest: int


def _exact(items: Sequence[AnyItem]) -> list[AnyItem] | None:
    """An order with the least padding; None if that would take too long."""
    widest = max(item.alignment for item in items)
    kinds: dict[_Padding, list[AnyItem]] = {}
    for item in items:
        kinds.setdefault(_Padding(alignment=item.alignment, rest=item.size_bytes % widest), []).append(item)
    # Whole multiples of the largest alignment go first: there they pad nothing and move nothing.
    first = kinds.pop(_Padding(alignment=widest, rest=0), [])
    order = list(kinds)
    counts = tuple(len(kinds[kind]) for kind in order)
    states = widest
    for count in counts:
        states *= count + 1
    if states > STATES or sum(counts) > _DEPTH:
        return None

    @cache
    def least(end: int, left: tuple[int, ...]) -> tuple[int, int]:
        """(padding from here on, kind to take next); `end` modulo the largest alignment."""
        choices = [(0, -1)] if not any(left) else []
        for index, kind in enumerate(order):
            if left[index]:
                padding = -end % kind.alignment
                after = (end + padding + kind.rest) % widest
                rest = (*left[:index], left[index] - 1, *left[index + 1 :])
                choices.append((padding + least(after, rest)[0], index))
        return min(choices)

    arranged, end, left = list(first), 0, counts
    while any(left):
        index = least(end, left)[1]
        arranged.append(kinds[order[index]][len(kinds[order[index]]) - left[index]])
        kind = order[index]
        end = (round_up(end, kind.alignment) + kind.rest) % widest
        left = (*left[:index], left[index] - 1, *left[index + 1 :])
    return arranged
