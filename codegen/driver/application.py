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
    ranges = tuple(each for each in left_by(taken, board) if each.pool not in left_out)
    given = options.pool_limits
    limits = {each.pool: min(each.size_bytes, given.get(each.pool, each.size_bytes)) for each in ranges}
    return replace(options, pool_limits=MappingProxyType({**given, **limits})), ranges


def _check_pools(
    pools: Sequence[DeclaredPool], taken: "Sequence[TakenRange]", board: Board, elf_name: str
) -> None:
    """Raise CodegenError E275 naming every pool that lies over what the application uses."""
    from codegen.toolchain import TakenRange

    messages = Messages()
    for pool in pools:
        over = [str(each) for each in taken if each.start < pool.end and pool.address < each.stop]
        if over:
            others = [
                TakenRange(what=f"pool {each.name}", start=each.address, stop=each.end)
                for each in pools
                if each.name != pool.name
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
        (each for each in everything if each.start < home.end and home.start < each.stop),
        key=lambda each: (each.start, each.stop),
    )
    takes = f"in {home.name} lie {', '.join(map(str, there))}"
    free = {each.pool: each for each in left_by(everything, board)}[home.pool_name]
    if not free.size_bytes:
        return f"nothing of {home.name} is left: another memory, or a smaller application; {takes}"
    step = board.pool_alignment_bytes
    size = min(-(-pool.size_bytes // step) * step, free.size_bytes)
    offered = replace(pool, size_bytes=size, address=free.address + free.size_bytes - size)
    left = f"the largest range that is left in {home.name} is {free.size_bytes:,} bytes from"
    return f"try --pool {offered}; {left} 0x{free.address:08x} on; {takes}"
