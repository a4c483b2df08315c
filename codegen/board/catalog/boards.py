"""The boards that ship (boards/*.toml), and a user's own board file.

What no single field shows is checked here: contradictions, overlaps, missing drivers, odd sizes.
"""

import itertools
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from codegen import resources
from codegen.board.catalog.board_files import CODE, is_silent, read_file, repaired, teller
from codegen.board.catalog.board_names import board_called, heads, no_board
from codegen.board.flash.commands import check_names
from codegen.errors import CodegenError, Message, Messages
from codegen.ir import Board, CacheKind, Carrier, Region, Runner
from codegen.targets.families import architecture_of, architectures, family_of, features, is_listed, refusal
from codegen.toml import decode

_REGION_NAME = re.compile(r"[A-Z][A-Z0-9_]*\Z")
_WORD_MAX = 0xFFFF_FFFF
_LEAST_STACK_BYTES = 256
_BESIDE_STACKS_BYTES = 544
"""Least bytes of the test link beside the stacks: a frame, state, guard bands."""


def check(board: Board, where: str, messages: Messages) -> None:
    """Add a message (E252) for everything in `board` that contradicts itself or the drivers that ship."""
    _check_regions(board, where, messages)
    _check_sizes(board, where, messages)
    check_names(board, where, CODE, messages)
    _check_core(board, where, messages)
    if board.runner is not Runner.HOST and is_listed(board.target.cpu):
        _check_firmware(board, where, messages)
        _check_setup(board, where, messages)
    if board.runner is Runner.QEMU:
        _check_emulated(board, where, messages)


def _check_core(board: Board, where: str, messages: Messages) -> None:
    if not is_listed(board.target.cpu):
        listed = [f"{family.name}: {', '.join(sorted(family.cpus))}" for family in architectures()]
        reason = refusal(board.target.cpu) or "there are no kernels and no compiler for it"
        text = f"no core family has a core {board.target.cpu!r}: {reason}"
        help_ = f"cores by family: {'; '.join(listed)}"
        messages.add(CODE, text, where=f"{where}: target.cpu", help=help_)
    unknown = sorted(board.target.features - features())
    if unknown:
        known = ", ".join(sorted(features()))
        messages.add(
            CODE,
            f"unknown {', '.join(unknown)}",
            where=f"{where}: target.features",
            help=f"known are {known}",
        )


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
    _check_references(board, names, where, messages)
    _check_access(board, where, messages)
    if board.runner is not Runner.HOST:
        _check_apart(board.regions, where, messages)


def _check_references(board: Board, names: list[str], where: str, messages: Messages) -> None:
    """The regions that code and data are in."""
    for field, region_name in (("code_region", board.code_region), ("data_region", board.data_region)):
        if region_name not in names:
            messages.add(
                CODE,
                f"there is no region {region_name}",
                where=f"{where}: {field}",
                help=f"regions: {', '.join(names)}",
            )
    for index, region_name in enumerate(board.npu.reach if board.npu else ()):
        if region_name not in names:
            help_ = f"regions: {', '.join(names)}"
            messages.add(
                CODE, f"there is no region {region_name}", where=f"{where}: npu.reach[{index}]", help=help_
            )
    for region in board.regions:
        if region.name == board.code_region and region.writable:
            messages.add(
                CODE, f"{region.name} is writable: pools would share it", where=f"{where}: code_region"
            )
        if region.name == board.data_region and not region.writable:
            messages.add(CODE, f"{region.name} is not writable", where=f"{where}: data_region")


