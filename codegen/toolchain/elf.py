"""Reading a linked file: sections, symbols, sizes by kind, and what must not or must be in it."""

from dataclasses import dataclass
from pathlib import Path

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section as ElfSection
from elftools.elf.sections import SymbolTableSection

from codegen.errors import CodegenError, Message

_C_HEAP = ("malloc", "free", "calloc", "realloc", "memalign", "sbrk")
_CXX_HEAP = ("_Znwj", "_Znaj", "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvj", "_ZdlPvm")
HEAP_SYMBOLS = frozenset(
    [
        *(f"{before}{name}{after}" for name in _C_HEAP for before in ("", "_") for after in ("", "_r")),
        *_CXX_HEAP,
    ]
)
"""C's heap and C++'s operator new and delete (`_Znwj` takes a 32-bit size, `_Znwm` a 64-bit one)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Symbol:
    """A defined symbol. `address` has Thumb's lowest bit cleared; `section` is None if it is absolute."""

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
    """What a linked file holds: sections in file order, defined symbols in table order."""

    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]

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
        found: dict[str, tuple[int, int]] = {}
        for symbol in self.symbols:
            found.setdefault(symbol.name, (symbol.address, symbol.size_bytes))
        return found

    def section_map(self) -> dict[str, tuple[int, int]]:
        """Name -> (address, bytes)."""
        return {section.name: (section.address, section.size_bytes) for section in self.sections}


def read(path: Path) -> Elf:
    """Read a linked ELF file; raises CodegenError E503 if it is none."""
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            names = [section.name for section in elf.iter_sections()]
            sections = tuple(_section(section) for section in elf.iter_sections() if _in_memory(section))
            table = elf.get_section_by_name(".symtab")
            symbols = _symbols(table, names, thumb=elf.get_machine_arch() == "ARM")
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


def _symbols(table: object, section_names: list[str], *, thumb: bool) -> tuple[Symbol, ...]:
    found: list[Symbol] = []
    if not isinstance(table, SymbolTableSection):
        return ()
    for entry in table.iter_symbols():
        index, kind = entry["st_shndx"], entry["st_info"]["type"]
        if not entry.name or index == "SHN_UNDEF" or kind in ("STT_FILE", "STT_SECTION"):
            continue
        value: int = entry["st_value"]
        found.append(
            Symbol(
                name=entry.name,
                address=value & ~1 if thumb and kind == "STT_FUNC" else value,
                size_bytes=entry["st_size"],
                kind=kind,
                section=section_names[index] if isinstance(index, int) else None,
            )
        )
    return tuple(found)


def check_no_heap(elf: Elf) -> None:
    """Raises CodegenError E506 if anything of a heap was linked in."""
    found = sorted({symbol.name for symbol in elf.symbols} & HEAP_SYMBOLS)
    if found:
        raise CodegenError(
            Message(
                code="E506",
                text=f"the image contains a heap: {', '.join(found)}",
                help="generated code never allocates; remove what calls it (own sources, own board port)",
            )
        )
