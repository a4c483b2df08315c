"""The boards that ship (boards/*.toml), and a user's own board file."""

import difflib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from codegen import resources
from codegen.board.catalog.board_files import read_file, teller
from codegen.board.catalog.contradictions import check
from codegen.board.catalog.second_look import is_silent, repaired
from codegen.errors import CodegenError, Message, Messages
from codegen.ir import Board
from codegen.toml.decode import decode


@cache
def boards() -> tuple[Board, ...]:
    """All boards that ship, by name. Raises CodegenError E25x for a broken installation."""
    return tuple(_read(path) for path in sorted(resources.folder("boards").glob("*.toml")))


def load_board(name_or_path: str) -> Board:
    """The board called so (name or alias), or described by the `.toml` file at that path.

    Raises CodegenError: E250 no such board (with the known ones and the nearest), E251 the file cannot
    be read or is no TOML, E252 mistakes in it, each with its line, field and reason, all at once.
    """
    if name_or_path.endswith(".toml") or "/" in name_or_path:
        return _read(Path(name_or_path))
    for board in boards():
        if name_or_path in (board.name, *board.aliases):
            return board
    names = [name for board in boards() for name in (board.name, *board.aliases)]
    near = difflib.get_close_matches(name_or_path, names, n=1, cutoff=0.5)
    guess = f"did you mean {near[0]}? " if near else ""
    raise CodegenError(
        Message(
            code="E250",
            text=f"there is no board {name_or_path!r}",
            help=f"{guess}Known boards: {', '.join(names)}; or the path of a board file (.toml)",
        )
    )


def _read(path: Path) -> Board:
    def checked(board: Board | None, table: Mapping[str, Any], messages: Messages) -> None:
        if board is not None:
            check(board, path.name, messages)
        else:
            _look_again(table, path.name, messages)

    return read_file(Board, path, help="`codegen boards` lists the boards that ship", check=checked)


def _look_again(table: Mapping[str, Any], where: str, messages: Messages) -> None:
    """Checks of what the mistakes found so far leave of a board."""
    faulty = [_path(message, where) for message in messages.all]
    whole, silent = repaired(table, faulty)
    found = Messages()
    board = decode(Board, whole, teller(where, found))
    if board is not None:
        check(board, where, found)
        for message in found.all:
            if not is_silent(_path(message, where), silent):
                messages.take(message)


def _path(message: Message, where: str) -> str:
    """The field a message about file `where` speaks of."""
    return (message.where or "").removeprefix(f"{where}: ")
