"""How long work tells what it does: one value that callers hand down, and that shows nothing by default."""

from typing import Protocol


class Progress(Protocol):
    """Told of each piece of work as it starts, and as its parts are over."""

    def __call__(self, stage: str, done: int = 0, total: int | None = None) -> None:
        """`stage`: its name. `done`: parts that are over, 0 where none are counted. `total`: how many there
        are, None where nobody knows."""
        ...


def silent(stage: str, done: int = 0, total: int | None = None) -> None:
    """A `Progress` that shows nothing."""
    del stage, done, total


class Tally:
    """Counts the parts of one stage where nobody knows how many there will be."""

    def __init__(self, progress: Progress = silent, stage: str = "") -> None:
        self._progress, self._stage = progress, stage
        self.done = 0

    def add(self) -> None:
        """One part more is over."""
        self.done += 1
        self._progress(self._stage, self.done)
