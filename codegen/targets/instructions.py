"""Machine instructions of a linked image: as its listing shows them, and how often they ran."""

import re
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, kw_only=True, slots=True)
class Instruction:
    """One disassembled instruction: mnemonic and operands without comments."""

    address: int
    mnemonic: str
    operands: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Waits:
    """Cycles a step waits for the flash: for its instructions, and for literals and constants."""

    code: int
    data: int

    @property
    def total(self) -> int:
        """Cycles of both kinds."""
        return self.code + self.data


@dataclass(frozen=True, kw_only=True, slots=True)
class Executed:
    """An instruction with how often it ran, and how often execution went on elsewhere than behind it."""

    instruction: Instruction
    executions: int
    taken: int = 0
    waits: Waits = field(default_factory=lambda: Waits(code=0, data=0))
    """Cycles that all executions waited for the flash, where one was modelled."""


class Disassembly(Protocol):
    """How the instructions of one core family are read: where they go, what they take of the stack."""

    LINE: re.Pattern[str]
    """One instruction in objdump's text; three groups: address, mnemonic, operands. No other line matches."""

    def instruction(self, line: tuple[str, str, str]) -> Instruction:
        """The instruction of one match of `LINE`."""
        ...

    def is_telling(self, mnemonic: str, operands: str) -> bool:
        """True if the line may be a branch, or may take bytes off the stack."""
        ...

    def target(self, instruction: Instruction) -> int | None:
        """The address a direct branch or call leads to; None of anything else."""
        ...

    def is_call(self, instruction: Instruction) -> bool:
        """True if a branch to the function's own start is recursion, no loop."""
        ...

    def is_indirect_call(self, instruction: Instruction) -> bool:
        """True if it calls, or jumps to another function, through a register."""
        ...

    def is_padding(self, instruction: Instruction) -> bool:
        """True for what fills up to the alignment of the next function."""
        ...

    def falls_through(self, last: Instruction) -> bool:
        """True if execution runs on behind the last instruction of a function."""
        ...

    def stack_bytes(self, instruction: Instruction) -> int | None:
        """Bytes the instruction takes off the stack pointer (0 if it gives back or leaves it); None if its
        text does not say."""
        ...
