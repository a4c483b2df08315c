"""Published timings of RISC-V cores, and what they make of instructions that ran.

Sources: Hazard3 documentation, chapter Instruction timings; SiFive FE310-G000 Manual, E31 pipeline. What is
not named takes one cycle. A load costs its result's delay only where the next instruction reads it. Of the
E31's branches the taken ones that lead forward are counted as mispredicted.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from codegen.targets.core_family import CycleCounter
from codegen.targets.instructions import Executed, Instruction
from codegen.targets.riscv.disassembly import target


@dataclass(frozen=True, kw_only=True, slots=True)
class ScalarTiming:
    """Cycles of one core's instructions; everything not named takes one."""

    word_delay: int
    """Extra cycles of a word's load where the next instruction reads it."""
    part_delay: int
    """`word_delay` of bytes and halfwords."""
    multiply: int
    divide: int
    taken_back: int
    """Extra cycles of a taken branch that leads back."""
    taken_on: int
    """`taken_back` of one that leads forward."""
    jump: int
    """Extra cycles of a jump or call."""


TIMINGS = {
    "hazard3": ScalarTiming(
        word_delay=1, part_delay=1, multiply=1, divide=18, taken_back=1, taken_on=1, jump=1
    ),
    "e31": ScalarTiming(word_delay=1, part_delay=2, multiply=5, divide=33, taken_back=0, taken_on=3, jump=1),
}
CYCLES_PER_INSTRUCTION: dict[str, float] = {"e31": 2.317, "hazard3": 1.025}
"""By core, over all networks that `python benchmarks/core_cycles.py` runs, which prints it."""

_LOAD = re.compile(r"^(?:f?l[bhw]u?)$")
_MULTIPLY = re.compile(r"^mul")
_DIVIDE = re.compile(r"^(?:div|rem)u?$")
_JUMP = frozenset({"j", "jal", "jalr", "jr", "ret"})
_REGISTER = re.compile(r"\b(?:[astf][s]?\d+|ra|sp|gp|tp)\b")


def cycles(run: Sequence[Executed], timing: ScalarTiming) -> float:
    """Cycles of everything that ran, in address order."""
    total = 0
    before: Instruction | None = None
    for op in run:
        if not op.executions:
            before = None
            continue
        total += (_alone(op.instruction, timing) + _delay(before, op.instruction, timing)) * op.executions
        total += _refill(op.instruction, timing) * op.taken
        before = op.instruction
    return float(total)


def _alone(instruction: Instruction, timing: ScalarTiming) -> int:
    if _MULTIPLY.match(instruction.mnemonic):
        return timing.multiply
    return timing.divide if _DIVIDE.match(instruction.mnemonic) else 1


def _delay(before: Instruction | None, instruction: Instruction, timing: ScalarTiming) -> int:
    """Cycles that an instruction waits for what the load in front of it brings."""
    if before is None or not _LOAD.match(before.mnemonic):
        return 0
    loaded = before.operands.partition(",")[0]
    if loaded not in _REGISTER.findall(instruction.operands):
        return 0
    return timing.word_delay if before.mnemonic.endswith("w") else timing.part_delay


def _refill(instruction: Instruction, timing: ScalarTiming) -> int:
    """Extra cycles of an instruction behind which execution went on elsewhere."""
    if instruction.mnemonic in _JUMP:
        return timing.jump
    to = target(instruction)
    return timing.taken_back if to is not None and to <= instruction.address else timing.taken_on


def counters() -> dict[str, CycleCounter]:
    """By core: cycles of what ran."""
    return {cpu: partial(cycles, timing=timing) for cpu, timing in TIMINGS.items()}
