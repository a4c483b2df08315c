"""Output whose reader may go away (`codegen run | head`): the rest is dropped, the exit code stays.

A file on a full disk (`codegen plan --json > FILE`) drops the rest too, but that is told: `full_output`.
"""

import io
import os
import sys
from typing import Any

from codegen.disk import is_full


class _Dropping(io.FileIO):
    """A descriptor that writes to nobody once its pipe is broken or its disk is full."""

    full: OSError | None = None

    def write(self, data: Any, /) -> int | None:
        """Write, or drop."""
        try:
            return super().write(data)
        except BrokenPipeError:
            return self._drop(data)
        except OSError as error:
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
    sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw.full if isinstance(raw, _Dropping) else None


def drop_broken_output() -> None:
    """Let the process's stdout and stderr drop what nobody reads; streams that others put there stay."""
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
