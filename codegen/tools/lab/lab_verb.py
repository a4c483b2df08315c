"""`codegen lab list` and `codegen lab run`: flags, the live table, and what is written."""

import sys
import threading
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.live import Live
from rich.table import Table

from codegen.api import (
    CodegenError,
    ExitCode,
    GroupedVerb,
    Message,
    Messages,
    Options,
    counted,
    existing,
    load_board,
    model_flags,
    table,
    write_file,
)
from codegen.tools.lab import TOOL
from codegen.tools.lab.inventory import Lab, LabBoard, read_lab
from codegen.tools.lab.job import Bench
from codegen.tools.lab.junit import junit
from codegen.tools.lab.lab_page import lab_page
from codegen.tools.lab.results import JobResult, State, exit_code_of
from codegen.tools.lab.working import Told, run_lab

_LAB = click.option(
    "--lab",
    "inventory",
    type=click.Path(path_type=Path),
    default=Path("lab.toml"),
    show_default=True,
    envvar="CODEGEN_LAB",
    metavar="FILE",
    help="The boards: lab.toml, or a labgrid environment (.yaml).",
)
_SHOWN = 110


@click.group(help=TOOL.verbs["lab"].help)
def lab() -> None:
    """`codegen lab`."""


@lab.command("list", help="List the boards of the lab: kind, port and whether it is there, probe, power.")
@_LAB
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout and nothing else.")
def list_boards(inventory: Path, as_json: bool) -> int:
    """`codegen lab list`."""
    places = _read(inventory).board
    if as_json:
        rows = [msgspec.to_builtins(place) | {"there": _there(place)} for place in places]
        click.echo(msgspec.json.encode({"schema": 1, "boards": rows}))
        return ExitCode.OK
    columns = ["name", "board", "port", "there", "probe", "power"]
    table("", columns, [_row(place) for place in places])
    return ExitCode.OK


@lab.command(
    "run", cls=GroupedVerb, help="Run every MODEL on every board of the lab, boards at the same time."
)
@click.argument("models", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="MODEL...")
@_LAB
@click.option(
    "--boards", multiple=True, metavar="NAME,NAME...", help="Only these: names, or kinds of boards."
)
@click.option(
    "-o",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("out/lab"),
    show_default=True,
    metavar="DIR",
    help="Folder of builds and results.",
)
@model_flags(without=("board", "app_elf", "dump_ir"))
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout and nothing else.")
@click.option("-q", "--quiet", is_flag=True, help="No progress, no summary.")
def run_models(
    models: tuple[Path, ...],
    inventory: Path,
    boards: tuple[str, ...],
    folder: Path,
    options: Options,
    as_json: bool,
    quiet: bool,
) -> int:
    """`codegen lab run`."""
    places = _read(inventory).chosen([word for text in boards for word in text.split(",") if word])
    _check_models(models)
    with _live(places, len(models), quiet or as_json) as told:
        results = run_lab(models, places, Bench(folder, options), told)
    document = {"schema": 1, "results": [msgspec.to_builtins(result) for result in results]}
    text = msgspec.json.format(msgspec.json.encode(document)) + b"\n"
    written = [folder / name for name in ("lab.json", "lab.xml", "lab.html")]
    contents = (text, junit(results), lab_page(results, places).encode())
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in zip(written, contents, strict=True):
        write_file(path, content)
    if as_json:
        click.echo(text, nl=False)
    elif not quiet:
        _show(results, places, written)
    return exit_code_of(results)


def _read(inventory: Path) -> Lab:
    return read_lab(
        existing(inventory, "a lab.toml (docs/guides/labs.md has one), or of a labgrid environment")
    )


def _check_models(models: Sequence[Path]) -> None:
    """Raise CodegenError E204 for all files that are not there, E205 for two whose builds would be one."""
    messages = Messages()
    for path in models:
        try:
            existing(path)
        except CodegenError as error:
            for message in error.messages:
                messages.take(message)
    for name, count in Counter(path.stem for path in models).items():
        if count > 1:
            help_ = "a build is called as its model file: rename one"
            messages.take(Message(code="E205", text=f"{count} models are called {name}", help=help_))
    messages.raise_if_any()


def _there(place: LabBoard) -> bool | None:
    """True if its device is there; None where only opening it would tell."""
    if place.port is None or "://" in place.port:
        return None
    return Path(place.port).exists()


def _row(place: LabBoard) -> list[str]:
    there = {True: "yes", False: "no", None: "-"}[_there(place)]
    port = place.port or "QEMU"
    return [
        place.name,
        load_board(place.board).name,
        port,
        there,
        place.probe or "-",
        place.power_cycle or "-",
    ]


def _show(results: Sequence[JobResult], places: Sequence[LabBoard], written: Sequence[Path]) -> None:
    columns = ["model", "board", "state", "RAM", "flash", "instructions", "cycles", "then"]
    rows = [
        [
            Path(result.model).stem,
            result.board,
            str(result.state),
            *("-" if value is None else f"{value:,}" for value in _figures(result)),
            result.recovery or "-",
        ]
        for result in results
    ]
    table("", columns, rows)
    failed = [result for result in results if result.message]
    if failed:
        click.echo("")
        for result in failed:
            first = result.message.partition("\n")[0]
            click.echo(f"{Path(result.model).stem} on {result.board}: {first[:_SHOWN]}")
    passed = sum(result.state is State.PASSED for result in results)
    click.echo("")
    boards = counted(len(places), "board")
    click.echo(f"jobs      {len(results):,} on {boards}: {passed:,} passed")
    click.echo(f"written   {', '.join(map(str, written))}")


def _figures(result: JobResult) -> tuple[int | None, ...]:
    return (result.ram_bytes, result.flash_bytes, result.instructions, result.cycles)


class _Table:
    """Work of all boards as a table that rich draws again and again. Boards tell it from their threads."""

    def __init__(self, places: Sequence[LabBoard], jobs: int) -> None:
        self._jobs = jobs
        self._lock = threading.Lock()
        self._doing = {place.name: "start" for place in places}
        self._counts: dict[str, Counter[State]] = {place.name: Counter() for place in places}

    def at(self, place: LabBoard, what: str) -> None:
        """Note what the board does now."""
        with self._lock:
            self._doing[place.name] = what

    def done(self, result: JobResult) -> None:
        """A job is over."""
        with self._lock:
            self._counts[result.board][result.state] += 1

    def __rich__(self) -> Table:
        drawn = Table(box=None, pad_edge=False, header_style="bold")
        for column in ("board", "jobs", "now", "results"):
            drawn.add_column(column)
        with self._lock:
            for name, what in self._doing.items():
                counts = self._counts[name]
                words = ", ".join(f"{counts[state]} {state}" for state in State if counts[state])
                drawn.add_row(name, f"{counts.total()} of {self._jobs}", what, words)
        return drawn


@contextmanager
def _live(places: Sequence[LabBoard], jobs: int, quiet: bool) -> Generator[Told | None]:
    """A table of the boards while they work: only on a terminal's stderr."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    shown = _Table(places, jobs)
    with Live(shown, console=Console(stderr=True), transient=True, refresh_per_second=4):
        yield shown
