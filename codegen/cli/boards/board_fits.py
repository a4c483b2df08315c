"""`codegen boards --fit MODEL`: every board by what the model takes of it, fastest first."""

from collections.abc import Sequence
from pathlib import Path

import click

from codegen.command.console import progress, table
from codegen.documents import to_json
from codegen.driver.board_fit import BoardFit, rank_boards
from codegen.driver.report.summary_sentence import amount
from codegen.errors import counted
from codegen.ir import Board
from codegen.targets.families import family_of

_NONE = "-"


def show_fits(model: Path, *, among: Sequence[Board] | None, as_json: bool) -> None:
    """Rank the boards and print them: a table of those that fit, then one of what the others lack."""
    with progress(as_json) as stage:
        fits = rank_boards(model, among=among, progress=stage)
    if as_json:
        click.echo(
            to_json({"schema": 1, "model": model.name, "boards": [fit.document for fit in fits]}), nl=False
        )
        return
    good, short = [fit for fit in fits if fit.fits], [fit for fit in fits if not fit.fits]
    if good:
        columns = ["board", "core", "RAM bytes", "%", "flash bytes", "%", "ms", "mJ"]
        table(f"{model.name} fits {counted(len(good), 'board')}", columns, [_row(fit) for fit in good])
    if short:
        columns = ["board", "lacks RAM", "has", "lacks flash", "has"]
        click.echo()
        table(f"does not fit {counted(len(short), 'board')}", columns, [_short_row(fit) for fit in short])
    click.echo("\nflash is constants, without code; ms and mJ are estimates at the rated clock;")
    click.echo(f"{_NONE}: no published timings of the core, or no published current (docs/cycles.md)")


def _row(fit: BoardFit) -> list[str]:
    ram, flash = fit.ram_bytes or 0, fit.flash_bytes or 0
    return [
        fit.board,
        fit.cpu.removeprefix(family_of(fit.cpu).cores.prefix),
        f"{ram:,}",
        f"{100 * ram / fit.ram_limit_bytes:.1f}",
        f"{flash:,}",
        f"{100 * flash / fit.flash_limit_bytes:.1f}",
        _NONE if fit.milliseconds is None else amount(fit.milliseconds),
        _NONE if fit.microjoules is None else amount(fit.microjoules / 1000),
    ]


def _short_row(fit: BoardFit) -> list[str]:
    return [
        fit.board,
        f"{fit.missing_ram_bytes:,}" if fit.missing_ram_bytes else _NONE,
        f"{fit.ram_limit_bytes:,}",
        f"{fit.missing_flash_bytes:,}" if fit.missing_flash_bytes else _NONE,
        f"{fit.flash_limit_bytes:,}",
    ]
