"""Who calls whom in a linked ARM image, and how much stack each function takes, from its disassembly.

The linked image is the only place that has everything: what the compiler inlined, library
functions written in assembly, our own assembly kernels. objdump's text is read line by line.
"""

import bisect
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.errors import CodegenError, Message
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Instruction:
    """One disassembled instruction: mnemonic without `.n` and `.w`, operands without comments."""

    address: int
    mnemonic: str
    operands: str


_INSTRUCTION = re.compile(r"^[ \t]*([0-9a-f]+):[ \t]+(?!\.)(\S+)[ \t]*([^@;\n]*)", re.MULTILINE)
_Line = tuple[str, str, str]
"""Address, mnemonic and operands as objdump writes them."""
_MAY_TELL = re.compile(r"b|cb|le|wls|v?push")
"""Beginnings of mnemonics: branches, and what takes off the stack pointer without naming it."""
_TARGET = re.compile(r"(?:^|[ ,])(?P<address>[0-9a-f]+) <[^>]+>$")
_BRANCH = re.compile(
    r"^(?:blx?|cbn?z|le(?:tp)?|wls(?:tp\.\d+)?|bl?(?:eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?)$"
)
_REGISTERS = re.compile(r"\{(?P<list>[^}]*)\}")
_SP_IMMEDIATE = re.compile(r"^sp, (?:sp, )?#(?P<bytes>\d+)$")
_WRITEBACK = re.compile(r"\[sp, #-(?P<bytes>\d+)\]!")
_CORE_REGISTERS = (*(f"r{number}" for number in range(10)), "sl", "fp", "ip", "sp", "lr", "pc")


def read(path: Path, elf: Elf) -> dict[int, ImageFunction]:
    """Every function of the ARM image at `path`, by start address. Raises CodegenError E501."""
    spans = _spans(elf)
    starts = [start for start, _, _ in spans]
    bodies: dict[int, list[_Line]] = {}
    for line in _lines(path):
        address = int(line[0], 16)
        index = bisect.bisect_right(starts, address) - 1
        if index >= 0 and address < spans[index][1]:
            bodies.setdefault(starts[index], []).append(line)
    return {
        start: _code(_telling(bodies.get(start, [])), (start, end), symbol, starts)
        for start, end, symbol in spans
    }


def _telling(body: Sequence[_Line]) -> list[Instruction]:
    """The instructions of a function that say where it goes or what it takes of the stack, and the last one
    before padding: of all others nothing is asked."""
    last = next((line for line in reversed(body) if not _is_padding(_instruction(line))), None)
    return [
        _instruction(line)
        for line in body
        if line is last or _MAY_TELL.match(line[1]) or line[2].startswith("sp") or "[sp, #-" in line[2]
    ]


def disassemble(path: Path) -> Iterator[Instruction]:
    """Every instruction of the ARM image at `path`, by address. Raises CodegenError E501, E503."""
    return map(_instruction, _lines(path))


def _lines(path: Path) -> list[_Line]:
    """objdump's text; data words in code and headings are left out."""
    objdump = gcc.tool(f"{gcc.ARM_PREFIX}objdump")
    listing = gcc.call([objdump, "-d", "--no-show-raw-insn", str(path)], Path.cwd())
    if listing.returncode:
        problem = f"objdump failed: {listing.stderr.strip()}"
        raise CodegenError(Message(code="E503", where=str(path), text=problem, help="build it again"))
    return _INSTRUCTION.findall(listing.stdout)


def _instruction(line: _Line) -> Instruction:
    address, mnemonic, operands = line
    return Instruction(
        address=int(address, 16),
        mnemonic=mnemonic.removesuffix(".n").removesuffix(".w"),
        operands=operands.rstrip(),
    )


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
    body: list[Instruction], span: tuple[int, int], symbol: ElfSymbol, starts: list[int]
) -> ImageFunction:
    start, end = span
    calls: set[int] = set()
    backward: list[tuple[int, int]] = []
    for instruction in body:
        target = _target(instruction)
        if target is None:
            continue
        if not start <= target < end or (target == start and instruction.mnemonic == "bl"):
            calls.add(starts[max(0, bisect.bisect_right(starts, target) - 1)])
        elif target <= instruction.address:
            backward.append((target, instruction.address))
    if _falls_through(body) and end in starts:
        calls.add(end)
    return ImageFunction(
        name=symbol.name,
        address=start,
        size_bytes=end - start,
        calls=frozenset(calls),
        pushed_bytes=_pushed_bytes(body, backward),
        indirect=any(_is_indirect_call(instruction) for instruction in body),
    )


