"""The test link through a debugger: two rings in the target's memory, laid out as SEGGER's RTT (uart_rtt.c).

The target stops for each look, so looks get rarer while nothing comes.
"""

import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codegen.board.machines.debugger import Debugger
from codegen.errors import CodegenError, Message

_ID = b"SEGGER RTT".ljust(16, b"\0")
_HEAD = struct.Struct("<16sII")
_RING = struct.Struct("<IIIIII")
_SEARCH_BYTES = 1024
_MOST_RING_BYTES = 1 << 16
_WRITE_SECONDS = 10.0
_FIRST_LOOK_SECONDS, _LONGEST_LOOK_SECONDS = 0.001, 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ring:
    """A ring as it stands: whoever writes moves `write`, whoever reads moves `read`."""

    place: int
    bytes: int
    size: int
    write: int
    read: int

    @property
    def write_place(self) -> int:
        return self.place + 12

    @property
    def read_place(self) -> int:
        return self.place + 16


class MemoryPort:
    """A `link.Port` over memory. `clock` and `sleep` are those of `time`."""

    def __init__(
        self,
        debugger: Debugger,
        memory: tuple[int, int],
        *,
        name: str,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Look for the rings in `memory` (start, end) behind `debugger`, which this port closes, for so many
        seconds: the firmware may be starting.

        Raises CodegenError: E601 the server, E639 no rings there, or broken ones.
        """
        self._name, self._clock, self._sleep, self._debugger = name, clock, sleep, debugger
        try:
            self._debugger.go()
            self._block = self._found(memory, seconds)
        except BaseException:
            self._debugger.detach()
            raise

    def _found(self, memory: tuple[int, int], seconds: float) -> int:
        end = self._clock() + seconds
        while True:
            with self._debugger.stopped():
                place = self._searched(*memory)
            if place is not None:
                return place
            if self._clock() >= end:
                text = f"no rings of the test link in 0x{memory[0]:08x} to 0x{memory[1]:08x}"
                help_ = 'is firmware on the board that was built for a board file with uart.driver = "rtt"?'
                raise CodegenError(Message(code="E639", where=self._name, text=text, help=help_))
            self._sleep(_LONGEST_LOOK_SECONDS)

    def _searched(self, start: int, end: int) -> int | None:
        """Find the address of the rings' name, which begins at a word."""
        tail = b""
        for place in range(start, end, _SEARCH_BYTES):
            data = tail + self._debugger.peek(place, min(_SEARCH_BYTES, end - place))
            at = data.find(_ID)
            if at >= 0:
                return place - len(tail) + at
            tail = data[-len(_ID) :]
        return None

    def _rings(self) -> tuple[_Ring, _Ring]:
        """Up and down, of a target that is stopped."""
        data = self._debugger.peek(self._block, _HEAD.size + 2 * _RING.size)
        name, ups, downs = _HEAD.unpack_from(data)
        places = (_HEAD.size, _HEAD.size + _RING.size)
        up, down = (_ring(self._block + at, *_RING.unpack_from(data, at)) for at in places)
        sound = all(
            0 < ring.size <= _MOST_RING_BYTES and max(ring.write, ring.read) < ring.size
            for ring in (up, down)
        )
        if name != _ID or (ups, downs) != (1, 1) or not sound:
            text = "the rings of the test link are overwritten: the firmware writes where it should not"
            help_ = "reset the board; `codegen run --sandbox` finds such writes where the core can"
            raise CodegenError(Message(code="E639", where=self._name, text=text, help=help_))
        return up, down

    def write(self, data: bytes) -> None:
        """Send all of `data`. Raises CodegenError E601, E639."""
        end = self._clock() + _WRITE_SECONDS
        while data:
            with self._debugger.stopped():
                _, ring = self._rings()
                room = (ring.read - ring.write - 1) % ring.size
                part, data = data[:room], data[room:]
                at = ring.write
                while part:
                    piece = part[: ring.size - at]
                    self._debugger.poke(ring.bytes + at, piece)
                    at, part = (at + len(piece)) % ring.size, part[len(piece) :]
                self._debugger.poke(ring.write_place, at.to_bytes(4, "little"))
            if data and self._clock() >= end:
                text = f"the target took no bytes for {_WRITE_SECONDS:g} s"
                raise CodegenError(Message(code="E601", where=self._name, text=text, help="reset the board"))

    def read(self, timeout_seconds: float) -> bytes:
        """Read the bytes that have arrived; wait up to the timeout for the first one. Raises CodegenError
        E601, E639."""
        end = self._clock() + timeout_seconds
        for pause in _pauses():
            with self._debugger.stopped():
                ring, _ = self._rings()
                data = self._taken(ring)
            if data or self._clock() >= end:
                return data
            self._sleep(min(pause, max(0.0, end - self._clock())))
        raise AssertionError  # pauses do not end

    def _taken(self, ring: _Ring) -> bytes:
        if ring.write == ring.read:
            return b""
        stop = ring.write if ring.write > ring.read else ring.size
        data = self._debugger.peek(ring.bytes + ring.read, stop - ring.read)
        if stop == ring.size and ring.write:
            data += self._debugger.peek(ring.bytes, ring.write)
        self._debugger.poke(ring.read_place, ring.write.to_bytes(4, "little"))
        return data

    def close(self) -> None:
        """Let the target run, and the server serve another."""
        self._debugger.detach()


def _ring(place: int, *fields: int) -> _Ring:
    _, start, size, write, read, _ = fields
    return _Ring(place=place, bytes=start, size=size, write=write, read=read)


def _pauses() -> Iterator[float]:
    pause = _FIRST_LOOK_SECONDS
    while True:
        yield pause
        pause = min(2 * pause, _LONGEST_LOOK_SECONDS)
