"""`codegen sweep`: flags, and the tables that people see."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import get_args

import click
import msgspec

from codegen.api import (
    CodegenError,
    ExitCode,
    GroupedVerb,
    Message,
    Messages,
    Optimize,
    Options,
    existing,
    load_board,
    model_flags,
    progress,
    table,
    write_file,
)
from codegen.tools.sweep import TOOL
from codegen.tools.sweep.combination_results import Result, best, write_tables
from codegen.tools.sweep.jobs import Until, combinations, limits_of
from codegen.tools.sweep.sweep_page import sweep_page
from codegen.tools.sweep.sweeping import Swept
from codegen.tools.sweep.sweeping import sweep as sweep_all

_WRONG = (ExitCode.BUG, ExitCode.DIFFERS, ExitCode.PEAK)
"""Exit codes that a combination may not end with; that one does not fit is a result."""


@click.command(cls=GroupedVerb, help=TOOL.verbs["sweep"].help)
@click.argument("models", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="MODEL...")
@click.option("--boards", multiple=True, metavar="NAME,NAME...", help="Boards; may be given several times.")
@click.option(
    "--optimize",
    "levels",
    multiple=True,
    metavar="LEVEL,LEVEL...",
    help="What builds favour: speed, balanced, size.  [default: balanced]",
)
@click.option(
    "--pool",
    "limits",
    multiple=True,
    metavar="NAME=LOW..HIGH[:STEP]",
    help="Limits of a pool: each twice the one before, or in steps; NAME=BYTES is one limit.",
)
@click.option(
    "--until", type=click.Choice(get_args(Until)), default="run", show_default=True, help="The last stage."
)
@click.option(
    "-o",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("out/sweep"),
    show_default=True,
    metavar="DIR",
    help="Folder of the results.",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="Local worker processes."
)
@click.option("--scheduler", metavar="ADDRESS", help="Workers of a Dask cluster instead, as tcp://host:8786.")
@model_flags(without=("board", "optimize", "pool", "app_elf", "dump_ir"))
@click.option("--json", "as_json", is_flag=True, help="Print all results as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but messages.")
def sweep(
    models: tuple[Path, ...],
    boards: tuple[str, ...],
    levels: tuple[str, ...],
    limits: tuple[str, ...],
    until: Until,
    folder: Path,
    jobs: int,
    scheduler: str | None,
    options: Options,
    as_json: bool,
    quiet: bool,
) -> int:
    """`codegen sweep`."""
    asked = combinations(
        *_named(models, boards, levels),
        limits=_limits(limits),
        options=options,
        until=until,
    )
    with progress(quiet or as_json) as stage:
        swept = sweep_all(asked, folder, jobs=jobs, scheduler=scheduler, progress=stage)
    page = folder / "sweep.html"
    write_file(page, sweep_page(swept.results).encode())
    written = (*write_tables(swept.results, folder), page)
    if as_json:
        rows = [msgspec.to_builtins(result) for result in swept.results]
        click.echo(msgspec.json.format(msgspec.json.encode({"executed": swept.executed, "results": rows})))
    elif not quiet:
        _show(swept, written)
    codes = (result.exit_code for result in swept.results)
    return max((code for code in codes if code in _WRONG), default=ExitCode.OK)


def _limits(words: Sequence[str]) -> Mapping[str, Sequence[int]]:
    """Limits by pool. Raises CodegenError E203 for a word that is none, and for a pool that has two."""
    pools = [limits_of(word) for word in words]
    twice = [name for name, count in Counter(name for name, _ in pools).items() if count > 1]
    if twice:
        help_ = "a pool has one range of limits: leave the one that is meant"
        raise CodegenError(Message(code="E203", text=f"--pool: {', '.join(twice)} has several", help=help_))
    return dict(pools)


def _named(
    models: Sequence[Path], boards: Sequence[str], optimize: Sequence[str]
) -> tuple[list[Path], list[str], list[Optimize]]:
    """Models, boards and levels by their words; all mistakes at once."""
    messages = Messages()
    for path in models:
        _collect(messages, lambda path=path: existing(path))
    names = _words(boards) or ["stm32"]
    for name in names:
        _collect(messages, lambda name=name: load_board(name))
    levels: list[Optimize] = []
    for word in _words(optimize) or ["balanced"]:
        named: Optimize | None = next((level for level in get_args(Optimize) if level == word), None)
        if named is None:
            text = f"--optimize {word}: it is one of {', '.join(get_args(Optimize))}"
            messages.add("E201", text, help="several are apart by commas")
        else:
            levels.append(named)
    messages.raise_if_any()
    return list(models), names, levels


def _collect(messages: Messages, look: Callable[[], object]) -> None:
    try:
        look()
    except CodegenError as error:
        for message in error.messages:
            messages.take(message)


def _words(texts: Sequence[str]) -> list[str]:
    """Words apart by commas, each once."""
    return list(dict.fromkeys(word for text in texts for word in text.split(",") if word))


def _show(swept: Swept, written: Sequence[Path]) -> None:
    results = swept.results
    known = len(results) - swept.executed
    click.echo(f"combinations  {len(results):,}: {swept.executed:,} done now, {known:,} known before")
    front = best(results)
    if front:
        click.echo("")
        click.echo("no other of its model and board has less RAM, flash and instructions:")
        columns = ["model", "board", "optimize", "limits", "RAM", "flash", "instructions"]
        table("", columns, [_row(result) for result in front])
    failed = [result for result in results if not result.is_ok]
    if failed:
        click.echo("")
        reasons = Counter(
            (result.code, result.message.splitlines()[0] if result.message else "") for result in failed
        )
        click.echo("not done:")
        table(
            "",
            ["code", "combinations", "first line of the message"],
            [[code, f"{count:,}", text[:110]] for (code, text), count in reasons.most_common(12)],
        )
    click.echo("")
    click.echo(f"written   {', '.join(map(str, written))}")


def _row(result: Result) -> list[str]:
    figures = (result.ram_bytes, result.flash_bytes, result.instructions)
    shown = ["-" if figure is None else f"{figure:,}" for figure in figures]
    return [Path(result.model).stem, result.board, result.optimize, result.limits or "-", *shown]
