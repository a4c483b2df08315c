"""A build onto a real board by its flash tool, until that build answers."""

from dataclasses import dataclass
from pathlib import Path

from codegen.board.attached import check_flashed, check_free
from codegen.board.flash.commands import Commands
from codegen.board.flash.tool_calls import FlashTool
from codegen.ir import Board
from codegen.progress import Progress, silent

ELF = "firmware.elf"


@dataclass(frozen=True, kw_only=True, slots=True)
class SerialLine:
    """A serial port with a board behind it."""

    port: str
    baud: int | None = None
    """None: the rate of the board's file."""


def flash(
    board: Board,
    elf: Path,
    build_sha256: str,
    tool: FlashTool,
    *,
    line: SerialLine | None,
    progress: Progress = silent,
) -> Commands:
    """Flash `elf`; with a `line` wait for it and check that it is this build that answers. Returns what ran.

    Raises CodegenError E630 to E635, and what the port may raise.
    """
    commands = tool.loading(board, elf)
    if line is not None:
        check_free(line.port, baud_of(board, line.baud))
    tool.work(commands, loading=True, progress=progress)
    if line is not None:
        progress(f"wait for {line.port}")
        check_flashed(board, line.port, baud_of(board, line.baud), build_sha256, seconds=tool.wait_seconds)
    return commands


def baud_of(board: Board, baud: int | None) -> int:
    """The rate to open a port with."""
    if baud is not None:
        return baud
    return board.uart.baud if board.uart is not None else 115_200
