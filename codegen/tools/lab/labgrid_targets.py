"""Targets whose console and power are a driver of labgrid: its QEMUDriver, which also takes the firmware.

labgrid counts its steps in one place for all threads, so one call at a time is made into it.
"""

import importlib
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from codegen.api import CodegenError, Message, install_extra

SCHEME = "labgrid://"
DRIVER = "QEMUDriver"
_LOCK = threading.Lock()
_POLL_SECONDS = 0.005
START_SECONDS, GREETING_SECONDS = 20.0, 30.0
"""For QEMU to be there; for firmware that starts, to say so."""
_GREETING_BYTES = 4096
LIMIT_SECONDS = 30.0
"""For a call into labgrid, and for one of another target that is in the way."""


class LabgridTarget:
    """One target of an environment. Its console is the pyserial URL `labgrid://NAME`."""

    def __init__(self, name: str, target: Any, driver: Any, timeout: type[Exception]) -> None:
        """`driver`: of `target`, a console and a power switch in one. `timeout`: what its `read` raises."""
        self._name, self._target, self._driver, self._timeout = name, target, driver, timeout

    def load(self, elf: Path) -> None:
        """Start the target with `elf`. Raises CodegenError E631, E632."""

        def start() -> None:
            self._target.deactivate(self._driver)  # its command line is made when it is activated
            images = self._target.env.config.data.setdefault("images", {})
            images[self._driver.kernel] = str(elf.resolve())
            self._target.activate(self._driver)
            # labgrid waits without a limit for a QEMU that has ended, over an option that it does not know.
            self._driver._socket.settimeout(START_SECONDS)
            self._driver.on()

        self._bounded("did not start", start)
        # Nothing is said to firmware that is still starting: some UARTs of QEMU take no byte until they are
        # enabled, and then QEMU looks at the socket only when it has something else to do.
        self.read(_GREETING_BYTES, GREETING_SECONDS)
        self._bounded("does not answer", lambda: self._driver.monitor_command("query-status"))

    def cycle(self) -> None:
        """Take its power away and give it back. Raises CodegenError E631, E632."""
        self._bounded("could not be power-cycled", self._driver.cycle)

    def close(self) -> None:
        """Switch it off. Raises CodegenError E631, E632."""
        self._bounded("could not be switched off", lambda: self._target.deactivate(self._driver))

    def read(self, most: int, seconds: float | None) -> bytes:
        """Bytes of its console, as soon as there are some; nothing after `seconds`. Raises CodegenError
        E632."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            with self._alone():
                try:
                    return bytes(self._driver.read(size=most, timeout=0, max_size=most))
                except self._timeout:
                    pass
            if end is not None and time.monotonic() >= end:
                return b""
            time.sleep(_POLL_SECONDS)

    def write(self, data: bytes) -> int:
        """Say something to its console; how much of it was taken. Raises CodegenError E632."""
        with self._alone():
            try:
                return int(self._driver.write(data))
            except BlockingIOError:
                return 0

    @contextmanager
    def _alone(self) -> Generator[None]:
        if not _LOCK.acquire(timeout=LIMIT_SECONDS):
            raise self._late("labgrid is busy with another target")
        try:
            yield
        finally:
            _LOCK.release()

    def _bounded(self, what: str, work: Callable[[], None]) -> None:
        """Call labgrid in a thread of its own, which is left behind if it takes too long."""
        raised: list[Exception] = []

        def called() -> None:
            try:
                with self._alone():
                    work()
            except Exception as error:  # whatever labgrid and QEMU raise
                raised.append(error)

        thread = threading.Thread(target=called, name=f"labgrid {self._name}", daemon=True)
        thread.start()
        thread.join(2 * LIMIT_SECONDS)
        if thread.is_alive():
            raise self._late(f"labgrid's target {what}")
        for error in raised:
            words = " ".join(str(error).split()) or type(error).__name__
            raise self._failed("E631", f"labgrid's target {what}: {words}") from error

    def _late(self, what: str) -> CodegenError:
        return self._failed("E632", f"{what}: labgrid did not end within {LIMIT_SECONDS:g} s")

    def _failed(self, code: str, text: str) -> CodegenError:
        help_ = f"labgrid's {DRIVER} of this target: machine, cpu, memory and extra_args in the environment"
        return CodegenError(Message(code=code, where=self._name, text=text, help=help_))


_TARGETS: dict[str, LabgridTarget] = {}
"""By the URL of the console: pyserial's handlers get nothing else."""


def open_targets(environment: Path, names: list[str]) -> None:
    """Make the targets of these names of an environment; their consoles can be opened from now on.

    Raises CodegenError E283 without labgrid; ValueError for what labgrid refuses.
    """
    try:
        labgrid: Any = importlib.import_module("labgrid")
        timeout: type[Exception] = importlib.import_module("pexpect").TIMEOUT
    except ImportError as error:
        text = f"{', '.join(names)}: {DRIVER} is a driver of labgrid's own, and labgrid is not installed"
        help_ = install_extra("lab")
        raise CodegenError(Message(code="E283", where=str(environment), text=text, help=help_)) from error
    serial: Any = importlib.import_module("serial")
    if __package__ not in serial.protocol_handler_packages:
        serial.protocol_handler_packages.append(__package__)
    try:
        made = labgrid.Environment(str(environment))
        for name in names:
            target = made.get_target(name)
            driver = target.get_driver(DRIVER, activate=False)
            _TARGETS[f"{SCHEME}{name}"] = LabgridTarget(name, target, driver, timeout)
    except Exception as error:  # its own kinds, and those of YAML and attrs
        raise ValueError(f"labgrid refuses it: {' '.join(str(error).split())}") from error


def target_of(port: str | None) -> LabgridTarget | None:
    """The target whose console `port` is; None for every other port."""
    return None if port is None else _TARGETS.get(port)
