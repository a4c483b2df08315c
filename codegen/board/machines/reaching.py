"""A board's port by its name: a device, a pyserial URL, or memory behind a GDB server."""

from codegen.board.machines.memory_port import SCHEME, MemoryPort
from codegen.board.machines.ports import SerialPort, opened
from codegen.ir import Board

_STARTING_SECONDS = 2.0
"""For firmware that is still starting when a debugger looks for its rings."""


def reach(
    board: Board, port: str, baud: int, *, wait_seconds: float | None = None
) -> SerialPort | MemoryPort:
    """The open port; with `wait_seconds` one that may not be there yet.

    Raises CodegenError E601, E633, E634, E639.
    """
    if port.startswith(SCHEME):
        region = board.region(board.data_region)
        memory = (region.start, region.start + board.reserved_bytes)
        seconds = _STARTING_SECONDS if wait_seconds is None else wait_seconds
        return MemoryPort(port.removeprefix(SCHEME), memory, seconds=seconds)
    if wait_seconds is None:
        return SerialPort(port, baud)
    return opened(port, baud, seconds=wait_seconds)
