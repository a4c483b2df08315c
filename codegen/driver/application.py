"""Limits of pools from the application that a model goes into: what its ELF leaves free."""

from dataclasses import replace
from types import MappingProxyType

from codegen.driver.declared import option_board
from codegen.driver.options import Options
from codegen.errors import CodegenError, Message
from codegen.ir import Runner
from codegen.toolchain import FreeRange, free_ranges


def within_application(options: Options, *, emulated: bool = False) -> tuple[Options, tuple[FreeRange, ...]]:
    """`options` with the pools limited to what `options.app_elf` leaves, and those ranges; without one as is.

    A `--pool` below that stays. `emulated`: regions that the emulator lacks are left out. Raises CodegenError
    E270 to E273 as `free_ranges` does, E274 without a board that has memory regions.
    """
    if options.app_elf is None:
        return options, ()
    board = option_board(options.board, options.pools) if options.board else None
    if board is None or board.runner is Runner.HOST:
        raise CodegenError(
            Message(
                code="E274",
                where="--app-elf",
                text="there is no board whose memory the application shares",
                help="name the application's board with --board",
            )
        )
    left_out = {region.pool_name for region in board.regions if emulated and not region.emulated}
    ranges = tuple(each for each in free_ranges(options.app_elf, board) if each.pool not in left_out)
    given = options.pool_limits
    limits = {each.pool: min(each.size_bytes, given.get(each.pool, each.size_bytes)) for each in ranges}
    return replace(options, pool_limits=MappingProxyType({**given, **limits})), ranges
