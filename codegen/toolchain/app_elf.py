"""RAM that an application leaves: the largest free range of every writable region, from its linked ELF.

Taken are all sections that lie in memory at run time (`.bss` and other NOLOAD ones too; `.bss.cg.*` are our
own pools and count as free), the heap and the stack. Those two are sections of their own in some linker
scripts; in others only symbols tell of them, see `_STACK_TOPS` and `_HEAP_STARTS`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

from codegen.errors import CodegenError, Message, Messages
from codegen.ir import Board, Region
from codegen.toolchain import elf

_OWN_SECTIONS = ".bss.cg."

_STACK_TOPS = ("_estack", "__StackTop", "__stack_top", "__stack")
_STACK_LIMITS = ("__StackLimit", "__stack_limit", "_sstack")
_STACK_SIZES = ("_Min_Stack_Size", "__STACK_SIZE", "__stack_size")

_HEAP_STARTS = ("__HeapBase", "__heap_start", "_end", "end", "__end__")
_HEAP_LIMITS = ("__HeapLimit", "__heap_limit", "__heap_end")
_HEAP_SIZES = ("_Min_Heap_Size", "__HEAP_SIZE", "__heap_size")

_HEAP_USERS = ("_sbrk", "sbrk", "_sbrk_r")
"""Functions that let a heap grow: without one of them there is none, whatever symbols there are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FreeRange:
    """The largest range of a region that an application does not use; empty where it uses all."""

    pool: str
    address: int
    size_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TakenRange:
    """Bytes `[start, stop)` of memory that an application uses; `what` is a section's name or a symbol's."""

    what: str
    start: int
    stop: int

    def __str__(self) -> str:
        return f"{self.what} (0x{self.start:08x} to 0x{self.stop:08x})"


def left_by(taken: Iterable[TakenRange], board: Board) -> tuple[FreeRange, ...]:
    """The largest range that `taken` leaves of every writable region of `board`, in the board's order."""
    edges = [(each.start, each.stop) for each in taken]
    return tuple(
        _free(region, edges, board.pool_alignment_bytes) for region in board.regions if region.writable
    )


def taken_ranges(path: Path, board: Board) -> tuple[TakenRange, ...]:
    """What the application at `path` uses of the memory of `board`: sections, then heap and stack.

    Raises CodegenError: E270 no linked ELF file, E271 of another architecture, E272 a stack or heap of
    unknown size, E273 with sections outside all regions of the board.
    """
    _check_machine(path, board)
    try:
        linked = elf.read(path)
    except CodegenError as error:
        text = f"is damaged: {error.messages[0].text}"
        raise _wrong("E270", path, text, "link the application again") from error
    sections = [s for s in linked.sections if s.size_bytes and not s.name.startswith(_OWN_SECTIONS)]
    _check_regions(path, sections, board)
    taken = [
        TakenRange(what=f"section {s.name}", start=s.address, stop=s.address + s.size_bytes) for s in sections
    ]
    return (*taken, *_stack_and_heap(path, linked.symbols))


def _check_machine(path: Path, board: Board) -> None:
    if not path.is_file():
        raise _wrong("E204", path, "no such file", "name the application's linked .elf")
    try:
        with path.open("rb") as file:
            header = ELFFile(file)
            kind, machine, bits = header["e_type"], header.get_machine_arch(), header.elfclass
    except Exception as error:  # the parser raises half a dozen kinds on a damaged file
        text = f"is not a linked ELF file: {error}"
        raise _wrong("E270", path, text, "give the application's linked .elf, not .bin or .hex") from error
    if kind not in ("ET_EXEC", "ET_DYN"):
        raise _wrong("E270", path, f"is not linked ({kind}): its addresses are not known", "link it first")
    if (machine, bits) != ("ARM", 32):
        text = f"is for {machine}, {bits} bits; {board.name} has a {board.target.cpu}"
        raise _wrong("E271", path, text, "give the ELF of the firmware that the model goes into")


def _check_regions(path: Path, sections: list[elf.Section], board: Board) -> None:
    messages = Messages()
    for section in sections:
        start, end = section.address, section.address + section.size_bytes
        if not any(region.address <= start and end <= region.end for region in board.regions):
            messages.add(
                "E273",
                f"section {section.name} (0x{start:08x} to 0x{end:08x}) lies in no region of {board.name}",
                where=path.name,
                help="is it for this board? A board file of your own may add the region",
            )
    messages.raise_if_any()


def _stack_and_heap(path: Path, symbols: tuple[elf.Symbol, ...]) -> Iterator[TakenRange]:
    """Ranges that only symbols tell of."""
    values: dict[str, int] = {}
    for symbol in symbols:
        values.setdefault(symbol.name, symbol.address)
    stack = _first(values, _STACK_TOPS)
    if stack is not None:
        name, top = stack
        size = _extent(values, _STACK_SIZES, top, _STACK_LIMITS, down=True)
        if size is None:
            help_ = f"define one of {', '.join((*_STACK_LIMITS, *_STACK_SIZES))} in its linker script"
            text = f"its stack begins at {name}, but no symbol says how far it may grow"
            raise _wrong("E272", path, text, help_)
        yield TakenRange(what=f"the stack below {name}", start=top - size, stop=top)
    heap = _first(values, _HEAP_STARTS)
    if heap is not None and any(name in values for name in _HEAP_USERS):
        name, start = heap
        size = _extent(values, _HEAP_SIZES, start, _HEAP_LIMITS, down=False)
        if size is None:
            help_ = f"define one of {', '.join((*_HEAP_LIMITS, *_HEAP_SIZES))} in its linker script"
            text = f"its heap begins at {name}, but no symbol says how far it may grow"
            raise _wrong("E272", path, text, help_)
        yield TakenRange(what=f"the heap from {name}", start=start, stop=start + size)


def _first(values: Mapping[str, int], names: tuple[str, ...]) -> tuple[str, int] | None:
    return next(((name, values[name]) for name in names if name in values), None)


def _extent(
    values: Mapping[str, int], sizes: tuple[str, ...], start: int, limits: tuple[str, ...], *, down: bool
) -> int | None:
    """Bytes of a stack (`down`) or heap: from where it begins to its limit, or its stated size."""
    limit = _first(values, limits)
    if limit is not None:
        return max(start - limit[1] if down else limit[1] - start, 0)
    size = _first(values, sizes)
    return None if size is None else size[1]


def _free(region: Region, taken: list[tuple[int, int]], alignment: int) -> FreeRange:
    """The largest aligned range of a region between what is taken; of several, the first."""
    best, start = (region.start, 0), region.start
    for begin, end in [*sorted(taken), (region.end, region.end)]:
        low, high = -(-start // alignment) * alignment, min(begin, region.end) // alignment * alignment
        if high - low > best[1]:
            best = (low, high - low)
        start = max(start, end)
    return FreeRange(pool=region.pool_name, address=best[0], size_bytes=best[1])


def _wrong(code: str, path: Path, text: str, help_: str) -> CodegenError:
    return CodegenError(Message(code=code, where=path.name, text=text, help=help_))
