"""What people see: messages, progress, tables."""

import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace

import click
import msgspec
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from codegen.driver.build import Progress as Stage
from codegen.errors import CodegenError, Message
from codegen.plan.shortage import DoesNotFit, Shortage
from codegen.search import CurveProgress


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
    messages = [message.document for message in error.messages]
    document: dict[str, object] = {"exit": int(error.exit_code), "messages": messages}
    if isinstance(error, DoesNotFit):
        document["shortages"] = [_shortage(item) for item in error.shortages]
    return msgspec.json.encode({"schema": 1, "error": document}).decode()


def _shortage(item: Shortage) -> dict[str, object]:
    """The figures of an E401."""
    return {
        "pool": item.pool,
        "limit_bytes": item.limit_bytes,
        "needed_bytes": item.needed_bytes,
        "missing_bytes": item.missing_bytes,
        "lower_bound_bytes": item.bound_bytes,
        "smallest_budget_bytes": item.budget_bytes,
        "models": [{"name": name, "smallest_bytes": size} for name, size in item.models],
        "peak_step": item.step,
        "alive": [
            {"name": buffer.id, "size_bytes": buffer.size_bytes, "kind": buffer.kind.value}
            for buffer in item.alive
        ],
    }


@contextmanager
def progress(quiet: bool) -> Generator[Stage, None, None]:
    """A spinner with the name of the current work, only on a terminal's stderr."""
    console = Console(stderr=True)
    if quiet or not sys.stderr.isatty():
        yield lambda stage: None
        return
    with console.status("start") as status:
        yield lambda stage: status.update(stage)


@contextmanager
def progress_bar(stage: str, quiet: bool) -> Generator[CurveProgress, None, None]:
    """A bar that fills as pieces of work are over, only on a terminal's stderr."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(stage, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """A table on stdout; numbers right-aligned. Piped output is as wide as its content."""
    drawn = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        numeric = bool(rows) and all(
            row[index].replace(",", "").replace(".", "").strip("-%").isdigit() for row in rows
        )
        drawn.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*row)
    width = None if sys.stdout.isatty() else 200
    Console(width=width, highlight=False, markup=False).print(drawn)
