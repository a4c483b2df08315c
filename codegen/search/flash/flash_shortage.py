"""What to tell a user whose constants do not fit: the smallest limit that does, and what stays as it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from codegen.errors import CodegenError, Message
from codegen.plan.constants.assigning import ADVICE, missing_bytes, size_bytes
from codegen.plan.constants.merging import Piece
from codegen.program.problem import Pool


@dataclass(frozen=True, kw_only=True, slots=True)
class LeastLimit:
    """The smallest limit of `pool` in bytes that a program was found for; `room_bytes`: the largest there
    can be, None: any. `kept`: why constants of that program are not compressed -> their bytes."""

    pool: str
    limit_bytes: int
    room_bytes: int | None
    kept: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


class DoesNotLink(CodegenError):
    """E402: linked constants exceed the limits of their pools, by `lacking_bytes` at least when all that may
    be compressed is. `least`: None where no single limit is at fault."""

    def __init__(self, missed: Sequence[Message], least: LeastLimit | None, *, lacking_bytes: int) -> None:
        self.missed, self.least, self.lacking_bytes = tuple(missed), least, lacking_bytes
        super().__init__([_told(each, least) for each in missed])

    def with_least(self, least: LeastLimit | None) -> "DoesNotLink":
        """The same with another smallest limit."""
        return DoesNotLink(self.missed, least, lacking_bytes=self.lacking_bytes)


def least_limit(
    pieces: Sequence[Piece], pools: Sequence[Pool], missed: Sequence[Message]
) -> LeastLimit | None:
    """The smallest limit that `pieces` fit, of the one pool that `missed` is about; None if it is about
    several, or if that alone does not do."""
    names = [pool.name for pool in pools if any(each.where == where(pool) for each in missed)]
    if len(missed) != 1 or not names:
        return None
    index = next(index for index, pool in enumerate(pools) if pool.name == names[0])
    limit = size_bytes([piece for piece in pieces if set(piece.pools) <= {index}])
    lifted = [
        replace(pool, limit_bytes=limit if pool.name == names[0] else pool.limit_bytes) for pool in pools
    ]
    if missing_bytes(pieces, lifted):
        return None
    return LeastLimit(pool=names[0], limit_bytes=limit, room_bytes=pools[index].room_bytes)


def where(pool: Pool) -> str:
    """How messages about one pool of constants begin."""
    return f"constant pool {pool.name}"


def _told(missed: Message, least: LeastLimit | None) -> Message:
    if least is None:
        return missed
    lines = [
        missed.text,
        f"  the smallest limit for which a plan was found is {least.limit_bytes} bytes",
    ]
    help_ = ADVICE
    if least.room_bytes is None or least.limit_bytes <= least.room_bytes:
        help_ = f"--pool {least.pool}={least.limit_bytes}, {ADVICE}"
    else:
        lines.append(f"  there is room for {least.room_bytes}")
    lines += [f"  {size} bytes are not compressed: {why}" for why, size in least.kept.items()]
    return replace(missed, text="\n".join(lines), help=f"try {help_}")
