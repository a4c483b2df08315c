"""pyserial's handler of `labgrid://NAME`: the console of a target of labgrid (`labgrid_targets`)."""

from typing import Any, cast

import serial

from codegen.tools.lab.labgrid_targets import LabgridTarget, target_of


class Serial(cast("Any", serial).SerialBase):
    """A port as pyserial has them; there is no rate to set."""

    _target: LabgridTarget

    def open(self) -> None:
        """Find the target. Raises SerialException if there is none of the port's name."""
        target = target_of(self.portstr)
        if target is None:
            raise serial.SerialException(f"{self.portstr}: no such target in this lab")
        self._target = target
        self.is_open = True

    def close(self) -> None:
        """The target keeps running."""
        self.is_open = False

    def read(self, size: int = 1) -> bytes:
        """At most `size` bytes, as soon as there are any."""
        return self._target.read(size, self.timeout)

    def write(self, b: bytes) -> int:
        """All of it."""
        left = bytes(b)
        while left:
            left = left[self._target.write(left) :]
        return len(b)

    def _reconfigure_port(self) -> None:
        """Nothing: a console has no rate."""
