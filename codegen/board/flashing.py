"""A build onto a real board by its flash tool, until that build answers."""

from dataclasses import dataclass
from pathlib import Path

from codegen.board.attached import WAIT_SECONDS, check_flashed, check_free
from codegen.board.flash.commands import Commands, load_commands, reset_commands
from codegen.board.flash.tool_calls import LOAD_SECONDS, call
from codegen.ir import Board
from codegen.progress import Progress, silent

ELF = "firmware.elf"


@dataclass(frozen=True, kw_only=True, slots=True)
class FlashTool:
    """Which tool, which probe, and how long is waited."""

    name: str | None = None
    probe: str | None = None
    timeout_seconds: float = LOAD_SECONDS
    wait_seconds: float = WAIT_SECONDS

    def loading(self, board: Board, elf: Path) -> Commands:
        """What puts `elf` on the board. Raises CodegenError E630."""
        return load_commands(board, elf, tool=self.name, probe=self.probe)

    def resetting(self, board: Board) -> Commands:
        """What resets the board. Raises CodegenError E630."""
        return reset_commands(board, tool=self.name, probe=self.probe)

    def work(self, commands: Commands, *, loading: bool, progress: Progress = silent) -> None:
        """Run them. Raises CodegenError E630, E631, E632."""
        call(commands, seconds=self.timeout_seconds, loading=loading, progress=progress)


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


def baud_of(board: Board, given: int | None) -> int:
    """The rate to open a port with."""
    if given is not None:
        return given
    return board.uart.baud if board.uart is not None else 115_200
