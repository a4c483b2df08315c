"""Memory of an emulated board, written through QEMU's debugger stub: a UART takes each byte by itself.

Source: the GDB manual, appendix "Remote Serial Protocol" (packets, `c`, `M`, interrupts, stop replies).
"""

import socket
from collections.abc import Callable

from codegen.errors import CodegenError, Message

_PACKET_BYTES = 1536
"""Of memory in one packet: in hexadecimal, with its head, it stays below the 4,096 that QEMU takes."""
_ANSWER_SECONDS = 30.0
_INTERRUPT = b"\x03"


class Debugger:
    """A connection to the stub. The machine runs, except within `write`."""

    def __init__(self, host: str, port: int, *, name: str, wake: Callable[[], None]) -> None:
        """Connect to a stub whose machine has not started yet, and wait until it knows: it stops the machine
        when it does. `wake`: in front of each use, as the emulator may sleep. Raises CodegenError E601."""
        self._name, self._received, self._wake = name, b"", wake
        try:
            self._socket = socket.create_connection((host, port), timeout=_ANSWER_SECONDS)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._send(b"?")
            self._expect(b"T")
        except OSError as error:
            raise self._gone(str(error)) from error

    def write(self, address: int, data: bytes) -> None:
        """Stop the machine, write `data` from `address` on, let it run again. Raises CodegenError E601."""
        self._wake()
        try:
            self._socket.sendall(_INTERRUPT)
            self._expect(b"T")
            for offset in range(0, len(data), _PACKET_BYTES):
                part = data[offset : offset + _PACKET_BYTES]
                self._send(f"M{address + offset:x},{len(part):x}:{part.hex()}".encode())
                self._expect(b"OK")
            self._send(b"c")
        except OSError as error:
            raise self._gone(str(error)) from error

    def _send(self, body: bytes) -> None:
        self._socket.sendall(b"$%s#%02x" % (body, sum(body) & 0xFF))

    def _expect(self, start: bytes) -> None:
        """The next packet, which begins so, acknowledged."""
        body = self._packet()
        self._socket.sendall(b"+")
        if not body.startswith(start):
            raise self._gone(f"it answered {body[:40]!r} where {start!r} was due")

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

    def close(self) -> None:
        """Leave; the machine keeps running."""
        self._socket.close()

    def _gone(self, what: str) -> CodegenError:
        return CodegenError(
            Message(
                code="E601",
                where=self._name,
                text=f"its debugger stub failed: {what}",
                help="see `codegen doctor`",
            )
        )
