"""Machine code of every function of the kernels, at -Os for the core it is for, and what it calls: what
selection weighs.

python benchmarks/code_bytes.py            # writes codegen/kernels/base/code_bytes.csv anew
"""

import csv
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Section, SymbolTableSection

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

from codegen import resources
from codegen.board import load_board
from codegen.kernels.base.code_bytes import RECORDED, CodeSection
from codegen.targets.families import family_of, level_flags
from codegen.toolchain import gcc

_BOARDS = {
    "_v6m": "microbit",
    "_v7m": "mps2-an385",
    "_mve": "mps3-an547",
    "_rv32": "qemu-virt-rv32",
    "_zve32x": "qemu-virt-rv32v",
}
"""By the end of a file's name: whose compiler flags it gets; else those of `mps2-an386`."""
_EXECUTABLE = 4
"""SHF_EXECINSTR."""


def measure(sources: Iterable[Path], folder: Path) -> Iterator[CodeSection]:
    """The code of sources, each of another name, compiled into `folder`: those of one core by one call, which
    takes a tenth less than one each. Raises CalledProcessError if one does not compile."""
    by_board: dict[str, list[Path]] = {}
    for source in sources:
        by_board.setdefault(board_of(source), []).append(source.resolve())
    includes = [f"-I{path.resolve()}" for path in resources.runtime_includes()]
    for board, members in by_board.items():
        target = load_board(board).target
        facts = family_of(target.cpu).compiler
        flags = [*facts.options, *facts.compile_flags(target), *level_flags(target, "-Os")]
        kinds = ("-std=c11", "-fno-strict-aliasing", "-ffunction-sections", *includes)
        command = [gcc.tool(f"{facts.prefix}gcc"), *flags, *kinds, "-c", *members]
        subprocess.run(command, cwd=folder, check=True)
        for source in members:
            yield from sections_of(folder / f"{source.stem}.o", source)


def board_of(source: Path) -> str:
    """The board whose compiler flags a source is measured with."""
    return next((name for end, name in _BOARDS.items() if source.stem.endswith(end)), "mps2-an386")


def sections_of(compiled: Path, source: Path) -> list[CodeSection]:
    """The code in the object of a source."""
    with compiled.open("rb") as file:
        return _sections(ELFFile(file), f"kernels/{source.parent.name}/{source.name}")


def _sections(elf: ELFFile, source: str) -> list[CodeSection]:
    sections: list[Section] = list(elf.iter_sections())
    table = elf.get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)
    symbols = list(table.iter_symbols())
    code = {i for i, each in enumerate(sections) if each["sh_flags"] & _EXECUTABLE and each["sh_size"]}
    globals_: dict[int, list[str]] = {i: [] for i in code}
    for symbol in symbols:
        index = symbol["st_shndx"]
        if index in code and symbol["st_info"]["bind"] in ("STB_GLOBAL", "STB_WEAK"):
            globals_[index].append(symbol.name)
    calls: dict[int, set[str]] = {i: set() for i in code}
    for section in sections:
        if isinstance(section, RelocationSection) and section["sh_info"] in code:
            for relocation in section.iter_relocations():
                symbol = symbols[int(relocation["r_info_sym"])]
                index = symbol["st_shndx"]
                if index == "SHN_UNDEF" and symbol.name:  # relaxations name nothing
                    calls[section["sh_info"]].add(symbol.name)
                elif index in code and index != section["sh_info"]:
                    calls[section["sh_info"]].add(sections[int(index)].name)
    return [
        CodeSection(
            source=source,
            name=sections[i].name,
            size_bytes=sections[i]["sh_size"],
            symbols=tuple(sorted(globals_[i])),
            calls=tuple(sorted(calls[i])),
        )
        for i in sorted(code)
    ]


def measure_all() -> list[CodeSection]:
    """The code of all sources."""
    found = (resources.folder("runtime_c") / "kernels").glob("*/*")
    with tempfile.TemporaryDirectory() as folder:
        made = list(measure((path for path in found if path.suffix in (".c", ".S")), Path(folder)))
    return sorted(made, key=lambda each: each.source)


def main() -> int:
    """Write the table."""
    with RECORDED.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("source", "section", "bytes", "symbols", "calls"))
        for each in measure_all():
            row = (each.source, each.name, each.size_bytes, " ".join(each.symbols), " ".join(each.calls))
            table.writerow(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