def _target(instruction: Instruction) -> int | None:
    if not _BRANCH.match(instruction.mnemonic):
        return None
    match = _TARGET.search(instruction.operands)
    return int(match["address"], 16) if match else None


def _is_indirect_call(instruction: Instruction) -> bool:
    """`blx r3`, or `bx r3` that is no return (a tail call). Jump tables (`tbb`, `mov pc`) stay inside."""
    register = instruction.operands
    if instruction.mnemonic.startswith("blx"):
        return register in _CORE_REGISTERS
    return instruction.mnemonic.startswith("bx") and register in _CORE_REGISTERS and register != "lr"


def _is_padding(instruction: Instruction) -> bool:
    """True for what fills up to the alignment of the next function: `nop` by the assembler, zeros by the
    linker, which are `movs r0, r0`."""
    return instruction.mnemonic == "nop" or (instruction.mnemonic, instruction.operands) == ("movs", "r0, r0")


def _falls_through(body: list[Instruction]) -> bool:
    """Whether the last instruction, alignment aside, runs on into whatever lies behind."""
    real = [instruction for instruction in body if not _is_padding(instruction)]
    if not real:
        return False
    last = real[-1]
    if last.mnemonic in ("pop", "ldmia", "ldm", "ldr", "mov", "add"):
        return re.search(r"\bpc\b", last.operands) is None
    return last.mnemonic not in ("b", "bx", "udf", "tbb", "tbh")


def _pushed_bytes(body: Iterable[Instruction], backward: list[tuple[int, int]]) -> int | None:
    """Sum of what all instructions take off the stack pointer: each runs at most once outside loops."""
    total = 0
    for instruction in body:
        count = _stack_use(instruction)
        if count is None:
            return None
        if count and any(low <= instruction.address <= high for low, high in backward):
            return None
        total += count
    return total


def _stack_use(instruction: Instruction) -> int | None:
    """Bytes this instruction takes off sp (0 if it gives back or leaves it); None if it does not say."""
    mnemonic, operands = instruction.mnemonic, instruction.operands
    if mnemonic in ("push", "vpush"):
        return list_bytes(operands)
    if operands.startswith("sp!") and "db" in mnemonic and mnemonic.startswith(("stm", "vstm")):
        return list_bytes(operands)
    written_back = _WRITEBACK.search(operands)
    if written_back:
        return int(written_back["bytes"])
    if not re.match(r"sp\b", operands) or mnemonic.startswith(("cmp", "cmn", "tst")):
        return 0
    if mnemonic.startswith(("pop", "ldm", "vldm", "stm", "vstm")):
        return 0
    if mnemonic.startswith("add"):
        # `add sp, r3` may add a negative number (Thumb-1 makes big frames so): only the compiler knows.
        return 0 if _SP_IMMEDIATE.match(operands) else None
    amount = _SP_IMMEDIATE.match(operands)
    return int(amount["bytes"]) if amount and mnemonic.startswith("sub") else _restore(mnemonic, operands)


def _restore(mnemonic: str, operands: str) -> int | None:
    """`mov sp, r7` ends a frame that was measured when it began; anything else is unknown."""
    return 0 if mnemonic.startswith("mov") and re.fullmatch(r"sp, r[47]|sp, fp", operands) else None


def list_bytes(operands: str) -> int:
    """Bytes of a register list: `{r4-r7, lr}` as objdump prints it, ranges included."""
    match = _REGISTERS.search(operands)
    total = 0
    for part in (match["list"] if match else "").split(","):
        ends = [end.strip() for end in part.split("-")]
        width = 8 if ends[0].startswith("d") else 4
        total += width * (_number(ends[-1]) - _number(ends[0]) + 1)
    return total


def _number(register: str) -> int:
    return _CORE_REGISTERS.index(register) if register in _CORE_REGISTERS else int(register.lstrip("sdq"))


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
    found = below(functions, (by_name[entry] for entry in entries), closed)
    return tuple(functions[address] for address in sorted(found))


def below(
    functions: Mapping[int, ImageFunction], addresses: Iterable[int], closed: Collection[int] = ()
) -> frozenset[int]:
    """Addresses of the functions at `addresses` and of all they call, not entering `closed`."""
    waiting, found = list(addresses), set[int]()
    while waiting:
        address = waiting.pop()
        if address not in found and address not in closed and address in functions:
            found.add(address)
            waiting.extend(functions[address].calls)
    return frozenset(found)
