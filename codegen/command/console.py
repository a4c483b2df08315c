"""Messages, progress and tables on the terminal. Rich is imported where it draws."""

import shutil
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from codegen.errors import CodegenError, ExitCode, Message
from codegen.progress import Progress, silent

if TYPE_CHECKING:
    from rich.progress import Progress as Display


PIPED_WIDTH = 200
"""Columns of what is no terminal."""


def show_error(error: CodegenError) -> None:
    """Every message on stderr, plain where stderr is not a terminal."""
    for message in error.messages:
        _show(message, "error", "red")


def show_warnings(messages: Iterable[Message]) -> None:
    """Messages that stopped nothing, on stderr, with --quiet and --json too."""
    for message in messages:
        _show(message, "warning", "yellow")


def _show(message: Message, kind: str, colour: str) -> None:
    label, separator, rest = str(replace(message, help=None)).partition("]")
    label = label.replace("error", kind, 1) + separator
    click.echo(click.style(label, fg=colour, bold=True) + rest, err=True)
    if message.help:
        click.echo(click.style("help", fg="cyan") + f": {message.help}", err=True)


def json_error(error: CodegenError) -> str:
    """The failure as the one JSON document on stdout."""
    return failure_document(error.exit_code, error.messages, error.figures)


def failure_document(
    exit_code: ExitCode, messages: Iterable[Message], more: Mapping[str, object] | None = None
) -> str:
    """The one JSON document of a command that ends so; `more`: figures of the failure, by key."""
    import msgspec

    documents = [message.document for message in messages]
    error = {"exit": int(exit_code), "messages": documents, **(more or {})}
    return msgspec.json.encode({"schema": 1, "error": error}).decode()


@contextmanager
def progress(quiet: bool) -> Generator[Progress, None, None]:
    """The current work and its counts, on a line that goes when it is over: only on a terminal's stderr."""
    if quiet or not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Display

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=24))
    with Display(*columns, console=Console(stderr=True), transient=True) as display:
        yield _Shown(display).tell


class _Shown:
    """The one line of a display."""

    def __init__(self, display: "Display") -> None:
        self._display = display
        self._task = display.add_task("start", total=None)
        self._work: tuple[str, int | None] = "start", None

    def tell(self, stage: str, done: int = 0, total: int | None = None) -> None:
        """A `Progress`. Without a total the bar moves to and fro."""
        text = " ".join([stage, *_counts(done, total)])
        if self._work == (stage, total):
            self._display.update(self._task, description=text, completed=done)
            return
        # A task that has a total does not lose it again.
        self._display.remove_task(self._task)
        self._task = self._display.add_task(text, completed=done, total=total)
        self._work = stage, total


def _counts(done: int, total: int | None) -> list[str]:
    """`3 of 12`, `41` where nobody knows of how many, nothing where nothing is counted."""
    if total is not None:
        return [f"{done:,} of {total:,}"]
    return [f"{done:,}"] if done else []


def table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """A table on stdout; numbers right-aligned. Piped output is as wide as its content."""
    from rich.console import Console
    from rich.table import Table

    drawn = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        numeric = bool(rows) and all(
            row[index].replace(",", "").replace(".", "").strip("-%").isdigit() for row in rows
        )
        drawn.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*row)
    width = None if sys.stdout.isatty() else PIPED_WIDTH
    Console(width=width, highlight=False, markup=False).print(drawn)


def table_with_tail(columns: list[str], rows: list[list[str]], width: int | None = None) -> None:
    """A table whose last column is words: where a terminal has no room for them, they go below their row.

    No word is broken. `width`: columns of the terminal; by default those of this one.
    """
    if width is None:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPED_WIDTH
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
    for row in (columns, *rows):
        cells = [
            cell.ljust(size) if index == 1 else cell.rjust(size)
            for index, (cell, size) in enumerate(zip(row[:-1], widths[:-1], strict=True))
        ]
        line = "  ".join(cells)
        fits = sum(widths) + 2 * (len(widths) - 1) <= width
        click.echo(f"{line}  {row[-1]}".rstrip() if fits else line.rstrip())
        if not fits and row[-1]:
            click.echo(f"{' ' * (widths[0] + 2)}{row[-1]}")
