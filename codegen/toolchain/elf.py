"""Reading a linked file: sections, symbols, sizes by kind, and what must not or must be in it.

`left_by` finds what an application leaves: the largest free range of every writable region. Taken are all
sections that lie in memory at run time (`.bss` and other NOLOAD ones too; `.bss.cg.*` are our own pools and
count as free), the heap and the stack. Those two are sections of their own in some linker scripts; in others
only symbols tell of them, see `_STACK_TOPS` and `_HEAP_STARTS`.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.constants import SH_FLAGS, SHN_INDICES
from elftools.elf.elffile import ELFFile
from elftools.elf.enums import ENUM_ST_INFO_TYPE
from elftools.elf.sections import Section as ElfSection
from elftools.elf.sections import SymbolTableSection

from codegen.errors import CodegenError, Message, Messages
from codegen.ir import Board, Region
from codegen.targets.families import address_mask, family_of

_C_HEAP = ("malloc", "free", "calloc", "realloc", "memalign", "sbrk")
_CXX_HEAP = ("_Znwj", "_Znaj", "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvj", "_ZdlPvm")
HEAP_SYMBOLS = frozenset(
    [
        *(f"{before}{name}{after}" for name in _C_HEAP for before in ("", "_") for after in ("", "_r")),
        *_CXX_HEAP,
    ]
)
"""C's heap and C++'s operator new and delete (`_Znwj` takes a 32-bit size, `_Znwm` a 64-bit one)."""


_SYMBOL_FIELDS = {32: ("IIIBBH", (0, 1, 2, 3, 5)), 64: ("IBBHQQ", (0, 4, 5, 1, 3))}
"""By class of file: a row of the table of symbols, and where in it are name, value, size, info, section."""
_SYMBOL_KINDS = {number: name for name, number in ENUM_ST_INFO_TYPE.items() if name != "_default_"}


@dataclass(frozen=True, kw_only=True, slots=True)
class ElfSymbol:
    """A defined symbol. A function's `address` is where its code is; `section` is None if it is absolute."""

    name: str
    address: int
    size_bytes: int
    kind: str
    """`STT_FUNC`, `STT_OBJECT`, `STT_NOTYPE`, ..."""
    section: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A section that occupies memory at run time."""

    name: str
    address: int
    size_bytes: int
    executable: bool
    writable: bool
    in_file: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Elf:
    """Contents of a linked file: sections in file order, defined symbols in table order."""

    sections: tuple[Section, ...]
    symbols: tuple[ElfSymbol, ...]

    def size_of(self, *, executable: bool, writable: bool, in_file: bool) -> int:
        """Bytes of all sections of one kind."""
        return sum(
            section.size_bytes
            for section in self.sections
            if (section.executable, section.writable, section.in_file) == (executable, writable, in_file)
        )

    @property
    def text_bytes(self) -> int:
        """Bytes of executable sections."""
        return sum(section.size_bytes for section in self.sections if section.executable)

    @property
    def rodata_bytes(self) -> int:
        """Bytes of sections that are neither executed nor written."""
        return self.size_of(executable=False, writable=False, in_file=True)

    @property
    def data_bytes(self) -> int:
        """Bytes of initialised writable sections."""
        return self.size_of(executable=False, writable=True, in_file=True)

    @property
    def bss_bytes(self) -> int:
        """Bytes of sections that occupy memory and no file: zeroed data, pools, stack."""
        return self.size_of(executable=False, writable=True, in_file=False)

    def symbol_map(self) -> dict[str, tuple[int, int]]:
        """Name -> (address, bytes); of several local symbols of one name, the first."""
        ranges: dict[str, tuple[int, int]] = {}
        for symbol in self.symbols:
            ranges.setdefault(symbol.name, (symbol.address, symbol.size_bytes))
        return ranges

    def section_map(self) -> dict[str, tuple[int, int]]:
        """Name -> (address, bytes)."""
        return {section.name: (section.address, section.size_bytes) for section in self.sections}


def read(path: Path) -> Elf:
    """Read a linked ELF file; raises CodegenError E503 if it is none."""
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            every = list(elf.iter_sections())
            sections = tuple(_section(section) for section in every if _in_memory(section))
            names: list[str] = [section.name for section in every]
            symbols = _symbols(elf, names)
    except Exception as error:  # the parser raises half a dozen kinds on a damaged file
        problem = f"is not a linked ELF file: {error}"
        raise CodegenError(
            Message(code="E503", where=str(path), text=problem, help="build it again")
        ) from error
    return Elf(sections=sections, symbols=symbols)


def _in_memory(section: ElfSection) -> bool:
    return bool(section["sh_flags"] & SH_FLAGS.SHF_ALLOC)


def _section(section: ElfSection) -> Section:
    flags: int = section["sh_flags"]
    return Section(
        name=section.name,
        address=section["sh_addr"],
        size_bytes=section["sh_size"],
        executable=bool(flags & SH_FLAGS.SHF_EXECINSTR),
        writable=bool(flags & SH_FLAGS.SHF_WRITE),
        in_file=section["sh_type"] != "SHT_NOBITS",
    )


def _symbols(elf: ELFFile, section_names: Sequence[str]) -> tuple[ElfSymbol, ...]:
    """From the table's bytes: each symbol through pyelftools would take a fifth of a small build."""
    table = elf.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return ()
    mask = address_mask(elf.get_machine_arch())
    form, order = _SYMBOL_FIELDS[elf.elfclass]
    rows = struct.iter_unpack(("<" if elf.little_endian else ">") + form, table.data())
    names: bytes = elf.get_section(table["sh_link"]).data()
    symbols: list[ElfSymbol] = []
    for row in rows:
        fields: list[int] = [row[place] for place in order]
        start, value, size_bytes, info, index = fields
        kind = _SYMBOL_KINDS.get(info & 0xF, "")
        name = names[start : names.index(0, start)].decode(errors="replace")
        if not name or index == SHN_INDICES.SHN_UNDEF or kind in ("STT_FILE", "STT_SECTION"):
            continue
        symbols.append(
            ElfSymbol(
                name=name,
                address=value & mask if kind == "STT_FUNC" else value,
                size_bytes=size_bytes,
                kind=kind,
                section=section_names[index] if index < SHN_INDICES.SHN_LORESERVE else None,
            )
        )
    return tuple(symbols)


