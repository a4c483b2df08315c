"""Constant pools of a board: one per read-only region, cheapest first, and what users want to lie where.

The smallest limit that constants fit which do not fit theirs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from codegen.constants.linking import missing_bytes, size_bytes, unused, with_scopes
from codegen.constants.merging import Piece
from codegen.errors import CodegenError, Message, Messages
from codegen.ir import Board
from codegen.ir.rules import ConstantRule
from codegen.kernels.base.code_bytes import recorded, with_reads
from codegen.kernels.primfunc import PrimFunc
from codegen.problem.problem import Pool, limited
from codegen.problem.shortage import ConstantShortage, SmallestLimit

FIRMWARE_BYTES = 24_576
"""Bytes of the code region that start-up, test link, entry functions and parameters may take beside
kernels."""


def constant_pools(
    board: Board,
    limits: Mapping[str, int],
    prim_funcs: Sequence[PrimFunc],
    *,
    emulated: bool,
    beside_code: Mapping[str, int] | None = None,
) -> tuple[Pool, ...]:
    """Read-only regions of `board` as pools, by access cost, the code region first of equally dear ones.

    `limits`: hard limits of bytes by pool. Where there are several pools, the code region keeps room for the
    kernels that `prim_funcs` call and for the rest of the firmware, unless the user says how much constants
    may take there: more than fits would only be found when linking. `emulated`: leave out regions that the
    emulator lacks. `beside_code`: bytes by pool that the code was found to leave.
    """
    left = beside_code or {}
    code = board.region(board.code_region)
    others = [
        region
        for region in board.regions
        if not region.writable and region != code and (region.emulated or not emulated)
    ]
    pools: list[Pool] = []
    for region in sorted([code, *others], key=lambda region: region.access_cost):
        most = room = min(region.end - region.start, left.get(region.pool_name, region.size_bytes))
        if region == code and others and region.pool_name not in {*limits, *left}:
            room = max(room - code_room_bytes(prim_funcs), 0)
        # Where one memory holds everything, a limit on its pool is one on what is written.
        limit = room if region.writable else min(room, limits.get(region.pool_name, room))
        pools.append(
            Pool(
                name=region.pool_name,
                region=region.name,
                limit_bytes=limit,
                room_bytes=most,
                alignment=board.pool_alignment_bytes,
                section=f".rodata.cg.{region.pool_name}",
                read_cost=region.access_cost,
            )
        )
    return tuple(pools)


def code_room_bytes(prim_funcs: Sequence[PrimFunc]) -> int:
    """Bytes of the code region that constants leave free: twice what the kernels take at -Os."""
    sources = {source for prim in prim_funcs for source in prim.sources}
    return FIRMWARE_BYTES + 2 * sum(section.size_bytes for section in recorded() if section.source in sources)


def placed(
    prim_funcs: Sequence[PrimFunc],
    rules: Sequence[ConstantRule],
    pools: Sequence[Pool],
    *,
    all_apply: bool = True,
) -> tuple[PrimFunc, ...]:
    """`prim_funcs` with reads for every constant, and a memory scope where a rule gives one.

    Raises CodegenError E245 for rules that apply to nothing (unless not `all_apply`: they may be for another
    model) and E246 for memories that are no constant pool,
    all at once.
    """
    names = [pool.name for pool in pools]
    messages = Messages()
    for rule in rules:
        if rule.memory not in names:
            messages.add(
                "E246",
                f"{rule.memory} is no constant pool of this board",
                where=rule.where,
                help=f"constant pools are {', '.join(names)}",
            )
    if all_apply:
        report_unused(rules, prim_funcs, messages)
    messages.raise_if_any()
    return tuple(
        replace(prim, constants=with_scopes(prim, rules)) if prim.constants else prim
        for prim in map(with_reads, prim_funcs)
    )


def in_reach(prim_funcs: Sequence[PrimFunc], board: Board, pools: Sequence[Pool]) -> tuple[PrimFunc, ...]:
    """`prim_funcs`, the constants of an NPU in the first pool that it reaches unless a rule says where.

    Raises CodegenError E324 where it reaches none of them.
    """
    reached = () if board.npu is None else tuple(pool for pool in pools if pool.region in board.npu.reach)
    return tuple(_in_reach(prim, board, reached) if prim.inlets else prim for prim in prim_funcs)


def _in_reach(prim: PrimFunc, board: Board, reached: Sequence[Pool]) -> PrimFunc:
    names = [pool.name for pool in reached]
    asked = sorted({constant.memory_scope or "" for constant in prim.constants} - {"", *names})
    if not names or asked:
        has = f"the NPU of {board.name} reaches {', '.join(names) or 'none of the constant pools'}"
        raise CodegenError(
            Message(
                code="E324",
                where=prim.let.where,
                text=f"{has}, not {' and '.join(asked)}" if asked else has,
                help="its command stream and its weights must lie where it reads them",
            )
        )
    constants = [
        replace(constant, memory_scope=constant.memory_scope or names[0]) for constant in prim.constants
    ]
    return replace(prim, constants=tuple(constants))


def report_unused(rules: Sequence[ConstantRule], prim_funcs: Sequence[PrimFunc], messages: Messages) -> None:
    """E245 for every rule that applies to none of the constants of `prim_funcs`."""
    for rule in unused(rules, prim_funcs):
        steps = ", ".join(prim.name for prim in prim_funcs if prim.constants)
        messages.add(
            "E245",
            f"applies to no constant: {rule}",
            where=rule.where,
            help=f"steps with constants are {steps or 'none'}",
        )


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
    if missing_bytes(pieces, limited(pools, {name: limit})):
        return None
    return SmallestLimit(pool=name, limit_bytes=limit, room_bytes=pools[index].room_bytes)
