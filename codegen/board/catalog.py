"""Boards as data: reads `boards/*.toml` and a user's own file, and explains every mistake in it."""

import difflib
import re
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from codegen import resources
from codegen.errors import CodegenError, Message, Messages
from codegen.ir import Board, Counter, MemoryHole, Region, Runner, Target, Uart

_UNITS = {"": 1, "bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20}
_SIZE = re.compile(r"^(\d+) ?(bytes|KiB|MiB|)$")


class _Strict(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """Unknown keys are mistakes."""


class _Target(_Strict):
    cpu: str
    features: list[str] = []
    compiler_flags: list[str] = []


class _Region(_Strict):
    name: str
    address: int
    size: int | str
    writable: bool
    executable: bool = False
    access_cost: float = 1.0
    dma: bool = True
    cacheable: bool = False
    emulated: bool = True


class _Uart(_Strict):
    driver: str
    address: int
    baud: int = 115200
    qemu_serial: int = 0


class _Counter(_Strict):
    driver: str
    address: int
    bits: int
    instructions_per_tick: float


class _Hole(_Strict):
    address: int
    size: int | str


class _File(_Strict):
    title: str
    runner: Runner
    target: _Target
    regions: list[_Region]
    code_region: str
    data_region: str
    stack_bytes: int
    reserved_bytes: int
    name: str | None = None
    aliases: list[str] = []
    pool_alignment_bytes: int = 16
    buffer_alignment_bytes: int = 1
    clock_hz: int = 0
    qemu_machine: str | None = None
    qemu_flags: list[str] = []
    uart: _Uart | None = None
    counter: _Counter | None = None
    mpu: str | None = None
    startup: str | None = None
    holes: list[_Hole] = []


def load_board(name_or_path: str) -> Board:
    """The board of that name or alias, or the one a `.toml` file describes.

    Raises CodegenError E240 for an unknown name, E241 for a file that cannot be read or decoded, E242 for
    contents that contradict themselves (all of them at once).
    """
    path = Path(name_or_path)
    if path.suffix == ".toml":
        return _load(path)
    for board in boards():
        if name_or_path in (board.name, *board.aliases):
            return board
    names = [name for board in boards() for name in (board.name, *board.aliases)]
    close = difflib.get_close_matches(name_or_path, names, n=1)
    raise CodegenError(
        Message(
            code="E240",
            text=f"no board {name_or_path!r}; known are {', '.join(names)}",
            help=f"did you mean {close[0]}?" if close else "`codegen boards` describes them; a path to a .toml works too",
        )
    )


@cache
def boards() -> tuple[Board, ...]:
    """All shipped boards, by name."""
    return tuple(_load(path) for path in sorted(resources.folder("boards").glob("*.toml")))


def _load(path: Path) -> Board:
    try:
        file = msgspec.toml.decode(path.read_bytes(), type=_File)
    except OSError as error:
        raise _unreadable(path, f"cannot be read: {error.strerror}") from None
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _unreadable(path, str(error)) from None
    messages = Messages()
    _check(file, path, messages)
    messages.raise_if_any()
    return _board(file, file.name or path.stem)


def _unreadable(path: Path, reason: str) -> CodegenError:
    help_ = "docs/boards.md describes every key; the shipped boards are examples"
    return CodegenError(Message(code="E241", where=path.name, text=reason, help=help_))


def _bytes(size: int | str) -> int | None:
    """Bytes of `4096`, `"4096"`, `"64 KiB"`, `"1 MiB"`; None for anything else."""
    match = _SIZE.match(str(size))
    return int(match[1]) * _UNITS[match[2]] if match else None


def _check(file: _File, path: Path, messages: Messages) -> None:
    def wrong(text: str) -> None:
        messages.add("E242", text, where=path.name, help="docs/boards.md describes every key")

    names = [region.name for region in file.regions]
    for region in file.regions:
        for fault in _region_faults(region):
            wrong(f"region {region.name}: {fault}")
    if len(set(names)) != len(names):
        wrong("two regions have the same name")
    for key, name in (("code_region", file.code_region), ("data_region", file.data_region)):
        if name not in names:
            wrong(f"{key} is {name}, the regions are {', '.join(names)}")
    for hole in file.holes:
        if not _bytes(hole.size):
            wrong(f"hole size {hole.size!r} is not a size such as 4096 or '64 KiB'")
    for first, second in _overlapping(file.regions):
        wrong(f"regions {first} and {second} overlap")
    if file.runner is Runner.QEMU and (file.qemu_machine is None or file.uart is None):
        wrong("runner is qemu, so qemu_machine and [uart] are needed")


def _region_faults(region: _Region) -> list[str]:
    size = _bytes(region.size)
    if not size:
        return [f"size {region.size!r} is not a size such as 4096 or '64 KiB'"]
    faults: list[str] = []
    if region.address < 0 or region.address + size > 1 << 32:
        faults.append("it does not fit a 32-bit address space")
    if not re.fullmatch(r"[A-Z][A-Z0-9_]*", region.name):
        faults.append("the name must be in upper case (A-Z, 0-9, _)")
    return faults


def _overlapping(regions: list[_Region]) -> list[tuple[str, str]]:
    spans = sorted((r.address, r.address + (_bytes(r.size) or 0), r.name) for r in regions)
    return [(a[2], b[2]) for a, b in zip(spans, spans[1:], strict=False) if b[0] < a[1]]


def _board(file: _File, name: str) -> Board:
    plain: dict[str, Any] = {
        key: getattr(file, key)
        for key in (
            "title", "runner", "code_region", "data_region", "stack_bytes", "reserved_bytes", "pool_alignment_bytes",
            "buffer_alignment_bytes", "clock_hz", "qemu_machine", "mpu", "startup",
        )
    }  # fmt: skip
    return Board(
        name=name,
        target=Target(
            cpu=file.target.cpu,
            features=frozenset(file.target.features),
            compiler_flags=tuple(file.target.compiler_flags),
        ),
        regions=tuple(_region(region) for region in file.regions),
        aliases=tuple(file.aliases),
        qemu_flags=tuple(file.qemu_flags),
        uart=None if file.uart is None else Uart(**msgspec.structs.asdict(file.uart)),
        counter=None if file.counter is None else Counter(**msgspec.structs.asdict(file.counter)),
        holes=tuple(MemoryHole(address=hole.address, size_bytes=_bytes(hole.size) or 0) for hole in file.holes),
        **plain,
    )


def _region(region: _Region) -> Region:
    values = msgspec.structs.asdict(region)
    del values["size"]
    return Region(size_bytes=_bytes(region.size) or 0, **values)