def check_no_heap(elf: Elf) -> None:
    """Raises CodegenError E506 if anything of a heap was linked in."""
    heap_symbols = sorted({symbol.name for symbol in elf.symbols} & HEAP_SYMBOLS)
    if heap_symbols:
        raise CodegenError(
            Message(
                code="E506",
                text=f"the image contains a heap: {', '.join(heap_symbols)}",
                help="generated code never allocates; remove what calls it (own sources, own board port)",
            )
        )


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
    edges = [(span.start, span.stop) for span in taken]
    return tuple(
        _free(region, edges, board.pool_alignment_bytes) for region in board.regions if region.writable
    )


def taken_ranges(path: Path, board: Board) -> tuple[TakenRange, ...]:
    """Ranges of the memory of `board` that the application at `path` takes: sections, then heap and stack.

    Raises CodegenError: E270 no linked ELF file, E271 of another architecture, E272 a stack or heap of
    unknown size, E273 with sections outside all regions of the board.
    """
    _check_machine(path, board)
    try:
        linked = read(path)
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
    facts = family_of(board.target.cpu).image
    if facts is None or (machine, bits) != (facts.machine, facts.bits):
        text = f"is for {machine}, {bits} bits; {board.name} has a {board.target.cpu}"
        raise _wrong("E271", path, text, "give the ELF of the firmware that the model goes into")


def _check_regions(path: Path, sections: list[Section], board: Board) -> None:
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


def _stack_and_heap(path: Path, symbols: tuple[ElfSymbol, ...]) -> Iterator[TakenRange]:
    """Ranges of stack and heap, which no section covers: their symbols say where they lie."""
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
