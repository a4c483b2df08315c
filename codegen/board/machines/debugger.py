"""A debugger's stub (QEMU's, OpenOCD's, pyOCD's, J-Link's GDB server): memory read and written while a target
is stopped for it.

Source: the GDB manual, appendix "Remote Serial Protocol" (packets, `c`, `m`, `M`, `D`, `F`, stop replies).
"""

import socket
from collections.abc import Generator
from contextlib import contextmanager, nullcontext, suppress

from codegen.errors import CodegenError, Message

_PACKET_BYTES = 1536
"""Bytes of memory in one packet: as hexadecimal digits with a head they stay below the 4,096 that QEMU takes.
"""
_ANSWER_SECONDS = 30.0
_LEAST_SECONDS = 0.001
"""A socket that waits for no time at all is another kind of socket."""
_INTERRUPT = b"\x03"
_STOPPED = (b"T", b"S")
"""How an answer begins that says why the machine stands."""


class Debugger:
    """A connection to the stub. The machine runs, except within `write`, `read` and `stopped`."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        name: str,
        help: str = "see `codegen doctor`",
    ) -> None:
        """Connect to a stub and wait until it knows: it stops the machine when it does, if that runs.

        Raises CodegenError E601, with `help`."""
        self._name, self._received, self._help = name, b"", help
        self._requests: list[str] = []
        try:
            self._socket = socket.create_connection((host, port), timeout=_ANSWER_SECONDS)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._send(b"?")
            # Firmware that was in a call already makes it again, before the question is answered.
            while not (answer := self._next()).startswith(_STOPPED):
                self._take(answer)
        except OSError as error:
            raise self._gone(str(error)) from error

    def write(self, address: int, data: bytes) -> None:
        """Stop the machine, write `data` from `address` on, let it run again. Raises CodegenError E601."""
        with self.stopped():
            self.poke(address, data)

    def read(self, address: int, count: int) -> bytes:
        """Stop the machine, read from `address` on, let it run again. Raises CodegenError E601."""
        with self.stopped():
            return self.peek(address, count)

    @contextmanager
    def stopped(self) -> Generator[None]:
        """The machine stands still within, and runs behind. Raises CodegenError E601."""
        try:
            self._socket.sendall(_INTERRUPT)
            self._expect(*_STOPPED)
            yield
        except OSError as error:
            raise self._gone(str(error)) from error
        finally:
            with suppress(OSError):
                self._send(b"c")

    def go(self) -> None:
        """Let a machine run that the connection stopped; one that waits for an answer stays.

        Raises CodegenError E601.
        """
        try:
            if not self._requests:
                self._send(b"c")
        except OSError as error:
            raise self._gone(str(error)) from error

    def poke(self, address: int, data: bytes) -> None:
        """Write memory of a machine that is stopped."""
        for offset in range(0, len(data), _PACKET_BYTES):
            part = data[offset : offset + _PACKET_BYTES]
            self._send(f"M{address + offset:x},{len(part):x}:{part.hex()}".encode())
            self._expect(b"OK")

    def peek(self, address: int, count: int) -> bytes:
        """Read memory of a machine that is stopped. Raises CodegenError E601."""
        data = b""
        while len(data) < count:
            count_now = min(count - len(data), _PACKET_BYTES)
            self._send(f"m{address + len(data):x},{count_now:x}".encode())
            answer = self._next()
            try:
                part = bytes.fromhex(answer.decode("ascii"))
            except ValueError:
                part = b""
            if not 0 < len(part) <= count_now:
                where = f"0x{address + len(data):08x}"
                raise self._gone(f"it cannot read {count_now:,} bytes at {where}: {answer[:40]!r}")
            data += part
        return data

    def _send(self, body: bytes) -> None:
        self._socket.sendall(b"$%s#%02x" % (body, sum(body) & 0xFF))

    def _expect(self, *starts: bytes) -> None:
        """The next packet, which begins so."""
        body = self._next()
        if not body.startswith(starts):
            raise self._gone(f"it answered {body[:40]!r} where {starts[0]!r} was due")

    def _next(self) -> bytes:
        """The next packet, acknowledged; what the stub prints for people is passed over."""
        while True:
            body = self._packet()
            self._socket.sendall(b"+")
            if not body.startswith(b"O") or body == b"OK":
                return body

    def _packet(self) -> bytes:
        while True:
            begin = self._received.find(b"$")
            end = self._received.find(b"#", begin + 1)
            if begin >= 0 and 0 <= end <= len(self._received) - 3:
                body = self._received[begin + 1 : end]
                self._received = self._received[end + 3 :]
                return body
            more = self._socket.recv(4096)
            if not more:
                raise self._gone("it closed the connection")
            self._received += more

    def request(self, seconds: float) -> str | None:
        """The next File-I/O request of a machine that runs, which stands from there on; None if none comes in
        time. Raises CodegenError E601."""
        try:
            self._socket.settimeout(max(seconds, _LEAST_SECONDS))
            if not self._requests:
                self._take(self._next())
        except TimeoutError:
            return None
        except OSError as error:
            raise self._gone(str(error)) from error
        finally:
            self._socket.settimeout(_ANSWER_SECONDS)
        return self._requests.pop(0)

    def _take(self, body: bytes) -> None:
        """Keep a request. Raises CodegenError E601 for what is none."""
        if not body.startswith(b"F"):
            raise self._gone(f"it answered {body[:40]!r} where the state of the target was due")
        self._requests.append(body.decode("ascii", "replace"))

    def answer(self, body: bytes) -> None:
        """Answer a request; the machine runs on. Raises CodegenError E601."""
        try:
            self._send(body)
        except OSError as error:
            raise self._gone(str(error)) from error

    def detach(self, *, is_stopped: bool = False) -> None:
        """Say that nobody debugs any more, then leave."""
        with suppress(OSError, CodegenError), nullcontext() if is_stopped else self.stopped():
            self._send(b"D")
            self._expect(b"OK")
        self.close()

    def close(self) -> None:
        """Leave; the machine keeps running."""
        self._socket.close()

    def _gone(self, what: str) -> CodegenError:
        return CodegenError(
            Message(
                code="E601",
                where=self._name,
                text=f"its debugger stub failed: {what}",
                help=self._help,
            )
        )
