"""The deadline of one planning, which all of its searches share."""

import time


class Clock:
    """When searches have to end. What they spend is counted all the same; the clock is a safety stop."""

    def __init__(self, seconds: float | None = None) -> None:
        """`seconds` from now on; None: never."""
        self._end = None if seconds is None else time.monotonic() + seconds
        self.cut = False
        """True if a search was told to end: its result need not repeat."""

    def late(self) -> bool:
        """True if the deadline has passed: searches end with the best they know."""
        self.cut = self.cut or (self._end is not None and time.monotonic() > self._end)
        return self.cut

    def left(self) -> float | None:
        """Seconds until the end, 0.0 once it is over; None: there is no end."""
        return None if self._end is None else max(self._end - time.monotonic(), 0.0)
