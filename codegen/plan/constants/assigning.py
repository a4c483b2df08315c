"""Which constant pool a piece of data lies in: what is read most goes where reading costs least.

The pools' limits are hard. Within them the cost is the sum over the pieces of bytes x reads x the pool's
read cost. Pieces are taken by reads, those with fewest pools to choose from first, and go to their cheapest
pool with room; `cost_bound` is what no assignment can beat: bytes in order of reads filling the pools in
order of cost, as if pieces could be cut anywhere and had no alignment. Where the greedy way misses a limit,
the largest pieces are placed first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codegen.plan.constants.merging import Piece
from codegen.plan.constants.pool_order import end_bytes, ordered, round_up
from codegen.program.problem import Pool
from codegen.program.shortage import ConstantShortage, DoesNotLink, FlashShortage

_NAMED = 5
"""Constants that are named where pools are short: the biggest."""

_Shares = list[list[Piece]]
"""Per pool its pieces."""

_ORDERS: tuple[Callable[[Piece], tuple[float, ...]], ...] = (
    lambda piece: (len(piece.pools), -piece.reads, -piece.size_bytes),
    lambda piece: (len(piece.pools), -piece.size_bytes),
)
"""In which pieces are given pools: the most read first, or the largest."""


def assigned(pieces: Sequence[Piece], pools: Sequence[Pool]) -> list[list[Piece]]:
    """Per pool its pieces, as they are laid out. Raises DoesNotLink if they do not fit."""
    tries = [_greedy(sorted(pieces, key=key), pieces, pools) for key in _ORDERS]
    for shares, left in tries:
        if not left:
            return [ordered(share) for share in shares]
    raise DoesNotLink(FlashShortage(shares=_shortages(pieces, tries[0][1], pools)))


def read_cost(piece: Piece, pool: Pool) -> int:
    """Cost of all reads of `piece` in `pool`; a whole number, so that sums are exact."""
    return round(piece.byte_reads * pool.read_cost)


def cost_bound(pieces: Sequence[Piece], pools: Sequence[Pool]) -> int:
    """A cost that no assignment of `pieces` to `pools` within their limits can go below."""
    room = sorted(([pool.read_cost, pool.limit_bytes] for pool in pools), key=lambda each: each[0])
    cost = 0.0
    for piece in sorted(pieces, key=lambda piece: -piece.reads):
        left = piece.size_bytes
        while left and room:
            taken = min(left, int(room[0][1]))
            cost += taken * piece.reads * room[0][0]
            left -= taken
            room[0][1] -= taken
            if not room[0][1]:
                del room[0]
    # Each piece's cost is rounded by at most one half.
    return max(int(cost) - (len(pieces) + 1) // 2, 0)


@dataclass(slots=True)
class _Fill:
    """What lies in a pool so far."""

    pool: Pool
    place: dict[int, int]
    """Piece, by identity -> its place in the order that the pieces are laid out in."""
    pieces: list[Piece]

    def takes(self, piece: Piece) -> bool:
        """Whether `piece` fits too."""
        items = sorted([*self.pieces, piece], key=lambda each: self.place[id(each)])
        # With every gap as wide as its alignment permits; if that is too much, the order decides.
        most = sum(item.size_bytes + item.alignment - 1 for item in items)
        return most <= self.pool.limit_bytes or size_bytes(items) <= self.pool.limit_bytes


def size_bytes(pieces: Sequence[Piece]) -> int:
    """Bytes of a struct of these pieces in the order with the least padding."""
    widest = max((piece.data.dtype.itemsize for piece in pieces), default=1)
    return round_up(end_bytes(ordered(pieces)), widest)


def _greedy(
    by_rank: Sequence[Piece], pieces: Sequence[Piece], pools: Sequence[Pool]
) -> tuple[_Shares, list[Piece]]:
    """Shares of the pools, in the order of `pieces`, and what found no room."""
    place = {id(piece): index for index, piece in enumerate(pieces)}
    fills = [_Fill(pool=pool, place=place, pieces=[]) for pool in pools]
    home: dict[int, int] = {}
    left: list[Piece] = []
    for piece in by_rank:
        # Stable: of equally dear pools the one that is listed first.
        for index in sorted(piece.pools, key=lambda index: pools[index].read_cost):
            if fills[index].takes(piece):
                fills[index].pieces.append(piece)
                home[id(piece)] = index
                break
        else:
            left.append(piece)
    shares = [[piece for piece in pieces if home.get(id(piece)) == index] for index in range(len(pools))]
    return shares, left


def missing_bytes(pieces: Sequence[Piece], pools: Sequence[Pool]) -> int:
    """0 if `pieces` fit, else by how many bytes at least they are too many, 1 where the order is at fault."""
    tries = [_greedy(sorted(pieces, key=key), pieces, pools)[1] for key in _ORDERS]
    if not all(tries):
        return 0
    return max(1, *(each.missing_bytes for each in _shortages(pieces, tries[0], pools)))


def _shortages(
    pieces: Sequence[Piece], left: Sequence[Piece], pools: Sequence[Pool]
) -> tuple[ConstantShortage, ...]:
    """What each set of pools lacks that pieces without room could choose from."""
    found: list[ConstantShortage] = []
    for choice in dict.fromkeys(piece.pools for piece in left):
        rivals = [piece for piece in pieces if set(piece.pools) <= set(choice)]
        biggest = sorted(rivals, key=lambda piece: -piece.size_bytes)[:_NAMED]
        found.append(
            ConstantShortage(
                pools=tuple(pools[index].name for index in choice),
                needed_bytes=size_bytes(rivals),
                limits_bytes=tuple(pools[index].limit_bytes for index in choice),
                biggest=tuple((piece.name, piece.size_bytes) for piece in biggest),
            )
        )
    return tuple(found)
