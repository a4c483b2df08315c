"""Ports: a serial device or a pyserial URL."""

from typing import Any

import serial

from codegen.errors import CodegenError, Message

_CHUNK_BYTES = 4096


class SerialPort:
    """A pyserial port for `link.Link`; `name` is what messages call it."""

    def __init__(self, url: str, baud: int, *, name: str | None = None) -> None:
        """Open it. Raises CodegenError E601."""
        self._name = name or url
        try:
            self._serial: Any = serial.serial_for_url(url, baudrate=baud, timeout=1.0, write_timeout=10.0)
        except (serial.SerialException, ValueError, OSError) as error:
            raise self._gone("cannot be opened", error) from error
        self._is_device = isinstance(self._serial, serial.Serial)

    def write(self, data: bytes) -> None:
        """Send all of `data`; raises CodegenError E601."""
        try:
            self._serial.write(data)
        except (serial.SerialException, OSError) as error:
            raise self._gone("failed", error) from error

    def read(self, timeout_seconds: float) -> bytes:
        """What has arrived; waits up to the timeout for the first byte. Raises CodegenError E601."""
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
        """Close it; a port that is gone already is no mistake here."""
        try:
            self._serial.close()
        except (serial.SerialException, OSError):
            return

    def _gone(self, what: str, error: Exception) -> CodegenError:
        return CodegenError(
            Message(
                code="E601",
                where=self._name,
                text=f"the port {what}: {error}",
                help="--port takes a device you may read (/dev/ttyACM0) or a pyserial URL (socket://host:port)",
            )
        )
