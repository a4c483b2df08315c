"""Limits of pools from the application that a model goes into: what its ELF leaves free."""

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from codegen import board as boards
from codegen.driver.inputs.declared_pools import DeclaredPool, home_region, with_pools
from codegen.driver.options import Options
from codegen.errors import CodegenError, Message, Messages
from codegen.ir import Board, Runner

if TYPE_CHECKING:
    from codegen.toolchain import FreeRange, TakenRange


def within_application(
    options: Options, *, emulated: bool = False
) -> "tuple[Options, tuple[FreeRange, ...]]":
    """`options` with the pools limited to what `options.app_elf` leaves, and those ranges; without one as is.

    A `--pool` below that stays. `emulated`: regions that the emulator lacks are left out. Raises CodegenError
    E270 to E273 as `taken_ranges` does, E274 without a board that has memory regions, E275 for a declared
    pool over bytes that the application uses, and as `load_board` and `with_pools` do.
    """
    if options.app_elf is None:
        return options, ()
    bare = boards.load_board(options.board) if options.board else None
    if bare is None or bare.runner is Runner.HOST:
        raise CodegenError(
            Message(
                code="E274",
                where="--app-elf",
                text="there is no board whose memory the application shares",
                help="name the application's board with --board",
            )
        )
    from codegen.toolchain import left_by, taken_ranges

    taken = taken_ranges(options.app_elf, bare)
    _check_pools(options.pools, taken, bare, options.app_elf.name)
    board = with_pools(bare, options.pools)
    left_out = {region.pool_name for region in board.regions if emulated and not region.emulated}
    ranges = tuple(free_range for free_range in left_by(taken, board) if free_range.pool not in left_out)
    limits_asked = options.pool_limits
    limits = {
        free_range.pool: min(free_range.size_bytes, limits_asked.get(free_range.pool, free_range.size_bytes))
        for free_range in ranges
    }
    return replace(options, pool_limits=MappingProxyType({**limits_asked, **limits})), ranges


def _check_pools(
    pools: Sequence[DeclaredPool], taken: "Sequence[TakenRange]", board: Board, elf_name: str
) -> None:
    """Raise CodegenError E275 naming every pool that lies over what the application uses."""
    from codegen.toolchain import TakenRange

    messages = Messages()
    for pool in pools:
        over = [
            str(taken_range)
            for taken_range in taken
            if taken_range.start < pool.end and pool.address < taken_range.stop
        ]
        if over:
            others = [
                TakenRange(what=f"pool {other_pool.name}", start=other_pool.address, stop=other_pool.end)
                for other_pool in pools
                if other_pool.name != pool.name
            ]
            messages.add(
                "E275",
                f"lies over what {elf_name} uses: {', '.join(over)}",
                where=f"--pool {pool}",
                help=_offer(pool, [*taken, *others], board),
            )
    messages.raise_if_any()


def _offer(pool: DeclaredPool, taken: "Sequence[TakenRange]", board: Board) -> str:
    """Suggest a place for a pool, and list all that is taken in its memory.

    The place is the end of the largest free range. In the data region the test firmware then keeps its bytes
    below the pool.
    """
    from codegen.toolchain import TakenRange, left_by

    home = home_region(board, pool)
    if home is None:
        return "a pool lies in one memory, where nothing else does"
    reserved = board.reserved_bytes if home.name == board.data_region else 0
    firmware = TakenRange(what="the test firmware", start=home.start, stop=home.start + reserved)
    everything = [*taken, *([firmware] if reserved else [])]
    there = sorted(
        (
            taken_range
            for taken_range in everything
            if taken_range.start < home.end and home.start < taken_range.stop
        ),
        key=lambda taken_range: (taken_range.start, taken_range.stop),
    )
    takes = f"in {home.name} lie {', '.join(map(str, there))}"
    free = {free_range.pool: free_range for free_range in left_by(everything, board)}[home.pool_name]
    if not free.size_bytes:
        return f"nothing of {home.name} is left: another memory, or a smaller application; {takes}"
    step = board.pool_alignment_bytes
    size = min(-(-pool.size_bytes // step) * step, free.size_bytes)
    offered = replace(pool, size_bytes=size, address=free.address + free.size_bytes - size)
    left = f"the largest range that is left in {home.name} is {free.size_bytes:,} bytes from"
    return f"try --pool {offered}; {left} 0x{free.address:08x} on; {takes}"
