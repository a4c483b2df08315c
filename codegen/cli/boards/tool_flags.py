"""The flags about flash tools, as several verbs have them, and what is done with them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from codegen import board as catalogue
from codegen.board.flash.commands import Commands
from codegen.board.flash.tool_calls import LOAD_SECONDS, WAIT_SECONDS, FlashTool
from codegen.board.flash.tools import TOOLS
from codegen.errors import CodegenError, Message
from codegen.ir import Board
from codegen.progress import Progress

if TYPE_CHECKING:
    from codegen.driver.build import Built

Verb = TypeVar("Verb", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class RealBoard:
    """Flags of `run` about a real board, which is flashed before it measures."""

    flashing: bool
    tool: FlashTool
    baud: int | None

    def check(self, name: str, port: str | None) -> None:
        """Raise, before anything is built, for what could not work: no port (usage), CodegenError E630 no
        tool, E634 the port in use."""
        if port is None:
            for flag, value in (("--flash", self.flashing), ("--baud", self.baud)):
                if value:
                    raise click.UsageError(f"{flag} is for a real board: --port says where it is")
        elif self.flashing:
            from codegen.board.attached import check_free
            from codegen.board.flashing import ELF, baud_of

            board = catalogue.load_board(name)
            self.tool.loading(board, Path(ELF))
            check_free(port, baud_of(board, self.baud))

    def prepared(self, built: "Built", port: str | None, progress: Progress) -> "Built":
        """The build, its board with the rate that was asked for; flashed, if that was asked for."""
        if port is None:
            return built
        if self.flashing:
            from codegen.board.flashing import SerialLine, flash
            from codegen.driver.run import check_linked

            check_linked(built)
            sha256, elf = built.image.build_sha256, built.image.path
            line = SerialLine(port=port, baud=self.baud)
            flash(built.board, elf, sha256, self.tool, line=line, progress=progress)
        if self.baud is None or built.board.uart is None:
            return built
        uart = replace(built.board.uart, baud=self.baud)
        return replace(built, board=replace(built.board, uart=uart))


def show_commands(commands: Commands) -> None:
    """Exact commands, a line each, on stdout; in front of a guess a comment."""
    if commands.note is not None:
        click.echo(commands.note)
    for line in commands.lines:
        click.echo(line)


WAIT = click.option(
    "--wait",
    "wait_seconds",
    type=click.FloatRange(min=0, max=86_400),
    default=WAIT_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="Wait so long for the port to be there.",
)
_FLAGS: Sequence[Callable[[Any], Any]] = (
    click.option(
        "--tool",
        "tool_name",
        type=click.Choice(list(TOOLS)),
        help="Flash tool; else the board's flash_tool, or the first that the board names and that is here.",
    ),
    click.option("--probe", metavar="SERIAL", help="Debug probe, where several are connected."),
    click.option(
        "--timeout",
        "timeout_seconds",
        type=click.FloatRange(min=0, min_open=True, max=86_400),
        default=LOAD_SECONDS,
        show_default=True,
        metavar="SECONDS",
        help="End a flash tool that takes longer.",
    ),
    WAIT,
)
REAL_PORT = click.option(
    "--port", envvar="CODEGEN_PORT", metavar="PORT", help="Serial port of the board (device or pyserial URL)."
)
BAUD = click.option(
    "--baud",
    type=click.IntRange(min=1),
    metavar="RATE",
    help="Rate of the port; else uart.baud of the board.",
)


def tool_flags(verb: Verb) -> Verb:
    """Decorator: adds --tool, --probe, --timeout and --wait; the verb gets `tool: FlashTool`."""

    @wraps(verb)
    def wrapped(
        tool_name: str | None, probe: str | None, timeout_seconds: float, wait_seconds: float, **values: Any
    ) -> Any:
        tool = FlashTool(
            name=tool_name, probe=probe, timeout_seconds=timeout_seconds, wait_seconds=wait_seconds
        )
        return verb(tool=tool, **values)

    for flag in reversed(_FLAGS):
        wrapped = flag(wrapped)
    return wrapped  # pyright: ignore[reportReturnType]


def gdb_flag(verb: Verb) -> Verb:
    """Decorator: adds --gdb, which is a `port` of another kind."""

    @wraps(verb)
    def wrapped(gdb: str | None, port: str | None, **values: Any) -> Any:
        source = click.get_current_context().get_parameter_source("port")
        if gdb is not None and source is ParameterSource.COMMANDLINE:
            raise click.UsageError("--port and --gdb are two ways to one board: give one")
        if gdb is not None:
            from codegen.board.machines.reaching import SCHEME

            port = f"{SCHEME}{gdb}"
        return verb(port=port, **values)

    flag = click.option(
        "--gdb",
        metavar="HOST:PORT",
        help='GDB server of a debugger, for a board file with uart.driver = "rtt".',
    )
    return flag(wrapped)  # pyright: ignore[reportReturnType]


def real_board_flags(verb: Verb) -> Verb:
    """Decorator: adds --flash, --baud and the flags about the tool; the verb gets `real: RealBoard`."""

    @wraps(verb)
    def wrapped(flashing: bool, baud: int | None, tool: FlashTool, **values: Any) -> Any:
        return verb(real=RealBoard(flashing=flashing, tool=tool, baud=baud), **values)

    flag = click.option("--flash", "flashing", is_flag=True, help="With --port or --gdb: flash it first.")
    return flag(BAUD(gdb_flag(tool_flags(wrapped))))  # pyright: ignore[reportReturnType]


def check_same_board(folder: Path, built_for: str, asked: Board) -> None:
    """Raise CodegenError E636 for firmware of another board."""
    if asked.name != built_for:
        text = f"firmware.elf there was built for board {built_for}, not for {asked.name}"
        help_ = f"leave --board out, or build for it: codegen build --board {asked.name} -o {folder}"
        raise CodegenError(Message(code="E636", where=str(folder), text=text, help=help_))
