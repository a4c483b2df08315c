"""A board's port by its name: a device, a pyserial URL, or what carries the link behind a GDB server."""

from codegen.board.machines.debugger import Debugger
from codegen.board.machines.memory_port import MemoryPort
from codegen.board.machines.ports import SerialPort, opened
from codegen.board.machines.semihosting_port import SemihostingPort
from codegen.errors import CodegenError, Message
from codegen.ir import Board, Carrier

SCHEME = "gdb://"
_STARTING_SECONDS = 2.0
"""For firmware that is still starting when a debugger looks for its rings."""
_HELP = (
    "start the debugger's GDB server (openocd, pyocd gdbserver, JLinkGDBServer) and name its address: --gdb "
    "localhost:3333; it serves one program at a time"
)


def reach(
    board: Board, port: str, baud: int, *, wait_seconds: float | None = None
) -> SerialPort | MemoryPort | SemihostingPort:
    """The open port; with `wait_seconds` one that may not be there yet.

    Raises CodegenError E601, E633, E634, E639.
    """
    if port.startswith(SCHEME):
        debugger = _connected(port)
        if board.uart is not None and board.uart.carrier is Carrier.SEMIHOSTING:
            return SemihostingPort(debugger, name=port)
        region = board.region(board.data_region)
        memory = (region.start, region.start + board.reserved_bytes)
        seconds = _STARTING_SECONDS if wait_seconds is None else wait_seconds
        return MemoryPort(debugger, memory, name=port, seconds=seconds)
    if wait_seconds is None:
        return SerialPort(port, baud)
    return opened(port, baud, seconds=wait_seconds)


def _connected(port: str) -> Debugger:
    """The GDB server of `gdb://HOST:PORT`. Raises CodegenError E601."""
    address = port.removeprefix(SCHEME)
    host, _, number = address.rpartition(":")
    if not host or not number.isdecimal() or not 0 < int(number) < 65_536:
        text = f"{address!r} is no HOST:PORT"
        raise CodegenError(Message(code="E601", where="--gdb", text=text, help=_HELP))
    return Debugger(host, int(number), name=port, help=_HELP)
