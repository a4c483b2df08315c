"""A build onto a real board by its flash tool, until that build answers."""

from pathlib import Path

from codegen.board.attached import check_flashed, check_free
from codegen.board.flash.commands import Commands
from codegen.board.flash.tool_calls import FlashTool
from codegen.ir import Board
from codegen.progress import Progress, silent

ELF = "firmware.elf"


def flash(
    board: Board,
    elf: Path,
    build_sha256: str,
    tool: FlashTool,
    *,
    port: str | None,
    baud: int | None,
    progress: Progress = silent,
) -> Commands:
    """Flash `elf`; with a port wait for it and check that it is this build that answers. Returns what ran.

    Raises CodegenError E630 to E635, and what the port may raise.
    """
    commands = tool.loading(board, elf)
    rate = baud_of(board, baud)
    if port is not None:
        check_free(port, rate)
    tool.work(commands, loading=True, progress=progress)
    if port is not None:
        progress(f"wait for {port}")
        check_flashed(board, port, rate, build_sha256, seconds=tool.wait_seconds)
    return commands


def baud_of(board: Board, baud: int | None) -> int:
    """The rate to open a port with."""
    if baud is not None:
        return baud
    return board.uart.baud if board.uart is not None else 115_200
