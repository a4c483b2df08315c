"""Runs an image: on the host in process, else over the link."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from codegen.board.host import run_host
from codegen.ir import Board, Runner
from codegen.plan.image import Image, RunRequest, RunResult


class Session(Protocol):
    """A target that is up and answers requests, one after the other."""

    def run(self, request: RunRequest) -> RunResult:
        """Execute every case of the request; raises CodegenError E6xx."""
        ...


class _Host:
    def __init__(self, image: Image, board: Board) -> None:
        self._image, self._board = image, board

    def run(self, request: RunRequest) -> RunResult:
        return run_host(self._image, self._board, request)


@contextmanager
def session(image: Image, board: Board, *, port: str | None = None) -> Generator[Session, None, None]:
    """A running target for several requests; it is stopped at the end."""
    if board.runner is Runner.HOST and port is None:
        yield _Host(image, board)
        return
    from codegen.board.target import target_session

    with target_session(image, board, port=port) as target:
        yield target


def run(image: Image, board: Board, request: RunRequest, *, port: str | None = None) -> RunResult:
    """One request in a session of its own."""
    with session(image, board, port=port) as target:
        return target.run(request)
