"""The test link through a debugger that answers semihosting (uart_semihosting.c): the firmware's calls come
as requests of GDB's File-I/O protocol, and the target stands still until each is answered.

Source: the GDB manual, "File-I/O Remote Protocol Extension" (`Fread`, `Fwrite`, their answers).
"""

import time
from collections.abc import Callable

from codegen.board.machines.debugger import Debugger
from codegen.errors import CodegenError, Message

_INPUT, _OUTPUT = 0, 1
"""The console's descriptors."""
_WRITE_SECONDS = 10.0
_LEAVE_SECONDS = 1.0
_UNKNOWN = b"F-1,270f"
"""To requests that the test link never makes."""


class SemihostingPort:
    """A `link.Port` over semihosting. `clock` and `sleep` are those of `time`."""

    def __init__(
        self,
        debugger: Debugger,
        *,
        name: str,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Let the target run behind `debugger`, which this port closes. Raises CodegenError E601."""
        self._debugger, self._name, self._clock, self._sleep = debugger, name, clock, sleep
        self._arrived, self._queued = b"", b""
        self._wanted: tuple[int, int] | None = None
        """Address and most bytes of what the firmware waits for."""
        self._debugger.go()

    def write(self, data: bytes) -> None:
        """Send all of `data`. Raises CodegenError E601."""
        self._queued += data
        end = self._clock() + _WRITE_SECONDS
        self._supply()
        while self._queued:
            if not self._serve(end - self._clock()):
                text = f"the target asked for no bytes for {_WRITE_SECONDS:g} s"
                help_ = "reset the board; does the GDB server hand semihosting on to GDB (docs/boards.md)?"
                raise CodegenError(Message(code="E601", where=self._name, text=text, help=help_))

    def read(self, timeout_seconds: float) -> bytes:
        """Read the bytes that have arrived; wait up to the timeout for the first one. Raises CodegenError
        E601."""
        end = self._clock() + timeout_seconds
        while not self._arrived:
            if self._wanted is not None:  # it says nothing before it is told something
                self._sleep(max(0.0, end - self._clock()))
                break
            if not self._serve(end - self._clock()):
                break
        data, self._arrived = self._arrived, b""
        return data

    def close(self) -> None:
        """Let the target run, and the server serve another."""
        try:
            while self._wanted is None and self._serve(_LEAVE_SECONDS):
                pass
        except CodegenError:
            self._debugger.close()
            return
        self._debugger.detach(is_stopped=self._wanted is not None)

    def _serve(self, seconds: float) -> bool:
        """Answer the next request; false if none comes in time."""
        request = self._debugger.request(max(0.0, seconds))
        if request is None:
            return False
        name, *numbers = request.split(",")
        match name, [int(number, 16) for number in numbers]:
            case "Fwrite", [int(file), int(address), int(count)] if file == _OUTPUT:
                self._arrived += self._debugger.peek(address, count)
                self._debugger.answer(b"F%x" % count)
            case "Fread", [int(file), int(address), int(count)] if file == _INPUT and count:
                self._wanted = address, count
                self._supply()
            case _:
                self._debugger.answer(_UNKNOWN)
        return True

    def _supply(self) -> None:
        """Hand over what the firmware waits for, if there is any."""
        if self._wanted is not None and self._queued:
            address, count = self._wanted
            data, self._queued = self._queued[:count], self._queued[count:]
            self._debugger.poke(address, data)
            self._debugger.answer(b"F%x" % len(data))
            self._wanted = None
