"""A real board after a flash tool has worked: its port comes back, and says which build it runs."""

from codegen.board.flash.tool_calls import WAIT_SECONDS
from codegen.board.link.exchange import Link
from codegen.board.link.linked_board import check_build, identify
from codegen.board.link.protocol import Identity
from codegen.board.machines.ports import SerialPort
from codegen.board.machines.reaching import SCHEME, reach
from codegen.errors import CodegenError, Message
from codegen.ir import Board

_NOT_THERE = "E601"
_OTHERS = ("E602", "E607", "E614", "E615")


def check_free(port: str, baud: int) -> None:
    """Raise CodegenError E634 if another program has the port open. One that is not there is no mistake yet:
    a boot loader has none."""
    if port.startswith(SCHEME):
        return  # a GDB server tells who connects; its board is stopped by that
    try:
        SerialPort(port, baud).close()
    except CodegenError as error:
        if error.messages[0].code != _NOT_THERE:
            raise


def answering(board: Board, port: str, baud: int, *, seconds: float = WAIT_SECONDS) -> Identity:
    """Ask the test firmware behind the port who it is, once the port is there.

    Raises CodegenError: E601, E633, E634, E639 the port, E602 no answer, E607 of another version, E614 no
    firmware of ours, E621 a fault of the firmware.
    """
    serial = reach(board, port, baud, wait_seconds=seconds)
    try:
        return identify(Link(serial), board, {})
    finally:
        serial.close()


def check_flashed(
    board: Board, port: str, baud: int, build_sha256: str, *, seconds: float = WAIT_SECONDS
) -> Identity:
    """The identity of the build that was just flashed.

    Raises CodegenError as `answering`; E635 where the flash tool was content and another build answers, or
    none.
    """
    try:
        identity = answering(board, port, baud, seconds=seconds)
        check_build(identity, board, build_sha256)
    except CodegenError as error:
        [message] = error.messages
        if message.code not in _OTHERS:
            raise
        help_ = (
            f"do --port and --probe belong to the same board? `codegen doctor --board {board.name} --port "
            f"{port}` says who answers; a board that stays in its boot loader needs its reset button"
        )
        text = f"the flash tool reported success, but {message.text}"
        raise CodegenError(Message(code="E635", where=port, text=text, help=help_)) from error
    return identity
