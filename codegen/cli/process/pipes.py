"""Output whose reader may go away (`codegen run | head`) or was never there: dropped, the exit code stays.

A file on a full disk (`codegen plan --json > FILE`) drops the rest too, but that is told: `full_output`.
"""

import errno
import io
import os
import sys
from typing import Any

from codegen.disk import is_full

_STDERR = 2
_GONE = {errno.EPIPE, errno.EIO, errno.EBADF}
"""Errors of a write without a reader: a closed pipe, terminal or descriptor."""


class _Dropping(io.FileIO):
    """A descriptor that writes to nobody once its reader is gone or its disk is full."""

    full: OSError | None = None

    def write(self, data: Any, /) -> int | None:
        """Write, or drop."""
        try:
            return super().write(data)
        except OSError as error:
            if error.errno in _GONE:
                return self._drop(data)
            if not is_full(error):
                raise
            self.full = error
            return self._drop(data)

    def _drop(self, data: Any) -> int:
        nobody = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nobody, self.fileno())
        os.close(nobody)
        return memoryview(data).nbytes


def full_output() -> OSError | None:
    """Why stdout, a file on a full disk, has not all that was printed; None if it has."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        return None
    sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw.full if isinstance(raw, _Dropping) else None


def _open_closed() -> None:
    """Put nobody behind standard descriptors that are closed (`>&-`, daemons): files would get their numbers,
    and what is printed would go there."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        os.set_inheritable(number, True)
    os.close(number)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None and getattr(sys, f"__{name}__") is None:
            mode = "w" if number else "r"
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def drop_broken_output() -> None:
    """Let the process's stdout and stderr drop what nobody reads; streams that others put there stay."""
    _open_closed()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and stream is getattr(sys, f"__{name}__"):
            stream.flush()
            raw = _Dropping(stream.fileno(), "w", closefd=False)
            dropping = io.TextIOWrapper(
                io.BufferedWriter(raw),
                encoding=stream.encoding,
                errors=stream.errors,
                line_buffering=stream.line_buffering,
                write_through=name == "stderr",
            )
            setattr(sys, name, dropping)
