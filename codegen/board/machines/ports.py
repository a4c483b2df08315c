"""Ports: a serial device or a pyserial URL, and the UART of an emulated board."""

import errno
import fcntl
import os
import socket
import time
from collections.abc import Callable
from typing import Any

import serial

from codegen.errors import CodegenError, Message

_CHUNK_BYTES = 4096
_WRITE_SECONDS = 10.0
_POLL_SECONDS = 0.1
_BUSY = (errno.EBUSY, errno.EAGAIN)
"""Errors of opening a device that a terminal has claimed or a program has locked."""

_PERMISSION = "join the group that owns the device, then log in again: sudo usermod -a -G dialout $USER"


class SerialPort:
    """A pyserial port for `link.Link`."""

    def __init__(self, url: str, baud: int) -> None:
        """Open it, a device for this program alone. Raises CodegenError E601; E634 if another has it open."""
        self._name = url
        alone: dict[str, Any] = {} if "://" in url else {"exclusive": True}
        try:
            self._serial: Any = serial.serial_for_url(
                url, baudrate=baud, timeout=1.0, write_timeout=_WRITE_SECONDS, **alone
            )
        except (serial.SerialException, ValueError, OSError) as error:
            raise _in_use(url, error) or self._gone("cannot be opened", error) from error
        self._is_device = isinstance(self._serial, serial.Serial)

    def write(self, data: bytes) -> None:
        """Send all of `data`; raises CodegenError E601."""
        try:
            self._serial.write(data)
        except (serial.SerialException, OSError) as error:
            raise self._gone("failed", error) from error

    def read(self, timeout_seconds: float) -> bytes:
        """Read the bytes that have arrived; wait up to the timeout for the first one. Raises CodegenError
        E601."""
        try:
            self._serial.timeout = timeout_seconds
            first = self._serial.read(1)
            if not first:
                return b""
            if self._is_device:
                return first + self._serial.read(self._serial.in_waiting)
            self._serial.timeout = 0  # a URL port tells only whether anything waits, not how much
            return first + self._serial.read(_CHUNK_BYTES)
        except (serial.SerialException, OSError) as error:
            raise self._gone("failed", error) from error

    def close(self) -> None:
        """Close it; a port that is gone already is no mistake here.

        The lock goes first: a child that another thread has just forked keeps it until it runs its program.
        """
        try:
            if self._is_device and self._serial.is_open:
                fcntl.flock(self._serial.fileno(), fcntl.LOCK_UN)
            self._serial.close()
        except (serial.SerialException, OSError):
            return

    def _gone(self, what: str, error: Exception) -> CodegenError:
        return _gone(self._name, what, error)


def opened(
    url: str,
    baud: int,
    *,
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> SerialPort:
    """The port, as soon as it is there: a board that was just flashed may be gone from USB for a moment, and
    what looks at every new port (a modem manager) may hold it for another.

    Raises CodegenError: E633 it is not there after so many seconds, E634 another program has it open then.
    """
    end = clock() + seconds
    while True:
        try:
            return SerialPort(url, baud)
        except CodegenError as error:
            [message] = error.messages
            if clock() >= end:
                if message.code != "E601":
                    raise
                text = f"the port is not there (waited {seconds:g} s)"
                help_ = (
                    "is it the right port? Numbers change when a board is plugged in again: names in "
                    "/dev/serial/by-id stay. --wait SECONDS waits longer"
                )
                reason = message.text.partition(": ")[2]
                raise CodegenError(
                    Message(code="E633", where=url, text=f"{text}: {reason}", help=help_)
                ) from error
        sleep(_POLL_SECONDS)


class SocketPort:
    """The UART of an emulated board behind a TCP port of this machine, for `link.Link`.

    pyserial opens sockets too, but sleeps for 0.3 s when it closes one, longer than many a run takes.
    """

    def __init__(self, host: str, port: int, *, name: str) -> None:
        """Connect; `name` is what messages call it. Raises CodegenError E601."""
        self._name = name
        try:
            self._socket = socket.create_connection((host, port), timeout=_WRITE_SECONDS)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise _gone(name, "cannot be opened", error) from error

    def write(self, data: bytes) -> None:
        """Send all of `data`; raises CodegenError E601."""
        try:
            self._socket.settimeout(_WRITE_SECONDS)
            self._socket.sendall(data)
        except OSError as error:
            raise _gone(self._name, "failed", error) from error

    def read(self, timeout_seconds: float) -> bytes:
        """Read the bytes that have arrived; wait up to the timeout for the first one. Raises CodegenError
        E601."""
        try:
            self._socket.settimeout(max(0.0, timeout_seconds))
            data = self._socket.recv(_CHUNK_BYTES)
        except (TimeoutError, BlockingIOError):
            return b""
        except OSError as error:
            raise _gone(self._name, "failed", error) from error
        if not data:
            raise _gone(self._name, "failed", ConnectionError("socket disconnected"))
        return data

    def close(self) -> None:
        """Close it."""
        self._socket.close()


def _gone(name: str, what: str, error: Exception) -> CodegenError:
    return CodegenError(
        Message(
            code="E601",
            where=name,
            text=f"the port {what}: {_reason(error)}",
            help=_PERMISSION
            if isinstance(error, OSError) and error.errno == errno.EACCES
            else "--port takes a device you may read (/dev/ttyACM0) or a pyserial URL (socket://host:port)",
        )
    )


def _in_use(name: str, error: Exception) -> CodegenError | None:
    number = error.errno if isinstance(error, OSError) else None
    if number not in _BUSY:
        return None
    text = "the port is in use: another program has it open"
    help_ = f"end the terminal, debugger or other codegen that has it; `fuser {name}` says which"
    return CodegenError(Message(code="E634", where=name, text=text, help=help_))


def _reason(error: BaseException) -> str:
    """The reason of an error, said once. pyserial's texts repeat its number and the port, which the message
    names."""
    if isinstance(error, serial.SerialException):
        cause = error.__cause__ or error.__context__
        if isinstance(cause, OSError):
            return _reason(cause)
        return os.strerror(error.errno) if error.errno else str(error)
    return str(getattr(error, "strerror", None) or error)
