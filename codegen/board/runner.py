"""Runs an image where its board says: on QEMU, on this machine, or on a real board behind a port."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from codegen.board.catalog.boards import boards
from codegen.board.link.exchange import PATIENT, Patience
from codegen.board.link.linked_board import target_session
from codegen.board.machines.host import run_host
from codegen.board.machines.reaching import SCHEME
from codegen.errors import CodegenError, Message
from codegen.ir import Board, Carrier, Runner, Uart
from codegen.program.image import Image, RunRequest, RunResult
from codegen.progress import Progress, silent
from codegen.targets.families import architecture_of

_WORDS = {
    Carrier.WIRE: "on a UART",
    Carrier.MEMORY: "in memory",
    Carrier.SEMIHOSTING: "semihosting",
}


def check_can_run(board: Board, port: str | None) -> None:
    """Refuse, before anything is built, to run on what cannot be reached.

    Raises CodegenError: E608 a port that does not lead to the board's driver, none for this machine; E609
    no `port` for a board that QEMU does not emulate, with those it does that have the same core.
    """
    if port is None:
        if board.runner is Runner.NONE:
            raise CodegenError(_not_emulated(board))
        if board.uart is not None and board.uart.carrier is not Carrier.WIRE:
            text, help_ = (
                f"its test link is {_WORDS[board.uart.carrier]}: no UART carries it",
                "--gdb HOST:PORT",
            )
            raise CodegenError(Message(code="E608", where=board.name, text=text, help=help_))
        return
    if board.runner is Runner.HOST:
        text, help_ = "board host runs in this process and has no port", "leave --port out, or name the board"
        raise CodegenError(Message(code="E608", text=text, help=f"{help_} behind it"))
    if board.uart is None:
        raise CodegenError(
            Message(
                code="E608",
                where=board.name,
                text="there is no driver for its UART, so its firmware could not answer on any port",
                help="`codegen build` works for it; `codegen boards` says which boards have a port; with "
                'uart.driver = "rtt" in a board file of your own a debugger carries it (docs/boards.md)',
            )
        )
    mismatch = _mismatch(board.uart, port)
    if mismatch is not None:
        text, help_ = mismatch
        raise CodegenError(Message(code="E608", where=board.name, text=text, help=help_))


def _mismatch(uart: Uart, port: str) -> tuple[str, str] | None:
    """Why a port does not lead to what carries the board's link, and what does; None if it may."""
    link = f"its test link is {_WORDS[uart.carrier]}"
    if uart.carrier is Carrier.WIRE and port.startswith(SCHEME):
        help_ = '--port, or uart.driver = "rtt" in a board file of your own (docs/boards.md)'
        return f"{link} ({uart.driver}), not behind a debugger", help_
    if uart.carrier is not Carrier.WIRE and "://" not in port:
        help_ = "--gdb HOST:PORT of a GDB server, or --port socket://HOST:PORT of a debugger's own server"
        return f"{link}: no device such as {port} leads there", help_
    return None


def _not_emulated(board: Board) -> Message:
    core = board.target.cpu
    emulated_core = architecture_of(core).emulated_as.get(core, core)
    alike = [one.name for one in boards() if one.runner is Runner.QEMU and one.target.cpu == emulated_core]
    kind = "with this core" if emulated_core == core else f"whose core ({emulated_core}) runs this code"
    advice = [f"boards on QEMU {kind}: {', '.join(alike)}"] if alike else []
    if board.uart is not None:
        advice.append("--port PORT runs it on the real board")
    return Message(
        code="E609",
        where=board.name,
        text=f"QEMU does not emulate this board ({core}): it can be built for, not run",
        help="; ".join([*advice, "`codegen build` works for it"]),
    )


class Session(Protocol):
    """A target that is up and answers requests, one after the other."""

    def run(self, request: RunRequest) -> RunResult:
        """Execute every case of the request; raises CodegenError E6xx."""
        ...


class _Host:
    def __init__(self, image: Image, board: Board, progress: Progress) -> None:
        self._image = image
        self._board = board
        self._progress = progress

    def run(self, request: RunRequest) -> RunResult:
        return run_host(self._image, self._board, request, self._progress)


@contextmanager
def session(
    image: Image,
    board: Board,
    *,
    port: str | None = None,
    plugin: str | None = None,
    patience: Patience = PATIENT,
    progress: Progress = silent,
) -> Generator[Session, None, None]:
    """A running target for many requests (models, cases); it is stopped at the end.

    `port`: a serial device or pyserial URL with the board behind it, the firmware in its flash.
    `plugin`: a TCG plugin with its arguments, for QEMU. `patience`: how long a target may take. `progress`
    hears of every case, and on a target of every step of a trace.
    Raises CodegenError E6xx, E501 without QEMU.
    """
    check_can_run(board, port)
    if board.runner is Runner.HOST:
        yield _Host(image, board, progress)
    else:
        with target_session(
            image, board, port=port, patience=patience, plugin=plugin, progress=progress
        ) as target:
            yield target
