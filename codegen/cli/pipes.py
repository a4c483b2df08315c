"""Output whose reader may go away (`codegen run | head`): the rest is dropped, the exit code stays."""

import io
import os
import sys
from typing import Any


class _Dropping(io.FileIO):
    """A descriptor that writes to nobody once its pipe is broken."""

    def write(self, data: Any, /) -> int | None:
        """Write, or drop."""
        try:
            return super().write(data)
        except BrokenPipeError:
            nobody = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nobody, self.fileno())
            os.close(nobody)
            return memoryview(data).nbytes


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
