"""Workers of a sweep that die while it runs."""

import multiprocessing
import os
import signal
from collections.abc import Collection


class Killing:
    """A `Progress` that kills a worker when so many results have come."""

    def __init__(self, at: Collection[int]) -> None:
        self._at = set(at)
        self.killed = 0

    def __call__(self, stage: str, done: int = 0, total: int | None = None) -> None:
        assert stage == "sweep" and done <= (total or 0)
        workers = multiprocessing.active_children()
        if done in self._at and workers:
            assert workers[0].pid is not None
            os.kill(workers[0].pid, signal.SIGKILL)
            self.killed += 1
