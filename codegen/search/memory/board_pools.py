"""Pools of a board: one per writable region, the user's hard limits applied; of several models one more, for
state, of which none shares a byte with another."""

from collections.abc import Mapping
from dataclasses import replace

from codegen.errors import CodegenError, Message
from codegen.ir import Board
from codegen.program.problem import Pool


def board_pools(
    board: Board, limits: Mapping[str, int], *, emulated: bool, state_bytes: int = 0
) -> tuple[Pool, ...]:
    """Pools in the board's order of preference. `emulated`: leave out regions the emulator lacks.
    `state_bytes`: what the state of several models takes; it gets a pool of its own, the last, in the region
    of the first.

    Raises CodegenError E215 for a limit on a pool that the board does not have.
    """
    regions = [region for region in board.regions if region.writable and (region.emulated or not emulated)]
    names = [region.pool_name for region in regions]
    # Limits of constant pools count where constants are linked (`constant_pools.py`).
    names += [region.pool_name for region in board.regions if not region.writable]
    unknown = sorted(set(limits) - set(names))
    if unknown:
        raise CodegenError(
            Message(
                code="E215",
                text=f"{board.name} has no pool {', '.join(unknown)}",
                help=f"its pools are {', '.join(names)}",
            )
        )
    pools: list[Pool] = []
    for region in regions:
        reserved = board.reserved_bytes if region.name == board.data_region else 0
        room = region.end - region.start - reserved
        pools.append(
            Pool(
                name=region.pool_name,
                region=region.name,
                limit_bytes=min(room, limits.get(region.pool_name, room)),
                room_bytes=room,
                alignment=board.pool_alignment_bytes,
                section=f".bss.cg.{region.pool_name}",
                read_cost=region.access_cost,
                write_cost=region.access_cost,
            )
        )
    if state_bytes:
        # Test firmware opens the two by an MPU that knows granules of 32 bytes.
        first, room = replace(pools[0], alignment=max(pools[0].alignment, 32)), pools[0].room_bytes or 0
        left = max(room - state_bytes, 0)
        pools[0] = replace(first, limit_bytes=min(first.limit_bytes, left), room_bytes=left)
        pools.append(
            replace(first, name=f"{first.name}_state", limit_bytes=state_bytes, room_bytes=state_bytes)
        )
    return tuple(pools)
