"""The verbs `flash` and `reset`."""

from pathlib import Path

import click

from codegen import board as catalogue
from codegen.board.attached import answering
from codegen.board.flashing import ELF, FlashTool, SerialLine, baud_of
from codegen.board.flashing import flash as flash_board
from codegen.cli.boards.tool_flags import BAUD, REAL_PORT, check_same_board, show_commands, tool_flags
from codegen.cli.verb_table import VERBS
from codegen.command.console import progress
from codegen.command.flags import CONFIG
from codegen.command.option_table import ROWS, GroupedVerb, option
from codegen.driver.built_report import read_report
from codegen.driver.inputs.files import example_model
from codegen.errors import CodegenError, ExitCode, Message
from codegen.report_file import typed

_DRY_RUN = click.option("--dry-run", is_flag=True, help="Print the exact commands; run none of them.")
_QUIET = click.option("-q", "--quiet", is_flag=True, help="No progress, no summary.")


@click.command(cls=GroupedVerb, help=VERBS["flash"].help)
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@click.option("--board", "asked", metavar="BOARD", help="The board it must be for (name or file).")
@REAL_PORT
@BAUD
@tool_flags
@_DRY_RUN
@_QUIET
def flash(
    folder: Path | None,
    asked: str | None,
    port: str | None,
    baud: int | None,
    tool: FlashTool,
    dry_run: bool,
    quiet: bool,
) -> int:
    """`codegen flash`."""
    source = folder or Path("out") / example_model().stem
    built = typed(read_report(source))
    if built.board is None or built.build is None:
        text, help_ = "its report.json is of a plan: there is no firmware", "codegen build writes one"
        raise CodegenError(Message(code="E638", where=str(source), text=text, help=help_))
    board = catalogue.load_board(built.board.requested if asked is None else asked)
    check_same_board(source, built.board.name, board)
    elf = source / ELF
    if not elf.is_file():
        text = f"there is no {ELF} in it"
        help_ = "codegen build writes it, unless it says that there is no room for the test firmware"
        raise CodegenError(Message(code="E638", where=str(source), text=text, help=help_))
    if dry_run:
        show_commands(tool.loading(board, elf, shown=True))
        return ExitCode.OK
    with progress(quiet) as stage:
        line = None if port is None else SerialLine(port=port, baud=baud)
        ran = flash_board(board, elf, built.build.sha256, tool, line=line, progress=stage)
    if not quiet:
        show_commands(ran)
        click.echo(f"flashed   {elf}  ({board.name}, build {built.build.sha256[:12]})")
        if port is not None:
            click.echo(f"answers   {port}  (the same build)")
    return ExitCode.OK


@click.command(cls=GroupedVerb, help=VERBS["reset"].help)
@option(ROWS["board"])
@REAL_PORT
@BAUD
@tool_flags
@CONFIG
@_DRY_RUN
@_QUIET
def reset(
    board: str | None, port: str | None, baud: int | None, tool: FlashTool, dry_run: bool, quiet: bool
) -> int:
    """`codegen reset`."""
    if board is None:
        raise click.UsageError("--board says which board it is (`codegen boards`)")
    known = catalogue.load_board(board)
    commands = tool.resetting(known, shown=dry_run)
    if dry_run:
        show_commands(commands)
        return ExitCode.OK
    with progress(quiet) as stage:
        tool.work(commands, loading=False, progress=stage)
        firmware = None
        if port is not None:
            stage(f"wait for {port}")
            firmware = answering(known, port, baud_of(known, baud), seconds=tool.wait_seconds)
    if not quiet:
        show_commands(commands)
        click.echo(f"reset     {known.name}")
        if firmware is not None:
            click.echo(f"answers   {port}  (board {firmware.board}, build {firmware.build_sha256[:12]})")
    return ExitCode.OK