def _check_access(board: Board, where: str, messages: Messages) -> None:
    """Check the costs of an access to each region."""
    for index, region in enumerate(board.regions):
        if region.wait_states is not None and region.wait_states < 0:
            messages.add(CODE, "must not be negative", where=f"{where}: regions[{index}].wait_states")
        if region.fetch_bytes < 4 or region.fetch_bytes & (region.fetch_bytes - 1):
            text = f"must be a power of two and at least 4, got {region.fetch_bytes}"
            messages.add(CODE, text, where=f"{where}: regions[{index}].fetch_bytes")
        if region.access_cost < 1:
            text = f"must be at least 1 (the fastest memory), got {region.access_cost:g}"
            messages.add(CODE, text, where=f"{where}: regions[{index}].access_cost")


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
    second = board.second_core
    if second is not None and (second.stack_bytes < _LEAST_STACK_BYTES or second.stack_bytes % 32):
        text = f"must be a multiple of 32 and at least {_LEAST_STACK_BYTES}, got {second.stack_bytes}"
        messages.add(CODE, text, where=f"{where}: second_core.stack_bytes")
    least = board.stack_bytes + (second.stack_bytes if second else 0) + _beside_stack_bytes(board)
    size = next((region.size_bytes for region in board.regions if region.name == board.data_region), None)
    if board.reserved_bytes < least or (size is not None and board.reserved_bytes > size):
        text = (
            f"must be at least {least} ({'stacks' if second else 'stack'} and test link) and fit the data "
            f"region, got {board.reserved_bytes}"
        )
        messages.add(CODE, text, where=f"{where}: reserved_bytes")
    for index, hole in enumerate(board.holes):
        if hole.size_bytes < 32 or hole.size_bytes & (hole.size_bytes - 1) or hole.address % hole.size_bytes:
            text = "must have a power of two of bytes, at least 32, and lie at a multiple of them (MPU)"
            messages.add(CODE, text, where=f"{where}: holes[{index}]")


def _beside_stack_bytes(board: Board) -> int:
    """Least bytes of the test link beside the model's stack; its own stack is as the core's family says."""
    firmware = family_of(board.target.cpu).firmware if is_listed(board.target.cpu) else None
    return _BESIDE_STACKS_BYTES + (firmware.link_stack_bytes if firmware else 0)


def _check_emulated(board: Board, where: str, messages: Messages) -> None:
    for field in ("qemu_machine", "uart"):
        if getattr(board, field) is None:
            messages.add(CODE, "is missing: a board that runs on QEMU needs it", where=f"{where}: {field}")
    if board.counter is not None and board.counter.instructions_per_tick <= 0:
        messages.add(CODE, "must be positive", where=f"{where}: counter.instructions_per_tick")


def _check_firmware(board: Board, where: str, messages: Messages) -> None:
    """Check everything that the test firmware is made from, on QEMU or not."""
    if board.counter is None:
        messages.add(CODE, "is missing: the test firmware needs it", where=f"{where}: counter")
    if board.clock_hz <= 0:
        messages.add(CODE, f"must be positive, got {board.clock_hz}", where=f"{where}: clock_hz")
    if board.uart is not None and board.uart.carrier is Carrier.MEMORY and _has_data_cache(board):
        text = "a debugger may see memory behind the core's data cache, not what the core wrote"
        help_ = "a UART, or leave the data cache out of [[caches]]: then it stays off"
        messages.add(CODE, text, where=f"{where}: uart.driver", help=help_)
    if board.uart is not None and board.uart.baud <= 0:
        messages.add(CODE, "must be positive", where=f"{where}: uart.baud")
    family = family_of(board.target.cpu)
    interrupts = family.firmware.interrupts if family.firmware else 0
    if board.uart is not None and board.uart.interrupt not in (None, *range(interrupts)):
        text = f"must be 0 to {interrupts - 1}, as the core's manual counts them, exceptions left out"
        messages.add(CODE, text, where=f"{where}: uart.interrupt")
    drivers = (
        ("uart.driver", "uart", board.uart and board.uart.driver),
        ("counter.driver", "counter", board.counter and board.counter.driver),
        ("mpu", "mpu", board.mpu),
        ("startup", "setup", board.startup),
        ("boot_stage", "boot", board.boot_stage),
        ("second_core.driver", "core1", board.second_core and board.second_core.driver),
    )
    for field, prefix, driver in drivers:
        known = _drivers(prefix, family.port_folders)
        if driver is not None and driver not in known:
            help_ = f"drivers: {', '.join(known)}"
            messages.add(CODE, f"there is no driver {driver!r}", where=f"{where}: {field}", help=help_)


