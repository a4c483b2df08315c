"""Words that people type for a board: name, alias, title, chip, or a part that no board file is for."""

import difflib
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import TypeVar

from codegen import resources
from codegen.documents import read_toml
from codegen.errors import CodegenError, Message
from codegen.ir import Board, Runner
from codegen.toml import fields

_SEPARATORS = re.compile(r"[-_. ]+")
_LEAST_CHIP = 5
"""Characters that a chip is found by: `stm32` alone means none."""
_NEAR = 0.72
"""How with_chip two names are, from 0 to 1, that one may be meant for the other."""
PORTABLE = "host"
"""The board whose code runs on every core of 32 bits and more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BoardHead:
    """Names of a board that ships, as they stand in front of the first table of its file."""

    name: str
    title: str
    aliases: tuple[str, ...]
    chip: str
    runner: Runner


Named = Board | BoardHead
"""A board, or the head of its file: both have its names."""
_Named = TypeVar("_Named", Board, BoardHead)


@cache
def heads() -> tuple[BoardHead, ...]:
    """Heads of all boards that ship, by file name. To read the files whole takes ten times as long."""
    heads_: list[BoardHead] = []
    for path in sorted(resources.folder("boards").glob("*.toml")):
        table = tomllib.loads(path.read_text(encoding="utf-8").partition("\n[")[0])
        heads_.append(
            BoardHead(
                name=table["name"],
                title=table["title"],
                aliases=tuple(table.get("aliases", ())),
                chip=table.get("chip", ""),
                runner=Runner(table["runner"]),
            )
        )
    return tuple(heads_)


@dataclass(frozen=True, kw_only=True, slots=True)
class AbsentPart:
    """A part that no board file is for, as `boards/absent/parts.toml` has it."""

    names: tuple[str, ...]
    """Patterns of what people type, plain (`plain`)."""
    nearest: str
    """A board that does instead."""
    title: str = ""
    """Which part it is, as in "no board file is for TITLE"."""
    because: str = ""
    """A sentence in place of that one: why there can be no board file."""
    package: str = ""
    """Form of `codegen export` that brings portable C there."""
    is_other_core: bool = False
    """True if code for `nearest` does not run on the part."""

    @property
    def text(self) -> str:
        """Why there is no board."""
        return self.because or f"no board file is for {self.title}"

    def advice(self, nearest: Named) -> str:
        """Commands that serve the part today."""
        if nearest.name == PORTABLE:
            return (
                "portable C runs there: `codegen build MODEL --board host -o DIR`, then `codegen export DIR "
                f"--as {self.package} -o PACKAGE`; `codegen run MODEL --board host` checks it on this machine"
            )
        flag = f"`--board {nearest.name}`"
        if self.is_other_core:
            is_emulated = nearest.runner is Runner.QEMU
            return f"{flag} is {nearest.title}{', and QEMU runs it: no hardware is needed' * is_emulated}"
        return (
            f"{flag}, {nearest.title}, gives code for such a core; a copy of its file with the memories of "
            "your part is a board of your own (docs/boards.md)"
        )


@cache
def absent_parts() -> tuple[AbsentPart, ...]:
    """The table of parts that no board file is for. Raises ValueError for a broken installation."""
    table, _ = read_toml(resources.folder("boards") / "absent" / "parts.toml")

    def tell(path: str, reason: str, help: str | None) -> None:
        raise ValueError(f"parts.toml: {path} {reason} {help or ''}")

    return tuple(AbsentPart(**fields(AbsentPart, row, tell)) for row in table["parts"])


def plain(word: str) -> str:
    """A name without upper case and separators: `RP2040`, `rp-2040` and `rp_2040` are one."""
    return _SEPARATORS.sub("", word.lower())


def short_title(board: Named) -> str:
    """The board's title without the parenthesis about its chip: `Raspberry Pi Pico`."""
    return board.title.partition(" (")[0]


def board_called(word: str, boards: Sequence[_Named]) -> _Named | None:
    """The board of this name, alias, title or chip; None if there is none.

    Raises CodegenError E250 if several boards have such a chip.
    """
    typed = plain(word)
    for board in boards:
        if typed in map(plain, (board.name, *board.aliases, short_title(board))):
            return board
    with_chip = [board for board in boards if _is_chip(typed, plain(board.chip))]
    if len(with_chip) > 1:
        names = "; ".join(f"{board.name}, {board.title}" for board in with_chip)
        text = f"{len(with_chip)} boards have a chip {word}"
        raise CodegenError(Message(code="E250", text=text, help=f"name one of {names}"))
    return with_chip[0] if with_chip else None


def _is_chip(typed: str, chip: str) -> bool:
    """True if one name begins with the other: people leave out the package, or say more than the file."""
    return len(typed) >= _LEAST_CHIP and bool(chip) and (chip.startswith(typed) or typed.startswith(chip))


def no_board(word: str, boards: Sequence[BoardHead]) -> Message:
    """E250: there is no such board; what works today, or which name is nearly the same."""
    typed, text = plain(word), f"there is no board {word!r}"
    names = [name for board in boards for name in (board.name, *board.aliases)]
    begun = [name for name in names if len(typed) >= _LEAST_CHIP and plain(name).startswith(typed)]
    if begun:
        guess = f"did you mean {' or '.join(begun)}? `codegen boards` lists all"
        return Message(code="E250", text=text, help=guess)
    for part in absent_parts():
        if any(fnmatchcase(typed, pattern) for pattern in part.names):
            nearest = board_called(part.nearest, boards)
            if nearest is None:
                raise ValueError(f"parts.toml: there is no board {part.nearest}")
            return Message(code="E250", text=f"{text}: {part.text}", help=part.advice(nearest))
    by_plain = {plain(short_title(board)): board.name for board in boards}
    by_plain |= {plain(name): name for name in (*names, *(board.chip for board in boards if board.chip))}
    near = difflib.get_close_matches(typed, by_plain, n=1, cutoff=_NEAR)
    known = f"known boards: {', '.join(names)}"
    if near:
        known = f"did you mean {by_plain[near[0]]}? `codegen boards` lists all"
    return Message(code="E250", text=text, help=f"{known}; or give the path of a board file (.toml)")
