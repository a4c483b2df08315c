"""The smallest limit that constants fit which do not fit theirs."""

from collections.abc import Sequence
from dataclasses import replace

from codegen.plan.constants.assigning import missing_bytes, size_bytes
from codegen.plan.constants.merging import Piece
from codegen.program.problem import Pool
from codegen.program.shortage import ConstantShortage, SmallestLimit


def smallest_limit(
    pieces: Sequence[Piece], pools: Sequence[Pool], missed: Sequence[ConstantShortage]
) -> SmallestLimit | None:
    """The smallest limit that `pieces` fit, of the one pool that `missed` is about; None if it is about
    several, or if that alone does not do."""
    if len(missed) != 1 or len(missed[0].pools) != 1:
        return None
    [name] = missed[0].pools
    index = next(index for index, pool in enumerate(pools) if pool.name == name)
    limit = size_bytes([piece for piece in pieces if set(piece.pools) <= {index}])
    lifted = [replace(pool, limit_bytes=limit if pool.name == name else pool.limit_bytes) for pool in pools]
    if missing_bytes(pieces, lifted):
        return None
    return SmallestLimit(pool=name, limit_bytes=limit, room_bytes=pools[index].room_bytes)
