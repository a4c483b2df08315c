"""`build --watch`: the same work again whenever a file changes."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from codegen.command.console import show_error
from codegen.errors import CodegenError, ExitCode, listed

_POLL_SECONDS = 0.3
_Stamp = tuple[int, int] | None


def on_change(
    files: Sequence[Path], work: Callable[[], int], sleep: Callable[[float], None] = time.sleep
) -> int:
    """Do `work` now and whenever one of `files` is another; what goes wrong is shown, and the watch goes on.

    Ctrl-C ends it: the exit code is that of the last work. A file that is being written is waited for: work
    begins when it has not changed for a moment, and is there.
    """
    while True:
        before = [_stamp(path) for path in files]
        try:
            code = work()
        except CodegenError as error:
            show_error(error)
            code = int(error.exit_code)
        click.echo(f"watching  {listed([str(path) for path in files])}  (Ctrl-C ends it)", err=True)
        try:
            _wait(files, before, sleep)
        except KeyboardInterrupt:
            click.echo("", err=True)
            return code if code else int(ExitCode.OK)


def _wait(files: Sequence[Path], before: Sequence[_Stamp], sleep: Callable[[float], None]) -> None:
    """Until they are others than before, all there, and as they were a moment ago."""
    last = before
    while True:
        sleep(_POLL_SECONDS)
        now = [_stamp(path) for path in files]
        if now != before and now == last and None not in now:
            return
        last = now


def _stamp(path: Path) -> _Stamp:
    """Time and size of a file, which differ once it changes; None while it is gone."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
