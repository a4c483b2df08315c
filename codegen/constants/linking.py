"""Linking constants: merged by content, spread over the constant pools by cost, laid out as C structs.

Which constant pool a piece of data lies in: what is read most goes where reading costs least.

The pools' limits are hard. Within them the cost is the sum over the pieces of bytes x reads x the pool's
read cost. Pieces are taken by reads, those with fewest pools to choose from first, and go to their cheapest
pool with room. Where the greedy way misses a limit, the largest pieces are placed first.

What users say of where constants lie: `[[constant]]` of codegen.toml.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from codegen.constants.merging import Piece, end_bytes, merge, ordered, round_up
from codegen.ir.ops.user import operator_name
from codegen.ir.rules import ConstantRule
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.primfunc import PrimFunc
from codegen.problem.problem import Pool
from codegen.problem.shortage import ConstantShortage, DoesNotLink, FlashShortage
from codegen.program.constants import ConstantMember, ConstantPool

_NAMED = 5
"""Constants that are named where pools are short: the biggest."""

_Shares = list[list[Piece]]
"""Per pool its pieces."""

_Rank = Callable[[Piece], tuple[float, ...]]
"""Pieces of a lower rank are given pools first."""

_ORDERS: tuple[_Rank, ...] = (
    lambda piece: (len(piece.pools), -piece.reads, -piece.size_bytes),
    lambda piece: (len(piece.pools), -piece.size_bytes),
)
"""The most read first, or the largest."""


def assigned(pieces: Sequence[Piece], pools: Sequence[Pool]) -> list[list[Piece]]:
    """Per pool its pieces, as they are laid out. Raises DoesNotLink if they do not fit."""
    tries = [_greedy(pieces, pools, key) for key in _ORDERS]
    for shares, left in tries:
        if not left:
            return [ordered(share) for share in shares]
    raise DoesNotLink(FlashShortage(shares=_shortages(pieces, tries[0][1], pools)))


@dataclass(slots=True)
class _Fill:
    """Constants placed in one pool so far."""

    pool: Pool
    pieces: Sequence[Piece]
    """All there are, in the order that they are laid out in."""
    places: list[int] = field(default_factory=list[int])
    """Numbers in `pieces` of those in this pool."""
    least_bytes: int = 0
    """Bytes they take without a gap."""
    most_bytes: int = 0
    """Bytes they take with every gap as wide as its alignment permits."""

    def share(self, *more: int) -> list[Piece]:
        """Pieces in the pool, with those at `more`."""
        return [self.pieces[place] for place in sorted([*self.places, *more])]

    def takes(self, place: int) -> bool:
        """True if the piece at `place` fits too; then it is placed here."""
        piece, limit = self.pieces[place], self.pool.limit_bytes
        least, most = (
            self.least_bytes + piece.size_bytes,
            self.most_bytes + piece.size_bytes + piece.alignment - 1,
        )
        # In between the order decides.
        if least > limit or (most > limit and size_bytes(self.share(place)) > limit):
            return False
        self.places.append(place)
        self.least_bytes, self.most_bytes = least, most
        return True


def size_bytes(pieces: Sequence[Piece]) -> int:
    """Bytes of a struct of these pieces in the order with the least padding."""
    widest = max((piece.data.dtype.itemsize for piece in pieces), default=1)
    return round_up(end_bytes(ordered(pieces)), widest)


def _greedy(pieces: Sequence[Piece], pools: Sequence[Pool], rank: _Rank) -> tuple[_Shares, list[Piece]]:
    """Shares of the pools, in the order of `pieces`, and what found no room."""
    fills = [_Fill(pool=pool, pieces=pieces) for pool in pools]
    left: list[Piece] = []
    for place, piece in sorted(enumerate(pieces), key=lambda placed: rank(placed[1])):
        # Stable: of equally dear pools the one that is listed first.
        for index in sorted(piece.pools, key=lambda index: pools[index].read_cost):
            if fills[index].takes(place):
                break
        else:
            left.append(piece)
    return [fill.share() for fill in fills], left


def missing_bytes(pieces: Sequence[Piece], pools: Sequence[Pool]) -> int:
    """0 if `pieces` fit, else by how many bytes at least they are too many, 1 where the order is at fault."""
    tries = [_greedy(pieces, pools, key)[1] for key in _ORDERS]
    if not all(tries):
        return 0
    return max(1, *(shortage.missing_bytes for shortage in _shortages(pieces, tries[0], pools)))


def _shortages(
    pieces: Sequence[Piece], left: Sequence[Piece], pools: Sequence[Pool]
) -> tuple[ConstantShortage, ...]:
    """Bytes that each set of pools lacks from which pieces without room could choose."""
    shortages: list[ConstantShortage] = []
    for choice in dict.fromkeys(piece.pools for piece in left):
        rivals = [piece for piece in pieces if set(piece.pools) <= set(choice)]
        biggest = sorted(rivals, key=lambda piece: -piece.size_bytes)[:_NAMED]
        shortages.append(
            ConstantShortage(
                pools=tuple(pools[index].name for index in choice),
                needed_bytes=size_bytes(rivals),
                limits_bytes=tuple(pools[index].limit_bytes for index in choice),
                biggest=tuple((piece.name, piece.size_bytes) for piece in biggest),
            )
        )
    return tuple(shortages)


def link(
    prim_funcs: Sequence[PrimFunc],
    pools: Sequence[Pool],
    extra: Iterable[tuple[str, LinkedConstant]] = (),
) -> tuple[ConstantPool, ...]:
    """Lay out all linked constants in `pools` (read-only ones, best first); pools left empty are left out.

    A constant goes to the pool its memory scope or section names, else to one with room, the most-read bytes
    to the cheapest (`assigned`). Equal constants, and those that are a part of another one, are there
    once (`merging.py`). `extra` are constants without a PrimFunc (constant results), each with the name its
    users know it by. Offsets are multiples of the member's alignment, the size is one of its widest element:
    where a C struct of the members would differ, its declaration needs explicit padding. Raises DoesNotLink
    where pools are too small, CodegenError E404 (no such pool).
    """
    owned = ((prim.name, constant) for prim in prim_funcs for constant in prim.constants)
    pieces = merge(chain(owned, extra), pools)
    shares = assigned(pieces, pools)
    return tuple(_pool(pool, share) for pool, share in zip(pools, shares, strict=True) if share)


def _pool(pool: Pool, pieces: Sequence[Piece]) -> ConstantPool:
    members: list[ConstantMember] = []
    end = 0
    for piece in pieces:
        offset = round_up(end, piece.alignment)
        members.append(
            ConstantMember(
                name=piece.name,
                offset=offset,
                data=piece.data,
                alignment=piece.alignment,
                parts=piece.readers,
                reads=piece.reads,
            )
        )
        end = offset + piece.size_bytes
    return ConstantPool(
        name=pool.name,
        region=pool.region,
        section=pool.section,
        alignment=max(pool.alignment, *(piece.alignment for piece in pieces)),
        size_bytes=round_up(end, max(piece.data.dtype.itemsize for piece in pieces)),
        members=tuple(members),
        merged_bytes=sum(piece.used_bytes - piece.size_bytes for piece in pieces),
        read_cost=pool.read_cost,
    )


def applies(rule: ConstantRule, prim: PrimFunc, constant: LinkedConstant) -> bool:
    """True if `rule` says where `constant` of `prim` lies."""
    names = constant.steps or (prim.name, prim.let.var.origin)
    op = constant.op or operator_name(prim.let.call)
    return (
        constant.data.nbytes > rule.larger_than
        and rule.op in (None, op)
        and (rule.name is None or rule.name in names)
    )


def with_scopes(prim: PrimFunc, rules: Sequence[ConstantRule]) -> tuple[LinkedConstant, ...]:
    """The constants of `prim`, each in the memory that the first rule that applies names."""
    constants: list[LinkedConstant] = []
    for constant in prim.constants:
        rule = next((rule for rule in rules if applies(rule, prim, constant)), None)
        constants.append(constant if rule is None else replace(constant, memory_scope=rule.memory))
    return tuple(constants)


def unused(rules: Sequence[ConstantRule], prim_funcs: Sequence[PrimFunc]) -> list[ConstantRule]:
    """Rules that apply to nothing, whatever other rules say."""
    return [
        rule
        for rule in rules
        if not any(applies(rule, prim, constant) for prim in prim_funcs for constant in prim.constants)
    ]
