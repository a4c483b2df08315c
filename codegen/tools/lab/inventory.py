"""Which boards a lab has: where each is, how it is flashed, and what takes its power away."""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.api import (
    FLASH_TOOLS,
    CodegenError,
    Message,
    Messages,
    Name,
    check_can_run,
    decode,
    line_of,
    listed,
    load_board,
    read_toml,
)
from codegen.tools.lab.labgrid import labgrid_tables

MISTAKE = "E289"
_HELP = "docs/guides/labs.md has an example"
_LABGRID = (".yaml", ".yml")


@dataclass(frozen=True, kw_only=True, slots=True)
class LabBoard:
    """One board of a lab. Without `port` it is one that QEMU emulates."""

    name: Name
    """Name by which people call this board."""
    board: Name
    """Its kind, as `--board` takes it."""
    port: str | None = None
    probe: str | None = None
    """Serial number of its debug probe."""
    tool: str | None = None
    """Flash tool, else the board's own."""
    baud: int | None = None
    power_cycle: str | None = None
    """The command that takes its power away and gives it back."""
    seconds: float | int = 120
    """A job that takes longer is ended: flash tool and run, each."""
    wait_seconds: float | int = 10
    """For its port to be there again."""

    def __post_init__(self) -> None:
        if not set(self.name).isdisjoint("/\\,") or self.name.startswith("."):
            raise ValueError(f"name {self.name!r} is part of file names: no / \\ , and no dot in front")
        if not self.seconds > 0 or self.wait_seconds < 0:
            raise ValueError("seconds are more than 0")
        if self.tool is not None and self.tool not in FLASH_TOOLS:
            raise ValueError(f"tool {self.tool!r} is none of {', '.join(FLASH_TOOLS)}")
        if self.baud is not None and self.baud < 1:
            raise ValueError("baud is more than 0")
        if not self.power_words and self.power_cycle is not None:
            raise ValueError("power_cycle is empty")

    @property
    def power_words(self) -> tuple[str, ...]:
        """`power_cycle` as words, without a shell; none without one. Raises ValueError for an open quote."""
        return tuple(shlex.split(self.power_cycle or ""))


@dataclass(frozen=True, kw_only=True, slots=True)
class Lab:
    """The boards, in the order of the file."""

    board: tuple[LabBoard, ...]

    def chosen(self, names: Sequence[str]) -> tuple[LabBoard, ...]:
        """Boards named by name or by kind; all without names. Raises CodegenError E290."""
        if not names:
            return self.board
        kinds = {place.name: {place.name, place.board, load_board(place.board).name} for place in self.board}
        unknown = [name for name in names if not any(name in words for words in kinds.values())]
        if unknown:
            known = listed([f"{place.name} ({place.board})" for place in self.board])
            text = f"--boards: the lab has no {', '.join(unknown)}"
            raise CodegenError(Message(code="E290", text=text, help=f"it has {known}"))
        return tuple(place for place in self.board if kinds[place.name] & set(names))


def read_lab(path: Path) -> Lab:
    """The boards of `path`: lab.toml, or a labgrid environment (.yaml).

    Raises CodegenError: E289 everything that is wrong in it, E296 without a reader of YAML.
    """
    messages = Messages()
    try:
        if path.suffix in _LABGRID:
            document, text = labgrid_tables(path), ""
        else:
            document, text = read_toml(path)
    except (OSError, ValueError) as error:
        what = error.strerror if isinstance(error, OSError) else error
        raise CodegenError(
            Message(code=MISTAKE, where=str(path), text=f"cannot be read: {what}", help=_HELP)
        ) from error

    def tell(place: str, reason: str, help: str | None) -> None:
        line = line_of(text, place) if text else None
        where = f"{path}{f', line {line}' if line else ''}{f', {place}' if place else ''}"
        messages.add(MISTAKE, reason, where=where, help=help or _HELP)

    lab = decode(Lab, document, tell)
    messages.raise_if_any()
    if lab is None:
        raise ValueError("decode says why there is nothing")
    _check(lab, path, messages)
    messages.raise_if_any()
    return lab


def _check(lab: Lab, path: Path, messages: Messages) -> None:
    if not lab.board:
        messages.add(MISTAKE, "the lab has no boards", where=str(path), help=_HELP)
    for what, values in (
        ("name", [place.name for place in lab.board]),
        ("port", [place.port for place in lab.board if place.port]),
        ("probe", [place.probe for place in lab.board if place.probe]),
    ):
        for value, count in Counter(values).items():
            if count > 1:
                help_ = "a board does one job at a time: each has its own"
                messages.add(MISTAKE, f"{count} boards have the {what} {value}", where=str(path), help=help_)
    for place in lab.board:
        try:
            check_can_run(load_board(place.board), place.port)
        except CodegenError as error:
            for message in error.messages:
                where = f"{path}, board {place.name}"
                messages.add(MISTAKE, message.text, where=where, help=message.help)
