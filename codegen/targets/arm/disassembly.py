"""Thumb instructions in objdump's text: where they go, what they take of the stack."""

import re

from codegen.targets.instructions import Instruction

LINE = re.compile(r"^[ \t]*([0-9a-f]+):[ \t]+(?!\.)(\S+)[ \t]*([^@;\n]*)", re.MULTILINE)
"""Data words in code and headings are left out."""
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


def instruction(line: tuple[str, str, str]) -> Instruction:
    """The instruction of one match of `LINE`, its mnemonic without `.n` and `.w`."""
    address, mnemonic, operands = line
    return Instruction(
        address=int(address, 16),
        mnemonic=mnemonic.removesuffix(".n").removesuffix(".w"),
        operands=operands.rstrip(),
    )


def is_telling(mnemonic: str, operands: str) -> bool:
    """True if the line may be a branch, or may take bytes off the stack."""
    return bool(_MAY_TELL.match(mnemonic)) or operands.startswith("sp") or "[sp, #-" in operands


def target(instruction: Instruction) -> int | None:
    """The address a direct branch or call leads to; None of anything else."""
    if not _BRANCH.match(instruction.mnemonic):
        return None
    match = _TARGET.search(instruction.operands)
    return int(match["address"], 16) if match else None


def is_call(instruction: Instruction) -> bool:
    """True if a branch to the function's own start is recursion, no loop."""
    return instruction.mnemonic == "bl"


def is_indirect_call(instruction: Instruction) -> bool:
    """`blx r3`, or `bx r3` that is no return (a tail call). Jump tables (`tbb`, `mov pc`) stay inside."""
    register = instruction.operands
    if instruction.mnemonic.startswith("blx"):
        return register in _CORE_REGISTERS
    return instruction.mnemonic.startswith("bx") and register in _CORE_REGISTERS and register != "lr"


def is_padding(instruction: Instruction) -> bool:
    """True for what fills up to the alignment of the next function: `nop` by the assembler, zeros by the
    linker, which are `movs r0, r0`."""
    return instruction.mnemonic == "nop" or (instruction.mnemonic, instruction.operands) == ("movs", "r0, r0")


def falls_through(last: Instruction) -> bool:
    """True if execution runs on behind the last instruction of a function."""
    if last.mnemonic in ("pop", "ldmia", "ldm", "ldr", "mov", "add"):
        return re.search(r"\bpc\b", last.operands) is None
    return last.mnemonic not in ("b", "bx", "udf", "tbb", "tbh")


def stack_bytes(instruction: Instruction) -> int | None:
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
