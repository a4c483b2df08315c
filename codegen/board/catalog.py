"""The boards that ship (boards/*.toml), and a user's own board file."""

import difflib
import itertools
import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from codegen import resources
from codegen.board.decode import CODE, decode
from codegen.errors import CodegenError, Message, Messages
from codegen.ir import Board, Region, Runner

FEATURES = frozenset({"dsp", "fpu", "mve", "mvef", "div"})
_REGION_NAME = re.compile(r"[A-Z][A-Z0-9_]*\Z")
_LEAST_STACK_BYTES = 256
_BESIDE_STACK_BYTES = 960
"""Least bytes of the test link beside the model's stack: its own stack, a frame, state, guard bands."""


@cache
def boards() -> tuple[Board, ...]:
    """All boards that ship, by name. Raises CodegenError E25x for a broken installation."""
    return tuple(_read(path) for path in sorted(resources.folder("boards").glob("*.toml")))


def load_board(name_or_path: str) -> Board:
    """The board called so (name or alias), or described by the `.toml` file at that path.

    Raises CodegenError: E250 no such board (with the known ones and the nearest), E251 the file cannot
    be read or is no TOML, E252 mistakes in it, each with its field and reason, all at once.
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
    try:
        text = path.read_text(encoding="utf-8")
        table: dict[str, Any] = tomllib.loads(text)
    except OSError as error:
        raise _unreadable(path, f"cannot be read: {error.strerror}") from error
    except ValueError as error:  # TOML or UTF-8
        raise _unreadable(path, f"is no TOML: {error}") from error
    messages = Messages()
    board = decode(Board, table, path.name, messages)
    if board is not None:
        _check(board, path.name, messages)
    messages.raise_if_any()
    assert board is not None  # else there were messages
    return board


def _unreadable(path: Path, text: str) -> CodegenError:
    return CodegenError(
        Message(code="E251", where=str(path), text=text, help="`codegen boards` lists the boards that ship")
    )


def _check(board: Board, where: str, messages: Messages) -> None:
    """What no single field shows: names that refer to each other, overlapping memory, missing drivers."""
    _check_regions(board, where, messages)
    _check_sizes(board, where, messages)
    unknown = sorted(board.target.features - FEATURES)
    if unknown:
        known = ", ".join(sorted(FEATURES))
        messages.add(
            CODE,
            f"unknown {', '.join(unknown)}",
            where=f"{where}: target.features",
            help=f"known are {known}",
        )
    if board.runner is Runner.QEMU:
        _check_emulated(board, where, messages)


def _check_regions(board: Board, where: str, messages: Messages) -> None:
    names = [region.name for region in board.regions]
    for index, region in enumerate(board.regions):
        if not _REGION_NAME.match(region.name):
            text = "a region's name has A-Z, 0-9 and _ only (it names a pool and linker symbols)"
            messages.add(CODE, text, where=f"{where}: regions[{index}].name")
        if region.name in names[:index]:
            messages.add(
                CODE, f"two regions are called {region.name}", where=f"{where}: regions[{index}].name"
            )
    for field, wanted in (("code_region", board.code_region), ("data_region", board.data_region)):
        if wanted not in names:
            messages.add(
                CODE,
                f"there is no region {wanted}",
                where=f"{where}: {field}",
                help=f"regions: {', '.join(names)}",
            )
    for region in board.regions:
        if region.name == board.code_region and region.writable:
            messages.add(
                CODE, f"{region.name} is writable: pools would share it", where=f"{where}: code_region"
            )
        if region.name == board.data_region and not region.writable:
            messages.add(CODE, f"{region.name} is not writable", where=f"{where}: data_region")
    if board.runner is not Runner.HOST:
        _check_apart(board.regions, where, messages)


def _check_apart(regions: Iterable[Region], where: str, messages: Messages) -> None:
    ordered = sorted(regions, key=lambda region: region.address)
    for lower, upper in itertools.pairwise(ordered):
        if lower.end > upper.address:
            messages.add(CODE, f"{lower.name} and {upper.name} overlap", where=f"{where}: regions")


def _check_sizes(board: Board, where: str, messages: Messages) -> None:
    for field, value in (
        ("pool_alignment_bytes", board.pool_alignment_bytes),
        ("buffer_alignment_bytes", board.buffer_alignment_bytes),
    ):
        if value < 1 or value & (value - 1):
            messages.add(CODE, f"{value} is no power of two", where=f"{where}: {field}")
    if board.runner is Runner.HOST:
        return
    if board.stack_bytes < _LEAST_STACK_BYTES or board.stack_bytes % 32:
        text = f"must be a multiple of 32 and at least {_LEAST_STACK_BYTES}, got {board.stack_bytes}"
        messages.add(CODE, text, where=f"{where}: stack_bytes")
    least = board.stack_bytes + _BESIDE_STACK_BYTES
    size = next((region.size_bytes for region in board.regions if region.name == board.data_region), None)
    if board.reserved_bytes < least or (size is not None and board.reserved_bytes > size):
        text = (
            f"must be at least {least} (stack and test link) and fit the data region, "
            f"got {board.reserved_bytes}"
        )
        messages.add(CODE, text, where=f"{where}: reserved_bytes")
    for index, hole in enumerate(board.holes):
        if hole.size_bytes < 32 or hole.size_bytes & (hole.size_bytes - 1) or hole.address % hole.size_bytes:
            text = "must have a power of two of bytes, at least 32, and lie at a multiple of them (MPU)"
            messages.add(CODE, text, where=f"{where}: holes[{index}]")


def _check_emulated(board: Board, where: str, messages: Messages) -> None:
    for field in ("qemu_machine", "uart", "counter"):
        if getattr(board, field) is None:
            messages.add(CODE, "is missing: a board that runs on QEMU needs it", where=f"{where}: {field}")
    if board.clock_hz <= 0:
        messages.add(CODE, f"must be positive, got {board.clock_hz}", where=f"{where}: clock_hz")
    if board.counter is not None and board.counter.instructions_per_tick <= 0:
        messages.add(CODE, "must be positive", where=f"{where}: counter.instructions_per_tick")
    if board.uart is not None and board.uart.baud <= 0:
        messages.add(CODE, "must be positive", where=f"{where}: uart.baud")
    drivers = (
        ("uart.driver", "uart", board.uart and board.uart.driver),
        ("counter.driver", "counter", board.counter and board.counter.driver),
        ("mpu", "mpu", board.mpu),
        ("startup", "setup", board.startup),
    )
    for field, prefix, driver in drivers:
        known = _drivers(prefix)
        if driver is not None and driver not in known:
            help_ = f"drivers: {', '.join(known)}"
            messages.add(CODE, f"there is no driver {driver!r}", where=f"{where}: {field}", help=help_)


def _drivers(prefix: str) -> list[str]:
    """Names of the drivers of one kind in runtime_c/port: `uart_<name>.c`."""
    paths = sorted((resources.folder("runtime_c") / "port").glob(f"{prefix}_*.c"))
    return [path.stem.removeprefix(f"{prefix}_") for path in paths]
