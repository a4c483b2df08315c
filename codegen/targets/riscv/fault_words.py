"""Faults of RISC-V cores in words.

Source: The RISC-V Instruction Set Manual, Volume II: Privileged Architecture, table of mcause.
"""

from collections.abc import Sequence

from codegen.targets.core_family import FaultReport

_CAUSES = {
    0: "jump to an address that is no multiple of 4",
    1: "code fetched from memory that is closed or does not exist",
    2: "undefined instruction (or one that only the machine's own level may execute)",
    3: "breakpoint",
    4: "unaligned load",
    5: "load from memory that is closed (outside the model's pools and stack, or the step's buffers) or does "
    "not exist",
    6: "unaligned store",
    7: "store to memory that is closed (outside the model's pools and stack, or the step's buffers) or does "
    "not exist",
    8: "call of a system that is not there",
    11: "call of a system that is not there",
}
_WITH_ADDRESS = frozenset({4, 5, 6, 7})
_INTERRUPT = 1 << 31
_STACK_OVERFLOW = 1


def decode_fault(record: Sequence[int]) -> FaultReport:
    """The record that `runtime_c/targets/riscv/core.c` makes, in words.

    Cores may tell 0 in place of the address of an access.
    """
    cause, pc, ra, _sp, mstatus, mtval, flags = (record[0] - 1, *record[1:7])
    known = (
        f"interrupt {cause - _INTERRUPT}" if cause >= _INTERRUPT else _CAUSES.get(cause, f"exception {cause}")
    )
    return FaultReport(
        text=f"stack overflow: {known}" if flags & _STACK_OVERFLOW else known,
        address=mtval if cause in _WITH_ADDRESS and mtval else None,
        registers={"pc": pc, "ra": ra},
        status={"mcause": cause, "mstatus": mstatus},
    )