def _has_data_cache(board: Board) -> bool:
    return any(cache.kind is CacheKind.DATA for cache in board.caches)


def _check_setup(board: Board, where: str, messages: Messages) -> None:
    """Registers, boot words and caches."""
    for index, write in enumerate(board.setup):
        if write.address % 4:
            text = f"0x{write.address:08x} is no multiple of 4"
            messages.add(CODE, text, where=f"{where}: setup[{index}].address")
        for field in ("address", "clear", "set", "wait"):
            if not 0 <= getattr(write, field) <= _WORD_MAX:
                messages.add(CODE, "does not fit 32 bits", where=f"{where}: setup[{index}].{field}")
    if not all(0 <= word <= _WORD_MAX for word in board.boot_words):
        messages.add(CODE, "does not fit 32 bits", where=f"{where}: boot_words")
    cached = board.target.cpu in architecture_of(board.target.cpu).cached_cpus
    for index, held in enumerate(board.caches):
        if held.kind is not CacheKind.FLASH and not cached:
            text = f"a {board.target.cpu} has no {held.kind.value} cache of its own"
            help_ = 'a vendor\'s cache in front of a memory is of kind "flash"'
            messages.add(CODE, text, where=f"{where}: caches[{index}].kind", help=help_)


def _drivers(prefix: str, folders: Iterable[str]) -> list[str]:
    """Names of the drivers of one kind in `folders` of runtime_c: `uart_<name>.c`."""
    runtime = resources.folder("runtime_c")
    paths = [path for name in folders for path in (runtime / name).glob(f"{prefix}_*.[cS]")]
    names = sorted(path.stem.removeprefix(f"{prefix}_") for path in paths)
    return [name for name in names if name != "none"]


@cache
def boards() -> tuple[Board, ...]:
    """All boards that ship, by name. Raises CodegenError E25x for a broken installation."""
    return tuple(map(_shipped, sorted(resources.folder("boards").glob("*.toml"))))


def load_board(name_or_path: str) -> Board:
    """The board called so (name, alias or chip), or described by the `.toml` file at that path.

    Raises CodegenError: E250 no such board (with what is nearest), E251 the file cannot be read or is no
    TOML, E252 mistakes in it, each with its line, field and reason, all at once.
    """
    if name_or_path.endswith(".toml") or "/" in name_or_path:
        return _read(Path(name_or_path))
    path = resources.folder("boards") / f"{name_or_path}.toml"
    if path.is_file():
        return _shipped(path)
    head = board_called(name_or_path, heads())
    if head is None:
        raise CodegenError(no_board(name_or_path, heads()))
    return _shipped(resources.folder("boards") / f"{head.name}.toml")


@cache
def _shipped(path: Path) -> Board:
    """A file of the installation: it stays as it is while a process runs."""
    return _read(path)


def _read(path: Path) -> Board:
    def checked(board: Board | None, table: Mapping[str, Any], messages: Messages) -> None:
        if board is not None:
            check(board, path.name, messages)
        else:
            _look_again(table, path.name, messages)

    return read_file(
        Board,
        path,
        help="give a name that `codegen boards` lists, or the path of a board file (docs/boards.md)",
        check=checked,
    )


def _look_again(table: Mapping[str, Any], where: str, messages: Messages) -> None:
    """Checks of what the mistakes found so far leave of a board."""
    faulty = [_path(message, where) for message in messages.all]
    whole, silent = repaired(table, faulty)
    further = Messages()
    board = decode(Board, whole, teller(where, further))
    if board is not None:
        check(board, where, further)
        for message in further.all:
            if not is_silent(_path(message, where), silent):
                messages.take(message)


def _path(message: Message, where: str) -> str:
    """The field a message about file `where` speaks of."""
    return (message.where or "").removeprefix(f"{where}: ")
