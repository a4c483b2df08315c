"""Start-up, linker script and test link of a board; nothing on the host."""

from collections.abc import Mapping

from codegen.ir import Board, Runner
from codegen.plan.program import Program


def firmware_files(board: Board, programs: tuple[Program, ...]) -> Mapping[str, str]:
    """Path below the emitted folder -> text."""
    del programs
    if board.runner is Runner.HOST:
        return {}
    raise ValueError(f"no firmware for {board.name} yet")
