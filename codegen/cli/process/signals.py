"""Signals that end a command: SIGTERM and SIGHUP unwind it as Ctrl-C does, so that nothing is left behind."""

import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

_NAMES = ("SIGTERM", "SIGHUP")
"""Windows lacks the second."""


class EndedBySignal(BaseException):
    """Unwinds the command; like KeyboardInterrupt nothing on the way takes it for an error."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def name(self) -> str:
        """Name of the signal, as in SIGTERM."""
        return signal.Signals(self.number).name

    @property
    def status(self) -> int:
        """The exit status that shells give a process that the signal ended."""
        return 128 + self.number


@contextmanager
def unwound_by_signals() -> Generator[None]:
    """Within, a signal that would end the process raises EndedBySignal; one that nohup ignores stays so."""
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    process = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        del frame
        if os.getpid() != process:  # a child that has our handlers ends as it would have
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        for one in taken:  # what is cleaned up from here on is not stopped half-way
            signal.signal(one, signal.SIG_IGN)
        raise EndedBySignal(number)

    for number in taken:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
