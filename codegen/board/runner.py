"""Runs an image where its board says: on QEMU, on this machine, or on a real board behind a port."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from codegen.board.host import run_host
from codegen.board.target import target_session
from codegen.errors import CodegenError, Message
from codegen.ir import Board, Runner
from codegen.plan.image import Image, RunRequest, RunResult


class Session(Protocol):
    """A target that is up and answers requests, one after the other."""

    def run(self, request: RunRequest) -> RunResult:
        """Execute every case of the request; raises CodegenError E6xx."""
        ...


class _Host:
    def __init__(self, image: Image, board: Board) -> None:
        self._image = image
        self._board = board

    def run(self, request: RunRequest) -> RunResult:
        return run_host(self._image, self._board, request)


@contextmanager
def session(
    image: Image, board: Board, *, port: str | None = None, plugin: str | None = None
) -> Generator[Session, None, None]:
    """A running target for many requests (models, cases); it is stopped at the end.

    `port`: a serial device or pyserial URL with the board behind it, the firmware in its flash.
    `plugin`: a TCG plugin with its arguments, for QEMU.
    Raises CodegenError E6xx, E501 without QEMU.
    """
    if board.runner is not Runner.HOST:
        with target_session(image, board, port=port, plugin=plugin) as target:
            yield target
    elif port is None:
        yield _Host(image, board)
    else:
        text = "board host runs in this process and has no port"
        raise CodegenError(
            Message(code="E608", text=text, help="leave --port out, or name the board behind it")
        )


def run(
    image: Image,
    board: Board,
    request: RunRequest,
    *,
    port: str | None = None,
    plugin: str | None = None,
) -> RunResult:
    """One request in a session of its own. Raises CodegenError E6xx, E501 without QEMU."""
    with session(image, board, port=port, plugin=plugin) as target:
        return target.run(request)
