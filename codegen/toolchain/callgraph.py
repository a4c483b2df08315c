"""Who calls whom in a linked image, and how much stack each function takes, from its disassembly.

The linked image is the only place that has everything: what the compiler inlined, library
functions written in assembly, our own assembly kernels. objdump's text is read line by line.
"""

import bisect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.errors import CodegenError, Message
from codegen.targets.core_family import CoreFamily
from codegen.targets.instructions import Disassembly, Instruction
from codegen.toolchain import gcc
from codegen.toolchain.elf import Elf, ElfSymbol

FRAME_SYMBOL_PREFIX = "cg_frame_"
"""An assembly kernel whose frame its instructions do not show declares it in bytes, as
`.global cg_frame_<function>` and `.set cg_frame_<function>, 24`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageFunction:
    """One function of the image.

    `calls` are start addresses of functions it calls, jumps or falls through to. `pushed_bytes`:
    the sum of all it takes off the stack pointer; None if an instruction changes it by an amount
    not in its text, or takes from it inside a loop. `indirect`: it calls through a register.
    """

    name: str
    address: int
    size_bytes: int
    calls: frozenset[int]
    pushed_bytes: int | None
    indirect: bool


_Line = tuple[str, str, str]
"""Address, mnemonic and operands as objdump writes them."""


def read(path: Path, elf: Elf, family: CoreFamily) -> dict[int, ImageFunction]:
    """Every function of the image at `path`, by start address. Raises CodegenError E501."""
    reader = _reader(family)
    spans = _spans(elf)
    starts = [start for start, _, _ in spans]
    bodies: dict[int, list[_Line]] = {}
    for line in _lines(path, family):
        address = int(line[0], 16)
        index = bisect.bisect_right(starts, address) - 1
        if index >= 0 and address < spans[index][1]:
            bodies.setdefault(starts[index], []).append(line)
    return {
        start: _code(reader, _telling(reader, bodies.get(start, [])), (start, end), symbol, starts)
        for start, end, symbol in spans
    }


def _reader(family: CoreFamily) -> Disassembly:
    if family.image is None:
        raise ValueError(f"code for {family.title} is not disassembled")
    return family.image.disassembly()


def _telling(reader: Disassembly, body: Sequence[_Line]) -> list[Instruction]:
    """The instructions of a function that say where it goes or what it takes of the stack, and the last one
    before padding: of all others nothing is asked."""
    last = next((line for line in reversed(body) if not reader.is_padding(reader.instruction(line))), None)
    return [reader.instruction(line) for line in body if line is last or reader.is_telling(line[1], line[2])]


def disassemble(path: Path, family: CoreFamily) -> Iterator[Instruction]:
    """Every instruction of the image at `path`, by address. Raises CodegenError E501, E503."""
    return map(_reader(family).instruction, _lines(path, family))


def _lines(path: Path, family: CoreFamily) -> list[_Line]:
    objdump = gcc.tool(f"{family.compiler.prefix}objdump")
    listing = gcc.call([objdump, "-d", "--no-show-raw-insn", str(path)], Path.cwd())
    if listing.returncode:
        problem = f"objdump failed: {listing.stderr.strip()}"
        raise CodegenError(Message(code="E503", where=str(path), text=problem, help="build it again"))
    return _reader(family).LINE.findall(listing.stdout)


def _spans(elf: Elf) -> list[tuple[int, int, ElfSymbol]]:
    """(start, end, symbol) of each function, by address; aliases once.

    Assembly in libgcc gives some functions no size: these end where the next one or the section does.
    """
    executable = {section.name: section for section in elf.sections if section.executable}
    first: dict[int, ElfSymbol] = {}
    for symbol in elf.symbols:
        if symbol.kind == "STT_FUNC" and symbol.section in executable:
            known = first.get(symbol.address)
            if known is None or (symbol.size_bytes, known.name) > (known.size_bytes, symbol.name):
                first[symbol.address] = symbol
    spans: list[tuple[int, int, ElfSymbol]] = []
    ordered = sorted(first)
    for start, following in zip(ordered, [*ordered[1:], 1 << 32], strict=True):
        symbol = first[start]
        section = executable[symbol.section or ""]
        end = start + symbol.size_bytes if symbol.size_bytes else section.address + section.size_bytes
        spans.append((start, min(end, following), symbol))
    return spans


def _code(
    reader: Disassembly, body: list[Instruction], span: tuple[int, int], symbol: ElfSymbol, starts: list[int]
) -> ImageFunction:
    start, end = span
    calls: set[int] = set()
    backward: list[tuple[int, int]] = []
    for instruction in body:
        target = reader.target(instruction)
        if target is None:
            continue
        if not start <= target < end or (target == start and reader.is_call(instruction)):
            calls.add(starts[max(0, bisect.bisect_right(starts, target) - 1)])
        elif target <= instruction.address:
            backward.append((target, instruction.address))
    if _falls_through(reader, body, span) and end in starts:
        calls.add(end)
    return ImageFunction(
        name=symbol.name,
        address=start,
        size_bytes=end - start,
        calls=frozenset(calls),
        pushed_bytes=_pushed_bytes(reader, body, backward),
        indirect=any(reader.is_indirect_call(instruction) for instruction in body),
    )


def _falls_through(reader: Disassembly, body: list[Instruction], span: tuple[int, int]) -> bool:
    """True if the last instruction, alignment aside, runs on into whatever lies behind.

    A call into the middle of its own function is a jump: ARMv6-M has no other that goes beyond 2 KiB.
    """
    real = [instruction for instruction in body if not reader.is_padding(instruction)]
    if real and reader.is_call(real[-1]) and span[0] < (reader.target(real[-1]) or 0) < span[1]:
        return False
    return bool(real) and reader.falls_through(real[-1])


def _pushed_bytes(
    reader: Disassembly, body: Iterable[Instruction], backward: list[tuple[int, int]]
) -> int | None:
    """Sum of what all instructions take off the stack pointer: each runs at most once outside loops."""
    total = 0
    for instruction in body:
        count = reader.stack_bytes(instruction)
        if count is None:
            return None
        if count and any(low <= instruction.address <= high for low, high in backward):
            return None
        total += count
    return total


def code_bytes(
    functions: Mapping[int, ImageFunction], entries: Iterable[str], *, without: Iterable[str] = ()
) -> int:
    """Bytes of machine code of `entries` and all they call, not entering the functions `without`.

    Raises ValueError if an entry is not in the image.
    """
    return sum(code.size_bytes for code in reached(functions, entries, without=without))


def reached(
    functions: Mapping[int, ImageFunction], entries: Iterable[str], *, without: Iterable[str] = ()
) -> tuple[ImageFunction, ...]:
    """`entries` and all they call, by address, not entering the functions `without`.

    Raises ValueError if an entry is not in the image.
    """
    entries = tuple(entries)
    by_name = {code.name: code.address for code in functions.values()}
    for entry in entries:
        if entry not in by_name:
            raise ValueError(f"the image has no function {entry}")
    closed = {by_name[name] for name in without if name in by_name}
    addresses = below(functions, (by_name[entry] for entry in entries), closed)
    return tuple(functions[address] for address in sorted(addresses))


def below(
    functions: Mapping[int, ImageFunction], addresses: Iterable[int], closed: Collection[int] = ()
) -> frozenset[int]:
    """Addresses of the functions at `addresses` and of all they call, not entering `closed`."""
    waiting, visited = list(addresses), set[int]()
    while waiting:
        address = waiting.pop()
        if address not in visited and address not in closed and address in functions:
            visited.add(address)
            waiting.extend(functions[address].calls)
    return frozenset(visited)
