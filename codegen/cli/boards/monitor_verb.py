"""The verb `monitor`."""

import time

import click

from codegen import board as catalogue
from codegen.board.flashing import baud_of
from codegen.board.link.listening import Listener
from codegen.board.machines.ports import opened
from codegen.board.machines.reaching import reach
from codegen.cli.boards.tool_flags import BAUD, REAL_PORT, WAIT
from codegen.cli.verb_table import VERBS
from codegen.command.flags import CONFIG
from codegen.command.option_table import ROWS, GroupedVerb, option
from codegen.errors import ExitCode

_READ_SECONDS = 0.25
"""Silence after which text without an end of line is shown."""


@click.command(cls=GroupedVerb, help=VERBS["monitor"].help)
@option(ROWS["board"])
@REAL_PORT
@BAUD
@WAIT
@click.option(
    "--send", "texts", multiple=True, metavar="TEXT", help="Send this first; may be given several times."
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="End after so long; else Ctrl-C ends it.",
)
@CONFIG
def monitor(
    board: str | None,
    port: str | None,
    baud: int | None,
    wait_seconds: float,
    texts: tuple[str, ...],
    seconds: float | None,
) -> int:
    """`codegen monitor`."""
    if port is None:
        raise click.UsageError("--port says where the board is, for example --port /dev/ttyACM0")
    if board is None and baud is None:
        raise click.UsageError("--board, or --baud, says how fast the port is")
    if board is None:
        serial = opened(port, baud or 0, seconds=wait_seconds)
    else:
        known = catalogue.load_board(board)
        serial = reach(known, port, baud_of(known, baud), wait_seconds=wait_seconds)
    end = None if seconds is None else time.monotonic() + seconds
    listener = Listener()
    try:
        for text in texts:
            serial.write(text.encode())
        while end is None or time.monotonic() < end:
            data = serial.read(_READ_SECONDS)
            for line in listener.feed(data) if data else listener.rest():
                click.echo(line)
    except KeyboardInterrupt:
        click.echo("", err=True)
    finally:
        serial.close()
    return ExitCode.OK
