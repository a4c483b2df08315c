"""RISC-V instructions in objdump's text: where they go, what they take of the stack."""

import re

from codegen.targets.instructions import Instruction

LINE = re.compile(r"^[ \t]*([0-9a-f]+):[ \t]+(?!\.)(\S+)[ \t]*([^\n]*)", re.MULTILINE)
"""The last group has objdump's comment too: it tells where a jump by two instructions leads."""
_JUMPS = frozenset({"j", "jal", "jalr", "jr"})
_MAY_TELL = re.compile(r"b|j|ret|mret")
"""Beginnings of mnemonics of branches and jumps."""
_BRANCH = re.compile(r"^(?:j|jal|b(?:eq|ne|lt|ge|le|gt)(?:z|u)?)$")
_TARGET = re.compile(r"(?:^|[ ,#])(?P<address>[0-9a-f]+) <[^>]+>$")
_STACK = re.compile(r"^sp,sp,(?P<bytes>-?\d+)")
_WRITES_STACK = re.compile(r"^sp,(?!sp,)")


def instruction(line: tuple[str, str, str]) -> Instruction:
    """The instruction of one match of `LINE`; only jumps keep their comments."""
    address, mnemonic, operands = line
    kept = operands if mnemonic in _JUMPS else operands.split("#", 1)[0]
    return Instruction(address=int(address, 16), mnemonic=mnemonic.removeprefix("c."), operands=kept.rstrip())


def is_telling(mnemonic: str, operands: str) -> bool:
    """True if the line may be a branch, or may take bytes off the stack."""
    return bool(_MAY_TELL.match(mnemonic)) or operands.startswith("sp,")


def target(instruction: Instruction) -> int | None:
    """The address a direct branch or call leads to; None of anything else."""
    if not _BRANCH.match(instruction.mnemonic) and instruction.mnemonic not in ("jalr", "jr"):
        return None
    match = _TARGET.search(instruction.operands)
    return int(match["address"], 16) if match else None


def is_call(instruction: Instruction) -> bool:
    """True if a branch to the function's own start is recursion, no loop."""
    return instruction.mnemonic in ("jal", "jalr")


def is_indirect_call(instruction: Instruction) -> bool:
    """`jalr a5`. A `jr a5` is taken for a table of jumps, as those of `switch` are."""
    return instruction.mnemonic == "jalr" and target(instruction) is None


def is_padding(instruction: Instruction) -> bool:
    """True for what fills up to the alignment of the next function; zeros of the linker are `unimp`."""
    return instruction.mnemonic in ("nop", "unimp")


def falls_through(last: Instruction) -> bool:
    """True if execution runs on behind the last instruction of a function."""
    return last.mnemonic not in ("j", "jr", "ret", "mret", "ebreak")


def stack_bytes(instruction: Instruction) -> int | None:
    """Bytes this instruction takes off sp (0 if it gives back or leaves it); None if it does not say."""
    mnemonic, operands = instruction.mnemonic, instruction.operands
    if not operands.startswith("sp,"):
        return 0
    amount = _STACK.match(operands)
    if mnemonic in ("add", "addi") and amount:
        return max(0, -int(amount["bytes"]))
    if mnemonic.startswith("add") or _WRITES_STACK.match(operands):
        # `add sp,sp,t0` may add a negative number, as big frames do: only the compiler knows.
        return None
    return 0
